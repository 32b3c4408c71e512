// SPDX-License-Identifier: Apache-2.0
// Widgets of several views: buttons for a choice, and a search box.
import { element } from './dom.js';

export function link(words, onclick) {
  return element('button', { type: 'button', class: 'link', onclick }, words);
}

// A choice between `values`, pairs of a value and its name. `chosen(value)` is called when the user
// chooses another value.
export class Choices {
  constructor(label, values, chosen) {
    this.values = values.map(([value]) => value);
    this.chosen = chosen;
    this.buttons = values.map(([value, name]) =>
      element('button', { type: 'button', onclick: () => chosen(value) }, name),
    );
    this.node = element(
      'div',
      { class: 'choices', role: 'group', 'aria-label': label },
      this.buttons,
    );
  }

  set(value) {
    this.value = value;
    this.buttons.forEach((button, i) => {
      button.setAttribute('aria-pressed', this.values[i] === value);
    });
  }

  next() {
    const now = this.values.indexOf(this.value);
    this.chosen(this.values[(now + 1) % this.values.length]);
  }
}

export class SearchBox {
  constructor(label, typed) {
    this.node = element('input', {
      type: 'search',
      placeholder: 'Search  /',
      'aria-label': label,
      oninput: () => typed(this.node.value),
    });
  }

  // Sets the text from the address, unless the user is typing.
  set(text) {
    if (document.activeElement !== this.node) this.node.value = text;
  }

  focus() {
    this.node.focus();
  }
}
