# SPDX-License-Identifier: Apache-2.0
"""The socket of `ttmem serve`, used by a client that is written with Python's struct (wire.py)."""

import json
import os
import random
import signal
import socket
import stat
import threading
import unittest

from server_case import Server, ServerCase
from support import DEADLINE_SECONDS, KIB, MIB, PREFIX, TTMEM
import wire
from wire import (ALLOC, CB_ALLOC, CB_FREE, DEVICE_INFO_QUERY, DEVICE_INFO_RESPONSE, DRAM,
                  DUMP_KERNELS, DUMP_REMAINING, FREE, KERNEL_LOAD, KERNEL_UNLOAD, L1, L1_SMALL,
                  QUERY, RESPONSE, SYSTEM, TRACE)

ME = os.getpid()


class Messages(ServerCase):
    """Every message of the table in docs/reference/server.md."""

    def setUp(self):
        super().setUp()
        self.server = self.start_server()
        self.client = self.connect()

    def test_every_buffer_type_reaches_ttmem_and_the_answer(self):
        for number, kind in enumerate((DRAM, L1, SYSTEM, L1_SMALL, TRACE), 1):
            self.client.alloc(number * 4096, number * MIB, kind)
        answer = self.client.ask(QUERY)
        self.assertEqual((answer["type"], answer["device"], answer["pid"]), (RESPONSE, 0, ME))
        self.assertEqual([answer[name] for name in ("dram", "l1", "l1_small", "trace")],
                         [MIB, 2 * MIB, 4 * MIB, 5 * MIB])
        row = self.rows()[0, ME]
        self.assertEqual([row[name] for name in ("dram_bytes", "l1_bytes", "l1_small_bytes",
                                                 "trace_bytes", "allocations")],
                         [MIB, 2 * MIB, 4 * MIB, 5 * MIB, 5])
        self.assertEqual(row["state"], "alive")
        self.assertIn("python", row["name"])

    def test_a_free_needs_no_size(self):
        self.client.alloc(4096, 3 * MIB, L1)
        self.client.free(4096)
        self.assertEqual(self.client.ask(QUERY)["l1"], 0)
        self.wait_said(self.server, "[FREE]", f"[PID {ME}]", "device 0: -3.00 MiB (total 0.00 MiB)")

    def test_the_same_number_is_reference_counted_at_its_largest_size(self):
        for size in (MIB, 2 * MIB, MIB):
            self.client.alloc(4096, size, L1)
        self.assertEqual(self.client.ask(QUERY)["l1"], 2 * MIB)
        self.client.free(4096)
        self.client.free(4096)
        self.assertEqual(self.client.ask(QUERY)["l1"], 2 * MIB)
        self.client.free(4096)
        self.assertEqual(self.client.ask(QUERY)["l1"], 0)

    def test_the_same_number_on_two_devices_is_two_buffers(self):
        self.client.alloc(4096, MIB, device=0)
        self.client.alloc(4096, 2 * MIB, device=7)
        self.client.free(4096, device=0)
        self.assertEqual(self.client.ask(QUERY, device=0)["dram"], 0)
        self.assertEqual(self.client.ask(QUERY, device=7)["dram"], 2 * MIB)

    def test_a_free_of_an_unknown_buffer_changes_nothing(self):
        self.client.alloc(4096, MIB)
        self.client.free(8192)
        self.assertEqual(self.client.ask(QUERY)["dram"], MIB)
        self.wait_said(self.server, "[FREE]", "ignored: 8192 is not allocated")

    def test_circular_buffers_count_once_until_freed_as_often(self):
        self.client.say(CB_ALLOC, buffer_id=1, size=256 * KIB)
        self.client.say(CB_ALLOC, buffer_id=1, size=256 * KIB)
        self.client.say(CB_ALLOC, buffer_id=2, size=MIB)
        self.assertEqual(self.client.ask(QUERY)["cb"], MIB + 256 * KIB)
        self.client.say(CB_FREE, buffer_id=1)
        self.assertEqual(self.client.ask(QUERY)["cb"], MIB + 256 * KIB)
        self.client.say(CB_FREE, buffer_id=1)
        self.assertEqual(self.client.ask(QUERY)["cb"], MIB)
        self.wait_said(self.server,
                       f"[CB_FREE] [PID {ME}] device 0: -0.25 MiB (total 1.00 MiB)")

    def test_resident_bytes_are_unknown_and_not_zero(self):
        self.client.alloc(4096, MIB)
        self.client.ask(QUERY)
        self.assertIsNone(self.devices()[0]["l1"]["cb"]["resident_bytes"])
        self.client.say(CB_ALLOC, buffer_id=1, size=256 * KIB)
        self.client.ask(QUERY)
        cb = self.devices()[0]["l1"]["cb"]
        self.assertEqual([cb[name] for name in ("physical_bytes", "resident_bytes",
                                                "logical_bytes")],
                         [256 * KIB, None, 256 * KIB])

    def test_kernels_have_roles(self):
        for number, role in enumerate((wire.APPLICATION, wire.FABRIC, wire.DISPATCH)):
            self.client.say(KERNEL_LOAD, buffer_id=number, size=(number + 1) * 64 * KIB,
                            buffer_type=role)
        self.assertEqual(self.client.ask(QUERY)["kernel"], 6 * 64 * KIB)
        listed = {one["id"]: one for one in self.json("allocs")["allocations"]}
        self.assertEqual([listed[number]["persistent"] for number in range(3)],
                         [False, True, True])
        self.client.say(KERNEL_UNLOAD, buffer_id=0)
        self.assertEqual(self.client.ask(QUERY)["kernel"], 5 * 64 * KIB)

    def test_a_query_counts_all_processes_and_not_only_clients(self):
        self.start([TTMEM, "demo", "--hold"]).line("stderr")  # the demo now holds its memory
        before = self.devices()
        self.client.alloc(4096, 5 * MIB, L1)
        answer = self.client.ask(QUERY)
        self.assertEqual(answer["l1"], before[0]["l1"]["buffers"]["physical_bytes"] + 5 * MIB)
        self.assertEqual(answer["dram"], before[0]["dram"]["used_bytes"])
        info = self.client.ask(DEVICE_INFO_QUERY)
        self.assertEqual(info["total_dram"], before[0]["dram"]["capacity_bytes"])
        self.assertEqual(info["num_devices"], len(before))

    def test_device_info_of_a_device_that_was_announced(self):
        self.client.raw(wire.message(DEVICE_INFO_RESPONSE, device=3, size=1 << 26, buffer_id=0x1f00a,
                                     body=wire.device_details()))
        info = self.client.ask(DEVICE_INFO_QUERY, device=3)
        self.assertEqual({name: info[name] for name in (
            "type", "device", "arch", "dram_channels", "dram_per_channel", "l1_per_core",
            "total_dram", "total_l1", "is_available", "num_devices")},
            {"type": DEVICE_INFO_RESPONSE, "device": 3, "arch": 2, "dram_channels": 12,
             "dram_per_channel": 1 << 30, "l1_per_core": 1499136, "total_dram": 12 << 30,
             "total_l1": 64 * 1499136, "is_available": 1, "num_devices": 1})
        device = self.devices()[0]
        self.assertEqual((device["uid"], device["board"], device["grid"]),
                         ("0x1f00a", "n150", {"x": 8, "y": 8}))

    def test_the_number_of_devices(self):
        self.assertEqual(self.client.ask(DEVICE_INFO_QUERY, device=-1)["num_devices"], 0)
        for device in (0, 1, 5):
            self.client.alloc(4096, MIB, device=device)
        answer = self.client.ask(DEVICE_INFO_QUERY, device=-1)
        self.assertEqual((answer["type"], answer["num_devices"]), (DEVICE_INFO_RESPONSE, 3))

    def test_an_unused_device_is_not_available(self):
        answer = self.client.ask(QUERY, device=9)
        self.assertEqual((answer["type"], answer["is_available"], answer["dram"]),
                         (RESPONSE, 0, 0))

    def test_capacities_are_unknown_until_they_are_reported(self):
        self.client.alloc(4096, MIB)
        info = self.client.ask(DEVICE_INFO_QUERY)
        self.assertEqual((info["is_available"], info["total_dram"], info["arch"]), (1, 0, 0))
        self.assertIsNone(self.devices()[0]["dram"]["capacity_bytes"])

    def test_dumps_are_logged_and_answered(self):
        self.client.alloc(4096, 3 * MIB, L1)
        self.client.say(KERNEL_LOAD, buffer_id=77, size=64 * KIB, buffer_type=wire.DISPATCH)
        answer = self.client.ask(DUMP_REMAINING)
        self.assertEqual((answer["type"], answer["l1"]), (RESPONSE, 3 * MIB))
        self.wait_said(self.server, "[DUMP_REMAINING]", f"process {ME}", "l1 3.00 MiB")
        self.assertEqual(self.client.ask(DUMP_KERNELS)["type"], RESPONSE)
        self.wait_said(self.server, "[DUMP_KERNELS]", "kernel 77 0.06 MiB")

    def test_one_line_per_event_with_the_total_of_the_device(self):
        self.client.alloc(4096, 21 * MIB, L1)
        self.client.alloc(8192, 768 * KIB, L1)
        self.client.free(4096)
        self.wait_said(self.server, "[FREE]")
        events = [line for line in self.server.log if "ALLOC]" in line or "FREE]" in line]
        for line, text in zip(events, ("[ALLOC] [PID {}] device 0: +21.00 MiB (total 21.00 MiB) l1",
                                       "[ALLOC] [PID {}] device 0: +0.75 MiB (total 21.75 MiB) l1",
                                       "[FREE] [PID {}] device 0: -21.00 MiB (total 0.75 MiB) l1")):
            self.assertRegex(line, r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} info server: ")
            self.assertTrue(line.endswith(text.format(ME)), line)
        self.assertEqual(len(events), 3)


