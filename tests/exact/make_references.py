"""Make the high-precision references beside this file: `python tests/exact/make_references.py [name ...]`.

Independent of the planner: every number comes from the definition of its model (sums over states, stationary laws
of explicitly listed chains) in 50 digits of mpmath. Inputs are written so that float64 reads them back exactly.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from mpmath import log, matrix, mp, mpf

HERE = Path(__file__).parent
DIGITS = 25
Row = list[float | int | str | mpf]
mp.dps = 50


def inverse_blocking(a: mpf, c: int) -> mpf:
    """1/B: the Poisson weights up to c over that of c, from whichever end is shorter."""
    smallest = mpf(10) ** -60
    if 2 * a > c:
        term = total = mpf(1)
        for j in range(c):
            term *= (c - j) / a
            total += term
            if term < smallest * total and (c - j) < a:
                break
        return total
    term = total = mpf(1)
    for j in range(1, c + 1):
        term *= a / j
        total += term
        if term < smallest * total and j > a:
            break
    return total * mp.factorial(c) / a**c


def delay_probability(a: mpf, c: int) -> mpf:
    """Erlang's C."""
    return c / ((c - a) * inverse_blocking(a, c) + a)


def erlang() -> Iterator[Row]:
    yield ["offered_load", "servers", "log_b", "log_c"]
    cases = [
        (c, c * u)
        for c in (1, 2, 5, 20, 64, 128, 129, 1000)
        for u in (1e-6, 0.01, 0.3, 0.7, 0.9, 0.99, 0.99999)
    ]
    cases += [(c, c * u) for c in (10_000, 100_000, 1_000_000) for u in (0.5, 0.9, 0.99, 0.999, 0.99999)]
    cases += [
        (1000, 1e-6),
        (100_000, 1000.0),
        (1_000_000, 1.0),
        (1, 5.0),
        (10, 30.0),
        (200, 205.0),
        (200, 400.0),
    ]
    cases += [
        (1_000_000, 1_004_000.0),
        (1_000_000, 1_006_000.0),
        (1_000_000, 2e6),
        (300, 301.5),
        (5000, 5400.0),
    ]
    for c, a in cases:
        b = 1 / inverse_blocking(mpf(a), c)
        yield [a, c, log(b), log(delay_probability(mpf(a), c)) if a < c else mpf(0)]


def mmc() -> Iterator[Row]:
    yield [
        "arrival_rate",
        "service_time",
        "servers",
        "wait_time",
        "wait_90",
        "wait_99999",
        "response_50",
        "response_99",
    ]
    for c in (1, 2, 3, 10, 64, 1000, 100_000, 1_000_000):
        for u in (0.2, 0.5, 0.8, 0.9, 0.99, 0.99999):
            s = 0.0013
            rate = c * u / s
            a, service = mpf(rate) * mpf(s), mpf(s)
            if a >= c:
                continue
            delay, spare = delay_probability(a, c), (c - a) / service
            row: Row = [rate, s, c, delay / spare]
            row += [max(log(delay / (1 - mpf(p))) / spare, mpf(0)) for p in (0.9, 0.99999)]
            row += [response_quantile(mpf(p), delay, spare, 1 / service) for p in (0.5, 0.99)]
            yield row


def response_quantile(p: mpf, delay: mpf, spare: mpf, rate: mpf) -> mpf:
    """Of an atom at 0 or an exponential wait, plus an exponential service: the textbook mixture."""

    def tail(t: mpf) -> mpf:
        mixed = (spare * mp.exp(-rate * t) - rate * mp.exp(-spare * t)) / (spare - rate)
        return (1 - delay) * mp.exp(-rate * t) + delay * mixed

    low, high = -log(1 - p) / rate, -log(1 - p) / rate
    while tail(high) > 1 - p:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > 1 - p else (low, middle)
    return low


