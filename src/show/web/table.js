// SPDX-License-Identifier: Apache-2.0
// A list of any length: only the visible rows are elements of the page. A click on a header sorts,
// the arrow keys move.
import { element, setText } from './dom.js';

const ROW = 28; // row height in CSS pixels, as in app.css
const SPARE = 8; // extra rows above and below the rows in sight

// A column: {name: also in addresses, head: shown instead of the name, title, value(row) for
// sorting, text(row), number: right-aligned, grow, low: hidden on narrow screens}
export class Table {
  #rows = [];
  #made = new Map(); // position -> element
  #selected = 0;

  // options: label, columns, sort: 'name' or '-name' (descending), sorted(sort), open(row),
  // look(row): a class for the row, tallest: number of rows shown without scrolling
  constructor(options) {
    this.options = options;
    this.sort = options.sort;
    this.head = element(
      'div',
      { class: 'row head', role: 'row' },
      options.columns.map((column) => this.#header(column)),
    );
    this.space = element('div', { class: 'space', role: 'rowgroup' });
    this.body = element(
      'div',
      {
        class: 'scroll',
        tabindex: '0',
        role: 'table',
        'aria-label': options.label,
        onscroll: () => this.#draw(),
        onclick: (event) => this.#clicked(event),
      },
      this.head,
      this.space,
    );
    this.empty = element('p', { class: 'empty', hidden: true });
    this.node = element('div', { class: 'table' }, this.body, this.empty);
    this.#setWidths('', options.columns);
    this.#setWidths(
      '-narrow',
      options.columns.filter((column) => !column.low),
    );
    new ResizeObserver(() => this.#draw()).observe(this.body);
  }

  #header(column) {
    const title = column.title ?? `Sort by ${column.name}`;
    const onclick = () => this.sortBy(column.name);
    return element(
      'div',
      { class: this.#classes(column), role: 'columnheader' },
      element('button', { type: 'button', title, onclick }, column.head ?? column.name),
    );
  }

  // Sets the columns of the grid and the minimum width of a row, for app.css.
  #setWidths(suffix, columns) {
    const width = (column) => column.width ?? (column.grow ? 8 : 6);
    const grid = columns.map((column) =>
      column.grow ? `minmax(${width(column)}rem, ${column.grow}fr)` : `${width(column)}rem`,
    );
    const least = columns.reduce((sum, column) => sum + width(column) + 0.8, 0);
    this.node.style.setProperty(`--columns${suffix}`, grid.join(' '));
    this.node.style.setProperty(`--least${suffix}`, `${least}rem`);
  }

