"""Parquet and Arrow files of others: what decodes them may end, the planner does not."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from planner.errors import InputError, ReportError
from planner.measurements import columnar
from planner.measurements.columnar import is_columnar, read_columnar
from planner.measurements.read import read

FRAME = pl.DataFrame({"device": ["522A", "522B"], "io_rate": [755.0, 12.0], "service_ms": [1.3, 2.0]})


@pytest.fixture(params=["parquet", "arrow"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    place = tmp_path / f"volumes.{request.param}"
    (FRAME.write_parquet if request.param == "parquet" else FRAME.write_ipc)(place)
    return place


def test_a_sound_file_is_what_was_written(path: Path) -> None:
    assert is_columnar(path)
    assert read_columnar(path).equals(FRAME)
    assert read(path).devices["io_rate"].to_list() == [755.0, 12.0]


def test_damage_is_one_error_and_nothing_on_standard_error(
    path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    content = path.read_bytes()
    for cut in range(8, len(content), 7):
        path.write_bytes(content[:cut])
        with pytest.raises(ReportError, match=r"damaged \(.*\): expected a Parquet or Arrow file"):
            read_columnar(path)
    assert capfd.readouterr().err == ""


@pytest.mark.long
def test_a_file_that_ends_the_process_is_named_and_the_next_one_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place of the decoder a process that aborts when it is asked, as for want of memory."""
    columnar._end()
    monkeypatch.setattr(columnar, "_DECODER", (sys.executable, "-c", "import os; input(); os.abort()"))
    with pytest.raises(ReportError, match="the process that decoded it ended"):
        read_columnar(path)
    monkeypatch.undo()
    assert read_columnar(path).equals(FRAME)


def test_what_a_small_file_unpacks_to_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal rows take no room in a file: 5 GiB of three numbers are refused before they are decoded."""
    path = tmp_path / "rows.parquet"
    pl.select(pl.repeat(1.0, 2**20).alias("io_rate")).write_parquet(path)
    assert path.stat().st_size < 2**14
    assert read_columnar(path).height == 2**20
    monkeypatch.setenv(columnar.LIMIT, "8MiB")
    with pytest.raises(ReportError, match=r"unpacks to 0.0156 GiB.*PLANNER_MOST_UNPACKED=SIZE allows more"):
        read_columnar(path)
    monkeypatch.setenv(columnar.LIMIT, "much")
    with pytest.raises(InputError, match="PLANNER_MOST_UNPACKED"):
        read_columnar(path)


@pytest.mark.long
def test_memory_is_bounded_where_a_file_does_not_say_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row of a list of any length."""
    path = tmp_path / "list.parquet"
    pl.select(pl.repeat(1.0, 2**27).implode()).write_parquet(path)
    monkeypatch.setenv(columnar.LIMIT, "1MiB")
    with pytest.raises(ReportError, match="want of memory"):
        read_columnar(path)


@pytest.mark.long
@pytest.mark.first(1)
def test_a_decoder_that_was_killed_is_started_again(path: Path) -> None:
    read_columnar(path)
    columnar._started[0].kill()
    columnar._started[0].wait()
    assert read_columnar(path).equals(FRAME)


def test_many_threads_ask_one_decoder(path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert all(frame.equals(FRAME) for frame in pool.map(read_columnar, [path] * 12))
    assert len(columnar._started) == 1


@pytest.mark.long
def test_the_decoder_ends_with_its_parent(path: Path) -> None:
    """Nothing is left behind, and nothing is said."""
    program = (
        "from pathlib import Path; from planner.measurements import columnar as c; "
        f"c.read_columnar(Path({str(path)!r})); print(c._started[0].pid)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    status = Path(f"/proc/{int(done.stdout)}/stat")
    assert not status.exists() or status.read_text().split()[2] == "Z"
