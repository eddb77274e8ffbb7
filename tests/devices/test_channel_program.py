"""Channel programs: four costs of which the runs tell three combinations."""

import pytest

from planner import library
from planner.devices import ChannelProgram
from planner.errors import InputError, ReportError
from planner.whatif import predict

LAW = ChannelProgram(
    ssch_time=6e-4, ssch_64_time=4e-4, fast_ccw_time=1e-4, slow_ccw_time=9e-4, read_factor=1.5
)
CASES = {(31, True): 7e-4, (31, False): 15e-4, (64, True): 21e-4, (64, False): 29e-4}


@pytest.mark.parametrize(("case", "expected"), CASES.items())
def test_a_64_bit_program_has_twice_the_start_subchannels(case: tuple[int, bool], expected: float) -> None:
    bits, fast = case
    assert LAW.time_per_mb(bits, fast=fast) == pytest.approx(expected)
    assert LAW.time_per_mb(bits, fast=fast, read_share=1) == pytest.approx(1.5 * expected)
    assert LAW.time_per_mb(bits, fast=fast, read_share=0.5) == pytest.approx(1.25 * expected)


def test_savings() -> None:
    assert LAW.saving(31) == pytest.approx(8 / 15)
    assert LAW.saving(64) == pytest.approx(8 / 29)


@pytest.mark.parametrize("fast", [0.0, 1e-4])
def test_of_no_time_there_is_no_share(fast: float) -> None:
    law = ChannelProgram(ssch_time=0.0, ssch_64_time=0.0, fast_ccw_time=fast, slow_ccw_time=0.0)
    for bits in (31, 64):
        with pytest.raises(
            InputError, match=r"ssch_time, slow_ccw_time = 0 s/MB: expected one of them above zero"
        ):
            law.saving(bits)
    with pytest.raises(InputError, match="ssch_time, slow_ccw_time"):
        predict("channel-program", {"bits": "31", "ssch_time": 0.0, "slow_ccw_time": 0.0})


@pytest.mark.parametrize("moved", [1e-4, 3e-4])
def test_no_answer_depends_on_the_convention(moved: float) -> None:
    """Cost moved from the Start Subchannels to the CCWs, as the shipped convention moves it the other way."""
    other = ChannelProgram(
        ssch_time=LAW.ssch_time - moved,
        ssch_64_time=LAW.ssch_64_time + moved / 2,
        fast_ccw_time=LAW.fast_ccw_time + moved,
        slow_ccw_time=LAW.slow_ccw_time + moved,
    )
    for bits, fast in CASES:
        assert other.time_per_mb(bits, fast=fast) == pytest.approx(LAW.time_per_mb(bits, fast=fast))


@pytest.mark.parametrize("bits", [24, 32, 0])
def test_other_widths_are_refused(bits: int) -> None:
    with pytest.raises(InputError, match="31 or 64"):
        LAW.time_per_mb(bits, fast=True)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_outside_its_domain_is_refused(share: float) -> None:
    with pytest.raises(InputError, match="a share from 0 to 1"):
        LAW.time_per_mb(31, fast=True, read_share=share)


def test_a_model_that_lacks_a_cost_is_refused() -> None:
    shipped = library.read_model("channel-program")
    left = {key: entry for key, entry in shipped.parameters.items() if key != "read_factor"}
    bare = library.Model(
        kind="channel-program", title="a test", source=(), parameters=left, fit=shipped.fit, validity={}
    )
    with pytest.raises(ReportError, match=r"expected `parameters\.read_factor`"):
        ChannelProgram.from_model(bare)
