"""A headless Chromium, spoken to by its DevTools protocol over pipes. `--window-size` gives no window below 500 pixels,
and says nothing of errors or requests; the protocol does."""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Self

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions",
    "--remote-debugging-pipe",
)  # fmt: skip
SECONDS = 60
"""After so long a browser is ended, whatever it does."""


class Browser:
    """A browser with one page. It ends, with all its processes, at the end of a ``with``."""

    def __init__(self, folder: Path) -> None:
        assert PROGRAM is not None
        self._end = time.monotonic() + SECONDS
        # The browser reads commands from descriptor 3, and writes to 4.
        line = 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1'
        command = ["sh", "-c", line, PROGRAM, *OPTIONS, f"--user-data-dir={folder}", "about:blank"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, bufsize=0
        )
        self._rest, self._last, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        """What the page has reported since it was opened."""

    def __enter__(self) -> Self:
        try:
            pages = self.call("Target.getTargets")["targetInfos"]
            target = next(each["targetId"] for each in pages if each["type"] == "page")
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Network", "Log"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """What a command returns."""
        self._last += 1
        command = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\0")
        while (message := self._read()).get("id") != self._last:
            self.events.append(message)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        result: dict[str, Any] = message["result"]
        return result

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        while b"\0" not in self._rest:
            if not select.select([self._process.stdout], [], [], max(0, self._end - time.monotonic()))[0]:
                raise TimeoutError(f"the browser said nothing for {SECONDS} seconds")
            read = os.read(self._process.stdout.fileno(), 1 << 20)
            if not read:
                raise RuntimeError("the browser has ended")
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def open(self, address: str, width: int, scheme: str = "light") -> None:
        """Shows a page in a window of a width, and waits until it is loaded."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())

    def evaluate(self, script: str) -> Any:
        """The value of an expression, which JSON can hold."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def screenshot(self) -> bytes:
        """The whole page as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def said(self, *methods: str) -> list[dict[str, Any]]:
        """The parameters of the events of these names."""
        return [event["params"] for event in self.events if event.get("method") in methods]
