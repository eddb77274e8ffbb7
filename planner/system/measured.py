"""System files to start from: templates, and what measurements show of a system."""

from __future__ import annotations

import math
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from planner import measurements
from planner.demand import DeviceModel, candidates_of_pools
from planner.demand.drawn_pool import all_volumes
from planner.errors import InputError
from planner.interval import Interval
from planner.lazy import pl
from planner.library import DEFAULT_MODEL
from planner.measurements import Run, from_numbers
from planner.measurements.choose import MEAN, VOLUME, at_interval, groups_of, refuse_several, rows_of
from planner.measurements.over_time import RunsOverTime, over_time
from planner.measurements.read import Data
from planner.render import safe
from planner.render.text import counted, listed
from planner.sizing.need import with_time_for_gap
from planner.sizing.volumes import means
from planner.system.schema import TABLES, TomlTable, one_of
from planner.units import MILLISECOND, readable

TEMPLATES: Final = ("xiv", "hyperpav", "minimal")


def template(name: str) -> str:
    """A commented file to start from.

    Parameters
    ----------
    name : {"xiv", "hyperpav", "minimal"}
        Which.

    Returns
    -------
    str
        TOML that `planner system` answers.

    Raises
    ------
    InputError
        There is no such template.

    Examples
    --------
    >>> "[system]" in template("minimal")
    True
    """
    if name not in TEMPLATES:
        raise InputError("template", name, one_of(name, TEMPLATES))
    (_, comment), *tables = (pair for part in _templates()[name] for pair in part.items())
    return written([comment], tables)


def _templates() -> dict[str, Any]:
    """Systems to start from, and what is missing of measured ones; digits as they shall be written."""
    return tomllib.loads(Path(__file__).with_name("templates.toml").read_text("utf-8"), parse_float=str)


