"""Read measured runs from a CSV file: of volumes and pools, and of devices with costs (docs/calibration.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from planner.calibrate.least_squares import MeasuredFigure
from planner.calibrate.problem import FIGURES, Observation, observe
from planner.errors import InputError, ReportError
from planner.measurements import Devices, Run, intervals, pool_runs, read, system_runs, volume_runs
from planner.measurements.formats import Source, is_folder, is_volumes
from planner.measurements.rows import shown as listed
from planner.quantity import Quantity
from planner.render import counted
from planner.reports import Printed, schema
from planner.reports.csv_table import Allowed, CsvTable, first_true, read_csv, shown, with_columns
from planner.results import by_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """One row of a table: a run."""

    name: str  # names the run in a report
    path: Path  # the file
    line: int  # its line in it
    numbers: Mapping[str, Printed]  # printed numbers, SI, by heading; no entry for an empty cell
    words: Mapping[str, str]  # words by heading
    columns: Mapping[str, int] = field(default_factory=dict)  # position in the line of each heading's cell

    def value(self, heading: str, default: float = 0.0) -> float:
        """Take a number."""
        found = self.numbers.get(heading)
        return default if found is None else found.value

    def figure(self, heading: str, factor: float) -> MeasuredFigure:
        """Make the figure of a fit; `factor` is SI units in one unit of the heading."""
        number = self.numbers[heading]
        return MeasuredFigure(
            run=self.name, quantity=heading, factor=factor, value=number.value, half=number.resolution
        )

    def error(self, problem: str, heading: str = "") -> ReportError:
        """Make an error for this row."""
        return ReportError(self.path, problem, line=self.line, column=self.columns.get(heading))


def read_measurements(
    paths: Sequence[Path],
    headings: Sequence[Quantity],
    needed: Sequence[str],
    *,
    expected: str = "",
    one_of: Sequence[Sequence[str]] = (),
    others: bool = False,
) -> list[Measurements]:
    """Read runs, one per row, with all `needed` columns and one group of `one_of`; `expected` is for messages."""
    known = None if others else ["run", *(each.file_key for each in headings)]
    expected = expected or with_columns("measurements", needed)
    found: list[Measurements] = []
    for k, path in enumerate(paths):
        if path in paths[:k]:
            raise InputError("measurements", f"{path} a second time", "each file once")
        table = read_csv(path, needed, expected)
        if known is not None:
            table.refuse_others(known)
        if (row := first_true(~table.cells.to_struct("row").is_first_distinct())) is not None:
            raise ReportError(
                path,
                "the same row a second time: expected each measurement once",
                line=table.line_numbers[row],
            )
        if one_of and not any(all(map(table.has, group)) for group in one_of):
            raise table.missing(", or ".join(" and ".join(group) for group in one_of), expected)
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
        for row, (name, line) in enumerate(zip(table.texts("run"), table.line_numbers.tolist(), strict=True))
    ]


RATES: Final = (1e-3, schema.LARGEST["1/s"])  # a measured rate [1/s]
OTHERS: Final = (1e-12, 1e15)  # another measured number, in SI units, unless it is zero


def _numbers(table: CsvTable, heading: Quantity, needed: Sequence[str]) -> list[Printed | None]:
    """Printed numbers of a column, SI."""
    name = heading.file_key
    allowed = Allowed(whole=heading.whole, zero=heading.zero, most=heading.high)
    values, halves = (each * heading.factor for each in table.printed(name, allowed))
    if name in needed and (row := first_true(values.is_null())) is not None:
        raise table.error(row, name, f"is empty: {allowed.expected(name)}")
    least, most = RATES if heading.unit == "1/s" else OTHERS
    if (row := first_true((values > most) | ((values > 0) & (values < least)))) is not None:
        given, low, high = (each / heading.factor for each in (values[row], least, most))
        raise table.error(row, name, f"{given:g}: expected {low:g} to {high:g}; check the unit")
    pairs = zip(values.to_list(), halves.to_list(), strict=True)
    return [None if value is None else Printed(value, half) for value, half in pairs]


def _words(table: CsvTable, heading: Quantity, needed: Sequence[str]) -> list[str]:
    """Words of a column."""
    name = heading.file_key
    found = table.texts(name)
    for row, text in enumerate(found):
        if text not in heading.words and (text or name in needed):
            raise table.error(row, name, f"{shown(text)}: expected {' or '.join(heading.words)}")
    return found


COUNTS: Final = tuple(
    Quantity(key, whole=True, zero=key == "aliases", high=10**6)
    for key in ("population", "aliases", "volumes")
)
ROLE: Final = Quantity("role", words=("base", "alias"))
NAMES: Final = ("run", "device", "role")
COLUMNS: Final = (*NAMES, *(each.file_key for each in (*COUNTS, *FIGURES.values())))
OF_DEVICES: Final = (*NAMES, "population", "io_rate", "service_ms", "queued")  # where a row is a device
NEEDED: Final = {
    "device": ("io_rate", "service_ms"), "volume": ("aliases",), "pool": ("aliases", "volumes"),
}  # fmt: skip
MOST_RUNS: Final = 60  # in one fit; a model with four parameters gains little from more, and each costs time


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Selection of measurements: `system`, `start`, `end`, `interval` (worst, of an archive), `device`, `pool`."""

    system: str | None = None
    start: str | None = None
    end: str | None = None
    interval: str | None = None
    device: str | None = None
    pool: str | None = None

    def given(self) -> dict[str, str]:
        """Selections that were given, by argument."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}


EVERYTHING: Final = Chosen()


def read_observations(
    paths: Sequence[Path | str], kind: str, chosen: Chosen = EVERYTHING
) -> list[Observation]:
    """Read all measurements of a volume or a pool.

    Parameters
    ----------
    paths : sequence of Path or str
        DEVICE listings or any other file or archive that `planner.measurements.read` reads, or CSV files of runs.
    kind : {"volume", "pool"}
        What was measured.
    chosen : Chosen, optional
        Which measurements to take; all by default.

    Returns
    -------
    list of Observation
        One per run.

    Raises
    ------
    ReportError
        A file cannot be read, or a row does not match its header.
    InputError
        The measurements hold no such system, or several systems without one being chosen.
    """
    found: list[Observation] = []
    for path in map(Path, paths):
        if chosen == EVERYTHING and path.suffix.lower() == ".csv" and _is_runs(Source(path)):
            found += _csv_observations(path, kind)
        else:
            found += _runs(path, kind, chosen)
    if len(found) > MOST_RUNS:
        raise InputError(
            "measurements", len(found),
            f"at most {MOST_RUNS} runs in one fit; `device`, `pool`, `start` with `end` or `interval` choose some",
        )  # fmt: skip
    for k, run in enumerate(found):
        if run in found[:k]:
            raise InputError("measurements", f"{run.name} a second time", "each measurement once")
    return found


def _is_runs(source: Source) -> bool:
    """Whether a table holds runs, not volumes: those have other columns and every required one."""
    return source.headings <= set(COLUMNS) or not is_volumes(source)


def _runs(path: Path, kind: str, chosen: Chosen) -> list[Observation]:
    """Runs of a file; or of an archive: those of one volume or pool, the worst at each alias count."""
    if not is_folder(path) and "population" in Source(path).headings:
        problem = "population is not read from a table of volumes: expected `population` without that column, or runs"
        raise ReportError(path, f"{problem} with the columns run, population, aliases and what was measured")
    measured = read(path, system=chosen.system, start=chosen.start, end=chosen.end, interval=chosen.interval)
    systems = sorted(str(name) for name in measured.devices["system"].unique().drop_nulls())
    if len(systems) > 1:
        raise InputError("system", None, f"one of {', '.join(systems)}: {path} holds several systems")
    only = None if chosen.device is None else Devices(chosen.device, "device")
    found: list[Run] = []
    idle: set[str] = set()
    busy: set[str] = set()
    for rows in intervals(measured):
        there = rows.is_base if only is None else rows.is_base & only.chosen(rows)
        rates = rows.numbers["io_rate"].value
        of_pool = chosen.pool is None or rows.words["pool"] == chosen.pool
        idle |= {*rows[there & (rates == 0) & of_pool].names}
        busy |= {*rows[rates > 0].names}
        if kind == "volume" and (only is not None or not rows.pooled.any()):
            found += volume_runs(rows, only)
        elif chosen.pool is None and only is None:
            found += system_runs(rows)
        else:
            pools = pool_runs(rows, only)[0]
            found += [each.run for each in pools if each.run is not None and chosen.pool in (None, each.name)]
    idle -= busy
    without = (
        [f"Without I/O, hence left out: {counted(len(idle), 'volume')} ({listed([*idle])})."] if idle else []
    )
    if not found:
        none = f"; none of {listed([*idle])} did any" if idle else ""
        none = f"; pool {chosen.pool} has none" if chosen.pool else none
        raise InputError("measurements", str(path), f"a {kind} with I/O{none}")
    if is_folder(path):
        found = _worst(path, kind, found)
    times = {None, *(run.start for run in found)}
    lost = [
        each.name or "a device without a name"
        for each in measured.missing
        if each.start in times
        and (chosen.pool is None or each.pool in {None, chosen.pool})
        and (only is None or each.name is None or only.means(each.name))
    ]
    if lost:
        wanted = "expected every device of what is fitted; `planner read` says what is wrong with the row"
        raise ReportError(path, f"no readable row of {listed(lost)}: {wanted}")
    several = len({(run.name, run.source, run.aliases) for run in found}) < len(found)
    return [
        replace(observe(replace(run, source=f"{run.start:%Y-%m-%d %H:%M}") if several and run.start else run),
                notes=(*measured.notes, *without))
        for run in found
    ]  # fmt: skip


def _worst(path: Path, kind: str, found: Sequence[Run]) -> list[Run]:
    """Of the one volume or pool of an archive, at each alias count the run in which most I/Os wait."""
    names = dict.fromkeys(run.name for run in found)
    if len(names) > 1:
        argument = "device" if kind == "volume" else "pool"
        raise InputError(argument, None, f"one {kind} of the {len(names)} in {path}: {listed(list(names))}")
    by_aliases = by_key((run.aliases, run) for run in found)
    return [max(by_aliases[many], key=lambda run: run.total_queue.value) for many in sorted(by_aliases)]


def _csv_observations(path: Path, kind: str) -> list[Observation]:
    """One run per row, or one device per row if there is a column `role`."""
    what = f"runs of a {kind}"
    table = read_csv(path, (), f"{what}, with columns such as aliases, io_rate, service_ms and queued")
    shape = "device" if table.has("role") else kind
    table.refuse_others(OF_DEVICES if shape == "device" else COLUMNS)
    table.require(NEEDED[shape], what)
    shown_as = [each.file_key for each in FIGURES.values()]
    if not any(map(table.has, shown_as)):
        raise table.missing(f"one of {', '.join(shown_as)}", f"what was measured in each run of a {kind}")
    headings = (*COUNTS, *FIGURES.values())
    if shape == "device":  # one without I/O counts as well
        headings = (ROLE, *(replace(each, zero=True) if each not in COUNTS else each for each in headings))
    rows = _measurements(table, [each for each in headings if table.has(each.file_key)], ("role",))
    if shape == "device":
        runs = _by_device(rows, table.texts("run"))
    else:
        runs = [(row, _of_run(row, NEEDED[kind])) for row in rows]
    for row, run in runs:
        if kind == "volume" and run.volumes > 1:
            column = "role" if shape == "device" else "volumes"
            problem = f"{column} has {run.volumes} volumes: expected 1 volume; several are `kind` pool"
            raise row.error(problem, column)
    return [run for _, run in runs]


def _figures(row: Measurements) -> dict[str, Printed]:
    """Figures measured in a row, SI."""
    keys = {name: each.file_key for name, each in FIGURES.items()}
    return {name: row.numbers[key] for name, key in keys.items() if key in row.numbers}


def _of_run(row: Measurements, needed: Sequence[str]) -> Observation:
    """A row as one run; cells of `needed` columns must not be empty."""
    figures = _figures(row)
    if not figures:
        expected = ", ".join(each.file_key for each in FIGURES.values())
        problem = f"nothing measured: expected a number in one of {expected}"
        raise ReportError(row.path, problem, line=row.line, column=1)
    for column in needed:
        if column not in row.numbers:
            raise row.error(f"{column} is empty: expected a count of {column}", column)
    volumes, aliases = int(row.value("volumes", 1)), int(row.value("aliases"))
    return _observation(row, name=row.name, volumes=volumes, aliases=aliases, figures=figures)


def _observation(
    row: Measurements, *, name: str, volumes: int, aliases: int, figures: dict[str, Printed]
) -> Observation:
    """Make a run; raise the error of its row if the numbers contradict each other."""
    people = int(row.value("population")) or None
    try:
        return Observation(name=name, volumes=volumes, aliases=aliases, population=people, figures=figures)
    except InputError as error:
        raise row.error(str(error), error.argument.partition(" ")[0]) from error


def _by_device(rows: Sequence[Measurements], names: Sequence[str]) -> list[tuple[Measurements, Observation]]:
    """Add up the devices of each run; rates and queues add, times are weighted by rate."""
    for row in rows:
        if "io_rate" not in row.numbers:
            raise row.error("io_rate is empty: expected the rate of every device [1/s]", "io_rate")
        if row.value("service_ms") == 0 and row.value("io_rate") > 0:
            problem = "service_ms is empty or 0: expected the service time of a device with I/O [ms]"
            raise row.error(problem, "service_ms")
    runs = by_key((name or row.path.stem, row) for name, row in zip(names, rows, strict=True))
    return [(devices[0], _sum(name, devices)) for name, devices in runs.items()]


def _sum(name: str, devices: Sequence[Measurements]) -> Observation:
    """Add up the devices of one run."""
    bases = [row for row in devices if row.words["role"] == "base"]
    if not bases:
        raise devices[0].error(f"role of {name} is alias only: expected a base among its devices", "role")
    rates, services = (
        [_figures(row).get(key, Printed(0.0, 0.0)) for row in devices] for key in ("io_rate", "service_time")
    )
    total = sum(rate.value for rate in rates)
    if total <= 0:
        problem = f"io_rate of all devices of {name} is 0: expected I/O on at least one"
        raise devices[0].error(problem, "io_rate")
    work = sum(rate.value * service.value for rate, service in zip(rates, services, strict=True))
    summed = {
        "io_rate": Printed(total, sum(rate.resolution for rate in rates)),
        "service_time": Printed(work / total, max(service.resolution for service in services)),
    }
    queues = [row.numbers["queued"] for row in bases if "queued" in row.numbers]
    if queues:
        summed["queued"] = sum(queues[1:], queues[0])
    for row in bases:
        if queues and "queued" not in row.numbers:
            problem = f"queued is empty: expected the queue of every base of {name}, or of none"
            raise row.error(problem, "queued")
        if row.numbers.get("population") != bases[0].numbers.get("population"):
            problem = f"population is not that of line {bases[0].line}: expected one population for all bases of {name}"
            raise row.error(problem, "population")
    aliases = len(devices) - len(bases)
    return _observation(bases[0], name=name, volumes=len(bases), aliases=aliases, figures=summed)