class Details(ServerCase):
    """The fields that libttmem adds to messages of the original protocol."""

    def setUp(self):
        super().setUp()
        self.server = self.start_server("--quiet")
        self.client = self.connect()
        self.client.raw(wire.message(DEVICE_INFO_RESPONSE, buffer_id=0x1f00a,
                                     body=wire.device_details()))

    def test_a_buffer_takes_its_bytes_in_every_bank(self):
        self.client.alloc(1, 2 * KIB, L1, body=wire.details(
            address=1 << 20, per_bank=2 * KIB, flags=1, tail=b"layer.0"))
        self.client.alloc(2, 8 * KIB, L1, body=wire.details(
            address=1 << 19, per_bank=2 * KIB, cores=0b1111))
        self.client.alloc(3, 64 * KIB, DRAM, body=wire.details(
            address=1 << 20, per_bank=16 * KIB, flags=1))
        self.client.ask(QUERY)
        device = self.devices()[0]
        self.assertEqual(device["l1"]["buffers"]["physical_bytes"], 2 * 64 * 2 * KIB)
        self.assertEqual(device["l1"]["buffers"]["data_bytes"], 64 * 2 * KIB + 8 * KIB)
        self.assertEqual(device["dram"]["used_bytes"], 12 * 16 * KIB)
        listed = {one["id"]: one for one in self.json("allocs")["allocations"]}
        self.assertEqual(listed[1]["label"], "layer.0")
        self.assertEqual(listed[2]["banks"], 64)

    def test_a_buffer_with_its_own_banks_takes_only_those_banks(self):
        own_banks = 16
        self.client.alloc(2, 8 * KIB, L1, body=wire.details(
            address=1 << 19, per_bank=2 * KIB, cores=0b1111, flags=own_banks))
        self.client.alloc(3, 64 * KIB, DRAM, body=wire.details(
            address=1 << 20, per_bank=16 * KIB, banks=4, flags=1 | own_banks))
        self.client.ask(QUERY)
        device = self.devices()[0]
        self.assertEqual(device["l1"]["buffers"]["physical_bytes"], 8 * KIB)
        self.assertEqual(device["dram"]["used_bytes"], 64 * KIB)

    def place(self, program, cbs, device=0):
        for index, (address, size, cores) in enumerate(cbs):
            self.client.raw(wire.message(CB_ALLOC, device=device, size=size, body=wire.details(
                address=address, per_bank=size, cores=cores,
                tail=wire.cb_of(program, index, len(cbs)))))

    def test_a_program_counts_when_its_last_cb_has_come(self):
        grid = (1 << 64) - 1
        self.place(7, [(105664, 4096, grid), (109760, 2048, 0xff)])
        self.place(8, [(105664, 4096, grid)])
        self.client.raw(wire.message(CB_ALLOC, size=4096, body=wire.details(
            address=105664, per_bank=4096, cores=1, tail=wire.cb_of(9, 0, 2))))
        self.client.ask(QUERY)
        device = self.devices()[0]
        cb = device["l1"]["cb"]
        self.assertEqual([cb[name] for name in ("physical_bytes", "resident_bytes",
                                                "logical_bytes")],
                         [64 * 4096 + 8 * 2048, None, 2 * 64 * 4096 + 8 * 2048])
        self.assertEqual(device["programs"], 2)
        self.client.raw(wire.message(CB_FREE, body=wire.details(tail=wire.cb_of(7, 0, 0))))
        self.client.ask(QUERY)
        self.assertEqual(self.devices()[0]["l1"]["cb"]["physical_bytes"], 64 * 4096)

    def test_closing_a_device_empties_it(self):
        self.client.alloc(1, MIB)
        self.client.raw(wire.message(DEVICE_INFO_RESPONSE,
                                     body=wire.device_details(available=0)))
        self.assertEqual(self.client.ask(QUERY)["is_available"], 0)
        self.client.alloc(1, MIB)
        self.assertEqual(self.client.ask(QUERY)["dram"], MIB)

    def test_dropped_events_of_the_client_are_reported(self):
        self.client.raw(wire.message(DEVICE_INFO_RESPONSE,
                                     body=wire.device_details(dropped=12)))
        self.client.ask(QUERY)
        self.assertTrue([warning for warning in self.json()["warnings"]
                         if "12 calls not recorded" in warning])


