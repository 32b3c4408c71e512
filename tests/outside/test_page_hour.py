# SPDX-License-Identifier: Apache-2.0
"""The page after an hour of changes: it takes no more memory than after ten minutes."""

import http.server
import json
import threading
import unittest
import urllib.request

from browser import Browser
from http_case import HttpCase

TEN_MINUTES = 600
# Makes the page send its next request at once instead of after a second.
HURRY = "const wait = window.setTimeout; window.setTimeout = (f, ms) => wait(f, Math.min(ms, 1));"


class Hasty(http.server.BaseHTTPRequestHandler):
    """A server whose devices change with every request. Other answers come from ttmem."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def do_GET(self):
        if self.path.startswith("/api/v1/changes"):
            body, kind = self.server.next_answer(), "application/json"
        elif self.path.startswith("/api/v1/history"):
            body, kind = self.server.history(), "application/json"
        else:
            with urllib.request.urlopen(self.server.real + self.path) as answer:
                body, kind = answer.read(), answer.headers["Content-Type"]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class HastyServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, real, first):
        super().__init__(("127.0.0.1", 0), Hasty)
        self.real, self.answer, self.asked = real, first, 0

    def handle_error(self, *_):
        pass  # the browser ended with open connections

    def next_answer(self):
        self.asked += 1
        answer = self.answer
        answer["all"] = self.asked == 1
        answer["number"] += 1
        answer["time_unix_ns"] += 10**9
        for changed in answer["devices"]:
            changed["device"]["dram"]["used_bytes"] = self.asked % 1000 * 2**20
            changed["device"]["processes"][0]["dram_bytes"] = self.asked % 1000 * 2**20
        return json.dumps(answer).encode()

    def history(self):
        now = self.answer["time_unix_ns"]
        points = [{"time_unix_ns": now - i * 10**9, "dram_bytes": i * 2**20, "l1_bytes": 2**20}
                  for i in range(600, 0, -1)]
        return json.dumps({"interval_seconds": 1, "points": points}).encode()


class AnHour(HttpCase):
    def setUp(self):
        super().setUp()
        self.start_demo("single")
        self.serve()
        first = self.wait_for(lambda: (got := self.get_json("/api/v1/changes"))["devices"] and got,
                              "devices")
        self.hasty = HastyServer(f"http://127.0.0.1:{self.port}", first)
        thread = threading.Thread(target=self.hasty.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(self.hasty.server_close)
        self.addCleanup(self.hasty.shutdown)
        self.browser = Browser()
        self.addCleanup(self.browser.close)

    def memory(self):
        """Returns the bytes of the script's heap and the number of elements."""
        self.browser.call("HeapProfiler.collectGarbage")
        counts = self.browser.call("Memory.getDOMCounters")
        heap = self.browser.call("Runtime.getHeapUsage")
        return heap["usedSize"], counts["nodes"]

    def test_memory_does_not_grow(self):
        self.browser.call("Page.addScriptToEvaluateOnNewDocument", source=HURRY)
        self.browser.open(f"http://127.0.0.1:{self.hasty.server_port}/")
        self.wait_for(lambda: self.hasty.asked >= TEN_MINUTES, "ten minutes of changes")
        heap, nodes = self.memory()
        for part in range(2, 7):
            self.wait_for(lambda: self.hasty.asked >= part * TEN_MINUTES, f"part {part} of an hour")
        self.wait_for(lambda: self.no_more_than(heap + 2**20, nodes + 200),
                      f"no more than {heap} bytes and {nodes} elements, but {self.memory()}")
        self.assertEqual(self.browser.complaints, [])

    def no_more_than(self, heap, nodes):
        now = self.memory()
        return now[0] < heap and now[1] < nodes


if __name__ == "__main__":
    unittest.main()
