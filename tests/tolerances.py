"""Every tolerance of the tests of the queueing core, by what it is held against; relative unless told."""

from __future__ import annotations

from typing import Final

# 50-digit references: what each group promises.
EXACT: Final = (
    1e-11  # Erlang, M/M/c, M/M/c/K, M/M/c//N, inflation; times 1 / (1 - utilization) near saturation
)
EXACT_OPEN_PHASES: Final = 1e-9  # M/D/c and M/PH/c
EXACT_OPEN_PHASES_NEAR: Final = 1e-7  # ... from utilization .99
EXACT_CLOSED_PHASES: Final = 1e-10  # M/PH/c//N
LEAST_NORMAL: Final = 1e-290  # absolute: below, float64 has fewer digits

IDENTITY: Final = 1e-12  # between own formulas, times the condition number where one is stated
ROUNDING: Final = 4e-16  # absolute or relative, whichever is larger: one or two last digits

AUTO_ERROR: Final = 0.03  # M/G/c by "auto", scv up to 2, utilization .5 and more, up to 16 servers
SIMULATION_SIGMAS: Final = 4.0  # of a simulation's own standard error
