# SPDX-License-Identifier: Apache-2.0
"""Clients of the socket, and how they end. A connection may end while its process stays alive. A
client that is killed leaves the same evidence as a killed process that uses shared memory."""

import os
import pathlib
import signal
import sys
import textwrap
import unittest

from http_case import HttpCase
from support import HERE, LIBRARY, MIB, TTMEM, build_consumer, rounds
import wire

# A client of the original protocol. Each line that the test sends is a command, such as
# "alloc CONNECTION ID BYTES". The test names the connections.
ORIGINAL = """
    import os, sys, wire
    connections = {}
    print("ready", flush=True)
    for line in sys.stdin:
        word, number, *rest = line.split()
        rest = [int(value) for value in rest]
        if word == "open":
            connections[number] = wire.Client(os.environ["TTMEM_SOCKET"])
        elif word == "alloc":
            connections[number].alloc(rest[0], rest[1], wire.L1)
        elif word == "free":
            connections[number].free(rest[0])
        elif word == "close":
            connections.pop(number).close()
        if number in connections:
            connections[number].ask(wire.QUERY)  # all was taken
        print(word, flush=True)
"""

LIBRARY_CLIENT = """
    from abi import *
    open_device()
    alloc(DRAM, 1, 1024, label=b"layers.0.weight")
    place(7, (105664, 4096, [(0, 0, 7, 7)]))
    hold()
"""


class Clients(HttpCase):
    def run_python(self, code, **more):
        return self.start([sys.executable, "-c", textwrap.dedent(code)], env={
            **self.tracked(TTMEM_TRANSPORT="socket", TTMEM_SOCKET=self.path, TTMEM_LIB=LIBRARY),
            "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1", **more})

    def original(self):
        client = self.run_python(ORIGINAL)
        self.assertEqual(client.line(), "ready")
        return client

    def tell(self, client, *words):
        for text in words:
            client.process.stdin.write(f"{text}\n".encode())
            client.process.stdin.flush()
            self.assertEqual(client.line(), text.split()[0])

    def library_client(self, code=LIBRARY_CLIENT):
        client = self.run_python(code)
        self.assertEqual(client.line(), "ready")
        self.wait_for(lambda: (self.row(client) or {}).get("cb_bytes"), "the client to be seen")
        return client

    def row(self, client):
        return self.rows().get((0, client.pid))

    def connections(self):
        """Returns the number of connections that the server has accepted on its Unix sockets."""
        folder = pathlib.Path(f"/proc/{self.server.pid}/fd")
        links = set()
        for name in os.listdir(folder):
            try:
                links.add(os.readlink(folder / name))
            except OSError:
                pass  # closed meanwhile
        # Columns of /proc/net/unix: the state, where 03 means connected, and the inode.
        rows = [line.split() for line in pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]]
        return sum(row[5] == "03" and f"socket:[{row[6]}]" in links for row in rows)

    def metric(self, name):
        return next(float(line.split()[1]) for line in self.get("/metrics").splitlines()
                    if line.startswith(name + " "))


