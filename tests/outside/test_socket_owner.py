# SPDX-License-Identifier: Apache-2.0
"""The library reports only to servers of root and of the user of the workload. Also tests the
default sockets of `ttmem serve`."""

import os
import pathlib
import stat
import sys
import textwrap
import unittest

from server_case import Server, ServerCase
from support import HERE, LIBRARY, TTMEM

OTHER = 12345
OVERFLOW = 65534  # in a user namespace, every user without a mapping appears with this uid

# Listens, and prints for each connection the number of bytes received.
LISTENER = """
    import os, socket, sys
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    os.chmod(sys.argv[1], 0o666)
    listener.listen()
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        received = 0
        while chunk := connection.recv(65536):
            received += len(chunk)
        print(received, flush=True)
"""

HOLDS = """
    from abi import *
    open_device()
    alloc(DRAM, 1, 1024, label=b"secret")
    hold()
"""


def as_user(uid, *command):
    if os.geteuid() == uid:
        return list(command)
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *command]


@unittest.skipUnless(os.geteuid() == 0, "needs root, to become other users")
class SocketOwner(ServerCase):
    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o777)
        self.log = os.path.join(self.dir, "library.log")

    def start_workload(self, uid=0, command=(), **more):
        env = self.tracked(TTMEM_TRANSPORT="socket", TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE),
                           PYTHONDONTWRITEBYTECODE="1", TTMEM_LOG=self.log, **more)
        workload = self.start([*command, *as_user(uid, sys.executable, "-c",
                                                  textwrap.dedent(HOLDS))], env)
        self.assertEqual(workload.line(), "ready")
        return workload

    def wait_logged(self, *words):
        def lines():
            log = pathlib.Path(self.log)
            text = log.read_text() if log.exists() else ""
            return [line for line in text.splitlines() if all(word in line for word in words)]
        return self.wait_for(lines, f"a line with {words} in the library's log")

    def wait_held(self, workload):
        self.wait_for(lambda: (0, workload.pid) in self.rows(), "the workload to be seen")


class Reporting(SocketOwner):
    def test_a_server_of_another_user_gets_no_byte_and_the_log_says_so(self):
        for uid, also in ((OTHER, "run `ttmem serve`"), (OVERFLOW, "user namespace")):
            with self.subTest(uid):
                self.path = os.path.join(self.dir, f"socket{uid}")
                stranger = self.start(as_user(uid, sys.executable, "-c",
                                              textwrap.dedent(LISTENER), self.path))
                self.assertEqual(stranger.line(), "ready")
                workload = self.start_workload(TTMEM_SOCKET=self.path)
                self.wait_logged(self.path, f"belongs to user {uid}", also)
                # The library tries again and again, but logs only once.
                self.assertEqual([stranger.line() for _ in range(3)], ["0"] * 3)
                self.assertEqual(len(self.wait_logged(self.path)), 1)
                workload.go_on()
                self.assertEqual(workload.wait(), 0)

    def test_a_server_with_the_overflow_uid_gets_no_reports(self):
        """The overflow uid stands for every unmapped user. A workload with the overflow uid
        therefore does not report to a server with this uid."""
        stranger = self.start(as_user(OVERFLOW, sys.executable, "-c", textwrap.dedent(LISTENER),
                                      self.path))
        self.assertEqual(stranger.line(), "ready")
        self.start_workload(OVERFLOW, TTMEM_SOCKET=self.path)
        self.wait_logged(f"belongs to user {OVERFLOW}")
        self.assertEqual(stranger.line(), "0")

    def test_all_users_report_to_the_server_of_root(self):
        self.start_server("--quiet")
        for uid in (0, OTHER, OVERFLOW):
            self.wait_held(self.start_workload(uid, TTMEM_SOCKET=self.path))

    def test_a_user_reports_to_his_own_server(self):
        server = Server(self.path, self.env, command=as_user(OTHER, TTMEM, "serve"))
        self.addCleanup(server.end)
        self.wait_for(lambda: self._answers(server), "the server to answer")
        self.wait_held(self.start_workload(OTHER, TTMEM_SOCKET=self.path))

    def test_the_doctor_warns_of_a_stranger(self):
        stranger = self.start(as_user(OTHER, sys.executable, "-c", textwrap.dedent(LISTENER),
                                      self.path))
        self.assertEqual(stranger.line(), "ready")
        findings = self.ttmem("doctor", env={**self.env, "TTMEM_SOCKET": self.path})
        said = " ".join(findings.stdout.split())
        self.assertIn(f"{self.path} belongs to {OTHER}: programs tell it nothing", said)


