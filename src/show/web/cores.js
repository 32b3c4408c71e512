// SPDX-License-Identifier: Apache-2.0
// View 3: the cores of a device, and the address map of one core.
import { CoreGrid, usedBytes } from './core_grid.js';
import { coreLayout, tightestCore } from './core_layout.js';
import { CoreMap } from './core_map.js';
import { deviceTitle, deviceWords, sharingWords } from './device_card.js';
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
    // The device, its cores, allocations and programs, all from one snapshot.
    this.snapshot = new ListKeeper(source, 'snapshot', () => this.redraw?.());
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

  update(state, place, chosen) {
    this.redraw = () => this.update(state, place, chosen);
    this.paints.set(place.paint);
    this.#keep(state, chosen);
    const { device, cores } = this.#oneMoment(state, chosen);
    setText(this.title, device ? deviceTitle(device, [...state.devices.values()]) : 'No device');
    const words = device ? [deviceWords(device), sharingWords(device)] : [];
    setText(this.words, words.filter(Boolean).join(' · '));
    const known = Boolean(device?.grid && cores?.length > 0);
    show(this.message, !known);
    show(this.body, known);
    show(this.details, known);
    show(this.tight, known);
    if (!known) return setText(this.message, this.#why(state, device, cores));
    this.#draw(device, cores, place);
  }

  // Keeps the snapshot up to date. While the page is paused, it shows the snapshot that it has.
  #keep(state, chosen) {
    if (!chosen || state.paused) return;
    this.snapshot.keep({ device: chosen.key, kind: 'l1,l1_small', lists: 1 });
    this.kept = chosen.key;
  }

  // Returns the snapshot of the device, or null until it has arrived.
  #document(chosen) {
    const { document } = this.snapshot;
    return chosen && this.kept === chosen.key && document?.devices.length > 0 ? document : null;
  }

  // Returns the device and its cores. They come from the snapshot with the lists of the map, so that
  // title, grid and map show one moment. Until it has arrived, there is no map, and they come from
  // the last answer.
  #oneMoment(state, chosen) {
    this.shown = this.#document(chosen);
    const [device] = this.shown?.devices ?? [];
    if (device) return { device: { ...device, key: chosen.key }, cores: device.per_core };
    const cores = chosen && state.cores?.key === chosen.key ? state.cores.per_core : null;
    return { device: chosen, cores };
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
    const cut = this.shown?.warnings?.filter((one) => one.startsWith('the list of ')) ?? [];
    const remarks = cut.map((one) => ` · ${one}`).join('') + this.snapshot.remarks;
    setText(this.legend, `Colour: ${LEGENDS[place.paint] ?? LEGENDS.use}.${remarks}`);
    this.grid.set(device, cores, place.paint, core);
    const why = this.snapshot.whyEmpty(0, 'Waiting for the list …');
    this.map.set(core, this.#layout(device, core), device.l1, why);
    if (!this.details.open) return;
    const whole = device.l1.bytes_per_core;
    this.table.set(
      cores.map((one) => ({ ...one, use: format.percent(format.share(usedBytes(one), whole)) })),
    );
  }

  // Returns the layout of a core, or null until the lists have arrived.
  #layout(device, core) {
    const { allocations, programs } = this.shown ?? {};
    return allocations ? coreLayout(device, allocations, programs, core.x, core.y) : null;
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
