#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the time that a recorder costs the recorded program, and the throughput of the recorder.

measure_record.py BUILD

Runs record_host alternately with and without `ttmem record`. Then records record_host at one
million events a second for ten seconds, and at higher rates until events are lost. Prints the
number of lost events for each rate. """

import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

ROUNDS = 5
RATES = (1e6, 1.5e6, 2e6, 3e6, 4e6)


def run(command, env):
    return float(subprocess.run(command, env=env, text=True, check=True, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL).stdout)


def main():
    build = pathlib.Path(sys.argv[1])
    host = str(build / "bin/record_host")
    with tempfile.TemporaryDirectory(prefix="ttmem-bench-", dir="/dev/shm") as shm, \
            tempfile.TemporaryDirectory(prefix="ttmem-bench-") as folder:
        env = dict(os.environ, TTMEM_DIR=shm, TT_ALLOC_TRACKING_ENABLED="1")
        file = f"{folder}/run.ttmem"
        record = [str(build / "bin/ttmem"), "record", "--no-adapter", "-f", "-o", file, "--", host]
        plain, recorded = [], []
        for _ in range(ROUNDS):
            plain.append(run([host, "pair"], env))
            recorded.append(run([*record, "pair"], env))
        print(f"ratio record_pair_vs_pair {min(recorded) / min(plain):.2f}"
              f"  ({min(recorded):.0f} and {min(plain):.0f} ns)")
        for rate in RATES:
            calls = run([*record, str(rate), "10" if rate == 1e6 else "5"], env)
            with sqlite3.connect(file) as database:
                events, lost = database.execute("SELECT events, lost_events FROM run").fetchone()
            name = "record_sustained_lost" if rate == 1e6 else f"record_{rate / 1e6:g}m_lost"
            print(f"ratio {name} {lost}  (of {calls:.0f} events)")
            if rate == 1e6:
                size = os.path.getsize(file)
                print(f"ratio record_bytes_per_event {size / max(events, 1):.1f}")
            if lost > 0:
                break


if __name__ == "__main__":
    main()