class Garbage(ServerCase):
    def setUp(self):
        super().setUp()
        self.server = self.start_server()
        self.good = self.connect(pid=None)
        self.good.alloc(4096, MIB)
        self.assertEqual(self.good.ask(QUERY)["dram"], MIB)

    def assert_still_works(self):
        self.assertEqual(self.good.ask(QUERY)["dram"], MIB)
        self.assertEqual(self.rows()[0, ME]["dram_bytes"], MIB)

    def test_each_impossible_message_is_ignored_with_a_line(self):
        for fields, words in (
                (dict(kind=13), "type 13"),
                (dict(kind=0), "type 0"),
                (dict(kind=ALLOC, size=(1 << 48) + 1), "bytes are more"),
                (dict(kind=ALLOC, device=-1), "device -1 is outside 0 to 1023"),
                (dict(kind=QUERY, device=1024), "device 1024 is outside 0 to 1023"),
                (dict(kind=ALLOC, buffer_type=5), "buffer type 5"),
                (dict(kind=KERNEL_LOAD, buffer_type=3), "kernel role 3"),
                (dict(kind=ALLOC, pid=-5), "pid -5 is outside 0 to"),
                (dict(kind=RESPONSE), "only a server may send RESPONSE"),
                (dict(kind=DEVICE_INFO_RESPONSE), "only a server may send DEVICE_INFO_RESPONSE")):
            with self.subTest(words):
                client = self.connect()
                client.raw(wire.message(**fields))
                self.wait_said(self.server, "warning server: ignored a message", words)
                client.alloc(4096, MIB)  # the server still reads this message
                client.free(4096)
                self.assertEqual(client.ask(QUERY)["dram"], MIB)
                client.close()
        self.assert_still_works()

    def test_three_in_a_row_close_the_connection(self):
        client = self.connect()
        client.alloc(8192, 7 * MIB)
        client.raw(wire.message(99) * 3)
        self.assertTrue(client.is_closed())
        self.wait_said(self.server, "error server: closed the connection", "an old client")
        self.assert_still_works()

    def test_an_old_client_with_shorter_messages(self):
        for size in (40, 72, 104, 112, 120, 128):
            with self.subTest(size):
                client = self.connect()
                before = len(self.server.said("error server: closed the connection"))
                try:
                    client.raw(b"".join(wire.message(ALLOC, buffer_id=i << 12, size=MIB,
                                                     buffer_type=L1)[:size] for i in range(1, 60)))
                except (BrokenPipeError, ConnectionResetError):
                    pass  # the server has already closed the connection
                self.assertTrue(client.is_closed())
                self.wait_for(lambda: len(self.server.said("error server: closed the connection"))
                              > before, "the connection to be closed")
                self.wait_for(lambda: self.good.ask(QUERY)["l1"] == 0, "what it said to be gone")
                self.assert_still_works()

    def test_a_client_that_reconnects_often_does_not_fill_the_log(self):
        for _ in range(60):
            client = self.connect()
            client.raw(wire.message(99) * 3)
            self.assertTrue(client.is_closed())
            client.close()
        self.wait_said(self.server, "warning server: more lines", "left out for 10 seconds")
        self.assert_still_works()
        self.assertEqual(self.server.stop(), 0)
        written = len(self.server.said("ignored a message")) + \
            len(self.server.said("closed the connection"))
        self.assertEqual(written, 50)
        self.assertTrue(self.server.said(f"left out {60 * 4 - written} lines"))

    def test_noise(self):
        noise = random.Random(4711)
        for _ in range(20):
            client = self.connect()
            try:
                client.raw(noise.randbytes(noise.randrange(1, 20000)))
            except (BrokenPipeError, ConnectionResetError):
                pass
            client.close()
        self.assert_still_works()

    def test_half_a_message_at_the_end_counts_for_nothing(self):
        client = self.connect()
        client.raw(wire.message(ALLOC, buffer_id=8192, size=MIB)[:37])
        client.close()
        self.wait_said(self.server, f"process {ME} ended in the middle of a message, after 37 of 144")
        self.assert_still_works()


