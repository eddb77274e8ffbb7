"""Speed and memory of the readers and the archive, as ratios to polars doing the least that must be done.

`python -m tests.bench.bench_readers [megabytes]`; each number is measured in a process of its own, CPU of all threads.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from tests.checkout import ROOT
from tests.reports.printing import HEADING, Row

FIRST = datetime(2026, 3, 1)
DEVICES, MINUTES = 2000, 10
ENDS = (38, 44, 49, 54, 59, 64, 69, 74, 79)  # last columns of the numbers that polars slices
REACH = {"listing": 3.0, "damaged": 3.0, "csv": 5.0, "write": 3.0, "read": 3.0}


def digits(value: float, room: int) -> str:
    """As many decimals as there is room for, the leading zero dropped."""
    for decimals in (2, 1, 0):
        text = f"{value:.{decimals}f}".lstrip("0") or "0"
        if len(text) < room:
            return text
    return "9" * (room - 1)


def listing(path: Path, megabytes: float, *, rows_a_page: int, damaged: int = 0) -> None:
    """DEVICE listings of consecutive intervals; every so many bytes a damaged row."""
    rng, size, start = np.random.default_rng(1), 0, FIRST
    with path.open("w") as file:
        while size < megabytes * 1e6:
            end = start + timedelta(minutes=MINUTES)
            head = (
                f"FCX108  Run {end:%Y/%m/%d %H:%M:%S}         DEVICE\n{'':40}General I/O Device Load\n"
                f"From {start:%Y/%m/%d %H:%M:%S}\nTo   {end:%Y/%m/%d %H:%M:%S}\n"
                "For    600 Secs 00:10:00                "
                f"This is a performance report for VMPROD1\n{'_' * 80}\n \n{HEADING}\n"
            )
            rate, queued = rng.gamma(0.5, 200, DEVICES), rng.gamma(0.1, 2, DEVICES)
            parts = rng.gamma(1, 0.3, (3, DEVICES)).round(1)
            lines = []
            for k in range(DEVICES):
                service = float(parts[:, k].sum())
                numbers = (
                    rate[k],
                    0.0,
                    *parts[:, k],
                    service,
                    service + queued[k] / max(rate[k], 0.1) * 1000,
                    0.0,
                    queued[k],
                )
                cells = (
                    "0",
                    "8",
                    *(digits(float(each), 6 if n == 1 else 5) for n, each in enumerate(numbers)),
                )
                lines.append(
                    Row(f"{0x2000 + k:04X}", "3390-A", f"VM{k:04d}" if k % 5 else "", cells).text() + "\n"
                )
            for k in range(damaged):
                lines[k * DEVICES // damaged] = lines[0].replace("   8", "  8.", 1)
            for first in range(0, DEVICES, rows_a_page):
                text = head + "".join(lines[first : first + rows_a_page]) + "\n"
                file.write(text)
                size += len(text)
            start = end


def volumes(path: Path, rows: int) -> None:
    """A table of volumes of many intervals."""
    rng = np.random.default_rng(2)
    rate, service = rng.gamma(0.5, 200, rows), rng.gamma(4, 0.3, rows) + 0.1
    queued = rng.gamma(0.1, 2, rows)
    with path.open("w") as file:
        file.write("system,start,interval_s,device,io_rate,service_ms,queued,response_ms\n")
        for k in range(rows):
            start = FIRST + timedelta(minutes=MINUTES * (k // DEVICES))
            response = service[k] + queued[k] / max(rate[k], 0.1) * 1000
            file.write(
                f"VMPROD1,{start.isoformat()},600,{0x2000 + k % DEVICES:04X},{rate[k]:.1f},{service[k]:.2f},"
                f"{queued[k]:.2f},{response:.2f}\n"
            )


def slices(path: Path) -> object:
    """Read text as one column and cast nine slices of it: what the listing is measured by."""
    import polars as pl

    text = pl.read_csv(
        path, has_header=False, new_columns=["line"], separator="\x01", quote_char=None, infer_schema=False
    )
    cells = [
        pl.col("line").str.slice(end - 5, 5).str.strip_chars().cast(pl.Float64, strict=False).alias(f"{end}")
        for end in ENDS
    ]
    return text.select(cells)


def typed(path: Path) -> object:
    """Read CSV with types: what the table of volumes is measured by."""
    import polars as pl

    numbers = dict.fromkeys(("interval_s", "io_rate", "service_ms", "queued", "response_ms"), pl.Float64)
    return pl.read_csv(path, schema_overrides={"device": pl.String, **numbers}, try_parse_dates=True)


def ours(path: Path) -> object:
    """Read with the planner."""
    from planner.measurements import read

    return read(path)


def plain_write(path: Path) -> Callable[[], object]:
    """Write the frame of a listing as one Parquet file."""
    from planner.measurements import read

    frame = read(path).devices.rechunk()
    return lambda: frame.write_parquet(path.with_suffix(".parquet"), compression="zstd")


def archive_write(path: Path) -> Callable[[], object]:
    """Collect the same frame."""
    from planner.measurements import read
    from planner.measurements.collect import collect

    frame, folder = read(path).devices.rechunk(), path.with_suffix(".archive")
    shutil.rmtree(folder, ignore_errors=True)
    return lambda: collect([frame], folder)


def plain_read(path: Path) -> object:
    """Read that Parquet file."""
    import polars as pl

    return pl.read_parquet(path.with_suffix(".parquet"))


def archive_read(path: Path) -> object:
    """Read the archive."""
    from planner.measurements.archive import open_archive

    return open_archive(path.with_suffix(".archive")).read()


PREPARED = {"plain_write": plain_write, "archive_write": archive_write}


def cost(name: str, path: Path) -> dict[str, float]:
    """CPU seconds and most memory [MB] of one function, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.bench_readers", "--one", name, str(path)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def one(name: str, path: Path) -> dict[str, float]:
    """Measure here."""
    import polars as pl

    pl.DataFrame({"a": [1.0]}).select(pl.col("a") * 2)  # threads and caches stand
    work: Callable[[], Any] = PREPARED[name](path) if name in PREPARED else lambda: globals()[name](path)

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime

    before = spent()
    work()
    return {"cpu": spent() - before, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def main(megabytes: float) -> None:
    """Print every ratio beside what it should reach."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        cases = {"listing, 2000 rows a page": ("listing", 2000, 0), "listing, 55 rows a page": ("listing", 55, 0),
                 "listing, a damaged row each": ("damaged", 2000, 1)}  # fmt: skip
        print(f"{'':38}   CPU [s]  polars  ratio  reach  memory / file")
        for label, (reach, rows_a_page, damaged) in cases.items():
            path = place / f"{rows_a_page}-{damaged}.listing"
            listing(path, megabytes, rows_a_page=rows_a_page, damaged=damaged)
            show(label, cost("ours", path), cost("slices", path), REACH[reach], path)
        table = place / "volumes.csv"
        volumes(table, round(megabytes * 1e4))
        show("CSV of volumes", cost("ours", table), cost("typed", table), REACH["csv"], table)
        path = place / "2000-0.listing"
        for name in ("write", "read"):
            theirs, mine = cost(f"plain_{name}", path), cost(f"archive_{name}", path)
            show(f"archive, {name}", mine, theirs, REACH[name], path)
        archive = path.with_suffix(".archive")
        size = sum(part.stat().st_size for part in archive.rglob("*.parquet"))
        rows = path.stat().st_size / 80
        print(f"archive: about {size / rows:.1f} bytes a row (reach 40)")


def show(label: str, mine: dict[str, float], theirs: dict[str, float], reach: float, path: Path) -> None:
    """Print one line."""
    size = path.stat().st_size / 1e6
    print(
        f"{label:38}{mine['cpu']:10.2f}{theirs['cpu']:8.2f}{mine['cpu'] / theirs['cpu']:7.2f}{reach:7.1f}"
        f"{mine['memory'] / size:10.1f}  ({mine['memory']:.0f} MB)"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(sys.argv[2], Path(sys.argv[3]))))
    else:
        main(float(sys.argv[1]) if sys.argv[1:] else 100.0)
