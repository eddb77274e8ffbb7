"""One map, two executors: both answer alike, name a poisoned part, and survive a process that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner import parallel
from planner.errors import InputError
from planner.parallel import Failed, run
from tests.checkout import ROOT
from tests.site import parts
from tests.site.cluster import cluster, free_port

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def values(found: list[Any]) -> list[Any]:
    return [None if isinstance(each, Failed) else each for each in found]


@pytest.mark.parametrize("workers", [1, 2])
def test_values_stand_in_the_order_of_the_parts_and_each_is_told_once(workers: int) -> None:
    told: list[int] = []
    found = run(parts.square, range(7), workers=workers, done=told.append)
    assert values(found) == [part * part for part in range(7)]
    assert sum(told) == 7


def test_one_worker_needs_no_other_process() -> None:
    assert values(run(parts.process, [1, 2], workers=1)) == [os.getpid()] * 2
    assert values(run(parts.process, [1], workers=8)) == [os.getpid()]


@pytest.mark.parametrize("script", ["script.py", "-"])
def test_a_script_needs_no_guard_and_is_run_once(script: str, tmp_path: Path) -> None:
    """Processes that are started would run it again from the top, or miss the file that standard input is not."""
    imports = "from planner.parallel import run\nfrom tests.site.parts import square\n"
    lines = imports + "print(run(square, [2, 3], workers=2))\n"
    (tmp_path / "script.py").write_text(lines)
    ended = subprocess.run(
        [sys.executable, script], input=lines, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    assert (ended.stdout, ended.stderr) == ("[4, 9]\n", "")


def test_nothing_to_do_is_no_error() -> None:
    assert run(parts.square, []) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_a_poisoned_part_is_named_and_the_others_are_answered(workers: int) -> None:
    found = run(parts.poisoned, range(7), workers=workers)
    assert values(found) == [0, 1, 2, None, 4, None, 6]
    assert found[3] == Failed(name="3", problem="no count of aliases meets the target", exit_code=1)
    assert found[5] == Failed(name="5", problem="ZeroDivisionError: division by zero", exit_code=2)


def test_a_part_that_has_a_name_is_called_by_it() -> None:
    (found,) = run(parts.poisoned_day, [parts.Day(3)])
    assert found == Failed(name="day 3", problem="no count of aliases meets the target", exit_code=1)


@pytest.mark.long
def test_a_part_that_ends_its_process_is_named_and_those_beside_it_are_answered() -> None:
    found = run(parts.deadly, range(5), workers=2)
    assert values(found) == [0, 1, None, 3, 4]
    assert found[2] == Failed(
        name="2", problem="its process ended 3 times (killed, or out of memory)", exit_code=2
    )


@pytest.mark.long
def test_a_process_that_ends_once_costs_time_only(tmp_path: Path) -> None:
    once = [(str(tmp_path / "died"), number) for number in range(4)]
    assert values(run(parts.dies_once, once, workers=2)) == [0, 1, 2, 3]
    assert (tmp_path / "died").exists()


def test_the_environment_is_as_it_was() -> None:
    before = dict(os.environ)
    run(parts.square, range(2), workers=2)
    assert dict(os.environ) == before


STARTED = (
    "import sys, tests.site.parts as parts; from planner.parallel import run\n"
    "run(parts.says_and_waits, [sys.argv[1] + '/a', sys.argv[1] + '/b'], workers=2)"
)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no such signals here")
@pytest.mark.parametrize("sent", ["to all, as Ctrl-C", "kill -9 to the first"])
def test_processes_end_with_the_one_that_started_them_and_say_nothing(sent: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTED, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, start_new_session=True) as first:
        names = tmp_path / "a", tmp_path / "b"
        assert soon(lambda: all(name.exists() for name in names))
        if sent.startswith("kill"):
            first.kill()
        else:
            os.killpg(first.pid, signal.SIGINT)
        assert soon(lambda: not any(Path(f"/proc/{name.read_text()}").exists() for name in names))
        assert first.stderr is not None
        said = first.stderr.read().decode()
    assert "Process Spawn" not in said and said.count("Traceback") <= 1  # its own, as a script has it


def soon(ended: Callable[[], bool]) -> bool:
    """Whether it ends within some seconds."""
    for _ in range(200):
        if ended():
            return True
        time.sleep(0.1)
    return False


def test_no_workers_at_all_are_refused() -> None:
    with pytest.raises(InputError, match="workers = 0: expected a count of at least 1"):
        run(parts.square, [1], workers=0)
    with pytest.raises(InputError, match="no workers with a scheduler"):
        run(parts.square, [1], workers=2, scheduler="tcp://127.0.0.1:8786")


@pytest.mark.long
@pytest.mark.first(2)
@pytest.mark.parametrize("address", ["127.0.0.1:8786", "http://127.0.0.1:8786", ""])
def test_an_address_says_how_to_reach_it(address: str) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match="expected an address such as tcp://HOST:8786"):
        run(parts.square, [1], scheduler=address)


def test_an_unreachable_scheduler_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(parallel, "PATIENCE", 0.5)
    address = f"tcp://127.0.0.1:{free_port()}"
    with pytest.raises(InputError, match="a Dask scheduler that answers; start one with `dask scheduler`"):
        run(parts.square, [1], scheduler=address)


def test_without_dask_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'zvm-planner\[cluster\]'"):
        run(parts.square, [1], scheduler="tcp://127.0.0.1:8786")


def versions(**packages: str) -> dict[str, Any]:
    return {"host": {"python": "3.11.7.final.0"}, "packages": {"dask": "2026.8.0", **packages}}


class Told:
    """A client that says which versions are where."""

    def __init__(self, client: dict[str, Any], scheduler: dict[str, Any], worker: dict[str, Any]) -> None:
        self.said = {"client": client, "scheduler": scheduler, "workers": {"tcp://10.0.0.7:33333": worker}}

    def get_versions(self, **_: object) -> dict[str, Any]:
        return self.said


def test_versions_that_differ_are_refused_with_both() -> None:
    mine = versions(polars="1.31.0", **{"zvm-planner": "0.1.0"})
    parallel._refuse_other_versions(Told(mine, versions(), mine), "tcp://a")  # type: ignore[arg-type]
    cases = {
        "polars is 1.31.0 here and 1.40.0 at worker tcp://10.0.0.7:33333": versions(
            polars="1.40.0", **{"zvm-planner": "0.1.0"}
        ),
        "zvm-planner is 0.1.0 here and missing at worker": versions(polars="1.31.0"),
        "python is 3.11 here and 3.13 at worker": {**mine, "host": {"python": "3.13.1.final.0"}},
        "dask is 2026.8.0 here and 2025.1.0 at the scheduler": mine,
    }
    for message, worker in cases.items():
        scheduler = versions(dask="2025.1.0") if "scheduler" in message else versions()
        with pytest.raises(InputError, match=message.replace(".", r"\.")):
            parallel._refuse_other_versions(Told(mine, scheduler, worker), "tcp://a")  # type: ignore[arg-type]


class Cluster:
    """A client, and what it waits for: one part ends, then the workers go, and one may come back."""

    status = "running"

    def __init__(self, back_after: float) -> None:
        self.back_after, self.waited, self.left = back_after, 0.0, 2

    def pause(self, seconds: float) -> None:
        self.waited += seconds

    def nthreads(self) -> dict[str, int]:
        if 5 < self.waited < 6:
            raise OSError("a scheduler that does not answer")
        return {"tcp://10.0.0.7:33333": 1} if self.waited > self.back_after else {}

    def has_ready(self) -> bool:
        return self.left == 2 or (self.left == 1 and self.waited > self.back_after)

    def is_empty(self) -> bool:
        return self.left == 0

    def __next__(self) -> str:
        self.left -= 1
        return "done"


def test_a_cluster_whose_workers_are_gone_is_not_waited_for() -> None:
    """A worker that comes within the time goes on; no clock is asked."""
    late: Any = Cluster(back_after=parallel.ABSENT - 5.0)
    assert list(parallel._as_they_end(late, late, "tcp://a", 2, late.pause)) == ["done", "done"]
    gone: Any = Cluster(back_after=1e9)
    work = parallel._as_they_end(gone, gone, "tcp://a:8786", 2, gone.pause)
    assert next(work) == "done"
    with pytest.raises(
        InputError, match=r"none for 60 s, 1 of 2 parts are done: start one with `dask worker tcp://a:8786`"
    ):
        next(work)
    assert gone.waited == pytest.approx(parallel.ABSENT, abs=2)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of a machine that is busy take their time to start."""
    monkeypatch.setattr(parallel, "PATIENCE", 60)


