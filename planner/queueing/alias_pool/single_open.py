"""Exact open pools of one volume: levels by the number in the system, a matrix-geometric tail above A + 1."""

from __future__ import annotations

import numpy as np

from planner.errors import ConvergenceError
from planner.queueing.alias_pool.lumped import drive_rate, layout_of
from planner.queueing.alias_pool.lumped_states import LumpedStates, lumped_states
from planner.queueing.alias_pool.outcome import Outcome
from planner.queueing.alias_pool.pool import Pool
from planner.results import Array
