"""Exact chains of small pools, and of single volumes.

Two chains with one elimination each (`planner.queueing._levels`, sparse sweeps above a hundred states), since a single
one would lose what each saves:

* `lumped`: the states do not depend on rates, so that every further solution of the same pool, as in a fit or a sweep
  of think times, takes a fifteenth of the first (10 ms instead of 160 ms for four volumes with gaps).
* `open_chain`: an open volume has no last state. Levels are added until the tail is negligible. It does not matter
  whose I/O an alias serves, which leaves far fewer states than in `lumped`.
"""