def birth_death(births: Callable[[int], mpf], deaths: Callable[[int], mpf], top: int) -> list[mpf]:
    """Stationary law over 0..top."""
    law = [mpf(1)]
    for n in range(1, top + 1):
        law.append(law[-1] * births(n - 1) / deaths(n))
    total = mp.fsum(law)
    return [p / total for p in law]


def mmck() -> Iterator[Row]:
    yield [
        "arrival_rate",
        "service_time",
        "servers",
        "capacity",
        "throughput",
        "queue_length",
        "delay",
        "blocking",
    ]
    for c, k in ((1, 1), (1, 10), (2, 2), (3, 20), (10, 10), (10, 60), (50, 400), (200, 200), (200, 230)):
        for u in (0.001, 0.3, 0.9, 0.999999, 1.0, 1.000001, 1.2, 20.0):
            s = 0.25
            rate = c * u / s
            lam, mu = mpf(rate), 1 / mpf(s)
            p = birth_death(lambda n, lam=lam: lam, lambda n, mu=mu, c=c: min(n, c) * mu, k)
            admitted = mp.fsum(p[:k])
            queue = mp.fsum((n - c) * p[n] for n in range(c, k + 1))
            yield [rate, s, c, k, lam * admitted, queue, mp.fsum(p[c:k]) / admitted, p[k]]


def finite_source() -> Iterator[Row]:
    yield [
        "population", "think_time", "service_time", "servers", "inflation",
        "throughput", "in_service", "queue_length", "delay",
    ]  # fmt: skip
    for n, c in (
        (1, 1),
        (3, 1),
        (3, 2),
        (3, 5),
        (12, 4),
        (50, 8),
        (50, 49),
        (200, 16),
        (500, 1),
        (500, 100),
        (500, 499),
    ):
        for think in (1e-9, 0.01, 1.0, 7.3, 60.0, 1e6):
            for inflation in (0.0, 0.16, 1.0, 2.5):
                s, z = mpf(1.3), mpf(think)

                i = mpf(inflation)

                def death(m: int, c: int = c, s: mpf = s, i: mpf = i) -> mpf:
                    served = min(m, c)
                    return served / (s * (1 + i * (served - 1)))

                p = birth_death(lambda m, n=n, z=z: (n - m) / z, death, n)
                rate = mp.fsum(p[m] * death(m) for m in range(1, n + 1))
                busy = mp.fsum(p[m] * min(m, c) for m in range(n + 1))
                queue = mp.fsum(p[m] * max(m - c, 0) for m in range(n + 1))
                arrivals = mp.fsum(p[m] * (n - m) for m in range(n))
                delay = mp.fsum(p[m] * (n - m) for m in range(c, n)) / arrivals
                yield [n, think, 1.3, c, inflation, rate, busy, queue, delay]


def deterministic() -> Iterator[Row]:
    """M/D/c by the positive series of Spitzer, or by Crommelin's roots (Newton) where it is long; both where short."""
    yield ["load", "servers", "wait_time", "delay"]
    for c in (1, 2, 3, 5, 8, 16, 32):
        for u in (0.05, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99):
            a = c * u
            exponent = c * (u - 1 - float(log(u)))
            series = by_series(mpf(a), c, exponent) if exponent > 0.05 else None
            roots = by_roots(mpf(a), c)
            if series is not None:
                assert all(abs(x / y - 1) < mpf(10) ** -25 for x, y in zip(series, roots, strict=True)), (
                    c,
                    u,
                )
            yield [a, c, roots[0] / mpf(a), roots[1]]


def by_series(a: mpf, c: int, exponent: float) -> tuple[mpf, mpf]:
    queue = chance = mpf(0)
    for m in range(1, int(110 / exponent) + 3):
        mean, k = m * a, m * c
        weight = mp.exp(k * log(mean) - mean - mp.loggamma(k + 1))
        over = tail = mpf(0)
        term, j = weight, 0
        while term > mpf(10) ** -60 * weight:
            over += j * term
            tail += term
            j += 1
            term *= mean / (k + j)
        queue += over / m
        chance += tail / m
    return queue, -mp.expm1(-chance)


