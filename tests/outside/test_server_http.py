# SPDX-License-Identifier: Apache-2.0
"""The HTTP server of `ttmem serve`: its figures equal the figures of the commands, and no client
can disturb the server."""

import concurrent.futures
import json
import os
import re
import signal
import socket
import time
import unittest

from http_case import HttpCase
from support import KINDS_OF_PROCESS, MIB, build_consumer, skip_if_sanitized

# Fields that differ between two snapshots of an unchanged state.
MOVING = ("time_unix_ns", "age_ns")


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in MOVING}
    if isinstance(value, list):
        return [without_times(part) for part in value]
    return value


def samples(text):
    """Returns {name: [(labels, value)]} of a metrics page."""
    page = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
        pairs = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or ""))
        page.setdefault(name, []).append((pairs, float(value)))
    return page


class Figures(HttpCase):
    def test_figures_equal_the_figures_of_the_commands(self):
        self.start_demo()
        self.serve()
        for target, arguments in (("/api/v1/snapshot", []),
                                  ("/api/v1/snapshot?device=0,3", ["--device", "0,3"]),
                                  ("/api/v1/snapshot?device=0-2,6", ["--device", "0-2,6"]),
                                  ("/api/v1/allocations", ["allocs"]),
                                  ("/api/v1/programs", ["programs"]),
                                  ("/api/v1/programs?device=3-5", ["programs", "--device", "3-5"]),
                                  ("/api/v1/allocations?kind=cb,l1&device=2",
                                   ["allocs", "--kind", "cb,l1", "--device", "2"])):
            served, said = self.get_json(target), self.json(*arguments)
            self.assertEqual(without_times(served), without_times(said), target)
        self.assertEqual(len(self.get_json("/api/v1/snapshot")["devices"]), 8)

    def test_allocations_of_one_process(self):
        first, second = self.start_demo("single"), self.start_demo("single")
        self.serve()
        both = self.get_json("/api/v1/allocations")["allocations"]
        self.assertEqual({entry["pid"] for entry in both}, {first.pid, second.pid})
        one = self.get_json(f"/api/v1/allocations?pid={first.pid}")["allocations"]
        self.assertEqual({entry["pid"] for entry in one}, {first.pid})
        self.assertEqual(2 * len(one), len(both))
        programs = self.get_json(f"/api/v1/programs?pid={second.pid}")["programs"]
        self.assertEqual({entry["pid"] for entry in programs}, {second.pid})

    def test_metrics_have_the_figures_of_the_snapshot(self):
        demo = self.start_demo()
        self.serve()
        page = samples(self.get("/metrics"))
        self.assertEqual(page["ttmem_up"], [({}, 1.0)])
        cb = {(labels["device"], labels["view"]): value
              for labels, value in page["ttmem_cb_bytes"]}
        used = {(labels["device"], labels["kind"]): value
                for labels, value in page["ttmem_memory_used_bytes"]}
        capacity = {(labels["device"], labels["memory"]): value
                    for labels, value in page["ttmem_memory_capacity_bytes"]}
        devices = self.devices()
        self.assertEqual(len(devices), 8)
        for device in devices:
            number, l1 = str(device["id"]), device["l1"]
            for view in ("physical", "resident", "logical"):
                self.assertEqual(cb[number, view], l1["cb"][f"{view}_bytes"])
            self.assertEqual(used[number, "dram"], device["dram"]["used_bytes"])
            self.assertEqual(used[number, "l1"], l1["buffers"]["physical_bytes"])
            self.assertEqual(used[number, "kernel"], l1["kernels_bytes"])
            self.assertEqual(capacity[number, "dram"], device["dram"]["capacity_bytes"])
            self.assertEqual(capacity[number, "l1"], l1["capacity_bytes"])
        of_process = page["ttmem_process_memory_used_bytes"]
        self.assertEqual({labels["pid"] for labels, _ in of_process}, {str(demo.pid)})

    def test_no_process_metrics_names_no_process(self):
        demo = self.start_demo("single")
        self.serve("--no-process-metrics")
        page = samples(self.get("/metrics"))
        self.assertIn("ttmem_memory_used_bytes", page)
        self.assertNotIn("ttmem_process_memory_used_bytes", page)
        self.assertNotIn("ttmem_process_info", page)
        command = " ".join(map(str, demo.command))
        for name, values in page.items():
            for labels, _ in values:
                self.assertEqual({"pid", "process", "user", "command"} & labels.keys(), set(), name)
                self.assertEqual({str(demo.pid), command} & set(labels.values()), set(), name)

    def test_counters_do_not_go_down_when_a_process_ends(self):
        self.serve()
        demo = self.start_demo("single")

        def allocations():
            return sum(value for _, value in
                       samples(self.get("/metrics")).get("ttmem_allocations_total", []))

        before = self.wait_for(allocations, "the pass that sees the demo")
        self.assertGreater(before, 0)
        demo.signal(signal.SIGINT)
        demo.wait()
        self.assertEqual(self.get_json("/api/v1/snapshot")["devices"], [])
        self.assertEqual(allocations(), before)
        self.start_demo("single")
        self.assertEqual(allocations(), 2 * before)

    def test_history_grows_by_a_point_a_second_with_the_figures_of_the_device(self):
        self.start_demo()
        self.serve()
        self.wait_for(lambda: self.request("/api/v1/history?device=3")[0] == 200 and
                      len(self.get_json("/api/v1/history?device=3")["points"]) >= 3,
                      "three points")
        history = self.get_json("/api/v1/history?device=3&seconds=600")
        device = self.devices()[3]
        self.assertEqual(history["schema"], "ttmem.history.v1")
        self.assertEqual((history["device"], history["uid"]), (3, device["uid"]))
        self.assertEqual(history["interval_seconds"], 1)
        times = [point["time_unix_ns"] for point in history["points"]]
        self.assertEqual(times, sorted(set(times)))
        for point in history["points"]:
            self.assertEqual(point["dram_bytes"], device["dram"]["used_bytes"])
            self.assertEqual(point["cb_bytes"], device["l1"]["cb"]["physical_bytes"])
            self.assertEqual(point["l1_used_bytes"], device["l1"]["used_bytes"])
            self.assertGreaterEqual(point["l1_used_peak_bytes"], point["l1_used_bytes"])
        minutes = self.get_json("/api/v1/history?device=3&seconds=86400")
        self.assertEqual(minutes["interval_seconds"], 60)
        self.assertIn(len(minutes["points"]), (1, 2))


