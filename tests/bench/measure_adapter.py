#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost that the adapter and the processor add to the calls of the runtime, on one chip
and on 32.

measure_adapter.py BUILD [ROUNDS]

Runs adapter_host on the dry run with and without the preloaded adapter, and processor_host with
tracking on and off, in turn. Prints the differences of the fastest runs in nanoseconds."""

import os
import subprocess
import sys
import tempfile

SYSTEMS = {"n150": "1", "galaxy": "32"}


def figures(host, system, extra):
    env = dict(os.environ, TTMEM_DRYRUN_SYSTEM=system, **extra)
    said = subprocess.run([host], env=env, text=True, check=True, capture_output=True)
    if said.stderr:  # for example: the adapter was not loaded, so nothing would be measured
        sys.exit(f"{host}: {said.stderr}")
    return {name: float(value) for name, value in map(str.split, said.stdout.splitlines())}


def compare(name, host, attached, rounds):
    for system, chips in SYSTEMS.items():
        plain, with_it, with_ops = [], [], []
        for _ in range(rounds):
            plain.append(figures(host, system, {"TT_ALLOC_TRACKING_ENABLED": "0"}))
            with_it.append(figures(host, system, attached))
            with_ops.append(figures(host, system, {**attached, "TTMEM_OPS": "1"}))
        for figure in plain[0]:
            before, after, ops = (min(run[figure] for run in runs)
                                  for runs in (plain, with_it, with_ops))
            print(f"ratio {name}_{figure}_{chips}_added_ns {after - before:.0f}"
                  f"  ({before:.0f} without)")
            if figure == "operation":
                print(f"ratio {name}_{figure}_{chips}_with_names_added_ns {ops - before:.0f}")


def main():
    build = os.path.abspath(sys.argv[1])  # the adapter is loaded only from an absolute path
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    with tempfile.TemporaryDirectory(prefix="ttmem-bench-", dir="/dev/shm") as folder:
        tracked = {"TTMEM_DIR": folder, "TT_ALLOC_TRACKING_ENABLED": "1"}
        preloaded = {"LD_PRELOAD": f"{build}/lib/libttmem.so:{build}/lib/ttmem/libttmem_preload.so",
                     "TTMEM_ADAPTER": f"{build}/lib/libttmem_adapter_dryrun.so"}
        compare("adapter", f"{build}/bin/adapter_host", {**tracked, **preloaded}, rounds)
        compare("processor", f"{build}/bin/processor_host", tracked, rounds)


if __name__ == "__main__":
    main()