def written(comments: Sequence[str], tables: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """TOML with the meaning of each key beside it; a value of None becomes a line to fill in."""
    parts = [
        textwrap.fill(
            safe.line(each), 100, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
        )
        for each in comments
    ]
    for table, keys in tables:
        declared = TABLES[table]
        head = f"[[{table}]]" if declared.many else f"[{table}]"
        lines = [f"{head}  # {declared.meaning}"]
        texts = {key: f"{key} = {_value(declared, key, value)}" for key, value in keys.items()}
        width = max(map(len, texts.values()))
        for key, text in texts.items():
            sign, fill = ("# ", "to fill in: ") if keys[key] is None else ("", "")
            lines.append(f"{sign}{text.ljust(width)}  # {fill}{declared.declaration(key).meaning}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def to_fill_in(table: str, keys: Sequence[str]) -> str:
    """A table in comments, its keys with their meaning."""
    lines = written([], [(table, dict.fromkeys(keys))]).splitlines()
    return "\n".join(line if line.startswith("#") else f"# {line}" for line in lines)


def _value(table: TomlTable, key: str, value: Any) -> str:
    if value is None:
        return "?"
    if isinstance(value, str) and table.declaration(key).text:
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)  # a text of digits as they shall be written


def from_measurements(source: Data, system: str | None = None) -> str:
    """Write what measurements know of a system.

    Volumes and pools are read as `planner aliases` reads them, by the same model: service time of a lone I/O, inflation
    and redrive gap, and the steady demand that it prefers, requesters with a think time or I/Os that come at random.
    Where guests wait for these, `think_time_ms` in place of `io_rate` says so. Where a measurement contradicts
    itself or the model, a comment says what was used in its place.
    Storage, processors and paging are not in a table of devices: they stand in the file as comments to fill in.

    Parameters
    ----------
    source : path, data frame, or a sequence of these
        Whatever `planner.measurements.read` takes; means over all intervals are taken.
    system : str, optional
        Which system, where it holds several.

    Returns
    -------
    str
        TOML that `planner system` answers, with comments.

    Raises
    ------
    InputError
        No such archive or system, several and none chosen, or no volume with a rate and a service time.
    ReportError
        A file cannot be read.
    """
    measured = measurements.read(source, system=system)
    rows = measured.devices
    refuse_several(rows["system"].unique())
    notes = list(measured.notes)
    tables = list(_tables(rows, notes))
    if not tables:
        raise measured.without("at least one base or volume with an I/O rate and a service time")
    name = system or next((each for each in rows["system"].to_list() if each), "measured system")
    sources = ", ".join(sorted({each for each in rows["source"].to_list() if each}))
    head = {"name": name, **({"source": sources} if sources else {})}
    about = (
        f"{name} as measured, its I/Os by the demand that `planner aliases` prefers; what else fits stands there. "
        "Service times are those of an I/O that is alone on its volume. Commented tables are to fill in."
    )
    text = written([about, *notes], [("system", head), *tables])
    missing = "\n\n".join(to_fill_in(table, keys) for table, keys in _templates()["missing"].items())
    return f"{text}\n{missing}\n"


def _tables(devices: pl.DataFrame, notes: list[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Pools, volumes and the guests that stand for their I/Os: means over intervals, with the aliases of the last.

    What contradicts itself or the model, and what was used in its place, is added to `notes`.
    """
    mean = at_interval(devices, MEAN)
    if not (groups := groups_of(mean.lazy())):
        return
    alike: dict[tuple[str, int], list[Run]] = {}
    problems: dict[str, list[str]] = {}
    for of, each in over_time(rows_of(mean.lazy(), groups), groups):
        found, used = each if isinstance(each, str) else each.runs[-1], "Left out"
        if isinstance(each, RunsOverTime) and each.load[-1] > 0:
            used = "Rate and service time are used, the queue is not"
            name = of.name if of.kind != VOLUME else "unpooled"
            run = found if isinstance(found, Run) else _without_queue(each)
            alike.setdefault((name, int(each.in_use[-1])), []).append(run)
        if not isinstance(found, Run | None):
            problems.setdefault(used, []).append(f"{of.pool} ({found})")
    notes += (f"{used}: {listed(those, 3, 400)}." for used, those in problems.items())
    device_model = DeviceModel.from_model(DEFAULT_MODEL)
    for (group, aliases), runs in alike.items():
        pooled, count = runs[0].pool, sum(run.bases for run in runs)
        run = runs[0] if pooled else _mean_volume(runs)
        # As `planner aliases` reads it, by the same model.
        ((demand, *_),) = candidates_of_pools([run], own := with_time_for_gap(device_model, (run,)))
        name = group if pooled or not aliases else f"{group} with {counted(aliases, 'alias', 'aliases')}"
        if not run.queue_known:
            notes.append(f"Without a queue of all of {name}, its I/Os are taken to come at random.")
        elif not demand.fits:
            queue, off = readable(float(run.total_queue.value)), "less" if demand.queue_short else "more"
            notes.append(
                f"No demand gives rate, service time and queue ({queue} I/Os) of {name}. The nearest is taken, which "
                f"queues {off} than was measured: {demand.words()}."
            )
        station = {"service_time_ms": _milliseconds(demand.pool.service_time), "model": DEFAULT_MODEL}
        if own is not device_model:
            station["redrive_time_ms"] = _milliseconds(own.redrive_time)
        if pooled:
            yield "pool", {"name": name, "aliases": aliases, **station}
        of_volumes = {"pool": name} if pooled else {"aliases": aliases or None, **station}
        yield "volumes", {"name": f"{name} volumes", "count": count, **of_volumes}
        (part,) = demand.pool.classes
        asks: dict[str, Any] = {
            "io_rate": f"{part.arrival_rate:.4g}",
            "io_time_us": None,
            "think_time_ms": None,
        }
        if not math.isnan(part.population):
            think = _milliseconds(part.think_time)
            asks = {"requesters": int(part.population), "think_time_ms": think, "io_time_us": None}
        yield "guests", {"name": f"users of {name}", "count": count, "io_to": f"{name} volumes", **asks}


def _milliseconds(time: float) -> str:
    return f"{time / MILLISECOND:#.5g}".rstrip(".")


def _without_queue(last: RunsOverTime) -> Run:
    """Rate and service time alone, where a queue was not measured or contradicts them."""
    count, rate = int(last.volumes[-1]), float(last.io_rate[-1])
    return from_numbers(
        io_rate=Interval.around(rate / count, 0.0), service=Interval.around(float(last.load[-1]) / rate, 0.0),
        volumes=count, aliases=int(last.in_use[-1]), pool=last.group.kind != VOLUME,
    )  # fmt: skip


def _mean_volume(runs: Sequence[Run]) -> Run:
    """The mean of volumes alone, which have as many aliases each."""
    (rate, service, queued), _ = all_volumes([(run.io_rate, run.service, run.queued) for run in runs])
    one, share = np.zeros(rate.value.size, dtype=np.int64), rate.value / rate.value.mean()
    return replace(
        runs[0], io_rate=means(rate, one), service=means(service * share, one), queued=means(queued, one)
    )
