"""Disk paths: one requester is CPU plus wait, many share processors, disks and the channel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import library
from planner.devices import DiskPath
from planner.devices.disk import TransactionPart
from planner.errors import InputError, ReportError

XEDIT = {
    kind: DiskPath.from_model(library.read_model(f"disk-xedit-{kind}"))
    for kind in ("eckd-minidisk", "emulated-fba")
}
RATES = {
    ("emulated-fba", "hit"): 476.82, ("eckd-minidisk", "hit"): 474.86,
    ("emulated-fba", "miss"): 34.75, ("eckd-minidisk", "miss"): 428.84,
    ("emulated-fba", "off"): 6.38, ("eckd-minidisk", "off"): 27.74,
}  # fmt: skip


def rate(kind: str, run: str, **numbers: int) -> float:
    mode, ratio = ("off", 0.0) if run == "off" else ("cached", float(run == "hit"))
    return float(XEDIT[kind].solve(mode, ratio, **numbers).rate)  # type: ignore[arg-type]


@pytest.mark.parametrize(("run", "published"), RATES.items(), ids=str)
def test_one_requester_reaches_the_published_rate(run: tuple[str, str], published: float) -> None:
    assert rate(*run) == pytest.approx(published, rel=0.002)


@pytest.mark.parametrize("kind", XEDIT)
def test_a_hit_takes_its_processor_time_and_nothing_else(kind: str) -> None:
    hit = XEDIT[kind].hit
    assert hit is not None and hit.wait_time == 0
    assert 1 / (hit.cp_time + hit.virtual_time) == pytest.approx(RATES[kind, "hit"], rel=0.002)


def test_the_wait_of_the_forced_eckd_miss_is_not_fitted() -> None:
    entry = library.read_model("disk-xedit-eckd-minidisk").parameters["miss_wait_time_s"]
    assert (entry.value, entry.status) == (0, "fixed")


def test_cache_off_is_not_a_hit_ratio_of_zero() -> None:
    assert rate("emulated-fba", "miss") > 5 * rate("emulated-fba", "off")


def path(**changes: object) -> DiskPath:
    parts = {
        "write": None,
        "off": TransactionPart(cp_time=1e-3, virtual_time=1e-3, wait_time=8e-3),
        "miss": TransactionPart(cp_time=2e-3, virtual_time=1e-3, wait_time=7e-3),
        "hit": TransactionPart(cp_time=1e-3, virtual_time=1e-3),
    }
    facts = {
        "virtual_ios_off": 2.0,
        "virtual_ios_cached": None,
        "read_bytes": 1e5,
        "write_bytes": 0.0,
        "channel_rate": 1e8,
    }
    return DiskPath(**{**parts, **facts, **changes})  # type: ignore[arg-type]


@given(st.floats(0, 1), st.integers(1, 30), st.integers(1, 6), st.integers(1, 6))
def test_rates_stay_below_every_bound_and_grow_with_each_resource(h: float, n: int, p: int, d: int) -> None:
    at = path().solve("cached", h, requesters=n, processors=p, disks=d)
    assert at.rate <= min(at.processor_bound, at.disk_bound, at.channel_bound, n * at.rate_alone) * (1 + 1e-9)
    for more in ({"requesters": n + 1}, {"processors": p + 1}, {"disks": d + 1}):
        numbers = {"requesters": n, "processors": p, "disks": d, **more}
        assert path().solve("cached", h, **numbers).rate >= at.rate * (1 - 1e-9)


def test_one_requester_is_cpu_plus_wait_on_any_hardware() -> None:
    at = path().solve("cached", [0, 0.5, 1], processors=4, disks=3)
    assert at.rate.tolist() == pytest.approx([1 / 10e-3, 1 / 6e-3, 1 / 2e-3])
    assert at.processors.tolist() == pytest.approx([0.3, 2.5 / 6, 1.0])


def test_requesters_that_only_use_the_processor_share_it() -> None:
    """Without waits the processors are all there is: p guests run at full speed, more share."""
    rates = [float(path().solve("cached", 1.0, requesters=n, processors=3).rate) for n in (1, 3, 6)]
    assert rates == pytest.approx([500, 1500, 1500])


def test_each_disk_holds_its_part_of_the_data() -> None:
    """One disk: a cycle of two single servers; ten disks: requests meet at one of them all the same."""
    part = TransactionPart(cp_time=1e-9, wait_time=10e-3)
    found = [float(path(off=part).solve("off", requesters=2, disks=d).rate) for d in (1, 10)]
    assert found == pytest.approx([100, 2 / (10e-3 * (1 + 1 / 10))], rel=1e-5)


def test_several_requesters_wait_for_each_other_at_the_disk() -> None:
    """Closed queues of one processor and one disk, each D: N + 1 halves of D at either (Lazowska et al. 1984)."""
    part = TransactionPart(cp_time=4e-3, virtual_time=1e-3, wait_time=5e-3)
    assert path(off=part).solve("off", requesters=7).wait_time == pytest.approx(8 / 2 * 5e-3)
    alone = path(off=part).solve("off", requesters=7, processors=7, disks=1)
    assert alone.rate * (alone.wait_time + 5e-3) == pytest.approx(7)
    held = path(off=part, channel_rate=5e6).solve("off", requesters=7, processors=7)
    assert held.rate * (held.wait_time + 5e-3) == pytest.approx(7)
    assert held.rate == held.channel_bound < alone.rate


def test_the_channel_binds_many_requesters() -> None:
    slow = path(channel_rate=2e7)
    at = slow.solve("off", requesters=50, processors=50, disks=50)
    assert at.channel_bound == pytest.approx(200)
    assert at.rate == pytest.approx(200)
    assert path(channel_rate=1e12).solve("off", requesters=50, processors=50, disks=50).rate > 1000


def test_hits_do_not_use_the_channel() -> None:
    assert np.isinf(path().solve("cached", 1.0).channel_bound)


def test_a_run_that_beats_its_channel_is_given_as_measured_and_promised_to_nobody_else() -> None:
    eckd = XEDIT["eckd-minidisk"]
    alone, several = (eckd.solve("cached", 0.0, requesters=requesters, processors=8) for requesters in (1, 8))
    assert alone.rate == alone.rate_alone > 9 * alone.channel_bound
    assert several.rate == several.channel_bound == pytest.approx(17 * 1024 / 400, rel=1e-4)


@pytest.mark.parametrize(
    ("argument", "numbers"),
    [("hit_ratio", {"hit_ratio": 1.1}), ("hit_ratio", {"hit_ratio": -0.1}), ("hit_ratio", {"hit_ratio": float("nan")}),
     ("requesters", {"requesters": 0}), ("processors", {"processors": 0}), ("disks", {"disks": 1.5})],
)  # fmt: skip
def test_numbers_outside_their_domain_are_refused(argument: str, numbers: dict[str, float]) -> None:
    with pytest.raises(InputError, match=argument):
        path().solve("cached", **numbers)  # type: ignore[arg-type]


def test_a_mode_that_was_not_measured_is_refused() -> None:
    with pytest.raises(InputError, match="one of off"):
        path(hit=None, miss=None).solve("cached")


def test_transactions_that_take_no_processor_time_are_refused() -> None:
    with pytest.raises(InputError, match="cp_time, virtual_time"):
        path(off=TransactionPart(wait_time=8e-3)).solve("off")


def test_a_part_lacking_a_cost_is_refused() -> None:
    shipped = library.read_model("disk-xedit-emulated-fba")
    left = {key: entry for key, entry in shipped.parameters.items() if key != "hit_wait_time_s"}
    bare = library.Model(
        kind="disk", title="a test", source=(), parameters=left, fit=shipped.fit, validity={}
    )
    with pytest.raises(ReportError, match=r"expected `parameters\.hit_wait_time_s`"):
        DiskPath.from_model(bare)


def test_paging_cp_per_page_follows_from_xedit_without_cache() -> None:
    """100 blocks of 4 KB a transaction; nothing of the paging runs is used."""
    for kind, published in (("emulated-fba", 217.02e-6), ("eckd-minidisk", 11.55e-6)):
        off = XEDIT[kind].off
        assert off is not None
        assert off.cp_time / (XEDIT[kind].read_bytes / 4096) == pytest.approx(published, rel=0.05)
