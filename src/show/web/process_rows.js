// SPDX-License-Identifier: Apache-2.0
// Processes as rows of a list, with sums over all devices.
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

const ADDED_UP = [...PROCESS_FIGURES, 'kernels_estimated_bytes'];

function add(a, b) {
  if (a === null || a === undefined) return b;
  return b === null || b === undefined ? a : a + b;
}

// Returns the pid on this host if known, because a container's pid has no meaning outside of the
// container.
const pidOf = (process) => process.host_pid ?? process.pid;

// Returns the name of a process for addresses and requests, or an empty text if its pid is unknown.
// In a recording the name includes the number of the process (`segment`), because several processes
// may have had the same pid.
export function processName(process, recorded) {
  const pid = pidOf(process);
  if (pid === null) return '';
  return recorded ? `${pid}.${process.segment}` : String(pid);
}

// Returns the pid in a name that processName() has made.
export const pidOfName = (name) => name.split('.')[0];

// Returns true if a process has this name. A name without a number matches all processes with the
// pid.
export function isNamed(process, segment, name) {
  const [pid, number] = name.split('.');
  return String(pidOf(process)) === pid && (number === undefined || String(segment) === number);
}

// Returns a key that differs for processes with the same pid. Processes that report nothing have no
// segment.
function keyOf({ pid, host_pid, state, segment, name }) {
  return [pid, host_pid, state, segment || name].join('/');
}

// Returns one row for each process of these devices.
export function processRows(devices) {
  const rows = new Map();
  for (const device of devices) {
    for (const process of device.processes) {
      const key = keyOf(process);
      let row = rows.get(key);
      if (!row) {
        row = { ...process, devices: [] };
        for (const figure of ADDED_UP) row[figure] = null;
        row.cb_estimate = false;
        rows.set(key, row);
      }
      row.devices.push(device.id);
      for (const figure of ADDED_UP) row[figure] = add(row[figure], process[figure]);
      row.cb_estimate ||= Boolean(process.cb_estimate);
    }
  }
  return [...rows.values()];
}

// Returns number ranges such as "0-3,6".
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

// isEstimate(row): true if the figure is an estimate, or contains an estimate
function bytesColumn(name, field, { isEstimate = () => false, ...more } = {}) {
  return {
    name,
    title: 'On all its devices together',
    number: true,
    width: 6,
    value: (row) => row[field],
    text: (row) =>
      format.marked(isEstimate(row) ? format.ESTIMATE : '', format.bytes(row[field])),
    ...more,
  };
}

export const processColumns = [
  {
    name: 'PID',
    number: true,
    width: 5,
    value: pidOf,
    text: (row) => format.text(pidOf(row)),
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
  bytesColumn('L1 buf', 'l1_bytes', { title: 'L1 buffers, on all its devices together' }),
  bytesColumn('L1_SMALL', 'l1_small_bytes', { low: true, title: 'L1_SMALL, on all its devices together' }),
  bytesColumn('CB', 'cb_bytes', {
    title: 'Circular buffers, physical, on all its devices together',
    isEstimate: (row) => row.cb_estimate,
  }),
  bytesColumn('Kernels', 'kernels_bytes', {
    low: true,
    isEstimate: (row) => row.kernels_estimated_bytes > 0,
  }),
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
  [pidOf(row), row.user, row.name, row.command, row.state].join(' ');

function commandOf(row) {
  const words = row.command ?? row.name ?? format.UNKNOWN;
  if (row.state === 'dead') return `dead, not counted: ${words}`;
  return row.not_tracked ? `not tracked (${row.not_tracked}): ${words}` : words;
}
