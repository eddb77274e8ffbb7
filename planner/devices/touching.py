"""Parameters of guests that touch pages and wait for those that were paged out, fitted to a run of a whole system."""

from __future__ import annotations

from typing import Final

from planner.devices.paging import PAGES_PER_TRANSFER
from planner.devices.parameters import SERVICE_TIME
from planner.quantity import Quantity

KIND: Final = "system"
TOUCH_TIME: Final = Quantity(
    key="touch_time", symbol="t", unit="s", low=1e-9, high=1.0, default=1e-6,
    meaning="processor time of a guest per page that it touches",
)  # fmt: skip
CP_CHARGED: Final = Quantity(
    key="cp_charged", symbol="u_c", unit="s", low=0, high=1.0, default=0,
    meaning="processor time of CP per page transfer that is charged to the guest",
)  # fmt: skip
CP_SYSTEM: Final = Quantity(
    key="cp_system", symbol="u_s", unit="s", low=0, high=1.0, default=0,
    meaning="processor time of CP per page transfer that is charged to the system",
)  # fmt: skip
PARAMETERS: Final = (SERVICE_TIME, PAGES_PER_TRANSFER, TOUCH_TIME, CP_CHARGED, CP_SYSTEM)