def by_roots(a: mpf, c: int) -> tuple[mpf, mpf]:
    """The cancellation at light load costs digits: work with many more."""
    with mp.workdps(110):
        roots = []
        for k in range(1, c):
            unit = mp.expjpi(mpf(2) * k / c)
            z = mpf(0)
            for _ in range(100_000):  # z = w exp(a (z - 1) / c) contracts; Newton finishes
                z = unit * mp.exp(a * (z - 1) / c)
                f = z - unit * mp.exp(a * (z - 1) / c)
                if abs(f) < 1e-3:
                    break
            for _ in range(12):
                e = unit * mp.exp(a * (z - 1) / c)
                z -= (z - e) / (1 - a / c * e)
            roots.append(z)
        queue = a / (2 * (c - a)) - a / 2 - mpf(c - 1) / 2 + mp.fsum((1 / (1 - z)).real for z in roots)
        product = mpf(1)
        for z in roots:
            product *= 1 - z
        return +queue, 1 - (c - a) / mp.re(product)


# Two-moment laws of mean 1 as (start probabilities, rates between phases, rates of leaving).
def two_moment(scv: float) -> tuple[list[mpf], dict[tuple[int, int], mpf], list[mpf]]:
    v = mpf(scv)
    if v > 1:
        p = (1 + mp.sqrt((v - 1) / (v + 1))) / 2
        return [p, 1 - p], {}, [2 * p, 2 * (1 - p)]
    k = 1
    while v < mpf(1) / k - mpf(10) ** -14:
        k += 1
    short = (k * v - mp.sqrt(max(k * (1 + v) - k * k * v, mpf(0)))) / (1 + v) if k > 1 else mpf(0)
    rate = k - short
    start = [1 - short, short] + [mpf(0)] * (k - 2) if k > 1 else [mpf(1)]
    return start, {(j, j + 1): rate for j in range(k - 1)}, [mpf(0)] * (k - 1) + [rate]


State = tuple[int, ...]


def transitions(
    state: State, waiting: int, law: tuple, gap: mpf, inflation: mpf
) -> Iterator[tuple[State, int, mpf]]:  # type: ignore[type-arg]
    """Moves other than arrivals: new phases (gap first), change of the number at the station, rate."""
    start, moves, leaves = law
    served = sum(state[1:])
    speed = 1 / (1 + inflation * max(served - 1, 0))
    into_service: list[tuple[int | None, mpf]] = [(phase + 1, share) for phase, share in enumerate(start)]

    def moved(old: int | None, new: int | None) -> State:
        counts = list(state)
        if old is not None:
            counts[old] -= 1
        if new is not None:
            counts[new] += 1
        return tuple(counts)

    for phase in range(len(start)):
        count = state[phase + 1]
        if not count:
            continue
        for (old, new), rate in moves.items():
            if old == phase:
                yield moved(phase + 1, new + 1), 0, count * rate * speed
        follow = [(None, mpf(1))] if waiting == 0 else [(0, mpf(1))] if gap else into_service
        for new, share in follow:
            if leaves[phase] and share:
                yield moved(phase + 1, new), -1, count * leaves[phase] * speed * share
    for new, share in into_service if state[0] else ():
        if share:
            yield moved(0, new), 0, state[0] / gap * share


def compositions(total: int, parts: int) -> Iterator[State]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def level_states(n: int, c: int, law: tuple, gap: mpf) -> list[State]:  # type: ignore[type-arg]
    return [s for s in compositions(min(n, c), len(law[0]) + 1) if gap or s[0] == 0]


def entered(state: State, law: tuple) -> Iterator[tuple[State, mpf]]:  # type: ignore[type-arg]
    for new, share in enumerate(law[0]):
        if share:
            counts = list(state)
            counts[new + 1] += 1
            yield tuple(counts), share