class LongLists(HttpCase):
    HELD = 200_000

    def test_a_list_is_cut_and_says_so_and_memory_is_bounded(self):
        skip_if_sanitized()
        self.serve()
        flood = self.start([build_consumer(self.folder, "flood"), 0, self.HELD, "after"],
                           self.tracked())
        self.assertEqual(flood.line(), "ready")
        with concurrent.futures.ThreadPoolExecutor(4) as four:
            answers = list(four.map(self.request, ["/api/v1/allocations"] * 4))
        for status, _, body in answers:
            self.assertEqual(status, 200, body[:200])
            document = json.loads(body)
            self.assertEqual((len(document["allocations"]), document["total"],
                              document["truncated"]), (100_000, self.HELD, True))
        with open(f"/proc/{self.server.pid}/status", encoding="ascii") as status:
            peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
        self.assertLess(peak, 600 * 1024)  # KiB; without a maximum each list took 800 MiB


class Reaper(HttpCase):
    def test_a_killed_process_is_reported_with_what_it_held_and_removed(self):
        demo = self.start_demo("single")
        self.serve()
        held = self.devices()[0]["processes"][0]
        largest = self.json("allocs")["allocations"][:10]
        demo.kill()
        self.wait_for(lambda: self.segments() == [], "the segment to be removed")
        found = self.get_json("/api/v1/postmortems")
        self.assertEqual(found["schema"], "ttmem.postmortems.v1")
        (postmortem,) = found["postmortems"]
        self.assertEqual(postmortem["pid"], demo.pid)
        self.assertTrue(postmortem["removed"])
        self.assertIn("demo single --hold", postmortem["command"])
        for kind in (*KINDS_OF_PROCESS, "allocations"):
            self.assertEqual(postmortem[kind], held[kind], kind)
        self.assertEqual([entry["used_bytes"] for entry in postmortem["largest"]],
                         [entry["physical_bytes"] or entry["bytes"] for entry in largest])
        line = self.wait_for(lambda: self.logged(f"[DEAD] [PID {demo.pid}] "), "the log")[0]
        self.assertIn(f"cb {held['cb_bytes'] / MIB:.1f} MiB", line)
        self.assertEqual(self.get_json("/api/v1/snapshot")["devices"], [])
        self.assertEqual(samples(self.get("/metrics"))["ttmem_dead_processes_total"], [({}, 1.0)])

    def test_no_reap_reports_once_and_keeps_the_segment(self):
        demo = self.start_demo("single")
        self.serve("--no-reap")
        demo.kill()
        self.wait_for(lambda: self.get_json("/api/v1/postmortems")["postmortems"], "a post-mortem")
        passes = samples(self.get("/metrics"))["ttmem_server_passes_total"][0][1]
        self.wait_for(lambda: samples(self.get("/metrics"))["ttmem_server_passes_total"][0][1] >
                      passes + 2, "two more passes")
        (postmortem,) = self.get_json("/api/v1/postmortems")["postmortems"]
        self.assertFalse(postmortem["removed"])
        self.assertEqual(len(self.segments()), 1)
        dead = samples(self.get("/metrics"))["ttmem_dead_owner_bytes"]
        self.assertGreater(dead[0][1], 0)

    def test_a_clean_end_gives_no_post_mortem(self):
        demo = self.start_demo("single")
        self.serve()
        demo.signal(signal.SIGINT)
        demo.wait()
        passes = samples(self.get("/metrics"))["ttmem_server_passes_total"][0][1]
        self.wait_for(lambda: samples(self.get("/metrics"))["ttmem_server_passes_total"][0][1] >
                      passes + 1, "a pass")
        self.assertEqual(self.get_json("/api/v1/postmortems")["postmortems"], [])


