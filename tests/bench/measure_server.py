#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of `ttmem serve` with many clients: the CPU while nothing happens, and the time
of a scrape.

The clients write shared memory or, with --socket, are connected to the server."""

import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
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
    """Sends a request. Returns the seconds until the whole answer has arrived, and the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    begin = time.perf_counter()
    connection.request("GET", target)
    body = connection.getresponse().read()
    seconds = time.perf_counter() - begin
    connection.close()
    return seconds, body


def with_a_busy_one(build, env, server, port, seconds):
    """Measures the CPU of the server and the time of a scrape while one further process changes its
    memory continuously."""
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
            time.sleep(0.1)  # the busy process changes its memory meanwhile
            times.append(1000 * get(port, "/metrics")[0])
        print(f"/metrics after a change   {min(times):.1f} ms at best, "
              f"{statistics.median(times):.1f} median, {max(times):.1f} at worst")
    finally:
        busy.terminate()
        busy.wait()


def wait_until_known(port, wanted, seconds=60):
    """Waits until the server knows this number of live allocations."""
    for _ in range(10 * seconds):
        devices = json.loads(get(port, "/api/v1/snapshot")[1])["devices"]
        known = sum(row["allocations"] for device in devices for row in device["processes"])
        if known >= wanted:
            return
        time.sleep(0.1)
    sys.exit(f"measure_server: the server knows {known} of {wanted} allocations")


def start_server(build, env):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen([build / "bin" / "ttmem", "serve", "--quiet", "--http",
                               f"127.0.0.1:{port}"], env=env)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server, port
        except ConnectionRefusedError:
            time.sleep(0.05)
    server.terminate()
    server.wait()
    sys.exit("measure_server: the server did not start")


def measure(build, processes, allocations, seconds, over_socket, directory):
    env = {**os.environ, "TTMEM_DIR": directory, "TTMEM_SOCKET": directory + "/socket"}
    tracked = {**env, "TT_ALLOC_TRACKING_ENABLED": "1",
               "TTMEM_TRANSPORT": "socket" if over_socket else "shm"}
    server = crowd = None
    try:
        if over_socket:
            server, port = start_server(build, env)
        crowd = subprocess.Popen([build / "bin" / "crowd", str(processes), str(allocations)],
                                 env=tracked, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        crowd.stdout.readline()
        if not over_socket:
            server, port = start_server(build, env)
            first, _ = get(port, "/metrics")
        wait_until_known(port, processes * allocations)
        time.sleep(3)  # the server reads a new segment twice
        before, begin = cpu_seconds(server.pid), time.monotonic()
        time.sleep(seconds)
        idle = (cpu_seconds(server.pid) - before) / (time.monotonic() - begin)
        print(f"{processes} processes, {processes * allocations} live allocations, "
              f"{'over the socket' if over_socket else 'in shared memory'}")
        print(f"idle CPU                  {100 * idle:.2f} % of a core, over {seconds} s")
        print(f"resident                  {resident_mib(server.pid):.0f} MiB")
        if not over_socket:
            print(f"first scrape              {1000 * first:.1f} ms")
        with_a_busy_one(build, tracked, server, port, seconds)
        for target in ("/metrics", "/api/v1/snapshot", "/api/v1/allocations"):
            cpu = cpu_seconds(server.pid)
            times = [get(port, target) for _ in range(10)]
            cpu = (cpu_seconds(server.pid) - cpu) / 10
            print(f"{target:25} {1000 * min(times)[0]:.1f} ms at best, {1000 * max(times)[0]:.1f} "
                  f"at worst, {1000 * cpu:.0f} ms of CPU, {len(times[0][1]) / 1e6:.2f} MB")
    finally:
        if server is not None:
            server.terminate()
            server.wait()
        if crowd is not None:
            crowd.stdin.close()
            crowd.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path, help="the build directory")
    parser.add_argument("--processes", type=int, default=1000)
    parser.add_argument("--allocations", type=int, default=100, help="of each process")
    parser.add_argument("--seconds", type=int, default=20, help="for each CPU figure")
    parser.add_argument("--socket", action="store_true", help="the processes are connected")
    arguments = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="ttmem-bench-", dir="/dev/shm")
    try:
        measure(arguments.build, arguments.processes, arguments.allocations, arguments.seconds, arguments.socket, directory)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
