# SPDX-License-Identifier: Apache-2.0
"""The base class of the tests of `ttmem serve`: starts a server and reads its log."""

import os
import signal
import threading

from support import TTMEM, Case, Running
import wire


class Server(Running):
    """`ttmem serve`, whose log a thread reads continuously."""

    def __init__(self, path, env, *arguments, command=(TTMEM, "serve"), port=0):
        super().__init__([*command, "--socket", path, "--http", f"127.0.0.1:{port}", *arguments],
                         env)
        self.path = path
        self.log = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.log.append(line.decode().rstrip("\n"))

    def said(self, *words):
        """Returns the log lines that contain all these words."""
        return [line for line in list(self.log) if all(word in line for word in words)]

    def stop(self, number=signal.SIGTERM):
        self.signal(number)
        code = self.wait()
        self._reader.join()
        return code


class ServerCase(Case):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.dir, "socket")

    def start_server(self, *arguments, wait=True, path=None, **options):
        server = Server(path or self.path, self.env, *arguments, **options)
        self.addCleanup(server.end)
        if wait:
            self.wait_for(lambda: self._answers(server), "the server to answer")
        return server

    def _answers(self, server):
        self.assertIsNone(server.process.poll(), f"the server ended: {server.log}")
        try:
            client = wire.Client(server.path)
        except OSError:
            return False
        client.close()
        return True

    def connect(self, **options):
        client = wire.Client(self.path, **options)
        self.addCleanup(client.close)
        return client

    def wait_said(self, server, *words):
        return self.wait_for(lambda: server.said(*words), f"a line with {words} in the log")[0]

    def segments(self):
        return [name for name in self.files() if name.startswith("ttmem.")]

    def rows(self):
        """Returns {(device, pid): row of the process} from `ttmem --json`, which runs without a
        server."""
        return {(device["id"], process["pid"]): process
                for device in self.devices() for process in device["processes"]}
