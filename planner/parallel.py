"""Map a function over partitions, with processes of this machine or the workers of a Dask cluster."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from multiprocessing import active_children, get_context, parent_process
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from planner.errors import InputError, MissingExtraError, PlannerError

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from distributed import Client, as_completed

ATTEMPTS: Final = 3  # crashes of its process after which a part counts as the cause
PATIENCE: Final = 10  # seconds to wait for a scheduler, and again for its first worker
ABSENT: Final = 60  # seconds without any worker before giving up
POLLS: Final = 10  # polls of a cluster per second
ONE_THREAD: Final = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Versions that must not differ.
SAME: Final = ("zvm-planner", "distributed", "dask", "polars", "numpy", "scipy")
SCHEMES: Final = ("tcp://", "tls://", "ucx://", "ws://", "wss://")
Part = TypeVar("Part")
Value = TypeVar("Value")
Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A part that failed: its `name`, the `problem`, and its `exit_code`."""

    name: str
    problem: str
    exit_code: int = PlannerError.exit_code


_WATCH: ContextVar[tuple[Advance, Advance] | None] = ContextVar("watch", default=None)


@contextmanager
def watched(more: Advance, done: Advance) -> Iterator[None]:
    """Report the progress of each `run` in this context that has no `done` of its own."""
    token = _WATCH.set((more, done))
    try:
        yield
    finally:
        _WATCH.reset(token)


def run(
    function: Callable[[Part], Value],
    parts: Sequence[Part],
    scheduler: str | None = None,
    workers: int | None = None,
    *,
    done: Callable[[int], None] | None = None,
) -> list[Value | Failed]:
    """Apply a function to every part, on all processors of this machine or on a cluster.

    A part that raises an error gives a `Failed`; the others are still answered. If a process dies (killed, out of
    memory), its part runs again; a part whose process dies three times gives a `Failed`. Parts are sent between
    processes: names of partitions, not their rows. `done` receives the number of parts done since its last call.
    """
    watch = _WATCH.get()
    if done is None and watch is not None:
        watch[0](len(parts))
        done = watch[1]
    if workers is not None and workers < 1:
        raise InputError("workers", workers, "a count of at least 1")
    if scheduler is not None and workers is not None:
        raise InputError("workers", workers, "no workers with a scheduler: it has its own")
    tell = done or (lambda count: None)
    if scheduler is not None:
        return _on_cluster(function, parts, scheduler, tell)
    count = min(workers or len(os.sched_getaffinity(0)), len(parts))
    return _here(function, parts, tell) if count <= 1 else _Processes(function, parts, count, tell).run()


def _here(function: Callable[[Any], Any], parts: Sequence[Any], tell: Callable[[int], None]) -> list[Any]:
    """Run all parts in this process."""
    found = []
    for part in parts:
        try:
            found.append(function(part))
        except Exception as error:  # any error of a part belongs in its result
            found.append(_failed(part, error))
        tell(1)
    return found


def _failed(part: object, problem: BaseException | str) -> Failed:
    """Describe a part that failed, by an error of the function or the end of its process."""
    name = str(getattr(part, "name", part))
    if isinstance(problem, PlannerError):
        return Failed(name=name, problem=str(problem), exit_code=problem.exit_code)
    if isinstance(problem, BaseException):
        first = str(problem).strip().splitlines()[:1]
        problem = ": ".join([type(problem).__name__, *first])
    return Failed(name=name, problem=problem)


class _Processes:
    """Processes of this machine; no more parts are submitted than there are processes.

    So when a process dies, only the parts submitted then are suspect; run one at a time, they show which one kills.
    """

    def __init__(
        self, function: Callable[[Any], Any], parts: Sequence[Any], count: int, tell: Callable[[int], None]
    ) -> None:
        self.function, self.parts, self.count, self.tell = function, parts, count, tell
        self.found: dict[int, Any] = {}
        self.waiting = deque(range(len(parts)))

    def run(self) -> list[Any]:
        """Values of all parts in order, `Failed` where there is none."""
        with _one_thread_each(), _without_main():
            while self.waiting:
                suspects = self._together()
                for k in suspects:
                    self._alone(k)
        return [self.found[k] for k in range(len(self.parts))]

    def _keep(self, k: int, value: Any) -> None:
        self.found[k] = value
        self.tell(1)

    def _pool(self, count: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_end_with_parent)

    def _submitted(self, pool: ProcessPoolExecutor, k: int) -> Future[Any]:
        with _held_interrupts():
            return pool.submit(self.function, self.parts[k])

    def _together(self) -> list[int]:
        """Work until nothing is left or a process dies; return the parts submitted at that time."""
        before = set(active_children())
        with self._pool(self.count) as pool:
            out: dict[Future[Any], int] = {}
            try:
                while self.waiting or out:
                    while self.waiting and len(out) < self.count:
                        k = self.waiting[0]
                        out[self._submitted(pool, k)] = k
                        self.waiting.popleft()
                    for future in wait(out, return_when=FIRST_COMPLETED).done:
                        self._collect(future, out[future])
                        del out[future]
            except BrokenProcessPool:
                for future, k in out.items():  # keep what finished in the same moment
                    if future.done() and not isinstance(future.exception(), BrokenProcessPool):
                        self._collect(future, k)
                return [k for k in out.values() if k not in self.found]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for process in set(active_children()) - before:  # an interrupt does not wait for them
                    process.terminate()
                raise
        return []

    def _collect(self, future: Future[Any], k: int) -> None:
        """Keep a value or an error of the function; raise if the process died."""
        error = future.exception()
        if isinstance(error, BrokenProcessPool):
            raise error
        self._keep(k, future.result() if error is None else _failed(self.parts[k], error))

    def _alone(self, k: int) -> None:
        """Try a suspect again in a process of its own."""
        for _ in range(ATTEMPTS - 1):  # the first attempt ran along with others
            with self._pool(1) as pool:
                try:
                    self._collect(self._submitted(pool, k), k)
                    return
                except BrokenProcessPool:
                    continue
        ended = f"its process ended {ATTEMPTS} times (killed, or out of memory)"
        self._keep(k, _failed(self.parts[k], ended))