class Connections(ServerCase):
    def setUp(self):
        super().setUp()
        self.server = self.start_server()

    def test_one_byte_at_a_time(self):
        client = self.connect()
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        for byte in wire.message(ALLOC, buffer_id=4096, size=MIB) + wire.message(QUERY):
            client.raw(bytes([byte]))
        self.assertEqual(client.receive()["dram"], MIB)

    def test_messages_cut_anywhere(self):
        client = self.connect()
        cuts = random.Random(1)
        stream = b"".join(wire.message(ALLOC, buffer_id=i, size=KIB) for i in range(500))
        while stream:
            size = cuts.randrange(1, 1000)
            client.raw(stream[:size])
            stream = stream[size:]
        self.assertEqual(client.ask(QUERY)["dram"], 500 * KIB)

    def test_a_client_keeps_what_it_holds_without_a_connection(self):
        client = self.connect()
        client.alloc(4096, 3 * MIB, L1)
        client.say(CB_ALLOC, buffer_id=1, size=MIB)
        client.ask(QUERY)
        self.assertEqual(len(self.segments()), 1)
        self.assertRegex(self.segments()[0], rf"^ttmem\.{os.geteuid()}\.{ME}\.\d+\.socket$")
        client.close()
        self.wait_said(self.server, f"[PID {ME}]", "has not ended and keeps 2 allocations")
        self.assertEqual(self.rows()[0, ME]["l1_bytes"], 3 * MIB)
        client = self.connect()
        client.free(4096)
        client.say(CB_FREE, buffer_id=1)
        client.close()
        self.wait_for(lambda: not self.segments(), "its segment to go")
        self.assertEqual(self.devices(), [])

    def test_the_connections_of_a_process_hold_together(self):
        first, second = self.connect(), self.connect()
        first.alloc(4096, MIB)
        second.alloc(8192, 2 * MIB)
        first.alloc(12288, 4 * MIB)
        second.alloc(12288, 4 * MIB)
        first.ask(QUERY)
        self.assertEqual(second.ask(QUERY)["dram"], 7 * MIB)
        self.assertEqual(len(self.segments()), 1)
        first.close()
        second.free(12288)
        self.assertEqual(second.ask(QUERY)["dram"], 7 * MIB)
        second.free(12288)
        second.free(4096)
        self.assertEqual(second.ask(QUERY)["dram"], 2 * MIB)

    def test_a_thousand_connections(self):
        clients = [self.connect() for _ in range(1000)]
        for number, client in enumerate(clients):
            client.alloc(number * 4096, KIB)
        for client in clients[::50]:
            self.assertGreaterEqual(client.ask(QUERY)["dram"], KIB)
        self.wait_for(lambda: clients[0].ask(QUERY)["dram"] == 1000 * KIB, "all of them")
        self.assertEqual(self.rows()[0, ME]["dram_bytes"], 1000 * KIB)
        for number, client in enumerate(clients[500:], 500):
            client.free(number * 4096)
            client.close()
        self.wait_for(lambda: clients[0].ask(QUERY)["dram"] == 500 * KIB, "half of them to go")
        for client in clients[:500]:
            client.close()
        self.wait_said(self.server, "has not ended and keeps 500 allocations")
        self.assertEqual(self.rows()[0, ME]["dram_bytes"], 500 * KIB)

    def test_a_client_that_does_not_read_its_answers_is_closed(self):
        client = self.connect()
        client.socket.setblocking(False)
        question = wire.message(QUERY) * 100

        def is_closed():
            try:
                client.socket.send(question)
            except BlockingIOError:
                pass
            except (BrokenPipeError, ConnectionResetError):
                return True
            return False

        self.wait_for(is_closed, "the connection to be closed")
        self.wait_said(self.server, "asks and does not read the answers")
        self.assertEqual(self.connect().ask(QUERY)["type"], RESPONSE)

    def test_an_unread_log_does_not_block_the_server(self):
        quiet_reader = self.start([TTMEM, "serve", "--socket", self.path + "2", "--http",
                                   "127.0.0.1:0"])
        self.wait_for(lambda: os.path.exists(self.path + "2"), "the socket")
        client = wire.Client(self.path + "2")
        self.addCleanup(client.close)
        for number in range(30000):
            client.alloc(number, KIB)
        self.assertEqual(client.ask(QUERY)["dram"], 30000 * KIB)
        self.assertIsNone(quiet_reader.process.poll())


