"""The self-contained HTML report: answers on one page that needs no network."""

from planner.page.build import Report, growths, of_answer, report

__all__ = ["Report", "growths", "of_answer", "report"]
