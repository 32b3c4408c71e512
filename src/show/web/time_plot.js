// SPDX-License-Identifier: Apache-2.0
// The chart of one memory of a device over the time of a recording: its kinds as stacked steps,
// with marks, failures, gaps and the current moment.
import { axes, axisEnd, filled } from './chart_style.js';
import { element, show } from './dom.js';
import * as format from './format.js';
import { Memo } from './grouping.js';
import { lastUntil } from './moments.js';
import { paintGaps, paintMarks, paintWindow } from './time_signs.js';
import uPlot from './uplot.js';

export const NO_CHARTS =
  'This build has no charts: uPlot was missing when it was built. ' +
  'Run npm ci in src/show/web/ and build again. The keys , and . move through the moments anyway.';
export const hasCharts = uPlot !== null;

// The kinds of each memory, from bottom to top.
export const STACKS = {
  l1: ['l1', 'l1_small', 'cb', 'kernel'],
  dram: ['dram'],
  trace: ['trace'],
};

// The steps of the axis, from 1 ns to a day.
const TIME_STEPS = [
  ...Array.from({ length: 10 }, (_, i) => [1, 2, 5].map((n) => n * 10 ** i)).flat(),
  ...[10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400].map((s) => s * 1e9),
];
const CLICK_PIXELS = 4; // a shorter drag is a click

// Returns the points of a line for uPlot: [times, a sum for each kind from top to bottom]. Adds a
// point before a value becomes unknown, and at the end, because a value holds until then.
export function stackedSteps(line, kinds, end) {
  const times = [];
  const sums = kinds.map(() => []);
  const add = (time, i) => {
    times.push(time);
    let below = 0;
    kinds.forEach((kind, k) => {
      const value = line[kind][i];
      sums[k].push(value === null ? null : (below += value));
    });
  };
  line.time_ns.forEach((time, i) => {
    const lost = i > 0 && kinds.some((k) => line[k][i] === null && line[k][i - 1] !== null);
    if (lost) add(time, i - 1);
    add(time, i);
  });
  if (times.length > 0 && end > times.at(-1)) add(end, line.time_ns.length - 1);
  return [times, ...sums.reverse()];
}

// Returns the maximum within a range, including the last value before the range.
function highest([times, ...sums], [from, to]) {
  let most = 0;
  const last = lastUntil(times, to);
  for (let i = Math.max(0, lastUntil(times, from)); i <= last; ++i) {
    for (const sum of sums) most = Math.max(most, sum[i] ?? 0);
  }
  return most;
}

// Returns the highest sum of a line. Unknown values count as 0.
export function peakOf(line, memory) {
  let most = 0;
  line.time_ns.forEach((_, i) => {
    most = Math.max(most, STACKS[memory].reduce((sum, kind) => sum + (line[kind][i] ?? 0), 0));
  });
  return most;
}

export class TimePlot {
  #made = new Memo();
  #filled = new Memo();
  #painted = new Memo();

  // options: height(), pick(ns): a time was clicked; zoom(from, to), whole(): a drag zooms (without
  // `zoom` a drag picks); hover(ns or null); group: plots with a common cursor; small: marks
  // without names
  constructor(options) {
    this.options = options;
    this.now = element('div', { class: 'moment-line' });
    this.node = element('div', { class: 'plot time-plot' });
    new ResizeObserver(() => this.#resize()).observe(this.node);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#recolour());
  }

  // shown: {line, memory, end: of the line, range: [from, to], moment: ns or null, timeline: has
  // the marks, failures and gaps, window: [from, to] to highlight, or null, top: maximum of the
  // axis, or undefined}
  set(shown) {
    this.shown = shown;
    if (!hasCharts || !shown.line) return this.#drop();
    const { line, memory, end, range, window: part, timeline } = shown;
    if (this.#made.changed(memory)) this.#drop();
    const filledAnew = this.#filled.changed(line, memory, end);
    if (filledAnew) this.data = stackedSteps(line, STACKS[memory], end);
    this.top = shown.top ?? highest(this.data, range);
    if (!this.plot) this.#make();
    else if (filledAnew) this.plot.setData(this.data);
    const [from, to] = range;
    const scale = this.plot.scales.x;
    if (scale.min !== from || scale.max !== to) this.plot.setScale('x', { min: from, max: to });
    if (this.#painted.changed(this.plot, timeline, ...(part ?? []))) this.plot.redraw(false);
    this.#place();
  }

  #make() {
    this.plot = new uPlot(this.#options(), this.data, this.node);
    this.plot.over.append(this.now);
    this.#listen(this.plot.over);
  }
  #drop() {
    this.plot?.destroy();
    this.plot = null;
  }
  #recolour() {
    this.#drop();
    if (this.shown) this.set(this.shown);
  }
  #resize() {
    const width = Math.floor(this.node.clientWidth);
    if (!this.plot || width === 0) return;
    this.plot.setSize({ width, height: this.options.height() });
    this.#place();
  }

