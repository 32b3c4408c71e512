# SPDX-License-Identifier: Apache-2.0
"""A workload with faults of its own: the library does not make the faults worse."""

import itertools
import os
import subprocess
import sys
import unittest

from support import DEADLINE_SECONDS, HERE, LIBRARY, Case

STREAMS = (0, 1, 2)
COMBINATIONS = [closed for count in (1, 2, 3) for closed in itertools.combinations(STREAMS, count)]

# Defines a function that returns the path of this process's segment.
SEGMENT = """
def segment():
    name, = (name for name in os.listdir(os.environ["TTMEM_DIR"])
             if name.split(".")[2:3] == [str(os.getpid())] and not name.endswith(".failed"))
    return os.path.join(os.environ["TTMEM_DIR"], name)
"""

# Makes the library open all its files, while the program prints to streams that it has closed.
PRINTS = SEGMENT + """
import sys
go_on, say, closed = os.dup(0), os.dup(1), [int(word) for word in sys.argv[1:]]
for stream in closed: os.close(stream)

def prints():
    for stream in closed:
        try:
            os.write(stream, b"x" * 70000)
            os.write(say, b"a closed stream can be written to\\n")
        except OSError:
            pass

def step():
    prints()
    os.write(say, b"ready\\n")
    os.read(go_on, 1)

open_device()
step()
for number in range(3000): alloc(DRAM, 1 + number, 64, address=number << 16, label=b"grows")
step()
lib.ttmem_failure(b"TT_THROW: Out of Memory")
os.unlink(segment())
open_device()
place(1, (105664, 2048, [(0, 0, 7, 7)]))
step()
child = os.fork()
if child == 0:
    open_device()
    alloc(DRAM, 1, 64)
    prints()
    held = {os.stat(path).st_ino for path in map("/proc/self/fd/{}".format, closed)
            if os.path.exists(path)}
    os._exit(1 if held else 0)
status = os.waitpid(child, 0)[1]
open_device(1)
step()
sys.exit(os.waitstatus_to_exitcode(status))
"""

# Overwrites the process's own segment, then makes every call.
SCRIBBLES = SEGMENT + """
import sys
fill = sys.argv[1]
open_device(0, grid_x=0, grid_y=0)
open_device(1)
lib.ttmem_scope_push(b"decoder")
lib.ttmem_scope_push(b"a scope whose name is so long that it leaves no room for figures " * 3)
for number in range(50):
    alloc(L1, 1 + number, 64, address=number << 12, cores=[(0, 0, 1, 1)], label=b"weights")
mesh_alloc([0, 1], DRAM, 99, 64, label=b"a label that is longer than a slot has room for " * 3)
place(1, (105664, 2048, [(0, 0, 7, 7)]), name=b"matmul")
lib.ttmem_failure(b"first")

file = os.open(segment(), os.O_RDWR)
size = os.fstat(file).st_size
noise = b"\\xff" * size if fill == "ones" else (b"\\x01\\x00\\x7f\\xfe\\x33" * size)[:size]

def everything():
    open_device(0)                       # converts cores: buffers and programs get other numbers
    open_device(1, grid_x=13, grid_y=10)
    open_device(2)
    open_device(1000)
    lib.ttmem_scope_push(b"attention")
    for number in range(4000):
        alloc(L1, 100 + number, 64, address=number << 12, label=b"x" * (number % 300))
    for number in range(0, 4000, 3): free(L1, 100 + number)
    mesh_alloc([0, 1, 2], DRAM, 7, 64)
    mesh_free([1], DRAM, 7)
    mesh_free([0, 1], DRAM, 99)
    for number in range(200):
        place(number, (105664, 64 * (1 + number), [(0, 0, 7, 7)]), name=b"op%d" % number)
        lib.ttmem_program_dispatch(0, number)
    replay_trace(1, 2, 3)
    lib.ttmem_not_seen(1, b"because")
    lib.ttmem_reports(0, 1)
    lib.ttmem_failure(b"second")
    lib.ttmem_kernel_load(0, 1, 100, 0)
    lib.ttmem_kernel_unload(0, 1)
    lib.ttmem_mark(b"step")
    for number in range(0, 200, 2): lib.ttmem_program_destroy(number)
    lib.ttmem_scope_pop()
    lib.ttmem_scope_pop()
    child = os.fork()
    if child == 0:
        alloc(DRAM, 1, 64)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    for number in (0, 1, 2, 1000): lib.ttmem_device_close(number)

for again in range(3):
    os.pwrite(file, noise, 0)
    everything()
"""


class ClosedStreams(Case):
    """A daemon closes descriptors 0 to 2, and its libraries still print to these descriptors."""

    def run_with(self, closed):
        env = self.tracked(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE),
                           TTMEM_LOG=os.path.join(self.dir, "log"))
        workload = self.start([sys.executable, "-c", "from abi import *\n" + PRINTS,
                               *map(str, closed)], env)
        for dram in (0, 3000 * 12 * 64, 3000 * 12 * 64, 3000 * 12 * 64):
            self.assertEqual(workload.line(), "ready")
            snapshot = self.json()
            self.assertEqual(snapshot["warnings"], [])
            self.assertEqual([device["dram"]["used_bytes"] or 0 for device in snapshot["devices"]
                              if device["id"] == 0], [dram])
            numbers = {os.readlink(f"/proc/{workload.pid}/fd/{fd}"): int(fd)
                       for fd in os.listdir(f"/proc/{workload.pid}/fd")}
            ours = [fd for target, fd in numbers.items() if target.startswith(self.dir)]
            self.assertTrue(ours)
            self.assertGreater(min(ours), 2)
            workload.go_on()
        self.assertEqual(workload.wait(), 0)

    def test_no_file_of_the_library_takes_their_place(self):
        for closed in COMBINATIONS:
            with self.subTest(closed=closed):
                self.run_with(closed)


class ADamagedSegment(Case):
    """The segment is mapped into the workload, so a wild pointer may overwrite all of it."""

    def test_harms_no_call_of_its_owner(self):
        for fill in ("ones", "pattern"):
            with self.subTest(fill=fill):
                env = self.tracked(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE))
                ended = subprocess.run([sys.executable, "-c", "from abi import *\n" + SCRIBBLES,
                                        fill], env=env, capture_output=True, text=True,
                                       timeout=DEADLINE_SECONDS)
                self.assertEqual((ended.returncode, ended.stderr), (0, ""))
                self.json()  # a reader is not harmed either


if __name__ == "__main__":
    unittest.main()
