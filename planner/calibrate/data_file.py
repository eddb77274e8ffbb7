"""Measured runs from a CSV file: of volumes and pools, and of devices with costs.

The columns of a CSV file are documented in docs/calibration.md. Empty cells stand for what was not measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from planner.calibrate.least_squares import MeasuredFigure
from planner.calibrate.observation import ABSOLUTE, Figure, Observation, observe
from planner.errors import InputError, ReportError
from planner.measurements import Devices, Run, intervals, pool_runs, read, system_runs, volume_runs
from planner.measurements.read import is_folder
from planner.measurements.rows import shown as listed
from planner.quantity import Quantity
from planner.reports import Printed
from planner.reports.csv_table import Allowed, CsvTable, read_csv, shown
from planner.units import MILLISECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """One row of a table: a run."""

    name: str  # names the run in a report
    path: Path  # the file
    line: int  # its line in it
    numbers: Mapping[str, Printed]  # printed numbers, SI, by heading; nothing where the cell is empty
    words: Mapping[str, str]  # words by heading
    columns: Mapping[str, int] = field(default_factory=dict)  # where in the line the cell of a heading begins

    def value(self, heading: str, default: float = 0.0) -> float:
        """Take a number."""
        found = self.numbers.get(heading)
        return default if found is None else found.value

    def figure(self, heading: str, factor: float) -> MeasuredFigure:
        """Take a number as a fit takes it; `factor` is SI units in one of its heading."""
        number = self.numbers[heading]
        return MeasuredFigure(
            run=self.name, quantity=heading, factor=factor, value=number.value, half=number.resolution
        )

    def error(self, problem: str, heading: str = "") -> ReportError:
        """Make an error of this row."""
        return ReportError(self.path, problem, line=self.line, column=self.columns.get(heading))


def read_measurements(
    paths: Sequence[Path],
    headings: Sequence[Quantity],
    needed: Sequence[str],
    *,
    what: str = "measurements",
    one_of: Sequence[Sequence[str]] = (),
    others: bool = False,
) -> list[Measurements]:
    """Read runs from CSV files of one kind, one a row; `run` names them.

    Columns that are `needed` have a number or a word in every row; of the groups in `one_of` a file has at least one.
    Columns that no heading knows are refused, or ignored where there may be `others`. `what` says in messages what the
    files should hold.
    """
    known = None if others else ["run", *(each.file_key for each in headings)]
    found: list[Measurements] = []
    for path in paths:
        table = read_csv(path, needed, what, known=known)
        if one_of and not any(all(map(table.has, group)) for group in one_of):
            raise table.missing(", or ".join(" and ".join(group) for group in one_of), what)
        found += _measurements(table, [each for each in headings if table.has(each.file_key)], needed)
    return found


def _measurements(table: CsvTable, headings: Sequence[Quantity], needed: Sequence[str]) -> list[Measurements]:
    numbers = {each.file_key: _numbers(table, each, needed) for each in headings if not each.words}
    words = {each.file_key: _words(table, each, needed) for each in headings if each.words}
    return [
        Measurements(
            name=name or f"{table.path.stem} line {line}",
            path=table.path,
            line=line,
            numbers={name: cells[row] for name, cells in numbers.items() if cells[row] is not None},  # type: ignore[misc]
            words={name: cells[row] for name, cells in words.items() if cells[row]},
            columns={each.file_key: table.column(row, each.file_key) for each in headings},
        )
        for row, (name, line) in enumerate(zip(table.texts("run"), table.lines, strict=True))
    ]


def _numbers(table: CsvTable, heading: Quantity, needed: Sequence[str]) -> list[Printed | None]:
    """Printed numbers of a column, SI."""
    name = heading.file_key
    allowed = Allowed(whole=heading.whole, zero=heading.zero, most=heading.high)
    found = table.known(name, allowed)
    if name in needed and None in found:
        raise table.error(found.index(None), name, f"is empty: {allowed.expected(name)}")
    return [
        None if each is None else Printed(each[0] * heading.factor, each[1] * heading.factor)
        for each in found
    ]


def _words(table: CsvTable, heading: Quantity, needed: Sequence[str]) -> list[str]:
    """Words of a column."""
    name = heading.file_key
    found = table.texts(name)
    for row, text in enumerate(found):
        if text not in heading.words and (text or name in needed):
            raise table.error(row, name, f"{shown(text)}: expected {' or '.join(heading.words)}")
    return found


MEASURED: Final = {
    "io_rate": ("io_rate", 1.0),
    "service_ms": ("service_time", MILLISECOND),
    "response_ms": ("response_time", MILLISECOND),
    "wait_ms": ("wait_time", MILLISECOND),
    "queued": ("queued", 1.0),
}
COUNTS: Final = ("population", "aliases", "volumes")
NAMES: Final = ("run", "device", "role")
COLUMNS: Final = (*NAMES, *COUNTS, *MEASURED)
OF_DEVICES: Final = (*NAMES, "population", "io_rate", "service_ms", "queued")  # where a row is a device
MOST: Final = 10**6  # of aliases, volumes or requesters; more than any machine has
NEEDED: Final = {
    "device": ("io_rate", "service_ms"), "volume": ("aliases",), "pool": ("aliases", "volumes"),
}  # fmt: skip
TOTALS: Final = "pool_aliases"  # a column that only a table of volume totals has
ROLES: Final = ("base", "alias")
MOST_RUNS: Final = 60  # in one fit; a law with four parameters learns little from more, and each costs time


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which measurements a fit takes: of a `system`, from `start` to `end`, at one `interval`, of a `device` or `pool`.

    Of an archive, without `interval`, it takes the worst interval at each count of aliases, in which most I/Os wait.
    """

    system: str | None = None
    start: str | None = None
    end: str | None = None
    interval: str | None = None
    device: str | None = None
    pool: str | None = None

    def given(self) -> dict[str, str]:
        """What was said, by option."""
        options = {"start": "--from", "end": "--to"}
        return {
            options.get(name, f"--{name}"): value
            for name in self.__slots__
            if (value := getattr(self, name)) is not None
        }


