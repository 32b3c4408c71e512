// SPDX-License-Identifier: Apache-2.0
// The card of one device: its bars, the parts of L1, headroom.
import { element, setText, show } from './dom.js';
import * as format from './format.js';
import { PROCESS_FIGURES } from './process_rows.js';
import { link } from './widgets.js';

const PROCESS_BYTES = PROCESS_FIGURES.filter((figure) => figure.endsWith('_bytes'));

// Returns the title of a device, with its key if several chips have the same number.
export function deviceTitle(device, devices) {
  const shared = devices.some((one) => one.key !== device.key && one.id === device.id);
  return shared ? `Device ${device.id} ${device.key}` : `Device ${device.id}`;
}

export function deviceWords(device) {
  const grid = device.grid ? `${device.grid.x}x${device.grid.y} cores` : null;
  const known = [device.board, device.arch, grid].filter(Boolean);
  return known.length > 0 ? known.join(' · ') : 'unknown chip';
}

// The parts that add up to L1, in the order of the bars.
export const L1_PARTS = [
  {
    kind: 'l1',
    field: 'l1_buffers',
    name: 'L1 buffers',
    bytes: (d) => d.l1.buffers.physical_bytes ?? d.l1.buffers.logical_bytes,
  },
  { kind: 'l1_small', field: 'l1_small', name: 'L1_SMALL', bytes: (d) => d.l1.small_bytes },
  { kind: 'cb', field: 'cb', name: 'CB', bytes: (d) => d.l1.cb.physical_bytes },
  { kind: 'kernel', field: 'kernel', name: 'Kernels', bytes: (d) => d.l1.kernels_bytes },
];

// Returns the mark before a figure. `field` is the field of a line of the card. If something could
// not be read, used bytes are "at least" and headroom is "at most" the shown figure.
export function markOf(device, field) {
  const { cb, kernels_estimated_bytes: kernels } = device.l1;
  const bound = field === 'headroom' ? format.AT_MOST : format.AT_LEAST;
  const estimate =
    (cb.estimate && ['l1', 'cb', 'headroom'].includes(field)) ||
    (kernels > 0 && ['l1', 'kernel'].includes(field));
  return `${device.complete ? '' : bound}${estimate ? format.ESTIMATE : ''}`;
}

// A bar of parts [{kind, bytes}] within a capacity, with a mark at the peak.
class Bar {
  constructor(kinds) {
    this.parts = kinds.map((kind) => element('i', { class: `part ${kind}` }));
    this.peak = element('b', { class: 'peak', title: 'peak', hidden: true });
    this.node = element('div', { class: 'bar' }, this.parts, this.peak);
  }

  set(sizes, capacity, peak) {
    sizes.forEach((size, i) => {
      this.parts[i].style.width = `${100 * Math.min(1, format.share(size, capacity) ?? 0)}%`;
    });
    const at = format.share(peak, capacity);
    show(this.peak, at !== null && at > 0);
    if (at !== null) this.peak.style.left = `${100 * Math.min(1, at)}%`;
  }
}

// A line of a device: name, figure, note. For programs that read the page, the attribute data-field
// has `field` and data-bytes has the exact bytes.
class Line {
  constructor(name, field, bar = null, kind = '') {
    this.field = field;
    this.value = element('span', { class: 'value', 'data-field': field });
    this.note = element('span', { class: 'note' });
    this.bar = bar;
    this.node = element(
      'div',
      { class: `line ${kind}` },
      element('span', { class: 'name' }, name),
      this.value,
      bar?.node ?? null,
      this.note,
    );
  }

  set(device, text, bytes, note = '') {
    setText(this.value, format.marked(markOf(device, this.field), text));
    this.value.dataset.bytes = bytes ?? 'null';
    setText(this.note, note);
  }
}

function of(capacity, used) {
  if (capacity === null || capacity === undefined) return '';
  const part = format.share(used, capacity);
  return part === null
    ? `of ${format.bytes(capacity)}`
    : `${format.percent(part)} of ${format.bytes(capacity)}`;
}

function headroomNote(device) {
  const room = device.l1.headroom_bytes_per_core;
  if (room === null) return '';
  return room < 0 ? 'clash: CBs overrun L1 buffers' : 'between CBs and L1 buffers';
}

// Returns a note such as "DRAM 30.6 GiB (8 banks x 3.83 GiB, largest block 3.80 GiB)"; null if the
// free bytes are unknown. `banks` is 0 if the number of banks is unknown.
function freeNote(memory, name, banks) {
  const { free_bytes_per_bank: free, largest_free_bytes_per_bank: largest } = memory;
  if (free === null || free === undefined) return null;
  const [inBank, block] = [format.coreBytes(free), `largest block ${format.coreBytes(largest)}`];
  return banks > 0
    ? `${name} ${format.bytes(free * banks)} (${format.plural(banks, 'bank')} x ${inBank}, ${block})`
    : `${name} ${inBank} per bank (${block})`;
}

