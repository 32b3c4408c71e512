// SPDX-License-Identifier: Apache-2.0
// A tree of sizes as nested bars. The width of a bar is its share; the bars below are its parts.
import { element, setText } from './dom.js';
import * as format from './format.js';

const LEAST_SHARE = 0.001; // share of the width below which a bar is too narrow to see
const LEVELS = 24;

// Returns a shade in percent that depends only on the name. Neighbouring bars of one kind then
// usually differ a little.
function shade(name) {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 997;
  return 38 + (sum % 5) * 9;
}

// Returns the parts of a node. All parts smaller than `least` are merged into one part.
function visible(node, least) {
  const small = node.children.filter((part) => part.bytes < least);
  if (small.length < 2) return node.children;
  const name = `${format.count(small.length)} more`;
  const rest = {
    name,
    path: node.path, // a click zooms into the parent
    names: [...node.names, name],
    bytes: small.reduce((sum, part) => sum + part.bytes, 0),
    kinds: [...new Set(small.flatMap((part) => part.kinds))],
    children: [],
  };
  return [...node.children.filter((part) => part.bytes >= least), rest];
}

const HINT = 'A click, or Enter, looks closer; Esc goes back.';

export class Icicle {
  // open(node): called when a bar is clicked
  constructor(open) {
    this.open = open;
    this.bars = element('div', {
      class: 'icicle',
      role: 'group',
      'aria-label': 'Parts, each as wide as its share',
      onmouseover: (event) => this.#say(event.target),
      onfocusin: (event) => this.#say(event.target),
      onmouseleave: () => this.#say(document.activeElement),
      onfocusout: () => this.#say(null),
    });
    this.words = element('p', { class: 'note icicle-words' }, HINT);
    this.node = element('div', {}, this.bars, this.words);
  }

  // Shows the text of a bar below the bars, because a narrow bar has no room for it.
  #say(bar) {
    setText(this.words, bar?.dataset?.words ?? HINT);
  }

  // `root` fills the width; `above` are its ancestors, `whole` is the size of the whole tree.
  set(root, above, whole) {
    const bars = above.map((node, level) => this.#bar(node, level, 0, 1, whole, 'above'));
    const add = (node, level, left, width) => {
      if (level >= above.length + LEVELS) return;
      bars.push(this.#bar(node, level, left, width, whole, ''));
      let at = left;
      for (const part of visible(node, root.bytes * LEAST_SHARE)) {
        const share = root.bytes > 0 ? part.bytes / root.bytes : 0;
        add(part, level + 1, at, share);
        at += share;
      }
    };
    add(root, above.length, 0, 1);
    const levels = Math.max(...bars.map((bar) => Number(bar.dataset.level))) + 1;
    this.bars.style.setProperty('--levels', levels);
    const focused = this.bars.contains(document.activeElement);
    this.bars.replaceChildren(...bars);
    this.#say(null);
    if (focused) bars[above.length].focus(); // keeps the focus for keyboard users
  }

  #bar(node, level, left, width, whole, look) {
    const share = format.percent(format.share(node.bytes, whole));
    const words = `${node.name}  ${format.bytes(node.bytes)}`;
    const fullName = node.names.join('/') || node.name;
    const bar = element(
      'button',
      {
        type: 'button',
        class: `bar-part ${node.kinds.length === 1 ? node.kinds[0] : 'mixed'} ${look}`,
        title: `${fullName}\n${format.bytes(node.bytes)}, ${share}`,
        'data-words': `${fullName} · ${format.bytes(node.bytes)}, ${share}`,
        'data-level': level,
        'data-bytes': node.bytes,
        onclick: () => this.open(node),
      },
      words,
    );
    bar.style.setProperty('--level', level);
    bar.style.setProperty('--shade', `${shade(node.name)}%`);
    bar.style.left = `${100 * left}%`;
    bar.style.width = `${100 * width}%`;
    return bar;
  }
}
