"""What is found in daily series: steps, unlike days, month ends and seasons one by one; and levels that wander."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from planner.results import Array, ArrayFields, Flags, Integers
from planner.site.growth.model import (
    EVERY,
    FASTEST,
    HARMONICS,
    LEAST_NOISE,
    PHIS,
    PRIORS,
    WANDERINGS,
    Linear,
    SeriesState,
    Solved,
    Whitened,
    correlation,
    linear,
    log_sum,
    refine,
    settle,
    solve,
    whiten,
)

CERTAIN: Final = np.log(99.0)  # log odds from which a shift is named
LIKELY: Final = np.log(20.0)  # and from which an unlike day or a month end is
COARSE: Final = slice(2, None, 3)  # of `PHIS`, where the likeliest one is enough
SPREADS: Final = (0.002, 0.01, 0.03, 0.1)  # of the factors of busy weekdays: standard deviations
SPELLS: Final = (2, 3, 4, 6, 8, 11, 15)  # days in a row that may be unlike the others: bridge days, year ends
ROUNDS: Final = 14  # of looking for changes; twice as many where a season makes them begin anew
WANDERS: Final = 1 / 100  # odds of one; with 1/20 fewer than nine of ten trends that stopped are named


def solved_coarsely(state: SeriesState) -> list[Solved]:
    """The posterior under some of the correlations."""
    model = linear(state)
    return [solve(model, phi) for phi in PHIS[COARSE]]


def refine_coarsely(state: SeriesState, times: int) -> None:
    """Linearize anew about the likeliest estimate under some of the correlations, so many times."""
    for _ in range(times):
        refine(state, solved_coarsely(state))


def choose(state: SeriesState, name: str, values: Sequence[float]) -> None:
    """Take for one of its arrays the value of each series that the measurements are likeliest under."""
    evidence = []
    for value in values:
        setattr(state, name, np.full(len(state.values), value))
        evidence.append(log_sum(np.array([each.evidence for each in solved_coarsely(state)])))
    setattr(state, name, np.array(values)[np.argmax(np.array(evidence), axis=0)])


def of_kind(state: SeriesState, compounds: Flags) -> SeriesState:
    """The same changes on a straight line, or on one that compounds."""
    other = state.pick(np.arange(len(compounds)))
    these = np.flatnonzero(compounds != state.compounds)
    part = state.pick(these)
    part.compounds = ~part.compounds
    part.growth = np.minimum(part.growth, FASTEST)
    refine_coarsely(part, 2)
    other.put(these, part)
    return other


def search(state: SeriesState) -> None:
    """Add steps, month ends and unlike days one by one until none is certain."""
    active = np.arange(len(state.values))
    for number in range(2 * ROUNDS):
        part = state.pick(active)
        refine_coarsely(part, 2)  # as often as the other kind of line is, or that would seem likelier
        choose(part, "form", range(3))  # of noise: in proportion to load, to the level only, of one size
        other = of_kind(part, ~part.compounds)
        better = np.flatnonzero(evidence_of(other) > evidence_of(part))
        part.put(better, other.pick(better))
        changed = extend(part)
        state.put(active, part)
        active = active[changed & (state.whole_year[active] | (number + 1 < ROUNDS))]
        if active.size == 0:
            break
    choose(state, "spread", SPREADS)
    refine_coarsely(state, 3)


def extend(state: SeriesState) -> Flags:
    """Take over the likeliest further column of each series, where it is certain; returns where."""
    odds = further(state)
    changed, none = np.zeros(len(state.values), dtype=bool), state.values.shape[1]
    for k in range(len(changed)):
        chance = {name: float(each[k].max()) for name, each in odds.items()}
        chance["step"], bend = (float(log_sum(odds[kind][k])) for kind in ("step", "bend"))
        del chance["bend"]  # draws average over one
        if bend > chance["step"]:
            del chance["step"]
        # In a year, a season and a bend look alike: at the same odds of both the season must be the likelier by far.
        odds_of_bend = PRIORS["bend"].odds * odds["bend"].shape[1]
        if bend + LIKELY + np.log(PRIORS["season"].odds / odds_of_bend) > chance["season"]:
            del chance["season"]
        kind = max(chance, key=lambda name: chance[name])
        if chance[kind] < (CERTAIN if kind == "step" else LIKELY):
            continue
        pulses = int(state.pulses[k].sum())
        unlike = 0.1 * (state.there[k].sum() + pulses) - pulses
        place = np.unravel_index(int(np.argmax(odds[kind][k])), odds[kind][k].shape)
        begin = int(place[-1])
        length = SPELLS[int(place[0])] if kind == "spell" else 1
        if kind == "month":
            state.month_form[k] = begin
        elif kind == "season":  # what was found without it may have been part of it
            state.harmonics[k], state.jump[k] = HARMONICS[begin], 0.0
            state.there[k] |= state.pulses[k]
            state.steps[k], state.pulses[k] = none, False
        elif kind == "step" and state.steps[k, -1] == none:
            state.steps[k] = np.sort([*state.steps[k, :-1], begin])
        elif kind in {"pulse", "spell"} and length <= unlike:
            state.pulses[k, begin : begin + length] |= state.there[k, begin : begin + length]
            state.there[k] &= ~state.pulses[k]
        else:
            continue
        changed[k] = True
    return changed


def named_odds(state: SeriesState) -> Array:
    """Log odds of what was found, but for unlike days."""
    found = (state.steps < state.values.shape[1]).sum(axis=1) * np.log(PRIORS["step"].odds)
    found += np.where(state.month_form >= 0, np.log(PRIORS["month"].odds), 0.0)
    return np.asarray(found + np.where(state.harmonics > 0, np.log(PRIORS["season"].odds), 0.0))


def evidence_of(state: SeriesState) -> Array:
    """Log evidence of each series under what was found, with the odds of that."""
    evidence = np.array([each.evidence for each in solved_coarsely(state)])
    return np.asarray(log_sum(evidence) + named_odds(state))


def further_changes(state: SeriesState) -> Array:
    """By how much one further change in place of none, averaged over all of them, raises the log evidence."""
    model = linear(state)
    solutions = [solve(model, phi) for phi in PHIS]
    weights = [log_sum(with_further(each, steps_and_bends(model, each)), axis=1) for each in solutions]
    return log_sum(np.array(weights)) - log_sum(np.array([each.evidence for each in solutions]))


def steps_and_bends(model: Linear, solved: Solved) -> AddedColumns:
    """A step on each day, then a bend on each of `bend_days`, with the log of their odds in the gain."""
    steps, bends = step_candidates(model, solved, step_products(solved.white)), bend_candidates(model, solved)
    both = ((steps, "step"), (bends, "bend"))
    weighed = [replace(each, gain=each.gain + np.log(PRIORS[kind].odds)) for each, kind in both]
    return AddedColumns.joined(weighed, axis=1)


def with_further(solved: Solved, further: AddedColumns) -> Array:
    """Log evidence of no further column, and of each; (series, 1 + candidates)."""
    own = solved.evidence[:, None]
    return np.concatenate([own, own + further.gain], axis=1)


def wandered(state: SeriesState) -> Array:
    """Log evidence without further changes, of a level that wanders by each of `WANDERINGS`; (numbers, series)."""
    model, found = linear(replace(state, wandering=np.full(len(state.values), WANDERINGS[0]))), []
    prior = model.prior.copy()
    for phi in PHIS[COARSE]:
        white = whiten(model, phi)
        gram = white.products
        for size in WANDERINGS:
            model.prior[:, model.knots] = prior[:, model.knots] * (WANDERINGS[0] / size) ** 2
            found.append(settle(model, white, gram).evidence)
    return np.asarray(log_sum(np.array(found).reshape(-1, len(WANDERINGS), len(prior))) + named_odds(state))


def wanderers(state: SeriesState, least: float = -3.0) -> tuple[Integers, SeriesState, Array]:
    """Series that may wander, as lines that do, with the changes found or without; and their log odds against those.

    Changes and a level that wanders explain the same days, so that whole descriptions are compared, not one after the
    other. Odds below `least` are left out.
    """
    rival = state.pick(np.arange(len(state.values)))
    rival.steps[:], rival.jump[:] = rival.values.shape[1], 0.0
    refine_coarsely(rival, 2)
    found, bare = wandered(state), wandered(rival)
    changed = np.flatnonzero(log_sum(found) > log_sum(bare))
    rival.put(changed, state.pick(changed))
    bare[:, changed] = found[:, changed]
    odds = np.log(WANDERS / len(WANDERINGS))
    these = np.flatnonzero(log_sum(bare) + odds - evidence_of(state) > least)
    rival, found = rival.pick(these), bare[:, these]
    if these.size == 0:
        return these, rival, found[0]
    for _ in range(2):
        rival.wandering = np.array(WANDERINGS)[np.argmax(found, axis=0)]
        refine_coarsely(rival, 2)
        found = wandered(rival)
    rival.chance = np.exp(found - log_sum(found)).T
    steady = state.pick(these)
    for_it, against = log_sum(found) + further_changes(rival), evidence_of(steady) + further_changes(steady)
    return these, rival, odds + for_it - against


def further(state: SeriesState) -> dict[str, Array]:
    """Log odds of each kind of further column, at each day or of each form."""
    model = linear(state)
    ends = state.month_forms[None, :, :] * np.where(model.rows.there, state.noise, 0.0)[:, None, :]
    lagged = np.take_along_axis(ends, np.broadcast_to(model.rows.before[:, None, :], ends.shape), axis=2)
    found: dict[str, list[Array]] = {"base": [], "step": [], "bend": [], "pulse": [], "month": []}
    spells, coarse = [], []
    for index, phi in enumerate(PHIS):
        solved = solve(model, phi)
        own = solved.evidence[:, None]
        found["base"].append(own)
        steps = step_products(solved.white)
        found["step"].append(own + step_candidates(model, solved, steps).gain)
        found["bend"].append(own + bend_candidates(model, solved).gain)
        found["pulse"].append(own + pulse_gains(model, solved))
        rho = correlation(model.rows, phi)
        white = (ends - rho[:, None, :] * lagged) * (model.rows.there / np.sqrt(1 - rho**2))[:, None, :]
        found["month"].append(own + month_gains(state, model, solved, white))
        if index in range(*COARSE.indices(len(PHIS))):
            coarse.append(own)
            spells.append(own[:, :, None] + spell_gains(model, solved, steps))
    none = log_sum(np.array(found["base"]))
    gains = {kind: log_sum(np.array(found[kind])) - none for kind in ("step", "bend", "pulse", "month")}
    gains["spell"] = log_sum(np.array(spells)) - log_sum(np.array(coarse))[:, :, None]
    gains["season"] = season_gains(state, log_sum(np.array(coarse)))
    return {kind: gain + np.log(PRIORS[kind].odds) for kind, gain in gains.items()}


StepProducts = tuple[Array, Array, Array]  # what `step_products` gives


@dataclass(frozen=True, slots=True, eq=False)
class AddedColumns(ArrayFields):
    """One more column, at each day or of each form: how far it raises the evidence, and its coefficient."""

    gain: Array  # (series, candidates) log Bayes factor
    taken: Array  # (series, candidates, columns) what it takes from their coefficients, for each of its own
    mean: Array  # (series, candidates)
    precision: Array  # (series, candidates) over the noise variance
    rest: Array  # (series, candidates) residual sum of squares


def weigh(
    model: Linear, solved: Solved, products: Array, norm: Array, size: float | Array, *, far: bool = False
) -> AddedColumns:
    """Bayes factor of each candidate column of about a size, by its inner products with columns and response."""
    base, response = products[:, :, :-1], products[:, :, -1]
    count = model.count[:, None]
    freedom = np.maximum(count, 1)
    turned = base @ solved.covariance
    precision = np.maximum(norm - np.einsum("ijk,ijk->ij", turned, base), 1e-12)
    pull = response - np.einsum("ijk,ik->ij", base, solved.mean)
    rest0 = solved.rest[:, None]
    least = LEAST_NOISE**2 * freedom
    best = np.maximum(rest0 - pull**2 / precision, least)
    # A coefficient may lie far outside what is usual, such as a spike of a hundred times the level.
    spread = size**2 + (pull / precision) ** 2 if far else size**2
    ridge = best / freedom / spread
    rest = np.maximum(rest0 - pull**2 / (precision + ridge), least)
    gain = 0.5 * np.log(ridge / (precision + ridge)) - 0.5 * count * np.log(rest / rest0)
    return AddedColumns(gain, turned, pull / (precision + ridge), precision + ridge, rest)


def step_candidates(model: Linear, solved: Solved, steps: StepProducts) -> AddedColumns:
    """A level shift on each measured day after the first."""
    products, norm, _ = steps
    found = weigh(model, solved, products, norm, PRIORS["step"].size)
    there = model.rows.there
    return replace(found, gain=np.where(there & (model.rows.gap > 0), found.gain, -np.inf))


def bend_days(there: Flags) -> Integers:
    """Every fifth day from the first measured one of each series, whatever others began with; the last day at most."""
    first, steps = np.argmax(there, axis=1), EVERY * np.arange(-(-there.shape[1] // EVERY))
    return np.asarray(np.minimum(first[:, None] + steps, there.shape[1] - 1))


def bend_candidates(model: Linear, solved: Solved) -> AddedColumns:
    """A further slope from each of `bend_days` on that was measured: the trend less its value there, after it."""
    white, there = solved.white, model.rows.there
    (many, days), at = there.shape, bend_days(there)
    series = np.arange(many)[:, None]
    columns = np.concatenate([white.columns, white.slope_after[:, :, None]], axis=2)
    flat = (columns[:, :, [1, -1], None] * columns[:, :, None]).reshape(many * days, -1)
    place = days * series + at
    sums = np.add.reduceat(flat, place.ravel()).reshape(*at.shape, -1)  # from each bend to the next
    sums[:, :-1][at[:, :-1] == at[:, 1:]] = 0.0
    after = (np.cumsum(sums[:, ::-1], axis=1)[:, ::-1] - flat[place]).reshape(*at.shape, 2, -1)
    begin = model.years[series, at]
    # The column is that of the trend less its value on the day of the bend.
    slope = after[:, :, 0] - begin[:, :, None] * after[:, :, 1]
    products, norm = slope[:, :, :-1], slope[:, :, 1] - begin * slope[:, :, -1]
    # Not the last day in place of a later one.
    whole = np.diff(at, axis=1, prepend=at[:, :1] - EVERY) == EVERY
    variance = solved.rest / np.maximum(model.count, 1) * solved.covariance[:, 1, 1]
    growth = np.maximum(solved.mean[:, 1] ** 2 - variance, 0.0)  # all of a growth may stop
    size = np.sqrt(PRIORS["bend"].size ** 2 + growth)[:, None]
    found = weigh(model, solved, products, np.maximum(norm, 0.0), size)
    return replace(found, gain=np.where(there[series, at] & whole & (begin > 0), found.gain, -np.inf))


def step_products(white: Whitened) -> StepProducts:
    """Inner products of a step on each day with the columns and with itself, and what it has with any earlier one."""
    after = white.columns * white.step_after[:, :, None]
    beyond = np.cumsum(after[:, ::-1], axis=1)[:, ::-1] - after
    square = white.step_after**2
    beyond_square = np.cumsum(square[:, ::-1], axis=1)[:, ::-1] - square
    return (
        beyond + white.columns * white.step_start[:, :, None],
        beyond_square + white.step_start**2,
        beyond_square + white.step_after * white.step_start,
    )


def spell_gains(model: Linear, solved: Solved, steps: StepProducts) -> Array:
    """Gain of some days in a row unlike the others, from each day on; (series, lengths, days)."""
    products, norm, shared = steps
    there, days = model.rows.there, norm.shape[1]
    measured = np.where(there, np.arange(days), days - 1)
    following = np.minimum.accumulate(measured[:, ::-1], axis=1)[:, ::-1]  # measured day from each on
    gains = []
    for length in SPELLS:
        end = following[:, np.minimum(np.arange(days) + length, days - 1)]
        difference = products - products[np.arange(len(end))[:, None], end]
        own, common = np.take_along_axis(norm, end, axis=1), np.take_along_axis(shared, end, axis=1)
        apart = np.maximum(norm + own - 2 * common, 1e-12)
        gain = weigh(model, solved, difference, apart, PRIORS["spell"].size, far=True).gain
        gains.append(np.where(there & (np.arange(days) + length < days), gain, -np.inf))
    return np.stack(gains, axis=1)


def pulse_gains(model: Linear, solved: Solved) -> Array:
    """One day unlike the others."""
    white, rows = solved.white, model.rows
    following = np.zeros_like(white.columns)  # the whitened row of the next measured day, at each day
    following_weight = np.zeros_like(white.pulse_after)
    series, day = np.nonzero(rows.there & (rows.gap > 0))
    before = rows.before[series, day]
    following[series, before] = white.columns[series, day]
    following_weight[series, before] = white.pulse_after[series, day]
    products = white.columns * white.step_start[:, :, None] + following * following_weight[:, :, None]
    norm = white.step_start**2 + following_weight**2
    gain = weigh(model, solved, products, norm, PRIORS["pulse"].size, far=True).gain
    return np.where(rows.there, gain, -np.inf)


def month_gains(state: SeriesState, model: Linear, solved: Solved, white: Array, fewest: int = 3) -> Array:
    """Each form of a month end, a whitened column of `white`, that was seen at the `fewest` or more."""
    gain = weigh(
        model, solved, white @ solved.white.columns, (white**2).sum(axis=2), PRIORS["month"].size
    ).gain
    enough = (state.month_forms[None] * model.rows.there[:, None, :]).sum(axis=2) >= fewest
    return np.where(enough & (state.month_form < 0)[:, None], gain, -np.inf)


def season_gains(state: SeriesState, none: Array) -> Array:
    """Each number of harmonics above what there is, where enough was measured; (series, numbers)."""
    gains = np.full((len(none), len(HARMONICS)), -np.inf)
    sought = np.flatnonzero(state.whole_year & (state.harmonics < HARMONICS[-1]))
    if sought.size == 0:
        return gains
    part, most = state.pick(sought), HARMONICS[-1]
    model, found = linear(replace(part, harmonics=np.full(sought.size, most))), []
    for phi in PHIS[COARSE]:
        white = whiten(model, phi)
        gram = white.products
        found.append([settle(model, white, gram, 2 * (most - number)).evidence for number in HARMONICS])
    gain = log_sum(np.array(found)).T - none[sought]
    gains[sought] = np.where(part.harmonics[:, None] < HARMONICS, gain, -np.inf)
    return gains