def _end_with_parent() -> None:
    """End this process once the one that started it is gone, however that ended; nobody waits for its parts."""

    def watch(parent: BaseProcess) -> None:
        parent.join()
        os._exit(1)

    if (parent := parent_process()) is not None:
        threading.Thread(target=watch, args=(parent,), daemon=True).start()


@contextmanager
def _held_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back while processes start: they inherit that for good, and are ended by this one without a trace."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let processes started in this context use one thread each, unless the environment says otherwise."""
    added = [variable for variable in ONE_THREAD if variable not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for variable in added:
            del os.environ[variable]


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep processes started in this context from running the user's script again; they need only modules."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _on_cluster(
    function: Callable[[Any], Any], parts: Sequence[Any], address: str, tell: Callable[[int], None]
) -> list[Any]:
    """Run all parts on the workers of a scheduler, which gives the part of a dead worker to another one."""
    try:
        from distributed import as_completed
    except ImportError as error:
        raise MissingExtraError("dask[distributed]", "cluster") from error
    with _client(address) as client:
        _refuse_other_versions(client, address)
        futures = client.map(_guarded, [(function, part) for part in parts], pure=False)
        place = {future.key: k for k, future in enumerate(futures)}
        found: dict[int, Any] = {}
        for future in _as_they_end(client, as_completed(futures, loop=client.loop), address, len(parts)):
            if future.status == "cancelled" or client.status != "running":
                raise InputError(
                    "scheduler", address,
                    f"a scheduler that stays; it went away after {len(found)} of {len(parts)} parts",
                )  # fmt: skip
            k = place[future.key]
            found[k] = _ended(parts[k], future) if future.status == "error" else future.result()
            future.release()
            tell(1)
        return [found[k] for k in range(len(parts))]


def _as_they_end(
    client: Client, ended: as_completed, address: str, parts: int, pause: Callable[[float], None] = time.sleep
) -> Iterator[Any]:
    """Yield the futures of `parts` parts as they end, as long as there are workers or new ones join."""
    found = without = 0
    for poll in count(1):
        while ended.has_ready():
            yield next(ended)
            found += 1
        if ended.is_empty():
            return
        pause(1 / POLLS)
        if poll % POLLS == 0 and client.status == "running":
            with suppress(OSError):  # if the scheduler goes away, the futures show it
                without = 0 if client.nthreads() else without + 1
        if without >= ABSENT:
            gone = f"there has been none for {ABSENT} s, {found} of {parts} parts are done"
            raise InputError(
                "scheduler",
                address,
                f"workers that stay; {gone}: start one with `dask worker {address}`, and ask again",
            )


def _guarded(task: tuple[Callable[[Any], Any], Any]) -> Any:
    """Run the function on a worker; return its error as a value, so that the scheduler does not log it as its own."""
    function, part = task
    (value,) = _here(function, [part], lambda count: None)
    return value


def _ended(part: object, future: Any) -> Failed:
    """Describe a part whose workers died one after the other."""
    error = future.exception()
    if type(error).__name__ == "KilledWorker":
        return _failed(part, "its worker ended each time it was tried (killed, or out of memory)")
    return _failed(part, error)


@contextmanager
def _client(address: str) -> Iterator[Client]:
    """Connect to a scheduler that has workers."""
    from distributed import Client

    if not address.startswith(SCHEMES):
        raise InputError("scheduler", address, "an address such as tcp://HOST:8786")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # the planner reports each problem once
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about different versions, which are refused below
            client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(
            "scheduler", address, f"a Dask scheduler that answers; start one with `dask scheduler` ({why})"
        ) from error
    try:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise InputError(
                "scheduler", address, f"at least one worker; start one with `dask worker {address}`"
            ) from None
        yield client
    finally:
        client.close()


def _refuse_other_versions(client: Client, address: str) -> None:
    """Refuse workers, or a scheduler, of other versions; the message names both versions."""
    said: Any = client.get_versions(check=False, packages=list(SAME))
    others = {
        "the scheduler": said["scheduler"],
        **{f"worker {at}": of for at, of in said["workers"].items()},
    }
    mine = _versions(said["client"])
    for who, of in others.items():
        theirs = _versions(of)
        for package in ("python", *SAME):
            if who == "the scheduler" and package not in {"python", "dask", "distributed"}:
                continue  # it passes parts on without unpickling them
            if mine.get(package) != theirs.get(package):
                raise InputError(
                    "scheduler", address,
                    f"equal versions: {package} is {mine.get(package) or 'missing'} here and "
                    f"{theirs.get(package) or 'missing'} at {who}",
                )  # fmt: skip


def _versions(reported: Mapping[str, Any]) -> dict[str, str | None]:
    """Version of each package on one host; of Python major and minor, which decide what it can unpickle."""
    python = ".".join(str(reported["host"]["python"]).split(".")[:2])
    return {**reported["packages"], "python": python}
