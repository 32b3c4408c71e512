// SPDX-License-Identifier: Apache-2.0
// View 8: the charts of two recordings on one time axis, and the result of `ttmem diff`.
import { changeColumns, changeRows, figureColumns, figureRows } from './compare_rows.js';
import { deviceTitle } from './device_card.js';
import { element, setText, show } from './dom.js';
import * as format from './format.js';
import { nameOf, nearest, stopsOf } from './moments.js';
import { Table } from './table.js';
import { timeOfValue, TimeLegend, valuesAt } from './time_legend.js';
import { hasCharts, NO_CHARTS, peakOf, STACKS, TimePlot } from './time_plot.js';

// The chart of one run. After a click on a moment, all views show that moment of this run.
class RunChart {
  constructor(go, number) {
    this.number = number;
    this.title = element('h2', {});
    this.note = element('span', { class: 'note' });
    this.legend = new TimeLegend();
    this.plot = new TimePlot({
      height: () => 150,
      group: 'runs',
      pick: (ns) => this.#pick(go, number, ns),
      hover: (ns) => this.#hovered(ns),
    });
    this.node = element(
      'section',
      { class: 'panel chart', 'data-run': number },
      element('div', { class: 'toolbar' }, this.title, this.note, this.legend.node),
      this.plot.node,
    );
  }

  #pick(go, number, ns) {
    const stops = stopsOf(this.run.timeline, null);
    const position = nearest(stops, ns);
    if (position < 0) return;
    const run = number === 0 ? '' : String(number);
    go({ run, t: nameOf(stops, position), from: '', to: '' }, true);
  }

  // looked: {number: run that all views show, moment, memory, range, top: end of the axis of bytes}
  set(run, line, looked) {
    Object.assign(this, { run, line, looked });
    const { number, moment } = looked;
    setText(this.title, run.name);
    this.node.classList.toggle('selected', number === this.number);
    this.plot.set({
      ...looked,
      line,
      end: run.timeline.to_ns,
      moment: number === this.number ? moment : null,
      timeline: run.timeline,
      window: null,
    });
    this.#hovered(null);
  }

  // Shows the figures at the mouse, or at the current moment.
  #hovered(ns) {
    const { run, line, looked } = this;
    if (!line) return setText(this.note, 'no device');
    const time = Math.min(ns ?? looked.moment ?? Infinity, run.timeline.end_ns);
    const values = valuesAt(line, STACKS[looked.memory], time);
    const when = format.moment(timeOfValue(run.timeline, line, time));
    setText(this.note, `${deviceTitle(line, run.timeline.lines)} at ${when}`);
    this.legend.set(looked.memory, values, line[`${looked.memory}_capacity_bytes`] ?? null);
  }
}

// Returns one line of each run: the line with the key, or else with the same number, or else the
// first line.
function sameLines(runs, looked, key) {
  const id = runs[looked].timeline.lines.find((line) => line.key === key)?.id;
  return runs.map(({ timeline: { lines } }) => {
    const same = lines.find((one) => one.key === key) ?? lines.find((one) => one.id === id);
    return same ?? lines[0] ?? null;
  });
}

export class CompareView {
  constructor(go) {
    this.message = element('p', { class: 'empty', hidden: true });
    this.charts = [new RunChart(go, 0), new RunChart(go, 1)];
    this.figures = new Table({
      label: 'Figures',
      columns: figureColumns,
      sort: '',
      tallest: 16,
      look: (row) => (row.change ? '' : 'same'),
    });
    this.changes = ['l1', 'dram'].map((memory) => ({
      memory,
      title: element('h2', {}),
      table: new Table({
        label: `What changed of ${memory}`,
        columns: changeColumns,
        sort: '-Change',
        tallest: 12,
      }),
    }));
    this.body = element(
      'div',
      { class: 'stack' },
      this.charts.map((chart) => chart.node),
      element('section', { class: 'panel' }, element('h2', {}, 'Figures'), this.figures.node),
      this.changes.map((one) =>
        element('section', { class: 'panel' }, one.title, one.table.node),
      ),
    );
    this.node = element('div', { class: 'view' }, this.message, this.body);
  }

  update(state, place, device, key) {
    const { recording } = state;
    const { runs, diff } = recording?.document ?? { runs: [] };
    show(this.body, runs.length > 1);
    show(this.message, runs.length < 2 || !hasCharts);
    setText(
      this.message,
      runs.length > 1 ? NO_CHARTS : 'There is one recording. Two are compared: ttmem view OLD NEW',
    );
    if (runs.length < 2) return;
    const lines = sameLines(runs, recording.run, key);
    const begin = Math.min(...runs.map((run) => run.timeline.begin_ns));
    const end = Math.max(...runs.map((run) => run.timeline.end_ns));
    const { memory } = place;
    const looked = {
      number: recording.run,
      moment: recording.stop?.time ?? null,
      memory,
      range: [begin, end],
      top: Math.max(...lines.map((line) => (line ? peakOf(line, memory) : 0))),
    };
    this.charts.forEach((chart, i) => {
      show(chart.node, hasCharts);
      chart.set(runs[i], lines[i], looked);
    });
    if (diff && diff !== this.drawn) this.#tables(diff);
    this.drawn = diff;
  }

  #tables(diff) {
    this.figures.set(figureRows(diff));
    for (const { memory, title, table } of this.changes) {
      const rows = changeRows(diff, memory);
      const name = memory === 'l1' ? 'L1' : 'DRAM';
      const changes = format.plural(rows.length, 'change');
      setText(title, `What the ${name} peak of the fullest device is made of: ${changes}`);
      table.set(rows, 'The same in both.');
    }
  }

  // Passes a key to the focused list, or to the list of figures.
  key(name) {
    const lists = [this.figures, ...this.changes.map((one) => one.table)];
    const focused = lists.find((list) => list.node.contains(document.activeElement));
    return (focused ?? this.figures).key(name);
  }
}