class Pids(ServerCase):
    """Only root may report for another user's process."""

    def setUp(self):
        super().setUp()
        self.server = self.start_server()

    def as_nobody(self, act):
        """Runs `act(client)` in a child process of the user nobody. Returns the child's pid and the
        result of `act`."""
        os.chmod(self.dir, 0o755)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.setgroups([])
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
                client = wire.Client(self.path)
                os.write(writing, json.dumps(act(client)).encode())
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            told = pipe.read()
        os.waitpid(pid, 0)
        return pid, json.loads(told)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become another user")
    def test_another_user_cannot_report_for_our_process(self):
        def act(client):
            client.alloc(4096, 1 << 20, pid=ME)
            client.alloc(4096, 1 << 21, pid=os.getpid())
            client.alloc(8192, 1 << 22, pid=0)
            return client.ask(QUERY)["dram"]

        pid, held = self.as_nobody(act)
        self.assertEqual(held, (1 << 21) + (1 << 22))
        self.wait_said(self.server, "warning server: refused", f"process {pid} ", f"process {ME};")

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become another user")
    def test_the_row_has_the_user_of_the_client_and_not_of_the_server(self):
        reading, writing = os.pipe()
        seen = []

        def hold(client):
            client.alloc(4096, MIB, pid=os.getpid())
            client.ask(QUERY)
            os.write(writing, b"x")
            return client.is_closed()  # waits until the test stops the server

        looker = threading.Thread(target=lambda: (os.read(reading, 1), seen.extend(
            process["user"] for process in self.rows().values()), self.server.stop()))
        looker.start()
        self.as_nobody(hold)
        looker.join()
        os.close(reading)
        os.close(writing)
        self.assertEqual(seen, ["nobody"])

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to report for other processes")
    def test_root_may_report_for_any_process(self):
        client = self.connect()
        client.alloc(4096, MIB, pid=4711)
        client.alloc(4096, 2 * MIB, pid=4712)
        client.alloc(8192, 4 * MIB, pid=self.server.pid)
        self.assertEqual(client.ask(QUERY)["dram"], 7 * MIB)
        rows = self.rows()
        self.assertEqual({pid: rows[0, pid]["dram_bytes"]
                          for pid in (4711, 4712, self.server.pid)},
                         {4711: MIB, 4712: 2 * MIB, self.server.pid: 4 * MIB})
        self.assertEqual(rows[0, self.server.pid]["name"], "ttmem")

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to run a server as another user")
    def test_a_server_of_another_user_refuses_reports_of_root(self):
        folder = os.path.join(self.dir, "theirs")
        os.mkdir(folder)
        os.chmod(self.dir, 0o755)
        os.chown(folder, 65534, 65534)
        path = os.path.join(folder, "socket")
        server = Server(path, {**self.env, "TTMEM_DIR": folder},
                        command=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                                 TTMEM, "serve"))
        self.addCleanup(server.end)
        self.wait_for(lambda: self._answers(server), "the server to answer")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        client = wire.Client(path)
        self.addCleanup(client.close)
        client.alloc(4096, MIB)
        self.assertEqual(client.ask(QUERY)["dram"], 0)
        self.wait_said(server, "refused", "belongs to root", "run `ttmem serve` as root")


