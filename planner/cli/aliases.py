"""``planner aliases``: how many aliases a volume or a pool needs, from a listing, a table or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli import options
from planner.errors import InputError

if TYPE_CHECKING:
    from planner.demand import Law
    from planner.measurements import Interval, Run
    from planner.sizing import AliasAnswer, MeasuredPool, Target

DEFAULT_MODEL = "hyperpav"
SERVICE_PARTS = 3  # a printed service time is the sum of three rounded parts
FEWEST_TO_SHARE = 50  # pools below which further processes take longer to start than they save

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="How many aliases a volume (classic PAV) or a pool (HyperPAV) needs.\n\n"
    "Example: planner aliases pool DEVICE.listing --bases 522A-5231",
)

Files = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[FILE]...", help="DEVICE listings (FCX108), or tables of volumes (CSV).", show_default=False
    ),
]
NoAlias = Annotated[
    str | None,
    typer.Option("--no-alias", metavar="SHARE", help="Target: share of tries without alias, as 1%."),
]


def _option(*name: str, metavar: str, help: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(*name, metavar=metavar, help=help)
    return option


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Numbers instead of files, what the aliases must achieve, and the law to reckon with.

    Attributes
    ----------
    rate, service, response, queue : str or None
        Of one volume; with files `response` is the target.
    in_use : int or None
        Aliases at the time of the measurement.
    wait, queued, target_response, no_alias : str or None
        Targets.
    growth : str or None
        Share by which the demand grows first.
    model : str
        The law.
    """

    rate: Annotated[str | None, _option(metavar="RATE", help="I/O rate of one volume, as 755/s.")] = None
    service: Annotated[str | None, _option(metavar="TIME", help="Service time, as 1.3ms.")] = None
    response: Annotated[str | None, _option(metavar="TIME", help="Response time, as 3.7ms.")] = None
    queue: Annotated[str | None, _option(metavar="I/Os", help="I/Os queued at one volume, as 1.84.")] = None
    in_use: Annotated[int | None, _option("--in-use", metavar="N", help="With numbers: aliases in use.")] = (
        None
    )
    wait: Annotated[str | None, _option(metavar="TIME", help="Target: mean wait, as 0.1ms.")] = None
    queued: Annotated[str | None, _option(metavar="I/Os", help="Target: mean queue, as 0.05.")] = None
    target_response: Annotated[str | None, _option(metavar="TIME", help="Target: mean response, as 2ms.")] = (
        None
    )
    no_alias: NoAlias = None
    growth: Annotated[str | None, _option(metavar="SHARE", help="Demand grows by this first, as 30%.")] = None
    model: options.Model = DEFAULT_MODEL

    def numbers(self, files: list[Path] | None, volumes: int, *, pool: bool) -> Run | None:
        """A run from numbers; None where files stand for them."""
        from planner.measurements import from_numbers

        response = None if files else self.response
        given = (self.rate, self.service, response, self.queue, self.in_use)
        if all(value is None for value in given):
            if not files:
                raise InputError("FILE", "none", "listings, or --rate and --service")
            return None
        if files:
            raise InputError("FILE", "and numbers", "listings, or --rate and --service")
        for argument, value, example in (
            ("--rate", self.rate, "755/s"),
            ("--service", self.service, "1.3ms"),
        ):
            if value is None:
                raise InputError(
                    argument, None, f"a quantity such as {example}; it is needed with the other numbers"
                )
        assert self.rate is not None and self.service is not None
        if volumes < 1:
            raise InputError("--volumes", volumes, "a count of at least 1")
        if self.in_use is not None and self.in_use < 0:
            raise InputError("--in-use", self.in_use, "a count of at least 0")
        return from_numbers(
            io_rate=_interval(self.rate, "rate", "--rate"),
            service=_interval(self.service, "time", "--service", SERVICE_PARTS),
            response=None if response is None else _interval(response, "time", "--response"),
            queued=None if self.queue is None else _count(self.queue, "--queue"),
            volumes=volumes,
            aliases=self.in_use or 0,
            pool=pool,
        )

    def target(self, files: list[Path] | None) -> Target:
        """What must be achieved; with files --response is the target."""
        from planner import units
        from planner.sizing import Target

        response = self.target_response or (self.response if files else None)
        return Target(
            wait=None if self.wait is None else units.parse(self.wait, "time", argument="--wait"),
            queued=None if self.queued is None else units.parse_count(self.queued, argument="--queued"),
            response=None if response is None else units.parse(response, "time", argument="--response"),
            no_alias=None
            if self.no_alias is None
            else units.parse(self.no_alias, "share", argument="--no-alias"),
        )

    def grown(self) -> float:
        """Share by which the demand grows."""
        from planner import units

        return (
            0.0 if self.growth is None else units.parse(self.growth, "share", argument="--growth", zero=True)
        )

    def answers(self, systems: list[list[Run]], files: list[Path] | None) -> list[AliasAnswer]:
        """Answer for each system."""
        from planner import sizing

        target, law, growth = self.target(files), _law(self.model), self.grown()
        with options.working("Solving for every reading"):
            return [sizing.aliases(runs, law, target=target, growth=growth) for runs in systems]


