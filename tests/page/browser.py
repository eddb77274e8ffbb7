"""Chromium without a window, for the tests of the page: what it shows, what it complains of, what it asks for."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--force-prefers-reduced-motion", "--window-size=1200,900", "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip
OWN = ("file:", "data:", "blob:", "about:")  # addresses that leave no machine


def missing() -> str:
    """Why there is no browser to test with; empty where there is one."""
    try:
        import selenium  # noqa: F401 - looked for only
    except ImportError:
        return "the page was not opened in a browser: selenium is not installed"
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None or shutil.which("chromedriver") is None:
        return "the page was not opened in a browser: no chromium with chromedriver here"
    return ""


@dataclass
class Page:
    """A page in the browser."""

    driver: Any
    downloads: Path

    def go(self, address: str, width: int, *, dark: bool = False) -> None:
        """Open another page in a window of this width, light or dark."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        self.driver.get(address)
        self.until(LOADED)

    def until(self, script: str) -> Any:
        """Wait until a script says something, and say what."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 60).until(lambda found: found.execute_script(script))

    def run(self, script: str) -> Any:
        """What a script says."""
        return self.driver.execute_script(script)

    def all(self, selector: str) -> list[Any]:
        """Elements."""
        return list(self.driver.find_elements("css selector", selector))

    def one(self, selector: str) -> Any:
        """The first of them."""
        return self.driver.find_element("css selector", selector)

    def column(self, table: str, place: int) -> list[str]:
        """Texts of a column, rows that are shown only."""
        script = (
            "return [...document.getElementById(arguments[0]).tBodies[0].rows].filter((row) => !row.hidden)"
            ".map((row) => row.cells[arguments[1]].textContent);"
        )
        return list(self.driver.execute_script(script, table, place))

    def complaints(self) -> list[str]:
        """Lines of the console that are warnings or errors, refused policies among them."""
        return [line["message"] for line in self.driver.get_log("browser") if line["level"] != "INFO"]

    def requests(self) -> list[str]:
        """Addresses that were asked for."""
        found = []
        for line in self.driver.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found


REPORT = "return document.documentElement.dataset.ready === 'yes'"  # what a report says when it is ready
LOADED = "return document.readyState === 'complete'"


@contextmanager
def opened(path: Path, ready: str = REPORT) -> Iterator[Page]:
    """A page, opened and ready, as a script says."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser") or ""
        for flag in (*FLAGS, f"--user-data-dir={folder}/profile"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            driver.execute_cdp_cmd(
                "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder}
            )
            driver.get("about:blank")
            driver.get_log("performance")  # the browser's own first page is not meant
            driver.get(path.as_uri())
            page = Page(driver, Path(folder))
            page.until(ready)
            yield page
        finally:
            driver.quit()
