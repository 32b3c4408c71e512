# SPDX-License-Identifier: Apache-2.0
"""Helpers of the outside tests. These tests use only the installed product: the `ttmem` command,
the library and the installed tree, named by TTMEM_BIN, TTMEM_LIB and TTMEM_PREFIX."""

import fcntl
import functools
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CAPTURES = HERE.parent / "data" / "captures"
TTMEM = os.environ["TTMEM_BIN"]
LIBRARY = os.environ["TTMEM_LIB"]
PREFIX = pathlib.Path(os.environ["TTMEM_PREFIX"])

KIB, MIB, GIB = 1024, 1024**2, 1024**3
DEADLINE_SECONDS = 60

KINDS_OF_PROCESS = ("dram_bytes", "l1_bytes", "l1_small_bytes", "trace_bytes", "cb_bytes",
                    "kernels_bytes")


def shown(value, unit_of_zero=2):
    """Returns a size as the commands and the page write it."""
    if value is None:
        return "n/a"
    units = ("B", "KiB", "MiB", "GiB", "TiB")
    size, unit = float(abs(value)), 0
    while size >= (1024 if unit == 0 else 999.95):
        size, unit = size / 1024, unit + 1
    unit = unit if value else unit_of_zero
    digits = 0 if unit == 0 else 2 if size < 9.995 else 1
    return f"{'-' if value < 0 else ''}{size:.{digits}f} {units[unit]}"


def mib(value, digits):
    return round(value / MIB, digits)


def gib(value, digits):
    return round(value / GIB, digits)


def pkg_config(*what):
    env = dict(os.environ)
    found = sorted(PREFIX.rglob("ttmem.pc"))
    env["PKG_CONFIG_PATH"] = os.pathsep.join(str(path.parent) for path in found)
    result = subprocess.run(["pkg-config", *what, "ttmem"], env=env, text=True,
                            capture_output=True, check=True)
    return result.stdout.split()


@functools.cache
def is_sanitized():
    code = pathlib.Path(LIBRARY).read_bytes()
    return any(name in code for name in (b"__asan_", b"__tsan_", b"__ubsan_"))


def skip_if_sanitized():
    """Skips a test that works only with a library without sanitizers, such as the released
    library."""
    if is_sanitized():
        raise unittest.SkipTest("the library was built with sanitizers")


def rounds(count):
    """Returns how often a test tries to hit an event that depends on chance. Normally this is
    `count`. With sanitizers it is a tenth of `count`, because a process takes five times as long
    there and the normal build already looks for the races."""
    return count // 10 if is_sanitized() else count


