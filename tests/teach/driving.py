"""What a person does on the page: draw, teach, save, load, wait."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from report.browser import DESK, Browser
from waiting import wait_until

Points = Sequence[tuple[float, float]]


def circle(x: float = 0.5, y: float = 0.5, radius: float = 0.3) -> Points:
    turns = [k * math.pi / 12 for k in range(25)]
    return [(x + radius * math.cos(turn), y + radius * math.sin(turn)) for turn in turns]


def cross(x: float = 0.5, y: float = 0.5, radius: float = 0.3) -> Points:
    corners = [(-1, -1), (1, 1), (0, 0), (1, -1), (-1, 1)]
    return [(x + radius * across, y + radius * down) for across, down in corners]


class TeachPage(Browser):
    """The page in a browser."""

    downloads: Path

    def start(
        self, path: Path, size: tuple[int, int] = DESK, scheme: str = "light", ready: str = "kenyon-digits"
    ) -> TeachPage:
        self.open(path, size, scheme)
        self.wait(lambda: self.js("return performance.getEntriesByName(arguments[0]).length", ready))
        where = {"behavior": "allow", "downloadPath": str(self.downloads)}
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", where)
        self.complaints()
        return self

    def wait(self, done: Callable[[], Any]) -> Any:
        return wait_until(done)

    def stroke(self, points: Points) -> None:
        """A stroke of the mouse on the pad, by real events."""
        (left, top), (right, bottom) = self.at("#Pad", 0, 0), self.at("#Pad", 1, 1)
        places = [(left + x * (right - left), top + y * (bottom - top)) for x, y in points]
        self.mouse("mousePressed", places[0], button="left", clickCount=1)
        for place in places[1:]:
            self.mouse("mouseMoved", place, button="left", buttons=1)
        self.mouse("mouseReleased", places[-1], button="left", clickCount=1)

    def text(self, selector: str) -> str:
        (text,) = self.texts(selector)
        return text

    def number(self, selector: str) -> int:
        return int(self.text(selector).replace(",", ""))

    @property
    def guess(self) -> str:
        """The class whose bar is longest."""
        return self.text("#Bars .best .name")

    @property
    def classes(self) -> dict[str, int]:
        """Samples that each class has learned, as the page lists them."""
        code = (
            "return [...document.querySelectorAll('#Classes tbody tr')]"
            ".map((row) => [row.querySelector('input').value, row.children[1].textContent])"
        )
        return {name: int(count.replace(",", "")) for name, count in self.js(code)}

    def replay(self, speed: int = 4) -> None:
        """Play the stream to its end."""
        code = "const s = document.getElementById('Speed'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))"
        self.js(code, speed)
        self.click("#Play")
        self.wait(lambda: not self.js("return document.getElementById('Eleventh').hidden"))

    def save(self, button: str = "#SaveModel", name: str = "kenyon.safetensors") -> Path:
        path = self.downloads / name
        path.unlink(missing_ok=True)
        self.click(button)
        self.wait(path.exists)
        return path

    def drop(self, name: str, content: bytes) -> str:
        """Drop a file on the page; what the page says of it."""
        code = """
            const bytes = Uint8Array.from(atob(arguments[1]), (sign) => sign.charCodeAt(0));
            const data = new DataTransfer();
            data.items.add(new File([bytes], arguments[0]));
            document.getElementById("FileSays").textContent = "";
            for (const kind of ["dragenter", "dragover", "drop"]) {
              document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
            }"""
        self.js(code, name, b64encode(content).decode())
        return self.wait(lambda: self.text("#FileSays"))
