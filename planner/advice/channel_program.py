"""Processor time of CP for a mix of disk reads and writes through channel programs, and what fast translation saves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from planner import library, render
from planner.devices.channel_program import WIDTHS, ChannelProgram
from planner.errors import InputError
from planner.tabular import Tabular
from planner.units import MEGABYTE, MILLISECOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MODEL: Final = "channel-program"
WIDE: Final = 2.0  # standard deviations on each side: about 95 % of the runs
CONVENTION: Final = (
    "The runs determine three combinations of the four costs. Convention: a CCW translated fast costs nothing of its "
    "own, its cost is counted into the Start Subchannel; no answer here depends on it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CcwAnswer(Tabular):
    """CP time of a mix: `law` and its `model`, `bits`, whether `fast`, `read_share`, `data_rate` [bytes/s]."""

    law: ChannelProgram
    model: library.Model
    bits: int
    fast: bool
    read_share: float
    data_rate: float | None

    @property
    def model_error(self) -> float:
        """Relative standard deviation of a run from the law."""
        return self.model.fit.model_error

    @property
    def measured_savings(self) -> dict[int, list[float]]:
        """What fast translation saved in the runs, by width: first written only, then written once and read once."""
        totals: dict[str, float] = {}
        for run in self.model.fit.runs:  # named smmffr
            totals[run.name[0] + run.name[3:]] = totals.get(run.name[0] + run.name[3:], 0.0) + run.measured
        return {
            bits: [1 - totals[f"{guest}F1{passes}"] / totals[f"{guest}F0{passes}"] for passes in "01"]
            for guest, bits in zip("36", WIDTHS, strict=True)
        }

    @property
    def time_per_mb(self) -> float:
        """CP processor time per MB moved [s/MB]."""
        return self.law.time_per_mb(self.bits, fast=self.fast, read_share=self.read_share)

    @property
    def saving(self) -> float:
        """Share of the CP processor time per MB that fast translation saves."""
        return self.law.saving(self.bits)

    @property
    def processors(self) -> float | None:
        """Processors that CP spends at the data rate; None without one."""
        return None if self.data_rate is None else self.data_rate / MEGABYTE * self.time_per_mb

    def around(self, value: float) -> tuple[float, float]:
        """Where about 95 % of the runs of such a value lie.

        Parameters
        ----------
        value : float
            A time or a number of processors.

        Returns
        -------
        tuple of float
            Low and high.
        """
        half = WIDE * self.model_error
        return value * (1 - half), value * (1 + half)

    def saving_around(self) -> tuple[float, float]:
        """Where about 95 % of the pairs of runs show the saving.

        Returns
        -------
        tuple of float
            Low and high share.
        """
        half = WIDE * (1 - self.saving) * self.model_error * 2**0.5
        return max(0.0, self.saving - half), min(1.0, self.saving + half)

    def table(self) -> render.Table:
        """CP time per MB of both widths and both ways of translation.

        Returns
        -------
        render.Table
            One row a width.
        """
        fast, slow = (
            [
                self.law.time_per_mb(bits, fast=way, read_share=self.read_share) / MILLISECOND
                for bits in WIDTHS
            ]
            for way in (True, False)
        )
        return render.Table(
            columns=(
                render.Column(name="bits", unit="", values=list(WIDTHS)),
                render.Column(name="cp_fast", unit="ms/MB", label="CP, fast", values=fast, decimals=3),
                render.Column(name="cp_slow", unit="ms/MB", label="CP, slow", values=slow, decimals=3),
                render.Column(
                    name="saving", unit="share", label="saved", values=[self.law.saving(b) for b in WIDTHS], decimals=3
                ),
            ),
            marks=tuple("in use" if bits == self.bits else "" for bits in WIDTHS),
        )  # fmt: skip

    def notes(self) -> list[str]:
        """What else is to be said.

        Returns
        -------
        list of str
            Sentences: the convention, how well the law meets the runs, reading and writing.
        """
        shown = "; ".join(
            f"{bits}-bit {self.law.saving(bits):.1%}, in the runs {written:.1%} written only and {both:.1%} written "
            "and read"
            for bits, (written, both) in self.measured_savings.items()
        )
        read = self.model.parameters["read_factor"]
        return [
            CONVENTION,
            f"The law meets the sixteen runs within {self.model_error:.1%} (standard deviation): no run was repeated, "
            f"and the report warns of variation. Fast translation saves by the law {shown}.",
            f"Reading is taken to cost what writing costs ({read.low:.2f} to {read.high:.2f} times in the runs), so "
            "the mix of both does not matter.",
        ]

    def text(self) -> str:
        """The answer for people.

        Returns
        -------
        str
            A headline, the table, the notes.
        """
        low, high = (end / MILLISECOND for end in self.around(self.time_per_mb))
        way = "fast" if self.fast else "slow"
        head = (
            f"{self.bits}-bit channel programs, {self.read_share:.0%} read, {way} translation: "
            f"{self.time_per_mb / MILLISECOND:.2f} ms of CP per MB ({low:.2f} to {high:.2f})"
        )
        if self.processors is not None and self.data_rate is not None:
            low, high = self.around(self.processors)
            moved = self.data_rate / MEGABYTE
            head += f", {self.processors:.3f} processors ({low:.3f} to {high:.3f}) at {moved:g} MB/s"
        low, high = self.saving_around()
        saved = f"Fast translation saves {self.saving:.0%} ({low:.0%} to {high:.0%}) of CP time per MB"
        place = "{machine}, {release}".format(**self.model.environment)
        told = [render.wrap(head), render.wrap(f"{saved} ({place})."), "", render.to_text(self.table()), ""]
        return "\n".join([*told, *map(render.wrap, self.notes())])

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` shows.

        Returns
        -------
        dict
            `cp_ms_per_mb`, `processors`, `saving`, each with its interval.
        """
        processors = self.processors
        return {
            "bits": self.bits,
            "translation": "fast" if self.fast else "slow",
            "read_share": self.read_share,
            "cp_ms_per_mb": self.time_per_mb / MILLISECOND,
            "cp_ms_per_mb_interval": [end / MILLISECOND for end in self.around(self.time_per_mb)],
            "processors": processors,
            "processors_interval": None if processors is None else list(self.around(processors)),
            "saving": self.saving,
            "saving_interval": list(self.saving_around()),
            "saving_measured": self.measured_savings[self.bits],
            "notes": self.notes(),
        }

    def plot(self) -> Axes:
        """Draw the published runs beside the law.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from planner.advice.pictures import cp_time_per_mb

        return cp_time_per_mb(self.law)


def channel_programs(
    bits: int, read_share: float, *, fast: bool = True, data_rate: float | None = None
) -> CcwAnswer:
    """Ask what CP spends on channel programs.

    Parameters
    ----------
    bits : {31, 64}
        Width of the addresses.
    read_share : float
        Part of the data that is read, 0 to 1.
    fast : bool, optional
        Whether CP translates the channel programs fast.
    data_rate : float, optional
        Data moved [bytes/s].

    Returns
    -------
    CcwAnswer
        Time per MB, processors, saving.

    Raises
    ------
    InputError
        A number outside its domain.
    """
    model = library.read_model(MODEL)
    answer = CcwAnswer(
        law=ChannelProgram.from_model(model),
        model=model,
        bits=bits,
        fast=fast,
        read_share=read_share,
        data_rate=data_rate,
    )
    if data_rate is not None and not 0 < data_rate < float("inf"):
        raise InputError("data_rate", data_rate, "a finite number above zero", "bytes/s")
    answer.time_per_mb  # noqa: B018 - refuses bits and share
    return answer
