// SPDX-License-Identifier: Apache-2.0
// The place looked at, kept in the address, so that a link leads somebody else to it.

// What an address without these means.
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
  find: '', // among the processes of the devices
  // Of a recording: which of two, the moment, the stretch of time, the memory of the strip, what
  // the peak shows and the part of it that is looked at.
  run: '',
  t: '',
  from: '',
  to: '',
  memory: 'l1',
  peak: '',
  path: '',
};

// Of these, other values than those named mean the usual one.
const CHOICES = {
  paint: ['use', 'headroom', 'kind'],
  group: ['', 'scope', 'label', 'kind'],
  memory: ['l1', 'dram'],
  peak: ['l1', 'dram', 'end'],
};

// Browsers ignore, or forbid, more than 100 to 200 changes of the address within half a minute: who
// drags the cursor makes more. So many are written at once, one more after each such time.
const WRITES = 50;
const WRITE_MS = 600;

// Replaces the address, the last one that was asked for in any case.
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

  // An entry of its own in the history of the browser.
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

  // What waits is not written: somebody went elsewhere.
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
  #address = null; // of `values`; that of the browser may come later

  // `views`: the names of those that there are
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

  // Takes over the address; false when it says what is known.
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

  // Goes to another place; what is not named stays. A step of typing or of the arrows (`quiet`)
  // replaces the entry in the history of the browser.
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
