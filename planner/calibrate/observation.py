"""What a fit compares: the printed figures of one run of a volume or a pool, each with its resolution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from planner.errors import InputError
from planner.measurements import Run

LOGARITHMIC: Final = ("io_rate", "service_time", "response_time")
ABSOLUTE: Final = ("wait_time", "queued")
FIGURES: Final = (*LOGARITHMIC, *ABSOLUTE)
CONTRADICTION: Final = 0.15  # beyond rounding: share by which rate x response may exceed the requesters


class Figure(NamedTuple):
    """A measured number: `value`, SI, and `half` of the range that its printed digits leave open."""

    value: float
    half: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One run, `name`: so many `volumes` shared so many `aliases`, and what was measured of all of them together.

    `population` is the requesters of one volume, None where it is to be estimated; `figures` are any of `FIGURES`:
    total I/O rate [1/s], mean service, response and wait time [s], total queue [I/Os].
    """

    name: str
    volumes: int
    aliases: int
    population: int | None
    figures: Mapping[str, Figure]

    def __post_init__(self) -> None:
        """Refuse a run that contradicts itself."""
        for figure, (value, _) in self.figures.items():
            if not math.isfinite(value) or value < 0 or (value == 0 and figure in LOGARITHMIC):
                raise InputError(f"{figure} of {self.name}", value, "a number above zero")
        self._check_population()

    def _check_population(self) -> None:
        """Requesters hold at most one I/O each: rate x response cannot exceed their number."""
        if self.population is not None and self.population < self.fewest_requesters:
            raise InputError(
                f"population of {self.name}",
                self.population,
                f"at least {self.fewest_requesters}: rate x response is {self.least_present / self.volumes:.3g} a "
                "volume, and a requester has one I/O outstanding; the measurements contradict each other",
            )

    @property
    def least_present(self) -> float:
        """Fewest I/Os present that the printed digits allow; 0 where they do not tell."""
        low = {key: max(figure.value - figure.half, 0.0) for key, figure in self.figures.items()}
        rate, service = low.get("io_rate", 0.0), low.get("service_time", 0.0)
        each = (
            rate * low.get("response_time", 0.0),
            rate * (service + low.get("wait_time", 0.0)),
            rate * service + low.get("queued", 0.0),
        )
        return max(each)

    @property
    def fewest_requesters(self) -> int:
        """Smallest number of requesters of a volume that the I/Os present do not contradict."""
        return max(math.ceil(self.least_present / self.volumes / (1 + CONTRADICTION)), 1)

    @property
    def present(self) -> float:
        """I/Os in service or queued, as well as the figures tell; bounded by the devices where they do not."""
        value = {key: figure.value for key, figure in self.figures.items()}
        devices = float(self.volumes + self.aliases)
        rate = value.get("io_rate")
        if rate is not None and "response_time" in value:
            return rate * value["response_time"]
        busy = min(rate * value["service_time"], devices) if rate and "service_time" in value else devices
        return busy + value.get("queued", (rate or 0.0) * value.get("wait_time", 0.0))

    def scale(self, figure: str) -> float | None:
        """What the model error is taken of: all I/Os present for a queue, response for a wait; none for logarithms."""
        if figure in LOGARITHMIC:
            return None
        if figure == "queued":
            return self.present
        value = {key: item.value for key, item in self.figures.items()}
        if "io_rate" in value:
            return self.present / value["io_rate"]
        return value.get("response_time", value["wait_time"] + value.get("service_time", 0.0))


def observe(run: Run) -> Observation:
    """Take the figures of a run: total rate, mean service time, total queue.

    Parameters
    ----------
    run : Run
        A measurement of a volume or a pool.

    Returns
    -------
    Observation
        The response time is left out: it is service + queued / rate and says nothing more.

    Raises
    ------
    InputError
        The queue of a volume was not measured.
    """
    rate, service, queued = run.total_rate, run.service, run.total_queue
    if not run.queue_known:
        raise InputError(
            f"queued of {run.name}", None, "the mean queue, or the response time, of every volume"
        )
    return Observation(
        name=" ".join(filter(None, (run.source, run.name, f"+{run.aliases}"))),
        volumes=run.bases,
        aliases=run.aliases,
        population=None,
        figures={
            "io_rate": Figure(rate.value, (rate.high - rate.low) / 2),
            "service_time": Figure(run.mean_service.value, float((service.high - service.value).max())),
            "queued": Figure(queued.value, (queued.high - queued.low) / 2),
        },
    )


def shown(figure: str) -> str:
    """Name a figure as listings do, with the unit as a suffix.

    Examples
    --------
    >>> shown("service_time")
    'service_ms'
    """
    return figure.removesuffix("_time") + "_ms" if figure.endswith("_time") else figure
