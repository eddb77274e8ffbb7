"""From supply counters to verdicts: the load behind them, the fewest aliases that carry it, what to say of a pool."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from planner import render
from planner.answer import Answer, record, tabled
from planner.demand import DeviceModel
from planner.errors import InputError
from planner.measurements import Run
from planner.measurements.choose import SAME_LENGTH
from planner.quantity import column
from planner.render.text import counted, listed, sentence_case, word
from planner.reports.supply import PoolSupply
from planner.results import Array
from planner.supply.fit import (
    FEWEST_FAILS,
    NORMAL_95,
    Fitted,
    FittedVolumes,
    Observed,
    fit,
    fit_volumes,
    observe,
    observe_alone,
    since_change,
)
from planner.units import MOST_ALIASES, percent, readable

NO_ALIAS: Final = 0.01  # share of tries that may find none free, where nothing is said
ENOUGH, NOT_ENOUGH, TOO_MANY = "enough", "not enough", "too many"
# In simulated pools with bursts (striped, page writes, batches) with .6 of their need: up to 1.5 times as many to add.
MORE_NEEDED = 1.5
# With on-off volumes down to .4 times as many to add; of those to spare up to a quarter were needed.
FEWER_NEEDED, SPARED = 0.4, 0.25

BLIND: Final = 0.9  # share of fails above which the counters hardly show how many are missing

TOO_FEW: Final = MOST_ALIASES + 1  # stands for more aliases than there are addresses for


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolAnswer:
    """What the counters of one pool say.

    * `supply`: the counters.
    * `verdict`: "enough", "not enough" or "too many"; None where there is no interval to judge by.
    * `fail_fraction`, `fail_low` and `fail_high`: share of tries that failed, with its 95 % interval by chance alone.
    * `tries` and `fails`: counted with the aliases in use.
    * `tries_rate`: tries a second.
    * `aliases`: aliases in use.
    * `aliases_needed`: fewest with which the share of fails is at most the target; None where more than a control unit
      can have, or no interval to judge by.
    * `needed_low` and `needed_high`: the same at the edge of what the counters allow, 95 %.
    * `unused`: aliases that could be taken away without a single fail: one less than the fewest free that a try found.
    * `load`: aliases busy on average if there were any number of them, from the fit [erlang].
    * `holding_time`: mean time that an alias is held, from the fit [s].
    * `peakedness`: variance over mean of the busy aliases if there were any number of them.
    * `notes`: what the user should know.
    """

    supply: PoolSupply
    verdict: str | None
    fail_fraction: float
    fail_low: float
    fail_high: float
    tries: int
    fails: int
    tries_rate: float
    aliases: int
    aliases_needed: int | None
    needed_low: int | None
    needed_high: int | None
    unused: int
    load: float | None
    holding_time: float | None
    peakedness: float | None
    notes: tuple[str, ...]

    @property
    def pool(self) -> str:
        """Name of the pool."""
        return self.supply.pool

    @property
    def removable(self) -> int:
        """Aliases that could be taken away with the target still met; 0 where there are none too many."""
        return max(self.aliases - self.aliases_needed, 0) if self.aliases_needed is not None else 0


FIGURES: Final = (
    *map(column, ("pool", "verdict", "fail_fraction")),
    column("fail_fraction_range", of=lambda pool: [pool.fail_low, pool.fail_high]),
    *map(column, ("aliases", "aliases_needed")),
    column("aliases_needed_range", of=lambda p: None if p.needed_low is None else [p.needed_low, p.needed_high]),
    column("removable"), column("removable_without_fails", of="unused"),
    *map(column, ("tries", "fails", "tries_rate", "load")), column("holding_time", "ms", of="holding_time"),
    *map(column, ("peakedness", "notes")),
)  # fmt: skip
COLUMNS: Final = (
    column("pool", "", "pool"), column("verdict", "", "verdict"), column("aliases", "", "aliases", 0),
    column("aliases_needed", "", "needed", 0), column("needed_low", "", "from", 0),
    column("needed_high", "", "to", 0), column("removable", "", "removable", 0),
    column("removable_without_fails", "", "unused", 0, lambda pool: pool.unused),
    column("tries_rate", "1/s", "tries"), column("fail_fraction", "share", "failed"),
    column("fail_low", "share", "from"), column("fail_high", "share", "to"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SupplyAnswer(Answer):
    """Verdicts on several pools: `pools`, and `no_alias`, the largest share of tries that may fail."""

    PICTURE: ClassVar[str] = "planner.supply.picture:draw"

    COLUMNS: ClassVar = COLUMNS
    ROWS: ClassVar = "pools"

    pools: tuple[PoolAnswer, ...]
    no_alias: float

    def plain_figures(self) -> dict[str, Any]:
        """Figures of each pool."""
        return {"no_alias": self.no_alias, "pools": [record(pool, FIGURES) for pool in self.pools]}

    @property
    def headline(self) -> str:
        """How many pools have enough, too few, too many, and what that is in aliases."""
        count = {
            verdict: [p for p in self.pools if p.verdict == verdict]
            for verdict in (NOT_ENOUGH, TOO_MANY, ENOUGH)
        }
        parts = []
        if short := count[NOT_ENOUGH]:
            missing = [None if p.aliases_needed is None else p.aliases_needed - p.aliases for p in short]
            more = "" if None in missing else f" ({sum(n or 0 for n in missing)} to add)"
            parts.append(f"short of aliases: {_named(short)}{more}")
        if many := count[TOO_MANY]:
            parts.append(f"to spare: {_named(many)} ({sum(p.removable for p in many)} can be freed)")
        if fine := count[ENOUGH]:
            parts.append(f"enough: {_named(fine)}")
        if unknown := [p for p in self.pools if p.verdict is None]:
            parts.append(f"no interval to judge {_named(unknown)} by")
        text = "; ".join(parts)
        return f"{sentence_case(text)}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What to do in each pool."""
        return tuple(
            f"Pool {pool.pool}: {words}"
            for pool in self.pools
            for words in filter(None, (_advice(pool, self.no_alias), *pool.notes))
        )

    def sections(self) -> tuple[render.Section, ...]:
        """One row a pool."""
        caption = (
            f"needed: fewest aliases with which at most {percent(self.no_alias)} of the tries find none free, and "
            "the range of what the counters allow. unused: could have been taken away without a single fail."
        )
        first, _, *others = COLUMNS
        worded = column("verdict", "", "verdict", of=lambda pool: word(pool.verdict))
        return (render.Section(table=tabled(self.pools, (first, worded, *others)), caption=caption),)


