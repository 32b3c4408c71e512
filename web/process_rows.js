// SPDX-License-Identifier: Apache-2.0
// Processes as rows of a list: what they hold on all devices together.
import * as format from './format.js';

export const PROCESS_FIGURES = [
  'dram_bytes',
  'l1_bytes',
  'l1_small_bytes',
  'trace_bytes',
  'cb_bytes',
  'kernels_bytes',
  'allocations',
];

function add(a, b) {
  if (a === null || a === undefined) return b;
  return b === null || b === undefined ? a : a + b;
}

// One row for each process of these devices.
export function processRows(devices) {
  const rows = new Map();
  for (const device of devices) {
    for (const process of device.processes) {
      const key = `${process.pid}/${process.pid_namespace}/${process.state}/${process.name}`;
      let row = rows.get(key);
      if (!row) {
        row = { ...process, devices: [] };
        for (const figure of PROCESS_FIGURES) row[figure] = null;
        rows.set(key, row);
      }
      row.devices.push(device.id);
      for (const figure of PROCESS_FIGURES) row[figure] = add(row[figure], process[figure]);
    }
  }
  return [...rows.values()];
}

// "0-3,6"
export function numberRanges(numbers) {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const parts = [];
  for (let i = 0; i < sorted.length;) {
    let end = i;
    while (end + 1 < sorted.length && sorted[end + 1] === sorted[end] + 1) ++end;
    parts.push(end === i ? `${sorted[i]}` : `${sorted[i]}-${sorted[end]}`);
    i = end + 1;
  }
  return parts.join(',');
}

function bytesColumn(name, field, more = {}) {
  return {
    name,
    number: true,
    width: 6,
    value: (row) => row[field],
    text: (row) => format.bytes(row[field]),
    ...more,
  };
}

export const processColumns = [
  {
    name: 'PID',
    number: true,
    width: 5,
    value: (row) => row.host_pid ?? row.pid,
    text: (row) => format.text(row.host_pid ?? row.pid),
  },
  {
    name: 'User',
    width: 6,
    low: true,
    value: (row) => row.user,
    text: (row) => format.text(row.user),
  },
  {
    name: 'Dev',
    width: 5,
    value: (row) => row.devices[0],
    text: (row) => numberRanges(row.devices),
  },
  bytesColumn('DRAM', 'dram_bytes'),
  bytesColumn('L1 buf', 'l1_bytes', { title: 'L1 buffers' }),
  bytesColumn('CB', 'cb_bytes', { title: 'Circular buffers, physical' }),
  bytesColumn('Kernels', 'kernels_bytes', { low: true }),
  bytesColumn('Trace', 'trace_bytes', { low: true }),
  {
    name: 'Allocs',
    number: true,
    width: 5,
    low: true,
    value: (row) => row.allocations,
    text: (row) => format.count(row.allocations),
  },
  { name: 'Command', grow: 1, width: 8, value: (row) => row.command ?? row.name, text: commandOf },
];

export const processText = (row) =>
  [row.host_pid ?? row.pid, row.user, row.name, row.command, row.state].join(' ');

function commandOf(row) {
  const words = row.command ?? row.name ?? format.UNKNOWN;
  if (row.state === 'dead') return `dead, not counted: ${words}`;
  return row.not_tracked ? `not tracked (${row.not_tracked}): ${words}` : words;
}
