// SPDX-License-Identifier: Apache-2.0
// One recording of the document, with the current moment and time range. Pure: no page, no clock.
import { stopsOf } from './moments.js';

// Returns the device, the memory and the time to show first: the fullest peak, as for `ttmem report
// --at peak`.
function fullestPeak(report) {
  const shareOf = (memory) => (memory.peak_bytes ?? 0) / (memory.capacity_bytes || Infinity);
  const peaks = report.devices.flatMap((device) =>
    ['l1', 'dram']
      .filter((memory) => device[memory].peak_time_ns !== null)
      .map((memory) => ({ device, memory, share: shareOf(device[memory]) })),
  );
  const best = peaks.reduce((most, one) => (most && most.share >= one.share ? most : one), null);
  return best && { ...best, time: best.device[best.memory].peak_time_ns };
}

// Returns key -> {key, id, ids, other_uids} for each chip, with all numbers and uids that processes
// ever gave the chip. The devices of one moment may lack some of these numbers and uids.
function choicesOf({ lines, moments, figures }) {
  const choices = new Map(
    lines.map(({ key, id }) => [key, { key, id, ids: new Set(), other_uids: new Set() }]),
  );
  for (const [key, number] of moments.flatMap((moment) => moment.devices)) {
    for (const names of ['ids', 'other_uids'])
      figures[number][names].forEach((name) => choices.get(key)?.[names].add(name));
  }
  return choices;
}

// One run of the document, with the current moment and time range.
export class Recording {
  constructor(document, run) {
    this.document = document;
    this.run = run; // index of the run in the document
    Object.assign(this, document.runs[run]); // sets name, timeline, report, leaks
    this.fullest = fullestPeak(this.report);
    this.choices = choicesOf(this.timeline);
    this.position = -1; // index of the current stop
    this.setFine(null);
  }

  // Sets the finer timeline of a part of the recording; null removes it.
  setFine(fine) {
    this.fine = fine;
    this.stops = stopsOf(this.timeline, fine);
  }

  // Sets the visible time range: the whole time, or the zoomed range.
  setRange(from, to) {
    const { begin_ns: begin, end_ns: end } = this.timeline;
    const within = (text, usual) =>
      Math.max(begin, Math.min(end, text === '' ? usual : Math.round(Number(text))));
    const range = [within(from, begin), within(to, end)];
    const valid = range[0] < range[1];
    this.range = valid ? range : [begin, end];
    this.zoomed = valid && (range[0] > begin || range[1] < end);
  }

  // Returns the finest timeline of the visible range.
  get shown() {
    return this.fine ?? this.timeline;
  }
  get stop() {
    return this.stops[this.position] ?? null;
  }
  get usualTime() {
    return this.fullest?.time ?? this.timeline.end_ns;
  }
}
