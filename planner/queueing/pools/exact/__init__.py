"""Exact chains of small pools, and of single volumes.

Two chains, and one way to eliminate each (`planner.queueing._levels`, sparse sweeps beyond a hundred states), because
one for all would cost what the split saves:

* `lumped`: the states know no rate, so that every further solution of the same pool, as in a fit or a sweep of think
  times, takes a fifteenth of the first (10 ms in place of 160 ms for four volumes with gaps).
* `open_chain`: an open volume has no last state. The levels are added until the tail is negligible, and it does not
  matter whose I/O an alias serves, which leaves far fewer states than `lumped` would have.
"""
