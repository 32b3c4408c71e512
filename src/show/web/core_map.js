// SPDX-License-Identifier: Apache-2.0
// The address map of one core: CBs from the bottom, L1 buffers from the top, the gap, and the
// owners.
import { colour, element, fit, setText, show } from './dom.js';
import * as format from './format.js';
import { Table } from './table.js';

const WIDTH = 120;

const columns = [
  { name: 'Address', width: 5, value: (row) => row.begin, text: (row) => format.hex(row.begin) },
  {
    name: 'Size',
    number: true,
    width: 5,
    value: (row) => row.end - row.begin,
    text: (row) => format.coreBytes(row.end - row.begin),
  },
  {
    name: 'Kind',
    width: 5.5,
    value: (row) => row.kind,
    text: (row) => (row.kind === 'gap' ? 'headroom' : format.KINDS[row.kind]),
  },
  { name: 'What', grow: 2, width: 7, value: (row) => row.label, text: whatOf },
  {
    name: 'Owner',
    grow: 1,
    width: 7,
    value: (row) => row.pid,
    text: (row) =>
      row.kind === 'gap' ? '' : `${format.text(row.pid)} ${row.process ?? ''}`.trim(),
  },
];

function whatOf(row) {
  if (row.kind === 'gap')
    return row.end < row.begin ? 'clash: CBs overrun L1 buffers' : 'between CBs and L1 buffers';
  const label = row.label || format.UNKNOWN;
  return row.elsewhere ? `${label}, its bytes are on ${format.cores(row.cores)}` : label;
}

export class CoreMap {
  constructor() {
    this.title = element('h2', {});
    this.words = element('p', { class: 'words' });
    this.canvas = element('canvas', {
      class: 'map',
      role: 'img',
      'aria-label': 'Address map of the core',
    });
    this.table = new Table({
      label: 'What lies in the core',
      columns,
      sort: '-Address',
      tallest: 18,
      look: (row) => (row.kind === 'gap' && row.end < row.begin ? 'gap bad' : row.kind),
    });
    this.node = element(
      'section',
      { class: 'panel core-map' },
      this.title,
      this.words,
      element('div', { class: 'map-box' }, this.canvas, this.table.node),
    );
  }

  // Shows a core. `layout` is null if unknown; `why` is then the reason.
  set(core, layout, l1, why) {
    setText(this.title, `Core (${core.x},${core.y})`);
    this.title.dataset.core = `${core.x},${core.y}`;
    const figures = [
      `CB ${format.coreBytes(core.cb_bytes)}`,
      `resident ${format.coreBytes(core.cb_resident_bytes)}`,
      `L1 buffers ${format.coreBytes(core.l1_bytes)}`,
      `headroom ${format.coreBytes(core.headroom_bytes)}`,
    ];
    if (layout?.without) figures.push(`${layout.without} buffers without an address`);
    setText(this.words, figures.join(' · '));
    show(this.canvas, layout !== null); // hides the map of the previous core
    if (!layout) return this.table.set([], why);
    const rows = [...layout.spans];
    if (layout.gap) rows.push({ ...layout.gap, kind: 'gap', label: '' });
    this.table.set(rows, 'Nothing lies in this core.');
    this.#paint(layout, l1);
  }

  #paint(layout, l1) {
    const height = Math.max(260, Math.min(560, window.innerHeight - 320));
    const pen = fit(this.canvas, WIDTH, height);
    const end = layout.end ?? Math.max(1, ...layout.spans.map((span) => span.end));
    const at = (address) => height - (height * Math.min(address, end)) / end;
    const box = (begin, to, fill) => {
      pen.fillStyle = fill;
      const top = at(to);
      pen.fillRect(0, top, WIDTH, Math.max(1.5, at(begin) - top));
    };
    box(0, end, colour('cell'));
    if (layout.base) box(0, layout.base, colour('reserved'));
    const small = l1.small_region_bytes_per_core ?? 0;
    if (small) box(end - small, end, colour('reserved'));
    for (const span of layout.spans) {
      box(span.begin, span.end, colour(span.kind));
      pen.fillStyle = colour('card');
      pen.fillRect(0, at(span.end), WIDTH, 0.75);
      if (span.elsewhere) this.#hatch(pen, at(span.end), at(span.begin));
    }
    const { gap } = layout;
    if (gap && gap.end < gap.begin) box(gap.end, gap.begin, colour('bad'));
    this.#name(pen, layout, at);
  }

  #hatch(pen, top, bottom) {
    pen.save();
    pen.beginPath();
    pen.rect(0, top, WIDTH, bottom - top);
    pen.clip();
    pen.strokeStyle = colour('card');
    pen.beginPath();
    for (let x = -bottom; x < WIDTH + bottom; x += 8) {
      pen.moveTo(x, bottom);
      pen.lineTo(x + (bottom - top), top);
    }
    pen.stroke();
    pen.restore();
  }

  #name(pen, layout, at) {
    pen.font = '11px system-ui, sans-serif';
    pen.textAlign = 'center';
    const words = (text, begin, end, ink) => {
      if (at(begin) - at(end) < 16) return;
      pen.fillStyle = colour(ink);
      pen.fillText(text, WIDTH / 2, (at(begin) + at(end)) / 2 + 4);
    };
    if (layout.base) words('firmware, kernels', 0, layout.base, 'dim');
    if (!layout.gap) return;
    if (layout.gap.end < layout.gap.begin)
      return words('clash', layout.gap.end, layout.gap.begin, 'card');
    words(
      `${format.coreBytes(layout.gap.end - layout.gap.begin)} free`,
      layout.gap.begin,
      layout.gap.end,
      'dim',
    );
  }
}