class Killed(Clients):
    """Clients that are killed with SIGKILL, and the evidence that they leave."""

    def test_the_library_is_reported_and_removed_like_any_dead_process(self):
        self.serve()
        client = self.library_client()
        held = self.row(client)
        client.kill()
        found = self.wait_for(lambda: self.get_json("/api/v1/postmortems")["postmortems"],
                              "the post-mortem")
        (postmortem,) = found
        self.assertEqual((postmortem["pid"], postmortem["user"], postmortem["removed"]),
                         (client.pid, held["user"], True))
        self.assertEqual((postmortem["dram_bytes"], postmortem["cb_bytes"]),
                         (12 * 1024, 64 * 4096))
        self.assertEqual(postmortem["largest"][0]["label"], "layers.0.weight")
        self.assertIn("python", postmortem["name"])
        self.wait_said(self.server, f"[DEAD] [PID {client.pid}] ", "ended without freeing",
                       "cb 256.0 KiB")
        self.assertEqual(self.metric("ttmem_dead_processes_total"), 1)
        self.assertEqual((self.devices(), self.segments()), ([], []))
        self.assertEqual(self.json()["warnings"], [])

    def test_an_original_client_too(self):
        self.serve()
        client = self.original()
        self.tell(client, "open a", f"alloc a 4096 {3 * MIB}")
        client.kill()
        self.wait_said(self.server, f"[DEAD] [PID {client.pid}] ", "l1 3.00 MiB")
        self.assertEqual(self.metric("ttmem_dead_processes_total"), 1)
        self.wait_for(lambda: not self.segments(), "the reaper")

    def test_a_zombie_is_dead(self):
        """The server looks while the killed process is a zombie, before its parent has waited for
        it."""
        self.serve("--no-reap")
        client = self.original()
        self.tell(client, "open a", f"alloc a 4096 {3 * MIB}")
        client.signal(signal.SIGKILL)
        self.wait_for(lambda: self.row(client)["state"] == "dead", "the dead row")
        client.wait()

    def test_without_a_reaper_the_table_shows_it_and_clean_removes_it(self):
        self.serve("--no-reap")
        client = self.library_client()
        client.kill()
        row = self.wait_for(lambda: self.row(client)["state"] == "dead" and self.row(client),
                            "the dead row")
        self.assertEqual((row["dram_bytes"], row["cb_bytes"]), (12 * 1024, 64 * 4096))
        self.assertIn("dead", self.ttmem().stdout)
        self.assertIsNone(self.devices()[0]["dram"]["used_bytes"])
        said = self.ttmem("clean").stdout
        self.assertIn("1 dead process held", said)
        self.assertIn(str(client.pid), said)
        self.assertEqual((self.segments(), self.devices()), ([], []))

    def test_a_server_that_comes_later_reports_it(self):
        server = self.serve("--no-reap")
        client = self.library_client()
        client.kill()
        self.wait_for(lambda: self.row(client)["state"] == "dead", "the dead row")
        server.kill()
        self.serve()
        self.wait_said(self.server, f"[DEAD] [PID {client.pid}] ", "cb 256.0 KiB")
        self.wait_for(lambda: not self.segments(), "the reaper")

    def test_many_at_once(self):
        self.serve()
        clients = [self.original() for _ in range(20)]
        for client in clients:
            self.tell(client, "open a", f"alloc a 4096 {MIB}")
        for client in clients:
            client.signal(signal.SIGKILL)
        self.wait_for(lambda: self.metric("ttmem_dead_processes_total") == 20, "all of them")
        self.wait_for(lambda: not self.segments(), "the reaper")

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become another user")
    def test_a_killed_client_keeps_its_user(self):
        self.serve()
        os.chmod(self.dir, 0o755)
        client = self.run_python(ORIGINAL.replace("connections = {}", """connections = {}
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)"""))
        self.assertEqual(client.line(), "ready")
        self.tell(client, "open a", f"alloc a 4096 {MIB}")
        client.kill()
        self.wait_said(self.server, f"[DEAD] [PID {client.pid}] ", "of nobody ended")


class Ended(Clients):
    def test_the_library_leaves_nothing_after_a_clean_exit(self):
        """exit() is a clean end even with live buffers, with the socket as with shared memory."""
        self.serve()
        client = self.library_client()
        client.go_on()
        self.assertEqual(client.wait(), 0)
        self.wait_for(lambda: not self.segments(), "the segment to go")
        self.wait_said(self.server, f"[PID {client.pid}] ", "exited and left on device 0")
        passes = self.metric("ttmem_server_passes_total")
        self.wait_for(lambda: self.metric("ttmem_server_passes_total") > passes + 1, "two passes")
        self.assertEqual(self.metric("ttmem_dead_processes_total"), 0)
        self.assertFalse(self.server.said("[DEAD]"))

    def test_an_original_client_that_exits_with_something_held_is_evidence(self):
        self.serve()
        client = self.original()
        self.tell(client, "open a", f"alloc a 4096 {MIB}")
        client.close_stdin()
        self.assertEqual(client.wait(), 0)
        self.wait_said(self.server, f"[DEAD] [PID {client.pid}] ", "l1 1.00 MiB")

    def test_a_client_that_freed_everything_leaves_nothing(self):
        self.serve()
        client = self.original()
        self.tell(client, "open a", f"alloc a 4096 {MIB}", "free a 4096")
        client.kill()
        self.wait_for(lambda: not self.segments(), "the segment to go")
        self.assertFalse(self.server.said("[DEAD]"))

    def test_an_exit_without_a_goodbye_is_not_clean(self):
        self.serve()
        client = self.library_client(LIBRARY_CLIENT + "    os._exit(0)\n")
        client.go_on()
        self.assertEqual(client.wait(), 0)
        self.wait_said(self.server, f"[DEAD] [PID {client.pid}] ")


