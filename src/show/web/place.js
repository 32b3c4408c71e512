// SPDX-License-Identifier: Apache-2.0
// The current place of the user, kept in the address, so that a link shows other users the same
// place.

// The default values of an address.
const DEFAULTS = {
  view: 'devices',
  device: '',
  core: '',
  paint: 'use',
  pid: '',
  search: '',
  sort: '',
  group: '',
  seconds: '600',
  find: '', // search in the processes of view 1
  // For recordings: the run (of two), the moment, the time range, the memory in the strip, the
  // memory of the peak view, and the zoomed part of the peak.
  run: '',
  t: '',
  from: '',
  to: '',
  memory: 'l1',
  peak: '',
  path: '',
};

// The values that have a fixed set of choices. For any other value in the address, the default is
// used.
const CHOICES = {
  paint: ['use', 'headroom', 'kind'],
  group: ['', 'scope', 'label', 'kind'],
  memory: ['l1', 'dram'],
  peak: ['l1', 'dram', 'end'],
};

// Browsers ignore or forbid more than 100 to 200 changes of the address within 30 seconds, and
// dragging the cursor makes more. WRITES changes are possible at once, and one more after each
// WRITE_MS.
const WRITES = 50;
const WRITE_MS = 600;

// Writes the address at a limited rate. The latest address is always written in the end.
class AddressBar {
  #left = WRITES;
  #since = performance.now();
  #timer = null;
  #waiting = null;

  replace(address) {
    const now = performance.now();
    const more = Math.floor((now - this.#since) / WRITE_MS);
    this.#since += more * WRITE_MS;
    this.#left = Math.min(WRITES, this.#left + more);
    this.#waiting = address;
    if (this.#left > 0) return this.flush();
    this.#timer ??= setTimeout(() => this.flush(), WRITE_MS);
  }

  // Adds an entry to the history of the browser.
  push(address) {
    this.flush();
    history.pushState(null, '', address);
  }

  flush() {
    if (this.#waiting === null) return;
    history.replaceState(null, '', this.#waiting);
    this.#left = Math.max(0, this.#left - 1);
    this.forget();
  }

  // Drops the pending address, because the user has gone to another page.
  forget() {
    clearTimeout(this.#timer);
    this.#timer = this.#waiting = null;
  }
}

function addressOf(values) {
  const parts = new URLSearchParams();
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    if (values[name] !== usual) parts.set(name, values[name]);
  }
  return `#${parts}`;
}

export class Place {
  #bar = new AddressBar();
  #address = null; // address of `values`; the browser's address may be older

  // `views`: names of the views
  constructor(views, changed) {
    this.views = views;
    this.changed = changed;
    window.addEventListener('hashchange', () => {
      this.#bar.forget();
      if (this.read()) this.changed(this.values);
    });
    window.addEventListener('pagehide', () => this.#bar.flush());
    this.read();
  }

  // Reads the values from the address. Returns false if they are unchanged.
  read() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const values = {};
    for (const [name, usual] of Object.entries(DEFAULTS)) values[name] = asked.get(name) ?? usual;
    for (const [name, known] of Object.entries({ view: this.views, ...CHOICES })) {
      if (!known.includes(values[name])) values[name] = DEFAULTS[name];
    }
    const address = addressOf(values);
    const same = address === this.#address;
    this.values = values;
    this.#address = address;
    return !same;
  }

  // Goes to another place and keeps all values that are not in `changes`. If `quiet`, replaces the
  // current entry in the history of the browser instead of adding one. Small steps such as typing
  // or arrow keys are quiet.
  go(changes, quiet = false) {
    const values = { ...this.values, ...changes };
    const address = addressOf(values);
    if (address === this.#address) return;
    this.values = values;
    this.#address = address;
    if (quiet) this.#bar.replace(address);
    else this.#bar.push(address);
    this.changed(values);
  }
}
