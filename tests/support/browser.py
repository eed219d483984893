# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that is driven through its debugging pipe: JSON messages that end in a NUL byte.

No further package is needed for that. One browser serves a session; each page gets a tab of its own.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_TIMEOUT = 60.0  # seconds, of one answer


def find_browser() -> str | None:
    """The first of NAMES that is installed."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """A running browser; `events` are those that no command has consumed."""

    def __init__(self, program: str, folder: Path) -> None:
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()

        def pipes() -> None:  # the browser reads from 3 and writes to 4
            os.dup2(to_read, 63)
            os.dup2(to_write, 64)
            os.dup2(63, 3)
            os.dup2(64, 4)

        self.process = subprocess.Popen(
            [
                program,
                *("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"),
                *("--no-first-run", "--disable-extensions", "--disable-background-networking"),
                *("--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars"),
                f"--user-data-dir={folder}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=pipes,
            close_fds=False,
        )
        os.close(to_read)
        os.close(to_write)
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """The result of a command of the Chrome DevTools protocol."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def wait(self, method: str, session: str) -> None:
        """Until an event has come."""
        while not any(
            e.get("method") == method and e.get("sessionId") == session for e in self.events
        ):
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + _TIMEOUT
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            data = os.read(self._read, 1 << 20)
            assert data, "the browser has ended"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def close(self) -> None:
        """Ends the browser."""
        try:
            self.send("Browser.close")
        except (AssertionError, OSError):
            self.process.kill()
        self.process.wait(30)
        os.close(self._write)
        os.close(self._read)


class Tab:
    """A page in a tab."""

    def __init__(self, browser: Browser, path: Path, width: int, height: int, dark: bool) -> None:
        self.browser = browser
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.send("Target.attachToTarget", targetId=target, flatten=True)
        self._target, self.session = target, attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        self.send("Page.navigate", url=path.resolve().as_uri())
        browser.wait("Page.loadEventFired", self.session)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command to this page."""
        return self.browser.send(method, self.session, **parameters)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        done = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def point(self, x: float, y: float, *, touch: bool = False) -> None:
        """Moves the pointer there, or taps."""
        if touch:
            self.send("Emulation.setTouchEmulationEnabled", enabled=True)
            self.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
            self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        else:
            self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key: str) -> None:
        """A key, such as ``Tab`` or ``ArrowRight``."""
        code = {"Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}[key]
        for kind in ("rawKeyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code
            )

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Writes what is seen, or the whole page, as PNG."""
        more = {"captureBeyondViewport": True} if whole else {}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            more["clip"] = {"x": 0, "y": 0, "scale": 1, **{k: size[k] for k in ("width", "height")}}
        data = self.send("Page.captureScreenshot", format="png", **more)["data"]
        path.write_bytes(base64.b64decode(data))

    def requests(self) -> list[str]:
        """The addresses that the page has asked for, but its own and those that hold their data."""
        sent = [e for e in self.browser.events if e.get("method") == "Network.requestWillBeSent"]
        urls = [e["params"]["request"]["url"] for e in sent if e.get("sessionId") == self.session]
        return [url for url in urls[1:] if not url.startswith("data:")]

    def errors(self) -> list[str]:
        """What the console has of errors: exceptions, refused contents."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(event["params"]["exceptionDetails"]))
            elif event.get("method") == "Log.entryAdded":
                found.append(str(event["params"]["entry"]["text"]))
        return found

    def close(self) -> None:
        self.browser.send("Target.closeTarget", targetId=self._target)


@contextmanager
def tab(
    browser: Browser, path: Path, *, width: int = 1100, height: int = 900, dark: bool = False
) -> Iterator[Tab]:
    """A page, for as long as it is looked at."""
    one = Tab(browser, path, width, height, dark)
    try:
        yield one
    finally:
        one.close()