def _named(pools: Sequence[PoolAnswer]) -> str:
    return f"pool{'' if len(pools) == 1 else 's'} {listed([pool.pool for pool in pools], 8)}"


def _advice(pool: PoolAnswer, no_alias: float) -> str:
    """What to do, in a sentence; empty where there is no interval to judge by."""
    if pool.verdict is None:
        return ""
    target = percent(no_alias)
    if pool.verdict == NOT_ENOUGH:
        if pool.aliases_needed is None:
            return f"short; no count up to {MOST_ALIASES} brings the fails under {target}."
        return f"short; {pool.aliases_needed - pool.aliases} more would bring the fails under {target}."
    if pool.verdict == TOO_MANY:
        surely = pool.aliases - (pool.aliases if pool.needed_high is None else pool.needed_high)
        of_range = f", {surely} if the upper end of the range is right" if surely < pool.removable else ""
        sure = "all" if pool.unused >= pool.removable else pool.unused or "none"
        return f"spare; {pool.removable} can be freed{of_range}, {sure} of them without a single fail."
    return "enough."


def judge(
    pools: Sequence[PoolSupply],
    *,
    no_alias: float = NO_ALIAS,
    volumes: Mapping[str, Run] | None = None,
    device_model: DeviceModel | None = None,
) -> SupplyAnswer:
    """Whether each pool has enough aliases.

    Not enough: more tries failed than allowed. Too many: a tenth fewer aliases, two at least, would do. Else enough.

    Parameters
    ----------
    pools : sequence of PoolSupply
        What `planner.measurements.over_time.read_supplies` returns.
    no_alias : float, optional
        Largest share of tries that may find no alias free, above 0 and below 1.
    volumes : mapping of str to Run, optional
        What the volumes of a pool did at the time, by its name in `pools`: the aliases needed then come from the model
        of the whole pool instead of that of the alias group alone.
    device_model : DeviceModel, optional
        Inflation and redrive gap, needed with `volumes`.

    Returns
    -------
    SupplyAnswer
        In the same order.

    Raises
    ------
    InputError
        A target outside its domain, no pools, volumes without a model, or volumes with another number of aliases.
    ConvergenceError
        A pool of known volumes could not be solved.
    """
    if not 0.0 < no_alias < 1.0:
        raise InputError("no_alias", no_alias, "a share above 0 and below 1")
    if not pools or isinstance(pools, Path | str):
        raise InputError("pools", pools or [], "at least one pool, as `read_supplies` of a file returns it")
    known = volumes or {}
    if known and device_model is None:
        raise InputError("device_model", None, "the model of the volumes")
    answers = []
    for pool in pools:
        run = known.get(pool.pool)
        if run is not None and run.aliases != pool.in_use:
            raise InputError(
                "volumes", run.aliases, f"{pool.in_use} aliases in pool {pool.pool}, as the counters say"
            )
        answers.append(_judge(pool, no_alias, run, device_model))
    return SupplyAnswer(pools=tuple(answers), no_alias=no_alias)


