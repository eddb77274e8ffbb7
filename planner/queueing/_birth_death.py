"""Birth and death chains of exponential stations: M/M/c and M/M/c//N with a service time that grows with concurrency.

With n requests at the station, m = min(n, c) of them in service, the total service rate is
mu(n) = m / (S (1 + inflation (m - 1))). Every sum below has positive terms only.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.queueing._levels import LARGE
from planner.queueing.checks import BLOCK
from planner.results import Array, Flags, Integers


def closed_product_form(n: Array, z: Array, s: Array, c: Array, i: Array | None, direct: int = 1000) -> Array:
    """Sums of M/M/c//N for `steady_of`, for scenarios in flat arrays; i None without inflation."""
    c = np.minimum(n, c)
    result = np.zeros((6, n.size))
    if i is None and (free := n == c).any():  # a server for every requester: no wait
        _without_queue(n, z, s, free, result)
        rest = np.flatnonzero(~free)
    else:
        rest = np.arange(n.size)
    if rest.size and n.max() <= direct:  # above, terms relative to p(c) usually leave float64
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            _direct(rest, n, z, s, c, i, result)
            rest = rest[~np.isfinite(result[0] + result[2])[rest]]
    for start in range(0, rest.size, BLOCK):
        part = rest[start : start + BLOCK]
        inflation = np.zeros(part.size) if i is None else i[part]
        result[:, part] = _any_size(n[part], z[part], s[part], c[part], inflation)
    return result


def _without_queue(n: Array, z: Array, s: Array, free: Flags, result: Array) -> None:
    cycle = np.where(free, z + s, 1.0)
    np.divide(n, cycle, out=result[0])
    np.multiply(result[0], s, out=result[1])
    result[5] = s


def _direct(rest: Integers, n: Array, z: Array, s: Array, c: Array, i: Array | None, result: Array) -> None:
    """Fill in the sums from terms relative to p(c); sums outside the range of float64 are not finite."""
    load = s / z
    below, carried = np.empty_like(z), np.empty_like(z)
    for part in _by_size(c, rest):
        inflation = None if i is None else i.take(part)
        below[part], carried[part] = _below(n.take(part), load.take(part), c.take(part), inflation)
    for part in _by_size(n - c, rest):
        many, servers, served, r = n.take(part), c.take(part), s.take(part), load.take(part)
        service_rate = servers if i is None else servers / (1 + i.take(part) * (servers - 1))
        fewer, few_busy = below.take(part), carried.take(part)
        upper, waiting, above = _above(many - servers, service_rate / r)
        busy = few_busy + servers * upper
        rate = busy if i is None else r * (many * fewer - few_busy) + service_rate * above
        total = upper + fewer
        throughput = rate / (total * served)
        result[0][part] = throughput
        result[1][part] = busy / total
        result[2][part] = waiting / total
        result[4][part] = service_rate * above / rate
        result[5][part] = served if i is None else busy / (throughput * total)


def _by_size(size: Array, chosen: Integers) -> Iterator[Integers]:
    """Yield the chosen scenarios in blocks, from the largest to the smallest size (radix sort)."""
    keys = size.astype(np.uint8 if size.max() < 2**8 else np.uint16).take(chosen)
    order = chosen.take(np.argsort(keys, kind="stable")[::-1])
    for start in range(0, order.size, BLOCK):
        yield order[start : start + BLOCK]


def _ends(size: Array) -> list[int]:
    """Number of sizes that are at least k = 1, 2, ..."""
    reached = np.bincount(size.astype(np.int64))[::-1].cumsum()[::-1]
    return [int(count) for count in reached[1:]]


def _above(room: Array, load: Array) -> tuple[Array, Array, Array]:
    """Sums over n >= c of p(n)/p(c), of (n - c) p(n)/p(c), and of (N - n) p(n)/p(c) over x, load x = c Z / S.

    T(k) = 1 + k/x T(k - 1) and q(k) = k/x (T(k - 1) + q(k - 1)), k up to the waiting room N - c.
    """
    total, waiting, thinking = np.ones_like(load), np.zeros_like(load), np.zeros_like(load)
    inverse, factor = 1 / load, np.empty_like(load)
    for k, end in enumerate(_ends(room), start=1):
        f, t, q, w = factor[:end], total[:end], waiting[:end], thinking[:end]
        np.multiply(inverse[:end], k, out=f)
        q += t
        q *= f
        np.multiply(f, t, out=w)
        np.add(w, 1.0, out=t)
    return total, waiting, thinking


def _below(n: Array, load: Array, c: Array, i: Array | None) -> tuple[Array, Array]:
    """Sums over n < c of p(n)/p(c) and of n p(n)/p(c), with r = S / Z the load of one requester.

    In units that avoid division, A(n) = n A(n - 1) + g(n) with g(n) = N ... (N - n + 1) r^n; p(n)/p(c) is then
    c!/n! g(n)/g(c). Without inflation the second sum follows from the flow balance sum n p(n) = r sum (N - n) p(n).
    """
    term, total, below = np.ones_like(load), np.ones_like(load), np.empty_like(load)
    busy, busy_below, free = np.zeros_like(load), np.empty_like(load), n + 1
    for k, end in enumerate(_ends(c), start=1):
        g, a, left = term[:end], total[:end], free[:end]
        left -= 1
        g *= left
        g *= load[:end]
        if i is not None:
            g *= 1 + i[:end] * (k - 1)
            np.multiply(busy[:end], k, out=busy_below[:end])
            np.add(busy_below[:end], g * k, out=busy[:end])
        np.multiply(a, k, out=below[:end])
        np.add(below[:end], g, out=a)
    lower = below / term  # infinite where g(c) underflows, since `below` is 1 or more
    return lower, (load * n * lower - c) / (1 + load) if i is None else busy_below / term