  #classes(column) {
    return ['cell', column.number ? 'number' : '', column.low ? 'low' : ''].join(' ').trim();
  }

  sortBy(name) {
    const column = this.options.columns.find((one) => one.name === name);
    if (!column) return; // the list has no such column
    const down = column.number ? `-${name}` : name;
    const up = column.number ? name : `-${name}`;
    this.sort = this.sort === down ? up : down;
    this.options.sorted?.(this.sort);
    this.set(this.#rows, this.empty.textContent);
  }

  // Sets the order from an address. An unknown column means the default order.
  setSort(sort) {
    const name = sort.replace(/^-/, '');
    const known = this.options.columns.some((one) => one.name === name);
    this.sort = known ? sort : this.options.sort;
  }

  // The key `s` sorts by the next column, the key `r` reverses the order.
  sortNext() {
    const names = this.options.columns.map((one) => one.name);
    const now = names.indexOf(this.sort.replace(/^-/, ''));
    this.sortBy(names[(now + 1) % names.length]);
  }
  sortReverse() {
    this.sortBy(this.sort.replace(/^-/, ''));
  }

  // Sets the rows; `empty` is the text for an empty list. Rows with `fixed` (groups) are not
  // sorted, and no row is sorted if there is no sort column.
  set(rows, empty) {
    this.#rows = this.#inOrder(rows);
    setText(this.empty, empty ?? '');
    this.empty.hidden = rows.length > 0;
    this.#selected = Math.max(0, Math.min(this.#selected, rows.length - 1));
    for (const [i, column] of this.options.columns.entries()) {
      const sorted = this.sort.replace(/^-/, '') === column.name;
      const order = !sorted ? 'none' : this.sort.startsWith('-') ? 'descending' : 'ascending';
      this.head.children[i].setAttribute('aria-sort', order);
    }
    this.body.setAttribute('aria-rowcount', rows.length + 1);
    this.space.style.height = `${rows.length * ROW}px`;
    const tallest = this.options.tallest;
    if (tallest) this.body.style.maxHeight = `${(Math.min(rows.length, tallest) + 1) * ROW + 14}px`;
    this.#draw();
    for (const [position, made] of this.#made) this.#fill(made, position);
  }

  #inOrder(rows) {
    const name = this.sort.replace(/^-/, '');
    const column = this.options.columns.find((one) => one.name === name);
    if (!column || rows.some((row) => row.fixed)) return rows;
    const sign = this.sort.startsWith('-') ? -1 : 1;
    const keyed = rows.map((row) => [column.value(row), row]);
    keyed.sort(([a], [b]) => {
      if (a === b) return 0;
      if (a === null || a === undefined) return 1; // unknown values come last
      if (b === null || b === undefined) return -1;
      return (a < b ? -1 : 1) * sign;
    });
    return keyed.map(([, row]) => row);
  }

  #draw() {
    const first = Math.max(0, Math.floor(this.body.scrollTop / ROW) - SPARE);
    const seen = Math.ceil((this.body.clientHeight || 600) / ROW) + 2 * SPARE;
    const last = Math.min(this.#rows.length, first + seen);
    for (const [position, made] of this.#made) {
      if (position >= first && position < last) continue;
      made.remove();
      this.#made.delete(position);
    }
    for (let i = first; i < last; ++i) {
      if (!this.#made.has(i)) this.#made.set(i, this.#make(i));
    }
  }

  #make(position) {
    const made = element(
      'div',
      { role: 'row', 'data-row': position, 'aria-rowindex': position + 2 },
      this.options.columns.map((column) =>
        element('div', { class: this.#classes(column), role: 'cell' }),
      ),
    );
    made.style.top = `${position * ROW}px`;
    this.#fill(made, position);
    this.space.append(made);
    return made;
  }

  #fill(made, position) {
    const row = this.#rows[position];
    made.className = `row ${this.options.look?.(row) ?? ''}`;
    made.setAttribute('aria-selected', position === this.#selected);
    this.options.columns.forEach((column, i) => {
      const [cell, text] = [made.children[i], column.text(row)];
      if (cell.textContent === text) return;
      cell.textContent = text;
      cell.title = text;
    });
  }

  #clicked(event) {
    const row = event.target.closest('[data-row]');
    if (!row) return;
    this.select(Number(row.dataset.row));
    this.open();
  }

  // Goes to the first row.
  top() {
    this.body.scrollTop = 0;
    this.select(0);
  }

  open() {
    if (this.#rows.length > 0) this.options.open?.(this.#rows[this.#selected]);
  }

  select(position) {
    const to = Math.max(0, Math.min(position, this.#rows.length - 1));
    this.#made.get(this.#selected)?.setAttribute('aria-selected', 'false');
    this.#selected = to;
    const [top, bottom] = [to * ROW, (to + 2) * ROW];
    const box = this.body;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
    this.#draw();
    this.#made.get(to)?.setAttribute('aria-selected', 'true');
  }

  #move(by) {
    this.select(this.#selected + by);
    this.body.scrollIntoView({ block: 'nearest' });
  }

  // Returns true if the list has handled the key.
  key(name) {
    const page = Math.max(1, Math.floor(this.body.clientHeight / ROW) - 2);
    const steps = {
      ArrowUp: -1,
      ArrowDown: 1,
      k: -1,
      j: 1,
      PageUp: -page,
      PageDown: page,
      Home: -Infinity,
      End: Infinity,
    };
    if (name === 'Enter') this.open();
    else if (name === 's') this.sortNext();
    else if (name === 'r') this.sortReverse();
    else if (name in steps) this.#move(steps[name]);
    else return false;
    return true;
  }
}
