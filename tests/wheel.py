"""Run the tests against an installed wheel: ``python -m tests.wheel PYTHON WHEEL``.

The wheel is installed into a fresh environment of that Python, and the tests run from a copy of the checkout without
the code: what they import is what the wheel holds. Tests of the house (layers, docstrings, packaging) read the sources,
which are not there, and stay out.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.checkout import ROOT, repository_files

LEFT_OUT: Final = (
    "tests/test_layers.py", "tests/test_docstrings.py", "tests/test_house.py", "tests/test_start.py",
    "tests/test_notebooks.py", "tests/test_library.py", "tests/test_short.py", "tests/cli/test_startup.py",
)  # fmt: skip


def main(python: str, wheel: str, *arguments: str) -> int:
    """Install and run; further arguments go to pytest."""
    if shutil.which(python) is None:
        print(f"{python} is not here: its tests are left out")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        subprocess.run([python, "-m", "venv", str(place / "venv")], check=True)
        own = place / "venv" / "bin" / "python"
        install = [
            own,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            f"{Path(wheel).resolve()}[test]",
        ]
        subprocess.run(install, check=True)
        for path in repository_files():
            name = path.relative_to(ROOT)
            if name.parts[0] != "planner" and str(name) not in LEFT_OUT:
                (place / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, place / "tests" / name)
        where = [own, "-c", "import planner; print(planner.__file__)"]
        found = subprocess.run(where, cwd=place / "tests", check=True, capture_output=True, text=True).stdout
        assert "site-packages" in found, found
        command = [own, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "testpaths=tests", *arguments]
        return subprocess.run(command, cwd=place / "tests", check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
