// SPDX-License-Identifier: Apache-2.0
// View 7 of a recording: memory that should have been freed, as `ttmem leaks FILE` lists it.
import { element, setText, show } from './dom.js';
import * as format from './format.js';
import { numberRanges } from './process_rows.js';
import { Table } from './table.js';

const LEFT_BEHIND = {
  every_time: 'every time',
  sometimes: 'sometimes',
  once: 'entered once',
};

// How a process ended, by the field `killed`.
const ENDED = { true: 'killed', false: 'exited', null: 'unclean' };

const whatOf = (row) => {
  if (row.program_cache) return '(the whole program cache)';
  if (row.shared) return '(shared by programs of several names)';
  return [row.scope, row.label].filter(Boolean).join('/') || format.UNKNOWN;
};
const sized = (name, value, more = {}) => ({
  name,
  number: true,
  width: 6,
  value,
  text: (row) => format.bytes(value(row)),
  ...more,
});
const worded = (name, value, more = {}) => ({
  name,
  width: 6,
  value,
  text: (row) => format.text(value(row)),
  ...more,
});

const KIND = worded('Kind', (row) => format.KINDS[row.kind] ?? row.kind, { low: true });
const COUNT = {
  name: 'Count',
  number: true,
  width: 5,
  low: true,
  value: (row) => row.count,
  text: (row) => format.count(row.count),
};
const WHAT = worded('Scope/label', whatOf, { grow: 2, width: 10 });
const PROCESS = worded('Process', (row) => `${row.host_pid ?? row.pid} ${row.process ?? ''}`, {
  grow: 1,
  width: 7,
  low: true,
});
const DEVICES = worded('Dev', (row) => numberRanges(row.devices), { width: 4, low: true });
const OLDEST = {
  name: 'Oldest at',
  title: 'The time of the oldest allocation; a click goes there',
  number: true,
  width: 6,
  value: (row) => row.oldest_time_ns,
  text: (row) => format.moment(row.oldest_time_ns),
};
const grownBy = (row) =>
  row.last_bytes === null || row.first_bytes === null ? null : row.last_bytes - row.first_bytes;
const grownCount = (row) =>
  `${format.count(row.first_count)} to ${format.count(row.last_count)}`;
const HELD = [
  sized('Bytes', (row) => row.bytes_per_device, { head: 'Bytes/device' }),
  sized('All devices', (row) => row.bytes, { low: true, width: 6.5 }),
  COUNT,
  KIND,
  WHAT,
];

// The lists: name in ttmem.leaks.v1, title, meaning, columns.
const LISTS = [
  {
    name: 'growth',
    title: 'Grew from mark to mark, and never shrank (bytes of all devices)',
    sort: '-Grown by',
    columns: [
      sized('Grown by', grownBy),
      sized('To', (row) => row.last_bytes, { low: true }),
      worded('Count', grownCount, { number: true, low: true }),
      KIND,
      WHAT,
      worded('Mark', (row) => `${row.mark} (${row.looks}x)`, { width: 8 }),
      PROCESS,
    ],
  },
  {
    name: 'outlived_scope',
    title: 'Outlived its scope',
    sort: '-Bytes',
    columns: [
      ...HELD,
      worded('Left behind', (row) => LEFT_BEHIND[row.left_behind] ?? row.left_behind, { width: 7 }),
      OLDEST,
      DEVICES,
      PROCESS,
    ],
  },
  {
    name: 'dead_process',
    title: 'Held by processes when they ended',
    sort: '-Bytes',
    columns: [
      ...HELD,
      worded('Ended', (row) => ENDED[row.killed], { width: 5 }),
      OLDEST,
      DEVICES,
      PROCESS,
    ],
  },
  {
    name: 'closed_device',
    title: 'Left on devices that were closed',
    sort: '-Bytes',
    columns: [...HELD, OLDEST, DEVICES, PROCESS],
  },
];

class List {
  constructor(list, cursor) {
    this.name = list.name;
    this.title = element('h2', {});
    this.words = list.title;
    this.table = new Table({
      label: list.title,
      columns: list.columns,
      sort: list.sort,
      tallest: 12,
      look: (row) => {
        const unclean = row.killed === true || row.killed === null;
        return row.left_behind === 'every_time' || unclean ? 'bad' : '';
      },
      open: (row) => {
        if (typeof row.oldest_time_ns === 'number') cursor.pick(row.oldest_time_ns);
      },
    });
    this.node = element(
      'section',
      { class: 'panel', 'data-list': list.name },
      this.title,
      this.table.node,
    );
  }

  set(rows) {
    show(this.node, rows.length > 0);
    setText(this.title, `${this.words}: ${format.count(rows.length)}`);
    this.table.set(rows);
  }
}

export class LeaksView {
  constructor(cursor) {
    this.title = element('h2', {});
    this.words = element('p', { class: 'words' });
    this.lists = LISTS.map((list) => new List(list, cursor));
    this.unknown = element('p', { class: 'note' });
    this.node = element(
      'div',
      { class: 'view' },
      element('div', { class: 'toolbar' }, this.title, this.words),
      this.lists.map((list) => list.node),
      this.unknown,
    );
  }

  update(state) {
    const { recording } = state;
    if (!recording || recording === this.drawn) return;
    this.drawn = recording;
    const [found] = recording.leaks.sources;
    setText(this.title, found.leaks ? 'Leaks' : 'No leak');
    this.title.dataset.leaks = found.leaks;
    this.title.classList.toggle('bad', found.leaks);
    const incomplete = found.complete ? null : 'not everything could be read';
    const looked = `Looked at ${found.looked_at.join('; ')}`;
    setText(this.words, [looked, incomplete].filter(Boolean).join(' · '));
    for (const list of this.lists) list.set(found[list.name] ?? []);
    setText(this.unknown, found.unknown.join(' · '));
    show(this.unknown, found.unknown.length > 0);
  }

  // Passes a key to the focused list, or to the first list.
  key(name) {
    const shown = this.lists.filter((list) => !list.node.hidden);
    const focused = shown.find((list) => list.node.contains(document.activeElement));
    return (focused ?? shown[0])?.table.key(name) ?? false;
  }
}
