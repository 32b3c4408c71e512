# SPDX-License-Identifier: Apache-2.0
"""Allocates the layers of a model on different cores of a Blackhole, for the pictures of the
cores. Prints "ready" and holds the memory until it is killed."""

import time

import ttmem

L1, BASE, ALL = 1_572_864, 111_616, [(0, 0, 12, 9)]


class Layout:
    """Places buffers from the top and circular buffers from the bottom."""

    def __init__(self):
        self.top = L1
        self.number = 0

    def buffer(self, label, per_core, cores):
        self.top -= per_core
        self.number += 1
        banks = sum((x1 - x0 + 1) * (y1 - y0 + 1) for x0, y0, x1, y1 in cores)
        ttmem.buffer_alloc(0, ttmem.BufferType.L1, per_core * banks, self.top, id=self.number,
                           bytes_per_bank=per_core, cores=cores, label=label)

    def program(self, number, cores, *sizes):
        address, cbs = BASE, []
        for size in sizes:
            cbs.append((address, size, cores))
            address += size
        ttmem.program_place(0, number, cbs)
        ttmem.program_dispatch(0, number)


def main():
    ttmem.device_open(0, uid=0xB150, arch="blackhole", board="p150", grid_x=13, grid_y=10,
                      l1_bytes_per_core=L1, l1_base=BASE, dram_channels=8,
                      dram_bytes_per_channel=4_278_190_080)
    kib, layout = 1024, Layout()
    ttmem.buffer_alloc(0, ttmem.BufferType.DRAM, 6 << 30, 1_048_704, id=1000,
                       bytes_per_bank=(6 << 30) // 8, label="weights")
    layout.buffer("hidden_states", 96 * kib, ALL)
    layout.buffer("kv_cache.block", 192 * kib, [(0, 0, 12, 5)])
    layout.buffer("attention.scores", 224 * kib, [(0, 0, 7, 3)])
    layout.buffer("router.logits", 64 * kib, [(8, 6, 12, 9)])
    layout.program(11, ALL, 64 * kib, 64 * kib, 32 * kib)
    layout.program(12, [(0, 0, 7, 7)], 128 * kib, 128 * kib, 96 * kib)
    layout.program(13, [(0, 0, 3, 3)], 256 * kib, 256 * kib, 128 * kib, 64 * kib)
    layout.program(14, [(0, 0, 1, 1)], 384 * kib, 384 * kib, 96 * kib, 28 * kib)
    layout.program(15, [(9, 0, 12, 3)], 320 * kib, 96 * kib)
    print("ready", flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main()
