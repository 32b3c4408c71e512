# SPDX-License-Identifier: Apache-2.0
"""Processes of several pid namespaces with one directory of segments. The processes have the same
pid, often the same start time, and each process gives its own chip the same device number."""

import json
import os
import re
import signal
import subprocess
import sys
import unittest

from http_case import HttpCase
from support import DEADLINE_SECONDS, HERE, MIB, TTMEM

# (number, uid, bytes per bank): two processes on one chip, and two more chips with the number 0
CONTAINERS = ((0, 0xc0de01, 1 * MIB), (0, 0xc0de01, 2 * MIB), (0, 0xc0de02, 4 * MIB),
              (0, 0xc0de03, 8 * MIB))
BANKS = 12
ROUNDS = 40


def refused():
    """Returns why no pid namespace can be made here, or "" if one can."""
    try:
        said = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"],
                              capture_output=True, text=True)
    except FileNotFoundError:
        return "there is no unshare(1)"
    return "" if said.returncode == 0 else said.stderr.strip()


@unittest.skipIf(refused(), f"no pid namespaces here: {refused()}")
class Containers(HttpCase):
    def start_containers(self, *containers):
        """Starts containers. Returns their launchers (container.py). A launcher's `host_pid` is the
        pid that its workload has in the namespace of the test."""
        env = self.tracked(TTMEM_LIB=os.environ["TTMEM_LIB"])
        started = [self.start([sys.executable, HERE / "container.py", *map(str, what)], env=env)
                   for what in containers]
        for container in started:
            self.assertEqual(container.line(), "waiting")
        for container in started:
            container.go_on()
        for container in started:
            said = sorted((container.line(), container.line()))
            container.host_pid = int(said[0].split()[1])
            self.assertEqual(said[1], "ready 1")
        return started

    def start_four_at_once(self):
        """Starts four containers, and repeats this until at least two of them began within the same
        clock tick."""
        for _ in range(ROUNDS):
            four = self.start_containers(*CONTAINERS)
            if len({tuple(name.split(".")[:4]) for name in self.files()}) < 4:
                return four
            for container in four:
                container.close_stdin()
                container.wait()
        self.fail(f"no two processes began within one tick in {ROUNDS} tries")

    def processes(self, snapshot):
        return [(device, process) for device in snapshot["devices"]
                for process in device["processes"]]

    def test_a_recorder_takes_the_pid_of_this_namespace(self):
        two = self.start_containers(*CONTAINERS[1:3])
        file = os.path.join(self.dir, "run.ttmem")
        recorder = self.start([TTMEM, "record", "--pid", two[1].host_pid, "-o", file])
        recorder.line("stderr")
        recorder.signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0)
        [device] = self.json("report", file, "--at", "end")["devices"]
        self.assertEqual((device["uid"], device["dram"]["used_bytes"]),
                         ("0xc0de02", BANKS * 4 * MIB))
        said = self.ttmem("record", "--pid", "1", "-o", file, "-f", code=1).stderr
        self.assertIn("process 1 is not tracked", said)

    # Leaves orphans that end. Waits until no zombie is left, for 10 s at most. Prints the number of
    # zombies that are left.
    ORPHANS = ("import os, sys, time\n"
               "ended, theirs = os.pipe()\n"
               "for _ in range(20):\n"
               "  if os.fork() == 0:\n"
               "    if os.fork() != 0: os._exit(0)\n"
               "    parent = os.getppid()\n"
               "    while os.getppid() != 1: time.sleep(0.001)\n"
               "    os._exit(0)\n"
               "os.close(theirs)\n"
               "for _ in range(20): os.wait()\n"
               "os.read(ended, 1)\n"
               "def zombies():\n"
               "  found = 0\n"
               "  for pid in filter(str.isdigit, os.listdir('/proc')):\n"
               "    try: found += ') Z ' in open(f'/proc/{pid}/stat').read()\n"
               "    except OSError: pass\n"
               "  return found\n"
               "end = time.monotonic() + 10\n"
               "while zombies() and time.monotonic() < end: time.sleep(0.01)\n"
               "print(zombies(), flush=True)\n"
               "sys.exit(7)")

    def test_the_first_process_of_a_container_reaps_orphans(self):
        file = os.path.join(self.dir, "run.ttmem")
        for command in (["run"], ["run", "--summary"], ["record", "-o", file]):
            with self.subTest(command):
                result = subprocess.run(
                    ["unshare", "--pid", "--fork", "--mount-proc", TTMEM, *command, "--no-adapter",
                     "--", sys.executable, "-c", self.ORPHANS],
                    env=self.env, text=True, capture_output=True, timeout=DEADLINE_SECONDS)
                self.assertEqual((result.stdout, result.returncode), ("0\n", 7), result.stderr)

    def test_a_process_in_a_container_is_recorded_with_its_command(self):
        file = os.path.join(self.dir, "run.ttmem")
        env = {**self.env, "TTMEM_LIB": os.environ["TTMEM_LIB"], "PYTHONPATH": str(HERE)}
        self.ttmem("record", "--no-adapter", "-o", file, "--", "unshare", "--pid", "--fork",
                   "--mount-proc", sys.executable, "-c",
                   "from abi import *; open_device(); alloc(DRAM, 1, 64)", env=env)
        [device] = self.json("report", file)["devices"]
        self.assertEqual(device["dram"]["peak_bytes"], BANKS * 64)
        self.assertEqual(self.files(), ["run.ttmem"], "nothing is left behind")

    def test_no_process_is_lost_or_merged(self):
        four = self.start_four_at_once()
        self.assertEqual(len(self.files()), 4)
        snapshot = self.json()
        self.assertEqual(snapshot["warnings"], [])
        self.assertEqual([device["uid"] for device in snapshot["devices"]],
                         ["0xc0de01", "0xc0de02", "0xc0de03"])
        self.assertEqual([device["dram"]["used_bytes"] for device in snapshot["devices"]],
                         [BANKS * size * MIB for size in (3, 4, 8)])
        found = {process["host_pid"]: (device["uid"], process["pid"], process["dram_bytes"])
                 for device, process in self.processes(snapshot)}
        self.assertEqual(found, {container.host_pid: (hex(uid), 1, BANKS * size)
                                 for container, (_, uid, size) in zip(four, CONTAINERS)})
        spaces = {process["pid_namespace"] for _, process in self.processes(snapshot)}
        self.assertEqual(spaces, {os.stat(f"/proc/{container.host_pid}/ns/pid").st_ino
                                  for container in four})

    def test_the_table_top_and_lists_show_pids_of_this_namespace(self):
        four = self.start_four_at_once()
        table = self.ttmem().stdout
        self.assertIn("4 processes", table)
        self.assertIn("another pid namespace", table)
        top = self.ttmem("top", "--once", "--view", "4").stdout
        allocs = self.ttmem("allocs").stdout
        for container, (_, _, size) in zip(four, CONTAINERS):
            for text in (table, top, allocs):
                self.assertRegex(text, rf"\b{container.host_pid}/1\b.*\b{BANKS * size // MIB}\.0 MiB")
            (only,) = self.json("allocs", "--pid", container.host_pid)["allocations"]
            self.assertEqual((only["host_pid"], only["pid"], only["physical_bytes"]),
                             (container.host_pid, 1, BANKS * size))
        self.assertEqual(len(self.json("allocs", "--pid", 1)["allocations"]), 4)

    def test_each_process_has_its_own_series(self):
        four = self.start_four_at_once()
        self.serve()
        page = self.get("/metrics")
        dram = dict(re.findall(
            r'ttmem_process_memory_used_bytes{device="0",pid="(\d+)".*kind="dram"} (\d+)', page))
        self.assertEqual({int(pid): int(bytes) for pid, bytes in dram.items()},
                         {container.host_pid: BANKS * size
                          for container, (_, _, size) in zip(four, CONTAINERS)})

    def test_a_reader_in_another_container_distinguishes_them_too(self):
        four = self.start_four_at_once()
        said = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", TTMEM,
                               "--json"], env=self.env, capture_output=True, text=True, check=True)
        snapshot = json.loads(said.stdout)
        rows = [process for _, process in self.processes(snapshot)]
        self.assertEqual(sorted(row["dram_bytes"] for row in rows),
                         [BANKS * size for _, _, size in CONTAINERS])
        self.assertEqual({(row["pid"], row["host_pid"]) for row in rows}, {(1, None)})
        self.assertEqual(len({row["pid_namespace"] for row in rows}), len(four))

    def test_a_killed_process_is_dead_and_the_others_live(self):
        four = self.start_four_at_once()
        os.kill(four[1].host_pid, signal.SIGKILL)
        four[1].wait()
        states = {process["dram_bytes"]: process["state"]
                  for _, process in self.processes(self.json())}
        self.assertEqual(states, {BANKS * size: "dead" if size == 2 * MIB else "alive"
                                  for _, _, size in CONTAINERS})
        said = self.ttmem("clean").stdout
        self.assertRegex(said, r"\?/1\b.*24\.0 MiB")
        self.assertEqual(len(self.files()), 3)
        # The dead process stays in the list, although a process of a new container has the same
        # pid.
        os.kill(four[0].host_pid, signal.SIGKILL)
        four[0].wait()
        self.start_containers(CONTAINERS[1])
        held = sorted((process["state"], process["dram_bytes"])
                      for _, process in self.processes(self.json()))
        self.assertEqual(held, [("alive", BANKS * 2 * MIB), ("alive", BANKS * 4 * MIB),
                                ("alive", BANKS * 8 * MIB), ("dead", BANKS * 1 * MIB)])


if __name__ == "__main__":
    unittest.main()