@unittest.skipIf(TTMEM.startswith(("/tmp/", "/run/")), "replaces /tmp and /run")
class DefaultPaths(SocketOwner):
    """Runs in a mount namespace with its own /tmp and /run."""

    SHARED = "/tmp/tt_allocation_server.sock"
    SAFE = "/run/ttmem/allocation_server.sock"

    def setUp(self):
        super().setUp()
        holder = self.start(["unshare", "--mount", "--propagation", "private", "sh", "-c",
                             "mount -t tmpfs -o mode=1777 none /tmp && "
                             "mount -t tmpfs -o mode=755 none /run && "
                             f"install -d -o {OTHER} -m 700 /run/user/{OTHER} && "
                             "echo ready && read end"])
        self.assertEqual(holder.line(), "ready")
        self.inside = ["nsenter", "--mount", f"--target={holder.pid}", "--"]
        self.root = pathlib.Path(f"/proc/{holder.pid}/root")

    def serve(self, uid=0, *more, **variables):
        server = self.start([*self.inside, *as_user(uid, TTMEM, "serve", "--http", "127.0.0.1:0",
                                                    *more)], {**self.env, **variables})
        said = []
        while not said or "HTTP on" not in said[-1]:
            said.append(server.line("stderr"))
        return server, said

    def facts(self, path):
        return os.lstat(self.root / path[1:])

    def squat(self, path, uid=OTHER):
        stranger = self.start([*self.inside, *as_user(uid, sys.executable, "-c",
                                                      textwrap.dedent(LISTENER), path)])
        self.assertEqual(stranger.line(), "ready")
        return stranger

    def test_root_listens_where_only_root_can_and_at_the_path_of_the_original_tools(self):
        server, _ = self.serve()
        self.assertEqual(stat.S_IMODE(self.facts("/run/ttmem").st_mode), 0o755)
        for path in (self.SAFE, self.SHARED):
            self.assertEqual(stat.S_IMODE(self.facts(path).st_mode), 0o666)
        self.wait_held(self.start_workload(OTHER, self.inside))
        server.signal(15)
        self.assertEqual(server.wait(), 0)
        for path in (self.SAFE, self.SHARED):
            self.assertFalse((self.root / path[1:]).exists())

    def test_a_narrow_umask_does_not_close_the_socket(self):
        command = self.inside
        self.inside = [*command, "sh", "-c", 'umask 077; exec "$@"', "sh"]
        self.serve()
        self.inside = command
        self.assertEqual(stat.S_IMODE(self.facts("/run/ttmem").st_mode), 0o755)

    def test_a_squatter_keeps_its_socket_and_gets_no_reports(self):
        stranger = self.squat(self.SHARED)
        before = self.facts(self.SHARED)
        _, said = self.serve()
        self.assertTrue([line for line in said if "warning" in line and self.SHARED in line], said)
        self.wait_held(self.start_workload(0, self.inside))
        stranger.kill()
        self.assertEqual(self.facts(self.SHARED).st_ino, before.st_ino)
        after = stranger.process.stdout.read().split()
        self.assertEqual(set(after) - {b"0"}, set())

    def test_links_of_a_stranger_are_neither_followed_nor_removed(self):
        target = self.root / "run/victim"
        target.write_text("mine")
        for leave in (f"ln -s /run/victim {self.SHARED}", f"ln -s {self.SAFE} {self.SHARED}",
                      f"touch {self.SHARED}"):
            with self.subTest(leave):
                self.start([*self.inside, *as_user(OTHER, "sh", "-c", leave)]).wait()
                before = self.facts(self.SHARED)
                server, _ = self.serve()
                self.wait_held(self.start_workload(0, self.inside))
                server.signal(15)
                self.assertEqual(server.wait(), 0)
                self.assertEqual(self.facts(self.SHARED).st_ino, before.st_ino)
                self.assertEqual(target.read_text(), "mine")
                os.unlink(self.root / self.SHARED[1:])

    def test_a_stale_socket_of_a_stranger_is_left_alone(self):
        self.squat(self.SHARED).kill()
        before = self.facts(self.SHARED)
        self.serve()
        self.assertEqual(self.facts(self.SHARED).st_ino, before.st_ino)

    def test_a_user_listens_in_the_runtime_directory(self):
        folder = f"/run/user/{OTHER}"
        self.squat(self.SHARED, 54321)
        self.serve(OTHER, XDG_RUNTIME_DIR=folder)
        path = f"{folder}/ttmem/allocation_server.sock"
        self.assertEqual(stat.S_IMODE(self.facts(path).st_mode), 0o600)
        self.wait_held(self.start_workload(OTHER, self.inside, XDG_RUNTIME_DIR=folder))

    def test_a_named_socket_is_the_only_one(self):
        for more, variables in ((("--socket", "/tmp/named"), {}), ((), {"TTMEM_SOCKET": "/tmp/named"})):
            with self.subTest(more=more):
                server, _ = self.serve(0, *more, **variables)
                self.assertFalse((self.root / "run/ttmem").exists())
                self.assertFalse((self.root / self.SHARED[1:]).exists())
                self.wait_held(self.start_workload(0, self.inside, TTMEM_SOCKET="/tmp/named"))
                server.signal(15)
                server.wait()

    def test_a_second_server_refuses_and_names_the_first(self):
        first, _ = self.serve()
        second = self.start([*self.inside, TTMEM, "serve", "--http", "127.0.0.1:0"])
        self.assertEqual(second.wait(), 1)
        said = second.process.stderr.read().decode()
        self.assertIn("already listens", said)
        self.assertTrue((self.root / self.SHARED[1:]).exists())

    def test_a_run_that_cannot_be_written_is_no_failure(self):
        for left in ((), ("run/ttmem",)):  # the folder is left from an earlier server
            with self.subTest(left=left):
                for folder in left:
                    self.start([*self.inside, "mount", "-o", "remount,rw", "/run"]).wait()
                    (self.root / folder).mkdir()
                self.start([*self.inside, "mount", "-o", "remount,ro", "/run"]).wait()
                server, said = self.serve()
                self.assertTrue([line for line in said if self.SAFE in line and
                                 "not listening" in line and "Read-only" in line], said)
                self.wait_held(self.start_workload(0, self.inside))
                server.signal(15)
                self.assertEqual(server.wait(), 0)


if __name__ == "__main__":
    unittest.main()
