// SPDX-License-Identifier: Apache-2.0
// DRAM and L1 of one device over time: two charts with one cursor.
import { axes, axisEnd, filled } from './chart_style.js';
import { colour, element, setText, show } from './dom.js';
import * as format from './format.js';
import { History } from './history.js';
import uPlot from './uplot.js';

// The parts of L1, from bottom to top.
const L1_STACK = [
  { name: 'L1 buffers', field: 'l1_bytes', kind: 'l1' },
  { name: 'L1_SMALL', field: 'l1_small_bytes', kind: 'l1_small' },
  { name: 'CB', field: 'cb_bytes', kind: 'cb' },
  { name: 'Kernels', field: 'kernels_bytes', kind: 'kernel' },
];

// Inserts null where the time between two points exceeds 3.5 intervals, so that the line has a gap.
function withGaps(points, interval) {
  const times = [];
  const rows = [];
  for (const point of points) {
    const time = point.time_unix_ns / 1e9;
    const last = times.at(-1);
    if (last !== undefined && time - last > 3.5 * interval) {
      times.push(last + interval);
      rows.push(null);
    }
    times.push(time);
    rows.push(point);
  }
  return [times, rows];
}

// Adds to each field the fields before it. An unknown value stays unknown.
function stacked(rows, fields) {
  const below = rows.map(() => 0);
  return fields.map((field) =>
    rows.map((row, i) => {
      const value = row?.[field] ?? null;
      if (value === null) return null;
      below[i] += value;
      return below[i];
    }),
  );
}

const LEAST_SECONDS = 30;

function timeWords(_, splits, axis, space, step) {
  const form = {
    hour: '2-digit',
    minute: '2-digit',
    second: step < 60 ? '2-digit' : undefined,
    hourCycle: 'h23',
  };
  return splits.map((time) => new Date(time * 1000).toLocaleTimeString([], form));
}

class Chart {
  // series: [{name, field, kind, line}], stacked series from top to bottom; `line` is true for a
  // series that is drawn as a dashed line without a filling
  constructor(title, series, height) {
    this.series = series;
    this.height = height;
    this.box = element('div', { class: 'plot' });
    this.legend = element('div', { class: 'legend' });
    this.node = element(
      'section',
      { class: 'panel chart' },
      element('h2', {}, title),
      this.legend,
      this.box,
    );
    new ResizeObserver(() => this.#resize()).observe(this.box);
  }

  #resize() {
    const width = Math.floor(this.box.clientWidth);
    if (this.plot && width > 0) this.plot.setSize({ width, height: this.height() });
  }
  drop() {
    this.plot?.destroy();
    this.plot = null;
  }

  // `values` are the rows for the legend: the figures of all series at one moment, not stacked.
  set(data, values, seconds) {
    this.values = values;
    // Shows the time of the data: at least LEAST_SECONDS, at most the requested time.
    const end = data[0].at(-1) ?? Date.now() / 1000;
    const begin = Math.max(end - seconds, Math.min(data[0][0] ?? end, end - LEAST_SECONDS));
    this.range = [begin, end];
    if (!this.plot) this.plot = new uPlot(this.#options(), data, this.box);
    else this.plot.setData(data);
    this.#say(null);
  }

  #options() {
    // uPlot paints the first series first. The topmost series comes first, because it would
    // otherwise cover the series below.
    const painted = this.series.map((one) => ({
      label: one.name,
      points: { show: false },
      ...(one.line ? { stroke: colour(one.kind), width: 1.5, dash: [4, 4] } : filled(one.kind)),
    }));
    const [time, bytes] = axes();
    return {
      width: Math.floor(this.box.clientWidth) || 600,
      height: this.height(),
      padding: [8, 28, 0, 0],
      legend: { show: false },
      cursor: { sync: { key: 'ttmem' }, drag: { x: false, y: false } },
      scales: {
        x: { time: true, range: () => this.range },
        y: { range: (_, low, high) => [0, axisEnd(high ?? 0)] },
      },
      axes: [{ ...time, values: timeWords, space: 90, size: 32 }, bytes],
      series: [{}, ...painted],
      hooks: { setCursor: [(plot) => this.#say(plot.cursor.idx)] },
    };
  }

  // Shows the figures at the cursor, or the last figures.
  #say(position) {
    const rows = this.values;
    const row =
      position === null || position === undefined ? rows.findLast((one) => one) : rows[position];
    if (this.legend.children.length !== this.series.length) {
      this.legend.replaceChildren(
        ...this.series.map((one) =>
          element(
            'span',
            { class: one.kind },
            element('i', { class: `swatch ${one.kind}` }),
            `${one.name} `,
            element('b', {}),
          ),
        ),
      );
    }
    [...this.legend.children].forEach((child, i) => {
      const field = this.series[i].field;
      setText(child.querySelector('b'), format.bytes(row?.[field] ?? null));
      child.querySelector('b').dataset.field = field;
    });
  }
}

const PEAK = { name: 'Peak of the interval', kind: 'peak-line', line: true };

export class DeviceCharts {
  // `height()` is the height of one chart in CSS pixels.
  constructor(source, height) {
    this.history = new History(source, () => this.#draw());
    this.message = element('p', { class: 'empty', hidden: true });
    this.dram = new Chart(
      'DRAM',
      [
        { name: 'DRAM', field: 'dram_bytes', kind: 'dram' },
        { ...PEAK, field: 'dram_peak_bytes' },
      ],
      height,
    );
    this.l1 = new Chart(
      'L1',
      [...L1_STACK].reverse().concat({ ...PEAK, field: 'l1_used_peak_bytes' }),
      height,
    );
    this.plots = element('div', { class: 'charts' }, this.dram.node, this.l1.node);
    this.node = element('div', {}, this.message, this.plots);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#recolour());
  }

  #recolour() {
    this.l1.drop();
    this.dram.drop();
    if (this.history.points?.length > 0) this.#draw();
  }

  update(device, seconds) {
    this.seconds = seconds;
    if (!uPlot) {
      return this.#lack(
        'This build has no charts: uPlot was missing when it was built. ' +
          'Run npm ci in src/show/web/ and build again; the figures are on /api/v1/history.',
      );
    }
    if (!device) return this.#lack('There is no device to show.');
    const other = device.key !== this.history.key;
    this.history.keep(device.key, seconds);
    if (other) this.#draw(); // removes the lines of the previous device at once
  }

  #lack(words) {
    show(this.message, true);
    setText(this.message, words);
    show(this.plots, false);
  }

  #draw() {
    const { points, interval, error } = this.history;
    if (error && !points?.length) return this.#lack(`No history: ${error}`);
    if (points === null) return this.#lack('Waiting for the history …');
    if (points.length === 0)
      return this.#lack('No history yet: the server records one point a second.');
    show(this.message, false);
    show(this.plots, true);
    const [times, rows] = withGaps(points, interval);
    const sums = stacked(
      rows,
      L1_STACK.map((one) => one.field),
    ).reverse();
    const field = (name) => rows.map((row) => row?.[name] ?? null);
    this.l1.set([times, ...sums, field('l1_used_peak_bytes')], rows, this.seconds);
    this.dram.set([times, field('dram_bytes'), field('dram_peak_bytes')], rows, this.seconds);
  }
}
