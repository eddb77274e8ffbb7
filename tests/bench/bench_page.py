"""Size of the page of 160 pools of 64 volumes over 1,440 intervals, and the time it takes to open in Chromium.

python -m tests.bench.bench_page [POOLS [VOLUMES]]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from planner import sizing
from planner.library import data_path
from planner.sizing import AliasAnswer
from tests.page import made
from tests.page.browser import opened


def main() -> None:
    """Make it, open it five times, say the times of each."""
    pools, volumes = (int(word) for word in (sys.argv[1:] + ["160", "64"][len(sys.argv) - 1 :])[:2])
    curves = sizing.aliases(data_path("hyperpav", "pool-0-aliases.listing"), kind="pool")
    assert isinstance(curves, AliasAnswer)
    begin = time.process_time()
    html = made.page(pools, volumes, curves=curves).html
    print(f"made in {time.process_time() - begin:.2f} s of CPU")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(html, encoding="utf-8")
        print(f"{path.stat().st_size / 1e6:.2f} MB")
        for _ in range(5):
            with opened(path) as page:
                times = page.run(
                    "const n = performance.getEntriesByType('navigation')[0];"
                    "return [n.domInteractive, n.domContentLoadedEventEnd, n.loadEventEnd].map((t) => Math.round(t));"
                )
                painted = page.run(
                    "return Math.round(performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1);"
                )
                print(f"ms: interactive, ready, loaded {times}; first painted {painted}")


if __name__ == "__main__":
    main()
