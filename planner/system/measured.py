"""System files to start from: templates, and what measurements tell of a system."""

from __future__ import annotations

import math
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from planner import measurements
from planner.errors import InputError
from planner.lazy import pl
from planner.measurements.choose import MEAN, VOLUME, at_interval, groups_of, refuse_several, rows_of
from planner.measurements.over_time import RunsOverTime, over_time
from planner.measurements.read import Data
from planner.queueing import alias_pool
from planner.queueing._roots import increasing_root
from planner.render.text import counted
from planner.results import Array
from planner.system.schema import TABLES, TomlTable, one_of
from planner.units import MILLISECOND

TEMPLATES: Final = ("xiv", "hyperpav", "minimal")
BUSY: Final = 0.8  # I/Os in service at a volume from which on they come from requesters that wait


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
    return written(comment, tables)


def _templates() -> dict[str, Any]:
    """Systems to start from, and what is missing of measured ones; digits as they shall be written."""
    return tomllib.loads(Path(__file__).with_name("templates.toml").read_text("utf-8"), parse_float=str)


def written(comment: str, tables: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """TOML with the meaning of each key beside it; a value of None becomes a line to fill in."""
    parts = [textwrap.fill(comment, 100, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)]
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
    lines = written("to fill in", [(table, dict.fromkeys(keys))]).splitlines()[2:]
    return "\n".join(line if line.startswith("#") else f"# {line}" for line in lines)


def _value(table: TomlTable, key: str, value: Any) -> str:
    if value is None:
        return "?"
    if isinstance(value, str) and table.declaration(key).text:
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)  # a text of digits as they shall be written


def from_measurements(source: Data, system: str | None = None) -> str:
    """Write what measurements know of a system.

    I/Os of volumes that are busy most of the time, which no random arrivals could be, come from requesters that wait:
    at least one more than the mean number present, so many as a volume has, with the think time that gives the measured
    rate. Others are taken to come at random; where guests wait for them, `think_time_ms` in place of `io_rate` says so.
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
    tables = list(_tables(rows))
    if not tables:
        raise measured.without("at least one base or volume with an I/O rate and a service time")
    name = system or next((each for each in rows["system"].to_list() if each), "measured system")
    sources = ", ".join(sorted({each for each in rows["source"].to_list() if each}))
    head = {"name": name, **({"source": sources} if sources else {})}
    text = written(
        f"{name} as measured. Service times are those of the measured concurrency. Commented tables are to fill in.",
        [("system", head), *tables],
    )
    missing = "\n\n".join(to_fill_in(table, keys) for table, keys in _templates()["missing"].items())
    return f"{text}\n{missing}\n"


def _tables(devices: pl.DataFrame) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Pools, volumes and the guests that stand for their I/Os: means over intervals, with the aliases of the last."""
    mean = at_interval(devices, MEAN)
    if not (groups := groups_of(mean.lazy())):
        return
    alike: dict[tuple[str, int], list[RunsOverTime]] = {}
    for _, each in over_time(rows_of(mean.lazy(), groups), groups):
        if isinstance(each, RunsOverTime) and each.load[-1] > 0:
            name = each.group.name if each.group.kind != VOLUME else "unpooled"
            alike.setdefault((name, int(each.in_use[-1])), []).append(each)
    for (group, aliases), some in alike.items():
        count, rate, load, queued = (
            float(sum(getattr(each, field)[-1] for each in some))
            for field in ("volumes", "io_rate", "load", "queued")
        )
        time = f"{load / rate / MILLISECOND:.3g}"
        service = {"service_time_ms": time}
        pooled = some[0].group.kind != VOLUME
        name = group if pooled or not aliases else f"{group} with {counted(aliases, 'alias', 'aliases')}"
        if pooled:
            yield "pool", {"name": name, "aliases": aliases, **service}
        own = {"pool": name} if pooled else {"aliases": aliases or None, **service}
        yield "volumes", {"name": f"{name} volumes", "count": int(count), **own}
        users: dict[str, Any] = {"name": f"users of {name}", "count": int(count), "io_to": f"{name} volumes"}
        if load < BUSY * count or math.isnan(queued):
            own_rate = f"{rate / count:.4g}"
            yield "guests", {**users, "io_rate": own_rate, "io_time_us": None, "think_time_ms": None}
            continue
        share = 1.0 if pooled else count  # without a pool each volume is alone
        least = math.floor((load + queued) / count) + 1
        requesters, think = _waiting(count / share, rate / share, float(time) * MILLISECOND, aliases, least)
        told = f"{think / MILLISECOND:.4g}"
        yield "guests", {**users, "requesters": requesters, "think_time_ms": told, "io_time_us": None}


def _waiting(
    volumes: float, rate: float, service: float, aliases: int, least: int, more: int = 20
) -> tuple[int, float]:
    """Requesters of each volume, `least` or a few more, and their think time at the measured I/O rate [s]."""

    def excess(think: Array, requesters: int) -> Array:
        people = np.full((1, 1), requesters)
        pool = alias_pool(
            aliases, volumes=[[volumes]], population=people, think_time=think[:, None], service_time=service
        )
        return np.asarray(rate - volumes * pool.throughput[..., 0])

    shortest = np.full(1, 1e-6 * service)
    for requesters in range(least, least + more):
        if excess(shortest, requesters)[0] <= 0:
            break
    reach = partial(excess, requesters=requesters)
    return requesters, float(increasing_root(reach, shortest, shortest + requesters * volumes / rate)[0])