@app.command(name="volume", no_args_is_help=True)
@options.expanded
def volume(
    files: Files = None,
    device: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Base device, as 522A.")] = None,
    *,
    question: Question,
    form: options.PlotForm,
) -> None:
    """Aliases for volumes that have their own (classic PAV).

    Without --device every base that did I/O is answered, longest queue first. Several listings with different alias
    counts of the same volumes decide more. With numbers, --response is the measurement; with files, the target.

    Example: planner aliases volume --rate 755/s --service 1.3ms --response 3.7ms --queue 1.84
    """
    from planner.cli.alias_files import volume_systems

    numbers = question.numbers(files, 1, pool=False)
    systems = [[numbers]] if numbers else volume_systems(files or [], device)
    answers = question.answers(systems, files)
    _emit(answers, form, many=bool(files) and device is None and len(answers) > 1)


@app.command(name="pool", no_args_is_help=True)
@options.expanded
def pool(
    files: Files = None,
    bases: Annotated[str | None, typer.Option(metavar="RANGE", help="Base devices, as 522A-5231.")] = None,
    alias_range: Annotated[
        str | None, typer.Option("--aliases", metavar="RANGE", help="Alias devices, as 5249-5250.")
    ] = None,
    members: Annotated[
        Path | None, typer.Option("--pools", metavar="FILE", help="Members of all pools of a listing (CSV).")
    ] = None,
    only: Annotated[str | None, typer.Option("--pool", metavar="NAME", help="Only this pool.")] = None,
    volumes: Annotated[int, typer.Option(metavar="N", help="With numbers: volumes in the pool.")] = 1,
    *,
    question: Question,
    form: options.PlotForm,
) -> None:
    """Aliases for volumes that share them (HyperPAV).

    A listing does not say which devices form a pool: name the bases, or a table of the members of all pools, or all its
    ECKD devices are taken as one. A table of volumes may have a column pool. One pool is answered in full, of several
    each has a row; --pool picks one. With numbers, --response is the measurement; with files, the target.

    Example: planner aliases pool --rate 736/s --service 1.3ms --response 3.8ms --queue 1.8 --volumes 8
    """
    from planner.cli.alias_files import pools_of

    numbers = question.numbers(files, volumes, pool=True)
    if numbers:
        _emit(question.answers([[numbers]], files), form)
        return
    pools, notes = pools_of(files or [], bases, alias_range, members)
    if only is not None:
        names = ", ".join(each.name for each in pools)
        pools = [each for each in pools if each.name == only]
        if not pools:
            raise InputError("--pool", only, f"one of {names}")
    if len(pools) > 1:
        _many(pools, notes, question, form)
        return
    if not pools[0].runs:
        raise InputError("io_rate", 0.0, f"a volume of pool {pools[0].name} with I/O; there is none", "1/s")
    _emit(question.answers([list(pools[0].runs)], files), form)


