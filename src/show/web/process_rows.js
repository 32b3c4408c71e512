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

const ADDED_UP = [...PROCESS_FIGURES, 'kernels_estimated_bytes'];

function add(a, b) {
  if (a === null || a === undefined) return b;
  return b === null || b === undefined ? a : a + b;
}

// The pid that the reader would use: that of a container says nothing outside of it.
const pidOf = (process) => process.host_pid ?? process.pid;

// What names a process in the address and in questions; empty: nothing does. Of a recording also
// its number there (`segment`): several of its processes may have had one pid.
export function processName(process, recorded) {
  const pid = pidOf(process);
  if (pid === null) return '';
  return recorded ? `${pid}.${process.segment}` : String(pid);
}

// The pid of such a name alone, for people.
export const pidOfName = (name) => name.split('.')[0];

// Tells whether a process has that name; a pid alone names all that have it.
export function isNamed(process, segment, name) {
  const [pid, number] = name.split('.');
  return String(pidOf(process)) === pid && (number === undefined || String(segment) === number);
}

// Tells processes of one pid apart. Those that report nothing have no segment.
function keyOf({ pid, host_pid, state, segment, name }) {
  return [pid, host_pid, state, segment || name].join('/');
}

// One row for each process of these devices.
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

// isEstimate(row): whether its figure is one, or has one in it
function bytesColumn(name, field, { isEstimate = () => false, ...more } = {}) {
  return {
    name,
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
  bytesColumn('L1 buf', 'l1_bytes', { title: 'L1 buffers' }),
  bytesColumn('CB', 'cb_bytes', {
    title: 'Circular buffers, physical',
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
