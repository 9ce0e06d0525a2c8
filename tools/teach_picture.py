"""A picture of the page `kenyon teach` for the README: digits replayed, a drawing half done.

    python tools/teach_picture.py [docs/figures/teach.png]

It needs Chromium and its driver (Debian: chromium-driver) and the `test` extra.
"""

from __future__ import annotations

import base64
import math
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from kenyon.apps.teach import write_page
from teach.driving import TeachPage

SIZE = (1120, 1800)


def three() -> list[tuple[float, float]]:
    """The stroke of a three, all but its end."""
    arcs = [(0.48, 0.34, 0.17, 0.15, -2.6, 1.5), (0.48, 0.66, 0.2, 0.17, -1.5, 2.2)]
    return [
        (x + width * math.cos(low + (high - low) * k / 24), y + height * math.sin(low + (high - low) * k / 24))
        for x, y, width, height, low, high in arcs
        for k in range(25)
    ]


def take(out: Path) -> int:
    """Write the picture; its size in bytes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "teach.html"
        write_page(path)
        page = TeachPage()
        page.downloads = Path(folder)
        try:
            page.start(path, SIZE)
            page.replay()
            page.stroke(three())
            page.js("document.activeElement.blur(); scrollTo({top: 0, behavior: 'instant'})")
            time.sleep(0.5)
            height = page.js("return document.querySelector('#Replay .charts').getBoundingClientRect().bottom + 6")
            clip = {"x": 0, "y": 0, "width": SIZE[0], "height": height, "scale": 1}
            how = {"format": "png", "clip": clip, "captureBeyondViewport": True}
            shot = page.driver.execute_cdp_cmd("Page.captureScreenshot", how)
        finally:
            page.driver.quit()
    out.parent.mkdir(parents=True, exist_ok=True)
    return out.write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/figures/teach.png")
    print(f"{take(target):,} bytes  {target}")
