// SPDX-License-Identifier: Apache-2.0
// The sources of the page's data. A source has
//   state                the current data, see State
//   start(changed)       starts the source; calls changed(state) after every answer
//   wantCores(key)       chooses the device whose per-core figures are in state.cores; null: none
//   history(key, s, signal)    returns the points of the last s seconds, as /api/v1/history
//   list(name, query, signal)  returns the document of allocations, programs or postmortems, or of a
//                              snapshot with the cores and the lists of a device
//   pause(paused)        stops or resumes the updates
//   look(place)          sets the run, the moment and the time range; live sources ignore it
//   recorded             true: the data never changes by itself, and requests are cheap
// LiveSource requests the changes from a server every second. RecordingSource (recording_source.js)
// has the moments of a recording.

import { askForToken, authorization } from './token.js';

const INTERVAL_MS = 1000;
// A working server answers within milliseconds; a list of 100,000 allocations takes a second.
const PATIENCE_MS = 5000;
const LONG_PATIENCE_MS = 30000;

export class State {
  number = null; // number of the last answer
  host = null;
  time = null; // in nanoseconds since 1970
  devices = new Map(); // key -> the device as in ttmem.snapshot.v1, without per_core
  recording = null; // the recording, see recording_source.js; null: live
  cores = null; // {key, per_core}
  lists = {}; // list name -> number or text that differs for each version of the list
  noLists = null; // reason why there are no lists
  warnings = [];
  complete = true;
  lost = null; // time since which answers fail, ms; null: the server answers
  answered = true; // false: the server did not answer at all
  error = null; // message of the last failure
  restarted = null; // time when the server was restarted, ms
  paused = false;

  // Returns the devices to choose from, key -> {key, id, ids, other_uids}.
  get choices() {
    return this.devices;
  }
  get usual() {
    return this.devices.keys().next().value ?? null;
  }
}

// The error for a server that does not answer, or not in time.
class NoAnswer extends Error {}

// Requests `path` and returns read(response). `patience` is the maximum time in milliseconds; null:
// no limit. `signal` aborts the request. An error has the server's own message if there is one.
export async function get(path, read, { patience = null, signal = null } = {}) {
  const late = patience === null ? null : AbortSignal.timeout(patience);
  const ends = [late, signal].filter(Boolean);
  // Made outside the try block, because an invalid header is not a network error.
  const headers = new Headers(authorization());
  try {
    const response = await fetch(path, {
      cache: 'no-store',
      signal: AbortSignal.any(ends),
      headers,
    });
    if (response.ok) return await read(response);
    if (response.status === 401) askForToken();
    const answer = await response.json().catch(() => ({}));
    throw new Error(answer.error ?? `the server answered ${response.status}`);
  } catch (error) {
    if (late?.aborted) throw new NoAnswer(`no answer within ${patience / 1000} s`);
    // fetch() throws a TypeError if the server cannot be reached.
    if (error instanceof TypeError) throw new NoAnswer('the server cannot be reached');
    throw error;
  }
}

export const getJson = (path, options) => get(path, (response) => response.json(), options);

export class LiveSource {
  recorded = false;
  state = new State();
  #changed = () => {};
  #cores = null; // key of the device whose per-core figures are wanted
  #coresNumber = null;
  #timer = null;
  #asking = false;

