"""The alias question as users ask it: the text that they read and every number behind it."""

from __future__ import annotations

from typing import Any

import planner
from planner.demand import Target
from planner.errors import PlannerError
from planner.library import data_path

HYPERPAV = "hyperpav"
ROWS = ((755.0, 1.3, 1.84), (100.0, 1.0, 0.3), (2.1, 6.0, 0.01), (400.0, 1.0, 0.27), (755.0, 1.3, 30.0),
        (900.0, 1.1, 0.0))  # fmt: skip
MORE: tuple[dict[str, Any], ...] = (
    {}, {"in_use": 1}, {"growth": 0.3}, {"target": {"wait": 1e-4}}, {"target": {"response": 2e-3}},
    {"target": {"queued": 0.1}}, {"target": {"no_alias": 0.05}},
)  # fmt: skip
UNEQUAL = ((700.0, 0.4, 0.12), (100.0, 5.0, 0.5), (350.0, 1.2, 0.31), (20.0, 2.0, 0.0))
BURSTY = ((100.0, 1.0, 0.8), (50.0, 3.0, 1.1), (350.0, 1.2, 0.6), (20.0, 2.0, 0.3), (210.0, 0.7, 0.02))
LISTINGS = (
    ("522A-0-aliases.listing",), ("522A-1-alias.listing",), ("522A-0-aliases.listing", "522A-2-aliases.listing"),
    ("pool-0-aliases.listing",), ("pool-8-aliases.listing",), ("pool-0-aliases.listing", "pool-8-aliases.listing"),
)  # fmt: skip


def cases() -> dict[str, Any]:
    """Questions with their options."""
    found: dict[str, Any] = {}
    for k, row in enumerate(ROWS):
        for j, more in enumerate(MORE):
            if k < 2 or j in {0, 1, 1 + k}:
                found[f"alone {k} {j}"] = {"row": row, "more": more}
    for k, files in enumerate(LISTINGS):
        found[f"listings {k}"] = {"files": files, "more": {}}
    found["listings grown"] = {"files": LISTINGS[3], "more": {"growth": 0.2}}
    for name, rows in (("unequal", UNEQUAL), ("bursty", BURSTY)):
        for used in (0, 2):
            for more in ({}, {"growth": 0.3}, {"target": {"queued": 0.5}}):
                shown = " ".join(more) or "as it is"
                found[f"{name} volumes with {used}, {shown}"] = {
                    "rows": rows,
                    "used": used,
                    "pool": "P",
                    "more": more,
                }
        found[f"{name} volumes by themselves"] = {"rows": rows, "used": 0, "pool": None, "more": {}}
    found["two pools"] = {"rows": UNEQUAL, "others": BURSTY, "used": 1, "pool": "P", "more": {}}
    return found


def answer(case: dict[str, Any]) -> Any:
    """Text and numbers, or what is refused."""
    try:
        found = _asked(case)
    except PlannerError as error:
        return {"refused": str(error).splitlines()}
    return {"text": found.text().splitlines(), "numbers": found.to_dict()}


def _asked(case: dict[str, Any]) -> Any:
    more = {key: Target(**value) if key == "target" else value for key, value in case["more"].items()}
    if "row" in case:
        rate, service, queue = case["row"]
        return planner.aliases(rate=f"{rate}/s", service=f"{service}ms", queue=queue, **more)
    if "files" in case:
        return planner.aliases([data_path(HYPERPAV) / name for name in case["files"]], **more)
    parts = [("P", case["rows"], case["used"])]
    parts += [("Q", case["others"], 0)] if "others" in case else []
    lines = ["volume,io_rate,service_ms,queued" + (",pool,aliases" if case["pool"] else "")]
    for name, rows, used in parts:
        shared = f",{name},{used}" if case["pool"] else ""
        lines += [
            f"{name}{k},{rate},{service},{queue}{shared}" for k, (rate, service, queue) in enumerate(rows)
        ]
    return planner.aliases("\n".join([*lines, ""]).encode(), **more)
