// SPDX-License-Identifier: Apache-2.0
// Formats figures as text, by the same rules as the commands of ttmem. An unknown figure (null) is
// "n/a", never zero.

export const UNKNOWN = 'n/a';
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

// Returns a size such as "1.23 GiB", "29.0 MiB" or "200.0 KiB". `unitOfZero` is the index of the
// unit of a size of 0: 2 (MiB) for a device, 1 (KiB) for a core.
function sized(bytes, unitOfZero) {
  if (bytes === null || bytes === undefined) return UNKNOWN;
  let value = Math.abs(bytes);
  let unit = 0;
  while (unit + 1 < UNITS.length && value >= (unit === 0 ? 1024 : 999.95)) {
    value /= 1024;
    unit += 1;
  }
  if (bytes === 0) unit = unitOfZero;
  const digits = unit === 0 ? 0 : value < 9.995 ? 2 : 1;
  return `${bytes < 0 ? '-' : ''}${value.toFixed(digits)} ${UNITS[unit]}`;
}

export const bytes = (value) => sized(value, 2);
export const coreBytes = (value) => sized(value, 1);

// Marks before a figure that is not exact, as in the commands.
export const AT_LEAST = '>=';
export const AT_MOST = '<=';
export const ESTIMATE = '~';

// Puts a mark before a figure. An unknown figure has no mark.
export const marked = (mark, text) => (text === UNKNOWN ? text : `${mark}${text}`);

// Returns the share of a whole, from 0 to 1; null if either figure is unknown.
export function share(part, whole) {
  if (part === null || part === undefined || !whole) return null;
  return part / whole;
}

export function percent(value) {
  if (value === null) return UNKNOWN;
  if (value > 0 && value < 0.005) return '<1%';
  if (value < 1 && value >= 0.995) return '99%';
  return `${Math.round(value * 100)}%`;
}

export function count(value) {
  return value === null || value === undefined ? UNKNOWN : value.toLocaleString('en');
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

export function hex(value) {
  return value === null || value === undefined ? UNKNOWN : `0x${value.toString(16)}`;
}

export function text(value) {
  return value === null || value === undefined || value === '' ? UNKNOWN : String(value);
}

// Returns a duration such as "4.2 s", "3 min 20 s" or "5 h 12 min".
export function age(ns) {
  if (ns === null || ns === undefined) return UNKNOWN;
  const seconds = ns / 1e9;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1440)} days`;
}

// Returns a time since the begin of a recording, such as "1.276 s" or "2:05.250"; `step` is the
// finest step to show. Times below a millisecond are such as "120 ns" or "1.5 µs"; recordings that
// were imported from a graph without a clock have such times.
export function moment(ns, step = 1e6) {
  if (ns === null || ns === undefined) return UNKNOWN;
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / 1e9) - 1e-9)));
  const seconds = Math.abs(ns) / 1e9;
  const sign = ns < 0 ? '-' : '';
  if (ns === 0 && step < 1e6) return '0 s';
  if (ns !== 0 && seconds < 1e-6) return `${ns} ns`;
  if (ns !== 0 && seconds < 1e-3) return `${+(ns / 1e3).toFixed(3)} µs`;
  if (seconds < 60) return `${sign}${seconds.toFixed(digits)} s`;
  const whole = Math.floor(seconds / 60);
  const rest = (seconds - whole * 60).toFixed(digits).padStart(digits ? digits + 3 : 2, '0');
  const [hours, minutes] = [Math.floor(whole / 60), whole % 60];
  return hours > 0
    ? `${sign}${hours}:${String(minutes).padStart(2, '0')}:${rest}`
    : `${sign}${minutes}:${rest}`;
}

export function clock(unixNs) {
  return unixNs ? new Date(unixNs / 1e6).toLocaleTimeString() : UNKNOWN;
}

// Returns the core ranges [[x0, y0, x1, y1], ...] as text: "(0,0)-(7,0) (3,4)".
export function cores(ranges) {
  if (!ranges) return 'every bank';
  const one = ([x0, y0, x1, y1]) =>
    x0 === x1 && y0 === y1 ? `(${x0},${y0})` : `(${x0},${y0})-(${x1},${y1})`;
  const shown = ranges.slice(0, 4).map(one).join(' ');
  return ranges.length > 4 ? `${shown} and ${ranges.length - 4} more` : shown;
}

export const KINDS = {
  dram: 'DRAM',
  l1: 'L1 buffers',
  l1_small: 'L1_SMALL',
  cb: 'CB',
  kernel: 'Kernels',
  trace: 'Trace',
  system: 'System',
};
