# SPDX-License-Identifier: Apache-2.0
"""Runs a model on a Blackhole, for the recordings in the pictures of the page: weights, steps with
marks, buffers and circular buffers of the layers, results that are never freed, and a failure at
the end. MORE is a number of KiB by which each buffer `act` is larger on each core.

    screens_model.py [MORE]"""

import sys
import time

import ttmem

L1, BASE, ALL = 1_572_864, 111_616, [(0, 0, 12, 9)]
KIB, MIB = 1 << 10, 1 << 20


class Memory:
    """Gives out addresses: DRAM from the bottom, L1 from the top."""

    def __init__(self):
        self.number = 0
        self.dram_end = MIB
        self.l1_top = L1

    def dram(self, label, size):
        self.number += 1
        ttmem.buffer_alloc(0, ttmem.BufferType.DRAM, size, self.dram_end, id=self.number,
                           bytes_per_bank=size // 8, label=label)
        self.dram_end += size // 8

    def l1(self, label, per_core, cores):
        self.number += 1
        self.l1_top -= per_core
        banks = sum((x1 - x0 + 1) * (y1 - y0 + 1) for x0, y0, x1, y1 in cores)
        ttmem.buffer_alloc(0, ttmem.BufferType.L1, per_core * banks, self.l1_top, id=self.number,
                           bytes_per_bank=per_core, cores=cores, label=label)
        return self.number, per_core

    def free(self, buffer):
        number, per_core = buffer
        self.l1_top += per_core
        ttmem.buffer_free(0, ttmem.BufferType.L1, number)


def program(number, cores, *sizes):
    address, cbs = BASE, []
    for size in sizes:
        cbs.append((address, size, cores))
        address += size
    ttmem.program_place(0, number, cbs)
    ttmem.program_dispatch(0, number)
    time.sleep(0.02)


def load(memory):
    with ttmem.scope("load"):
        for layer in range(4):
            with ttmem.scope(f"decoder.{layer}"):
                for part, names in (("attention", ("wq", "wk", "wv", "wo")),
                                    ("mlp", ("w1", "w2", "w3"))):
                    with ttmem.scope(part):
                        for name in names:
                            memory.dram(name, (96 if part == "attention" else 220) * MIB)
                            time.sleep(0.01)


def run_layer(memory, layer, step, more):
    with ttmem.scope(f"decoder.{layer}"):
        with ttmem.scope("attention"):
            block = memory.l1("kv_block", (160 + 16 * step) * KIB, [(0, 0, 12, 5)])
            scores = memory.l1("scores", 224 * KIB, [(0, 0, 7, 3)])
            program(10 + layer, ALL, 64 * KIB, 64 * KIB, 32 * KIB)
            memory.free(scores)
        with ttmem.scope("mlp"):
            act = memory.l1("act", (300 + more) * KIB, ALL)
            program(20 + layer, [(0, 0, 7, 7)], 128 * KIB, 128 * KIB, 96 * KIB)
            if step == 3:
                program(40, [(0, 0, 3, 3)], 256 * KIB, 256 * KIB, 128 * KIB)
            memory.free(act)
        memory.free(block)


def main():
    more = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    ttmem.device_open(0, uid=0xB150, arch="blackhole", board="p150", grid_x=13, grid_y=10,
                      l1_bytes_per_core=L1, l1_base=BASE, dram_channels=8,
                      dram_bytes_per_channel=4_278_190_080)
    memory = Memory()
    load(memory)
    memory.l1("hidden_states", 96 * KIB, ALL)
    for step in range(6):
        ttmem.mark(f"step {step}")
        for layer in range(4):
            run_layer(memory, layer, step, more)
        if step == 3:
            ttmem.program_destroy(40)
        with ttmem.scope(f"request.{step}"):
            memory.dram("logits", 4 * MIB)
        time.sleep(0.02)
    ttmem.failure("Out of Memory: Not enough space to allocate 402653184 B L1 buffer")
    time.sleep(0.1)


if __name__ == "__main__":
    main()
