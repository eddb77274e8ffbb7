"""Topics of bursty volumes: I/Os that arrive in batches, and volumes with simultaneous bursts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy
from sympy import (
    Eq,
    Function,
    Integer,
    Integral,
    Max,
    Piecewise,
    Rational,
    Sum,
    Symbol,
    binomial,
    erfinv,
    oo,
    sqrt,
)

from planner.errors import InputError
from planner.explain.topic import MOST, PRECISION, TINY, Equation, Exact, Topic
from planner.quantity import Quantity

rate, service, batch = sympy.symbols("lambda S m", positive=True)
c = Symbol("c", positive=True, integer=True)
growth = Symbol("h", nonnegative=True)
n = Symbol("n", nonnegative=True, integer=True)
end_rate, weight = Function("mu"), Function("p")
instants, stay, most, ratio, over, excess, total, queue, wait = sympy.symbols("a q mu_c theta T E G L_q W")


def _rate(present: sympy.Expr) -> sympy.Expr:
    """Rate at which I/Os end with `present` I/Os at the volume and none waiting."""
    return present / (service * (1 + growth * Max(present - 1, 0)))


def _stable(finite: sympy.Expr) -> sympy.Piecewise:
    """A sum over all I/Os at the volume; its weights fall above c only below saturation."""
    return Piecewise((finite, ratio < 1), (oo, True))


def _equations(exact: Exact) -> tuple[Equation, ...]:
    below = (n, 0, c)
    return (
        Equation(instants, rate / batch, "batches", "1/s"),
        Equation(stay, 1 - 1 / batch, "probability of one more I/O in the batch"),
        Equation(end_rate(n), _rate(n), "rate at which n I/Os end", "1/s", index=below),
        Equation(
            weight(n),
            Piecewise(
                (1, Eq(n, 0)), (weight(n - 1) * (stay * end_rate(n - 1) + instants) / end_rate(n), True)
            ),
            "weight of n I/Os at the volume",
            index=below,
        ),
        Equation(most, _rate(c), "rate with all devices busy", "1/s"),
        Equation(ratio, stay + instants / most, "ratio of weights above c"),
        Equation(over, _stable(weight(c) * ratio / (1 - ratio)), "weight above c"),
        Equation(excess, _stable(over / (1 - ratio)), "I/Os waiting, times the weights"),
        Equation(total, Sum(weight(n), below) + over, "sum of the weights"),
        Equation(queue, _stable(excess / total), "queue length"),
        Equation(wait, queue / rate, "wait time, by Little's law", "s"),
    )


def _numerical(values: Mapping[str, float]) -> dict[str, float]:
    from planner.demand import chains
    from planner.queueing import checks

    for key in ("arrival_rate", "service_time", "batch"):
        checks.positive(key, values[key])
    checks.nonnegative("inflation", values["inflation"])
    devices = int(values["servers"])
    station = chains.DeviceStation(most=devices, inflation=values["inflation"], gap=np.zeros(1))
    load = checks.nonnegative("offered_load", [values["arrival_rate"] * values["service_time"]], "erlang")
    with np.errstate(over="ignore", invalid="ignore"):  # weights far above saturation
        found = chains.batches(station, load, np.array([values["batch"]]), np.ones(1))
    queued = float(found.queue[devices - 1, 0])
    return {"L_q": queued, "W": queued / values["arrival_rate"]}


BURSTS = Topic(
    name="bursts",
    title="Bursty volumes: I/Os that come in batches",
    inputs=(
        Quantity("arrival_rate", "I/Os", "1/s", symbol=rate, low=TINY, default="100/s"),
        Quantity("service_time", "service time of an I/O alone", "s", symbol=service, low=TINY, default="1ms"),
        Quantity("batch", "mean I/Os of a batch", symbol=batch, low=1, default="4"),
        Quantity("servers", "base and aliases", symbol=c, whole=True, low=1, high=MOST, default="1"),
        Quantity("inflation", "growth of service with each further I/O in service", symbol=growth, low=0, default="0"),
    ),
    equations=_equations,
    answer=wait,
    numerical=_numerical,
    assumptions=(
        "Poisson arrivals of batches of geometric size; exponential service",
        "service grows linearly with the I/Os in service at the same volume; no redrive gap",
        "one row determines the batch size only if the form of the bursts is known: requesters that are active part "
        "of the time, phases of overload, or groups at regular times may cause the same wait",
    ),
    over="arrival_rate",
    beside="servers",
    source="bulk input: Kleinrock, Queueing Systems vol. 1 (1975), section 4.5; Gross and Harris (1985), section 3.1",
)  # fmt: skip


volumes, burst = sympy.symbols("V m", positive=True, integer=True)
aliases, k = sympy.symbols("A k", nonnegative=True, integer=True)
part, together, common = Symbol("q", positive=True), Symbol("r", nonnegative=True), Symbol("g", real=True)
normal, density = Function("Phi"), Function("phi")
in_use, threshold, start, slope, waiting = sympy.symbols("U z d b Q")
MOST_TOGETHER = Rational(99, 100)  # above it, the numerical code allows only 1


def _excess(chance: sympy.Expr) -> sympy.Expr:
    """Mean I/Os beyond the aliases if each volume has a burst with probability `chance`, independently."""
    ways = binomial(volumes, k) * chance**k * (1 - chance) ** (volumes - k)
    return Sum(ways * Max(burst * k - aliases, 0), (k, 0, volumes))


def _together_equations(exact: Exact) -> tuple[Equation, ...]:
    share, meaning = exact["together"], "I/Os beyond the aliases, the mean of (O - A)+"
    if MOST_TOGETHER < share < 1:
        raise InputError("together", float(share), f"0 to {float(MOST_TOGETHER):g}, or 1")
    if exact["volumes"] * exact["burst"] <= exact["aliases"]:
        return _in_steps(Equation(excess, Integer(0), "I/Os beyond the aliases: no burst goes beyond them"))
    summed = Integral(_excess(normal(start + slope * common)) * density(common), (common, -oo, oo))
    steps = {
        0: (Equation(excess, _excess(part), f"{meaning}, volumes independent"),),
        1: (Equation(excess, part * Max(volumes * burst - aliases, 0), f"{meaning}, all bursts at once"),),
    }.get(share, (
        Equation(threshold, sqrt(2) * erfinv(2 * part - 1), "quantile q of the standard normal distribution",
            digits=PRECISION),
        Equation(start, threshold / sqrt(1 - together), "threshold, scaled by a volume's own number"),
        Equation(slope, sqrt(together / (1 - together)), "weight of the common number, relative to a volume's own"),
        Equation(excess, summed, meaning, digits=10),
    ))  # fmt: skip
    return _in_steps(*steps)


def _in_steps(*steps: Equation) -> tuple[Equation, ...]:
    """Steps to the I/Os beyond the aliases, between the first and last steps that are always the same."""
    return (
        Equation(in_use, volumes * part * burst, "aliases in use if there are enough, at any r"),
        *steps,
        Equation(waiting, Rational(3, 2) * excess, "I/Os queued, about"),
    )


def _together_numerical(values: Mapping[str, float]) -> dict[str, float]:
    from planner.demand import kinds
    from planner.demand.together import beyond
    from planner.demand.unlimited import AliasUse

    count, length, share = int(values["volumes"]), int(values["burst"]), values["share"]
    usage = np.zeros((length + 1, count))
    usage[0], usage[length] = 1 - share, share
    nothing = np.zeros(count)
    use = AliasUse(volumes=count, volume=np.arange(count), kind=np.full(count, kinds.BATCHES), weight=np.ones(count),
                   usage=usage, ends=0 * usage, busy=nothing, rate=nothing, alone=nothing,
                   alone_rate=nothing)  # fmt: skip
    found = float(beyond(use, int(values["aliases"]), values["together"])[-1])
    return {"U": float(use.in_use.sum()), "E": found, "Q": 1.5 * found}


TOGETHER = Topic(
    name="together",
    title="Volumes that act together: how far their bursts come at once",
    inputs=(
        Quantity("volumes", "volumes of the pool", symbol=volumes, whole=True, low=1, high=24, default="8"),
        Quantity("burst", "aliases used by a volume in a burst", symbol=burst, whole=True, low=1, high=64,
                 default="5"),
        Quantity("share", "part of the time that a volume has a burst", symbol=part, low=1e-6, high=0.999,
                 default="0.05"),
        Quantity("aliases", "aliases of the pool", symbol=aliases, whole=True, low=0, high=1024, default="10"),
        Quantity("together", "how far bursts come together", symbol=together, low=0, high=1, default="0.3"),
    ),
    equations=_together_equations,
    answer=excess,
    numerical=_together_numerical,
    assumptions=(
        "a Gaussian copula joins the volumes: each has a burst while -sqrt(r) G + sqrt(1 - r) e is below z, with G "
        "common to all volumes and e its own, both standard normal",
        "given G, volumes are independent, each in a burst with probability Phi(d + b G); phi and Phi are the standard "
        "normal density and distribution",
        "r changes neither the figures of a single volume nor the mean of the aliases in use, only their tail",
        "r 0: independent volumes; r 1: all bursts at once; both exact, also in the numerical code",
        "in between, the numerical code integrates over G by the trapezoidal rule, within 1e-4 of the mean",
        "here a volume uses no alias or those of a burst; the planner takes the distribution from its row",
    ),
    over="together",
    beside="aliases",
    source="one common factor: Vasicek, Risk (2002); Gaussian copula: Li, Journal of Fixed Income 9 (2000)",
)  # fmt: skip
