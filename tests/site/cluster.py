"""A Dask cluster on this machine, started as docs/cluster.md says, for tests and measurements."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.checkout import ROOT


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started(*words: str) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1",
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]], env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


@contextmanager
def cluster(workers: int = 1) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and workers of one thread each, started as docs/cluster.md says."""
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    running = [
        started("dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard", "--no-show")
    ]
    try:
        running += [
            started("dask_worker", address, "--nthreads", "1", "--no-dashboard", "--memory-limit", "0")
            for _ in range(workers)
        ]
        yield address, running[1:]
    finally:
        for each in reversed(running):
            each.terminate()
        for each in running:
            try:
                each.wait(10)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()
