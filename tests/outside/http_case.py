# SPDX-License-Identifier: Apache-2.0
"""Tests that start `ttmem serve` on a free port and speak plain HTTP with it."""

import http.client
import json
import re
import socket
import tempfile

from server_case import ServerCase


class HttpCase(ServerCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-serve-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def serve(self, *arguments):
        """Starts a server. self.port is its HTTP port."""
        self.server = self.start_server(*arguments)
        line = self.wait_said(self.server, "HTTP on http://127.0.0.1:")
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", line).group(1))
        return self.server

    def logged(self, text):
        return self.server.said(text)

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
        """Sends these bytes unchanged. Returns the bytes received until the server closes."""
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
        """Starts a demo that holds its final state."""
        demo = self.start_ttmem("demo", scenario, "--hold")
        self.assertIn(f"demo {scenario}: ", demo.line("stderr"))
        return demo
