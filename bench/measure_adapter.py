#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the adapter adds to the calls of the runtime, on one chip and on 32.

measure_adapter.py BUILD [ROUNDS]

Runs adapter_host on the dry run with and without the preloaded adapter, in turn, and prints the
difference of the medians in nanoseconds.
"""

import os
import statistics
import subprocess
import sys
import tempfile

SYSTEMS = {"n150": "1", "galaxy": "32"}


def figures(build, system, extra):
    env = dict(os.environ, TTMEM_DRYRUN_SYSTEM=system, **extra)
    said = subprocess.run([f"{build}/bin/adapter_host"], env=env, text=True, check=True,
                          capture_output=True).stdout
    return {name: float(value) for name, value in map(str.split, said.splitlines())}


def main():
    build = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    with tempfile.TemporaryDirectory(prefix="ttmem-bench-", dir="/dev/shm") as folder:
        attached = {"TTMEM_DIR": folder, "TT_ALLOC_TRACKING_ENABLED": "1",
                    "LD_PRELOAD": f"{build}/lib/ttmem/libttmem_preload.so",
                    "TTMEM_ADAPTER": f"{build}/lib/libttmem_adapter_dryrun.so"}
        for system, chips in SYSTEMS.items():
            plain, with_it, with_ops = [], [], []
            for _ in range(rounds):
                plain.append(figures(build, system, {"TT_ALLOC_TRACKING_ENABLED": "0"}))
                with_it.append(figures(build, system, attached))
                with_ops.append(figures(build, system, {**attached, "TTMEM_OPS": "1"}))
            for name in plain[0]:
                before, after, ops = (statistics.median(run[name] for run in runs)
                                      for runs in (plain, with_it, with_ops))
                print(f"ratio adapter_{name}_{chips}_added_ns {after - before:.0f}"
                      f"  ({before:.0f} without)")
                if name == "operation":
                    print(f"ratio adapter_{name}_{chips}_with_names_added_ns {ops - before:.0f}")


if __name__ == "__main__":
    main()
