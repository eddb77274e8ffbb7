"""``planner aliases``: how many aliases a volume or a pool needs, from a listing or from numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli import options
from planner.errors import InputError

if TYPE_CHECKING:
    from planner.demand import Law
    from planner.measurements import Interval, Run
    from planner.reports import DeviceListing
    from planner.sizing import AliasAnswer, Target

DEFAULT_MODEL = "hyperpav"
SERVICE_PARTS = 3  # a printed service time is the sum of three rounded parts

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="How many aliases a volume (classic PAV) or a pool (HyperPAV) needs.\n\n"
    "Example: planner aliases pool DEVICE.listing --bases 522A-5231",
)

Listings = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[LISTING]...", help="DEVICE listings (FCX108), or volume totals (CSV).", show_default=False
    ),
]
Rate = Annotated[str | None, typer.Option(metavar="RATE", help="I/O rate of one volume, as 755/s.")]
Service = Annotated[str | None, typer.Option(metavar="TIME", help="Service time, as 1.3ms.")]
Response = Annotated[str | None, typer.Option(metavar="TIME", help="Response time, as 3.7ms.")]
Queue = Annotated[str | None, typer.Option(metavar="I/Os", help="I/Os queued at one volume, as 1.84.")]
InUse = Annotated[int | None, typer.Option("--in-use", metavar="N", help="With numbers: aliases in use.")]
WaitTarget = Annotated[
    str | None, typer.Option("--wait", metavar="TIME", help="Target: mean wait, as 0.1ms.")
]
QueuedTarget = Annotated[
    str | None, typer.Option("--queued", metavar="I/Os", help="Target: mean queue, as 0.05.")
]
ResponseTarget = Annotated[
    str | None, typer.Option("--target-response", metavar="TIME", help="Target: mean response, as 2ms.")
]
NoAlias = Annotated[
    str | None,
    typer.Option("--no-alias", metavar="SHARE", help="Target: share of tries without alias, as 1%."),
]
Growth = Annotated[str | None, typer.Option(metavar="SHARE", help="Demand grows by this first, as 30%.")]


@app.command(name="volume", no_args_is_help=True)
def volume(
    listings: Listings = None,
    device: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Base device, as 522A.")] = None,
    rate: Rate = None,
    service: Service = None,
    response: Response = None,
    queue: Queue = None,
    in_use: InUse = None,
    wait: WaitTarget = None,
    queued: QueuedTarget = None,
    target_response: ResponseTarget = None,
    no_alias: NoAlias = None,
    growth: Growth = None,
    model: options.Model = DEFAULT_MODEL,
    json: options.Json = False,
    csv: options.Csv = False,
    output: options.Output = None,
    force: options.Force = False,
    plot: options.Plot = None,
) -> None:
    """Count the aliases for volumes with aliases of their own (classic PAV).

    Without --device every base that did I/O is answered, longest queue first. Several listings with different alias
    counts of the same volumes decide more. With numbers, --response is the measurement; with listings, the target.

    Example: planner aliases volume --rate 755/s --service 1.3ms --response 3.7ms --queue 1.84
    """
    numbers = _numbers(rate, service, None if listings else response, queue, in_use, 1, pool=False)
    target = _target(wait, queued, target_response or (response if listings else None), no_alias)
    systems = _systems(listings, numbers, device)
    answers = _answer(systems, model, target, growth)
    _emit(answers, many=bool(listings) and device is None and len(answers) > 1, json=json, csv=csv, output=output,
          force=force, plot=plot)  # fmt: skip


@app.command(name="pool", no_args_is_help=True)
def pool(
    listings: Listings = None,
    bases: Annotated[str | None, typer.Option(metavar="RANGE", help="Base devices, as 522A-5231.")] = None,
    alias_range: Annotated[
        str | None, typer.Option("--aliases", metavar="RANGE", help="Alias devices, as 5249-5250.")
    ] = None,
    volumes: Annotated[int, typer.Option(metavar="N", help="With numbers: volumes in the pool.")] = 1,
    rate: Rate = None,
    service: Service = None,
    response: Response = None,
    queue: Queue = None,
    in_use: InUse = None,
    wait: WaitTarget = None,
    queued: QueuedTarget = None,
    target_response: ResponseTarget = None,
    no_alias: NoAlias = None,
    growth: Growth = None,
    model: options.Model = DEFAULT_MODEL,
    json: options.Json = False,
    csv: options.Csv = False,
    output: options.Output = None,
    force: options.Force = False,
    plot: options.Plot = None,
) -> None:
    """Count the aliases for a pool of volumes that share them (HyperPAV).

    A listing does not say which devices form a pool: name the bases, or all its ECKD devices are taken as one. With
    numbers, --response is the measurement; with listings, the target.

    Example: planner aliases pool --rate 736/s --service 1.3ms --response 3.8ms --queue 1.8 --volumes 8
    """
    numbers = _numbers(rate, service, None if listings else response, queue, in_use, volumes, pool=True)
    target = _target(wait, queued, target_response or (response if listings else None), no_alias)
    if (listings is None or not listings) == (numbers is None):
        raise InputError(
            "LISTING", "none" if numbers is None else "and numbers", "listings, or --rate and --service"
        )
    system = [numbers] if numbers else _pool_runs(listings or [], bases, alias_range)
    answers = _answer([system], model, target, growth)
    _emit(answers, many=False, json=json, csv=csv, output=output, force=force, plot=plot)


@app.command(name="supply", no_args_is_help=True)
def supply(
    counters: Annotated[Path, typer.Argument(metavar="COUNTERS.csv", help="Supply counters (MRIODHPP).")],
    pool: Annotated[str | None, typer.Option(metavar="NAME", help="Only this pool.")] = None,
    no_alias: NoAlias = "1%",
    volumes: Annotated[
        Path | None,
        typer.Option(metavar="TOTALS.csv", help="Volume totals of the same time, with their pools."),
    ] = None,
    model: options.Model = DEFAULT_MODEL,
    json: options.Json = False,
    csv: options.Csv = False,
    output: options.Output = None,
    force: options.Force = False,
    plot: options.Plot = None,
) -> None:
    """Tell from the counters of running pools whether their aliases are enough, too few or too many (HyperPAV).

    Columns: time, pool, IODHPP_HPPTRIES, IODHPP_HPPFAILS, IODHPP_HPPMINCT, IODHPP_HPPMAXCT, aliases; one row a record.

    Example: planner aliases supply COUNTERS.csv --no-alias 1% --plot supply.png
    """
    from planner import units
    from planner.reports.supply import read_supply
    from planner.supply import judge

    share = units.parse(no_alias or "1%", "share", argument="--no-alias")
    if share >= 1.0:
        raise InputError("--no-alias", no_alias, "a share below 100%")
    pools = read_supply(counters)
    if pool is not None:
        names = ", ".join(each.pool for each in pools)
        pools = tuple(each for each in pools if each.pool == pool)
        if not pools:
            raise InputError("--pool", pool, f"one of {names}")
    runs = (
        {} if volumes is None else {run.name.removeprefix("pool "): run for run in _totals(volumes, None, "")}
    )
    answer = judge(pools, no_alias=share, volumes=runs, law=_law(model) if runs else None)
    options.draw(answer.plot, plot, force=force)
    options.emit(answer.text(), answer.to_dict(), answer.table(), json=json, csv=csv, output=output,
                 force=force)  # fmt: skip


def _read(paths: Sequence[Path]) -> list[DeviceListing]:
    """All listings of all files, the newest last."""
    from planner.reports import read_devices

    found = [listing for path in paths for listing in read_devices(path)]
    if all(listing.end is not None for listing in found):
        found.sort(key=lambda listing: str(listing.end))
    return found


def _pool_runs(paths: Sequence[Path], bases: str | None, alias_range: str | None) -> list[Run]:
    """The runs of one pool, from listings and from volume totals."""
    from planner.measurements import pool_run

    tables, reports = options.by_kind(paths)
    runs = [pool_run(listing, bases, alias_range) for listing in _read(reports)]
    for path in tables:
        if alias_range is not None:
            raise InputError(
                "--aliases", alias_range, "it with a listing only; volume totals hold the aliases"
            )
        found = _totals(path, bases, "bases")
        if len(found) != 1 or not found[0].pool:
            names = ", ".join(run.name for run in found)
            raise InputError(
                "LISTING", str(path), f"the volumes of one pool; here are {names}: choose one by --bases"
            )
        runs += found
    return runs


def _totals(path: Path, devices: str | None, argument: str) -> list[Run]:
    """Runs of the volumes in a file of volume totals, only those in a range of devices where one is given."""
    from planner.measurements import address_range, totals_runs
    from planner.reports.volume_totals import read_totals

    rows = read_totals(path)
    if devices is not None:
        low, high = address_range(devices, argument)
        rows = tuple(row for row in rows if low <= int(row.device, 16) <= high)
        if not rows:
            raise InputError(argument, devices, f"devices of {path}")
    return totals_runs(rows)


def _systems(listings: list[Path] | None, numbers: Run | None, device: str | None) -> list[list[Run]]:
    """The runs of each volume, longest queue first."""
    from planner.measurements import volume_runs

    if bool(listings) == (numbers is not None):
        raise InputError(
            "LISTING", "none" if numbers is None else "and numbers", "listings, or --rate and --service"
        )
    if numbers is not None:
        return [[numbers]]
    systems: dict[str, list[Run]] = {}
    tables, reports = options.by_kind(listings or [])
    for listing in _read(reports):
        for run in volume_runs(listing, device):
            systems.setdefault(run.name, []).append(run)
    for path in tables:
        for run in _totals(path, device, "device"):
            if run.pool:
                raise InputError(
                    "LISTING", str(path), f"volumes in no pool; for {run.name} ask `planner aliases pool`"
                )
            systems.setdefault(run.name, []).append(run)
    return sorted(systems.values(), key=lambda runs: -runs[-1].queued)


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


def _numbers(
    rate: str | None, service: str | None, response: str | None, queue: str | None, in_use: int | None, volumes: int,
    *, pool: bool,
) -> Run | None:  # fmt: skip
    """A run from options, or None where no number was given."""
    from planner.measurements import from_numbers

    if rate is None and service is None and response is None and queue is None and in_use is None:
        return None
    for argument, value, example in (("--rate", rate, "755/s"), ("--service", service, "1.3ms")):
        if value is None:
            raise InputError(
                argument, None, f"a quantity such as {example}; it is needed with the other numbers"
            )
    assert rate is not None and service is not None
    if volumes < 1:
        raise InputError("--volumes", volumes, "a count of at least 1")
    if in_use is not None and in_use < 0:
        raise InputError("--in-use", in_use, "a count of at least 0")
    return from_numbers(
        io_rate=_interval(rate, "rate", "--rate"),
        service=_interval(service, "time", "--service", SERVICE_PARTS),
        response=None if response is None else _interval(response, "time", "--response"),
        queued=None if queue is None else _count(queue, "--queue"),
        volumes=volumes,
        aliases=in_use or 0,
        pool=pool,
    )


def _target(wait: str | None, queued: str | None, response: str | None, no_alias: str | None) -> Target:
    from planner import units
    from planner.sizing import Target

    return Target(
        wait=None if wait is None else units.parse(wait, "time", argument="--wait"),
        queued=None if queued is None else units.parse_count(queued, argument="--queued"),
        response=None if response is None else units.parse(response, "time", argument="--response"),
        no_alias=None if no_alias is None else units.parse(no_alias, "share", argument="--no-alias"),
    )


def _law(model: str) -> Law:
    from planner.demand import Law

    return Law.from_model(model)


def _answer(systems: list[list[Run]], model: str, target: Target, growth: str | None) -> list[AliasAnswer]:
    from planner import sizing, units

    law = _law(model)
    grown = 0.0 if growth is None else units.parse(growth, "share", argument="--growth", zero=True)
    with options.working("Solving for every reading"):
        return [sizing.aliases(runs, law, target=target, growth=grown) for runs in systems]


def _emit(
    answers: list[AliasAnswer], *, many: bool, json: bool, csv: bool, output: Path | None, force: bool,
    plot: Path | None,
) -> None:  # fmt: skip
    from planner.sizing import together

    options.draw(answers[0].plot, plot, force=force)
    data = {"volumes": [{"device": a.name, **a.to_dict()} for a in answers]} if many else answers[0].to_dict()
    text = "\n\n".join(answer.text(closing=answer is answers[-1]) for answer in answers)
    options.emit(text, data, together(answers), json=json, csv=csv, output=output, force=force)
