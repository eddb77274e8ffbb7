"""Parquet and Arrow files of others: decoded in a process of its own first, which damage may end.

polars asks for as much memory as a file says that it needs; where there is not that much, the process that asks is
ended. It also prints lines of its own about some damage. Both stay in the process that this file is when it runs as a
script: it decodes one file after the other and says of each whether it could.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import polars as pl

PARQUET: Final = b"PAR1"
ARROW: Final = b"ARROW1"
_DECODER: Final = (sys.executable, "-P", __file__)
_ASKING: Final = threading.Lock()
_started: list[subprocess.Popen[str]] = []


def is_columnar(path: Path) -> bool:
    """Tell Parquet and Arrow files by their first bytes."""
    try:
        with path.open("rb") as file:
            return file.read(len(ARROW)).startswith((PARQUET, ARROW))
    except (OSError, ValueError):
        return False  # said by whoever opens it


def read_columnar(path: Path) -> pl.DataFrame:
    """Decode a file that another process could decode.

    Raises
    ------
    ReportError
        The file is damaged.
    """
    from planner.errors import ReportError

    problem = _problem(path)
    if problem is not None:
        raise ReportError(path, f"damaged ({problem}): expected a Parquet or Arrow file")
    return _decoded(path)


def _problem(path: Path) -> str | None:
    """What another process finds wrong with a file; None where nothing is, or where there can be no other process."""
    if not sys.executable:
        return None
    with _ASKING:
        try:
            process = _decoder()
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(json.dumps(os.fspath(path.absolute())) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:  # it ended before it was asked
            answer = ""
        if answer:
            return json.loads(answer)["problem"]  # type: ignore[no-any-return]
        _end()
    return "the process that decoded it ended, for want of memory"


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


def _decoded(path: Path) -> pl.DataFrame:
    import polars as pl

    with path.open("rb") as file:
        parquet = file.read(len(PARQUET)) == PARQUET
    return pl.read_parquet(path) if parquet else pl.read_ipc(path)


def _serve() -> None:
    """Decode the file of each line, and answer whether it could be done."""
    import polars as pl

    damage: tuple[type[BaseException], ...] = (
        OSError,
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
    )
    for line in sys.stdin:
        answer: dict[str, Any] = {"problem": None}
        try:
            _decoded(Path(json.loads(line)))
        except damage as error:
            answer["problem"] = (str(error).strip() or type(error).__name__).splitlines()[0]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve()
