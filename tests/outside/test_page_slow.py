# SPDX-License-Identifier: Apache-2.0
"""The page with a server that is slow, that answers with errors, or that does not answer. The page
says so and never shows figures of another device meanwhile. A late answer does not delay the next
request."""

import contextlib
import http.server
import signal
import threading
import unittest
import urllib.request

from support import DEADLINE_SECONDS
from test_page import PageCase


class Forward(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.wait_allowed(self.path)
        status = self.server.status_of(self.path)
        body, kind = b"broken", "text/plain"
        if status == 200:
            with urllib.request.urlopen(self.server.real + self.path) as answer:
                body, kind = answer.read(), answer.headers["Content-Type"]
        with contextlib.suppress(OSError):  # the page may have hung up
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class Between(http.server.ThreadingHTTPServer):
    """A proxy between the page and ttmem. Delays requests whose path contains a given text, or
    answers them with an error."""

    daemon_threads = True

    def __init__(self, real):
        super().__init__(("127.0.0.1", 0), Forward)
        self.real = real
        self.held, self.failing = {}, {}  # {part of a path: event}, {part of a path: status}
        self.waiting = []  # paths that are or were delayed
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def hold(self, part):
        self.held[part] = threading.Event()

    def release(self, part):
        self.held.pop(part).set()

    def wait_allowed(self, path):
        for part, event in list(self.held.items()):
            if part in path:
                self.waiting.append(path)
                event.wait(3 * DEADLINE_SECONDS)

    def status_of(self, path):
        return next((status for part, status in self.failing.items() if part in path), 200)

    def close(self):
        for event in self.held.values():
            event.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        pass  # the browser ended with open connections


class SlowCase(PageCase):
    def serve(self, *arguments):
        super().serve(*arguments)
        self.between = Between(f"http://127.0.0.1:{self.port}")
        self.addCleanup(self.between.close)
        self.port_of_ttmem, self.port = self.port, self.between.server_port

    def hidden(self, selector):
        return self.browser.run(f"document.querySelector('{selector}').hidden")


class NoAnswer(PageCase):
    def test_a_server_that_hangs(self):
        self.start_demo("single")
        self.serve()
        self.open()
        self.wait_for(lambda: self.text(".card.device"), "a device")
        self.server.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.server.process.send_signal, signal.SIGCONT)
        self.wait_text("#notice", "has not answered since")
        self.assertIn("no answer within 5 s", self.text("#notice")[0])
        self.assertEqual(self.status("dataset.state"), "lost")
        self.server.process.send_signal(signal.SIGCONT)
        self.wait_for(lambda: self.status("dataset.state") == "live", "a page that is live")
        self.assertTrue(self.browser.run("document.getElementById('notice').hidden"))


class Errors(SlowCase):
    normal = ("status of 503",)

    def test_are_shown_until_they_end(self):
        self.start_demo("single")
        self.serve()
        self.open()
        self.wait_for(lambda: self.text(".card.device"), "a device")
        self.between.failing["/api/v1/changes"] = 503
        self.wait_text("#notice", "has answered with an error since")
        self.assertIn("the server answered 503", self.text("#notice")[0])
        del self.between.failing["/api/v1/changes"]
        self.wait_for(lambda: self.status("dataset.state") == "live", "a page that is live")

    def test_of_a_list_shown_before(self):
        self.start_demo("training")
        self.serve()
        self.open("view=processes")
        self.wait_rows("Allocations")
        self.between.failing["/api/v1/allocations"] = 503
        self.start_demo("single")  # so that the list changes
        self.wait_text("main h2", "from before: the server answered 503")
        del self.between.failing["/api/v1/allocations"]
        self.wait_for(lambda: not any("from before" in one for one in self.text("main h2")),
                      "the list of now")

    def test_of_the_lists_of_a_core(self):
        self.start_demo("single")
        self.serve()
        self.between.failing["/api/v1/snapshot"] = 503
        self.open("view=cores")
        self.wait_text(".core-map .empty", "The list cannot be read: the server answered 503")
        self.assertTrue(self.hidden("canvas.map"))


class Late(SlowCase):
    def test_a_list_does_not_wait_for_the_previous_list(self):
        demo = self.start_demo("single")
        self.serve()
        self.between.hold("/allocations")
        self.open("view=processes")
        self.wait_for(lambda: self.between.waiting, "a question")
        first = self.between.held.pop("/allocations")  # the next request is not delayed
        self.addCleanup(first.set)
        self.browser.run(f"location.hash = 'view=processes&pid={demo.pid}'")
        self.wait_rows("Allocations")
        self.wait_text("main h2", f"Allocations of {demo.pid}")

    def test_a_chart_does_not_wait_for_the_previous_chart(self):
        self.start_demo("single")
        self.serve()
        if self.logged("the page has no charts"):
            return
        self.between.hold("seconds=600")
        self.open("view=charts")
        self.wait_for(lambda: self.between.waiting, "a question")
        self.browser.press("t")  # shows an hour
        self.wait_for(lambda: self.text(".u-wrap"), "a chart")

    def test_a_chart_never_shows_another_device(self):
        self.start_demo("mesh8")
        self.serve()
        if self.logged("the page has no charts"):
            return
        self.open("view=charts")
        self.wait_for(lambda: self.text(".u-wrap"), "a chart")
        self.between.hold("/history")
        self.browser.press("]", "]")
        self.assertEqual(self.text("main h2")[0], "Device 1")
        self.assertTrue(self.hidden(".charts"))
        self.assertEqual(self.text("main .empty"), ["Waiting for the history …"])
        self.between.release("/history")
        self.wait_for(lambda: not self.hidden(".charts"), "its chart")

    def test_a_map_never_shows_another_device(self):
        self.start_demo("mesh8")
        self.serve()
        self.open("view=cores")
        self.wait_rows("What lies in the core")
        self.between.hold("/snapshot")
        self.browser.press("]", "]")
        self.wait_text(".core-map .empty", "Waiting for the list")
        self.assertTrue(self.hidden("canvas.map"))
        self.between.release("/snapshot")
        self.wait_rows("What lies in the core")
        self.assertFalse(self.hidden("canvas.map"))


if __name__ == "__main__":
    unittest.main()
