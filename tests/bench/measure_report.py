#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long `ttmem report`, `ttmem leaks` and `ttmem diff` take for recordings of ten million
events, on one chip and on a mesh of eight, and the size of a recording.

measure_report.py BUILD [EVENTS]
"""

import os
import resource
import subprocess
import sys
import tempfile
import time


def seconds(command):
    """Returns the wall time of a command. An exceeded limit (exit status 3) is no failure."""
    begin = time.monotonic()
    code = subprocess.run(command, stdout=subprocess.DEVNULL).returncode
    if code not in (0, 3):
        sys.exit(f"{' '.join(command)}: exit status {code}")
    return time.monotonic() - begin


def main():
    build = sys.argv[1]
    events = sys.argv[2] if len(sys.argv) > 2 else "10000000"
    ttmem, make = f"{build}/bin/ttmem", f"{build}/bin/make_recording"
    with tempfile.TemporaryDirectory() as folder:
        one, mesh = f"{folder}/one.ttmem", f"{folder}/mesh.ttmem"
        subprocess.run([make, one, events, "1"], check=True)
        subprocess.run([make, mesh, events, "8"], check=True)
        print(f"ratio recording_bytes_per_event {os.path.getsize(one) / int(events):.1f}")
        print(f"ratio report_10m_s {seconds([ttmem, 'report', one]):.2f}")
        print(f"ratio report_10m_mesh8_s {seconds([ttmem, 'report', mesh]):.2f}")
        print(f"ratio leaks_10m_s {seconds([ttmem, 'leaks', one]):.2f}")
        larger = f"{folder}/larger.ttmem"
        subprocess.run([make, larger, events, "1", "64"], check=True)
        print(f"ratio diff_10m_s {seconds([ttmem, 'diff', one, larger]):.2f}")
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(f"ratio report_10m_mib {most / 1024:.0f}")


if __name__ == "__main__":
    main()
