// SPDX-License-Identifier: Apache-2.0
// The recording in other tools: Perfetto opens directly, the other formats are downloads.
import { element, setText } from './dom.js';
import { openInPerfetto } from './perfetto.js';
import { get } from './source.js';
import { link } from './widgets.js';

const FORMATS = {
  perfetto: ['Perfetto', 'a trace for ui.perfetto.dev'],
  pprof: ['pprof', 'a profile for pprof -http=:'],
  'memory-viz': ['memory_viz', 'for pytorch.org/memory_viz'],
  speedscope: ['speedscope', 'for speedscope.app'],
  collapsed: ['collapsed', 'stacks for flamegraph.pl'],
  csv: ['CSV', 'every allocation, for pandas'],
};

function row(left, words) {
  return [element('dt', {}, left), element('dd', {}, words)];
}

// Saves a JSON document of the page as a file.
function download(name, what) {
  save(name, new Blob([JSON.stringify(what, null, 2)], { type: 'application/json' }));
}

function save(name, blob) {
  const address = URL.createObjectURL(blob);
  element('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000); // saving a large file takes time
}

export class Elsewhere {
  constructor(dialog, source) {
    Object.assign(this, { dialog, source });
    this.list = element('dl', {});
    this.words = element('p', { class: 'note', role: 'status' });
    dialog.append(
      element('h2', {}, 'The recording in other tools'),
      this.list,
      this.words,
      element('form', { method: 'dialog' }, element('button', {}, 'Close')),
    );
  }

  open() {
    const { recording } = this.source.state;
    if (!recording) return;
    const { exports } = recording.document;
    setText(this.words, exports.length > 0 ? '' : this.#command(recording.name));
    this.list.replaceChildren(
      ...(exports.includes('perfetto') ? this.#perfetto(recording) : []),
      ...exports.flatMap((format) => this.#link(format, recording)),
      ...this.#documents(recording),
    );
    this.dialog.showModal();
  }

  #command(name) {
    return (
      `This page is one file and has no exports. To export, use the recording: ` +
      `ttmem view ${name} shows this page with all exports; ` +
      `ttmem export ${name} --format perfetto -o run.pftrace writes one.`
    );
  }

  #address(format, recording) {
    return `api/v1/export?run=${recording.run}&format=${format}`;
  }

  #perfetto(recording) {
    const title =
      'Opens ui.perfetto.dev in a new window and hands the trace over inside this browser. ' +
      'Nothing is uploaded.';
    const start = async () => {
      button.disabled = true; // prevents a second window while the first one is loading
      await openInPerfetto(this.#address('perfetto', recording), recording.name, (words) =>
        setText(this.words, words),
      );
      button.disabled = false;
    };
    const attributes = { type: 'button', id: 'perfetto', title, onclick: start };
    const button = element('button', attributes, 'Open in Perfetto');
    return row(button, 'in a new window; nothing is uploaded');
  }

  #link(format, recording) {
    const [name, what] = FORMATS[format] ?? [format, ''];
    const href = this.#address(format, recording);
    const onclick = (event) => {
      event.preventDefault();
      this.#export(href, name);
    };
    return row(element('a', { href, 'data-format': format, onclick }, name), what);
  }

  // Fetches the file in the page, because a download by the browser would not show the server's
  // error message.
  async #export(href, name) {
    setText(this.words, `Reading ${name} …`);
    try {
      const named = (answer) =>
        answer.headers.get('Content-Disposition')?.match(/filename="([^"]+)"/)?.[1] ?? 'export';
      const file = await get(href, async (answer) => [named(answer), await answer.blob()]);
      save(...file);
      setText(this.words, `Saved as ${file[0]}.`);
    } catch (error) {
      setText(this.words, `There is no ${name}: ${error.message}`);
    }
  }

  #documents(recording) {
    const stem = recording.name.replace(/^.*\//, '').replace(/\.ttmem$/, '');
    const button = (words, file, what) => link(words, () => download(file, what));
    return [
      ...row(button('report', `${stem}.report.json`, recording.report), 'as ttmem report --json'),
      ...row(button('leaks', `${stem}.leaks.json`, recording.leaks), 'as ttmem leaks --json'),
    ];
  }
}
