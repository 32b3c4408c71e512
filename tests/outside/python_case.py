# SPDX-License-Identifier: Apache-2.0
"""The base class of the tests of the Python package. Each test runs user code in its own Python
process, because the calling process is the tracked process."""

import json
import subprocess
import sys
import textwrap

from support import DEADLINE_SECONDS, HERE, LIBRARY, TTMEM, Case

ROOT = HERE.parent.parent
SOURCE = ROOT / "integrations" / "python"

# After this code, the package finds the library and the command only by environment variables.
ALONE = """
    import ctypes.util, os, ttmem, ttmem._find
    ctypes.util.find_library = lambda name: None
    ttmem._find._COMMON_PREFIXES = ()
    os.environ["PATH"] = ""
"""

DEVICE = """
    import os, sys, ttmem
    from ttmem import BufferType, Cb, KernelRole
    def open_device(id=0):
        ttmem.device_open(id, uid=0x7e57 + id, arch="wormhole_b0", board="n150", grid_x=8,
                          grid_y=8, l1_bytes_per_core=1499136, l1_base=105664,
                          l1_small_bytes_per_core=32768, dram_channels=12,
                          dram_bytes_per_channel=1 << 30, trace_region_bytes=1 << 20)
"""

HOLD = """
    print("ready", flush=True)
    os.read(0, 1)
"""


def code_of(*parts):
    return "\n".join(textwrap.dedent(part) for part in parts)


class PythonCase(Case):
    def setUp(self):
        super().setUp()
        self.env.update(PYTHONPATH=str(SOURCE), PYTHONDONTWRITEBYTECODE="1")

    def found(self, **more):
        """Returns an environment whose variables name the library and the command."""
        return {**self.env, "TTMEM_LIB": LIBRARY, "TTMEM_BIN": TTMEM, **more}

    def found_and_tracked(self):
        return self.found(TT_ALLOC_TRACKING_ENABLED="1")

    def run_code(self, *code, env=None, options=()):
        return subprocess.run([sys.executable, *options, "-c", code_of(*code)],
                              env=env or self.found_and_tracked(), text=True,
                              capture_output=True, timeout=DEADLINE_SECONDS)

    def output(self, *code, env=None):
        result = self.run_code(*code, env=env, options=("-W", "error"))
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        return result.stdout

    def value(self, *code, env=None):
        """Runs code that prints one value as JSON. Returns the value."""
        return json.loads(self.output("import json", *code, env=env))

    def error(self, *code, env):
        """Runs code that must end with a ttmem.TtmemError. Returns the last line of its stderr."""
        result = self.run_code(*code, env=env)
        self.assertNotEqual(result.returncode, 0, result.stdout)
        last = result.stderr.strip().splitlines()[-1]
        self.assertRegex(last, r"^ttmem\.TtmemError: ")
        return last

    def after(self, *code):
        """Runs the code in a tracked process, which then waits. Returns the devices."""
        workload = self.start([sys.executable, "-c", code_of("import os", *code, HOLD)],
                              env=self.found_and_tracked())
        self.assertEqual(workload.line(), "ready")
        self.pid = workload.pid
        snapshot = self.json("--per-core")
        self.assert_sane(snapshot)
        return snapshot["devices"]
