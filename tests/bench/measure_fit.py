#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long `ttmem fit` takes to place a million requests on a board of another
architecture. The requests come from two recordings: one of a model, and one of a program that
allocates and frees at random. The second program has 50,000 live buffers at a time, and its frees
leave thousands of free blocks in DRAM.

measure_fit.py BUILD
"""

import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

REQUESTS = 1_000_000
LIVE = 50_000
SIZES = 2_000


def seconds(command):
    begin = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - begin


def fragment(file):
    """Replaces the requests of a recording of an n300 by random requests."""
    rows, live, now = [], [], 0
    chance = random.Random(1)
    for number in range(1, REQUESTS + 1):
        now += 1
        rows.append([number, 1, chance.randint(1, SIZES), number, None, now, None, None])
        live.append(number - 1)
        if len(live) > LIVE:
            now += 1
            place = chance.randrange(len(live))
            live[place], live[-1] = live[-1], live[place]
            rows[live.pop()][6] = now
    connection = sqlite3.connect(file)
    for table in ("allocations", "programs", "dispatches", "marks", "timeline", "requests"):
        connection.execute(f"DELETE FROM {table}")
    for number in range(1, SIZES + 1):
        pages = chance.choice((1, 3, 8, 20)) * chance.randint(1, 20)
        connection.execute(
            "INSERT INTO requests (id, kind, bytes, bytes_per_bank, banks, own_banks, estimate, spread, "
            "page_bytes) VALUES (?, 'dram', ?, ?, 12, 0, 0, 'interleaved', 2048)",
            (number, pages * 2048, -(-pages // 12) * 2048))
    connection.executemany("INSERT INTO allocations VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    connection.execute("UPDATE devices SET begin_ns = 0, end_ns = NULL")
    connection.commit()
    connection.close()


def main():
    build = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        model, pieces = f"{folder}/model.ttmem", f"{folder}/pieces.ttmem"
        subprocess.run([f"{build}/bin/make_recording", model, "2500000"], check=True)
        shutil.copy(model, pieces)
        fragment(pieces)
        fit = [f"{build}/bin/ttmem", "fit", "--board"]
        print(f"ratio fit_1m_s {seconds([*fit, 'p150', model]):.2f}")
        print(f"ratio fit_1m_fragmented_s {seconds([*fit, 'p150', pieces]):.2f}")


if __name__ == "__main__":
    main()
