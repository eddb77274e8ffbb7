"""An event simulation of volumes that share aliases, under steady and bursty demands; shares no code with the planner.

The unit of time is free. Every volume has a base; an I/O that finds it busy takes a free alias, else it waits at
its volume. A device that ends an I/O takes a waiting one (an alias: any one of the pool) after a redrive gap. An I/O
in service goes on at 1 / (1 + h (n - 1)) with n in service at its volume.
"""

# ruff: noqa: NPY002, PLR0912, PLR0915, PLR1714, SIM108, SIM109 - numba knows neither generators nor tuples of numbers

from __future__ import annotations

import math

import numba
import numpy as np

POISSON, CLOSED, BATCHES, ACTIVE, ON_OFF, PERIODIC, FIXED = range(7)
# A component is (kind, a, b, c, d):
# POISSON rate | CLOSED N Z | BATCHES instants/time, mean | ACTIVE N Z on off | ON_OFF rate on off | PERIODIC k period |
# FIXED instants/time, k
MOST_WAITING = 20_000


@numba.njit(cache=True)
def _work(scv: float) -> float:
    """Service of mean one: gamma up to scv 1, balanced hyperexponential above."""
    if scv == 1.0:
        return -math.log(1.0 - np.random.random())
    if scv < 1.0:
        return np.random.gamma(1.0 / scv, scv)
    p = 0.5 * (1.0 + math.sqrt((scv - 1.0) / (scv + 1.0)))
    if np.random.random() < p:
        return -math.log(1.0 - np.random.random()) / (2.0 * p)
    return -math.log(1.0 - np.random.random()) / (2.0 * (1.0 - p))


@numba.njit(cache=True)
def _exponential(mean: float) -> float:
    return -math.log(1.0 - np.random.random()) * mean


@numba.njit(cache=True)
def _arrivals(kind: float, a: float, on: int, thinking: int, b: float) -> float:
    """Rate of a component's memoryless events: arrivals or instants, as it now is."""
    if kind == POISSON or kind == BATCHES or kind == FIXED:
        return a
    if kind == CLOSED:
        return thinking / b
    if kind == ACTIVE:
        return thinking / b if on else 0.0
    if kind == ON_OFF:
        return a if on else 0.0
    return 0.0


@numba.njit(cache=True)
def simulate(components, owner, services, scv, inflation, gap, aliases, ios, seed, every=np.inf):  # type: ignore[no-untyped-def]
    """Per volume: rate, service, queue without gaps, wait with gaps; the first tenth is left out.

    The queue is the mean over time, or that of samples `every` so long.
    """
    return simulate_marks(components, owner, services, scv, inflation, gap, aliases, ios, seed, every)[0]


