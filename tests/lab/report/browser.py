"""A headless Chromium for the tests of the page."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

ARGUMENTS = (
    "--headless",
    "--no-sandbox",  # tests may run as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
)
DESK, PHONE = (1280, 900), (390, 844)


class Browser:
    """A Chromium of our own with one page at a time; `more` arguments for its command line."""

    def __init__(self, *more: str) -> None:
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM or ""
        for argument in (*ARGUMENTS, *more):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))

    def open(self, path: Path, size: tuple[int, int] = DESK, scheme: str = "light") -> Browser:
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.media(scheme)
        self.driver.get(path.as_uri())
        self.js("try { localStorage.clear() } catch {}; delete document.documentElement.dataset.theme")
        return self

    def media(self, scheme: str = "light", kind: str = "") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": kind, "features": features})

    def js(self, code: str, *arguments: Any) -> Any:
        return self.driver.execute_script(code, *arguments)

    def texts(self, selector: str) -> list[str]:
        return self.js("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def count(self, selector: str) -> int:
        return self.js("return document.querySelectorAll(arguments[0]).length", selector)

    def colour(self, selector: str, name: str = "background-color") -> str:
        return self.js(
            "return getComputedStyle(document.querySelector(arguments[0])).getPropertyValue(arguments[1])",
            selector,
            name,
        )

    def at(self, selector: str, x: float = 0.5, y: float = 0.5) -> tuple[float, float]:
        """A place on an element, scrolled into sight, as shares of its size."""
        code = (
            "const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]"
        )
        left, top, width, height = self.js(code, selector)
        return left + x * width, top + y * height

    def mouse(self, kind: str, place: tuple[float, float], **more: Any) -> None:
        event = {"type": kind, "x": place[0], "y": place[1], **more}
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)

    def click(self, selector: str) -> None:
        place = self.at(selector)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.mouse(kind, place, button="left", clickCount=1)

    def key(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": kind, "key": key})

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]
