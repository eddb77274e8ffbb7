"""Alias pools: volumes with a base device each that share aliases; exact where small, a mean field at any size.

Contents, in reading order:

1. **The pool** (`pool`). B volumes, each with a base, share A aliases. An I/O is served by its base if that is idle,
   else by a free alias, else it waits at its volume. A base that ends an I/O takes the next of its own queue; an
   alias takes any waiting I/O of the pool, each equally likely. A class is closed (N requesters with think time Z) or
   open (Poisson arrivals), with its own service time. Internally, the unit of time is the mean service time of the
   volumes.
2. **Exact relations at any size.** Let D be the I/Os that no base holds. Then min(D, A) aliases are busy and (D - A)+
   I/Os wait. D rises with tries (arrivals that find their base busy) and falls as bases pick up from their own queues
   and aliases end: ``p(D+1) falls(D+1) = p(D) tries(D)``. With one service time for all, aliases end at the rate
   min(D, A).
3. **Independent volumes** (`independent`): no aliases, or one for every I/O that needs one. One volume: a chain of
   levels of the I/Os present, with a matrix-geometric tail where it is open; all pools and counts side by side.
   **Unstable pools** (`stability`): the load beyond the bases would hold A or more aliases on average.
4. **Any pool** (`field`). Given D, the volumes are assumed independent except for their sum: the distribution of one
   volume (base idle or busy, d I/Os beyond it) times that of the others at D - d. The base of a volume has its own
   balance against the pool (a tridiagonal system over D); so have its I/Os on aliases and its waiting I/Os. These give
   the flows, the distribution of D and the rates seen by one volume, and those its distribution. All pools and counts
   of a call are solved together, independently of each other.
5. **Small pools** (`lumped`), the reference for the field: a chain of the states of exchangeable volumes for closed
   pools, with gaps. The tests have another, for two to four volumes with open classes.
6. **Choice of method** (`methods`): `METHODS`, element by element. An answer that violates its own balance is refused
   (`outcome`).
"""

from planner.queueing.pools.grouping import GroupedPool, VolumeGroups, group_pools, group_volumes
from planner.queueing.pools.result import PoolSteady
from planner.queueing.pools.solve import alias_pool

__all__ = ["GroupedPool", "PoolSteady", "VolumeGroups", "alias_pool", "group_pools", "group_volumes"]