def plain_environment():
    """Returns an environment for foreign programs, without the preloaded library of the
    sanitizers."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def library_path():
    return str(sorted(PREFIX.rglob("libttmem.so"))[0].parent)


def build_consumer(folder, name="consumer"):
    """Compiles a C program with cc and pkg-config, as users do."""
    target = pathlib.Path(folder) / name
    subprocess.run(["cc", "-std=c11", "-O1", str(HERE / "consumer" / f"{name}.c"), "-o",
                    str(target), *pkg_config("--cflags", "--libs"), "-pthread",
                    f"-Wl,-rpath,{library_path()}"], check=True)
    return str(target)


class Running:
    """A process that a test starts. The process ends with the test."""

    def __init__(self, command, env, **options):
        self.command = command
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.pid = self.process.pid
        self._unread = {"stdout": b"", "stderr": b""}

    def line(self, stream="stdout"):
        """Returns the next complete line of this stream."""
        pipe = getattr(self.process, stream)
        end = time.monotonic() + DEADLINE_SECONDS
        while b"\n" not in self._unread[stream]:
            ready, _, _ = select.select([pipe], [], [], max(0, end - time.monotonic()))
            chunk = os.read(pipe.fileno(), 65536) if ready else b""
            if not chunk:
                raise AssertionError(f"{self.command} said no whole line on {stream}, only "
                                     f"{self._unread[stream]!r}; it ended: {self.process.poll()}")
            self._unread[stream] += chunk
        line, self._unread[stream] = self._unread[stream].split(b"\n", 1)
        return line.decode()

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self):
        return self.process.wait(DEADLINE_SECONDS)

    def kill(self):
        """Kills the process with SIGKILL and waits for its end."""
        self.signal(signal.SIGKILL)
        return self.wait()

    def go_on(self):
        """Sends a byte to a workload that waits for it. The workload then continues."""
        self.process.stdin.write(b"x")
        self.process.stdin.flush()

    def close_stdin(self):
        self.process.stdin.close()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()


class Case(unittest.TestCase):
    """A test with its own directory of segments."""

    def setUp(self):
        shm = "/dev/shm"
        self.dir = tempfile.mkdtemp(prefix="ttmem-test-",
                                    dir=shm if os.access(shm, os.W_OK) else None)
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith(("TTMEM_", "TT_")) and name != "NO_COLOR"}
        self.env["TTMEM_DIR"] = self.dir
        self.env["TTMEM_SYSROOT"] = "/nonexistent"  # tests must not depend on this machine's chips

    def tracked(self, **more):
        return {**self.env, "TT_ALLOC_TRACKING_ENABLED": "1", **more}

    def start(self, command, env=None, **options):
        running = Running([str(part) for part in command], env or self.env, **options)
        self.addCleanup(running.end)
        return running

    def start_ttmem(self, *arguments):
        return self.start([TTMEM, *arguments])

    def hold_calls(self, source, **options):
        """Starts a process that makes calls of the C interface (abi.py) and then holds its
        state."""
        env = self.tracked(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE))
        held = self.start([sys.executable, "-c", "from abi import *\n" + source + "\nhold()"], env,
                          **options)
        held.line()
        return held

    def ttmem(self, *arguments, code=0, env=None):
        result = subprocess.run([TTMEM, *map(str, arguments)], env=env or self.env, text=True,
                                capture_output=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stdout}{result.stderr}")
        return result

    def on_terminal(self, columns, rows, *arguments, until=None):
        """Returns the output of ttmem on a terminal of this size. If `until` is given, ttmem gets
        SIGINT when its output contains `until`."""
        env = {name: value for name, value in self.env.items() if name not in ("COLUMNS", "LINES")}
        env.update(NO_COLOR="1", LC_ALL="C.UTF-8", TERM="xterm")
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        running = subprocess.Popen([TTMEM, *map(str, arguments)], env=env, stdin=theirs,
                                   stdout=theirs, stderr=theirs)
        os.close(theirs)
        shown = b""
        end = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < end and select.select([ours], [], [], DEADLINE_SECONDS)[0]:
            try:
                shown += os.read(ours, 65536)
            except OSError:  # the process ended
                break
            if until and until in shown.decode(errors="replace"):
                running.send_signal(signal.SIGINT)
                until = None
        self.assertEqual(running.wait(DEADLINE_SECONDS), 0, shown)
        return shown.decode().replace("\r", "")

    def json(self, *arguments, env=None):
        return json.loads(self.ttmem(*arguments, "--json", env=env).stdout)

    def devices(self):
        return self.json()["devices"]

    def wait_for(self, condition, what):
        """Polls until `condition()` is true, and returns its value."""
        end = time.monotonic() + DEADLINE_SECONDS
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                self.fail(f"waited {DEADLINE_SECONDS} s in vain for {what}")
            time.sleep(0.02)

    def files(self):
        return sorted(os.listdir(self.dir))

    def assert_sane(self, snapshot):
        """Checks that no figure is negative or above the capacity, that Total L1 adds up, and that
        the bytes of circular buffers satisfy resident <= physical <= logical."""
        for device in snapshot["devices"]:
            dram, l1 = device["dram"], device["l1"]
            for name, part in (("DRAM", dram), ("L1", l1)):
                if part["used_bytes"] is None:
                    continue
                self.assertGreaterEqual(part["used_bytes"], 0, name)
                if part["peak_bytes"] is not None:  # None if all owners are dead
                    self.assertGreaterEqual(part["peak_bytes"], part["used_bytes"], name)
                if part["capacity_bytes"] is not None:
                    self.assertLessEqual(part["peak_bytes"] or part["used_bytes"],
                                         part["capacity_bytes"], name)
            if l1["used_bytes"] is not None and l1["buffers"]["physical_bytes"] is not None:
                parts = (l1["buffers"]["physical_bytes"], l1["small_bytes"],
                         l1["cb"]["physical_bytes"], l1["kernels_bytes"])
                self.assertEqual(l1["used_bytes"], sum(part or 0 for part in parts))
                views = [l1["cb"][view] for view in ("resident_bytes", "physical_bytes",
                                                     "logical_bytes")]
                known = [view for view in views if view is not None]
                self.assertEqual(known, sorted(known))
            for process in device["processes"]:
                for kind in KINDS_OF_PROCESS:
                    has = dram if kind in ("dram_bytes", "trace_bytes") else l1
                    if process[kind] is not None and has["capacity_bytes"] is not None:
                        self.assertGreaterEqual(process[kind], 0, kind)
                        self.assertLessEqual(process[kind], has["capacity_bytes"], kind)


def rows(snapshot, state):
    """Returns {(device id, pid): figures of the process} for the processes in this state."""
    return {(device["id"], process["pid"]):
            {kind: process[kind] for kind in (*KINDS_OF_PROCESS, "allocations")}
            for device in snapshot["devices"] for process in device["processes"]
            if process["state"] == state}
