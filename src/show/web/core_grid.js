// SPDX-License-Identifier: Apache-2.0
// The cores of a device as a grid, painted on a canvas.
import { colour, element, fit, mix } from './dom.js';
import * as format from './format.js';

const GAP = 3;

// Returns the colour of a share, from cold (0) to hot (1).
function heat(share) {
  const low = colour('heat-low');
  const middle = colour('heat-middle');
  const high = colour('heat-high');
  const half = 0.6;
  return share < half
    ? mix(low, middle, share / half)
    : mix(middle, high, (share - half) / (1 - half));
}

export function usedBytes(core) {
  if (core.cb_bytes === null && core.l1_bytes === null) return null;
  return (core.cb_bytes ?? 0) + (core.l1_bytes ?? 0);
}

// Returns true if circular buffers overrun L1 buffers on this core.
function clashes(core) {
  return core.headroom_bytes !== null && core.headroom_bytes < 0;
}

export class CoreGrid {
  // chosen(x, y): called when a core is clicked; height(): maximum height of the grid in CSS
  // pixels.
  constructor(chosen, height) {
    this.chosen = chosen;
    this.height = height;
    this.canvas = element('canvas', {
      class: 'grid',
      tabindex: '0',
      role: 'img',
      onclick: (event) => this.#clicked(event),
      onmousemove: (event) => this.#hovered(event),
      onkeydown: (event) => this.#pressed(event),
    });
    this.box = element('div', { class: 'grid-box' }, this.canvas);
    new ResizeObserver(() => this.#paint()).observe(this.box);
  }

  set(device, perCore, paint, selected) {
    Object.assign(this, { device, perCore, paint, selected });
    const words = `The ${device.grid.x} by ${device.grid.y} cores of device ${device.id}`;
    this.canvas.setAttribute('aria-label', words);
    this.#paint();
  }

  #size() {
    const { x, y } = this.device.grid;
    const width = this.box.clientWidth || 600;
    const fitting = Math.floor(Math.min((width - 26) / x, (this.height() - 22) / y));
    const cell = Math.max(16, Math.min(72, fitting));
    return { cell, left: 24, top: 18 };
  }

  #paint() {
    if (!this.device?.grid) return;
    const { cell, left, top } = this.#size();
    const { x: columns, y: rows } = this.device.grid;
    const pen = fit(this.canvas, left + columns * cell + 2, top + rows * cell + 2);
    pen.font = '11px system-ui, sans-serif';
    pen.fillStyle = colour('dim');
    pen.textAlign = 'center';
    for (let x = 0; x < columns; ++x) pen.fillText(x, left + (x + 0.5) * cell, 12);
    pen.textAlign = 'right';
    for (let y = 0; y < rows; ++y) pen.fillText(y, left - 6, top + (y + 0.5) * cell + 4);
    this.most = Math.max(1, ...this.perCore.map((core) => core.headroom_bytes ?? 0));
    for (const core of this.perCore)
      this.#paintCore(pen, core, left + core.x * cell, top + core.y * cell, cell - GAP);
    if (this.selected)
      this.#mark(pen, left + this.selected.x * cell, top + this.selected.y * cell, cell - GAP);
  }

  #paintCore(pen, core, x, y, size) {
    pen.fillStyle = colour('cell');
    pen.fillRect(x, y, size, size);
    if (this.paint === 'kind') this.#paintKinds(pen, core, x, y, size);
    else this.#paintHeat(pen, core, x, y, size);
    if (!clashes(core)) return;
    pen.strokeStyle = colour('bad');
    pen.lineWidth = 3;
    pen.strokeRect(x + 1.5, y + 1.5, size - 3, size - 3);
    pen.lineWidth = 1;
  }

  #paintHeat(pen, core, x, y, size) {
    const value = this.paint === 'headroom' ? core.headroom_bytes : usedBytes(core);
    const whole = this.paint === 'headroom' ? this.most : this.device.l1.bytes_per_core;
    if (value === null || !whole) return this.#paintUnknown(pen, x, y, size);
    const share = value / whole; // above 1 if processes share the chip
    const warm = Math.max(0, Math.min(1, share));
    pen.fillStyle = heat(this.paint === 'headroom' ? 1 - warm : warm);
    pen.fillRect(x, y, size, size);
    if (size < 30) return;
    pen.fillStyle = colour('on-heat');
    pen.font = '11px system-ui, sans-serif';
    pen.textAlign = 'center';
    const words =
      this.paint === 'headroom' ? `${Math.round(value / 1024)}K` : format.percent(share);
    pen.fillText(clashes(core) ? `! ${words}` : words, x + size / 2, y + size / 2 + 4);
  }

  // Paints CBs from the bottom and L1 buffers from the top, as in the address space of the core.
  #paintKinds(pen, core, x, y, size) {
    const whole = this.device.l1.bytes_per_core;
    if (usedBytes(core) === null || !whole) return this.#paintUnknown(pen, x, y, size);
    const cb = Math.ceil(size * Math.min(1, (core.cb_bytes ?? 0) / whole));
    const l1 = Math.ceil(size * Math.min(1, (core.l1_bytes ?? 0) / whole));
    pen.fillStyle = colour('l1');
    pen.fillRect(x, y, size, l1);
    pen.fillStyle = colour('cb');
    pen.fillRect(x, y + size - cb, size, cb);
  }

  #paintUnknown(pen, x, y, size) {
    pen.strokeStyle = colour('dim');
    pen.beginPath();
    pen.moveTo(x + 4, y + size - 4);
    pen.lineTo(x + size - 4, y + 4);
    pen.stroke();
  }

  #mark(pen, x, y, size) {
    pen.strokeStyle = colour('text');
    pen.lineWidth = 2.5;
    pen.strokeRect(x - 1, y - 1, size + 2, size + 2);
    pen.lineWidth = 1;
  }

  // Returns the core under the mouse, or undefined.
  #coreAt(event) {
    const { cell, left, top } = this.#size();
    const x = Math.floor((event.offsetX - left) / cell);
    const y = Math.floor((event.offsetY - top) / cell);
    return this.perCore.find((core) => core.x === x && core.y === y);
  }

  #clicked(event) {
    const core = this.#coreAt(event);
    if (core) this.chosen(core.x, core.y);
  }

  // Opens the selected core when the user presses Enter.
  #pressed(event) {
    if (event.key !== 'Enter' || !this.selected) return;
    event.stopPropagation();
    this.chosen(this.selected.x, this.selected.y);
  }

  #hovered(event) {
    const core = this.#coreAt(event);
    const words = core
      ? `Core (${core.x},${core.y})\nCB ${format.coreBytes(core.cb_bytes)}\n` +
        `L1 buffers ${format.coreBytes(core.l1_bytes)}\n` +
        `headroom ${format.coreBytes(core.headroom_bytes)}`
      : '';
    if (this.canvas.title !== words) this.canvas.title = words;
  }
}
