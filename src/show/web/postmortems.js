// SPDX-License-Identifier: Apache-2.0
// View 6: the processes that died while they held memory, and that memory.
import { element, setText, show } from './dom.js';
import * as format from './format.js';
import { numberRanges } from './process_rows.js';
import { ListKeeper } from './source.js';

const KINDS = [
  ['dram_bytes', 'DRAM'],
  ['l1_bytes', 'L1 buffers'],
  ['l1_small_bytes', 'L1_SMALL'],
  ['cb_bytes', 'CB'],
  ['kernels_bytes', 'Kernels'],
  ['trace_bytes', 'Trace'],
];

function heldRow(held) {
  const cells = [
    format.bytes(held.used_bytes),
    format.KINDS[held.kind],
    format.text(held.label),
    `device ${numberRanges(held.devices)}`,
    format.hex(held.address),
  ];
  return element(
    'tr',
    {},
    cells.map((text) => element('td', {}, text)),
  );
}

function card(dead) {
  const held = KINDS.filter(([field]) => dead[field] !== 0)
    .map(([field, name]) => `${name} ${format.bytes(dead[field])}`)
    .join(' · ');
  return element(
    'article',
    { class: 'card dead' },
    element('h2', {}, `${format.text(dead.name)} · PID ${dead.pid}`),
    element(
      'p',
      { class: 'words' },
      `of ${format.text(dead.user)}, found at ${format.clock(dead.found_unix_ns)}` +
        `${dead.removed ? '' : ', its segment is still there (ttmem clean)'}`,
    ),
    element('p', { class: 'command' }, format.text(dead.command)),
    element(
      'p',
      {},
      `Held on all its devices: ${held || 'nothing'}, ` +
        `in ${format.plural(dead.allocations, 'allocation')}.`,
    ),
    dead.largest.length > 0
      ? element(
          'div',
          { class: 'wide' },
          element(
            'table',
            {},
            element('caption', {}, 'The largest allocations: bytes per device'),
            element('tbody', {}, dead.largest.map(heldRow)),
          ),
        )
      : null,
  );
}

export class PostmortemsView {
  constructor(go, source) {
    this.keeper = new ListKeeper(source, 'postmortems', () => this.#draw());
    this.title = element('h2', {}, 'Post-mortems');
    this.message = element('p', { class: 'empty' });
    this.cards = element('div', { class: 'cards few' });
    this.node = element(
      'div',
      { class: 'view' },
      element(
        'div',
        { class: 'toolbar' },
        this.title,
        element(
          'p',
          { class: 'words' },
          'Processes that ended without freeing what they held, the latest first',
        ),
      ),
      this.message,
      this.cards,
    );
  }

  update() {
    this.keeper.keep({});
    this.#draw();
  }

  #draw() {
    const { document: list } = this.keeper;
    const dead = list?.postmortems ?? [];
    const nobody = 'No process has died with memory since the server started.';
    setText(this.message, this.keeper.whyEmpty(0, nobody));
    show(this.message, dead.length === 0);
    if (list === this.drawn) return;
    this.drawn = list;
    setText(this.title, list ? `Post-mortems: ${format.count(list.total)}` : 'Post-mortems');
    this.cards.replaceChildren(...dead.map(card));
  }

  key() {
    return false;
  }
}
