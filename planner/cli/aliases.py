"""``planner aliases``: how many aliases a volume or a pool needs, from files, numbers or supply counters."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from planner.cli import options, printing
from planner.cli.options import argument, flag, option
from planner.errors import InputError

if TYPE_CHECKING:
    from planner.measurements import Run


aliases = options.group(
    "How many aliases a volume (classic PAV) or a pool (HyperPAV) needs.\n\n"
    "Example: planner aliases pool DEVICE.listing --bases 522A-5231"
)

Files = Annotated[
    list[Path] | None,
    argument("[FILE]...", "DEVICE listings (FCX108), or tables of volumes (CSV); - for standard input."),
]
NoAlias = Annotated[str | None, option("SHARE", "Target: share of tries without alias, as 1%.", "--no-alias")]
Exclude = Annotated[str | None, option("LIST", "Devices to leave out, as 5230 or 522A,522C-522E.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasNumbers:
    """Numbers instead of files, what the aliases must achieve, and the model to use.

    * `rate`, `service`, `response` and `queue`: of one volume; with files, `response` is the target.
    * `in_use`: aliases during the measurement.
    * `wait`, `queued`, `target_response`, `no_alias` and `wait_percentile`: targets.
    * `growth`: growth of the demand before sizing.
    * `model`: the model.
    * `interval`: the measured interval to use.
    * `floor`: I/Os below which a volume is counted, not listed.
    * `commands` and `free`: platform for which to print commands, and alias devices to use.
    """

    rate: Annotated[str | None, option("RATE", "I/O rate of one volume, as 755/s.")] = None
    service: Annotated[
        str | None, option("TIME", "Service time, as 1.3ms; with files, for those without one.")
    ] = None
    response: Annotated[str | None, option("TIME", "Response time, as 3.7ms.")] = None
    queue: Annotated[str | None, option("I/Os", "I/Os queued at one volume, as 1.84.")] = None
    in_use: Annotated[int | None, option("N", "With numbers: aliases in use.", "--in-use")] = None
    wait: options.Wait = None
    queued: options.Queued = None
    target_response: options.Response = None
    no_alias: NoAlias = None
    wait_percentile: Annotated[
        str | None,
        option("SHARE:TIME", "Target: share of I/Os waiting at most TIME, as 95%:2ms.", "--wait-percentile"),
    ] = None
    growth: Annotated[str | None, option("SHARE", "Growth of the demand before sizing, as 30%.")] = None
    model: options.Model = options.DEFAULT_MODEL
    interval: Annotated[
        str | None, option("WHICH", "One interval: worst, mean, or a time, as 2026-03-01T10:15.")
    ] = None
    floor: Annotated[
        float,
        option("I/Os", "Volumes with fewer I/Os queued and in service are counted, not listed; 0 lists all."),
    ] = 0.05
    commands: Annotated[str | None, option("PLATFORM", "Also print the commands for zvm, linux or zos.")] = (
        None
    )
    free: Annotated[str | None, option("LIST", "With --commands: alias devices to take, as 5251-5258.")] = (
        None
    )

    def asked(self, files: list[Path] | None) -> dict[str, Any]:
        """Arguments of `planner.aliases`; with files, --response is the target."""
        from planner import units

        asked = asdict(self) | {"source": list(files) if files else None}
        for name in ("commands", "free"):
            del asked[name]
        if self.growth is None:
            asked["growth"] = 0.0
        if self.no_alias is not None:
            asked["no_alias"] = units.share(self.no_alias, "--no-alias", zero=False)
        if files and self.response is not None:
            both = {"--response": self.response, "--target-response": self.target_response}
            options.exclusive(both, "with files both are the target")
            asked |= {
                "response": None,
                "target_response": options.quantity(self.response, "time", "--response"),
            }
        return asked


@aliases.command(name="volume", no_args_is_help=True)
@options.expanded
def volume(
    files: Files = None,
    device: Annotated[str | None, option("LIST", "Base devices or labels, as 522A or BWPVS0.")] = None,
    exclude: Exclude = None,
    curves: Annotated[
        bool, flag("CSV of many volumes: a row for each alias count, not for each volume.", "--curves")
    ] = False,
    *,
    question: AliasNumbers,
    rows: options.ChosenRows,
    form: options.Form,
) -> None:
    """Count the aliases of volumes that have their own (classic PAV).

    Without --device, each base has a line, largest queue first (quiet ones are counted); --device shows one. Several
    listings with different alias counts of the same volumes narrow the answer. With numbers, --response is the
    measurement; with files, the target.

    Example: planner aliases volume --rate 755/s --service 1.3ms --response 3.7ms --queue 1.84
    """
    asked = asdict(rows) | {"kind": "volume", "device": device, "exclude": exclude, "curves": curves}
    _answer(question, files, form, asked)


def _answer(
    question: AliasNumbers, files: list[Path] | None, form: options.Form, asked: dict[str, Any]
) -> None:
    """Answer, add commands if wanted, print and draw."""
    from planner import sizing
    from planner.sizing.commands import to_take

    to_take(question.commands, question.free)  # refuse invalid options before solving
    with printing.progress("Counting aliases"):
        answer = sizing.aliases(**question.asked(files), **asked)
    answer = sizing.with_commands(answer, question.commands, question.free)
    printing.show(answer, form)


@aliases.command(name="pool", no_args_is_help=True)
@options.expanded
def pool(
    files: Files = None,
    bases: Annotated[str | None, option("LIST", "Base devices, as 522A-5231 or 522A,522C.")] = None,
    alias_range: Annotated[str | None, option("LIST", "Alias devices, as 5249-5250.", "--aliases")] = None,
    exclude: Exclude = None,
    members: Annotated[
        Path | None, option("FILE", "Members of all pools: CSV, or lsdasd -u.", "--pools")
    ] = None,
    only: Annotated[str | None, option("NAME", "Only this pool.", "--pool")] = None,
    volumes: Annotated[
        int | None, option("N", "With numbers: volumes in the pool.", show_default="1")
    ] = None,
    *,
    question: AliasNumbers,
    rows: options.ChosenRows,
    form: options.Form,
) -> None:
    """Count the aliases of volumes that share them (HyperPAV).

    A listing does not say which devices form a pool: name the bases, or give a table with the members of all pools;
    otherwise all its ECKD devices are one pool. A table of volumes may have a column pool. A single pool is shown in
    detail; of several, each has a row, and --pool picks one. With numbers, --response is the measurement; with files,
    the target.

    Example: planner aliases pool --rate 736/s --service 1.3ms --response 3.8ms --queue 1.8 --volumes 8
    """
    options.exclusive({"--pools": members, "--bases": bases}, "each says which devices")
    options.exclusive({"--pools": members, "--aliases": alias_range}, "each says which devices")
    asked = asdict(rows) | {
        "kind": "pool", "bases": bases, "alias_devices": alias_range, "exclude": exclude, "members": members,
        "pool": only, "volumes": volumes,
    }  # fmt: skip
    _answer(question, files, form, asked)


@aliases.command(name="supply", no_args_is_help=True)
@options.expanded
def supply(
    counters: Annotated[
        list[Path],
        argument("COUNTERS...", "Supply counters (MRIODHPP), monitor data, SMF 78-3 and 74-1, RMF XML."),
    ],
    pool: Annotated[str | None, option("NAME", "Only this pool.")] = None,
    no_alias: NoAlias = "1%",
    volumes: Annotated[
        Path | None, option("TOTALS.csv", "Volume totals of the same time, with their pools.")
    ] = None,
    model: options.Model = options.DEFAULT_MODEL,
    *,
    span: options.Span,
    form: options.Form,
) -> None:
    """Judge running pools by their supply counters.

    Whether each HyperPAV pool is short of aliases, has enough, or has some to spare.

    On z/OS: SMF 78-3, best together with 74-1, or RMF reports IOQ and DEVICE in XML.

    CSV has one row per record: time, pool, IODHPP_HPPTRIES, IODHPP_HPPFAILS, IODHPP_HPPMINCT, IODHPP_HPPMAXCT, aliases.

    Example: planner aliases supply COUNTERS.csv --no-alias 1% --plot supply.png
    """
    from planner import units
    from planner.demand import DeviceModel
    from planner.measurements import intervals, pool_runs, read
    from planner.measurements.over_time import read_supplies
    from planner.supply import judge

    share = units.share("1%" if no_alias is None else no_alias, "--no-alias", zero=False)
    if share >= 1.0:
        raise InputError("--no-alias", no_alias, "a share below 100%")
    pools = read_supplies(counters, **asdict(span))
    if pool is not None:
        InputError.unless_one_of("--pool", pool, [each.pool for each in pools])
        pools = tuple(each for each in pools if each.pool == pool)
    if volumes is None and model != options.DEFAULT_MODEL:
        raise InputError("--model", model, "it with --volumes: counters alone are answered without a model")
    runs: dict[str, Run] = {}
    if volumes is not None:
        for rows in intervals(read(volumes, **asdict(span), interval="mean")):
            runs |= {found.name: found.run for found in pool_runs(rows)[0] if found.run is not None}
    device_model = DeviceModel.from_model(model) if runs else None
    printing.show(judge(pools, no_alias=share, volumes=runs, device_model=device_model), form)
