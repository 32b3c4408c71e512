// SPDX-License-Identifier: Apache-2.0
// View 6 of a recording: the holders of a device's peak, by scope and label.
import { deviceTitle } from './device_card.js';
import { element, setText, show } from './dom.js';
import * as format from './format.js';
import { Memo } from './grouping.js';
import { Icicle } from './icicle.js';
import { nodeAt, parsePath, pathText, treeOf } from './peak_tree.js';
import { Table } from './table.js';
import { Choices, link } from './widgets.js';

const WHAT = [
  ['l1', 'L1 peak'],
  ['dram', 'DRAM peak'],
  ['end', 'Held at the end'],
];
const INDENT = '\u2003';
const FEW = 24; // a tree with at most this number of parts starts fully open

const columns = [
  {
    name: 'Bytes',
    head: 'Bytes/device',
    number: true,
    width: 6,
    value: (row) => row.node.bytes,
    text: (row) => format.bytes(row.node.bytes),
  },
  {
    name: 'Share',
    number: true,
    width: 4,
    value: (row) => row.node.bytes,
    text: (row) => format.percent(format.share(row.node.bytes, row.whole)),
  },
  {
    name: 'Count',
    number: true,
    width: 4.5,
    low: true,
    value: (row) => row.node.count,
    text: (row) => format.count(row.node.count),
  },
  {
    name: 'Kind',
    width: 9,
    low: true,
    value: (row) => row.node.kind,
    text: (row) => row.node.kinds.map((kind) => format.KINDS[kind]).join(', '),
  },
  { name: 'Scope, label', grow: 1, width: 10, value: (row) => row.node.name, text: nameOf },
];

function nameOf({ node, depth, open }) {
  const sign = node.children.length === 0 ? ' ' : open ? '▾' : '▸';
  return `${INDENT.repeat(depth)}${sign} ${node.name}`;
}

// Returns the visible rows of a tree: the node, and below an open node its children.
function openRows(node, depth, whole, isOpen) {
  const open = isOpen(node, depth);
  const row = { fixed: true, node, depth, open, whole };
  if (!open) return [row];
  return [row, ...node.children.flatMap((one) => openRows(one, depth + 1, whole, isOpen))];
}

// Returns {rows, bytes, time}: the parts of a device's peak, or of the memory that was held at the
// end if `what` is "end". `bytes` is null if no process reports the memory.
function partsOf(report, what) {
  if (what === 'end') {
    const rows = report.held_at_end;
    const bytes = rows?.reduce((sum, row) => sum + row.bytes, 0) ?? null;
    return { rows, bytes, time: null };
  }
  const { peak_bytes: bytes, peak_time_ns: time } = report[what];
  return { rows: report.at_peak?.[what], bytes, time };
}

// Returns true if a device of the report is the chip with this key.
function isChip(device, { lines }, key) {
  if (device.uid) return device.uid === key;
  const line = lines.find((one) => one.key === key);
  return line && line.id === device.id && line.arch === (device.arch || null);
}

export class PeakView {
  #shut = new Map(); // path -> true if the user closed the node, false if the user opened it
  #made = new Memo();
  #toggled = 0;

  constructor(go, cursor) {
    Object.assign(this, { go, cursor });
    this.title = element('h2', {});
    this.words = element('p', { class: 'words' });
    this.moment = link('go to this moment', () => cursor.pick(this.parts.time));
    this.what = new Choices('Shown', WHAT, (peak) => go({ peak, path: '' }));
    this.icicle = new Icicle((node) => this.#zoom(node));
    this.message = element('p', { class: 'empty', hidden: true });
    this.table = new Table({
      label: 'Parts of the peak',
      columns,
      sort: '',
      look: (row) => (row.node.kind ? row.node.kind : 'group'),
      open: (row) => this.#toggle(row),
    });
    this.panel = element(
      'section',
      { class: 'panel fill' },
      this.icicle.node,
      this.message,
      this.table.node,
    );
    this.node = element(
      'div',
      { class: 'view fill' },
      element('div', { class: 'toolbar' }, this.title, this.words, this.moment, this.what.node),
      this.panel,
    );
  }

  // Zooms into a bar. A click on the current root zooms out.
  #zoom(node) {
    const again = node === this.root;
    this.go({ path: pathText(again ? node.path.slice(0, -1) : node.path) });
  }

  #toggle(row) {
    if (row.node.children.length === 0) return;
    this.#shut.set(pathText(row.node.path), row.open);
    ++this.#toggled;
    this.redraw();
  }

  update(state, place, device, key) {
    this.redraw = () => this.update(state, place, device, key);
    const { recording } = state;
    if (!recording) return;
    const report = recording.report.devices.find((one) => isChip(one, recording.timeline, key));
    const what = place.peak || recording.fullest?.memory || 'l1';
    this.path = place.path;
    this.what.set(what);
    if (!this.#made.changed(report, what, place.path, this.#toggled)) return;
    this.parts = report ? partsOf(report, what) : { rows: null, bytes: null, time: null };
    this.#say(report, what, recording, key);
    const empty = !this.parts.rows?.length;
    show(this.icicle.node, !empty);
    show(this.table.node, !empty);
    if (!empty) this.#draw(what);
  }

  #say(report, what, recording, key) {
    const { rows, bytes, time } = this.parts;
    const { lines } = recording.timeline;
    const line = lines.find((one) => one.key === key);
    const name = line ? deviceTitle(line, lines) : 'No device';
    const memory = WHAT.find(([one]) => one === what)[1];
    setText(this.title, `${name}: ${memory} ${format.bytes(bytes)}`);
    this.title.dataset.bytes = bytes ?? 'null';
    const sum = rows?.reduce((all, row) => all + row.bytes, 0) ?? null;
    const differs = rows?.length > 0 && sum !== bytes;
    const when = time === null ? '' : `at ${format.moment(time)}`;
    const part = what === 'end' ? null : format.share(bytes, report?.[what].capacity_bytes);
    const share = part === null ? null : `${format.percent(part)} of the device`;
    const lacks = differs ? `the parts add up to ${format.bytes(sum)}` : null;
    setText(this.words, [when, share, lacks].filter(Boolean).join(' · '));
    show(this.moment, time !== null);
    show(this.message, !rows?.length);
    setText(this.message, this.#whyEmpty(recording, bytes));
  }

  #whyEmpty(recording, bytes) {
    if (recording.timeline.aggregate)
      return 'An aggregate does not keep what its peak was made of.';
    return bytes === null ? 'No process reports this memory.' : 'Nothing was held.';
  }

  #draw(what) {
    const memory = WHAT.find(([one]) => one === what)[1];
    const root = treeOf(this.parts.rows, memory);
    const path = parsePath(this.path);
    const node = nodeAt(root, path);
    this.root = node;
    const above = node.path.map((_, i) => nodeAt(root, node.path.slice(0, i)));
    this.icicle.set(node, above, root.bytes);
    // The first levels, or all levels of a small tree, are open until the user closes them.
    const levels = this.parts.rows.length <= FEW ? Infinity : 2;
    const isOpen = (one, depth) => {
      if (one.children.length === 0) return false;
      const shut = this.#shut.get(pathText(one.path));
      return shut === undefined ? depth < levels : !shut;
    };
    this.table.set(openRows(node, 0, root.bytes, isOpen));
  }

  key(name) {
    if (name === 'Escape' && this.path) {
      this.go({ path: pathText(parsePath(this.path).slice(0, -1)) });
      return true;
    }
    if (['s', 'r'].includes(name)) return false;
    return this.table.key(name);
  }
}
