"""Fuzzing led by coverage, by atheris, for the readers that look at single bytes: ``python -m tests.fuzz.guided``.

Each target runs in a process of its own for so many seconds, from files of `tests/fuzz/content.py`; the inputs tried
are counted, and one that is answered otherwise than by a `ReportError` ends it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from tests.fuzz import content, targets

READERS: Final = ("device", "dspacesh", "dasd", "iostat", "monitor", "any")


def _reader(name: str) -> Callable[[bytes], None]:
    """Read bytes by one format, or by the door to all; a `ReportError` is an answer."""
    from planner.errors import ReportError
    from planner.measurements import read as read_any
    from planner.reports import any_listing, dasd_statistics, iostat
    from planner.reports.monitor import reader

    path = Path("given")
    reads: dict[str, Callable[[bytes], object]] = {
        "device": lambda data: any_listing.read_tables(path, data),
        "dspacesh": lambda data: any_listing.read_tables(path, data),
        "dasd": lambda data: dasd_statistics.tables(path, data),
        "iostat": lambda data: iostat.read_iostat(path, data),
        "monitor": lambda data: list(reader.batches(path, data)),
        "any": read_any,
    }

    def read(data: bytes) -> None:
        try:
            reads[name](data)
        except ReportError as error:
            assert str(error)

    return read


def _begin(name: str, folder: Path) -> None:
    """Write files to begin from."""
    for k in range(8):
        if name in {"monitor", "any"}:
            (folder / f"{k}").write_bytes(
                bytes.fromhex(targets.TARGETS["read monitor"].make(Random(k))["hex"])
            )
        else:
            made = content.FORMATS["iostat text" if name == "iostat" else name].make(Random(k))
            (folder / f"{k}").write_text(made.text, encoding="utf-8")


def _led(name: str, arguments: list[str]) -> None:
    """Run atheris on one reader; never returns."""
    import atheris

    with atheris.instrument_imports(include=["planner.reports", "planner.measurements"]):
        read = _reader(name)
    atheris.Setup([sys.argv[0], *arguments], read)
    atheris.Fuzz()


def main() -> int:
    """Run all targets, or one that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help=", ".join(READERS))
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--led", metavar="ARGUMENTS", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.led is not None:
        _led(asked.targets[0], asked.led.split())
    try:
        import atheris  # noqa: F401 - whether there is a release for this Python
    except ImportError:
        print("atheris has no release for this Python: nothing is led by coverage")
        return 0
    total = bad = 0
    for name in asked.targets or READERS:
        with tempfile.TemporaryDirectory() as folder:
            _begin(name, Path(folder))
            led = (
                f"-max_total_time={asked.seconds} -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -max_len=40000 "
                f"-artifact_prefix={folder}/ {folder}"
            )
            command = [sys.executable, "-m", "tests.fuzz.guided", name, f"--led={led}"]
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", check=False, env={**os.environ}
            )
        executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
        tried = int(executed[1]) if executed else 0
        print(f"{name:10} {tried:9,} inputs, {'found' if done.returncode else 'nothing found'}", flush=True)
        if done.returncode:
            print(done.stdout[-2000:], done.stderr[-1000:])
        total, bad = total + tried, bad + bool(done.returncode)
    print(f"{'all':10} {total:9,} inputs")
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
