// SPDX-License-Identifier: Apache-2.0
// The parts of ttmem.diff.v1 as rows of lists.
import * as format from './format.js';

const COUNTED = new Set(['lost']); // figures that are counts, not sizes
const LISTS = ['added', 'gone', 'grown', 'shrunk', 'other_sizes'];

function sizeOf(row, value) {
  return COUNTED.has(row.name) ? format.count(value) : format.bytes(value);
}

function signed(row, value) {
  if (value === null) return format.UNKNOWN;
  if (value === 0) return '=';
  return `${value > 0 ? '+' : ''}${sizeOf(row, value)}`;
}

function relative({ old, change }) {
  if (!old || !change) return '';
  return `${change > 0 ? '+' : ''}${((100 * change) / Math.abs(old)).toFixed(1)}%`;
}

const sized = (name, field, text = sizeOf, low = false) => ({
  name,
  number: true,
  width: 6.5,
  low,
  value: (row) => row[field],
  text: (row) => text(row, row[field]),
});

export const figureColumns = [
  { name: 'Figure', grow: 1, width: 8, value: (row) => row.name, text: (row) => row.name },
  sized('Old', 'old', sizeOf, true),
  sized('New', 'new'),
  sized('Change', 'change', signed),
  {
    name: '%',
    title: 'Of the old one',
    number: true,
    width: 5,
    low: true,
    value: (row) => (row.old ? row.change / row.old : null),
    text: relative,
  },
];

const held = (bytes, count) => (count ? `${format.bytes(bytes)} (${format.count(count)})` : '');
export const changeColumns = [
  {
    name: 'What',
    width: 5,
    value: (row) => row.what,
    text: (row) => row.what.replace('_', ' '),
  },
  {
    name: 'Change',
    number: true,
    width: 6.5,
    value: (row) => Math.abs(row.change_bytes),
    text: (row) => signed(row, row.change_bytes),
  },
  {
    name: 'Old',
    number: true,
    width: 8,
    low: true,
    value: (row) => row.old_bytes,
    text: (row) => held(row.old_bytes, row.old_count),
  },
  {
    name: 'New',
    number: true,
    width: 8,
    low: true,
    value: (row) => row.new_bytes,
    text: (row) => held(row.new_bytes, row.new_count),
  },
  {
    name: 'Kind',
    width: 6,
    low: true,
    value: (row) => row.kind,
    text: (row) => format.KINDS[row.kind],
  },
  {
    name: 'Scope/label',
    grow: 1,
    width: 10,
    value: (row) => row.scope,
    text: (row) =>
      row.shared
        ? '(shared by programs of several names)'
        : [row.scope, row.label].filter(Boolean).join('/') || format.UNKNOWN,
  },
];

// Returns the figures that at least one of the runs has.
export function figureRows(diff) {
  return diff.figures.filter((one) => one.old !== null || one.new !== null);
}

// Returns the changes in the peak of a memory, `l1` or `dram`.
export function changeRows(diff, memory) {
  return LISTS.flatMap((what) => (diff[memory]?.[what] ?? []).map((row) => ({ ...row, what })));
}