EVERYTHING: Final = Chosen()


def read_observations(paths: Sequence[Path], kind: str, chosen: Chosen = EVERYTHING) -> list[Observation]:
    """Read all measurements of a volume or a pool.

    Parameters
    ----------
    paths : sequence of Path
        DEVICE listings or whatever else `planner.measurements.read` reads, archives too, or CSV files of runs.
    kind : {"volume", "pool"}
        What they were measured of.
    chosen : Chosen, optional
        Which measurements of them; all where nothing is said.

    Returns
    -------
    list of Observation
        One a run.

    Raises
    ------
    ReportError
        A file cannot be read, or a row is not what its header promises.
    InputError
        The measurements do not hold such a system, or those of several that are not said to be one.
    """
    found: list[Observation] = []
    for path in paths:
        if chosen == EVERYTHING and path.suffix.lower() == ".csv":
            found += _csv_observations(path, kind)
        else:
            found += [observe(run) for run in _runs(path, kind, chosen)]
    if len(found) > MOST_RUNS:
        raise InputError(
            "measurements", len(found),
            f"at most {MOST_RUNS} runs in one fit; --device, --pool, --from with --to or --interval choose some",
        )  # fmt: skip
    return found


def _runs(path: Path, kind: str, chosen: Chosen) -> list[Run]:
    """Runs of a file, or of an archive: of one volume or pool there, the worst at each count of aliases."""
    measured = read(path, system=chosen.system, start=chosen.start, end=chosen.end, interval=chosen.interval)
    systems = sorted(str(name) for name in measured.devices["system"].unique().drop_nulls())
    if len(systems) > 1:
        raise InputError("--system", None, f"one of {', '.join(systems)}: {path} holds several systems")
    only = None if chosen.device is None else Devices(chosen.device, "device")
    found: list[Run] = []
    for rows in intervals(measured):
        if kind == "volume":
            found += volume_runs(rows, only)
        elif chosen.pool is None and only is None:
            found += system_runs(rows)
        else:
            pools = pool_runs(rows, only)[0]
            found += [each.run for each in pools if each.run is not None and chosen.pool in (None, each.name)]
    if not found:
        wanted = f"a {kind} with I/O" + (f"; of pool {chosen.pool} there is none" if chosen.pool else "")
        raise InputError("measurements", str(path), wanted)
    if not is_folder(path):
        return found
    names = dict.fromkeys(run.name for run in found)
    if len(names) > 1:
        option = "--device" if kind == "volume" else "--pool"
        some = listed(list(names))
        raise InputError(option, None, f"one {kind} of the {len(names)} in {path}: {some}")
    worst: dict[int, Run] = {}
    for run in found:
        known = worst.get(run.aliases)
        if known is None or run.total_queue.value > known.total_queue.value:
            worst[run.aliases] = run
    return [worst[count] for count in sorted(worst)]


def _csv_observations(path: Path, kind: str) -> list[Observation]:
    """One run a row, or one device a row where there is a column `role`; totals of supplied counters as they are."""
    table = read_csv(
        path, (), f"runs of a {kind}, with columns such as aliases, io_rate, service_ms and queued"
    )
    if table.has(TOTALS):
        return [observe(run) for rows in intervals(read(path)) for run in system_runs(rows)]
    shape = "device" if table.has("role") else kind
    table.refuse_others(OF_DEVICES if shape == "device" else COLUMNS)
    table.require(NEEDED[shape], f"runs of a {kind} with the columns {', '.join(NEEDED[shape])}")
    if not any(map(table.has, MEASURED)):
        raise table.missing(f"one of {', '.join(MEASURED)}", f"what was measured of each run of a {kind}")
    runs = _by_device(table) if shape == "device" else _by_run(table, NEEDED[kind])
    for row, run in runs:
        if kind == "volume" and run.volumes > 1:
            column = "role" if shape == "device" else "volumes"
            problem = f"has {run.volumes} volumes: expected 1 volume; several are --kind pool"
            raise table.error(row, column, problem)
    return [run for _, run in runs]


