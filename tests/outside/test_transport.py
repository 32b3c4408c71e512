# SPDX-License-Identifier: Apache-2.0
"""TTMEM_TRANSPORT=socket: a server gets the right messages, and the workload is not affected."""

import json
import os
import pathlib
import sys
import tempfile
import textwrap
import time
import unittest

from stand_in_server import (ALLOC, CB_ALLOC, CB_FREE, COMPLETE, DEVICE_INFO, FREE, GOODBYE, HELLO,
                             KERNEL_LOAD, KERNEL_UNLOAD, StandInServer)
from support import HERE, LIBRARY, TTMEM, Case

NO_CORES, PER_BANK_UNKNOWN, NO_ADDRESS, ESTIMATE, OWN_BANKS = 1, 2, 4, 8, 16
GRID = (1 << 64) - 1  # core mask of a whole grid of 8 x 8


class Transport(Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-socket-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = str(self.folder / "server.sock")

    def serve(self, **options):
        server = StandInServer(self.path, **options)
        self.addCleanup(server.stop)
        return server

    def workload(self, code, **more):
        """Starts a tracked Python program in which `abi` is imported and a device is open."""
        script = self.folder / f"workload{len(os.listdir(self.folder))}.py"
        script.write_text("import abi, ctypes, os, random, sys, threading, time\n" + textwrap.dedent(code))
        env = self.tracked(TTMEM_TRANSPORT="socket", TTMEM_SOCKET=self.path, TTMEM_LIB=LIBRARY,
                           PYTHONPATH=str(HERE), PYTHONDONTWRITEBYTECODE="1")
        return self.start([sys.executable, script], env={**env, **more})

    def account_when(self, server, condition, what):
        """Waits until the newest account satisfies the condition. Returns the account."""
        self.wait_for(lambda: server.accounts and condition(server.accounts[-1]), what)
        return server.accounts[-1]

    def account_of(self, server, messages):
        return self.account_when(server, lambda account: account.count >= messages,
                                 f"{messages} messages")


class Messages(Transport):
    def test_every_kind_of_call_arrives_as_the_table_says(self):
        server = self.serve()
        before = time.time_ns()
        workload = self.workload("""
            abi.open_device(3, trace_region_bytes=4096)
            abi.place(1, device=3)
            abi.hold()
            abi.alloc(abi.DRAM, 7, 2048, address=4096, device=3, label=b"layers.0.weight")
            abi.alloc(abi.DRAM, 8, 2048, device=3, cores=[(0, 0, 3, 0)], flags=abi.OWN_BANKS)
            abi.alloc(abi.L1, 9, 512, address=900000, device=3, cores=[(0, 0, 1, 1)])
            abi.alloc(abi.L1, 14, 512, address=800000, device=3, cores=[(0, 0, 1, 1)],
                      flags=abi.OWN_BANKS)
            abi.alloc(abi.L1_SMALL, 10, 64, device=3)
            abi.alloc(abi.TRACE, 11, 64, device=3)
            abi.alloc(abi.SYSTEM, 12, 64, device=3, size=64)
            abi.alloc(abi.L1, 13, 0, device=3, size=100)
            abi.free(abi.DRAM, 7, device=3)
            abi.lib.ttmem_kernel_load(3, 20, 1000, abi.DISPATCH)
            abi.lib.ttmem_kernel_load_estimate(3, ctypes.c_uint64(21), ctypes.c_uint64(2000), 0)
            abi.lib.ttmem_kernel_load(3, 20, 1500, abi.DISPATCH)
            abi.lib.ttmem_kernel_unload(3, 20)
            for size in (100, 50, 300):
                abi.lib.ttmem_cb_alloc(3, ctypes.c_uint64(30), ctypes.c_uint64(size))
            for _ in range(3):
                abi.lib.ttmem_cb_free(3, ctypes.c_uint64(30))
            abi.place(40, (105664, 1024, [(0, 0, 7, 7)]), (106688, 64, [(1, 0, 1, 0)], 1), device=3)
            abi.lib.ttmem_program_dispatch(3, 40)
            abi.replay_trace(40, device=3)
            abi.place(40, (105664, 2048, [(0, 0, 0, 0)]), device=3)
            abi.place(41, device=3)
            abi.lib.ttmem_program_destroy(40)
            abi.lib.ttmem_device_close(3)
            abi.hold()""")
        # When the library connected, it sent the live device and the live program. From now on it
        # sends each call.
        self.account_of(server, 2)
        workload.go_on()
        account = self.account_of(server, 26)
        after = time.time_ns()
        self.assertEqual(server.faults(), [])
        for message in account.messages:
            self.assertEqual((message.device, message.pid), (3, workload.pid))
            # The library reads the coarse clock, which is up to one tick behind.
            self.assertTrue(before - 10**8 <= message.time <= after + 10**8)
        self.check([(m.type, m.size, m.buffer_type, m.id, m.details) for m in account.messages])

    def check(self, said):
        device = (0, (8, 8), 105664, 32768)
        memory = (1 << 30, 12, 1499136, "wormhole_b0", "n150")
        expected = [
            (DEVICE_INFO, 4096, 0, 0x7e5a, (*device, 1, *memory)),
            (CB_ALLOC, 0, 0, 0, (0, 0, 0, 0, 1, 0, 0)),
            (ALLOC, 24576, 0, 7, (4096, 2048, 0, NO_CORES, 0, "layers.0.weight")),
            (ALLOC, 8192, 0, 8, (1 << 20, 2048, 4, NO_CORES | OWN_BANKS, 0, "")),
            (ALLOC, 2048, 1, 9, (900000, 512, 0, 0, 0x303, "")),
            (ALLOC, 2048, 1, 14, (800000, 512, 0, OWN_BANKS, 0x303, "")),
            (ALLOC, 4096, 3, 10, (1 << 20, 64, 0, NO_CORES, 0, "")),
            (ALLOC, 768, 4, 11, (1 << 20, 64, 0, NO_CORES, 0, "")),
            (ALLOC, 64, 2, 12, (1 << 20, 64, 0, NO_CORES, 0, "")),
            (ALLOC, 100, 1, 13, (1 << 20, 0, 0, NO_CORES | PER_BANK_UNKNOWN, 0, "")),
            (FREE, 0, 0, 7, (0, 0, 0, 0, 0, "")),
            (KERNEL_LOAD, 1000, 2, 20, (0, 0, 0, 7, 0, "")),
            (KERNEL_LOAD, 2000, 0, 21, (0, 0, 0, 15, 0, "")),
            (KERNEL_UNLOAD, 0, 2, 20, (0, 0, 0, 0, 0, "")),
            (KERNEL_LOAD, 1500, 2, 20, (0, 0, 0, 7, 0, "")),
            (KERNEL_UNLOAD, 0, 2, 20, (0, 0, 0, 0, 0, "")),
            (CB_ALLOC, 100, 0, 30, None),
            (CB_FREE, 0, 0, 30, None),
            (CB_ALLOC, 300, 0, 30, None),
            (CB_FREE, 0, 0, 30, None),
            (CB_ALLOC, 65536, 0, 105664, (105664, 1024, 0, GRID, 40, 0, 2)),
            (CB_ALLOC, 0, 0, 106688, (106688, 64, 1, 2, 40, 1, 2)),
            (CB_ALLOC, 2048, 0, 105664, (105664, 2048, 0, 1, 40, 0, 1)),
            (CB_ALLOC, 0, 0, 0, (0, 0, 0, 0, 41, 0, 0)),
            (CB_FREE, 0, 0, 105664, (105664, 0, 0, 0, 40, 0, 1)),
            (DEVICE_INFO, 4096, 0, 0x7e5a, (*device, 0, *memory)),
        ]
        self.assertEqual(NO_CORES | PER_BANK_UNKNOWN | NO_ADDRESS, 7)
        self.assertEqual(7 | ESTIMATE, 15)
        for number, (got, wanted) in enumerate(zip(said, expected)):
            self.assertEqual(got, wanted, f"message {number}")
        self.assertEqual(len(said), len(expected))


class Reconnecting(Transport):
    HOLDS = """
        abi.open_device(0)
        abi.alloc(abi.DRAM, 1, 2048, label=b"kept")
        abi.alloc(abi.DRAM, 2, 2048)
        abi.free(abi.DRAM, 2)
        abi.lib.ttmem_kernel_load(0, 20, 1000, abi.DISPATCH)
        abi.lib.ttmem_cb_alloc(0, ctypes.c_uint64(30), ctypes.c_uint64(100))
        abi.place(40, (105664, 1024, [(0, 0, 7, 7)]), (106688, 64, [(1, 0, 1, 0)]))
        abi.hold()
        abi.free(abi.DRAM, 1)
        abi.hold()"""

    def assert_complete(self, server):
        account = self.account_when(server, lambda account: account.programs, "the program")
        self.assertEqual(server.faults(), [])
        self.assertEqual(set(account.devices), {0})
        self.assertEqual(set(account.live), {(0, 0, 1), (0, "kernel", 20), (0, "cb", 30)})
        self.assertEqual(account.live[0, 0, 1].details.label, "kept")
        self.assertEqual(len(account.programs[0, 40]), 2)
        return account

    def test_a_late_server_gets_everything_live(self):
        workload = self.workload(self.HOLDS)
        workload.line()
        self.assert_complete(self.serve())

    def test_a_restarted_server_gets_a_resend_although_nothing_happens(self):
        server = self.serve()
        workload = self.workload(self.HOLDS)
        self.assert_complete(server)
        for _ in range(3):
            server.stop()
            server = self.serve()
            self.assert_complete(server)
        workload.go_on()
        account = self.account_when(server, lambda account: (0, 0, 1) not in account.live,
                                    "the free")
        self.assertEqual(server.faults(), [])
        self.assertEqual(len(account.messages), 7)

    def test_nothing_is_in_the_directory_of_segments(self):
        server = self.serve()
        self.workload(self.HOLDS)
        self.assert_complete(server)
        self.assertEqual(self.files(), [])
        self.assertEqual(self.devices(), [])

    HAMMER = """
        THREADS = 4
        live = [dict() for _ in range(THREADS)]
        programs = [dict() for _ in range(THREADS)]
        go_on = True
        for device in range(2):
            abi.open_device(device)

        def work(me):
            choice = random.Random(me)
            number, mine, placed = 0, live[me], programs[me]
            while go_on:
                number += 1
                if number % 10 == 0:
                    time.sleep(0.001)  # a load that a server in Python can follow
                one = choice.randrange(900)  # in turn, all would be free at times
                device, name = one % 2, me * 1_000_000 + one + 1
                kind = (abi.DRAM, abi.L1)[one % 2]
                if name in mine:
                    abi.free(kind, name, device=device)
                    del mine[name]
                else:
                    abi.alloc(kind, name, 32 * (number % 7 + 1), device=device)
                    mine[name] = [device, kind, 32 * (number % 7 + 1)]
                if number % 5 == 0:
                    program = me * 1_000_000 + number // 5 % 100
                    if number % 3 == 0 and program in placed:
                        abi.lib.ttmem_program_destroy(program)
                        del placed[program]
                    else:
                        size = 32 * (number % 11 + 1)
                        abi.place(program, (105664, size, [(0, 0, 7, 7)]),
                                  (205664, size, [(0, 0, 0, 0)]), device=device)
                        placed.setdefault(program, {})[device] = size

        threads = [threading.Thread(target=work, args=(me,)) for me in range(THREADS)]
        for thread in threads:
            thread.start()
        os.read(0, 1)
        go_on = False
        for thread in threads:
            thread.join()
        import json
        print(json.dumps({
            "live": sorted([device, kind, name, size] for mine in live
                           for name, (device, kind, size) in mine.items()),
            "programs": sorted([device, program, size] for placed in programs
                               for program, on in placed.items()
                               for device, size in on.items())}), flush=True)
        abi.hold()"""

    @staticmethod
    def told(account):
        live = [[device, kind, name, message.details.per_bank]
                for (device, kind, name), message in account.live.items()]
        programs = [[device, program, cbs[0].details.bytes]
                    for (device, program), cbs in account.programs.items()]
        return {"live": sorted(live), "programs": sorted(programs)}

    def test_a_server_that_dies_repeatedly_under_load_finally_has_the_right_figures(self):
        workload = self.workload(self.HAMMER)
        servers = []
        for round_number in range(12):
            server = self.serve()
            servers.append(server)
            # The server ends while the library sends everything live again, or during later
            # messages.
            self.account_of(server, 1 + 400 * round_number)
            if round_number < 11:
                server.stop()
        workload.go_on()
        truth = json.loads(workload.line())
        self.assertGreater(len(truth["live"]), 300)
        self.assertGreater(len(truth["programs"]), 100)
        self.wait_for(lambda: self.told(server.accounts[-1]) == truth, "the whole truth")
        for server in servers:
            self.assertEqual(server.faults(), [])


class TheWorkload(Transport):
    CALLS = """
        abi.open_device(0)
        abi.alloc(abi.DRAM, 1, 2048)
        abi.hold()
        for number in range(200_000):
            abi.lib.ttmem_kernel_load(0, 7, number, 0)
        print("done", flush=True)
        abi.hold()"""

    def test_a_server_that_never_reads_does_not_block_and_gets_the_number_of_lost_events(self):
        deaf = self.serve(reads=False)
        workload = self.workload(self.CALLS)
        workload.line()
        self.wait_for(lambda: deaf.accounts, "the connection")
        workload.go_on()
        self.assertEqual(workload.line(), "done")
        deaf.stop()
        server = self.serve()
        account = self.account_when(server, lambda account: (0, "kernel", 7) in account.live,
                                    "the replay")
        self.assertEqual(account.live[0, "kernel", 7].size, 199_999)
        self.assertEqual(set(account.live), {(0, 0, 1), (0, "kernel", 7)})
        self.assertGreater(account.devices[0].details.dropped, 65536)
        self.assertLess(account.devices[0].details.dropped, 500_000)
        self.assertEqual(server.faults(), [])

    def test_the_last_calls_of_a_process_arrive(self):
        server = self.serve()
        workload = self.workload("""
            abi.open_device(0)
            for number in range(1, 201):
                abi.alloc(abi.DRAM, number, 2048)
            for number in range(1, 200):
                abi.free(abi.DRAM, number)""")
        self.assertEqual(workload.wait(), 0)
        account = self.account_when(server, lambda account: account.over, "the end")
        self.assertEqual((set(account.live), account.torn), ({(0, 0, 200)}, 0))
        self.assertEqual(account.notices, [HELLO, COMPLETE, GOODBYE])
        self.assertEqual(server.faults(), [])

    def test_a_process_says_goodbye_also_when_its_connection_is_lost(self):
        server = self.serve()
        workload = self.workload("""
            abi.open_device(0)
            abi.alloc(abi.DRAM, 1, 2048)
            abi.hold()""")
        workload.line()
        self.account_of(server, 2)
        server.drop_connections()
        workload.go_on()
        self.assertEqual(workload.wait(), 0)
        self.wait_for(lambda: GOODBYE in server.accounts[-1].notices, "the goodbye")
        self.assertEqual(server.faults(), [])

    def test_the_connection_of_a_killed_process_ends_at_once(self):
        server = self.serve()
        # A child process that does not use the library must not keep the connection open.
        workload = self.workload("""
            abi.open_device(0)
            abi.alloc(abi.DRAM, 1, 2048)
            os.fork()
            abi.hold()""")
        workload.line()
        self.account_of(server, 2)
        workload.kill()
        account = self.account_when(server, lambda account: account.over,
                                    "the end of the connection")
        self.assertEqual(account.notices, [HELLO, COMPLETE])

    def test_a_forked_child_reports_for_itself(self):
        server = self.serve()
        workload = self.workload("""
            abi.open_device(0)
            abi.alloc(abi.DRAM, 1, 2048)
            child = os.fork()
            if child == 0:
                abi.open_device(1)
                abi.alloc(abi.L1, 2, 64, device=1)
                abi.hold()
                os._exit(0)
            print(child, flush=True)
            os.waitpid(child, 0)
            abi.alloc(abi.DRAM, 3, 2048)
            abi.hold()""")
        child = int(next(line for line in (workload.line(), workload.line()) if line != "ready"))
        self.wait_for(lambda: len(server.accounts) == 2 and
                      all(account.live for account in server.accounts), "both")
        mine, its = sorted(server.accounts, key=lambda account: account.messages[0].pid == child)
        self.assertEqual({message.pid for message in mine.messages}, {workload.pid})
        self.assertEqual({message.pid for message in its.messages}, {child})
        self.assertEqual((set(mine.live), set(its.live)), ({(0, 0, 1)}, {(1, 1, 2)}))
        workload.go_on()
        self.wait_for(lambda: its.over and (0, 0, 3) in mine.live, "the parent's next call")
        self.assertFalse(mine.over)

    def test_a_workload_that_closes_all_descriptors_keeps_the_connection(self):
        server = self.serve()
        workload = self.workload("""
            abi.open_device(0)
            abi.hold()
            os.closerange(3, 256)
            files = [os.open("/dev/null", os.O_RDWR) for _ in range(64)]
            for number in range(1, 3000):
                abi.alloc(abi.DRAM, number, 2048)
            abi.hold()""")
        workload.line()
        self.account_of(server, 1)
        workload.go_on()
        account = self.account_of(server, 3000)
        self.assertEqual((len(server.accounts), len(account.live)), (1, 2999))

    def test_its_descriptors_and_signals_are_not_touched(self):
        server = self.serve()
        workload = self.workload("""
            import signal
            before = os.listdir("/proc/self/fd")
            abi.open_device(0)
            abi.hold()
            print(os.listdir("/proc/self/fd") == before, flush=True)
            print(sorted(open(f"/proc/self/task/{task}/comm").read().strip()
                         for task in os.listdir("/proc/self/task"))[-1], flush=True)
            for task in os.listdir("/proc/self/task"):
                status = open(f"/proc/self/task/{task}/status").read()
                if "ttmem-socket" in status:
                    blocked = next(line for line in status.splitlines() if "SigBlk" in line)
                    print(int(blocked.split()[1], 16) & (1 << (signal.SIGTERM - 1)) != 0,
                          flush=True)
            abi.hold()""")
        workload.line()
        self.account_of(server, 1)
        workload.go_on()
        self.assertEqual([workload.line() for _ in range(3)], ["True", "ttmem-socket", "True"])

    def log_of(self, **more):
        log = self.folder / "log"
        workload = self.workload("""
            abi.open_device(0)
            print(abi.lib.ttmem_enabled(), flush=True)
            abi.hold()""", TTMEM_LOG=str(log), **more)
        self.assertEqual((workload.line(), workload.line()), ("1", "ready"))
        self.wait_for(lambda: log.exists() and log.read_text().endswith("\n"), "a line in the log")
        workload.close_stdin()
        self.assertEqual(workload.wait(), 0)
        self.assertEqual((workload.process.stdout.read(), workload.process.stderr.read()),
                         (b"", b""))
        return log.read_text()

    def test_the_reason_for_no_connection_is_only_in_the_log(self):
        self.assertIn('set TTMEM_SOCKET reason="No such file or directory"', self.log_of())
        self.assertIn("too long for a socket", self.log_of(TTMEM_SOCKET="/tmp/" + "x" * 200))
        self.assertEqual(self.files(), [])

    def test_an_unknown_transport_means_shared_memory(self):
        self.assertIn('neither shm nor socket; using shm reason="pigeon"',
                      self.log_of(TTMEM_TRANSPORT="pigeon"))

    def test_the_demo_reports_to_a_server_too(self):
        server = self.serve()
        self.start([TTMEM, "demo", "device-init", "--hold"],
                   env={**self.env, "TTMEM_TRANSPORT": "socket", "TTMEM_SOCKET": self.path})
        account = self.account_when(server, lambda account: len(account.live) > 1, "the demo")
        self.assertTrue(account.devices)
        self.assertEqual(server.faults(), [])


if __name__ == "__main__":
    unittest.main()
