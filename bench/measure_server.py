#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `ttmem serve` costs with many clients: CPU while nothing happens, and the time of a scrape.

measure_server.py BUILD_DIR [PROCESSES [ALLOCATIONS_OF_EACH [SECONDS]]]"""

import http.client
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


def get(port, target):
    """Wall-clock seconds and the length of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    begin = time.perf_counter()
    connection.request("GET", target)
    body = connection.getresponse().read()
    seconds = time.perf_counter() - begin
    connection.close()
    return seconds, len(body)


def with_a_busy_one(build, env, server, port, seconds):
    """The same while one process of them all changes all the time."""
    busy = subprocess.Popen([build / "bin" / "ttmem", "demo", "inference", "--seconds",
                             str(seconds + 15)], env=env, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    try:
        time.sleep(2)
        before, begin = cpu_seconds(server.pid), time.monotonic()
        time.sleep(seconds)
        used = (cpu_seconds(server.pid) - before) / (time.monotonic() - begin)
        print(f"CPU, one process busy     {100 * used:.2f} % of a core")
        times = []
        for _ in range(50):
            time.sleep(0.1)  # something has changed since
            times.append(1000 * get(port, "/metrics")[0])
        print(f"/metrics after a change   {min(times):.1f} ms at best, "
              f"{statistics.median(times):.1f} median, {max(times):.1f} at worst")
    finally:
        busy.terminate()
        busy.wait()


def measure(build, processes, allocations, seconds, directory):
    env = {**os.environ, "TTMEM_DIR": directory, "TT_ALLOC_TRACKING_ENABLED": "1"}
    crowd = subprocess.Popen([build / "bin" / "crowd", str(processes), str(allocations)], env=env,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    server = None
    try:
        crowd.stdout.readline()
        env.pop("TT_ALLOC_TRACKING_ENABLED")
        server = subprocess.Popen([build / "bin" / "ttmem", "serve", "--http", "127.0.0.1:0",
                                   "--socket", directory + "/socket"], env=env,
                                  stderr=subprocess.PIPE, text=True)
        port = None
        while port is None:
            found = re.search(r"HTTP on .*:(\d+)/", server.stderr.readline())
            port = found and int(found.group(1))
        first, _ = get(port, "/metrics")
        time.sleep(3)  # what is new is read twice
        before, begin = cpu_seconds(server.pid), time.monotonic()
        time.sleep(seconds)
        idle = (cpu_seconds(server.pid) - before) / (time.monotonic() - begin)
        print(f"{processes} processes, {processes * allocations} live allocations")
        print(f"idle CPU                  {100 * idle:.2f} % of a core, over {seconds} s")
        print(f"resident                  {resident_mib(server.pid):.0f} MiB")
        print(f"first scrape              {1000 * first:.1f} ms")
        with_a_busy_one(build, env, server, port, seconds)
        for target in ("/metrics", "/api/v1/snapshot", "/api/v1/allocations"):
            cpu = cpu_seconds(server.pid)
            times = [get(port, target) for _ in range(10)]
            cpu = (cpu_seconds(server.pid) - cpu) / 10
            print(f"{target:25} {1000 * min(times)[0]:.1f} ms at best, {1000 * max(times)[0]:.1f} "
                  f"at worst, {1000 * cpu:.0f} ms of CPU, {times[0][1] / 1e6:.2f} MB")
    finally:
        if server is not None:
            server.terminate()
            server.wait()
        crowd.stdin.close()
        crowd.wait()


def main():
    numbers = [int(text) for text in sys.argv[2:]] + [1000, 100, 20][len(sys.argv) - 2:]
    directory = tempfile.mkdtemp(prefix="ttmem-bench-", dir="/dev/shm")
    try:
        measure(pathlib.Path(sys.argv[1]), *numbers, directory)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
