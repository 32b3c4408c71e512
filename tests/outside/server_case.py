# SPDX-License-Identifier: Apache-2.0
"""A running `ttmem serve` for the tests of the server: its own socket, a port that the system
chose, and plain HTTP."""

import http.client
import json
import os
import re
import socket
import tempfile
import threading

from support import Case


class ServerCase(Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-serve-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def serve(self, *arguments):
        """Starts a server and waits until it says where it serves HTTP."""
        self.server = self.start_ttmem(
            "serve", "--socket", os.path.join(self.folder, "socket"), "--http", "127.0.0.1:0",
            *arguments)
        self.log = []
        while True:
            self.log.append(self.server.line("stderr"))
            found = re.search(r"HTTP on http://127\.0\.0\.1:(\d+)/", self.log[-1])
            if found:
                self.port = int(found.group(1))
                break
        # A full pipe would hold the server.
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()
        return self.server

    def _read_log(self):
        while True:
            try:
                self.log.append(self.server.line("stderr"))
            except AssertionError:  # nothing for a while
                if self.server.process.poll() is not None:
                    return
            except (ValueError, OSError):  # the test is over
                return

    def logged(self, text):
        return [line for line in list(self.log) if text in line]

    def request(self, target, method="GET", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, target, headers=headers or {})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def get(self, target):
        status, _, body = self.request(target)
        self.assertEqual(status, 200, body)
        return body.decode()

    def get_json(self, target):
        return json.loads(self.get(target))

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        self.addCleanup(connection.close)
        return connection

    def exchange(self, *chunks):
        """Sends bytes as they are and returns all that comes until the server closes."""
        connection = self.connect()
        for chunk in chunks:
            connection.sendall(chunk)
        received = b""
        while True:
            try:
                part = connection.recv(65536)
            except ConnectionResetError:
                return received
            if not part:
                return received
            received += part

    def start_demo(self, scenario="mesh8"):
        """A demo that holds its final state."""
        demo = self.start_ttmem("demo", scenario, "--hold")
        self.assertIn(f"demo {scenario}: ", demo.line("stderr"))
        return demo
