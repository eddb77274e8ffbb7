"""How a device kind declares its parameters: once, for model files, fit bounds, options and documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.errors import InputError, ReportError

if TYPE_CHECKING:
    from planner.library import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a device kind.

    `key` names it, `unit` is SI (its model-file key is ``key_unit``, bare where the unit is empty), `low` and
    `high` bound a fit, `default` is used where nothing is known; `zero` says whether it can be set to 0.
    """

    key: str
    symbol: str
    unit: str
    low: float
    high: float
    default: float
    meaning: str
    zero: bool = True

    @property
    def file_key(self) -> str:
        """Key in a model file: name with its unit as a suffix."""
        return f"{self.key}_{self.unit}" if self.unit else self.key


SERVICE_TIME = Parameter(
    key="service_time", symbol="S0", unit="s", low=1e-6, high=10.0, default=1e-3,
    meaning="mean service time of an I/O that is alone on its volume", zero=False,
)  # fmt: skip
INFLATION = Parameter(
    key="inflation", symbol="i", unit="", low=1e-4, high=2.0, default=0.12,
    meaning="relative growth of the service time with each further I/O in service on the same volume",
)  # fmt: skip
REDRIVE_TIME = Parameter(
    key="redrive_time", symbol="g", unit="s", low=1e-8, high=1.0, default=6e-5,
    meaning="gap between two I/Os of a device that has the next one waiting; counts neither as service nor queue",
)  # fmt: skip
THINK_TIME = Parameter(
    key="think_time", symbol="Z", unit="s", low=1e-8, high=1e3, default=1.5e-4,
    meaning="mean time a requester takes from the end of an I/O to its next I/O",
)  # fmt: skip
POPULATION = Parameter(
    key="population", symbol="N", unit="", low=1, high=1000, default=3,
    meaning="requesters of one volume, each with at most one I/O outstanding",
)  # fmt: skip
VOLUMES = Parameter(
    key="volumes", symbol="B", unit="", low=1, high=256, default=8, meaning="volumes that share the aliases",
)  # fmt: skip


def values(model: Model, kind: str, wanted: Sequence[Parameter]) -> dict[str, float]:
    """Take the values of a kind's parameters from a model.

    Parameters
    ----------
    model : planner.library.Model
        A model.
    kind : str
        Device kind that the model has to be of.
    wanted : sequence of Parameter
        Parameters of the kind. One that the model does not have stands for what was not measured.

    Returns
    -------
    dict
        Value in SI units by `key`, of those that the model has.

    Raises
    ------
    InputError
        The model is of another kind, or holds a value outside the bounds of its parameter.
    """
    if model.kind != kind:
        raise InputError("model", model.title, f"a model of kind {kind}, not {model.kind}")
    found = {p.key: model.parameters[p.file_key].value for p in wanted if p.file_key in model.parameters}
    for parameter in wanted:
        value = found.get(parameter.key, parameter.default)
        if not parameter.low <= value <= parameter.high:
            raise InputError(
                parameter.file_key, value, f"{parameter.low:g} to {parameter.high:g}", parameter.unit
            )
    return found


def complete(
    model: Model, kind: str, wanted: Sequence[Parameter], optional: Sequence[Parameter] = ()
) -> dict[str, float]:
    """Take the values as `values` does, and refuse a model that lacks one which is not `optional`."""
    found = values(model, kind, wanted)
    for parameter in wanted:
        if parameter.key not in found and parameter not in optional:
            raise ReportError(model.title, f"expected `parameters.{parameter.file_key}`")
    return found