class Http(HttpCase):
    def setUp(self):
        super().setUp()
        self.serve()

    def test_an_index_and_a_health_check(self):
        self.assertIn("/api/v1/postmortems", self.get("/api"))
        self.assertEqual(self.get("/healthz"), "ok\n")

    def test_head_has_the_headers_of_get_and_no_body(self):
        # A file of the page, plain and compressed, an answer that the server gives at once, an
        # answer that it computes, and an error.
        for target, asked in (("/", {}), ("/", {"Accept-Encoding": "gzip"}), ("/healthz", {}),
                              ("/api/v1/allocations", {}), ("/nope", {})):
            status, headers, body = self.request(target, method="HEAD", headers=asked)
            got_status, got_headers, got_body = self.request(target, headers=asked)
            self.assertEqual((status, body), (got_status, b""), target)
            self.assertEqual(headers, got_headers, target)
            self.assertEqual(int(headers["Content-Length"]), len(got_body), target)

    def test_head_sends_no_body(self):
        host = f"Host: localhost:{self.port}\r\nConnection: close\r\n\r\n".encode()
        for target in (b"/", b"/healthz", b"/api/v1/allocations"):
            got = self.exchange(b"HEAD " + target + b" HTTP/1.1\r\n" + host)
            self.assertTrue(got.endswith(b"\r\n\r\n"), target)
            self.assertEqual(got.count(b"\r\n\r\n"), 1, target)

    def test_errors_give_a_reason(self):
        for target, method, status, words in (
                ("/nope", "GET", 404, "/nope"),
                ("/metrics", "POST", 405, "GET and HEAD"),
                ("/metrics", "DELETE", 405, "GET and HEAD"),
                ("/api/v1/snapshot?device=x", "GET", 400, "device=x"),
                ("/api/v1/snapshot?device=99", "GET", 404, "no device 99"),
                ("/api/v1/history?device=0&minutes=3", "GET", 400, "minutes"),
                ("/api/v1/allocations?pid=0", "GET", 400, "pid=0")):
            got, headers, body = self.request(target, method=method)
            self.assertEqual(got, status, target)
            self.assertIn(words, json.loads(body)["error"])
            self.assertEqual(headers.get("Allow"), "GET, HEAD" if status == 405 else None)

    def test_foreign_host_names_are_refused(self):
        for host in (f"localhost:{self.port}", f"127.0.0.1:{self.port}", "localhost", "[::1]"):
            self.assertEqual(self.request("/healthz", headers={"Host": host})[0], 200, host)
        for host in ("evil.example", f"evil.example:{self.port}", f"localhost:{self.port + 1}",
                     "127.0.0.2"):
            self.assertEqual(self.request("/healthz", headers={"Host": host})[0], 403, host)

    def test_pipelined_requests_are_answered_in_their_order(self):
        host = f"Host: localhost:{self.port}\r\n".encode()
        got = self.exchange(b"GET /healthz HTTP/1.1\r\n" + host + b"\r\n"
                            b"GET /nope HTTP/1.1\r\n" + host + b"\r\n"
                            b"HEAD / HTTP/1.1\r\n" + host + b"\r\n"
                            b"GET /healthz HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n")
        self.assertEqual(re.findall(rb"HTTP/1.1 (\d+)", got), [b"200", b"404", b"200", b"200"])

    def test_http_1_0_closes_unless_keep_alive_is_requested(self):
        got = self.exchange(b"GET /healthz HTTP/1.0\r\n\r\n")
        self.assertTrue(got.startswith(b"HTTP/1.0 200"), got)
        got = self.exchange(b"GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
                            b"GET /nope HTTP/1.0\r\n\r\n")
        self.assertEqual(re.findall(rb"HTTP/1.0 (\d+)", got), [b"200", b"404"])

    def test_broken_requests_are_refused_and_closed(self):
        long_header = b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 9000 + b"\r\n\r\n"
        for sent, status in ((b"\x00\x01\x02garbage\r\n\r\n", b"400"),
                             (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", b"400"),
                             (b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", b"400"),
                             (b"GET /%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                              b"400"),
                             (long_header, b"431"),
                             (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
                              b"413"),
                             (b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked"
                              b"\r\n\r\n5\r\nhello\r\n0\r\n\r\n", b"413")):
            got = self.exchange(sent)
            self.assertIn(b" " + status + b" ", got.split(b"\r\n")[0], sent[:60])
        self.assertEqual(self.get("/healthz"), "ok\n")

    def test_partial_requests_and_lost_clients_do_no_harm(self):
        for _ in range(50):
            connection = self.connect()
            connection.sendall(b"GET /metrics HT")
            connection.close()
        self.assertEqual(self.get("/healthz"), "ok\n")

    def test_a_client_one_byte_at_a_time_is_answered(self):
        connection = self.connect()
        request = f"GET /healthz HTTP/1.1\r\nHost: localhost:{self.port}\r\n\r\n".encode()
        for byte in request:
            connection.sendall(bytes([byte]))
        self.assertIn(b"200", connection.recv(4096))

    def test_silent_clients_do_not_keep_others_out(self):
        silent = [self.connect() for _ in range(200)]
        for connection in silent[::2]:
            try:
                connection.sendall(b"GET / HTTP/1.1\r\nHo")
            except OSError:
                pass  # the server closed the connection in favour of another client
        for _ in range(20):
            self.assertEqual(self.get("/healthz"), "ok\n")

    def test_a_silent_client_is_closed_after_a_while(self):
        connection = self.connect()
        begin = time.monotonic()
        self.assertEqual(connection.recv(1), b"")
        self.assertGreater(time.monotonic() - begin, 5)  # the server gave it time

    def test_a_client_that_does_not_read_does_no_harm(self):
        self.start_demo()
        request = f"GET /api/v1/snapshot HTTP/1.1\r\nHost: localhost:{self.port}\r\n\r\n".encode()
        lazy = [self.connect() for _ in range(10)]
        for connection in lazy:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(request * 20)
        for _ in range(20):
            self.assertEqual(len(self.get_json("/api/v1/snapshot")["devices"]), 8)

    def test_health_waits_for_no_client(self):
        """/healthz waits neither for silent clients nor for clients that do not read their
        answers."""
        skip_if_sanitized()  # 16,000 answers take a minute with sanitizers
        self.start_demo()
        request = f"GET /api/v1/snapshot HTTP/1.1\r\nHost: localhost:{self.port}\r\n\r\n".encode()
        lazy = [self.connect() for _ in range(120)]
        for connection in lazy[:80]:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(0.01)
            try:
                connection.sendall(request * 200)
            except OSError:
                pass  # the server reads no more requests
        begin = time.monotonic()
        for _ in range(20):
            self.assertEqual(self.get("/healthz"), "ok\n")
        self.assertLess(time.monotonic() - begin, 20, "a probe of Kubernetes waits for a second")
        status, headers, _ = self.request("/api/v1/snapshot")
        self.assertEqual((status, headers.get("Retry-After")), (503, "1"))

    def test_several_tokens_are_refused(self):
        token = os.path.join(self.folder, "token")
        with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write("0123456789abcdef0123")
        self.path += "2"
        self.serve("--token-file", token)
        right, wrong = (f"Authorization: Bearer {text}\r\n".encode()
                        for text in ("0123456789abcdef0123", "0123456789abcdef0124"))
        for headers, status in ((right, b"200"), (right + wrong, b"400"), (wrong + right, b"400"),
                                (wrong, b"401")):
            got = self.exchange(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                                + headers + b"\r\n")
            self.assertIn(b" " + status + b" ", got.split(b"\r\n")[0])

    def test_long_lists_are_bounded_and_all_others_are_answered(self):
        self.start_demo()
        request = (f"GET /api/v1/allocations HTTP/1.1\r\nHost: localhost:{self.port}\r\n"
                   "Connection: close\r\n\r\n").encode()
        greedy = [self.connect() for _ in range(30)]
        for connection in greedy:
            connection.sendall(request)
        self.assertEqual(self.get("/healthz"), "ok\n")
        codes = {connection.recv(12).split(b" ")[1] for connection in greedy}
        self.assertIn(b"200", codes)
        self.assertLessEqual(codes, {b"200", b"503"})
        for connection in greedy:
            connection.close()
        self.wait_for(lambda: self.request("/api/v1/allocations")[0] == 200, "a place again")

    def test_two_hundred_clients_at_once_are_all_answered(self):
        connections = []
        request = (f"GET /healthz HTTP/1.1\r\nHost: localhost:{self.port}\r\n"
                   "Connection: close\r\n\r\n").encode()
        for _ in range(200):
            connection = self.connect()
            connection.sendall(request)
            connections.append(connection)
        for connection in connections:
            self.assertIn(b" 200 ", connection.recv(4096))


class Start(HttpCase):
    def test_a_taken_address_is_an_error(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        result = self.ttmem("serve", "--socket", os.path.join(self.folder, "s"), "--http", where,
                            code=1)
        self.assertIn(where, result.stderr)
        self.assertIn("--http ADDRESS:PORT", result.stderr)

    def test_an_invalid_address_is_an_error(self):
        result = self.ttmem("serve", "--socket", os.path.join(self.folder, "s"), "--http",
                            "nowhere.invalid:80", code=1)
        self.assertIn("nowhere.invalid", result.stderr)

    def test_it_stops_on_sigterm_with_clients_connected(self):
        server = self.serve()
        self.connect()
        self.get("/healthz")
        server.signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)


if __name__ == "__main__":
    unittest.main()
