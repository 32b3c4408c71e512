// SPDX-License-Identifier: Apache-2.0
// The figures of an aggregated recording at one moment, taken from its timeline. An aggregated
// recording keeps no single allocations or processes, so all other figures are unknown, not zero.
import { lastUntil } from './moments.js';
import { PROCESS_FIGURES } from './process_rows.js';
import { together, valuesAt } from './time_legend.js';

export const NO_LISTS = 'An aggregate does not keep single allocations and processes.';
const L1_KINDS = ['l1', 'l1_small', 'cb', 'kernel'];

// Returns a copy of `of` in which every number is unknown.
function unknown(of) {
  if (of === null || typeof of !== 'object') return typeof of === 'number' ? null : of;
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, unknown(value)]));
}

// Returns the device with its figures at `time`, which come from `line`. `device` is as in
// ttmem.snapshot.v1; only its constant facts are used.
export function aggregated(device, line, time) {
  const at = lastUntil(line.time_ns, time);
  const known = (kind) => (at < 0 ? null : line[kind][at]);
  const { dram, l1, trace } = device;
  const { capacity_bytes, bytes_per_core } = l1;
  return {
    ...device,
    dram: { ...unknown(dram), capacity_bytes: dram.capacity_bytes, used_bytes: known('dram') },
    l1: {
      ...unknown(l1),
      capacity_bytes,
      bytes_per_core,
      used_bytes: together(valuesAt(line, L1_KINDS, time)),
      buffers: { ...unknown(l1.buffers), physical_bytes: known('l1') },
      small_bytes: known('l1_small'),
      cb: { ...unknown(l1.cb), physical_bytes: known('cb') },
      kernels_bytes: known('kernel'),
    },
    trace: { ...unknown(trace), capacity_bytes: trace.capacity_bytes, used_bytes: known('trace') },
    programs: null,
    processes: device.processes.map((process) => ({
      ...process,
      ...Object.fromEntries(PROCESS_FIGURES.map((figure) => [figure, null])),
    })),
  };
}