@numba.njit(cache=True)
def simulate_marks(components, owner, services, scv, inflation, gap, aliases, ios, seed, every=np.inf):  # type: ignore[no-untyped-def]
    """The same, and the high-water marks of aliases in use and of I/Os waiting."""
    most_used, most_waiting = 0, 0
    np.random.seed(seed)
    parts, volumes, devices = components.shape[0], services.size, services.size + aliases
    on = np.ones(parts, dtype=np.int64)
    thinking = np.zeros(parts, dtype=np.int64)
    timer = np.full(parts, np.inf)  # of phases and periods
    for k in range(parts):
        kind = components[k, 0]
        if kind == CLOSED or kind == ACTIVE:
            thinking[k] = int(components[k, 1])
        if kind == ACTIVE:
            timer[k] = _exponential(components[k, 3])
        if kind == ON_OFF:
            timer[k] = _exponential(components[k, 2])
        if kind == PERIODIC:
            timer[k] = components[k, 2] * np.random.random()
    # Devices: the volume they serve (-1 idle), what is left of the gap and of the work, component of the I/O.
    serves = np.full(devices, -1)
    left_gap, left, of = np.zeros(devices), np.zeros(devices), np.zeros(devices, dtype=np.int64)
    in_gap = np.zeros(devices, dtype=np.bool_)
    in_service = np.zeros(volumes, dtype=np.int64)
    # Waiting I/Os of every volume: component and arrival, in a ring.
    ring_of = np.zeros((volumes, MOST_WAITING), dtype=np.int64)
    head, waiting = np.zeros(volumes, dtype=np.int64), np.zeros(volumes, dtype=np.int64)
    total_waiting = 0
    queue, busy, gaps = np.zeros(volumes), np.zeros(volumes), np.zeros(volumes)
    sampled, samples, next_sample = np.zeros(volumes), 0, np.inf
    done = np.zeros(volumes)
    now, start, finished, warm = 0.0, 0.0, 0, ios // 10
    arrivals = np.zeros(64 + MOST_WAITING, dtype=np.int64)
    while finished < ios:
        # The next event: a memoryless arrival, a timer, or a device.
        rate = 0.0
        for k in range(parts):
            rate += _arrivals(components[k, 0], components[k, 1], on[k], thinking[k], components[k, 2])
        step = _exponential(1.0 / rate) if rate > 0 else np.inf
        which, what = -1, 0
        for k in range(parts):
            if timer[k] - now < step:
                step, which, what = timer[k] - now, k, 1
        for d in range(devices):
            if serves[d] >= 0:
                v = serves[d]
                if in_gap[d]:
                    due = left_gap[d]
                else:
                    due = left[d] * services[v] * (1 + inflation * (in_service[v] - 1))
                if due < step:
                    step, which, what = due, d, 2
        step = max(step, 0.0)
        # Let the time go by.
        if finished >= warm:
            for v in range(volumes):
                queue[v] += waiting[v] * step
                busy[v] += in_service[v] * step
        for d in range(devices):
            if serves[d] >= 0:
                v = serves[d]
                if in_gap[d]:
                    left_gap[d] -= step
                    if finished >= warm:
                        gaps[v] += step
                else:
                    left[d] -= step / (services[v] * (1 + inflation * (in_service[v] - 1)))
        while next_sample <= now + step:
            sampled += waiting
            samples, next_sample = samples + 1, next_sample + every
        now += step
        came = 0
        if what == 0:
            pick = np.random.random() * rate
            k = -1
            while pick >= 0 and k < parts - 1:
                k += 1
                pick -= _arrivals(components[k, 0], components[k, 1], on[k], thinking[k], components[k, 2])
            kind = components[k, 0]
            came = 1
            if kind == BATCHES and components[k, 2] > 1:
                came = 1 + int(math.log(1.0 - np.random.random()) / math.log(1.0 - 1.0 / components[k, 2]))
            if kind == FIXED:
                came = int(components[k, 2])
            if kind == CLOSED or kind == ACTIVE:
                thinking[k] -= 1
            for j in range(came):
                arrivals[j] = k
        elif what == 1:
            k = which
            kind = components[k, 0]
            if kind == PERIODIC:
                came = int(components[k, 1])
                for j in range(came):
                    arrivals[j] = k
                timer[k] = now + components[k, 2]
            else:
                on[k] = 1 - on[k]
                at = 3 if kind == ACTIVE else 2
                timer[k] = now + _exponential(components[k, at] if on[k] else components[k, at + 1])
        elif in_gap[which]:  # the gap is over, the service begins
            in_gap[which] = False
            in_service[serves[which]] += 1
        else:
            v = serves[which]
            in_service[v] -= 1
            serves[which] = -1
            if finished >= warm:
                done[v] += 1
            finished += 1
            if finished == warm:
                start = now
                if every < np.inf:
                    next_sample = now + every * np.random.random()
            k = of[which]
            if components[k, 0] == CLOSED or components[k, 0] == ACTIVE:
                thinking[k] += 1
            # Whom the device takes next: a base from its own queue, an alias from the pool's.
            source = -1
            if which < volumes:
                if waiting[which] > 0:
                    source = which
            elif total_waiting > 0:
                pick_io = int(np.random.random() * total_waiting)
                source = 0
                while pick_io >= waiting[source]:
                    pick_io -= waiting[source]
                    source += 1
            if source >= 0:
                serves[which] = source
                of[which] = ring_of[source, head[source]]
                head[source] = (head[source] + 1) % MOST_WAITING
                waiting[source] -= 1
                total_waiting -= 1
                left[which] = _work(scv)
                if gap > 0:
                    left_gap[which], in_gap[which] = _exponential(gap), True
                else:
                    in_service[source] += 1
        for j in range(came):
            k = arrivals[j]
            v = owner[k]
            free = -1
            if serves[v] < 0:
                free = v
            else:
                for d in range(volumes, devices):
                    if serves[d] < 0:
                        free = d
                        break
            if free >= 0:
                serves[free], of[free] = v, k
                left[free] = _work(scv)
                in_service[v] += 1
            else:
                if waiting[v] >= MOST_WAITING - 1:
                    return np.full((4, volumes), np.nan), 0, 0
                ring_of[v, (head[v] + waiting[v]) % MOST_WAITING] = k
                waiting[v] += 1
                total_waiting += 1
        if came > 0 and finished >= warm:
            used = 0
            for d in range(volumes, devices):
                used += serves[d] >= 0
            most_used, most_waiting = max(most_used, used), max(most_waiting, total_waiting)
    time = now - start
    result = np.zeros((4, volumes))
    for v in range(volumes):
        many = max(done[v], 1.0)
        result[0, v] = done[v] / time
        result[1, v] = busy[v] / many
        result[2, v] = sampled[v] / max(samples, 1) if every < np.inf else queue[v] / time
        result[3, v] = (queue[v] + gaps[v]) / many
    return result, most_used, most_waiting
