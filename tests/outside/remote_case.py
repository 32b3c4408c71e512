# SPDX-License-Identifier: Apache-2.0
"""Several hosts on one machine: each `ttmem serve` has its own loopback address and its own
directory of segments. Also servers that are not ttmem."""

import http.server
import os
import re
import shutil
import tempfile
import threading

from server_case import Server, ServerCase
from support import TTMEM, Running

# Fields that differ between two snapshots of an unchanged state.
MOVING = re.compile(r'("time_unix_ns":|"age_ns":) ?\d+')


class Host(Server):
    """`ttmem serve` of a host, with the host's own directory of segments."""

    def __init__(self, case, number, *arguments):
        self.dir = tempfile.mkdtemp(prefix="ttmem-host-", dir=os.path.dirname(case.dir))
        case.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {**case.env, "TTMEM_DIR": self.dir}
        self.address = f"127.0.0.{number}"
        Running.__init__(self, [TTMEM, "serve", "--socket", os.path.join(self.dir, "socket"),
                                "--http", f"{self.address}:0", *arguments], self.env)
        case.addCleanup(self.end)
        self.log = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        line = case.wait_said(self, f"HTTP on http://{self.address}:")
        self.port = int(re.search(r"http://[\d.]+:(\d+)/", line).group(1))
        self.at = f"{self.address}:{self.port}"
        self.url = f"http://{self.at}"


class RemoteCase(ServerCase):
    def host(self, number=2, *arguments):
        return Host(self, number, *arguments)

    def demo_on(self, host, scenario="single", **env):
        demo = self.start([TTMEM, "demo", scenario, "--hold"], {**host.env, **env})
        self.assertIn(f"demo {scenario}: ", demo.line("stderr"))
        return demo

    def answering(self, answer, number=9, tls=None):
        """Starts a server that answers every request with answer(path): a status, a body and
        possibly headers. Returns its HOST:PORT."""

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status, body, *headers = answer(self.path)
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    pass  # the client refused the rest of the answer

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer((f"127.0.0.{number}", 0), Handler)
        server.daemon_threads = True
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # the client hung up
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"127.0.0.{number}:{server.server_port}"

    def token_file(self, token="0123456789abcdef0123", mode=0o600, name="token"):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(token + "\n")
        os.chmod(path, mode)
        return path

    def refused(self, *arguments, env=None):
        """Runs a command that must fail and print nothing. Returns its standard error."""
        result = self.ttmem(*arguments, code=1, env=env)
        self.assertEqual(result.stdout, "")
        return result.stderr
