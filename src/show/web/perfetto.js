// SPDX-License-Identifier: Apache-2.0
// Sends a trace to Perfetto's page in another window. The trace is passed as a message between
// windows of this browser, so that nothing is uploaded.
import { get } from './source.js';

const ORIGIN = 'https://ui.perfetto.dev';
const PING_MS = 50;
const PATIENCE_MS = 30000;

// Waits until Perfetto can take a trace. Perfetto answers PING with PONG only from then on.
function ready(opened) {
  return new Promise((done, failed) => {
    const end = performance.now() + PATIENCE_MS;
    const stop = (settle, value) => {
      clearInterval(timer);
      removeEventListener('message', listen);
      settle(value);
    };
    const listen = (event) => {
      if (event.source === opened && event.origin === ORIGIN && event.data === 'PONG') stop(done);
    };
    const ping = () => {
      if (opened.closed) return stop(failed, new Error('its window was closed'));
      if (performance.now() > end) return stop(failed, new Error('it did not answer within 30 s'));
      opened.postMessage('PING', ORIGIN);
    };
    addEventListener('message', listen);
    const timer = setInterval(ping, PING_MS);
  });
}

// `path` is the address of the trace; `say(words)` shows the progress.
export async function openInPerfetto(path, name, say) {
  // Opens the window first, because browsers allow that only while a click is handled.
  const opened = window.open(ORIGIN, '_blank');
  if (!opened) return say('The browser did not open a window: allow windows of this page.');
  try {
    say('Reading the trace …');
    const buffer = await get(path, (response) => response.arrayBuffer());
    say('Waiting for Perfetto …');
    await ready(opened);
    const perfetto = { buffer, title: name, fileName: `${name}.pftrace` };
    opened.postMessage({ perfetto }, ORIGIN, [buffer]);
    say('Perfetto has opened the trace in its window.');
  } catch (error) {
    say(`Perfetto did not get it: ${error.message}`);
  }
}
