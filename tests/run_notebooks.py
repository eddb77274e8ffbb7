"""Runs the notebooks as a user has them: from a wheel, outside of the checkout; their output goes into the site.

``python -m tests.run_notebooks FOLDER`` leaves them in FOLDER with what they printed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.checkout import ROOT, repository_files


def wheel_into(target: Path, work: Path) -> None:
    """Build the wheel from a copy, so that the build leaves nothing in the checkout, and unpack it."""
    clean = work / "checkout"
    for path in repository_files():
        copy = clean / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(work),
        str(clean),
    ]
    subprocess.run(build, check=True, stdin=subprocess.DEVNULL)
    (wheel,) = work.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    shutil.rmtree(clean)


def run(folder: Path, jobs: int = 1) -> int:
    """Run all of them in a folder of their own; exit code of pytest."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "notebooks", folder)
    with TemporaryDirectory() as name:
        target = Path(name) / "target"
        wheel_into(target, Path(name))
        parallel = ["-n", str(jobs)] if jobs > 1 else []
        command = [
            sys.executable,
            "-m",
            "pytest",
            "--nbmake",
            "--overwrite",
            "-q",
            "-p",
            "no:cacheprovider",
            *parallel,
            ".",
        ]
        return subprocess.run(
            command, cwd=folder, env={**os.environ, "PYTHONPATH": str(target)}, check=False
        ).returncode


if __name__ == "__main__":
    _, place, *number = sys.argv
    sys.exit(run(Path(place), *map(int, number)))