  // Places the line of the current moment.
  #place() {
    const { moment, range } = this.shown;
    const within = moment !== null && moment >= range[0] && moment <= range[1];
    show(this.now, within);
    if (within) this.now.style.left = `${this.plot.valToPos(moment, 'x')}px`;
  }

  #options() {
    const [time, bytes] = axes();
    const words = (_, splits, axis, space, step) => splits.map((ns) => format.moment(ns, step));
    const paths = uPlot.paths.stepped({ align: 1 });
    const kinds = [...STACKS[this.shown.memory]].reverse();
    const zooms = Boolean(this.options.zoom);
    const narrow = window.innerWidth < 700;
    return {
      width: Math.floor(this.node.clientWidth) || 600,
      height: this.options.height(),
      padding: [8, narrow ? 8 : 20, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        sync: { key: this.options.group ?? null },
        drag: { x: zooms, y: false, setScale: false, dist: CLICK_PIXELS },
      },
      scales: {
        x: { time: false, range: () => this.shown.range },
        y: { range: () => [0, axisEnd(this.top)] },
      },
      axes: [
        { ...time, values: words, incrs: TIME_STEPS, space: 80, size: 28 },
        { ...bytes, space: this.options.small ? 18 : 28, size: narrow ? 72 : bytes.size },
      ],
      series: [
        {},
        ...kinds.map((kind) => ({ label: kind, paths, points: { show: false }, ...filled(kind) })),
      ],
      hooks: this.#hooks(),
    };
  }

  #hooks() {
    return {
      draw: [
        (plot) => {
          paintGaps(plot, this.shown.timeline.gaps);
          paintMarks(plot, this.shown.timeline, !this.options.small);
          if (this.shown.window) paintWindow(plot, this.shown.window);
        },
      ],
      setCursor: [
        (plot) => {
          const { left } = plot.cursor;
          this.options.hover?.(left === null || left < 0 ? null : plot.posToVal(left, 'x'));
        },
      ],
      setSelect: [(plot) => this.#selected(plot)],
    };
  }

  #selected(plot) {
    const { left, width } = plot.select;
    if (width < CLICK_PIXELS || !this.options.zoom) return;
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.options.zoom(
      Math.floor(plot.posToVal(left, 'x')),
      Math.ceil(plot.posToVal(left + width, 'x')),
    );
  }

  // Without the option `zoom`, a drag moves the current moment.
  #listen(over) {
    const { pick, zoom, whole } = this.options;
    const left = () => over.getBoundingClientRect().left;
    const at = (event) => this.plot.posToVal(event.clientX - left(), 'x');
    if (whole) over.addEventListener('dblclick', whole);
    if (zoom) return over.addEventListener('click', (event) => pick(at(event)));
    over.addEventListener('pointerdown', (event) => {
      over.setPointerCapture(event.pointerId);
      pick(at(event));
    });
    over.addEventListener('pointermove', (event) => {
      if (event.buttons & 1) pick(at(event));
    });
  }
}
