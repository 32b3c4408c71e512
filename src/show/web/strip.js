// SPDX-License-Identifier: Apache-2.0
// The strip above every view of a recording: the timeline of the device, the moment that all views
// show, and notes about missing data.
import { deviceTitle } from './device_card.js';
import { element, setText, show } from './dom.js';
import * as format from './format.js';
import { reasonWords } from './moments.js';
import { figuresOf, TimeLegend, totalOf } from './time_legend.js';
import { hasCharts, TimePlot } from './time_plot.js';
import { Choices, link } from './widgets.js';

const MEMORIES = [
  ['l1', 'L1'],
  ['dram', 'DRAM'],
];

// Returns notes about data that was left out or lost.
function notesOf(recording, served) {
  const { timeline, shown, zoomed, range, reading, fineError } = recording;
  const between = range.map((ns) => format.moment(ns)).join(' to ');
  const file = zoomed && !served && ' (ttmem view reads a zoomed range in full)';
  return [
    reading && `Reading ${between} …`,
    fineError && `${between} cannot be read in full: ${fineError}`,
    shown.thinned &&
      `Thinned: ${format.count(shown.stretches)} stretches; every peak is kept${file || ''}`,
    shown.moments_thinned &&
      `the cursor stops at ${format.plural(recording.stops.length, 'chosen moment')}`,
    shown.rows_left_out > 0 &&
      `a list lacks its smallest rows, up to ${format.count(shown.rows_left_out)}`,
    timeline.lost_events > 0 &&
      `${format.plural(timeline.lost_events, 'event')} lost (hatched): figures there are at least`,
    !timeline.complete && 'the recorder was killed, or could not write: the end is missing',
    timeline.aggregate && 'an aggregate: peaks and leaks are known, single events are not',
  ].filter(Boolean);
}

// Returns the last mark before a time and its age, such as "step 3 +0.040 s".
function sinceMark({ marks }, time) {
  const mark = marks.findLast((one) => one.time_ns <= time);
  return mark ? `${mark.name} +${format.moment(time - mark.time_ns)}` : '';
}

// Returns true if events were lost at this time.
function isInGap({ gaps }, time) {
  return gaps.some((gap) => gap.begin_ns <= time && time <= gap.end_ns);
}

export class Strip {
  constructor(node, go, cursor, source) {
    Object.assign(this, { node, go, cursor, source });
    this.memories = new Choices('Memory shown', MEMORIES, (memory) => go({ memory }, true));
    this.runs = element('div', {});
    this.title = element('strong', {});
    this.legend = new TimeLegend();
    this.words = element('span', { class: 'moment-words', role: 'status' });
    this.notes = element('p', { class: 'note strip-notes', hidden: true });
    this.plot = new TimePlot({
      small: true,
      height: () => (window.innerWidth < 700 ? 84 : 104),
      pick: (ns) => cursor.pick(ns),
      whole: () => cursor.whole(),
    });
    node.append(
      element('div', { class: 'toolbar' }, this.title, this.memories.node, this.legend.node),
      this.plot.node,
      element('div', { class: 'toolbar strip-foot' }, this.#buttons(), this.words, this.notes),
    );
    node.firstChild.prepend(this.runs);
    show(this.plot.node, hasCharts);
  }

  #buttons() {
    const button = (words, title, onclick) =>
      element('button', { type: 'button', title, 'aria-label': title, onclick }, words);
    this.wholeButton = link('whole time', () => this.cursor.whole());
    return element(
      'div',
      { class: 'moves' },
      button('«', 'To the previous peak, mark or failure (<)', () => this.cursor.reason(-1)),
      button('‹', 'One moment back (,)', () => this.cursor.step(-1)),
      button('›', 'One moment forward (.)', () => this.cursor.step(1)),
      button('»', 'To the next peak, mark or failure (>)', () => this.cursor.reason(1)),
      button('Peak', 'To the peak; pressed again: to the next peak (P)', () => this.cursor.peak()),
      this.wholeButton,
    );
  }

  // `device` is the device of the state with this `key`, or null if no process has the device open
  // at this moment.
  update(state, place, key, device) {
    const { recording } = state;
    show(this.node, recording !== null);
    if (!recording) return;
    const { timeline, shown, range, zoomed, stop } = recording;
    // In the view "timeline" the strip shows the whole time and the zoomed range as a window.
    const overview = place.view === 'timeline';
    const whole = [timeline.begin_ns, timeline.end_ns];
    const of = overview ? timeline : shown;
    const line = of.lines.find((one) => one.key === key) ?? null;
    this.memories.set(place.memory);
    const named = timeline.lines.find((one) => one.key === key);
    setText(this.title, named ? deviceTitle(named, timeline.lines) : 'No device');
    const capacity = line?.[`${place.memory}_capacity_bytes`] ?? null;
    const { memory } = place;
    this.legend.set(memory, figuresOf(device, memory), capacity, totalOf(device, memory));
    this.plot.set({
      line,
      memory: place.memory,
      end: of.to_ns,
      range: overview ? whole : range,
      moment: stop?.time ?? null,
      timeline,
      window: overview && zoomed ? range : null,
    });
    show(this.wholeButton, zoomed);
    this.#say(recording);
    this.#chooseRun(recording);
  }

  #say(recording) {
    const { stop, timeline, stops } = recording;
    const reasons = reasonWords(stop?.why ?? []) || (stop ? sinceMark(timeline, stop.time) : '');
    const when = stop
      ? `${format.moment(stop.time)} of ${format.moment(timeline.end_ns)}`
      : 'no moment';
    const lost = stop && isInGap(timeline, stop.time) ? 'in a gap: figures are at least' : '';
    setText(this.words, [when, reasons, lost].filter(Boolean).join(' · '));
    this.words.title = stop ? `${stop.time} ns since the recording began` : '';
    this.words.dataset.ns = stop?.time ?? '';
    this.words.dataset.stops = stops.length;
    const notes = notesOf(recording, this.source.served);
    show(this.notes, notes.length > 0);
    const words = notes.join(' · ');
    setText(this.notes, words.charAt(0).toUpperCase() + words.slice(1));
  }

  // Shows the choice between two recordings.
  #chooseRun(recording) {
    const { runs } = recording.document;
    show(this.runs, runs.length > 1);
    if (runs.length < 2) return;
    if (!this.runChoices) {
      const names = runs.map((run, i) => [String(i), run.name]);
      const other = (run) => this.go({ run: run === '0' ? '' : run, t: '', from: '', to: '' });
      this.runChoices = new Choices('Recording shown', names, other);
      this.runs.append(this.runChoices.node);
    }
    this.runChoices.set(String(recording.run));
  }

  key(name) {
    if (name === 'd') this.memories.next();
    else if (name === 'x' && this.runChoices) this.runChoices.next();
    else return this.cursor.key(name);
    return true;
  }
}