def stationary(rates: list[dict[int, mpf]]) -> list[mpf]:
    """Stationary law by the elimination of Grassmann, Taksar and Heyman: no subtraction."""
    size = len(rates)
    for n in range(size - 1, 0, -1):
        row = {j: r for j, r in rates[n].items() if j < n}
        leaving = mp.fsum(row.values())
        for i in range(n):
            into = rates[i].pop(n, None)
            if into is not None:
                rates[i][n] = share = into / leaving  # kept for the way back
                for j, r in row.items():
                    if j != i:
                        rates[i][j] = rates[i].get(j, mpf(0)) + share * r
    law = [mpf(1)]
    for n in range(1, size):
        law.append(mp.fsum(law[i] * rates[i][n] for i in range(n) if n in rates[i]))
    total = mp.fsum(law)
    return [p / total for p in law]


def closed_phases() -> Iterator[Row]:
    yield [
        "population", "think_time", "servers", "scv", "inflation", "redrive_time",
        "throughput", "in_service", "queue_length", "in_gap", "delay",
    ]  # fmt: skip
    cases = [
        (n, c, scv, 0.0, 0.0)
        for n, c in ((1, 1), (3, 2), (12, 1), (12, 2), (12, 4))
        for scv in (0.5, 0.7, 2.0, 10.0)
    ]
    cases += [(5, 2, 0.25, 0.0, 0.0), (6, 3, 0.3, 0.0, 0.0), (12, 1, 0.1, 0.0, 0.0), (4, 4, 0.25, 0.0, 0.0)]
    cases += [
        (12, 4, 1.0, 0.0, 0.05),
        (12, 4, 1.0, 0.16, 0.05),
        (5, 2, 2.0, 0.16, 0.05),
        (5, 2, 0.5, 1.5, 0.3),
    ]
    cases += [(40, 3, 1.0, 0.1, 0.5)]
    for n, c, scv, inflation, gap in cases:
        for think in (0.01, 1.0, 20.0):
            yield [
                n,
                think,
                c,
                scv,
                inflation,
                gap,
                *closed_chain(n, c, scv, mpf(inflation), mpf(gap), mpf(think)),
            ]


def closed_chain(n: int, c: int, scv: float, inflation: mpf, gap: mpf, think: mpf) -> list[mpf]:
    law = two_moment(scv)
    states = [(m, s) for m in range(n + 1) for s in level_states(m, c, law, gap)]
    number = {state: k for k, state in enumerate(states)}
    rates: list[dict[int, mpf]] = [{} for _ in states]

    def add(here: int, there: tuple[int, State], rate: mpf) -> None:
        rates[here][number[there]] = rates[here].get(number[there], mpf(0)) + rate

    ends = []
    for here, (m, phases) in enumerate(states):
        if m < n:
            after = entered(phases, law) if m < c else [(phases, mpf(1))]
            for new, share in after:
                add(here, (m + 1, new), (n - m) / think * share)
        ends.append(mpf(0))
        for new, change, rate in transitions(phases, max(m - c, 0), law, gap, inflation):
            ends[-1] += rate if change else 0
            if (m + change, new) != (m, phases):
                add(here, (m + change, new), rate)
    p = stationary(rates)
    sums = list(zip(states, p, strict=True))
    in_gap = mp.fsum(q * s[0] for (_, s), q in sums)
    busy = mp.fsum(q * sum(s[1:]) for (_, s), q in sums)
    queue = mp.fsum(q * max(m - c, 0) for (m, _), q in sums) + in_gap
    arrivals = mp.fsum(q * (n - m) for (m, _), q in sums)
    delay = mp.fsum(q * (n - m) for (m, _), q in sums if m >= c) / arrivals
    return [mp.fsum(q * e for q, e in zip(p, ends, strict=True)), busy, queue, in_gap, delay]


