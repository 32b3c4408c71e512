// SPDX-License-Identifier: Apache-2.0
// View 1: every device with its bars; one device in detail, many devices as an overview.
import { CoreGrid } from './core_grid.js';
import { tightestCore } from './core_layout.js';
import { Card, deviceTitle } from './device_card.js';
import { DeviceCharts } from './device_charts.js';
import { element, setText, show } from './dom.js';
import * as format from './format.js';
import { matching } from './grouping.js';
import { processColumns, processRows, processText } from './process_rows.js';
import { Summary } from './summary.js';
import { Table } from './table.js';
import { SearchBox } from './widgets.js';

// Up to FEW devices are shown in detail, up to SOME with the parts of L1, more as an overview.
const FEW = 4;
const SOME = 12;
const CHART_SECONDS = 600;

// Returns the device whose cores and charts are shown too. If there are more than SOME devices,
// returns only a device that the user chose.
export function glanced(state, place, device) {
  return state.devices.size <= SOME || place.device ? device : null;
}

// Returns the class of app.css for the size of `count` cards.
function sizeFor(count) {
  if (count <= 1) return 'one';
  if (count <= FEW) return 'few';
  return count <= SOME ? 'some' : 'many';
}

// The cores and the charts of one device.
class Glance {
  constructor(go, source) {
    this.title = element('h2', {});
    this.grid = new CoreGrid(
      (x, y) => go({ view: 'cores', device: this.key, core: `${x},${y}` }),
      () => 330,
    );
    this.words = element('p', { class: 'note' });
    this.cores = element(
      'section',
      { class: 'panel glance' },
      this.title,
      this.grid.box,
      this.words,
    );
    // The charts of live data. A recording has its timeline in the strip instead.
    const height = () => Math.max(120, Math.min(200, window.innerHeight - 760));
    this.charts = source.recorded ? null : new DeviceCharts(source, height);
    this.node = element('div', { class: 'beside' }, this.cores, this.charts?.node ?? null);
  }

  update(state, device, title) {
    const cores = device && state.cores?.key === device.key ? state.cores.per_core : null;
    show(this.cores, Boolean(device?.grid && cores?.length > 0));
    if (this.charts) show(this.charts.node, device !== null);
    if (!device) return;
    this.key = device.key;
    this.charts?.update(device, CHART_SECONDS);
    if (this.cores.hidden) return;
    const tightest = tightestCore(cores);
    setText(this.title, title);
    this.grid.set(device, cores, 'use', tightest);
    setText(
      this.words,
      tightest
        ? `Coloured by use. Tightest: core (${tightest.x},${tightest.y}), ` +
            `headroom ${format.coreBytes(tightest.headroom_bytes)}. A click opens a core.`
        : 'Coloured by use.',
    );
  }
}

export class DevicesView {
  constructor(go, open, source) {
    this.go = go;
    this.source = source;
    this.overTime = source.recorded
      ? { name: 'timeline', title: 'Timeline' }
      : { name: 'charts', title: 'Charts' };
    this.glance = new Glance(go, source);
    this.cards = [];
    this.summary = new Summary(go);
    this.grid = element('section', { class: 'cards', 'aria-label': 'Devices' });
    this.first = element('div', { class: 'beside' }, this.grid);
    this.empty = element('p', { class: 'empty', hidden: true });
    this.table = new Table({
      label: 'Processes',
      columns: processColumns,
      sort: '-DRAM',
      tallest: 12,
      open,
      look: (row) => row.state,
    });
    this.search = new SearchBox('Search processes', (find) => go({ find }, true));
    this.node = element(
      'div',
      { class: 'view devices' },
      this.summary.node,
      this.empty,
      this.first,
      this.glance.node,
      element(
        'section',
        { class: 'panel' },
        element('div', { class: 'toolbar' }, element('h2', {}, 'Processes'), this.search.node),
        this.table.node,
      ),
    );
  }

  update(state, place, device) {
    const devices = [...state.devices.values()];
    const size = sizeFor(devices.length);
    this.grid.className = `cards ${size}`;
    this.#arrange(size === 'one');
    while (this.cards.length < devices.length) this.#add();
    while (this.cards.length > devices.length) this.cards.pop().node.remove();
    devices.forEach((one, i) =>
      this.cards[i].set(one, devices, place.device !== '' && one === device),
    );
    show(this.empty, devices.length === 0);
    setText(this.empty, this.#whyEmpty(state));
    this.summary.set(devices);
    const shown = glanced(state, place, device);
    this.glance.update(
      state,
      shown,
      shown && size !== 'one' ? `Cores of ${deviceTitle(shown, devices)}` : 'Cores',
    );
    this.search.set(place.find);
    const found = matching(processRows(devices), place.find, processText);
    const nobody = state.noLists ?? 'No process holds memory of a device.';
    this.table.set(found, place.find ? 'Nothing matches the search.' : nobody);
  }

  #whyEmpty(state) {
    if (this.source.recorded)
      return state.recording ? 'No device was open at this moment.' : 'Waiting for the recording …';
    return state.number === null
      ? 'Waiting for the server …'
      : 'No device: no tracked process runs, and no driver shows a chip. Try: ttmem demo --hold';
  }

  // Puts the cores beside the card of the only device, or beside the charts if there are several
  // devices.
  #arrange(alone) {
    const { cores, charts, node } = this.glance;
    const home = alone ? this.first : node;
    if (cores.parentNode !== home)
      home.insertBefore(cores, alone ? null : (charts?.node ?? null));
    charts?.node.classList.toggle('side-by-side', alone);
  }

  #add() {
    const card = new Card(this.go, this.overTime);
    this.cards.push(card);
    this.grid.append(card.node);
  }

  key(name) {
    if (name === '/') this.search.focus();
    else if (name === 'Escape' && this.search.node.value) this.go({ find: '' });
    else return this.table.key(name);
    return true;
  }
}