@pytest.mark.slow
@pytest.mark.usefixtures("patient")
def test_a_cluster_answers_as_processes_do_and_names_what_is_poisoned() -> None:
    with cluster(workers=2) as (address, _):
        told: list[int] = []
        assert values(run(parts.square, range(7), scheduler=address, done=told.append)) == [
            part * part for part in range(7)
        ]
        assert sum(told) == 7
        here, there = (
            run(parts.poisoned, range(7), **where)  # type: ignore[arg-type]
            for where in ({"workers": 1}, {"scheduler": address})
        )
        assert here == there


@pytest.mark.slow
@pytest.mark.usefixtures("patient")
def test_a_killed_worker_of_a_cluster_costs_time_only() -> None:
    with cluster(workers=2) as (address, workers):
        assert len(run(parts.square, range(4), scheduler=address)) == 4  # both have come
        time.sleep(1.0)

        def kill_one(count: int) -> None:
            if workers[0].poll() is None:
                workers[0].send_signal(signal.SIGKILL)

        work = [(0.3, number) for number in range(12)]
        assert values(run(parts.slow, work, scheduler=address, done=kill_one)) == list(range(12))
        assert workers[0].wait(5) != 0


@pytest.mark.slow
def test_a_scheduler_without_workers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "PATIENCE", 2)
    with cluster(workers=0) as (address, _):
        for _ in range(20):  # until the scheduler listens
            try:
                run(parts.square, [1], scheduler=address)
            except InputError as error:
                if "at least one worker" in str(error):
                    assert f"dask worker {address}" in str(error)
                    return
        pytest.fail("never refused for want of workers")