def open_phases() -> Iterator[Row]:
    yield ["load", "servers", "scv", "wait_time", "delay"]
    for c in (1, 2, 4, 8, 16):
        for scv in (0.25, 0.5, 0.7, 2.0, 4.0, 10.0):
            if len(two_moment(scv)[0]) > 2 and c > 4:
                continue
            for u in (0.3, 0.7, 0.9, 0.99):
                a = c * u
                yield [a, c, scv, *open_chain(mpf(a), c, scv)]


def block(rows: list[State], columns: list[State], entries: Iterator[tuple[State, State, mpf]]) -> matrix:
    r, k = ({state: number for number, state in enumerate(side)} for side in (rows, columns))
    result = mp.zeros(len(rows), len(columns))
    for old, new, rate in entries:
        result[r[old], k[new]] += rate
    return result


def open_chain(a: mpf, c: int, scv: float) -> list[mpf]:
    """Mean wait and delay probability: G by Newton-free doubling (cyclic reduction), then level by level."""
    law, none = two_moment(scv), mpf(0)
    levels = [level_states(m, c, law, none) for m in range(c + 1)]

    def local_and_down(states: list[State], below: list[State], waiting: int) -> tuple[matrix, matrix]:
        moves = [(s, *move) for s in states for move in transitions(s, waiting, law, none, none)]
        down = block(states, below, ((s, new, rate) for s, new, change, rate in moves if change))
        local = block(states, states, ((s, new, rate) for s, new, change, rate in moves if not change))
        for i in range(len(states)):
            local[i, i] -= mp.fsum(local[i, :]) + mp.fsum(down[i, :]) + a
        return local, down

    full = levels[c]
    local, down = local_and_down(full, full, 1)
    size = len(full)
    eye = mp.eye(size)
    # Cyclic reduction of down + local G + a G^2 = 0.
    low, middle, up, first = down, local, a * eye, local
    for _ in range(40):
        solved = mp.inverse(middle)
        left, right = low * solved, up * solved
        first = first - right * low
        middle = middle - left * up - right * low
        low, up = -(left * low), -(right * up)
        if mp.norm(low, 1) * mp.norm(up, 1) < mpf(10) ** -45:
            break
    ratio = -a * mp.inverse(first)
    ratios = []
    seen = ratio * down
    for m in range(c, 0, -1):
        inner, below = local_and_down(levels[m], levels[m - 1], 0)
        climb = block(
            levels[m - 1], levels[m], ((s, new, a * q) for s in levels[m - 1] for new, q in entered(s, law))
        )
        step = -climb * mp.inverse(inner + seen)
        ratios.append(step)
        seen = step * below
    laws = [matrix([[mpf(1)]])]
    for step in reversed(ratios):
        laws.append(laws[-1] * step)
    top = laws[-1]
    geometric = mp.inverse(eye - ratio)
    busy = top * geometric
    total = mp.fsum(mp.fsum(p) for p in laws[:-1]) + mp.fsum(busy)
    queue = mp.fsum(top * ratio * geometric * geometric)
    return [queue / total / a, mp.fsum(busy) / total]


REFERENCES: dict[str, Callable[[], Iterator[Row]]] = {
    "erlang": erlang,
    "mmc": mmc,
    "mmck": mmck,
    "finite_source": finite_source,
    "deterministic": deterministic,
    "closed_phases": closed_phases,
    "open_phases": open_phases,
}


def text(value: float | int | str | mpf) -> str:
    return (
        mp.nstr(value, DIGITS)
        if isinstance(value, mpf)
        else str(value)
        if isinstance(value, (int, str))
        else repr(value)
    )


def main(names: list[str]) -> None:
    for name in names or list(REFERENCES):
        with (HERE / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([text(value) for value in row] for row in REFERENCES[name]())


if __name__ == "__main__":
    main(sys.argv[1:])
