"""The worst of an hour of simulated minutes against the truth: `python -m tests.demand.minutes SEED [VOLUMES]`.

Each minute is a row, its queue sampled every two seconds; the truth is of a long run. `--apart` takes the worst of the
minutes as they are, without joining them; `--minutes=N` takes so many instead of 60.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from planner.demand import DeviceModel
from planner.measurements import Run, choose, intervals, volume_runs
from planner.measurements.read import read
from planner.reports.any_listing import SAMPLED_EVERY
from planner.sizing.need import need, worst_by_need
from tests.demand.accuracy import MODEL_ERROR, Found, say
from tests.demand.volumes import Case, cases

BEGIN = datetime(2026, 3, 2, 8)
HEADER = "volume,start,interval_s,io_rate,service_ms,queued,queue_samples,aliases"
SECONDS = 60


def table(drawn: list[Case], minutes: int) -> str:
    """Rows of each volume, a minute each."""
    lines = [HEADER]
    for k, case in enumerate(drawn):
        volume = case.volume
        for minute in range(minutes):
            later = replace(volume, seed=volume.seed + 1000 * minute)
            rate, service, queued, _ = later.sampled(case.aliases, SECONDS, SAMPLED_EVERY)
            start = BEGIN + timedelta(minutes=minute)
            numbers = (
                f"{rate:.1f},{service * 1e3:.3f},{queued:.3f},{SECONDS / SAMPLED_EVERY:.0f},{case.aliases}"
            )
            lines.append(f"V{k:04d},{start.isoformat()},{SECONDS},{numbers}")
    return "\n".join(lines) + "\n"


def worst(drawn: list[Case], minutes: int) -> Found:
    """Count and range of the interval of each volume that needs most."""
    runs: dict[str, list[Run]] = defaultdict(list)
    for rows in intervals(read(table(drawn, minutes).encode())):
        for run in volume_runs(rows):
            runs[run.name].append(run)
    ends = np.full((3, len(drawn)), np.nan)
    for k, case in enumerate(drawn):
        device_model = DeviceModel(
            inflation=case.volume.inflation, redrive_time=case.volume.gap, model_error=MODEL_ERROR
        )
        several = [(run,) for run in runs[f"V{k:04d}"]]
        at = worst_by_need(need(several, device_model, ranges=False), several) if several else None
        if at is not None:
            (found,) = need(several[at : at + 1], device_model)
            ends[:, k] = [np.nan if each is None else each for each in (found.count, found.low, found.high)]
    point, low, high = ends
    return Found(point=point, low=low, high=high, needed=np.array([case.needed for case in drawn]))


def main(seed: int, volumes: int = 60, minutes: int = 60) -> None:
    """Print how often the worst is right, and how far it is off on average."""
    drawn = [case for case in cases(seed, volumes) if case.row[0] * SECONDS > 200]
    found = worst(drawn, minutes)
    names = ("cases", "right", "within 25 % or one", "range holds", "too few by more", "no answer")
    say("worst of an hour", names)
    say("all", [f"{found.figures()[name]:.0f}" for name in names])
    off = (found.point + 1) / (found.needed + 1)
    say("asked over needed", ["median", "90 %", "largest"])
    say("", [f"{np.nanquantile(off, share):.2f}" for share in (0.5, 0.9, 1.0)])


if __name__ == "__main__":
    counts = [int(each) for each in sys.argv[1:] if not each.startswith("--")]
    options = dict(each[2:].partition("=")[::2] for each in sys.argv[1:] if each.startswith("--"))
    if "apart" in options:
        choose.SAMPLES = 0  # type: ignore[misc]
    main(*counts, **({"minutes": int(options["minutes"])} if "minutes" in options else {}))
