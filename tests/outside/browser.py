# SPDX-License-Identifier: Apache-2.0
"""Drives a headless chromium over its debugging pipe: JSON messages, each terminated by a NUL."""

import atexit
import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

from support import DEADLINE_SECONDS

NAMES = ("chromium-headless-shell", "chromium")


class Browser:
    """A browser with one page. `complaints` has the page's exceptions, errors and warnings,
    `requests` the URLs that the page requested."""

    def __init__(self, flags=()):
        program = next(filter(None, map(shutil.which, NAMES)), None)
        if program is None:
            raise AssertionError("no chromium; scripts/setup installs it")
        self.profile = tempfile.mkdtemp(prefix="ttmem-browser-")
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # The runtime of the sanitizers may be preloaded into this test. The browser must not load
        # it.
        env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        env["HOME"] = self.profile

        def place_pipes():  # chromium reads descriptor 3 and writes 4
            one, two = os.dup(to_browser), os.dup(from_browser)
            os.dup2(one, 3)
            os.dup2(two, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--hide-scrollbars",
             f"--user-data-dir={self.profile}", *flags, "about:blank"],
            env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=place_pipes, close_fds=False,
            start_new_session=True)  # so that close() ends all its processes
        os.close(to_browser)
        os.close(from_browser)
        self._unread = b""
        self._number = 0
        self._context = None
        try:
            self.renew()
        except BaseException:
            self.close()
            raise

    def renew(self):
        """Replaces the page by a new page with its own cookies, storage and cache."""
        self._session = None
        if self._context:
            self.call("Target.disposeBrowserContext", browserContextId=self._context)
        self._context = self.call("Target.createBrowserContext")["browserContextId"]
        page = self.call("Target.createTarget", url="about:blank", browserContextId=self._context)
        self._session = self.call("Target.attachToTarget", targetId=page["targetId"],
                                  flatten=True)["sessionId"]
        self.complaints = []
        self.requests = []
        for part in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{part}.enable")
        self.resize(1440, 900)

    def _send(self, method, parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        return self._number

    def _receive(self, seconds):
        """Returns the next message, or None if none comes in time."""
        end = time.monotonic() + seconds
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._in], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            part = os.read(self._in, 1 << 20)
            if not part:
                raise AssertionError("the browser ended")
            self._unread += part
        message, self._unread = self._unread.split(b"\0", 1)
        return json.loads(message)

    def _note(self, message):
        if message.get("sessionId") != self._session:
            return  # from a closed page
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"].get("exception", {}).get(
                "description", params["exceptionDetails"]["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.complaints.append(str([one.get("value") for one in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"] + " " + params["entry"].get("url", ""))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def call(self, method, **parameters):
        number = self._send(method, parameters)
        while True:
            message = self._receive(DEADLINE_SECONDS)
            if message is None:
                raise AssertionError(f"the browser did not answer {method}")
            if message.get("id") != number:
                self._note(message)
                continue
            if "error" in message:
                raise AssertionError(f"{method}: {message['error']}")
            return message["result"]

    def open(self, url):
        self.call("Page.navigate", url=url)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def run(self, script):
        """Returns the value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def press(self, *keys):
        for key in keys:
            text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def _mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, begin, end):
        """Presses the left button at one point (x, y) and releases it at another."""
        held = {"button": "left", "buttons": 1, "clickCount": 1}
        self._mouse("mouseMoved", *begin)
        self._mouse("mousePressed", *begin, **held)
        if begin != end:
            for part in (0.3, 0.6, 1):
                point = [a + (b - a) * part for a, b in zip(begin, end)]
                self._mouse("mouseMoved", *point, button="left", buttons=1)
        self._mouse("mouseReleased", *end, button="left", clickCount=1)

    def click(self, x, y):
        self.drag((x, y), (x, y))

    def box(self, selector):
        """Returns the position of an element as (left, top, width, height)."""
        return self.run(f"(() => {{ const box = document.querySelector({json.dumps(selector)})"
                        ".getBoundingClientRect();"
                        " return [box.left, box.top, box.width, box.height]; })()")

    def screenshot(self, path):
        image = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))

    def close(self):
        """Ends the browser with all its processes and removes its profile folder."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._in)
        os.close(self._out)
        # Removes the folder again and again, because an ending process may still write to it.
        end = time.monotonic() + DEADLINE_SECONDS
        while os.path.exists(self.profile):
            shutil.rmtree(self.profile, ignore_errors=time.monotonic() < end)


_idle = []  # idle browsers, kept because starting one takes longer than most tests


def borrow():
    """Takes an idle browser, or starts one, and opens a new page. The caller must call
    give_back()."""
    with contextlib.suppress(IndexError, AssertionError, OSError):
        _idle[-1].renew()
        return _idle.pop()
    close_idle()  # no idle browser, or one that does not answer
    return Browser()


def give_back(browser):
    _idle.append(browser)


@atexit.register
def close_idle():
    while _idle:
        _idle.pop().close()
