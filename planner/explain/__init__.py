"""Formulas in sympy: one chain of equations per topic, from which text, LaTeX and values are generated."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from planner import render
from planner.answer import tabled
from planner.errors import InputError
from planner.quantity import column

if TYPE_CHECKING:
    from planner.explain.explanation import Explanation
    from planner.explain.topic import Topic

__all__ = ["TOPICS", "explain", "topic_named", "topics"]

# Topic -> module, one line for people. sympy is imported when a topic is first used.
TOPICS: Final = {
    "erlang-c": ("open_queues", "how likely is it that a request waits"),
    "mmc": ("open_queues", "Poisson arrivals at a group of servers"),
    "finite-source": ("closed_queues", "a few requesters, each with one request outstanding"),
    "mgc": ("open_queues", "service times of any variance"),
    "alias-pool": ("closed_queues", "volumes that share aliases"),
    "storage-limit": ("costs", "how much virtual storage can be in use"),
    "ccw": ("costs", "CP processor time of channel programs"),
    "usl": ("costs", "throughput over processors or requesters"),
    "bursts": ("bursts", "I/Os that come in batches"),
    "together": ("bursts", "volumes whose bursts come at once"),
}


def topics() -> render.Table:
    """List the topics.

    Returns
    -------
    render.Table
        One row per topic: its name, and the question that it answers.
    """
    rows = ((name, question) for name, (_, question) in TOPICS.items())
    return tabled(rows, map(column, ("topic", "question")))


def topic_named(name: str) -> Topic:
    """Look a topic up.

    Parameters
    ----------
    name : str
        One of `TOPICS`.

    Returns
    -------
    Topic
        Its inputs and equations.

    Raises
    ------
    InputError
        No such topic.

    Examples
    --------
    >>> [item.key for item in topic_named("mmc").inputs]
    ['arrival_rate', 'service_time', 'servers']
    """
    InputError.unless_one_of("name", name, TOPICS)
    module = vars(import_module(f"{__name__}.{TOPICS[name][0]}"))
    from planner.explain.topic import Topic

    return next(each for each in module.values() if isinstance(each, Topic) and each.name == name)


def explain(name: str, **numbers: str | float) -> Explanation:
    """Explain a formula with numbers.

    Parameters
    ----------
    name : str
        One of `TOPICS`.
    **numbers : str or float
        Inputs of the topic: a text with its unit, or a number in SI units; defaults for the rest.

    Returns
    -------
    Explanation
        Renders as math in Jupyter; `text`, `latex` and `to_dict` elsewhere.

    Raises
    ------
    InputError
        An unknown topic or input, or a value outside its domain.

    Examples
    --------
    >>> answer = explain("mmc", arrival_rate=600, service_time="1.3ms", servers=2)
    >>> round(answer.value("W") * 1e3, 4)
    0.2332
    """
    found = topic_named(name)  # refuse an unknown topic before importing sympy
    from planner.explain.explanation import Explanation

    return Explanation.of(found, numbers)
