// SPDX-License-Identifier: Apache-2.0
// The page: its head, the open view and the keys.
import { Cursor } from './cursor.js';
import { deviceTitle } from './device_card.js';
import { glanced } from './devices.js';
import { element, setText, show } from './dom.js';
import { Elsewhere } from './elsewhere.js';
import * as format from './format.js';
import { fillHelp } from './help.js';
import { Place } from './place.js';
import { RecordingSource } from './recording_source.js';
import { LiveSource } from './source.js';
import { Strip } from './strip.js';
import { liveViews, recordedViews } from './views.js';

const RESTART_NOTICE_MS = 30000;

const byId = (id) => document.getElementById(id);
// live: served by `ttmem serve`; recording: served by `ttmem view`; file: the page contains the
// recording
const kind = document.querySelector('meta[name=ttmem-source]').content;
const source = kind === 'live' ? new LiveSource() : new RecordingSource(kind === 'recording');
const go = (changes, quiet) => place.go(changes, quiet);
const cursor = new Cursor(go, source);
const list = source.recorded ? recordedViews(go, source, cursor) : liveViews(go, source);
const views = Object.fromEntries(list.map((one) => [one.name, one]));
const place = new Place(Object.keys(views), draw);
const strip = source.recorded ? new Strip(byId('strip'), go, cursor, source) : null;
const elsewhere = source.recorded ? new Elsewhere(byId('elsewhere'), source) : null;

// Returns the key of the chosen device: the device in the address, or else the default device.
function chosenKey() {
  return askedKey() ?? source.state.usual;
}

// Returns the key of the device that the address names by key, number or uid; null if there is no
// such device.
function askedKey() {
  const { choices } = source.state;
  const asked = place.values.device;
  if (choices.has(asked)) return asked;
  const devices = [...choices.values()];
  return (devices.find((one) => String(one.id) === asked) ?? calledSo(devices, asked))?.key ?? null;
}

// Returns a device that some process calls by this number or uid. The list may show another number
// or uid for the device.
function calledSo(devices, asked) {
  const names = ({ ids, other_uids }) => [...ids, ...other_uids].map(String);
  return devices.find((device) => names(device).includes(asked)) ?? null;
}

function draw() {
  const begin = performance.now();
  const { state } = source;
  const { view } = place.values;
  source.look(place.values);
  const key = chosenKey();
  const device = state.devices.get(key) ?? null;
  const looked =
    view === 'cores' ? device : view === 'devices' ? glanced(state, place.values, device) : null;
  source.wantCores(looked?.key ?? null);
  drawHead(state, key);
  strip?.update(state, place.values, key, device);
  const main = byId('main');
  const open = views[view].view;
  if (main.firstChild !== open.node) {
    main.replaceChildren(open.node);
    document.body.dataset.view = view;
  }
  const name = state.recording ? `${state.recording.name} · ` : '';
  document.title = `${views[view].title} · ${name}ttmem`;
  open.update(state, place.values, device, key);
  // For tests and measurements: the number of the shown answer, and the time that drawing took.
  document.body.dataset.number = state.number ?? '';
  document.body.dataset.drawMs = (performance.now() - begin).toFixed(2);
}

