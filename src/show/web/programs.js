// SPDX-License-Identifier: Apache-2.0
// View 5: the live programs and their circular buffers.
import { element, setText } from './dom.js';
import * as format from './format.js';
import { matching, Memo } from './grouping.js';
import { ListKeeper } from './source.js';
import { Table } from './table.js';
import { SearchBox } from './widgets.js';

const sized = (name, title, field, text = format.bytes, more = {}) => ({
  name,
  title,
  number: true,
  width: 6,
  value: (row) => row[field],
  text: (row) => text(row[field]),
  ...more,
});

const columns = [
  {
    name: 'Program',
    number: true,
    width: 6,
    value: (row) => row.program,
    text: (row) => String(row.program),
  },
  {
    name: 'Name',
    grow: 2,
    width: 8,
    value: (row) => row.name,
    text: (row) => format.text(row.name),
  },
  {
    name: 'Scope',
    grow: 1,
    width: 6,
    low: true,
    value: (row) => row.scope,
    text: (row) => row.scope ?? '',
  },
  {
    name: 'Dev',
    number: true,
    width: 3,
    value: (row) => row.device,
    text: (row) => format.text(row.device),
  },
  sized('Per core', 'The maximum on one core', 'bytes_per_core', format.coreBytes),
  sized('Cores', 'Cores with its circular buffers', 'cores', format.count, { width: 4 }),
  sized('Physical', 'Over its cores', 'physical_bytes'),
  sized('Exclusive', 'What its end would free', 'exclusive_bytes', format.bytes, { low: true }),
  sized('Logical', 'The plain sum of its circular buffers', 'logical_bytes', format.bytes, {
    low: true,
  }),
  {
    name: 'State',
    width: 6,
    low: true,
    value: (row) => row.resident_cores,
    text: (row) => (row.resident ? 'resident' : 'placed'),
  },
  {
    name: 'PID',
    number: true,
    width: 5,
    low: true,
    value: (row) => row.host_pid ?? row.pid,
    text: (row) => format.text(row.host_pid ?? row.pid),
  },
  {
    name: 'Age',
    number: true,
    width: 7,
    low: true,
    value: (row) => row.age_ns,
    text: (row) => format.age(row.age_ns),
  },
];

const searchText = (row) => [row.program, row.name, row.scope, row.process, row.pid].join(' ');

export class ProgramsView {
  constructor(go, source) {
    this.go = go;
    this.drawn = new Memo();
    this.keeper = new ListKeeper(source, 'programs', () => this.redraw?.());
    this.table = new Table({
      label: 'Programs',
      columns,
      sort: '-Physical',
      look: (row) => row.state,
      sorted: (sort) => go({ sort }, true),
    });
    this.title = element('h2', {});
    this.search = new SearchBox('Search programs', (search) => go({ search }, true));
    this.node = element(
      'div',
      { class: 'view fill' },
      element(
        'section',
        { class: 'panel fill' },
        element('div', { class: 'toolbar' }, this.title, this.search.node),
        this.table.node,
      ),
    );
  }

  update(state, place, device, key) {
    this.redraw = () => this.update(state, place, device, key);
    this.search.set(place.search);
    this.table.setSort(place.sort);
    this.keeper.keep(place.device && key ? { device: key } : {});
    const { document: list, error } = this.keeper;
    if (!this.drawn.changed(list, error, place.search, this.table.sort)) return;
    const all = list?.programs ?? [];
    const found = matching(all, place.search, searchText);
    const title = list ? `Programs: ${format.count(found.length)}` : 'Programs';
    setText(this.title, title + this.keeper.remarks);
    this.table.set(found, this.keeper.whyEmpty(all.length, 'No program is placed here.'));
  }

  key(name) {
    if (name === '/') {
      this.search.focus();
      return true;
    }
    if (name === 'Escape' && this.search.node.value) {
      this.go({ search: '' });
      return true;
    }
    return this.table.key(name);
  }
}