def _figures(table: CsvTable, *, zero: bool) -> list[dict[str, Figure]]:
    """What each row measured, SI; rates and times may be 0 with `zero` only, waits and queues always."""
    found: list[dict[str, Figure]] = [{} for _ in table.rows]
    for column, (name, factor) in MEASURED.items():
        cells = table.known(column, Allowed(zero=zero or name in ABSOLUTE))
        for figures, cell in zip(found, cells, strict=True):
            if cell is not None:
                figures[name] = Figure(cell[0] * factor, cell[1] * factor)
    return found


def _by_run(table: CsvTable, needed: Sequence[str]) -> list[tuple[int, Observation]]:
    """One run a row; a cell of the columns `needed` must not be empty."""
    figures = _figures(table, zero=False)
    aliases, volumes = _counts(table, "aliases"), _counts(table, "volumes", zero=False)
    population = _counts(table, "population", zero=False)
    found = []
    for row, name in enumerate(table.texts("run")):
        if not figures[row]:
            problem = f"nothing measured: expected a number in one of {', '.join(MEASURED)}"
            raise ReportError(table.path, problem, line=table.lines[row], column=1)
        for column, cells in (("aliases", aliases), ("volumes", volumes)):
            if column in needed and cells[row] is None:
                raise table.error(row, column, f"is empty: expected a count of {column}")
        found.append((row, _observation(
            table, row, name=name or f"{table.path.stem} line {table.lines[row]}", volumes=volumes[row] or 1,
            aliases=aliases[row] or 0, population=population[row], figures=figures[row],
        )))  # fmt: skip
    return found


def _observation(
    table: CsvTable, row: int, *, name: str, volumes: int, aliases: int, population: int | None,
    figures: dict[str, Figure],
) -> Observation:  # fmt: skip
    """A run, or the error of its row where its numbers contradict each other."""
    try:
        return Observation(
            name=name, volumes=volumes, aliases=aliases, population=population, figures=figures
        )
    except InputError as error:
        raise ReportError(
            table.path, str(error), line=table.lines[row],
            column=table.column(row, "population") if table.has("population") else None,
        ) from error  # fmt: skip


def _by_device(table: CsvTable) -> list[tuple[int, Observation]]:
    """Add up the devices of each run; rates and queues add, times are weighted by rate."""
    figures = _figures(table, zero=True)
    roles, population = table.texts("role"), _counts(table, "population", zero=False)
    runs: dict[str, list[int]] = {}
    for row, name in enumerate(table.texts("run")):
        if roles[row] not in ROLES:
            raise table.error(row, "role", f"{shown(roles[row])}: expected {' or '.join(ROLES)}")
        if "io_rate" not in figures[row]:
            raise table.error(row, "io_rate", "is empty: expected the rate of every device [1/s]")
        service = figures[row].setdefault("service_time", Figure(0.0, 0.0))
        if service.value == 0 and figures[row]["io_rate"].value > 0:
            raise table.error(
                row, "service_ms", "is empty or 0: expected the service time of a device with I/O [ms]"
            )
        runs.setdefault(name or table.path.stem, []).append(row)
    return [
        (rows[0], _sum(table, name, {row: figures[row] for row in rows}, roles, population))
        for name, rows in runs.items()
    ]


def _sum(
    table: CsvTable, name: str, figures: dict[int, dict[str, Figure]], roles: Sequence[str],
    population: Sequence[int | None],
) -> Observation:  # fmt: skip
    """One run of its devices, by their rows."""
    first = next(iter(figures))
    bases = [row for row in figures if roles[row] == "base"]
    if not bases:
        raise table.error(first, "role", f"of {name} is alias only: expected a base among its devices")
    rates, services = ([each[key] for each in figures.values()] for key in ("io_rate", "service_time"))
    total = sum(rate.value for rate in rates)
    if total <= 0:
        raise table.error(first, "io_rate", f"of all devices of {name} is 0: expected I/O of one at least")
    work = sum(rate.value * service.value for rate, service in zip(rates, services, strict=True))
    summed = {
        "io_rate": Figure(total, sum(rate.half for rate in rates)),
        "service_time": Figure(work / total, max(service.half for service in services)),
    }
    queues = {row: figures[row]["queued"] for row in bases if "queued" in figures[row]}
    if queues:
        for row in bases:
            if row not in queues:
                raise table.error(
                    row, "queued", f"is empty: expected the queue of every base of {name}, or of none"
                )
        summed["queued"] = Figure(
            sum(each.value for each in queues.values()), sum(each.half for each in queues.values())
        )
    for row in bases:
        if population[row] != population[bases[0]]:
            problem = f"is not that of line {table.lines[bases[0]]}: expected one population for all bases of {name}"
            raise table.error(row, "population", problem)
    return _observation(
        table, first, name=name, volumes=len(bases), aliases=len(figures) - len(bases),
        population=population[bases[0]], figures=summed,
    )  # fmt: skip


def _counts(table: CsvTable, name: str, *, zero: bool = True) -> list[int | None]:
    return table.counts_or_none(name, MOST, zero=zero)
