// SPDX-License-Identifier: Apache-2.0
// The points of a device over time: fetched once, then only what is new.

export class History {
  #asked = null; // ends the question that is under way
  #notBefore = 0;
  #all = true; // what is known is not of this device and this time

  constructor(source, changed) {
    this.source = source;
    this.changed = changed;
    this.key = null;
    this.seconds = 0;
    this.points = null; // null: not known yet
    this.error = null;
  }

  async keep(key, seconds) {
    if (key !== this.key || seconds !== this.seconds) this.#begin(key, seconds);
    if (this.#asked || this.source.state.lost || performance.now() < this.#notBefore) return;
    const asked = new AbortController();
    this.#asked = asked;
    try {
      const got = await this.source.history(key, this.#missing(), asked.signal);
      if (asked.signal.aborted) return;
      this.#merge(got);
      this.error = null;
    } catch (error) {
      if (asked.signal.aborted) return;
      this.error = error.message;
    }
    this.#asked = null;
    const interval = this.seconds > 3600 && !this.error ? 30000 : 900;
    this.#notBefore = performance.now() + interval;
    this.changed();
  }

  // What was asked for before does not matter any more. The points of the same device stay until
  // there are those of the other time.
  #begin(key, seconds) {
    this.#asked?.abort();
    this.#asked = null;
    this.#notBefore = 0;
    this.#all = true;
    this.error = null;
    if (key !== this.key) this.points = null;
    Object.assign(this, { key, seconds });
  }

  // How many seconds back have to be asked for, by the clock of the server. By the minute, all: the
  // last one still grows.
  #missing() {
    const last = this.points?.at(-1);
    if (!last || this.#all || this.seconds > 3600) return this.seconds;
    const since = Math.ceil((this.source.state.time - last.time_unix_ns) / 1e9) + 3;
    return Math.max(3, Math.min(this.seconds, since));
  }

  #merge(got) {
    const first = got.points[0]?.time_unix_ns ?? Infinity;
    const all = this.#all || this.seconds > 3600;
    const kept = all ? [] : this.points.filter((one) => one.time_unix_ns < first);
    const points = kept.concat(got.points);
    const oldest = (points.at(-1)?.time_unix_ns ?? 0) - this.seconds * 1e9;
    this.points = points.filter((one) => one.time_unix_ns >= oldest);
    this.interval = got.interval_seconds;
    this.#all = false;
  }
}
