// SPDX-License-Identifier: Apache-2.0
// A recording as the source of the page. The state is the state at the current moment. The
// document, ttmem.view.v1, comes from `ttmem view` or is in the page (`ttmem report --html`).
// The state has these additional members:
//   recording            see recording.js; null until the document has arrived
//   error                why the document cannot be read; null: it can
import { aggregated, NO_LISTS } from './aggregate.js';
import { Memo } from './grouping.js';
import { named, nearest } from './moments.js';
import { isNamed } from './process_rows.js';
import { Recording } from './recording.js';
import { getJson, State } from './source.js';

// The delay before a request for a finer timeline. Such a request may take the server seconds, so
// several quick zooms make only one request.
const SETTLE_MS = 150;

// Reads the recording that is embedded in a single-file page (`ttmem report --html`), as gzip in
// base64.
async function readInside() {
  const text = atob(document.getElementById('recording').textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
  const unpacking = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(unpacking).json();
}

class RecordedState extends State {
  get choices() {
    return this.recording?.choices ?? new Map();
  }
  get usual() {
    const { fullest, timeline } = this.recording ?? {};
    const same = (line) =>
      line.key === fullest?.device.uid || (!fullest?.device.uid && line.id === fullest?.device.id);
    return (timeline?.lines.find(same) ?? timeline?.lines[0])?.key ?? null;
  }
}

export class RecordingSource {
  recorded = true;
  state = new RecordedState();
  #changed = () => {};
  #cores = null; // key of the device whose per-core figures are wanted
  #document = null;
  #shown = new Memo();
  #asked = null; // AbortController of the request for a finer timeline
  #number = 0;

  // `served`: the document comes from `ttmem view`; else it is in the page.
  constructor(served) {
    this.served = served;
  }

  async start(changed) {
    this.#changed = changed;
    try {
      this.#document = await (this.served ? getJson('api/v1/recording') : readInside());
    } catch (error) {
      this.state.error = error.message;
    }
    changed(this.state);
  }

  pause() {}

  wantCores(key) {
    this.#cores = key;
    this.#setCores();
  }

  history() {
    return Promise.reject(new Error('a recording has a timeline instead'));
  }

  // Sets the run, the time range and the moment from the address.
  look(place) {
    if (!this.#document) return;
    const run = place.run === '1' && this.#document.runs.length > 1 ? 1 : 0;
    const { state } = this;
    if (state.recording?.run !== run) state.recording = new Recording(this.#document, run);
    const { recording } = state;
    recording.setRange(place.from, place.to);
    this.#refine(recording);
    const { stops, usualTime } = recording;
    recording.position = place.t === '' ? nearest(stops, usualTime) : named(stops, place.t);
    if (this.#shown.changed(run, recording.stop)) this.#take(recording);
  }

  // Requests the moments of the zoomed range if the timeline lacks some of them.
  #refine(recording) {
    const { timeline, zoomed, range } = recording;
    const worth = this.served && zoomed && (timeline.thinned || timeline.moments_thinned);
    const key = worth ? `run=${recording.run}&from=${range[0]}&to=${range[1]}` : null;
    if (key === recording.fineKey) return;
    recording.fineKey = key;
    recording.fineError = null;
    recording.setFine(null);
    this.#asked?.abort();
    this.#asked = key === null ? null : new AbortController();
    recording.reading = key !== null;
    if (key !== null) this.#ask(recording, key, this.#asked.signal);
  }

  async #ask(recording, key, signal) {
    try {
      await new Promise((done) => setTimeout(done, SETTLE_MS));
      signal.throwIfAborted();
      const fine = await getJson(`api/v1/timeline?${key}`, { signal });
      recording.setFine(fine);
    } catch (error) {
      if (signal.aborted) return;
      recording.fineError = error.message;
    }
    recording.reading = false;
    this.#changed(this.state);
  }

  // Sets the state to the current moment.
  #take(recording) {
    const { state } = this;
    const { timeline, stop } = recording;
    const moment = stop?.timeline.moments[stop.index];
    const started = timeline.started_unix_ns;
    state.number = ++this.#number;
    const { number } = state;
    state.lists = { allocations: number, programs: number, snapshot: number };
    state.host = timeline.host;
    state.time = started === null || !stop ? null : started + stop.time;
    state.noLists = timeline.aggregate ? NO_LISTS : null;
    state.devices = new Map(
      (moment?.devices ?? []).map(([key, figures]) => [key, deviceAt(stop, key, figures)]),
    );
    this.#setCores();
  }

  #setCores() {
    const { recording } = this.state;
    const stop = recording?.stop;
    const moment = stop?.timeline.moments[stop.index];
    const [key, , cores] = moment?.devices.find(([one]) => one === this.#cores) ?? [];
    const known = cores !== undefined && cores !== null && !recording.timeline.aggregate;
    this.state.cores = known ? { key, per_core: stop.timeline.cores[cores] } : null;
  }

  // Returns a list like the server's: filtered by device, process and kinds.
  async list(name, query = {}) {
    if (name !== 'snapshot') return this.#list(name, query);
    return {
      devices: this.#deviceWithCores(query.device),
      ...this.#list('allocations', query),
      ...this.#list('programs', { device: query.device }),
    };
  }

  // Returns a list with the device and its cores, or an empty list if its cores are unknown.
  #deviceWithCores(key) {
    const device = this.state.devices.get(key);
    const { cores } = this.state;
    return device && cores?.key === key ? [{ ...device, per_core: cores.per_core }] : [];
  }

  #list(name, query) {
    const stop = this.state.recording?.stop;
    const { index } = stop ?? {};
    const kinds = query.kind?.split(',');
    const wanted = ({ first, last, keys, segment, row }) =>
      first <= index &&
      index <= last &&
      (!query.device || keys.includes(query.device)) &&
      (!query.pid || isNamed(row, segment, query.pid)) &&
      (!kinds || kinds.includes(row.kind));
    const { timeline } = stop ?? {};
    const rows = timeline && !timeline.aggregate ? timeline[name].filter(wanted) : [];
    return { [name]: rows.map((one) => rowAt(one, timeline, stop.time)) };
  }
}

// Returns the device at a stop; `figures` is an index into the figures of the timeline.
function deviceAt({ timeline, time }, key, figures) {
  const device = timeline.figures[figures];
  const line = timeline.lines.find((one) => one.key === key);
  return { ...(timeline.aggregate && line ? aggregated(device, line, time) : device), key };
}

// Returns a row of a list with its age at `time`. Programs with equal circular buffers share one
// entry of timeline.layouts.
function rowAt({ row, begin_ns: begin, cbs }, timeline, time) {
  const aged = { ...row, age_ns: time - begin };
  return cbs === undefined ? aged : { ...aged, cbs: timeline.layouts[cbs] };
}
