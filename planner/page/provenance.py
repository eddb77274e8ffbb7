"""Where a page came from: files with their digests; and how near answers of its kinds were to published figures."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from planner import render
from planner.answer import Answer, tabled
from planner.page.content import Input
from planner.quantity import column

ACCURACY: Final = Path(__file__).with_name("accuracy.csv")  # the summary of the scoreboard, kept
COLUMNS: Final = (
    column("report", label="published report"),
    column("kind", label="prediction"),
    column("count", label="figures", decimals=0),
    column("median", "percent", "median", 1),
    column("p90", "percent", "90 % within", 1),
    column("worst", "percent", "worst", 1),
    column("outliers", label="named outliers", decimals=0),
)
# Which published report tells how near answers of a room are; rooms that none speaks of have no line.
JUDGED_BY: Final = {
    "planner.sizing": "hyperpav",
    "planner.site.site_answer": "hyperpav",
    "planner.advice.paging": "xiv-concurrent-io",
    "planner.advice.disk": "emulated-fba",
    "planner.advice.channel_program": "fast-ccw",
    "planner.advice.storage": "real-storage",
    "planner.advice.processors": "real-storage",
    "planner.system": "xiv-concurrent-io",
}
KINDS: Final = ("fitted", "left-out", "transferred")
MEANING: Final = (
    "Relative errors in percent of what the planner says of the published figures of this kind, named outliers "
    "included. fitted: the law was fitted to them among others; left-out: predicted without the run; transferred: "
    "predicted from another run or system. planner scoreboard shows every figure."
)
NO_REPORT: Final = (
    "No published report holds figures of this kind; docs say how these answers were tested instead."
)


def inputs(sources: Iterable[Path]) -> list[Input]:
    """The files of a page; a folder is one input."""
    return [_folder(path) if path.is_dir() else _file(path) for path in sources if path.exists()]


def _file(path: Path) -> Input:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
            size += len(block)
    return Input(name=path.name, size=size, digest=digest.hexdigest())


def _folder(path: Path) -> Input:
    """An archive: the digest of its files, each as its digest, two spaces and its name, in order of name."""
    found = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    each = [_file(file) for file in found]
    lines = "".join(
        f"{one.digest}  {file.relative_to(path).as_posix()}\n" for one, file in zip(each, found, strict=True)
    )
    return Input(
        name=path.name, size=sum(one.size for one in each), files=len(each),
        digest=hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest(),
    )  # fmt: skip


def accuracy(answers: Sequence[Answer]) -> tuple[render.Table | None, str]:
    """How near answers of these kinds were to published figures: a row a kind of prediction; and what that means."""
    rooms = [type(answer).__module__ for answer in answers]
    reports = {name for room in rooms for prefix, name in JUDGED_BY.items() if room.startswith(prefix)}
    if not reports:
        return None, NO_REPORT
    with ACCURACY.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["report"] in reports and row["kind"] in KINDS]
    return tabled(({key: _read(text) for key, text in row.items()} for row in rows), COLUMNS), MEANING


def _read(text: str) -> str | float | None:
    """A cell of the kept summary."""
    try:
        return float(text) if text else None
    except ValueError:
        return text


def write_accuracy() -> None:
    """Write the summary of the scoreboard again; to compute it for every page would take longer than most answers."""
    from planner.published import scoreboard

    ACCURACY.write_text(render.to_csv(rounded(scoreboard().summary())), encoding="utf-8")


def rounded(summary: render.Table) -> render.Table:
    """The summary as it is kept, to a tenth of a percent."""
    return summary.each(
        lambda c: (
            c
            if c.unit != "percent"
            else replace(c, values=[None if v is None else round(v, 1) for v in c.values])
        )
    )


if __name__ == "__main__":
    write_accuracy()
