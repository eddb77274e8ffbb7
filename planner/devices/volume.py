"""A classic PAV volume: a base device and aliases of its own, which is a pool of one volume."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from planner.devices import parameters
from planner.devices.parameters import Figures, Scenario
from planner.devices.pool import FIGURES, QUESTIONS, Performance, Pool, VolumeClass
from planner.quantity import Quantity
from planner.results import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """One volume with its own aliases.

    Attributes
    ----------
    demand : VolumeClass
        What it is asked for.
    service_time : float
        Of an I/O that is alone on the volume [s].
    inflation : float
        Relative growth of the service time with each further I/O in service.
    redrive_time : float
        Gap of a device that takes a waiting I/O [s].
    """

    demand: VolumeClass
    service_time: float
    inflation: float = 0.0
    redrive_time: float = 0.0
    PARAMETERS: ClassVar[tuple[Quantity, ...]] = (
        parameters.SERVICE_TIME,
        parameters.INFLATION,
        parameters.REDRIVE_TIME,
        parameters.THINK_TIME,
        parameters.POPULATION,
    )
    QUESTIONS: ClassVar[tuple[Quantity, ...]] = QUESTIONS
    FIGURES: ClassVar[tuple[Quantity, ...]] = FIGURES

    @classmethod
    def ask(cls, values: Mapping[str, Array], scenarios: Sequence[Scenario]) -> Figures:
        """Answer scenarios for parameter sets as a pool does.

        Parameters
        ----------
        values : mapping
            Parameters by key, each of shape (sets,), SI.
        scenarios : sequence of mapping
            Aliases and volumes of each.

        Returns
        -------
        dict
            Figures of shape (sets, scenarios), SI.
        """
        return Pool.ask(values, scenarios)

    def solve(self, aliases: ArrayLike) -> Performance:
        """Solve the volume for each alias count.

        Parameters
        ----------
        aliases : array_like, shape (counts,)
            Aliases of the volume.

        Returns
        -------
        Performance
            Totals of base and aliases, shape (counts,).

        Raises
        ------
        InputError
            A parameter outside its domain.

        Examples
        --------
        >>> volume = Volume(demand=VolumeClass(population=3, think_time=2e-4), service_time=1.3e-3)
        >>> volume.solve([0, 2]).io_rate.round(0).tolist()
        [769.0, 2000.0]
        """
        pool = Pool(
            classes=(self.demand,),
            service_time=self.service_time,
            inflation=self.inflation,
            redrive_time=self.redrive_time,
        )
        return pool.solve(aliases)
