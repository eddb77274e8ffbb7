"""All models of the published tables, by the name of their file in models/."""

from __future__ import annotations

from pathlib import Path

from planner import library
from planner.published.channel_program import calibrate_channel_program
from planner.published.disk import calibrate_disk
from planner.published.paging import calibrate_paging
from planner.published.processors import calibrate_processors
from planner.published.whole_system import calibrate_whole_system


def calibrate_all() -> dict[str, library.Model]:
    """Fit every model again.

    Returns
    -------
    dict
        Model by name of its file.

    Raises
    ------
    CalibrationError
        A fit did not converge.
    """
    return {
        **{f"paging-{kind}": model for kind, model in calibrate_paging().items()},
        **{f"disk-{workload}-{kind}": model for (workload, kind), model in calibrate_disk().items()},
        "channel-program": calibrate_channel_program(),
        "processors": calibrate_processors(),
        "system-xiv-serialized": calibrate_whole_system(),
    }


def write_models(folder: Path) -> None:
    """Write every model file again.

    Parameters
    ----------
    folder : Path
        Where, as ``models``.
    """
    for name, model in calibrate_all().items():
        library.write_model(model, folder / f"{name}.toml", force=True)
