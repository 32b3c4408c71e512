// SPDX-License-Identifier: Apache-2.0
// View 2: DRAM, L1 and the parts of L1 over time.
import { element, setText } from './dom.js';
import { DeviceCharts } from './device_charts.js';
import { deviceTitle, deviceWords } from './device_card.js';
import { Choices } from './widgets.js';

const WINDOWS = [
  [60, '1 min'],
  [300, '5 min'],
  [600, '10 min'],
  [3600, '1 h'],
  [86400, '24 h'],
];

export class ChartsView {
  constructor(go, source) {
    this.title = element('h2', {});
    this.words = element('p', { class: 'words' });
    this.windows = new Choices('Time shown', WINDOWS, (seconds) =>
      go({ seconds: String(seconds) }),
    );
    // The height with which both charts fit on the screen.
    this.charts = new DeviceCharts(source, () =>
      Math.max(170, Math.min(360, Math.floor((window.innerHeight - 330) / 2))),
    );
    this.node = element(
      'div',
      { class: 'view' },
      element('div', { class: 'toolbar' }, this.title, this.words, this.windows.node),
      this.charts.node,
    );
  }

  update(state, place, device) {
    this.seconds = Math.max(1, Math.min(86400, Number(place.seconds) || 600));
    this.windows.set(this.seconds);
    setText(this.title, device ? deviceTitle(device, [...state.devices.values()]) : 'No device');
    setText(this.words, device ? deviceWords(device) : '');
    this.charts.update(device, this.seconds);
  }

  key(name) {
    if (name !== 't') return false;
    this.windows.next();
    return true;
  }
}
