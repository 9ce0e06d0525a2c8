"""What the page `kenyon teach` takes: bytes of the file, time until it answers, samples learned each second.

    python benchmarks/teach.py

In a headless Chromium (Debian: chromium-driver), with the `test` extra; the best of five openings.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from kenyon.apps.teach import write_page
from teach.driving import TeachPage

OPENINGS = 5


def measure() -> dict[str, str]:
    """Each figure with its unit."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "teach.html"
        write_page(path)
        page = TeachPage()
        page.downloads = Path(folder)
        try:
            ready, first, rates = [], [], []
            for _ in range(OPENINGS):
                page.start(path)
                ready.append(page.js("return performance.getEntriesByName('kenyon-ready')[0].startTime"))
                first.append(page.js("return performance.getEntriesByName('kenyon-first-prediction')[0].startTime"))
                page.replay()
                rates.append(1e6 / page.number("#Microseconds"))
        finally:
            page.driver.quit()
        return {
            "the file": f"{path.stat().st_size:,} bytes",
            "opened until it can be class_counts": f"{min(ready):.0f} ms",
            "opened until its first prediction": f"{min(first):.0f} ms",
            "samples learned each second": f"{max(rates):,.0f}",
        }


if __name__ == "__main__":
    for what, figure in measure().items():
        print(f"{what:<36} {figure:>16}")
