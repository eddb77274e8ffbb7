"""Topic of bursty volumes: geometric batches at Poisson instants, the reading that most others lie below."""

from __future__ import annotations

from collections.abc import Mapping

import sympy
from sympy import Eq, Function, Max, Piecewise, Sum, Symbol

from planner.explain.topic import MOST, TINY, Equation, Exact, Topic
from planner.quantity import Quantity

rate = Symbol("lambda", positive=True)
service = Symbol("S", positive=True)
batch = Symbol("m", positive=True)
c = Symbol("c", positive=True, integer=True)
growth = Symbol("h", nonnegative=True)
n = Symbol("n", nonnegative=True, integer=True)
pace, weight = Function("mu"), Function("p")
instants, stay, most, ratio, over, excess, total, queue, wait = sympy.symbols("a q mu_c theta T E G L_q W")


def _rate(present: sympy.Expr) -> sympy.Expr:
    """Rate at which I/Os end with so many of them at the volume, none of them waiting."""
    return present / (service * (1 + growth * Max(present - 1, 0)))


def _equations(exact: Exact) -> tuple[Equation, ...]:
    below = (n, 0, c)
    return (
        Equation(left=instants, right=rate / batch, meaning="batches", unit="1/s"),
        Equation(left=stay, right=1 - 1 / batch, meaning="chance that one more comes with an I/O"),
        Equation(left=pace(n), right=_rate(n), meaning="rate at which n I/Os end", index=below, unit="1/s"),
        Equation(
            left=weight(n),
            right=Piecewise((1, Eq(n, 0)), (weight(n - 1) * (stay * pace(n - 1) + instants) / pace(n), True)),
            meaning="weight of n I/Os at the volume",
            index=below,
        ),
        Equation(left=most, right=_rate(c), meaning="rate with all devices busy", unit="1/s"),
        Equation(left=ratio, right=stay + instants / most, meaning="ratio of weights above c"),
        Equation(left=over, right=weight(c) * ratio / (1 - ratio), meaning="weight above c"),
        Equation(left=excess, right=over / (1 - ratio), meaning="I/Os waiting, times the weights"),
        Equation(left=total, right=Sum(weight(n), below) + over, meaning="sum of the weights"),
        Equation(left=queue, right=excess / total, meaning="queue length"),
        Equation(left=wait, right=queue / rate, meaning="wait time, by Little's law", unit="s"),
    )


def _numerical(values: Mapping[str, float]) -> dict[str, float]:
    import numpy as np

    from planner.demand import chains

    devices = int(values["servers"])
    station = chains.DeviceStation(most=devices, inflation=values["inflation"], gap=np.zeros(1))
    load = np.array([values["arrival_rate"] * values["service_time"]])
    found = chains.batches(station, load, np.array([values["batch"]]), np.ones(1))
    queued = float(found.queue[devices - 1, 0])
    return {"L_q": queued, "W": queued / values["arrival_rate"]}


BURSTS = Topic(
    name="bursts",
    title="Bursty volumes: I/Os that come in batches",
    inputs=(
        Quantity(key="arrival_rate", symbol=rate, unit="1/s", low=TINY, default="100/s", meaning="I/Os"),
        Quantity(key="service_time", symbol=service, unit="s", low=TINY, default="1ms", meaning="service of one alone"),
        Quantity(key="batch", symbol=batch, low=1, default="4", meaning="mean I/Os that come together"),
        Quantity(key="servers", symbol=c, whole=True, low=1, high=MOST, default="1", meaning="base and aliases"),
        Quantity(
            key="inflation", symbol=growth, low=0, default="0",
            meaning="growth of service with each more in service",
        ),
    ),
    equations=_equations,
    answer=wait,
    numerical=_numerical,
    assumptions=(
        "batches of geometric size come at Poisson instants; exponential service",
        "service grows linearly with the I/Os in service at the same volume; no redrive gap",
        "one row fixes the size of the batches only if the form of the bursts is known: the same wait may come of "
        "requesters active a share of the time, of phases of overload, or of groups at regular times",
    ),
    over="arrival_rate",
    beside="servers",
    source="bulk input: Kleinrock, Queueing Systems vol. 1 (1975), section 4.5; Gross and Harris (1985), section 3.1",
)  # fmt: skip