def _judge(
    supply: PoolSupply, no_alias: float, run: Run | None, device_model: DeviceModel | None
) -> PoolAnswer:
    observed, alone = observe(supply), observe_alone(supply)
    fitted = fit(alone or observed)
    whole = None
    if run is not None and device_model is not None:
        whole = fit_volumes(run, device_model, alone or observed)
    needed = without = _needed(alone or observed, whole or fitted, no_alias)
    if alone:
        needed = _with_borrowed(observed, without, no_alias)
    verdict = _verdict(observed, needed, no_alias, known=supply.time.size > 0)
    low, high = _interval(observed, fitted)
    count, least, most = (None if verdict is None or end >= TOO_FEW else int(end) for end in needed)
    known_fit = fitted if fitted and fitted.determined else None
    return PoolAnswer(
        supply=supply,
        verdict=verdict,
        fail_fraction=observed.fail_fraction,
        fail_low=low,
        fail_high=high,
        tries=observed.tries,
        fails=observed.fails,
        tries_rate=observed.tries / observed.seconds if observed.seconds > 0 else 0.0,
        aliases=supply.in_use,
        aliases_needed=count,
        needed_low=least,
        needed_high=most,
        unused=observed.never_busy,
        load=known_fit.load if known_fit else None,
        holding_time=known_fit.load * observed.length / observed.mean_tries if known_fit else None,
        peakedness=known_fit.peakedness if known_fit else None,
        notes=(
            *_notes(supply, observed, alone or observed, fitted),
            *_shared_notes(supply, alone, without),
            *_volume_notes(run, whole),
            *supply.notes,
        ),
    )


