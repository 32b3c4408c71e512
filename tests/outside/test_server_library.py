# SPDX-License-Identifier: Apache-2.0
"""The real library reports to the real server: TTMEM_TRANSPORT=socket and `ttmem serve`."""

import signal
import sys
import textwrap
import unittest

from server_case import ServerCase
from support import HERE, LIBRARY, TTMEM, rows

# Four threads allocate and free until the test stops them. Then the workload prints the number and
# the bytes of its live buffers.
HAMMER = textwrap.dedent("""
    from abi import *
    import random, threading

    open_device()
    stop = threading.Event()
    left = [set() for _ in range(4)]

    def work(thread):
        chance, mine = random.Random(thread), left[thread]
        while not stop.is_set():
            number = thread * 1000 + chance.randrange(1, 500)
            if number in mine:
                lib.ttmem_buffer_free(0, DRAM, number)
                mine.remove(number)
            else:
                alloc(DRAM, number, 64 * number)
                mine.add(number)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    hold()
    stop.set()
    for thread in threads:
        thread.join()
    live = set.union(*left)
    print(len(live), sum(12 * 64 * number for number in live), flush=True)
    hold()
""")


class TheLibrary(ServerCase):
    def setUp(self):
        super().setUp()
        self.socket_env = {**self.env, "TTMEM_TRANSPORT": "socket", "TTMEM_SOCKET": self.path}

    def start_demo(self, scenario, env):
        demo = self.start([TTMEM, "demo", scenario, "--hold"], env)
        demo.line("stderr")  # the demo holds its memory
        return demo

    def figures(self, pid):
        """Returns the figures, from `ttmem --json`, of the devices that only this process uses."""
        return [{"uid": device["uid"], "dram": device["dram"]["used_bytes"],
                 "capacity": device["dram"]["capacity_bytes"], "l1": device["l1"]["used_bytes"],
                 "small": device["l1"]["small_bytes"],
                 "cb": device["l1"]["cb"]["physical_bytes"],
                 "logical": device["l1"]["cb"]["logical_bytes"],
                 "kernels": device["l1"]["kernels_bytes"], "programs": device["programs"],
                 "trace": device["trace"]["used_bytes"], "grid": device["grid"]}
                for device in self.devices() if [pid] == [p["pid"] for p in device["processes"]]]

    def test_a_demo_over_the_socket_has_the_figures_of_shared_memory(self):
        self.start_server("--quiet")
        for scenario in ("single", "mesh8", "cached-programs", "blackhole"):
            with self.subTest(scenario):
                demo = self.start_demo(scenario, self.env)
                shared = self.figures(demo.pid)
                self.assertTrue(shared)
                demo.signal(signal.SIGTERM)
                demo.wait()
                demo = self.start_demo(scenario, self.socket_env)
                self.wait_for(lambda: self.figures(demo.pid) == shared, f"{shared}")
                resident = {device["l1"]["cb"]["resident_bytes"] for device in self.devices()}
                self.assertEqual(resident, {None})
                demo.signal(signal.SIGTERM)
                self.wait_for(lambda: not self.devices(), "the client to be forgotten")

    def test_an_estimate_stays_an_estimate_over_the_socket(self):
        self.start_server("--quiet")
        client = self.start([sys.executable, "-c", textwrap.dedent("""
            from abi import *
            open_device()
            place(1, (105664, 1024, [(0, 0, 7, 7)]))
            lib.ttmem_cb_estimate(0, 1)
            hold()
            lib.ttmem_cb_estimate(0, 0)
            hold()
        """)], env={**self.socket_env, "TT_ALLOC_TRACKING_ENABLED": "1", "TTMEM_LIB": LIBRARY,
                    "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"})
        client.line()

        def estimate():
            return [device["l1"]["cb"]["estimate"] for device in self.devices()]

        self.wait_for(lambda: estimate() == [True], "the estimate")
        client.go_on()
        self.wait_for(lambda: estimate() == [False], "its end")

    def test_a_server_killed_under_load_is_complete_again(self):
        self.start([TTMEM, "demo", "--hold"]).line("stderr")
        alone = rows(self.json(), "alive")
        server = self.start_server("--quiet")
        hammer = self.start([sys.executable, "-c", HAMMER], env={
            **self.socket_env, "TT_ALLOC_TRACKING_ENABLED": "1", "TTMEM_LIB": LIBRARY,
            "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(hammer.line(), "ready")
        for _ in range(3):
            self.wait_for(lambda: (0, hammer.pid) in self.rows(), "the workload to be seen")
            server.kill()
            server = self.start_server("--quiet")
        hammer.go_on()
        allocations, held = map(int, hammer.line().split())

        def complete():
            row = self.rows().get((0, hammer.pid))
            return row and row["allocations"] == allocations and row["dram_bytes"] == held

        self.wait_for(complete, f"{allocations} allocations of {held} bytes")
        snapshot = self.json()
        self.assertEqual({key: row for key, row in rows(snapshot, "alive").items()
                          if key[1] != hammer.pid}, alone)
        self.assertEqual(snapshot["warnings"], [])
        self.assertEqual(len([name for name in self.segments() if name.endswith(".socket")]), 1)


if __name__ == "__main__":
    unittest.main()
