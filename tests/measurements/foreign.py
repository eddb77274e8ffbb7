"""Archives that a stranger sent: every file and folder of one damaged, replaced, or linked to a place outside.

Run by hand: `python -m tests.measurements.foreign NUMBER` tries so many variants.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from random import Random

import polars as pl

from planner.errors import InputError, ReportError
from planner.measurements.archive import open_archive
from planner.measurements.collect import collect
from planner.measurements.shown import overview
from planner.reports import schema
from tests.fuzz.damage import damaged_bytes

HOSTILE = (
    "../outside/mine.txt", "../../outside/mine.txt", "/etc/hostname", "..", ".", "", "/", "devices/../../outside/new",
    "devices\\..\\..\\outside\\new", "devices/system=A/date=2026-03-01/\0.parquet", "~/new", "archive.toml",
    "devices/system=..%2F..%2Foutside/date=2026-03-01/0123456789abcdef.parquet",
    "devices/system=../date=2026-03-01/0123456789abcdef.parquet",
    "devices/system=A/date=2026-03-01/../../../../outside/0123456789abcdef.parquet",
)  # fmt: skip


def rows(system: str, day: int = 1, rate: float = 100.0) -> pl.DataFrame:
    """One volume in three intervals of a day."""
    data = [
        {"start": datetime(2026, 3, day, 8, 10 * k), "system": system, "interval_s": 600.0, "device": "2000",
         "io_rate": rate, "service_ms": 1.5, "queued": 0.25}
        for k in range(3)
    ]  # fmt: skip
    return pl.DataFrame(data)


def state(folder: Path) -> dict[str, tuple[object, ...]]:
    """What stands where in a folder: names, kinds, times of change, contents; links are not followed."""
    found: dict[str, tuple[object, ...]] = {}
    for top, folders, names in os.walk(folder):
        for name in (*folders, *names):
            place = Path(top, name)
            status = place.lstat()
            content = place.read_bytes() if place.is_file() and not place.is_symlink() else b""
            where = place.readlink() if place.is_symlink() else None
            found[place.relative_to(folder).as_posix()] = (status.st_mode, status.st_mtime_ns, content, where)
    return found


def _gone(place: Path) -> None:
    shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink(missing_ok=True)


def _archive(place: Path) -> Path:
    return next(each for each in place.parents if each.name == "archive")


def _link(target: str) -> Callable[[Path, Random], None]:
    """A link to a place outside, to itself (the empty name), or to nowhere."""

    def change(place: Path, random: Random) -> None:
        _gone(place)
        place.symlink_to(_archive(place).with_name("outside") / target if target else place.name)

    return change


def _moved_out(place: Path, random: Random) -> None:
    """What was there stands outside, and a link leads to it."""
    outside = _archive(place).with_name("outside") / f"moved{random.randrange(10**9)}"
    place.replace(outside)
    place.symlink_to(outside)


def _rewrite(place: Path, random: Random) -> None:
    """Text with names that lead elsewhere, in the way of a list, beside lines that were there."""
    old = place.read_text(errors="replace").splitlines() if place.is_file() else []
    digests = [line.partition("  ")[0] for line in old if "  " in line]
    digests.append(hashlib.sha256(b"mine").hexdigest())
    for _ in range(1 + random.randrange(3)):
        name = random.choice(HOSTILE)
        line = random.choice((f"{random.choice(digests)}  {name}", name))
        old.insert(random.randrange(len(old) + 1), line)
    _gone(place)
    place.write_text("\n".join(old) + "\n")


def _other_content(place: Path, random: Random) -> None:
    """Another content under its right name, and listed so."""
    if not place.is_file():
        return
    archive, content = _archive(place), place.read_bytes()
    if random.randrange(2):
        pl.DataFrame({"start": ["x"]}).write_parquet(place)
        content = place.read_bytes()
    else:
        content = damaged_bytes(content, 1 + random.randrange(3), random)
    digest = hashlib.sha256(content).hexdigest()
    _gone(place)
    new = place.with_name(f"{digest[:16]}.parquet")
    new.write_bytes(content)
    file = archive / "parts.sha256"
    if file.is_file():
        lines = file.read_text(errors="replace").splitlines()
        lines = [f"{digest}  {line[66:-24]}{new.name}" if place.name in line else line for line in lines]
        file.write_text("\n".join(lines) + "\n")


def _damaged(place: Path, random: Random) -> None:
    if place.is_file():
        place.write_bytes(damaged_bytes(place.read_bytes(), 1 + random.randrange(3), random))


def _folder(place: Path, random: Random) -> None:
    _gone(place)
    place.mkdir()


def _content(content: bytes) -> Callable[[Path, Random], None]:
    def change(place: Path, random: Random) -> None:
        _gone(place)
        place.write_bytes(content)

    return change


def _pipe(place: Path, random: Random) -> None:
    _gone(place)
    os.mkfifo(place)


def _copied(place: Path, random: Random) -> None:
    if place.is_file():
        shutil.copy(place, place.with_name("copy.parquet"))
        shutil.copy(place, place.with_name("0123456789abcdef.parquet"))


CHANGES: tuple[Callable[[Path, Random], None], ...] = (
    lambda place, random: _gone(place), _link("."), _link("mine.txt"), _link("../outside"), _link("/nowhere/at/all"),
    _link(""), _moved_out, _moved_out, _rewrite, _rewrite, _rewrite, _damaged, _damaged, _folder, _content(b""),
    _content(b"mine"), _content(b"\xff\xfe\0\x80"), _pipe, _copied,
)  # fmt: skip


def variants(number: int, seed: int) -> dict[str, int]:
    """Try so many archives: nothing outside changes, reading changes nothing, and every refusal has a name."""
    random, counts = Random(seed), {"read": 0, "refused": 0, "added": 0, "not added": 0}
    with tempfile.TemporaryDirectory() as folder:
        top, sound = Path(folder), Path(folder) / "sound"
        collect([rows("A"), rows("A", 2), rows("..")], sound)
        more = rows("A", 3)
        for case in range(number):
            shutil.rmtree(top / "outside", ignore_errors=True)
            (top / "outside").mkdir()
            (top / "outside" / "mine.txt").write_text("mine")
            archive = top / "archive"
            if archive.exists():
                _gone(archive)
            shutil.copytree(sound, archive)
            done = []
            for _ in range(1 + random.randrange(3)):
                places = [
                    Path(root, name)
                    for root, folders, files in os.walk(archive)
                    for name in (*folders, *files)
                ]
                places += [archive / name for name in ("parts.sha256", "archive.lock")]
                place = random.choice(sorted(places))
                change = (
                    _other_content
                    if place.suffix == ".parquet" and random.randrange(3) == 0
                    else random.choice(CHANGES)
                )
                done.append((place.relative_to(archive).as_posix(), change))
                try:
                    change(place, random)
                except OSError:
                    continue  # what was to be changed is not there any more
            _check(archive, top, counts, (case, seed, done), more)
    return counts


def _check(archive: Path, top: Path, counts: dict[str, int], case: object, more: pl.DataFrame) -> None:
    before, outside = state(archive), state(top / "outside")
    try:
        found = open_archive(archive)
        for table in schema.TABLES:
            found.read(table)
        overview(found)
        counts["read"] += 1
    except (InputError, ReportError) as error:
        assert str(error), case
        counts["refused"] += 1
    except BaseException as error:
        raise AssertionError(case) from error
    assert state(archive) == before, case
    assert state(top / "outside") == outside, case
    try:
        collect([more], archive)
        counts["added"] += 1
    except (InputError, ReportError) as error:
        assert str(error), case
        counts["not added"] += 1
    except BaseException as error:
        raise AssertionError(case) from error
    assert state(top / "outside") == outside, case


if __name__ == "__main__":
    print(variants(int(sys.argv[1]), 1))