class Lifecycle(ServerCase):
    def test_a_second_server_refuses_and_names_the_first(self):
        first = self.start_server()
        second = self.start_server(wait=False)
        self.assertEqual(second.wait(), 1)
        self.wait_said(second, "already listens", self.path, f"process {first.pid}")
        self.assertEqual(self.connect().ask(QUERY)["type"], RESPONSE)

    def test_a_stale_socket_is_replaced(self):
        self.start_server().kill()
        self.assertTrue(stat.S_ISSOCK(os.stat(self.path).st_mode))
        self.start_server()
        self.assertEqual(self.connect().ask(QUERY)["type"], RESPONSE)

    def test_a_file_that_is_not_a_socket_is_kept(self):
        with open(self.path, "w") as file:
            file.write("mine")
        server = self.start_server(wait=False)
        self.assertEqual(server.wait(), 1)
        self.wait_said(server, "is not a socket")
        with open(self.path) as file:
            self.assertEqual(file.read(), "mine")

    def test_a_clean_stop_leaves_nothing(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                server = self.start_server()
                client = self.connect()
                client.alloc(4096, MIB)
                client.ask(QUERY)
                self.assertEqual(server.stop(number), 0)
                self.assertEqual(self.files(), [])
                self.assertTrue(client.is_closed())
                self.assertTrue(server.said("stopped after"))

    def test_the_mode_of_the_socket(self):
        self.start_server("--socket-mode", "0640")
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o640)

    def test_a_path_that_is_too_long(self):
        server = self.start_server(wait=False, path=self.path + "x" * 200)
        self.assertEqual(server.wait(), 1)
        self.wait_said(server, "must have 1 to 107 characters")

    def test_a_killed_server_is_complete_again_after_a_restart(self):
        self.start([TTMEM, "demo", "--hold"]).line("stderr")  # the demo now holds its memory
        alone = self.devices()
        server = self.start_server("--quiet")
        held = [(number << 12, number * 32) for number in range(1, 2001)]

        def connect_and_replay():
            client = self.connect()
            client.raw(b"".join(wire.message(ALLOC, buffer_id=number, size=size, buffer_type=L1_SMALL)
                                for number, size in held))
            self.assertEqual(client.ask(QUERY)["l1_small"], small + sum(s for _, s in held))
            return client

        small = alone[0]["l1"]["small_bytes"]
        connect_and_replay()
        server.kill()
        snapshot = self.json()
        for device in alone:  # the lost buffers may lie in what seems to be free space
            device["complete"] = False
            for of in (device["dram"], device["l1"], device["trace"]):
                of.update({key: None for key in of if key.endswith("free_bytes_per_bank")})
        self.assertEqual(snapshot["devices"], alone)
        self.assertTrue([warning for warning in snapshot["warnings"]
                         if "the server that wrote for its clients is gone" in warning],
                        snapshot["warnings"])
        self.start_server("--quiet")
        connect_and_replay()
        rows = self.rows()
        self.assertEqual(rows[0, ME]["l1_small_bytes"], sum(size for _, size in held))
        self.assertEqual(rows[0, ME]["allocations"], len(held))
        self.assertEqual(self.json()["warnings"], [])
        self.assertEqual(len([name for name in self.segments() if name.endswith(".socket")]), 1)

    def test_clean_removes_the_segments_of_a_killed_server(self):
        server = self.start_server()
        client = self.connect()
        client.alloc(4096, MIB)
        client.ask(QUERY)
        server.kill()
        self.assertIn("1 segment was written for clients by a server that is gone",
                      self.ttmem("clean").stdout)
        self.assertEqual(self.segments(), [])

    def test_systemd_is_notified(self):
        path = os.path.join(self.dir, "notify")
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(notify.close)
        notify.bind(path)
        notify.settimeout(DEADLINE_SECONDS)
        self.env["NOTIFY_SOCKET"] = path
        server = self.start_server(wait=False)
        self.assertEqual(notify.recv(100), b"READY=1")
        self.assertEqual(self.connect().ask(QUERY)["type"], RESPONSE)
        server.stop()
        self.assertEqual(notify.recv(100), b"STOPPING=1")

    def test_the_name_of_the_original_tool(self):
        self.start_server(command=(str(PREFIX / "bin" / "allocation_server"),))
        self.assertEqual(self.connect().ask(QUERY)["type"], RESPONSE)


if __name__ == "__main__":
    unittest.main()
