// SPDX-License-Identifier: Apache-2.0
// The line above several devices: their sums, and the device with the least headroom.
import { deviceTitle, markOf } from './device_card.js';
import { element, setText, show } from './dom.js';
import * as format from './format.js';
import { processRows } from './process_rows.js';

// Returns the device with the least headroom, or null if no headroom is known.
function tightest(devices) {
  const known = devices.filter((device) => device.l1.headroom_bytes_per_core !== null);
  return known.reduce(
    (best, device) =>
      best === null || device.l1.headroom_bytes_per_core < best.l1.headroom_bytes_per_core
        ? device
        : best,
    null,
  );
}

const isEstimate = (device, field) => markOf(device, field).includes(format.ESTIMATE);

// Returns the mark of a figure over several devices. The mark begins with `bound` unless the figure
// is complete.
function markOfAll(bound, devices, field, complete) {
  const estimate = devices.some((device) => isEstimate(device, field));
  return `${complete ? '' : bound}${estimate ? format.ESTIMATE : ''}`;
}

// Returns the sum of a figure over the devices and its share of their capacity. The sum has the
// mark "at least" if the figure of a device is unknown or not complete.
function together(devices, field, figure, whole) {
  const known = devices.filter((device) => figure(device) !== null);
  if (known.length === 0) return format.UNKNOWN;
  const sum = (of) => known.reduce((total, device) => total + (of(device) ?? 0), 0);
  const complete = known.length === devices.length && known.every((device) => device.complete);
  const mark = markOfAll(format.AT_LEAST, known, field, complete);
  const text = format.marked(mark, format.bytes(sum(figure)));
  if (!complete) return text;
  // The share is known only if every capacity is known.
  const all = devices.some((device) => whole(device) === null) ? null : sum(whole);
  return `${text} · ${format.percent(format.share(sum(figure), all))}`;
}

function item(tag, name, attributes = {}) {
  const value = element('strong', {});
  const node = element(tag, attributes, element('span', { class: 'name' }, name), value);
  return { node, value };
}

export class Summary {
  constructor(go) {
    this.count = item('div', 'Devices');
    this.dram = item('div', 'DRAM');
    this.l1 = item('div', 'L1');
    this.processes = item('div', 'Processes');
    this.tightest = item('button', 'Tightest core', {
      type: 'button',
      class: 'tightest',
      title: 'Open its cores',
      onclick: () => go({ view: 'cores', device: this.least.key, core: '', paint: 'headroom' }),
    });
    const items = [this.count, this.dram, this.l1, this.processes, this.tightest];
    this.node = element(
      'div',
      { class: 'summary' },
      items.map((one) => one.node),
    );
  }

  set(devices) {
    show(this.node, devices.length > 1);
    const dram = [(d) => d.dram.used_bytes, (d) => d.dram.capacity_bytes];
    const l1 = [(d) => d.l1.used_bytes, (d) => d.l1.capacity_bytes];
    setText(this.count.value, format.count(devices.length));
    setText(this.dram.value, together(devices, 'dram', ...dram));
    setText(this.l1.value, together(devices, 'l1', ...l1));
    setText(this.processes.value, format.count(processRows(devices).length));
    this.least = tightest(devices);
    this.tightest.node.disabled = this.least === null;
    const room = this.least?.l1.headroom_bytes_per_core;
    const where = this.least ? `${deviceTitle(this.least, devices)} · ` : '';
    // A core of an incomplete device may have less headroom than the shown minimum.
    const complete = devices.every((device) => device.complete);
    const mark = this.least
      ? markOfAll(format.AT_MOST, [this.least], 'headroom', complete)
      : '';
    setText(this.tightest.value, where + format.marked(mark, format.coreBytes(room)));
  }
}