def _needed(observed: Observed, fitted: Fitted | FittedVolumes | None, no_alias: float) -> Array:
    """Fewest aliases that meet the target, and its range; what was measured with those in use bounds all three."""
    enough = observed.fail_fraction <= no_alias
    if observed.tries == 0:
        return np.zeros(3)
    some = min(1, observed.aliases)  # with none every try fails
    least, most = (some, observed.aliases) if enough else (observed.aliases + 1, TOO_FEW)
    if enough and observed.served:  # what others served would have waited, and made others fail
        most = TOO_FEW
    if fitted is None:  # no interval of the usual length: only what was counted
        return np.array([most, least, most])
    fails = fitted.fail_fractions(MOST_ALIASES)
    if observed.fails >= FEWEST_FAILS:
        fails = _through(fails, observed)
    counts = np.where((fails <= no_alias).any(axis=1), np.argmax(fails <= no_alias, axis=1), TOO_FEW)
    ends = [counts.min(), counts.max()]
    if isinstance(fitted, Fitted) and fitted.peakedness > 1.0:
        # bursts: the farther from what was counted, the wider; of many to spare never all
        off = counts[0] - observed.aliases
        if off <= 0:
            ends[0] = min(ends[0], counts[0] ** 2 // max(observed.aliases, 1))
            ends[1] = max(ends[1], counts[0] + np.ceil(SPARED * -off))
        else:
            ends[0] = min(ends[0], observed.aliases + np.ceil(FEWER_NEEDED * off))
            ends[1] = max(ends[1], counts[0] + np.ceil(MORE_NEEDED * off))
    return np.asarray(np.clip([counts[0], *ends], least, most))


def _with_borrowed(observed: Observed, alone: Array, no_alias: float) -> Array:
    """Fewest aliases that meet the target while others lend as they did, from those that would do alone.

    These do, unless others borrow them. Fewer may, but nothing that was counted shows how many would be lent then.
    """
    if observed.fail_fraction <= no_alias:
        return np.asarray(np.minimum(alone, observed.aliases))
    return np.asarray(np.minimum(alone, [*_needed(observed, fit(observed), no_alias)[:2], TOO_FEW]))


def _through(fails: Array, observed: Observed) -> Array:
    """Shares of fails whose odds are scaled to those counted: every try fails with 0 aliases, as it must."""
    counted = observed.fails / max(observed.tries - observed.fails, 1)
    modeled = observed.counted_share(fails[:, [observed.aliases, min(observed.aliases + 1, MOST_ALIASES)]])
    modeled = np.clip(modeled[:, None], 1e-300, 1.0 - 1e-12)
    scaled = fails * (1.0 - modeled) * counted
    return scaled / (scaled + (1.0 - fails) * modeled)


def _verdict(observed: Observed, needed: Array, no_alias: float, *, known: bool) -> str | None:
    if not known or (observed.tries == 0 and observed.level_intervals.sum() == 0):
        return None
    if observed.fail_fraction > no_alias:
        return NOT_ENOUGH
    surplus = max(2, math.ceil(0.1 * observed.aliases))
    return TOO_MANY if observed.aliases - surplus >= needed[0] else ENOUGH


def _interval(observed: Observed, fitted: Fitted | None) -> tuple[float, float]:
    """Wilson's interval (1927) of the share of fails, with as many independent tries as its variance says there are."""
    if observed.tries == 0:
        return 0.0, 1.0
    share = observed.fail_fraction
    if observed.fails and math.isfinite(observed.fail_error) and 0 < share < 1 and observed.fail_error > 0:
        count = (1.0 - share) / (share * observed.fail_error**2)
    else:
        count = observed.tries / (fitted.fails_dispersion(observed.aliases) if fitted else 1.0)
    z = NORMAL_95**2 / min(count, float(observed.tries))
    middle = (share + z / 2) / (1 + z)
    half = math.sqrt(z * share * (1 - share) + z**2 / 4) / (1 + z)
    # The share lies between them, but for rounding.
    return min(max(middle - half, 0.0), share), max(min(middle + half, 1.0), share)


def _notes(supply: PoolSupply, observed: Observed, own: Observed, fitted: Fitted | None) -> Iterator[str]:
    """What was left out and what the counters cannot tell; `own` without what was borrowed."""
    if supply.time.size == 0:
        yield "one record only; two are needed to see what it counts."
        return
    if observed.tries == 0:
        yield "no alias was asked for."
    now = since_change(supply)
    if other := int((~now).sum()):
        yield f"{other} of {supply.time.size} intervals, up to the last change of aliases, are left out."
    if restarts := int(supply.restarted.sum()):
        yield f"the counters started again {counted(restarts, 'time')}; what they lost is unknown."
    apart = np.diff(supply.time) - supply.length[1:]
    if (lost := apart > SAME_LENGTH * supply.length[1:]).any():
        found = f"{counted(int(lost.sum()), 'gap')}, {readable(float(apart[lost].sum()))} s in all"
        yield f"nothing counted in {found} (counters of a file start with its first record)."
    if gaps := int((now & ~supply.plain & ~supply.restarted).sum()):
        yield f"{counted(gaps, 'interval')} of another length than usual counted in the share of fails only."
    mark = "MINCT" if supply.marked else "the fewest free"
    if own.last_taken:
        yield (
            f"in {counted(own.last_taken, 'interval')} {mark} is 0 without a fail: a try took the last alias."
        )
    if own.contradicting:
        yield (
            f"in {counted(own.contradicting, 'interval')} {mark} is above 0 with a fail; their water marks are "
            "left out."
        )
    if observed.fail_fraction > BLIND:
        yield "nearly every try failed: how many aliases are missing is a guess; measure again with more."
    elif observed.tries and fitted is None:
        yield "no interval of the usual length; aliases needed cannot be estimated."
    elif fitted and not fitted.determined:
        yield "the counters do not tell how long an alias is held."


def _shared_notes(supply: PoolSupply, alone: Observed | None, without: Array) -> Iterator[str]:
    """What SuperPAV did: aliases that a pool borrowed, and how many it would need alone; those that it lent."""
    if alone:
        count, low, high = (
            f"more than {MOST_ALIASES}" if end >= TOO_FEW else f"{end:.0f}" for end in without
        )
        yield (
            f"{percent(alone.served * alone.fail_fraction)} of its requests were met by aliases of other control units "
            f"(SuperPAV); with its own alone it would need {count} ({low} to {high})."
        )
    if supply.loaned is not None and (loaned := int(supply.loaned.sum())):
        yield (
            f"it lent aliases to other control units {counted(loaned, 'time')} (SuperPAV): those taken away here are "
            "missing there."
        )


def _volume_notes(run: Run | None, whole: FittedVolumes | None) -> tuple[str, ...]:
    """Which model the aliases needed come from."""
    if run is None:
        return ()
    if whole is None:
        return ("no demand of equal volumes explains the counters; the alias group alone is judged.",)
    return (f"volumes known: {whole.words}.",)
