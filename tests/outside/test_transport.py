# SPDX-License-Identifier: Apache-2.0
"""TTMEM_TRANSPORT=socket: what a server is told, and what the workload does not notice."""

import json
import os
import pathlib
import sys
import tempfile
import textwrap
import time
import unittest

from stand_in_server import (ALLOC, CB_ALLOC, CB_FREE, DEVICE_INFO, FREE, KERNEL_LOAD,
                             KERNEL_UNLOAD, StandInServer)
from support import HERE, TTMEM, Case, skip_if_sanitized

NO_CORES, PER_BANK_UNKNOWN, NO_ADDRESS, ESTIMATE = 1, 2, 4, 8
GRID = (1 << 64) - 1  # of 8 x 8


class Transport(Case):
    def setUp(self):
        super().setUp()
        skip_if_sanitized()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-socket-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = str(self.folder / "server.sock")

    def serve(self, **options):
        server = StandInServer(self.path, **options)
        self.addCleanup(server.stop)
        return server

    def workload(self, code, **more):
        """A Python program that is tracked; `abi` is imported, and a device is open."""
        script = self.folder / f"workload{len(os.listdir(self.folder))}.py"
        script.write_text("import abi, ctypes, os, sys, threading, time\n" + textwrap.dedent(code))
        env = self.tracked(TTMEM_TRANSPORT="socket", TTMEM_SOCKET=self.path,
                           TTMEM_LIB=os.environ["TTMEM_LIB"], PYTHONPATH=str(HERE),
                           PYTHONDONTWRITEBYTECODE="1", **more)
        return self.start([sys.executable, script], env=env)

    def account_when(self, server, condition, what):
        """The newest account, once it satisfies the condition."""
        self.wait_for(lambda: server.accounts and condition(server.accounts[-1]), what)
        return server.accounts[-1]

    def account_of(self, server, messages):
        return self.account_when(server, lambda account: account.count >= messages,
                                 f"{messages} messages")


class WhatIsSent(Transport):
    def test_every_kind_of_call_arrives_as_the_table_says(self):
        server = self.serve()
        before = time.time_ns()
        workload = self.workload("""
            abi.open_device(3, trace_region_bytes=4096)
            abi.place(1, device=3)
            abi.hold()
            abi.alloc(abi.DRAM, 7, 2048, address=4096, device=3, label=b"layers.0.weight")
            abi.alloc(abi.DRAM, 8, 2048, device=3, cores=[(0, 0, 3, 0)])
            abi.alloc(abi.L1, 9, 512, address=900000, device=3, cores=[(0, 0, 1, 1)])
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
        # The replay is over when the program has arrived: from here on every call is told.
        self.account_of(server, 2)
        workload.go_on()
        account = self.account_of(server, 25)
        after = time.time_ns()
        self.assertEqual(server.faults(), [])
        for message in account.messages:
            self.assertEqual((message.device, message.pid), (3, workload.pid))
            # The library reads the coarse clock, which is up to a tick behind.
            self.assertTrue(before - 10**8 <= message.time <= after + 10**8)
        self.check([(m.type, m.size, m.buffer_type, m.id, m.details) for m in account.messages])

    def check(self, said):
        device = (0, (8, 8), 105664, 32768)
        memory = (1 << 30, 12, 1499136, "wormhole_b0", "n150")
        expected = [
            (DEVICE_INFO, 4096, 0, 0x7e5a, (*device, 1, *memory)),
            (CB_ALLOC, 0, 0, 0, (0, 0, 0, 0, 1, 0, 0)),
            (ALLOC, 24576, 0, 7, (4096, 2048, 0, NO_CORES, 0, "layers.0.weight")),
            (ALLOC, 8192, 0, 8, (1 << 20, 2048, 4, NO_CORES, 0, "")),
            (ALLOC, 2048, 1, 9, (900000, 512, 0, 0, 0x303, "")),
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