function drawHead(state, key) {
  const { recording } = state;
  const command = recording?.timeline.command;
  const short = command?.replace(/^\S*\//, ''); // without the folder of the program
  setText(byId('host'), [state.host, short].filter(Boolean).join(' · '));
  if (command) byId('host').title = command;
  drawTabs(recording?.document.runs.length > 1);
  drawChooser(state, key);
  drawWarnings(state);
  drawStatus(state);
  const notice = [noticeOf(state), missingDevice(state, key)].filter(Boolean).join(' ');
  show(byId('notice'), notice !== '');
  setText(byId('notice'), notice);
}

// Returns a notice if the device in the address is gone or never existed.
function missingDevice({ choices }, key) {
  const asked = place.values.device;
  if (asked === '' || askedKey() !== null || !choices.has(key)) return null;
  const where = source.recorded ? 'in this recording' : 'here now';
  const shown = deviceTitle(choices.get(key), [...choices.values()]);
  return `There is no device ${asked} ${where}: ${shown} is shown instead.`;
}

let tabInSight = null; // tab that was scrolled into sight; narrow screens scroll the tabs

function drawTabs(comparing) {
  for (const tab of byId('tabs').children) {
    const current = tab.dataset.view === place.values.view;
    tab.setAttribute('aria-current', current ? 'page' : 'false');
    if (tab.dataset.view === 'compare') show(tab, comparing);
    if (!current || tab.hidden || tab === tabInSight) continue;
    tab.scrollIntoView({ block: 'nearest' });
    tabInSight = tab;
  }
}

function drawStatus(state) {
  const status = byId('status');
  if (source.recorded) {
    status.dataset.state = state.error ? 'lost' : 'recorded';
    return setText(status, state.time === null ? '' : format.clock(state.time));
  }
  status.dataset.state = state.lost ? 'lost' : state.paused ? 'paused' : 'live';
  setText(status, state.lost ? 'no answer' : state.paused ? 'paused' : format.clock(state.time));
}

function noticeOf(state) {
  if (source.recorded) return recordedNotice(state);
  if (state.lost) {
    const what = state.answered ? 'answered with an error' : 'not answered';
    return (
      `The server has ${what} since ${new Date(state.lost).toLocaleTimeString()}: ` +
      `${state.error}. The page shows the last answer. Trying again every second.`
    );
  }
  if (state.restarted && Date.now() - state.restarted < RESTART_NOTICE_MS) {
    return 'The server was started again: its history and post-mortems begin anew.';
  }
  return state.complete
    ? null
    : 'Something could not be read: sums are "at least". The warnings say what.';
}

function recordedNotice(state) {
  if (state.error) return `The recording cannot be read: ${state.error}`;
  return state.recording ? null : 'Reading the recording …';
}

function drawChooser(state, key) {
  const select = byId('device');
  const devices = [...state.choices.values()];
  // Lists show all devices until the user chooses one.
  const lists = ['processes', 'programs'].includes(place.values.view);
  const options = [
    ...(lists ? [['', 'All devices']] : []),
    ...devices.map((one) => [one.key, deviceTitle(one, devices)]),
  ];
  const wanted = options.map((option) => option.join(' ')).join('\n');
  if (select.dataset.options !== wanted) {
    select.dataset.options = wanted;
    select.replaceChildren(...options.map(([value, words]) => element('option', { value }, words)));
  }
  const value = lists && !place.values.device ? '' : (key ?? '');
  if (select.value !== value) select.value = value;
  show(select, devices.length > 1);
}

function drawWarnings(state) {
  const button = byId('warnings-button');
  const items = byId('warnings');
  show(button, state.warnings.length > 0);
  setText(button, format.plural(state.warnings.length, 'warning'));
  if (state.warnings.length === 0) openWarnings(false);
  const text = state.warnings.join('\n');
  if (items.dataset.text === text) return;
  items.dataset.text = text;
  items.replaceChildren(...state.warnings.map((warning) => element('li', {}, warning)));
}

function openWarnings(open) {
  show(byId('warnings'), open);
  byId('warnings-button').setAttribute('aria-expanded', open);
}

function step(by) {
  const keys = [...source.state.choices.keys()];
  if (keys.length === 0) return;
  const now = place.values.device === '' ? (by > 0 ? -1 : 0) : keys.indexOf(chosenKey());
  go({ device: keys[(now + by + keys.length) % keys.length], core: '' }, true);
  document.querySelector('.card.selected')?.scrollIntoView({ block: 'nearest' });
}

const COMMON_KEYS = {
  '[': () => step(-1),
  ']': () => step(1),
  ArrowLeft: () => step(-1),
  ArrowRight: () => step(1),
  a: () => go({ device: '' }),
  w: () => openWarnings(byId('warnings').hidden),
  p: () => source.pause(!source.state.paused),
  ' ': () => source.pause(!source.state.paused),
  o: () => elsewhere?.open(),
  '?': () => byId('help').showModal(),
  F1: () => byId('help').showModal(),
  Escape: () => {
    if (place.values.view !== 'devices') go({ view: 'devices' });
  },
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]'))
    return;
  const typing = event.target.matches('input, select');
  if (typing && event.key === 'Escape') {
    event.target.blur();
    event.preventDefault(); // keeps the text and the filtered list; a second Esc clears both
  }
  if (typing) return;
  // Leaves Enter and the space bar to a focused button.
  if (event.target.matches('button, a, summary') && ['Enter', ' '].includes(event.key)) return;
  const chosen = list[Number(event.key) - 1];
  if (chosen) go({ view: chosen.name });
  else if (views[place.values.view].view.key(event.key));
  else if (strip?.key(event.key));
  else if (COMMON_KEYS[event.key]) COMMON_KEYS[event.key]();
  else return;
  event.preventDefault();
}

function tab({ name, title }, i) {
  const onclick = (event) => {
    event.preventDefault();
    go({ view: name });
  };
  return element(
    'a',
    { href: `#view=${name}`, 'data-view': name, onclick },
    element('kbd', {}, String(i + 1)),
    ` ${title}`,
  );
}

function start() {
  byId('tabs').append(...list.map(tab));
  byId('device').addEventListener('change', () => go({ device: byId('device').value, core: '' }));
  byId('warnings-button').addEventListener('click', () => openWarnings(byId('warnings').hidden));
  byId('help-button').addEventListener('click', () => byId('help').showModal());
  show(byId('elsewhere-button'), elsewhere !== null);
  byId('elsewhere-button').addEventListener('click', () => elsewhere.open());
  fillHelp(byId('help'), kind);
  document.addEventListener('keydown', onKey);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  draw();
  source.start(draw);
}

start();