  start(changed) {
    this.#changed = changed;
    document.addEventListener('visibilitychange', () => this.#again(0));
    this.#again(0);
  }

  wantCores(key) {
    if (key === this.#cores) return;
    this.#cores = key;
    this.#coresNumber = null;
    this.state.cores = null;
    if (key !== null) this.#again(0);
  }

  pause(paused) {
    this.state.paused = paused;
    this.#again(0);
    this.#changed(this.state);
  }

  look() {}

  history(key, seconds, signal) {
    const path = `api/v1/history?device=${encodeURIComponent(key)}&seconds=${seconds}`;
    return getJson(path, { patience: LONG_PATIENCE_MS, signal });
  }

  list(name, query, signal) {
    const asked = new URLSearchParams(query).toString();
    const path = `api/v1/${name}${asked ? `?${asked}` : ''}`;
    return getJson(path, { patience: LONG_PATIENCE_MS, signal });
  }

  // Schedules the next request in `ms` milliseconds; never while the page is hidden or paused.
  #again(ms) {
    clearTimeout(this.#timer);
    if (document.hidden || this.state.paused || this.#asking) return;
    this.#timer = setTimeout(() => this.#ask(), ms);
  }

  async #ask() {
    this.#asking = true;
    const [begin, beginMs] = [performance.now(), Date.now()];
    const cores = this.#cores;
    let wait = INTERVAL_MS;
    try {
      this.#take(await getJson(this.#question(), { patience: PATIENCE_MS }), cores);
      // If the user chose another device meanwhile, requests its cores at once.
      wait = this.#cores !== cores ? 0 : INTERVAL_MS - (performance.now() - begin);
    } catch (error) {
      this.state.lost ??= beginMs;
      this.state.answered = !(error instanceof NoAnswer);
      this.state.error = error.message;
    }
    this.#asking = false;
    // Schedules the next request before changed() draws, so that an error while drawing cannot stop
    // the requests.
    this.#again(Math.max(0, wait));
    this.#changed(this.state);
  }

  #question() {
    const asked = new URLSearchParams();
    if (this.state.number !== null) asked.set('after', this.state.number);
    if (this.#cores !== null) asked.set('cores', this.#cores);
    if (this.#coresNumber !== null) asked.set('cores_after', this.#coresNumber);
    return `api/v1/changes?${asked}`;
  }

  #take(answer, cores) {
    const state = this.state;
    if (answer.all && state.number !== null) {
      state.restarted = Date.now();
      state.devices.clear();
      state.cores = null;
    }
    state.lost = null;
    state.number = answer.number;
    state.time = answer.time_unix_ns;
    state.host = answer.host ?? state.host;
    state.lists = answer.lists;
    state.warnings = answer.warnings ?? state.warnings;
    state.complete = answer.complete ?? state.complete;
    for (const { key, device } of answer.devices) state.devices.set(key, { ...device, key });
    if (answer.present) {
      const known = state.devices;
      state.devices = new Map(
        answer.present.filter((key) => known.has(key)).map((key) => [key, known.get(key)]),
      );
    }
    if (answer.cores && cores === this.#cores) {
      state.cores = answer.cores;
      this.#coresNumber = answer.cores.number;
    }
    // Requests a snapshot again only after the allocations or the figures of the cores have
    // changed.
    state.lists.snapshot = `${answer.lists.allocations} ${this.#coresNumber}`;
  }
}

// Keeps the document of a list up to date while its view is open. Requests the list when it has a
// new number. After an answer of a live source, waits before the next request: ten times as long as
// the answer took, at least 900 ms.
export class ListKeeper {
  #key = null;
  #number = null;
  #asked = null; // AbortController of the current request
  #notBefore = 0;

  // `changed()` is called after each new document or error.
  constructor(source, name, changed) {
    this.source = source;
    this.name = name;
    this.changed = changed;
    this.document = null;
    this.error = null;
  }

  // Returns why a list is empty. `all` is the number of rows before the search; `nothing` is the
  // text if there are none.
  whyEmpty(all, nothing) {
    if (this.error) return `The list cannot be read: ${this.error}`;
    if (!this.document) return 'Waiting for the list …';
    if (this.source.state.noLists) return this.source.state.noLists;
    return all > 0 ? 'Nothing matches the search.' : nothing;
  }

  // Returns the text that follows the title of a list: that the list is cut or out of date.
  get remarks() {
    if (!this.document) return '';
    const { total, truncated } = this.document;
    const cut = truncated ? ` · only the first of ${total.toLocaleString('en')}` : '';
    return this.error ? `${cut} · from before: ${this.error}` : cut;
  }

  async keep(query) {
    const key = JSON.stringify(query);
    if (key !== this.#key) this.#begin(key);
    const number = this.source.state.lists[this.name];
    if (
      this.#asked ||
      this.source.state.lost ||
      number === undefined ||
      number === this.#number ||
      performance.now() < this.#notBefore
    )
      return;
    const asked = new AbortController();
    this.#asked = asked;
    const begin = performance.now();
    try {
      const got = await this.source.list(this.name, query, asked.signal);
      if (asked.signal.aborted) return;
      this.document = got;
      this.#number = number;
      this.error = null;
    } catch (error) {
      if (asked.signal.aborted) return;
      this.error = error.message;
    }
    this.#asked = null;
    const wait = this.source.recorded ? 0 : Math.max(900, 10 * (performance.now() - begin));
    this.#notBefore = performance.now() + wait;
    this.changed();
  }

  // Starts with another list, and drops the current request.
  #begin(key) {
    this.#asked?.abort();
    this.#asked = null;
    this.#key = key;
    this.#number = null;
    this.#notBefore = 0;
    this.document = null;
    this.error = null;
  }
}
