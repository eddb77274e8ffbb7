"""Birth and death chains of exponential stations: M/M/c and M/M/c//N with a service time that grows with concurrency.

With n requests at the station, m = min(n, c) of them in service, the total service rate is
mu(n) = m / (S (1 + inflation (m - 1))). Every sum below has positive terms only.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.results import Array

BLOCK: Final = 4096  # scenarios at a time: their vectors stay in the cache
LARGEST_DIRECT: Final = 1000  # requesters; beyond, the terms relative to p(c) leave float64 as a rule
RESCALE_ABOVE: Final = 1e200
NEGLIGIBLE: Final = 1e-19
CHECK_EVERY: Final = 64


def closed_product_form(n: Array, z: Array, s: Array, c: Array, i: Array) -> Array:
    """Sums of M/M/c//N as `Steady.from_sums` takes them, for scenarios in flat arrays."""
    c = np.minimum(n, c)
    result = np.empty((6, n.size))
    waiting_room = n - c
    size = int(waiting_room.max())
    keys = waiting_room.astype(np.uint8 if size < 2**8 else np.uint16 if size < 2**16 else np.int64)
    order = np.argsort(keys, kind="stable")[::-1]
    solve = _direct if n.max() <= LARGEST_DIRECT else _rescaled
    for start in range(0, n.size, BLOCK):
        index = order[start : start + BLOCK]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            values = solve(*(a.take(index) for a in (n, z, s, c, i)))
            lost = ~np.isfinite(values.sum(0))
        if lost.any():
            values[:, lost] = _rescaled(*(a[index[lost]] for a in (n, z, s, c, i)))
        result[:, index] = values
    return result


def _direct(n: Array, z: Array, s: Array, c: Array, i: Array) -> Array:
    """Sums relative to p(c); not finite where those leave float64. Sorted by n - c, largest first."""
    full = 1 + i * (c - 1)
    load = z / s * (c / full)  # think time in units of one completion of a busy station
    upper, waiting, delayed = _above(n - c, load)
    states, rate, busy = _below(n, c, z / s, i)
    total = upper + states
    rate += upper * (c / full)
    busy = rate if busy is None else busy + c * upper
    throughput = rate / (total * s)
    delay = np.where(n > c, load * delayed / (z / s * rate), 0.0)
    return np.stack([throughput, busy / total, waiting / total, np.zeros_like(n), delay, s * (busy / rate)])


def _above(room: Array, load: Array) -> tuple[Array, Array, Array]:
    """Sums over n >= c of p(n)/p(c), of (n - c) p(n)/p(c), and the first without its top term.

    T(k) = 1 + k/x T(k - 1) and q(k) = k/x (T(k - 1) + q(k - 1)), k up to the waiting room N - c.
    """
    total, waiting, without = np.ones_like(load), np.zeros_like(load), np.zeros_like(load)
    inverse, factor = 1 / load, np.empty_like(load)
    for k in range(1, int(room[0]) + 1):
        going = slice(0, int(np.searchsorted(-room, -k, side="right")))
        f, t, q, w = factor[going], total[going], waiting[going], without[going]
        np.multiply(inverse[going], k, out=f)
        q += t
        q *= f
        np.multiply(f, t, out=w)
        np.add(w, 1.0, out=t)
    return total, waiting, without


def _below(n: Array, c: Array, z: Array, i: Array) -> tuple[Array, Array, Array | None]:
    """Sums over n < c of p(n)/p(c), of S mu(n) p(n)/p(c), and of n p(n)/p(c) (None: as the second).

    The factor down from p(m), m = c - j, is S mu(m) z / (N - m + 1), which is zero once m is.
    """
    inflated = bool(i.any())
    term, served, sources = np.ones_like(z), c.copy(), n - c
    states, rate = np.zeros_like(z), np.zeros_like(z)
    busy = np.zeros_like(z) if inflated else None
    last = int(c.max())
    for step in range(1, last + 1):
        term *= served
        if inflated:
            term /= 1 + i * np.maximum(served - 1, 0)
        if step > 1:
            rate += term
        sources += 1
        term *= z
        term /= sources
        states += term
        served -= 1
        np.maximum(served, 0.0, out=served)
        if busy is not None:
            busy += term * served
    return states, rate, busy


