"""Parquet and Arrow files of others: decoded in a process of its own first, which damage may end.

polars asks for the memory that a file claims to need, is ended where there is less, and prints lines of its own about
some damage. Both stay in the process that this file is as a script: it decodes one file after the other and says of
each whether it could. A small file may unpack to any number of equal rows: that is bounded by its own numbers before it
is decoded, and by the memory of that process should they lie.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from planner.lazy import pl

PARQUET: Final = b"PAR1"
ARROW: Final = b"ARROW1"
LIMIT: Final = "PLANNER_MOST_UNPACKED"  # environment variable that says another limit, as 16GiB
LARGE: Final = "unpacks to"
_DECODER: Final = (sys.executable, "-P", __file__)
_ASKING: Final = threading.Lock()
_started: list[subprocess.Popen[str]] = []


def is_columnar(path: Path) -> bool:
    """Whether a file is Parquet or Arrow, by its first bytes."""
    try:
        with path.open("rb") as file:
            return file.read(len(ARROW)).startswith((PARQUET, ARROW))
    except (OSError, ValueError):
        return False  # said by whoever opens it


def read_columnar(path: Path) -> pl.DataFrame:
    """Decode a file that another process could decode."""
    from planner import units
    from planner.errors import ReportError

    text = os.environ.get(LIMIT)
    most = 4 * 2**30 if text is None else int(units.parse(text, "storage", argument=LIMIT))
    problem = _problem(path, most)
    if problem is not None:
        if problem.startswith(LARGE):
            wanted = f"expected at most {most / 2**30:.3g} GiB; {LIMIT}=SIZE allows more"
            raise ReportError(path, f"{problem}: {wanted}")
        raise ReportError(path, f"damaged ({problem}): expected a Parquet or Arrow file")
    return _scanned(path).collect()


def _problem(path: Path, most: int) -> str | None:
    """What another process finds wrong with a file; None where nothing is, or where there can be no other process."""
    if not sys.executable:
        return None
    with _ASKING:
        try:
            process = _decoder()
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(json.dumps([os.fspath(path.absolute()), most]) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:  # it ended before it was asked
            answer = ""
        if answer:
            return json.loads(answer)["problem"]  # type: ignore[no-any-return]
        _end()
    allowed = f"{LIMIT}=SIZE allows more than {most / 2**30:.3g} GiB"
    return f"the process that decoded it ended, for want of memory; {allowed}"


def _decoder() -> subprocess.Popen[str]:
    """The process that decodes, started when it is first needed."""
    if not _started or _started[0].poll() is not None:
        _end()
        _started.append(
            subprocess.Popen(
                _DECODER, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
            )
        )  # fmt: skip
        atexit.register(_end)
    return _started[0]


def _end() -> None:
    """End the process."""
    atexit.unregister(_end)
    while _started:
        process = _started.pop()
        process.kill()
        process.communicate()


def _scanned(path: Path) -> pl.LazyFrame:
    with path.open("rb") as file:
        parquet = file.read(len(PARQUET)) == PARQUET
    return pl.scan_parquet(path) if parquet else pl.scan_ipc(path)


def _too_large(path: Path, most: int) -> str | None:
    """What a file says that it unpacks to, where that is too much."""
    lazy = _scanned(path)
    rows, columns = lazy.select(pl.len()).collect().item(), len(lazy.collect_schema())
    size = rows * columns * 16  # bytes a value as polars holds text; numbers have half of it
    return f"{LARGE} {size / 2**30:.3g} GiB, {rows} rows of {columns} columns" if size > most else None


def _bound(most: int) -> None:
    """Let this process have no more memory than rows of this many bytes take, where the system knows such a bound."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        # What it has, and what decoding may take beside the rows.
        beside = pages * resource.getpagesize() + 2**30
        resource.setrlimit(resource.RLIMIT_AS, (most + beside, hard))


def _serve() -> None:
    """Decode the file of each line, and answer whether it could be done."""
    damage = OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException
    for line in sys.stdin:
        answer: dict[str, Any] = {"problem": None}
        name, most = json.loads(line)
        try:
            _bound(most)
            answer["problem"] = _too_large(Path(name), most)
            if answer["problem"] is None:
                _scanned(Path(name)).collect()
        except damage as error:
            answer["problem"] = (str(error).strip() or type(error).__name__).splitlines()[0]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve()