def _service_rate(present: Array, c: Array, i: Array) -> tuple[Array, Array]:
    """Requests in service, and the service rate times S."""
    served = np.minimum(present, c)
    return served, served / (1 + i * np.maximum(served - 1, 0))


def _add(sums: Array, term: Array, n: Array, present: Array, c: Array, i: Array) -> Array:
    """Add one state to the sums of `_means` and return its service rate times S."""
    served, service_rate = _service_rate(present, c, i)
    waiting, thinking = present - served, term * (n - present)
    sums += [
        term,
        term * served,
        term * waiting,
        term * service_rate,
        thinking,
        np.where(present >= c, thinking, 0),
    ]
    return service_rate


def _means(sums: Array, n: Array, s: Array, c: Array) -> Array:
    """Means from the sums of p times 1, in service, waiting, served per S, thinking, thinking with all servers busy."""
    total, busy, queue, served, sources, delayed = sums
    # Without think time all requesters are at the station: an arrival sees N - 1 others.
    thinking = sources > 0
    delay = np.where(thinking, delayed / np.where(thinking, sources, 1), n - 1 >= c)
    return np.stack([served / total / s, busy / total, queue / total, 0 * n, delay, s * (busy / served)])


def _any_size(n: Array, z: Array, s: Array, c: Array, i: Array) -> Array:
    """Sums where the direct form leaves the range of float64 or would be long: outward from a most likely state.

    Terms start at 1 and end where they are negligible. With inflation above 1 the empty station may be a second mode;
    the minimum between the two is at least 1/inflation^2 and does not end the sums.
    """
    sums = np.zeros((6, n.size))
    load = z / s
    mode, high = np.zeros_like(n), n + 1
    while (high - mode > 1).any():  # largest m with p(m) >= p(m - 1), that is N - m + 1 >= Z mu(m)
        middle = np.floor((mode + high) / 2)
        rises = n - middle + 1 >= load * _service_rate(middle, c, i)[1]
        mode, high = np.where(rises, middle, mode), np.where(rises, high, middle)
    _add(sums, np.ones_like(n), n, mode, c, i)
    _walk(sums, mode, n, load, c, i, step=-1)
    _walk(sums, mode, n, load, c, i, step=1)
    return _means(sums, n, s, c)


def _walk(sums: Array, mode: Array, n: Array, load: Array, c: Array, i: Array, *, step: int) -> None:
    """Add the states on one side of the mode, until negligible relative to the queue (up) or the mode (down)."""
    forgotten = 1e-45  # relative to the mode: negligible even relative to few thinking requesters
    rows = np.arange(n.size)
    present, term, added = mode, np.ones_like(n), np.zeros_like(sums)
    while True:
        if step > 0:
            # terms below 1e-20 of the sum are left out
            going = (present < n) & (term > 0) & ((present <= c) | (term * n > 1e-20 * added[2]))
        else:
            going = (present > 0) & (term > forgotten)
        if not going.all():
            sums[:, rows[~going]] += added[:, ~going]
            rows, present, term, n, load, c, i = (a[going] for a in (rows, present, term, n, load, c, i))
            added = added[:, going]
            if not rows.size:
                return
        upper = present if step < 0 else present + 1
        factor = load * _service_rate(upper, c, i)[1] / (n - upper + 1)
        with np.errstate(under="ignore"):
            term = term * (factor if step < 0 else 1 / factor)
        present = present + step
        _add(added, term, n, present, c, i)


def open_with_inflation(rate: Array, s: Array, c: Array, i: Array) -> tuple[Array, Flags]:
    """M/M/c with inflation: sums for `steady_of`, and where it is stable.

    Terms from p(0) to p(c) are added up; above c they fall by lambda / mu(c) each. Saturated servers are never idle.
    """
    full = c / (s * (1 + i * (c - 1)))
    stable = rate < full
    ratio = np.where(stable, rate / full, 0.0)
    term = np.ones_like(rate)
    sums = np.zeros((2, rate.size))  # of states and of requests in service, below c
    states, busy = sums
    for n in range(int(c.max())):
        going = c > n
        states += np.where(going, term, 0)
        busy += np.where(going, term * n, 0)
        term = np.where(going, term * (rate * s) * ((1 + i * n) / (n + 1)), term)
        scale = np.where(term > LARGE, 1 / LARGE, 1.0)
        term *= scale
        sums *= scale
    total = (1 - ratio) * states + term
    delay = np.where(stable, term / total, 1.0)
    in_service = np.where(stable, ((1 - ratio) * busy + term * c) / total, c)
    throughput = np.where(stable, rate, full)
    queue = np.where(stable, delay * ratio / np.where(stable, 1 - ratio, 1), np.inf)
    return np.stack([throughput, in_service, queue, 0 * rate, delay, in_service / throughput]), stable


def saturated_with_gaps(s: Array, c: Array, i: Array, g: Array) -> tuple[Array, Array]:
    """Throughput [1/s] and requests in service of servers that are never idle: service, gap, service, and so on.

    With k servers in their gap, services end at the rate mu(c - k) and gaps at k / g.
    """
    term, sums = np.ones_like(s), np.zeros((3, s.size))
    for k in range(int(c.max()) + 1):
        served, service_rate = _service_rate(np.maximum(c - k, 0), c, i)
        sums += [term, term * served, term * service_rate / s]
        term = term * (service_rate / s) * g / (k + 1)
        scale = np.where(term > LARGE, 1 / LARGE, 1.0)
        term = term * scale
        sums *= scale
    total, busy, ends = sums
    return ends / total, busy / total