def _rescaled(n: Array, z: Array, s: Array, c: Array, i: Array) -> Array:
    """Sum p(N - k) over k = 0..N with rescaling; the term is zero by itself beyond N."""
    term = np.ones_like(z)
    sums = np.zeros((6, n.size))
    total, busy, queue, rate_sum, sources, delayed = sums
    orderly = bool((i <= 1).all())  # then the factors fall with k, and so do the terms once they have begun to
    last = int(n.max())
    for k in range(last + 1):
        present = np.maximum(n - k, 0)
        served = np.minimum(present, c)
        rate = served / (1 + i * np.maximum(served - 1, 0))
        total += term
        busy += term * served
        queue += term * (present - served)
        rate_sum += term * rate
        sources += term * k
        delayed += np.where(present >= c, term * k, 0)
        factor = rate * (z / s / (k + 1))
        term = term * factor
        scale = np.where(term > RESCALE_ABOVE, 1 / RESCALE_ABOVE, 1.0)
        if scale.min() < 1:
            term *= scale
            sums *= scale
        if orderly and k % CHECK_EVERY == 0:
            rest = term * last * last
            if ((factor < 1) & (rest <= NEGLIGIBLE * total) & (rest <= NEGLIGIBLE * rate_sum)).all():
                break
    # With no think time the station holds everyone: an arrival then sees N - 1 others.
    thinking = sources > 0
    delay = np.where(thinking, delayed / np.where(thinking, sources, 1), n - 1 >= c)
    return np.stack(
        [rate_sum / total / s, busy / total, queue / total, np.zeros_like(n), delay, s * (busy / rate_sum)]
    )


def open_with_inflation(rate: Array, s: Array, c: Array, i: Array) -> tuple[Array, Array]:
    """M/M/c with inflation: sums as `Steady.from_sums` takes them, and where it is stable.

    Terms up from p(0) to p(c); beyond, they fall by lambda / mu(c) each. Saturated servers never idle.
    """
    full = c / (s * (1 + i * (c - 1)))
    stable = rate < full
    ratio = np.where(stable, rate / full, 0.0)
    term = np.ones_like(rate)
    sums = np.zeros((2, rate.size))  # states and requests in service below c
    states, busy = sums
    for n in range(int(c.max())):
        going = c > n
        states += np.where(going, term, 0)
        busy += np.where(going, term * n, 0)
        term = np.where(going, term * (rate * s) * ((1 + i * n) / (n + 1)), term)
        scale = np.where(term > RESCALE_ABOVE, 1 / RESCALE_ABOVE, 1.0)
        term *= scale
        sums *= scale
    total = (1 - ratio) * states + term
    delay = np.where(stable, term / total, 1.0)
    in_service = np.where(stable, ((1 - ratio) * busy + term * c) / total, c)
    throughput = np.where(stable, rate, full)
    queue = np.where(stable, delay * ratio / np.where(stable, 1 - ratio, 1), np.inf)
    return np.stack([throughput, in_service, queue, 0 * rate, delay, in_service / throughput]), stable


def saturated_with_gaps(s: Array, c: Array, i: Array, g: Array) -> tuple[Array, Array]:
    """Throughput [1/s] and requests in service of servers that never idle: each serves, has its gap, serves again.

    k servers are in their gap: a service ends at the rate mu(c - k), a gap at k / g.
    """
    term, total, busy, ends = np.ones_like(s), np.zeros_like(s), np.zeros_like(s), np.zeros_like(s)
    for k in range(int(c.max()) + 1):
        served = np.maximum(c - k, 0)
        rate = served / (s * (1 + i * np.maximum(served - 1, 0)))
        total += term
        busy += term * served
        ends += term * rate
        term = term * rate * g / (k + 1)
        scale = np.where(term > RESCALE_ABOVE, 1 / RESCALE_ABOVE, 1.0)
        for array in (term, total, busy, ends):
            array *= scale
    return ends / total, busy / total
