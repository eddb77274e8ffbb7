"""Alias pools: volumes with a base device each that share aliases; exact where small, a mean field at any size.

What a reader needs, in this order.

1. **The pool** (`pool`). B volumes, each with a base, share A aliases. An I/O is served by its base if that is idle,
   else by a free alias, else it waits at its volume. A base that ends an I/O takes the next of its own queue; an
   alias takes any waiting I/O of the pool, each equally likely. A class is closed (N requesters that think for Z) or
   open (Poisson arrivals), with a service time of its own. Inside, the unit of time is the mean service time of the
   volumes.
2. **What is exact at any size.** Let D be the I/Os that no base holds. Then min(D, A) aliases are busy and (D - A)+
   I/Os wait. D rises with tries (arrivals that find their base busy) and falls as bases pick up from their own queues
   and aliases end: ``p(D+1) falls(D+1) = p(D) tries(D)``. With one service time for all, aliases end at the rate
   min(D, A).
3. **Where the volumes do not meet** (`independent`): no aliases, or one for every requester but the first of each
   volume. **Where no queue ends** (`stability`): the aliases that the load beyond the bases holds on average are A or
   more.
4. **Any pool** (`field`). Given D the volumes are taken as independent but for their sum: the law of one volume (base
   idle or busy, d I/Os beyond it) times the law of the others at D - d. Its base has a balance of its own against the
   pool (a tridiagonal system over D), and so have what it holds and what of it waits. Flows, the law of D and the
   rates that one volume sees follow, and the law of one volume from these. All pools and counts of a call are solved
   side by side, each by itself.
5. **Small pools** (`exact`), which the field is judged by. One chain of states of the volumes, equal ones exchangeable,
   for closed pools, with gaps; the same states up to A + 3 and a matrix-geometric tail for one open volume; and levels
   of D for two to four volumes with open classes, by block elimination up to the queue that counts.
6. **Which of them answers** (`methods`): `METHODS`, element by element. An answer that breaks its own balance is no
   answer (`outcome`).
"""

from planner.queueing.pools.grouping import GroupedPool, VolumeGroups, group_pools, group_volumes
from planner.queueing.pools.result import PoolSteady
from planner.queueing.pools.solve import alias_pool

__all__ = ["GroupedPool", "PoolSteady", "VolumeGroups", "alias_pool", "group_pools", "group_volumes"]
