// SPDX-License-Identifier: Apache-2.0
// The points of a device over time: all are fetched once, then only new points.

export class History {
  #asked = null; // AbortController of the current request
  #notBefore = 0;
  #all = true; // true: the known points are of another device or another time range

  constructor(source, changed) {
    this.source = source;
    this.changed = changed;
    this.key = null;
    this.seconds = 0;
    this.points = null; // null: not fetched yet
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

  // Starts with another device or time range, and drops the current request. The old points of the
  // same device stay until the new points arrive.
  #begin(key, seconds) {
    this.#asked?.abort();
    this.#asked = null;
    this.#notBefore = 0;
    this.#all = true;
    this.error = null;
    if (key !== this.key) this.points = null;
    Object.assign(this, { key, seconds });
  }

  // Returns how many seconds to fetch, by the clock of the server. A range above an hour has one
  // point per minute. All its points are fetched each time, because the last point still changes.
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
