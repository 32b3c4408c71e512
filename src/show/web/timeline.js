// SPDX-License-Identifier: Apache-2.0
// View 2 of a recording: large charts of its memories over time with zoom, and its marks and
// failures.
import { deviceTitle } from './device_card.js';
import { element, setText, show } from './dom.js';
import * as format from './format.js';
import { Memo } from './grouping.js';
import { Table } from './table.js';
import { figuresOf, timeOfValue, TimeLegend, together, totalOf, valuesAt } from './time_legend.js';
import { hasCharts, NO_CHARTS, STACKS, TimePlot } from './time_plot.js';

const TITLES = { l1: 'L1 by kind', dram: 'DRAM', trace: 'Trace' };

class Chart {
  constructor(memory, cursor, height) {
    this.memory = memory;
    this.legend = new TimeLegend();
    this.plot = new TimePlot({
      height,
      group: 'recording',
      pick: (ns) => cursor.pick(ns),
      zoom: (from, to) => cursor.zoom(from, to),
      whole: () => cursor.whole(),
      hover: (ns) => this.#hovered(ns),
    });
    this.when = element('span', { class: 'note' });
    this.node = element(
      'section',
      { class: 'panel chart', 'data-memory': memory },
      element(
        'div',
        { class: 'toolbar' },
        element('h2', {}, TITLES[memory]),
        this.when,
        this.legend.node,
      ),
      this.plot.node,
    );
  }

  set(shown, device) {
    Object.assign(this, { shown, device });
    this.plot.set({ ...shown, memory: this.memory });
    this.#hovered(null);
  }

  // Shows the figures at the mouse, or at the current moment.
  #hovered(ns) {
    const { device, memory } = this;
    const { line, moment, of } = this.shown;
    const time = ns === null ? moment : timeOfValue(of, line, ns);
    setText(this.when, `at ${format.moment(time)}`);
    const capacity = line[`${memory}_capacity_bytes`] ?? null;
    if (ns === null)
      this.legend.set(memory, figuresOf(device, memory), capacity, totalOf(device, memory));
    else this.legend.set(memory, valuesAt(line, STACKS[memory], ns), capacity);
  }
}

const sized = (name, memory) => ({
  name,
  number: true,
  width: 6,
  value: (row) => row[memory],
  text: (row) => format.bytes(row[memory]),
});
const columns = [
  {
    name: 'Time',
    number: true,
    width: 6,
    value: (row) => row.time_ns,
    text: (row) => format.moment(row.time_ns),
  },
  { name: 'What', width: 5, value: (row) => row.what, text: (row) => row.what },
  { name: 'Name', grow: 2, width: 8, value: (row) => row.name, text: (row) => row.name },
  sized('L1', 'l1'),
  sized('DRAM', 'dram'),
  {
    name: 'Process',
    grow: 1,
    width: 7,
    low: true,
    value: (row) => row.process,
    text: (row) => `${format.text(row.pid)} ${row.process ?? ''}`.trim(),
  },
];

// Returns the bytes that the device held at a time, {l1, dram}. A thinned line lacks most times.
// The bytes then come from `moments` (time -> moment), and are null if there is no moment at this
// time.
function heldAt(timeline, moments, line, time) {
  if (!timeline.thinned) {
    const held = (memory) => together(valuesAt(line, STACKS[memory], time));
    return { l1: held('l1'), dram: held('dram') };
  }
  const [, number] = moments.get(time)?.devices.find(([key]) => key === line.key) ?? [];
  const device = timeline.figures[number];
  return { l1: device?.l1.used_bytes ?? null, dram: device?.dram.used_bytes ?? null };
}

// Returns marks, failures and gaps as rows, with the bytes that the device held at their times.
function signRows(timeline, line) {
  const { marks, failures, gaps } = timeline;
  const moments = new Map(timeline.moments.map((one) => [one.time_ns, one]));
  const row = (what, time, { pid, process }, name) => ({
    what,
    name,
    time_ns: time,
    pid,
    process,
    ...heldAt(timeline, moments, line, time),
  });
  return [
    ...marks.map((one) => row('mark', one.time_ns, one, one.name)),
    ...failures.map((one) => row('failure', one.time_ns, one, format.text(one.text))),
    ...gaps.map((one) =>
      row('gap', one.begin_ns, one, `${format.plural(one.lost_events, 'event')} lost`),
    ),
  ];
}

// Returns true if a process reported the memory. A chart of traces also needs a value above 0,
// because few programs use traces.
function isWorthAChart(line, memory) {
  const known = (value) => (memory === 'trace' ? value > 0 : value !== null);
  return line !== undefined && STACKS[memory].some((kind) => line[kind].some(known));
}

export class TimelineView {
  constructor(cursor) {
    this.cursor = cursor;
    this.rows = new Memo();
    this.title = element('h2', {});
    this.words = element('p', { class: 'words' });
    this.message = element('p', { class: 'empty', hidden: true });
    const height = () => Math.max(150, Math.min(330, Math.floor((window.innerHeight - 420) / 2)));
    this.charts = ['l1', 'dram', 'trace'].map((memory) => new Chart(memory, cursor, height));
    this.table = new Table({
      label: 'Marks and failures',
      columns,
      sort: 'Time',
      tallest: 10,
      look: (row) => (row.what === 'failure' ? 'bad' : row.what),
      open: (row) => cursor.pick(row.time_ns),
    });
    this.node = element(
      'div',
      { class: 'view' },
      element('div', { class: 'toolbar' }, this.title, this.words, this.#buttons()),
      this.message,
      ...this.charts.map((chart) => chart.node),
      element(
        'section',
        { class: 'panel' },
        element('h2', {}, 'Marks, failures and gaps'),
        this.table.node,
      ),
    );
  }

  #buttons() {
    const button = (words, title, onclick) =>
      element('button', { type: 'button', title, 'aria-label': title, onclick }, words);
    return element(
      'div',
      { class: 'choices' },
      element('span', { class: 'note' }, 'Drag to zoom'),
      button('+', 'Closer (+)', () => this.cursor.zoomBy(0.5)),
      button('−', 'Further away (-)', () => this.cursor.zoomBy(2)),
      button('Whole', 'The whole time (0 or double click)', () => this.cursor.whole()),
    );
  }

  update(state, place, device, key) {
    const { recording } = state;
    if (!recording) return;
    const { timeline, shown, range, stop, zoomed } = recording;
    const line = shown.lines.find((one) => one.key === key);
    const whole = timeline.lines.find((one) => one.key === key);
    setText(this.title, whole ? deviceTitle(whole, timeline.lines) : 'No device');
    const [from, to] = range.map((ns) => format.moment(ns));
    const events = format.plural(timeline.events, 'event');
    setText(this.words, zoomed ? `${from} to ${to}` : `${to}, ${events}`);
    show(this.message, !hasCharts || !line);
    setText(this.message, line ? NO_CHARTS : 'No process reported a device.');
    const moment = stop?.time ?? null;
    this.charts.forEach((chart) => {
      show(chart.node, hasCharts && isWorthAChart(line, chart.memory));
      if (chart.node.hidden) return;
      const of = shown; // the timeline that contains the line
      chart.set({ line, of, end: of.to_ns, range, moment, timeline, window: null }, device);
    });
    if (this.rows.changed(timeline, whole))
      this.table.set(whole ? signRows(timeline, whole) : [], 'The program set no marks.');
  }

  key(name) {
    return this.table.key(name);
  }
}
