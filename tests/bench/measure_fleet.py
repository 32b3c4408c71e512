#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long `ttmem fleet` takes for many hosts. One process stands in for all hosts: for
each host it answers at an address of 127.0.1.0/24 with a recorded answer of a real `ttmem serve`
that observes the demo."""

import argparse
import asyncio
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request


def recorded(build, scenario, processes, directory):
    """Returns the answer of a server that shows this number of demo processes. Ends the server and
    the demos before it returns."""
    env = {**os.environ, "TTMEM_DIR": directory}
    ttmem = build / "bin" / "ttmem"
    running = []
    try:
        for _ in range(processes):
            demo = subprocess.Popen([ttmem, "demo", scenario, "--hold"], env=env,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            running.append(demo)
            demo.stderr.readline()
        server = subprocess.Popen([ttmem, "serve", "--socket", directory + "/socket", "--http",
                                   "127.0.0.1:0"], env=env, stderr=subprocess.PIPE, text=True)
        running.append(server)
        for line in server.stderr:
            if found := re.search(r"HTTP on (http://[\d.:]+)/", line):
                break
        else:
            sys.exit("measure_fleet: the server did not start")
        with urllib.request.urlopen(found.group(1) + "/api/v1/changes?brief=1", timeout=20) as answer:
            return json.load(answer)
    finally:
        for process in running:
            process.kill()
            process.wait()


class Hosts:
    """Answers for all hosts, in another process."""

    def __init__(self, document, count):
        self.addresses = [f"127.0.1.{number}" for number in range(1, count + 1)]
        self.bodies = {}
        for number, address in enumerate(self.addresses):
            body = json.dumps({**document, "host": f"node{number}"}, separators=(",", ":")).encode()
            self.bodies[address] = (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
                                    % len(body)) + body
        reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reading)
            asyncio.run(self.serve(writing))
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            self.port = int(pipe.readline())

    async def serve(self, ready):
        port = 0
        for address in self.addresses:
            server = await asyncio.start_server(self.answer, address, port, backlog=64)
            port = server.sockets[0].getsockname()[1]
        os.write(ready, f"{port}\n".encode())
        await asyncio.Event().wait()

    async def answer(self, reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(self.bodies[writer.get_extra_info("sockname")[0]])
        writer.close()

    def end(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


def measure(build, name, document, count, runs):
    hosts = Hosts(document, count)
    try:
        servers = "\n".join(f"{address}:{hosts.port}" for address in hosts.addresses)
        times, cpu = [], []
        for _ in range(runs):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            begin = time.perf_counter()
            result = subprocess.run([build / "bin" / "ttmem", "fleet", "--servers-from", "-", "--json"],
                                    input=servers, text=True, capture_output=True)
            times.append(time.perf_counter() - begin)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            answered = json.loads(result.stdout)["total"]["answered"]
            if answered != count:
                sys.exit(f"measure_fleet: {answered} of {count} answered")
        size = len(json.dumps(document, separators=(",", ":")))
        print(f"fleet, {count} hosts of {name}: {1000 * min(times):.0f} ms at best, "
              f"{1000 * statistics.median(times):.0f} median, {1000 * max(times):.0f} at worst; "
              f"{1000 * min(cpu):.0f} ms of CPU; an answer has {size / 1000:.1f} kB")
    finally:
        hosts.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path, help="the build directory")
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--runs", type=int, default=10)
    arguments = parser.parse_args()
    for scenario, processes, name in (("mesh8", 1, "8 chips, 1 process"),
                                      ("galaxy", 4, "32 chips, 4 processes")):
        directory = tempfile.mkdtemp(prefix="ttmem-bench-", dir="/dev/shm")
        try:
            document = recorded(arguments.build.resolve(), scenario, processes, directory)
        finally:
            shutil.rmtree(directory)
        measure(arguments.build.resolve(), name, document, arguments.hosts, arguments.runs)


if __name__ == "__main__":
    main()
