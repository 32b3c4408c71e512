// SPDX-License-Identifier: Apache-2.0
// View 3: the cores of a device, and the address map of one core.
import { CoreGrid, usedBytes } from './core_grid.js';
import { coreLayout, tightestCore } from './core_layout.js';
import { CoreMap } from './core_map.js';
import { deviceTitle, deviceWords } from './device_card.js';
import { element, setText, show } from './dom.js';
import * as format from './format.js';
import { ListKeeper } from './source.js';
import { Table } from './table.js';
import { Choices, link } from './widgets.js';

const PAINTS = [
  ['use', 'Use'],
  ['headroom', 'Headroom'],
  ['kind', 'Kind'],
];
const LEGENDS = {
  use: 'how much of its L1 circular buffers and L1 buffers take',
  headroom: 'room between circular buffers and L1 buffers; red is tight',
  kind: 'circular buffers from below, L1 buffers from above',
};

const STEPS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  h: [-1, 0],
  l: [1, 0],
  k: [0, -1],
  j: [0, 1],
};

const column = (name, field) => ({
  name,
  number: true,
  width: 6,
  value: (row) => row[field],
  text: (row) => format.coreBytes(row[field]),
});
const columns = [
  {
    name: 'Core',
    width: 4,
    value: (row) => row.y * 1000 + row.x,
    text: (row) => `(${row.x},${row.y})`,
  },
  column('Headroom', 'headroom_bytes'),
  column('CB', 'cb_bytes'),
  column('Resident', 'cb_resident_bytes'),
  column('L1 buf', 'l1_bytes'),
  { name: 'Use', number: true, width: 4, grow: 1, value: usedBytes, text: (row) => row.use },
];

export class CoresView {
  constructor(go, source) {
    this.go = go;
    this.allocations = new ListKeeper(source, 'allocations', () => this.redraw?.());
    this.programs = new ListKeeper(source, 'programs', () => this.redraw?.());
    this.title = element('h2', {});
    this.words = element('p', { class: 'words' });
    this.paints = new Choices('Coloured by', PAINTS, (paint) => go({ paint }));
    this.tight = link('', () => go({ core: '' }));
    this.legend = element('p', { class: 'note' });
    this.message = element('p', { class: 'empty', hidden: true });
    this.#makeParts();
    this.node = element(
      'div',
      { class: 'view' },
      element('div', { class: 'toolbar' }, this.title, this.words, this.tight, this.paints.node),
      this.message,
      this.body,
      this.details,
    );
  }

  #makeParts() {
    const choose = (x, y) => this.go({ core: `${x},${y}` }, true);
    this.grid = new CoreGrid(choose, () => Math.max(240, window.innerHeight - 260));
    this.map = new CoreMap();
    this.table = new Table({
      label: 'Cores',
      columns,
      sort: 'Headroom',
      tallest: 12,
      open: (row) => choose(row.x, row.y),
    });
    this.details = element(
      'details',
      { class: 'panel', ontoggle: () => this.redraw?.() },
      element('summary', {}, 'The cores as a table'),
      this.table.node,
    );
    const left = element('section', { class: 'panel' }, this.grid.box, this.legend);
    this.body = element('div', { class: 'cores' }, left, this.map.node);
  }

  update(state, place, device) {
    this.redraw = () => this.update(state, place, device);
    this.paints.set(place.paint);
    setText(this.title, device ? deviceTitle(device, [...state.devices.values()]) : 'No device');
    setText(this.words, device ? deviceWords(device) : '');
    const cores = device && state.cores?.key === device.key ? state.cores.per_core : null;
    const known = Boolean(device?.grid && cores?.length > 0);
    show(this.message, !known);
    show(this.body, known);
    show(this.details, known);
    show(this.tight, known);
    if (!known) return setText(this.message, this.#why(state, device, cores));
    this.allocations.keep({ device: device.key, kind: 'l1,l1_small' });
    this.programs.keep({ device: device.key });
    this.#draw(device, cores, place);
  }

  #why(state, device, cores) {
    if (!device) return 'There is no device to show.';
    if (state.recording) return state.noLists ?? 'No process reports the cores of this device.';
    if (!device.grid)
      return 'No process reports the grid of this device, so that its cores are unknown.';
    if (!cores && state.paused) return 'Paused. These cores come when it goes on: press p.';
    return cores ? 'The cores of this device are unknown.' : 'Waiting for the cores …';
  }

  #draw(device, cores, place) {
    this.device = device;
    const tightest = tightestCore(cores);
    const [x, y] = place.core.split(',').map(Number);
    const core =
      cores.find((one) => one.x === x && one.y === y && place.core) ?? tightest ?? cores[0];
    this.core = core;
    const where = tightest ? `(${tightest.x},${tightest.y})` : '';
    setText(this.tight, `tightest: ${where} ${format.coreBytes(tightest?.headroom_bytes)}`);
    const { remarks } = this.allocations;
    setText(this.legend, `Colour: ${LEGENDS[place.paint] ?? LEGENDS.use}.${remarks}`);
    this.grid.set(device, cores, place.paint, core);
    this.map.set(core, this.#layout(device, core), device.l1, this.#whyNoMap());
    if (!this.details.open) return;
    const whole = device.l1.bytes_per_core;
    this.table.set(
      cores.map((one) => ({ ...one, use: format.percent(format.share(usedBytes(one), whole)) })),
    );
  }

  #whyNoMap() {
    const lacking = [this.allocations, this.programs].find((list) => !list.document && list.error);
    return (lacking ?? this.allocations).whyEmpty(0, 'Waiting for the list …');
  }

  // Returns the layout of a core, or null until the lists have arrived.
  #layout(device, core) {
    const [buffers, programs] = [this.allocations.document, this.programs.document];
    if (!buffers || !programs) return null;
    return coreLayout(device, buffers.allocations, programs.programs, core.x, core.y);
  }

  key(name) {
    if (name === 'c') {
      this.paints.next();
      return true;
    }
    if (!(name in STEPS) || !this.core || !this.device) return false;
    const [dx, dy] = STEPS[name];
    const { x: columnCount, y: rowCount } = this.device.grid;
    const within = (value, most) => Math.max(0, Math.min(most - 1, value));
    const [x, y] = [within(this.core.x + dx, columnCount), within(this.core.y + dy, rowCount)];
    this.go({ core: `${x},${y}` }, true);
    return true;
  }
}