// `go(changes)` goes to another place; `overTime` is the view that shows the figures over time.
export class Card {
  constructor(go, overTime) {
    this.title = element('h2', {});
    this.words = element('p', { class: 'words' });
    this.chips = element('p', { class: 'chips' });
    this.dram = new Line('DRAM', 'dram', new Bar(['dram']));
    this.l1 = new Line('L1', 'l1', new Bar(L1_PARTS.map((part) => part.kind)));
    this.parts = L1_PARTS.map(
      (part) => new Line(part.name, part.field, null, `part-line ${part.kind}`),
    );
    this.trace = new Line('Trace', 'trace', new Bar(['trace']));
    this.headroom = new Line('Headroom', 'headroom');
    this.free = new Line('Free', 'free');
    const links = element(
      'nav',
      {},
      link('Cores', () => go({ view: 'cores', device: this.key, core: '' })),
      link(overTime.title, () => go({ view: overTime.name, device: this.key })),
    );
    const choose = (event) => {
      if (!event.target.closest('button')) go({ device: this.key }, true);
    };
    this.node = element(
      'article',
      { class: 'card device', onclick: choose },
      element('header', {}, this.title, links),
      this.words,
      this.dram.node,
      this.l1.node,
      element(
        'div',
        { class: 'parts' },
        this.parts.map((part) => part.node),
      ),
      this.trace.node,
      this.headroom.node,
      this.free.node,
      this.chips,
    );
  }

  set(device, devices, selected) {
    this.key = device.key;
    this.node.dataset.key = device.key;
    this.node.classList.toggle('selected', selected);
    setText(this.title, deviceTitle(device, devices));
    setText(this.words, deviceWords(device));
    this.#memory(device);
    this.#l1(device);
    setText(this.chips, chipWords(device).join(' · '));
  }

  #memory(device) {
    const { dram, trace } = device;
    this.dram.set(
      device,
      format.bytes(dram.used_bytes),
      dram.used_bytes,
      of(dram.capacity_bytes, dram.used_bytes),
    );
    this.dram.bar.set([dram.used_bytes], dram.capacity_bytes, dram.peak_bytes);
    const unused = !trace.used_bytes && !trace.peak_bytes && !trace.capacity_bytes;
    show(this.trace.node, !unused);
    this.trace.set(
      device,
      format.bytes(trace.used_bytes),
      trace.used_bytes,
      of(trace.capacity_bytes, trace.used_bytes),
    );
    this.trace.bar.set([trace.used_bytes], trace.capacity_bytes, trace.peak_bytes);
  }

  #l1(device) {
    const { l1 } = device;
    this.l1.set(
      device,
      format.bytes(l1.used_bytes),
      l1.used_bytes,
      of(l1.capacity_bytes, l1.used_bytes),
    );
    this.l1.bar.set(
      L1_PARTS.map((part) => part.bytes(device)),
      l1.capacity_bytes,
      l1.peak_bytes,
    );
    this.node.classList.toggle(
      'tight',
      (format.share(l1.used_bytes, l1.capacity_bytes) ?? 0) > 0.9,
    );
    L1_PARTS.forEach((part, i) => {
      const size = part.bytes(device);
      this.parts[i].set(device, format.bytes(size), size, partNote(device, part.kind));
      if (part.kind === 'l1_small') show(this.parts[i].node, size !== 0);
    });
    const room = l1.headroom_bytes_per_core;
    this.headroom.set(device, format.coreBytes(room), room, headroomNote(device));
    this.headroom.node.classList.toggle('bad', room !== null && room < 0);
    const free = [
      freeNote(device.dram, 'DRAM', device.dram.channels ?? 0),
      freeNote(l1, 'L1', device.grid ? device.grid.x * device.grid.y : 0),
    ].filter(Boolean);
    show(this.free.node, free.length > 0);
    setText(this.free.note, free.join('; '));
  }
}

function partNote(device, kind) {
  const { cb, buffers } = device.l1;
  if (kind === 'cb') {
    return (
      `resident ${format.bytes(cb.resident_bytes)}, logical ${format.bytes(cb.logical_bytes)}` +
      `${cb.estimate ? ', an estimate' : ''}`
    );
  }
  if (kind === 'kernel') {
    const of = [
      [device.l1.kernels_persistent_bytes, 'persistent'],
      [device.l1.kernels_estimated_bytes, 'estimated'],
    ];
    return of
      .filter(([size]) => size > 0)
      .map(([size, what]) => `${format.bytes(size)} ${what}`)
      .join(', ');
  }
  if (kind === 'l1' && buffers.data_bytes !== null && buffers.physical_bytes > buffers.data_bytes) {
    return `lockstep wastes ${format.bytes(buffers.physical_bytes - buffers.data_bytes)}`;
  }
  return '';
}

function programWords({ programs, l1 }) {
  return format.marked(l1.cb.estimate ? format.ESTIMATE : '', format.plural(programs, 'program'));
}

// Returns a note if several processes hold memory of the device, else null.
export function sharingWords(device) {
  if (!device.sums_may_overlap) return null;
  const holds = (one) =>
    one.state === 'alive' && PROCESS_BYTES.some((figure) => one[figure] > 0);
  const sharing = device.processes.filter(holds).length;
  return `${sharing} processes share this chip; sums may overlap`;
}

function chipWords(device) {
  const alive = device.processes.filter((one) => one.state === 'alive').length;
  const dead = device.processes.length - alive;
  return [
    device.state === 'idle' ? 'idle' : format.plural(alive, 'process', 'processes'),
    sharingWords(device),
    dead > 0 ? `${dead} dead` : null,
    device.programs === null ? null : programWords(device),
    device.temperature_c === null ? null : `${device.temperature_c} °C`,
    device.power_w === null ? null : `${device.power_w} W`,
    device.uid === null ? null : `uid ${device.uid}`,
  ].filter(Boolean);
}
