"""Open pools in which devices pause before what waited: service and gap together vary less than service alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from planner.queueing.pools.field.elements import Elements
from planner.queueing.pools.field.given_total import ratio
from planner.queueing.pools.outcome import Outcome
from planner.results import Array

DEPTH: Final = 5.4
"""How fast a deeper queue makes the pool behave like one server; fitted to simulated open pools."""


def with_gap_wait(elements: Elements, outcome: Outcome) -> Outcome:
    """Wait of the two-moment law in pools of open classes alone.

    A gap g before a share f of the I/Os adds ``f g`` to the mean, ``2 f (g + g^2)`` to the second moment. The wait is
    that of exponential service times ``(1 + C2) / ((1 - C2) / w + 2 C2)`` (Kimura 1986): w is the ratio for constant
    service, 1/2 for one server, nearer to 1 where aliases are many and the queue is short.
    """
    opened = (~elements.closed | (elements.volumes <= 0.0)).all(axis=-1) & ~elements.independent
    opened &= (elements.redrive_time > 0.0) | (elements.alias_redrive_time > 0.0)
    if not opened.any():
        return outcome

    def whole(values: Array) -> Array:
        return np.asarray(np.where(elements.volumes > 0.0, elements.volumes * values, 0.0).sum(axis=-1))

    every = whole(outcome.throughput)
    service = ratio(whole(outcome.throughput * elements.service), every, 1.0)
    mean, square = np.ones_like(every), np.full_like(every, 2.0)
    for gap, pickups in (
        (elements.redrive_time / service, outcome.base_pickups),
        (elements.alias_redrive_time / service, outcome.alias_pickups),
    ):
        share = ratio(whole(pickups), every)
        mean, square = mean + share * gap, square + 2.0 * share * gap * (1.0 + gap)
    scv = square / mean**2 - 1.0
    depth = ratio(whole(outcome.queue), whole(outcome.fails * elements.service))
    one = elements.aliases + 1.0
    constant = 0.5 + 0.5 * elements.aliases / one / (1.0 + DEPTH * np.sqrt(np.maximum(depth, 0.0)))
    factor = np.where(opened, (1.0 + scv) / ((1.0 - scv) / constant + 2.0 * scv), 1.0)[:, None]
    in_gap = outcome.in_gap(elements)
    return replace(outcome, queue=factor * (outcome.queue + in_gap) - in_gap)
