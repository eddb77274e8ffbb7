"""CP processor time for a mix of disk reads and writes through channel programs, and the saving of fast translation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from planner import library, render, style
from planner.answer import Answer, tabled
from planner.calibrate.error_bar import interval
from planner.devices.channel_program import WIDTHS, ChannelProgram
from planner.devices.parameters import Scenario
from planner.errors import InputError
from planner.interval import Interval
from planner.quantity import Quantity, column
from planner.units import MEGABYTE, MILLISECOND, ends, given, is_number, percent, readable

MODEL: Final = "channel-program"
WAYS: Final = {True: "fast", False: "slow"}
CONVENTION: Final = (
    "The runs determine three combinations of the four costs. By convention, the cost of a CCW translated fast is "
    "counted in the Start Subchannel; no answer here depends on that."
)


class PublishedRun(NamedTuple):
    """One of the sixteen runs: `bits`, `fast`, `passes` over the file, `time_per_mb` of the file [s]."""

    bits: int
    fast: bool
    passes: int
    time_per_mb: float


def token(name: str) -> tuple[int, bool, int]:
    """Width, translation and passes of a run by its token ``smmffr``; a second pass reads what the first one wrote."""
    return max(WIDTHS) if name[0] == "6" else min(WIDTHS), name[3:5] == "F1", 1 + int(name[5])


def _with_ends(key: str, unit: str, path: str) -> tuple[Quantity, Quantity]:
    """Declare a number and, under a key of its own, its 90 % interval; null where there is none."""
    value, *ends = (column(key, unit, of=f"{path}.{part}") for part in ("value", "low", "high"))

    def within(found: CcwAnswer) -> list[float] | None:
        return None if value.in_row(found) is None else [end.in_row(found) for end in ends]

    return value, column(f"{value.file_key}_interval", of=within)


@dataclass(frozen=True, slots=True, kw_only=True)
class CcwAnswer(Answer):
    """CP time of a mix of reads and writes, by the `costs` of the fitted `model`.

    `bits`, `fast`, `read_share` and `data_rate` [bytes/s] are as in `channel_programs`.
    """

    PICTURE: ClassVar[str] = "planner.advice.pictures:draw_channel_program"

    FIGURES: ClassVar = (
        column("bits"), column("translation", of=lambda found: WAYS[found.fast]), column("read_share"),
        *_with_ends("cp", "ms/MB", "time_per_mb"), *_with_ends("processors", "", "processors"),
        *_with_ends("saving", "", "saving"),
        column("saving_measured", of=lambda found: found.measured_savings[found.bits]),
    )  # fmt: skip

    costs: ChannelProgram
    model: library.Model
    bits: int
    fast: bool
    read_share: float
    data_rate: float | None

    @property
    def runs(self) -> tuple[PublishedRun, ...]:
        """The sixteen published runs."""
        runs = self.model.fit.runs
        return tuple(PublishedRun(*token(run.name), run.measured * MILLISECOND) for run in runs)

    @property
    def measured_savings(self) -> dict[int, list[float]]:
        """Saving of fast translation in the runs, by width: first written only, then written and read once."""
        totals: dict[tuple[int, bool, int], float] = {}
        for run in self.runs:
            key = (run.bits, run.fast, run.passes)
            totals[key] = totals.get(key, 0.0) + run.time_per_mb
        return {
            bits: [1 - totals[bits, True, passes] / totals[bits, False, passes] for passes in (1, 2)]
            for bits in WIDTHS
        }

    def over(self, bits: int, read_shares: Sequence[float], *, fast: bool, figure: str = "cp") -> Interval:
        """CP time per MB moved [s], or another figure, for other mixes, with its 90 % ends, shape (shares,)."""
        rate = float(MEGABYTE) if self.data_rate is None else self.data_rate
        asked: list[Scenario] = [
            {"bits": str(bits), "translation": WAYS[fast], "read_share": share, "data_rate": rate}
            for share in read_shares
        ]
        return interval(figure, self.model, asked)

    def _asked(self, figure: str) -> Interval:
        return self.over(self.bits, [self.read_share], fast=self.fast, figure=figure)[0]

    @property
    def time_per_mb(self) -> Interval:
        """CP processor time per MB moved [s/MB]."""
        return self._asked("cp")

    @property
    def saving(self) -> Interval:
        """Share of the CP processor time per MB that fast translation saves."""
        return self._asked("saving")

    @property
    def processors(self) -> Interval | None:
        """Processors that CP uses at the data rate; None without a rate."""
        return None if self.data_rate is None else self._asked("processors")

    @property
    def headline(self) -> str:
        """CP time per MB, processors, saving, each with its interval."""
        low, value, high = ends(self.time_per_mb / MILLISECOND)
        head = (
            f"{self.bits}-bit channel programs, {percent(self.read_share)} read, {WAYS[self.fast]} translation: "
            f"{value} ms of CP per MB ({low} to {high}, {style.NINETY})"
        )
        if self.processors is not None and self.data_rate is not None:
            low, value, high = ends(self.processors)
            rate = given(self.data_rate / MEGABYTE)
            head += f", {value} processors ({low} to {high}) at {rate} MB/s"
        low, value, high = map(percent, self.saving)
        return f"{head}; fast translation saves {value} ({low} to {high}) of CP time per MB."

    def table(self) -> render.Table:
        """CP time per MB for both widths and both kinds of translation."""

        def cp(bits: int, *, fast: bool) -> float:
            return self.costs.time_per_mb(bits, fast=fast, read_share=self.read_share) / MILLISECOND

        columns = (
            column("bits", of=int),
            column("cp_fast", "ms/MB", "CP, fast", 3, lambda bits: cp(bits, fast=True)),
            column("cp_slow", "ms/MB", "CP, slow", 3, lambda bits: cp(bits, fast=False)),
            column("saving", "share", "saved", 3, self.costs.saving),
        )
        return tabled(WIDTHS, columns, ("in use" if bits == self.bits else "" for bits in WIDTHS))

    @property
    def notes(self) -> tuple[str, ...]:
        """The convention, how well the model fits the runs, reading and writing."""
        shown = "; ".join(
            f"{bits}-bit {percent(self.costs.saving(bits))}, in the runs {percent(written)} written only and "
            f"{percent(both)} written and read"
            for bits, (written, both) in self.measured_savings.items()
        )
        read = self.model.parameters["read_factor"]
        return (
            CONVENTION,
            f"The model fits the sixteen runs within {percent(self.model.fit.model_error)} (standard deviation): no "
            f"run was repeated, and the report warns of variation. Savings of fast translation by the model: {shown}.",
            f"Reading is assumed to cost the same as writing ({readable(read.low or 0.0)} to "
            f"{readable(read.high or 0.0)} times in the runs), so the mix moves only the ranges.",
            "Measured on {machine}, {release}.".format(**self.model.environment),
        )


def channel_programs(
    bits: int, read_share: float, *, fast: bool = True, data_rate: float | None = None
) -> CcwAnswer:
    """CP processor time for channel programs.

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

    Examples
    --------
    >>> round(float(channel_programs(64, 0.7).time_per_mb.value) * 1e3, 2)
    2.18
    """
    if data_rate is not None and not (is_number(data_rate) and 0 < data_rate < float("inf")):
        raise InputError("data_rate", data_rate, "a finite number above zero", "bytes/s")
    model = library.read_model(MODEL)
    costs = ChannelProgram.from_model(model)
    costs.time_per_mb(bits, fast=fast, read_share=read_share)  # refuses bits and share
    return CcwAnswer(
        costs=costs, model=model, bits=int(bits), fast=fast, read_share=read_share, data_rate=data_rate
    )