@app.command(name="supply", no_args_is_help=True)
@options.expanded
def supply(
    counters: Annotated[
        Path,
        typer.Argument(metavar="COUNTERS", help="Supply counters (MRIODHPP): CSV, or z/VM monitor data."),
    ],
    pool: Annotated[str | None, typer.Option(metavar="NAME", help="Only this pool.")] = None,
    no_alias: NoAlias = "1%",
    volumes: Annotated[
        Path | None,
        typer.Option(metavar="TOTALS.csv", help="Volume totals of the same time, with their pools."),
    ] = None,
    model: options.Model = DEFAULT_MODEL,
    *,
    form: options.PlotForm,
) -> None:
    """Whether running pools have enough, from counters.

    Enough aliases, too few or too many, for each HyperPAV pool.

    CSV has one row a record: time, pool, IODHPP_HPPTRIES, IODHPP_HPPFAILS, IODHPP_HPPMINCT, IODHPP_HPPMAXCT, aliases.

    Example: planner aliases supply COUNTERS.csv --no-alias 1% --plot supply.png
    """
    from planner import units
    from planner.measurements import totals_runs
    from planner.measurements.supplies import read_supplies
    from planner.reports.volume_totals import read_totals
    from planner.supply import judge

    share = units.parse(no_alias or "1%", "share", argument="--no-alias")
    if share >= 1.0:
        raise InputError("--no-alias", no_alias, "a share below 100%")
    pools = read_supplies(counters)
    if pool is not None:
        names = ", ".join(each.pool for each in pools)
        pools = tuple(each for each in pools if each.pool == pool)
        if not pools:
            raise InputError("--pool", pool, f"one of {names}")
    runs = (
        {}
        if volumes is None
        else {run.name.removeprefix("pool "): run for run in totals_runs(read_totals(volumes))}
    )
    answer = judge(pools, no_alias=share, volumes=runs, law=_law(model) if runs else None)
    options.show(answer, form)


def _interval(text: str, dimension: str, argument: str, parts: int = 1) -> Interval:
    """A quantity with what its digits leave open."""
    from planner import units
    from planner.measurements import Interval

    value = units.parse(text, dimension, argument=argument)  # type: ignore[arg-type]
    half = parts * units.resolution(text, dimension, argument=argument)  # type: ignore[arg-type]
    return Interval(max(value - half, 0.5 * value), value, value + half)


def _count(text: str, argument: str) -> Interval:
    from planner import units
    from planner.measurements import Interval

    value = units.parse_count(text, argument=argument)
    half = units.half_digit(text.strip())
    return Interval(max(value - half, 0.0), value, value + half)


def _law(model: str) -> Law:
    from planner.demand import Law

    return Law.from_model(model)


def _many(pools: list[MeasuredPool], notes: list[str], question: Question, form: options.PlotForm) -> None:
    """Answer for many pools at once."""
    import os

    from planner.sizing import subsystem

    processes = (os.cpu_count() or 1) if len(pools) >= FEWEST_TO_SHARE else 1
    with options.progress("Pools", len(pools)) as done:
        answer = subsystem(
            pools, _law(question.model), target=question.target([Path()]), growth=question.grown(), notes=notes,
            processes=processes, done=done,
        )  # fmt: skip
    options.show(answer, form)
    if answer.exit_code:
        raise typer.Exit(answer.exit_code)


def _emit(answers: list[AliasAnswer], form: options.PlotForm, *, many: bool = False) -> None:
    from planner.sizing import together

    options.draw(answers[0].plot, form)
    data = {"volumes": [{"device": a.name, **a.to_dict()} for a in answers]} if many else answers[0].to_dict()
    text = "\n\n".join(answer.text(closing=answer is answers[-1]) for answer in answers)
    options.emit(text, data, together(answers), form)
