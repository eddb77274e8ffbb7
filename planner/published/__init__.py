"""The published tables of paging devices, disk paths and channel programs, and the models that they were fitted to."""

from planner.published.models import calibrate_all, write_models

__all__ = ["calibrate_all", "write_models"]
