"""What a model file says of the devices: inflation, redrive gap, and how well both are known."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from planner.calibrate.error_bar import possible
from planner.devices.parameters import INFLATION, REDRIVE_TIME
from planner.errors import InputError, ReportError
from planner.library import DEFAULT_MODEL, Model, origin, read_model

KINDS_WITH_ALIASES: Final = ("volume", "pool")
NO_MODEL: Final = "none"
WITHOUT: Final = "By no model (--model none): no inflation, no gap; rates with more aliases are upper bounds."
LEAST_STEP: Final = 1e-6  # in logarithms: what is known so well needs no axis


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceModel:
    """What a model file says of the devices.

    * `inflation`: relative growth of the service time with each further I/O in service on the volume.
    * `redrive_time`: gap before a device starts an I/O that had to wait [s].
    * `model_error`: relative error of a rate where the model is asked what it was not fitted to.
    * `axes`: what else the calibration allows: steps of one standard deviation in the logarithms of inflation and gap,
      each independent of the others; empty where nothing else is known.
    * `words`: which model it is, of what devices and when they were measured, for whoever reads an answer.
    """

    inflation: float
    redrive_time: float
    model_error: float
    axes: tuple[tuple[float, float], ...] = ()
    words: str = ""

    @classmethod
    def from_model(cls, model: Model | Path | str) -> Self:
        """Take it from a model or its file."""
        if model == NO_MODEL:
            error = read_model(DEFAULT_MODEL).fit.model_error
            return cls(inflation=0.0, redrive_time=0.0, model_error=error, words=WITHOUT)
        found = model if isinstance(model, Model) else read_model(model)
        given = found.title if isinstance(model, Model) else str(model)
        if found.kind not in KINDS_WITH_ALIASES:
            raise InputError(
                "model", given, f"a model of kind {' or '.join(KINDS_WITH_ALIASES)}, not {found.kind}"
            )
        keys = [each.file_key for each in (INFLATION, REDRIVE_TIME)]
        if missing := [key for key in keys if key not in found.parameters]:
            raise ReportError(given, f"expected `parameters.{missing[0]}`")
        inflation, gap = (found.parameters[key].value for key in keys)
        return cls(
            inflation=inflation, redrive_time=gap, model_error=found.fit.model_error, axes=_axes(found),
            words=" ".join((_words(found, given), *found.fit.cautions)),
        )  # fmt: skip

    @property
    def parameters(self) -> dict[str, Any]:
        """Inflation and redrive gap, as the queueing functions take them."""
        return {"inflation": self.inflation, "redrive_time": self.redrive_time}

    def moved(self, axis: tuple[float, float], steps: float) -> Self:
        """Go along one of the `axes`."""
        inflation, gap = (math.exp(share * steps) for share in axis)
        return replace(self, inflation=self.inflation * inflation, redrive_time=self.redrive_time * gap)


def _words(model: Model, given: str) -> str:
    """Name and age of a model: where a shipped one was measured, or what the file says of itself."""
    where = origin(model)
    if where:
        own = "`planner calibrate` makes one of two of your listings"
        return f"By model {Path(given).stem} ({where}), not your subsystem: {own}."
    about = ", ".join((model.title, *model.environment.values()))
    return f"By model {Path(given).name} ({about})."


def _axes(model: Model) -> tuple[tuple[float, float], ...]:
    """Principal axes, about the estimates, of the parameter sets that `planner predict` takes its intervals of."""
    known = possible(model, 64)
    pairs = [(key, known.sets[key], known.best[key]) for key in (INFLATION.key, REDRIVE_TIME.key)]
    off = np.stack([np.log(column / best) if best > 0 else 0 * column for _, column, best in pairs])
    sizes, directions = np.linalg.eigh(off @ off.T / off.shape[1])
    steps = np.sqrt(np.maximum(sizes, 0.0)) * directions
    return tuple((float(x), float(y)) for x, y in steps.T if math.hypot(x, y) > LEAST_STEP)