class Busy(Clients):
    """A client sends faster than the server reads, and then ends. The server reads everything
    before it decides how the client ended."""

    DIED = "ended without freeing"
    HELD = 64  # buffers of 24 KiB

    def setUp(self):
        super().setUp()
        self.flood = build_consumer(self.folder, "flood")
        self.server = self.start_server("--quiet")

    def start_flood(self, pairs, *more):
        return self.start([self.flood, pairs, self.HELD, *more],
                          self.tracked(TTMEM_TRANSPORT="socket", TTMEM_SOCKET=self.path))

    def wait_seen(self, flood):
        self.assertEqual(flood.line(), "ready")
        self.wait_for(lambda: (self.row(flood) or {}).get("allocations") == self.HELD,
                      "all that it holds")

    def flood_a_stopped_server(self):
        """A client that the server knows sends messages while the server is stopped, and then
        ends."""
        flood = self.start_flood(300_000, "before")
        self.wait_seen(flood)
        self.server.signal(signal.SIGSTOP)
        flood.go_on()
        self.assertEqual(flood.wait(), 0)

    def deaths(self):
        """Waits until the server has removed all clients, and stops the server. Returns the lines
        of its log about dead clients."""
        client = wire.Client(self.path)
        client.ask(wire.QUERY)  # after the answer, all earlier connections are accepted
        client.close()
        self.wait_for(lambda: self.connections() == 0, "all connections to end")
        self.wait_for(lambda: not self.segments(), "the segments of those that ended to go")
        self.server.stop()
        return self.server.said(self.DIED)

    def test_processes_that_exit_right_after_their_last_free_have_not_died(self):
        for pairs in (60_000, 200_000, 400_000):
            floods = [self.start_flood(pairs) for _ in range(rounds(10))]
            self.assertEqual({flood.wait() for flood in floods}, {0})
        self.assertEqual(self.deaths(), [])

    def test_a_process_that_exits_while_the_server_does_not_read_has_not_died(self):
        self.flood_a_stopped_server()
        self.server.signal(signal.SIGCONT)
        self.assertEqual(self.deaths(), [])

    def test_the_warning_goes_when_the_figures_are_exact_again(self):
        """The library sends everything live again, which replaces the messages that the server did
        not read."""
        flood = self.start_flood(300_000, "both")
        self.wait_seen(flood)
        self.server.signal(signal.SIGSTOP)
        flood.go_on()
        self.assertEqual(flood.line(), "ready")
        self.server.signal(signal.SIGCONT)
        self.wait_for(lambda: (self.row(flood) or {}).get("allocations") == self.HELD + 1,
                      "what it allocated last")
        self.wait_for(lambda: not self.json()["warnings"], "the warning to go")

    def test_a_server_that_stops_reads_the_goodbye(self):
        self.flood_a_stopped_server()
        self.server.signal(signal.SIGTERM)
        self.server.signal(signal.SIGCONT)
        self.assertEqual(self.server.wait(), 0)
        self.assertEqual(self.files(), [])

    def test_a_client_killed_among_them_has_died_with_its_exact_figures(self):
        victim = self.start_flood(200_000, "after")
        floods = [self.start_flood(200_000) for _ in range(4)]
        self.wait_seen(victim)
        victim.kill()
        self.assertEqual({flood.wait() for flood in floods}, {0})
        (line,) = self.deaths()
        self.assertIn(f"[PID {victim.pid}]", line)
        self.assertIn(" dram 1.50 MiB,", line)
        self.assertIn("; 64 allocations", line)


