// SPDX-License-Identifier: Apache-2.0
// Allocations as rows of a list, alone or in groups.
import * as format from './format.js';
import { numberRanges } from './process_rows.js';

// Returns the size of an allocation on one of its devices.
export const sizeOf = (row) => row.physical_bytes ?? row.bytes;

const onAllDevices = (row) =>
  sizeOf(row) === null ? null : sizeOf(row) * Math.max(1, row.devices.length);

// Returns a function that returns the keys of the devices of an allocation. Several chips may have
// the same number, but only in different processes.
export function chipsOf(devices) {
  const uidOf = new Map(); // number -> key of the chip with that number; null: several chips
  for (const { id, uid } of devices) uidOf.set(id, uidOf.has(id) ? null : (uid ?? id));
  const keyOf = (row, number) => uidOf.get(number) ?? `${row.pid}.${number}`;
  return (row) =>
    row.devices.length === 1 && row.uid
      ? [row.uid]
      : row.devices.map((number) => keyOf(row, number));
}

const groupMark = (row) =>
  `${row.open ? '▾' : '▸'} ${row.name ?? '(none)'} · ${format.plural(row.count, 'allocation')}`;

export const allocationColumns = [
  {
    name: 'Size',
    head: 'Size/device',
    title: 'The size on one of its devices; of a group, on the device with the most',
    number: true,
    width: 6,
    value: (row) => sizeOf(row),
    text: (row) => format.bytes(row.group ? row.size : sizeOf(row)),
  },
  {
    name: 'Kind',
    width: 6,
    value: (row) => row.kind,
    text: (row) => (row.group ? '' : format.KINDS[row.kind]),
  },
  {
    name: 'Label',
    grow: 2,
    width: 10,
    value: (row) => row.label,
    text: (row) => (row.group ? groupMark(row) : format.text(row.label)),
  },
  {
    name: 'Scope',
    grow: 1,
    width: 6,
    low: true,
    value: (row) => row.scope,
    text: (row) => (row.group ? '' : (row.scope ?? '')),
  },
  {
    name: 'Address',
    number: true,
    width: 7,
    low: true,
    value: (row) => row.address,
    text: (row) => (row.group ? '' : format.hex(row.address)),
  },
  {
    name: 'Per bank',
    number: true,
    width: 6,
    low: true,
    value: (row) => row.bytes_per_bank,
    text: (row) => (row.group ? '' : format.coreBytes(row.bytes_per_bank)),
  },
  {
    name: 'All devices',
    title: 'The size on all its devices together',
    number: true,
    width: 6,
    low: true,
    value: (row) => onAllDevices(row),
    text: (row) => format.bytes(row.group ? row.sizeOnAll : onAllDevices(row)),
  },
  {
    name: 'Dev',
    width: 5,
    value: (row) => row.devices?.[0],
    text: (row) => (row.group ? '' : numberRanges(row.devices)),
  },
  {
    name: 'PID',
    number: true,
    width: 5,
    low: true,
    value: (row) => row.host_pid ?? row.pid,
    text: (row) => (row.group ? '' : format.text(row.host_pid ?? row.pid)),
  },
  {
    name: 'Age',
    number: true,
    width: 7,
    low: true,
    value: (row) => row.age_ns,
    text: (row) => (row.group ? '' : format.age(row.age_ns)),
  },
];

export const searchText = (row) =>
  [
    row.label,
    row.scope,
    row.kind,
    format.KINDS[row.kind],
    row.process,
    row.pid,
    format.hex(row.address),
  ].join(' ');
