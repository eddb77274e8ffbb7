"""To be replaced by the batched solver."""
from types import SimpleNamespace

import numpy as np

from planner import queueing
from planner.errors import PlannerError


def alias_pool(aliases, **kw):
    kw.pop("on_failure", None)
    al = np.asarray(aliases, float)
    out = {n: [] for n in ("throughput", "queue_length", "in_gap", "service_time")}
    for k in range(al.size):
        one = {}
        for n, v in kw.items():
            v = np.asarray(v, float)
            one[n] = v[k] if v.ndim == 2 else (float(v[k]) if v.ndim == 1 else float(v))
        try:
            r = queueing.alias_pool(float(al[k]), **one)
            for n in out:
                out[n].append(getattr(r, n))
        except PlannerError:
            for n in out:
                out[n].append(np.full(1, np.nan))
    return SimpleNamespace(**{n: np.array(v) for n, v in out.items()})
