// SPDX-License-Identifier: Apache-2.0
// Where the page has its data from. A source has
//   state                what is known now: see State
//   start(changed)       calls changed(state) after every answer
//   wantCores(key)       whose per-core figures state.cores shall have; null: nobody's
//   history(key, s, signal)    points of the last s seconds, as /api/v1/history
//   list(name, query, signal)  the document of allocations, programs or postmortems
//   pause(paused)
//   look(place)          the moment, run and stretch of time looked at; nothing for what is live
//   recorded             true: what it has does not change by itself, and costs nothing to ask for
// LiveSource asks a server every second what has changed; RecordingSource (recording_source.js) has
// the moments of a recording.

import { askForToken, authorization } from './token.js';

const INTERVAL_MS = 1000;
// A server that works answers within milliseconds; a list of 100,000 allocations takes a second.
const PATIENCE_MS = 5000;
const LONG_PATIENCE_MS = 30000;

export class State {
  number = null; // of the last answer
  host = null;
  time = null; // unix ns
  devices = new Map(); // key -> the device as in ttmem.snapshot.v1, without per_core
  recording = null; // of a recording: see recording_source.js
  cores = null; // {key, per_core}
  lists = {}; // numbers of the lists
  noLists = null; // why there are none
  warnings = [];
  complete = true;
  lost = null; // since when the server does not answer, or with an error, ms
  answered = true; // false: it did not answer at all
  error = null; // what was wrong with the last answer
  restarted = null; // when another server was found, ms
  paused = false;

  // The devices that can be chosen, key -> {key, id, ids, other_uids}, and the key of the usual one.
  get choices() {
    return this.devices;
  }
  get usual() {
    return this.devices.keys().next().value ?? null;
  }
}

// There was no answer, or not in time.
class NoAnswer extends Error {}

// What `read(response)` makes of an answer. `patience`: so many milliseconds for all of it; null: as
// long as it takes. `signal` ends it. An error says what was wrong in the words of the server.
export async function get(path, read, { patience = null, signal = null } = {}) {
  const late = patience === null ? null : AbortSignal.timeout(patience);
  const ends = [late, signal].filter(Boolean);
  // Not below: a header that cannot be made says nothing about the network.
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
    // What a browser says of a server that cannot be reached.
    if (error instanceof TypeError) throw new NoAnswer('the server cannot be reached');
    throw error;
  }
}

export const getJson = (path, options) => get(path, (response) => response.json(), options);

export class LiveSource {
  recorded = false;
  state = new State();
  #changed = () => {};
  #cores = null; // whose per-core figures are wanted
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

  // Asks in so many milliseconds; never while the page is hidden or paused.
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
      // Another device was chosen meanwhile: its cores at once.
      wait = this.#cores !== cores ? 0 : INTERVAL_MS - (performance.now() - begin);
    } catch (error) {
      this.state.lost ??= beginMs;
      this.state.answered = !(error instanceof NoAnswer);
      this.state.error = error.message;
    }
    this.#asking = false;
    // First this: whatever is wrong with drawing, the next answer is asked for.
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
  }
}

// Keeps the document of a list while its view is open: asks again when the list has another number,
// and not more often than answers of that size allow.
export class ListKeeper {
  #key = null;
  #number = null;
  #asked = null; // ends the question that is under way
  #notBefore = 0;

  // `changed()` is called when there is a new document, or an error.
  constructor(source, name, changed) {
    this.source = source;
    this.name = name;
    this.changed = changed;
    this.document = null;
    this.error = null;
  }

  // Why a list shows nothing: of `all` rows none is left, or there are none (`nothing`).
  whyEmpty(all, nothing) {
    if (this.error) return `The list cannot be read: ${this.error}`;
    if (!this.document) return 'Waiting for the list …';
    if (this.source.state.noLists) return this.source.state.noLists;
    return all > 0 ? 'Nothing matches the search.' : nothing;
  }

  // Text behind the title of a list that is cut or out of date.
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

  // Another list: what was asked for before does not matter any more.
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
