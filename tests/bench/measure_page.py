#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of open pages. The server observes 32 busy devices with 140 cores each.
Measures the CPU of `ttmem serve` with 0, 1 and 10 clients that request the changes every second,
and with a `ttmem top --server`. If chromium is installed, measures how long the page takes to paint
and to draw an update. For a recording of ten million events, measures how long ttmem takes to write
the page and the browser takes to open it."""

import argparse
import fcntl
import http.client
import json
import os
import pathlib
import pty
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

from measure_server import cpu_seconds, get, start_server

TESTS = pathlib.Path(__file__).resolve().parent.parent


class Client(threading.Thread):
    """Sends requests as the page does."""

    def __init__(self, port, cores):
        super().__init__(daemon=True)
        self.port, self.cores, self.stop, self.bytes, self.answers = port, cores, False, 0, 0

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        after = cores_after = ""
        while not self.stop:
            begin = time.monotonic()
            connection.request("GET", f"/api/v1/changes?cores={self.cores}{after}{cores_after}")
            body = connection.getresponse().read()
            answer = json.loads(body)
            self.bytes, self.answers = self.bytes + len(body), self.answers + 1
            after = f"&after={answer['number']}"
            if "cores" in answer:
                cores_after = f"&cores_after={answer['cores']['number']}"
            time.sleep(max(0, 1 - (time.monotonic() - begin)))


def wait_for_devices(port, count):
    for _ in range(50):
        if len(json.loads(get(port, "/api/v1/changes")[1])["devices"]) == count:
            return
        time.sleep(0.2)
    sys.exit(f"measure_page: the server does not see {count} devices")


def share_of_a_core(pid, seconds):
    before, begin = cpu_seconds(pid), time.monotonic()
    time.sleep(seconds)
    return 100 * (cpu_seconds(pid) - before) / (time.monotonic() - begin)


def measure_server(server, port, seconds):
    for count in (0, 1, 10):
        clients = [Client(port, 0) for _ in range(count)]
        for client in clients:
            client.start()
            time.sleep(0.07)
        time.sleep(1)
        used = share_of_a_core(server.pid, seconds)
        for client in clients:
            client.stop = True
        for client in clients:
            client.join()
        sent = sum(client.bytes for client in clients) / max(1, sum(c.answers for c in clients))
        print(f"{count:2} pages open             {used:.2f} % of a core, "
              f"{sent / 1000:.1f} KB an answer")


def take_in(terminal):
    """Reads the frames as a terminal does, until the program ends."""
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass


def measure_top(build, server, port, seconds):
    """Measures the CPU of the server while `ttmem top --server` draws two frames a second: in the
    view of all devices, and in the view of the cores."""
    for view in ("1", "3"):
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
        top = subprocess.Popen(
            [build / "bin" / "ttmem", "top", "--server", f"127.0.0.1:{port}", "-r", "500"],
            stdin=its, stdout=its, env={**os.environ, "TERM": "xterm-256color"})
        os.close(its)
        reader = threading.Thread(target=take_in, args=(ours,))
        reader.start()
        time.sleep(1)
        os.write(ours, view.encode())
        time.sleep(1)
        print(f"top --server, view {view}      {share_of_a_core(server.pid, seconds):.2f} % of a core")
        os.write(ours, b"q")
        top.wait(timeout=10)
        reader.join(timeout=10)
        os.close(ours)


def start_browser():
    for name in ("TTMEM_BIN", "TTMEM_LIB", "TTMEM_PREFIX"):
        os.environ.setdefault(name, "")
    sys.path.insert(0, str(TESTS / "outside"))
    from browser import NAMES, Browser  # pylint: disable=import-outside-toplevel
    if not any(map(shutil.which, NAMES)):
        return print("no chromium: the page itself is not measured")
    return Browser()


def measure_live_page(browser, port):
    for _ in range(2):  # the second time with a warm server and a warm browser
        browser.open("about:blank")
        browser.open(f"http://127.0.0.1:{port}/")
        time.sleep(3)
    paint = browser.run("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    times = []
    for _ in range(20):
        time.sleep(0.5)
        times.append(float(browser.run("document.body.dataset.drawMs")))
    print(f"first paint               {paint:.0f} ms")
    print(f"an update of 32 devices   {statistics.median(times):.1f} ms of script, "
          f"{max(times):.1f} at worst")


def measure_report(build, browser, devices, folder):
    """Measures the page of a recording in one file: its size, and the times to make and to open
    it."""
    recording, page = f"{folder}/{devices}.ttmem", f"{folder}/{devices}.html"
    subprocess.run([build / "bin" / "make_recording", recording, "10000000", str(devices)],
                   check=True, stdout=subprocess.DEVNULL)
    begin = time.monotonic()
    subprocess.run([build / "bin" / "ttmem", "report", recording, "--html", page], check=True)
    made = time.monotonic() - begin
    os.unlink(recording)
    browser.open("about:blank")
    browser.open(f"file://{page}")
    while not browser.run("document.body?.dataset.number"):
        time.sleep(0.02)
    opened = browser.run("performance.now()")
    print(f"report of 10 M events, {devices:2} devices: {os.path.getsize(page) / 1e6:.1f} MB, "
          f"made in {made:.0f} s, open after {opened / 1000:.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path, help="the build directory")
    parser.add_argument("--seconds", type=int, default=15, help="for each CPU figure")
    arguments = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="ttmem-bench-", dir="/dev/shm")
    env = {**os.environ, "TTMEM_DIR": directory, "TTMEM_SOCKET": directory + "/socket",
           "TTMEM_SYSROOT": "/nonexistent"}
    chips = subprocess.Popen([arguments.build / "bin" / "busy_chips"],
                             env={**env, "TT_ALLOC_TRACKING_ENABLED": "1"},
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    chips.stdout.readline()
    server, port = start_server(arguments.build, env)
    browser = None
    try:
        wait_for_devices(port, 32)
        measure_server(server, port, arguments.seconds)
        measure_top(arguments.build, server, port, arguments.seconds)
        browser = start_browser()
        if browser:
            measure_live_page(browser, port)
            for devices in (1, 32):
                measure_report(arguments.build, browser, devices, directory)
    finally:
        if browser:
            browser.close()
        for process in (server, chips):
            process.terminate()
            process.wait()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
