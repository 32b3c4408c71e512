// SPDX-License-Identifier: Apache-2.0
// Moves through a recording: to another moment or to another time range. All moves go through the
// address of the page.
import { isMark, isPeak, nameOf, nearest, withReason } from './moments.js';

const LEAST_RANGE_NS = 10;

export class Cursor {
  constructor(go, source) {
    this.go = go;
    this.source = source;
  }

  get #recording() {
    return this.source.state.recording;
  }

  #stopAt(position) {
    const { stops } = this.#recording;
    const known = position !== null && stops[position];
    if (known) this.go({ t: nameOf(stops, position), ...this.#followed(known.time) }, true);
  }

  // Returns the zoomed range, moved so that it contains `time`; {} if nothing is zoomed or the
  // range already contains `time`.
  #followed(time) {
    const { range, zoomed, timeline } = this.#recording;
    if (!zoomed || (time >= range[0] && time <= range[1])) return {};
    const width = range[1] - range[0];
    const most = timeline.end_ns - width;
    const from = Math.round(Math.max(timeline.begin_ns, Math.min(most, time - width / 2)));
    return { from: String(from), to: String(from + width) };
  }

  pick(ns) {
    if (this.#recording) this.#stopAt(nearest(this.#recording.stops, ns));
  }

  step(by) {
    const { stops, position } = this.#recording;
    this.#stopAt(Math.max(0, Math.min(stops.length - 1, position + by)));
  }

  // Goes to the next (`by` 1) or the previous (`by` -1) moment with a reason: a peak, mark or
  // failure. If there is none, goes to the end or the begin of the recording.
  reason(by) {
    const { stops, position } = this.#recording;
    this.#stopAt(withReason(stops, position, by) ?? (by > 0 ? stops.length - 1 : 0));
  }
  mark(by) {
    const { stops, position } = this.#recording;
    this.#stopAt(withReason(stops, position, by, isMark));
  }

  // If the current moment is a peak, goes to the next peak. Otherwise goes to the fullest peak.
  peak() {
    const { stops, position, usualTime } = this.#recording;
    const first = nearest(stops, usualTime);
    const from = stops[position]?.why.some(isPeak) ? position : null;
    if (from === null) return this.#stopAt(first);
    const next = withReason(stops, from, 1, isPeak) ?? withReason(stops, -1, 1, isPeak);
    this.#stopAt(next);
  }

  zoom(from, to) {
    const { begin_ns: begin, end_ns: end } = this.#recording.timeline;
    const range = [Math.max(begin, Math.floor(from)), Math.min(end, Math.ceil(to))];
    if (range[1] - range[0] < Math.min(LEAST_RANGE_NS, end - begin)) return;
    if (range[0] <= begin && range[1] >= end) return this.whole();
    this.go({ from: String(range[0]), to: String(range[1]) });
  }

  // Zooms around the current moment. A `factor` below 1 zooms in.
  zoomBy(factor) {
    const { range, stop } = this.#recording;
    const [from, to] = range;
    const centre = stop && stop.time >= from && stop.time <= to ? stop.time : (from + to) / 2;
    this.zoom(centre - (centre - from) * factor, centre + (to - centre) * factor);
  }

  whole() {
    this.go({ from: '', to: '' });
  }

  // Handles a key. Returns false if `name` is not one of these keys.
  key(name) {
    const keys = {
      ',': () => this.step(-1),
      '.': () => this.step(1),
      '<': () => this.reason(-1),
      '>': () => this.reason(1),
      m: () => this.mark(1),
      M: () => this.mark(-1),
      n: () => this.mark(1), // the same key as in `ttmem top`
      N: () => this.mark(-1),
      P: () => this.peak(),
      '+': () => this.zoomBy(0.5),
      '-': () => this.zoomBy(2),
      0: () => this.whole(),
    };
    if (!this.#recording || !(name in keys)) return false;
    keys[name]();
    return true;
  }
}
