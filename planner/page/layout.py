"""The page itself: content, sources, style and script in one file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from planner import __version__
from planner.answer import Answer, tabled
from planner.lazy import pl
from planner.measurements.archive import sha256_of
from planner.page.content import FIRST, Input, Part, grid
from planner.page.volumes import Volumes
from planner.quantity import column
from planner.render import Table
from planner.render.table import plain
from planner.render.text import MARKS, STATES
from planner.units import percent

HERE: Final = Path(__file__).parent
DATA_NAME: Final = "report.json"
INPUTS: Final = (
    column("name"),
    column("files"),
    column("size", label="size [bytes]"),
    column("sha256", of=lambda each: each.digest),
)
OF_FOLDERS: Final = (
    "The digest of a folder is that of lines with digest, two spaces and name of each file, sorted by name."
)
ACCURACY: Final = HERE / "accuracy.csv"  # stored summary of the scoreboard
FIGURES: Final = (
    column("report", label="published report"),
    column("kind", label="prediction"),
    column("count", label="figures", decimals=0),
    column("median", "percent", "median", 1),
    column("p90", "percent", "90 % within", 1),
    column("worst", "percent", "worst", 1),
    column("outliers", label="named outliers", decimals=0),
)
# Published report that shows the accuracy of each room's answers; rooms without one have no line.
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
    "Relative errors of the planner in percent for the published figures of this kind, named outliers included. "
    "fitted: the model was fitted to them among others; left-out: predicted without the run; transferred: predicted "
    "from another run or system. planner scoreboard shows every figure."
)
NO_REPORT: Final = (
    "No published report has figures of this kind; docs say how these answers were tested instead."
)


def page(
    parts: Sequence[Part], *, title: str, names: str, command: str, inputs: Sequence[Input], accuracy: Table | None,
    accuracy_words: str, volumes: Volumes | None = None,
) -> str:  # fmt: skip
    """Lay out the page; all text from files is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["prose"] = prose
    style, script = (_text(name) for name in ("report.css", "report.js"))
    tables = {name: text for part in parts for name, text in part.csv.items()}
    if volumes is not None:
        tables["volumes.csv"] = volumes.csv
    data = {
        "answers": [part.data for part in parts],
        "csv": tables,
        "states": STATES,
        "first": sorted(FIRST),
        "growth": [_steps(part) for part in parts],
        "volumes": None if volumes is None else {"rows": volumes.rows, "limits": volumes.limits},
    }
    return environment.get_template("report.html.jinja").render(
        title=title, names=names, version=__version__, parts=parts, volumes=volumes, command=command,
        inputs=grid(tabled(inputs, INPUTS), "inputs", OF_FOLDERS) if inputs else None, accuracy_words=accuracy_words,
        accuracy=None if accuracy is None else grid(accuracy, "accuracy", "Published figures of this kind."),
        downloads=[DATA_NAME, *tables], data=embedded(data), style=style, script=script,
        # number of items that are open at first
        policy=_policy(style, script), states=STATES, marks=MARKS, shares=_shares, most_open=4,
    )  # fmt: skip


def prose(text: str) -> str:
    """A sentence without its mark for terminals."""
    return text.replace("`", "")


def _text(name: str) -> Markup:
    """A file of this room, unescaped; it must not contain the end tag of its element."""
    text = (HERE / name).read_text(encoding="utf-8")
    assert "</" not in text
    return Markup(text)


def _policy(style: str, script: str) -> str:
    """Content security policy: no requests, and no style or script other than those of this page."""
    digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def embedded(data: Any) -> Markup:
    """JSON for a script element: no character in it can end the element or start another."""
    text = json.dumps(plain(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _shares(part: Part) -> list[str]:
    """Growth of each step, in words."""
    return ["as measured" if not each.share else percent(each.share, signed=True) for each in part.growth]


def _steps(part: Part) -> list[dict[str, Any]]:
    """Steps of the growth slider."""
    return [
        {"words": words, "headline": prose(each.headline), "tiles": each.tiles, "counts": each.counts}
        for words, each in zip(_shares(part), part.growth, strict=True)
    ]


def inputs(sources: Iterable[Path]) -> list[Input]:
    """The inputs of a page; a folder is one input."""
    return [
        _folder(path) if path.is_dir() else _file(path) for path in sources if path.is_dir() or path.is_file()
    ]


def _file(path: Path) -> Input:
    return Input(name=path.name, size=path.stat().st_size, digest=sha256_of(path))


def _folder(path: Path) -> Input:
    """An archive with the digest of the lines of its files: digest, two spaces and name, sorted by name."""
    found = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    each = [_file(file) for file in found]
    lines = "".join(
        f"{one.digest}  {file.relative_to(path).as_posix()}\n" for one, file in zip(each, found, strict=True)
    )
    return Input(
        name=path.name, size=sum(one.size for one in each), files=len(each),
        digest=hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest(),
    )  # fmt: skip


def accuracy(answers: Sequence[Answer]) -> tuple[Table | None, str]:
    """Accuracy of such answers against published figures, one row per kind of prediction, with an explanation."""
    rooms = [type(answer).__module__ for answer in answers]
    reports = {name for room in rooms for prefix, name in JUDGED_BY.items() if room.startswith(prefix)}
    if not reports:
        return None, NO_REPORT
    rows = pl.read_csv(ACCURACY).filter(pl.col("report").is_in(reports) & pl.col("kind").is_in(KINDS))
    return tabled(rows.to_dicts(), FIGURES), MEANING
