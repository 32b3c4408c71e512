// SPDX-License-Identifier: Apache-2.0
// The legend of a chart: the figures of one moment, with the colours of the kinds.
import { L1_PARTS } from './device_card.js';
import { element, setText, show } from './dom.js';
import * as format from './format.js';
import { Memo } from './grouping.js';
import { lastUntil } from './moments.js';

const TITLES = { l1: 'L1', dram: 'DRAM', trace: 'Trace' };

// Returns {kind: bytes} of a memory of a device as in ttmem.snapshot.v1. The bytes are null if
// `device` is null, because no process has the device open at this moment.
export function figuresOf(device, memory) {
  if (memory === 'dram') return { dram: device?.dram.used_bytes ?? null };
  if (memory === 'trace') return { trace: device?.trace.used_bytes ?? null };
  const bytes = (part) => (device ? part.bytes(device) : null);
  return Object.fromEntries(L1_PARTS.map((part) => [part.kind, bytes(part)]));
}

// Returns the bytes that a device holds in a memory; null if unknown or if the device is not open.
export const totalOf = (device, memory) => device?.[memory].used_bytes ?? null;

// Returns the time to show with the figures of valuesAt(). In a thinned line, this is the time of
// the last point up to `time`, because values between two points are unknown. Otherwise this is
// `time`.
export function timeOfValue(timeline, line, time) {
  const at = timeline.thinned ? lastUntil(line.time_ns, time) : -1;
  return at < 0 ? time : line.time_ns[at];
}

// Returns {kind: bytes} of a line of ttmem.timeline.v1 at a time. The bytes are null before the
// first point.
export function valuesAt(line, kinds, time) {
  const at = lastUntil(line.time_ns, time);
  return Object.fromEntries(kinds.map((kind) => [kind, at < 0 ? null : line[kind][at]]));
}

// Returns the sum of the known kinds; null if no kind is known. L1 is unknown if L1 buffers are
// unknown, because the rest would look like the whole.
export function together(values) {
  if (values.l1 === null) return null;
  const known = Object.values(values).filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

export class TimeLegend {
  #kinds = new Memo();

  constructor() {
    this.node = element('div', { class: 'legend' });
  }

  // capacity: null if unknown; total: the figure of the device, or else the sum of the values
  set(memory, values, capacity, total = together(values)) {
    const kinds = Object.keys(values);
    if (this.#kinds.changed(memory, ...kinds)) this.#make(memory, kinds);
    setText(this.total, format.bytes(total));
    this.total.dataset.bytes = total ?? 'null';
    const share = format.share(total, capacity);
    setText(this.share, share === null ? '' : ` ${format.percent(share)}`);
    kinds.forEach((kind, i) => {
      setText(this.parts[i].figure, format.bytes(values[kind]));
      this.parts[i].figure.dataset.bytes = values[kind] ?? 'null';
      // Hides L1_SMALL of a device that has none.
      show(this.parts[i].node, kind !== 'l1_small' || Boolean(values[kind]));
    });
  }

  #make(memory, kinds) {
    this.total = element('b', { 'data-field': `${memory}_total` });
    this.share = element('span', {});
    this.parts = kinds.map((kind) => {
      const figure = element('b', { 'data-field': kind });
      const swatch = element('i', { class: `swatch ${kind}` });
      return { figure, node: element('span', {}, swatch, `${format.KINDS[kind]} `, figure) };
    });
    this.node.replaceChildren(
      element('span', { class: 'total' }, `${TITLES[memory]} `, this.total, this.share),
      ...(kinds.length > 1 ? this.parts.map((part) => part.node) : []),
    );
  }
}
