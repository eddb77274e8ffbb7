"""Answers about channel programs: cost, processors, saving, each with its interval."""

import pytest

from planner.advice import channel_programs
from planner.errors import InputError
from planner.library import read_model
from planner.whatif import predict


def test_processors_are_data_rate_times_cost() -> None:
    answer = channel_programs(64, 0.7, data_rate=50 * 2**20)
    assert answer.processors is not None
    assert answer.processors.value == pytest.approx(50 * answer.time_per_mb.value)
    assert channel_programs(64, 0.7).processors is None


@pytest.mark.parametrize(("bits", "fast", "published"), [
    (31, True, (0.625, 0.651)), (31, False, (1.589, 1.484)), (64, True, (2.077, 2.064)), (64, False, (3.352, 3.237)),
])  # fmt: skip
def test_the_interval_holds_the_runs(bits: int, fast: bool, published: tuple[float, float]) -> None:
    low, _, high = channel_programs(bits, 0.0, fast=fast).time_per_mb
    assert all(low < value / 1e3 < high for value in published)
    assert high / low < 1.25


@pytest.mark.parametrize(("bits", "published"), [(31, (0.585, 0.575)), (64, (0.372, 0.324))])
def test_the_interval_of_the_saving_holds_the_reductions(bits: int, published: tuple[float, float]) -> None:
    answer = channel_programs(bits, 0.0)
    low, _, high = answer.saving
    assert all(low < value < high for value in published)
    assert answer.measured_savings[bits] == pytest.approx(published, abs=0.0006)


def test_the_mix_moves_only_the_ranges_and_the_text_says_why() -> None:
    """Half of the runs wrote only, half read as much as they wrote: least is known of what only reads."""
    found = [channel_programs(64, share).time_per_mb for share in (0.25, 0.7, 1.0)]
    assert len({each.value for each in found}) == 1
    widths = [each.high - each.low for each in found]
    assert widths == sorted(widths) and widths[-1] > 1.05 * widths[0]
    assert "Reading is assumed to cost the same as writing" in channel_programs(64, 0.7).text()


@pytest.mark.parametrize("rate", [0.0, -1.0, float("inf"), float("nan")])
def test_a_data_rate_outside_its_domain_is_refused(rate: float) -> None:
    with pytest.raises(InputError, match="data_rate"):
        channel_programs(64, 0.5, data_rate=rate)


def test_the_command_and_the_model_agree() -> None:
    asked = predict(read_model("channel-program"), {"bits": "64", "translation": "slow"}).values
    answered = channel_programs(64, 0.0, fast=False)
    assert [*answered.time_per_mb] == [*asked["cp"][0]]
    assert [*answered.saving] == [*asked["saving"][0]]