class Alive(Clients):
    """Processes that close their connection and stay alive."""

    def test_a_client_keeps_its_figures_and_continues(self):
        self.serve()
        client = self.original()
        self.tell(client, "open a", f"alloc a 4096 {MIB}", f"alloc a 8192 {2 * MIB}", "close a")
        self.wait_said(self.server, f"[PID {client.pid}] ", "has not ended and keeps 2 allocations")
        self.assertEqual((self.row(client)["state"], self.row(client)["l1_bytes"]),
                         ("alive", 3 * MIB))
        self.tell(client, "open b", "free b 4096")
        self.assertEqual(self.row(client)["l1_bytes"], 2 * MIB)
        self.tell(client, f"alloc b 12288 {4 * MIB}")
        self.assertEqual(len(self.segments()), 1)
        self.tell(client, "free b 8192", "free b 12288", "close b")
        self.wait_for(lambda: not self.segments(), "the segment of one that holds nothing to go")

    def test_the_end_of_a_client_is_noticed_without_a_connection(self):
        self.serve()
        client = self.original()
        self.tell(client, "open a", f"alloc a 4096 {MIB}", "close a")
        self.wait_said(self.server, "has not ended and keeps")
        self.assertEqual(self.row(client)["state"], "alive")
        client.kill()
        self.wait_said(self.server, f"[DEAD] [PID {client.pid}] ", "l1 1.00 MiB")
        self.wait_for(lambda: not self.segments(), "the reaper")

    def test_a_buffer_allocated_over_two_connections_needs_two_frees(self):
        self.serve()
        client = self.original()
        self.tell(client, "open a")
        self.tell(client, "open b", f"alloc a 4096 {MIB}", f"alloc b 4096 {MIB}",
                  f"alloc b 8192 {2 * MIB}", "close b")
        self.wait_for(lambda: self.connections() == 1, "the connection to end")
        self.assertEqual(self.row(client)["l1_bytes"], 3 * MIB)
        self.tell(client, "free a 4096")
        self.assertEqual(self.row(client)["l1_bytes"], 3 * MIB)
        self.tell(client, "free a 4096", "free a 8192")
        self.assertEqual(self.row(client)["l1_bytes"], 0)

    def test_a_server_that_is_restarted_knows_the_library_again_and_sees_its_end(self):
        server = self.serve()
        client = self.library_client()
        self.assertEqual(server.stop(), 0)
        self.assertEqual(self.segments(), [])
        self.serve()
        self.wait_for(lambda: self.row(client), "the client to come back")
        self.server.kill()
        self.serve()
        self.wait_for(lambda: (self.row(client) or {}).get("cb_bytes"), "the client to come back")
        client.kill()
        self.wait_said(self.server, f"[DEAD] [PID {client.pid}] ", "cb 256.0 KiB")
        self.assertEqual(len(self.server.said("ended without freeing")), 1)

    def test_a_client_that_comes_and_goes_costs_nothing(self):
        self.serve()
        client = self.start([sys.executable, "-c", textwrap.dedent("""
            import os, socket, sys, wire
            stream = wire.message(wire.ALLOC, buffer_id=4096, size=1 << 20)
            for _ in range(5000):
                one = socket.socket(socket.AF_UNIX)
                one.connect(os.environ["TTMEM_SOCKET"])
                one.sendall(stream)
                one.close()
            print("done", flush=True)
            sys.stdin.read()
        """)], env={**self.env, "TTMEM_SOCKET": self.path, "PYTHONPATH": str(HERE),
                    "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(client.line(), "done")
        self.wait_for(lambda: self.connections() == 0, "the last connection to end")
        self.assertEqual((self.row(client)["dram_bytes"], self.row(client)["allocations"]),
                         (MIB, 1))
        self.assertLess(len(os.listdir(f"/proc/{self.server.pid}/fd")), 30)
        client.kill()
        self.wait_said(self.server, f"[DEAD] [PID {client.pid}] ")
        self.wait_for(lambda: not self.segments(), "the reaper")


class Unseen(Clients):
    @unittest.skipUnless(os.geteuid() == 0, "needs root, for a pid namespace")
    def test_a_process_that_the_server_cannot_see_ends_with_its_connection(self):
        server = self.start_server(command=(
            "unshare", "--pid", "--fork", "--kill-child", "--mount-proc", TTMEM, "serve"))
        client = self.original()
        self.tell(client, "open a", f"alloc a 4096 {3 * MIB}", "open b", "alloc b 4096 4096",
                  "free b 4096")
        self.assertEqual(len(self.segments()), 2)
        self.tell(client, "close a", "close b")
        self.wait_said(server, f"[DEAD] [PID {client.pid}] a process of root ", "l1 3.00 MiB")
        self.wait_for(lambda: not self.segments(), "the reaper")
        self.assertEqual(len(server.said("ended without freeing")), 1)


if __name__ == "__main__":
    unittest.main()
