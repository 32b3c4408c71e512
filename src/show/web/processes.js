// SPDX-License-Identifier: Apache-2.0
// View 4: the processes, and the live allocations of one process or of all.
import { allocationColumns, chipsOf, searchText, sizeOf } from './allocation_rows.js';
import { element, setText, show } from './dom.js';
import * as format from './format.js';
import { grouped, matching, Memo } from './grouping.js';
import { isNamed, pidOfName, processColumns, processName, processRows } from './process_rows.js';
import { ListKeeper } from './source.js';
import { Table } from './table.js';
import { Choices, link, SearchBox } from './widgets.js';

const GROUPS = [
  ['', 'None'],
  ['scope', 'Scope'],
  ['label', 'Label'],
  ['kind', 'Kind'],
];

function titleOf(pid, list, found, all) {
  const whose = pid ? `Allocations of ${pidOfName(pid)}` : 'Allocations';
  if (!list) return whose;
  if (found === all) return `${whose}: ${format.count(all)}`;
  return `${whose}: ${format.count(found)} of ${format.count(all)}`;
}

export class ProcessesView {
  constructor(go, source) {
    this.go = go;
    this.recorded = source.recorded;
    this.openGroups = new Set();
    this.toggled = 0;
    this.drawn = new Memo();
    this.asked = new Memo();
    this.keeper = new ListKeeper(source, 'allocations', () => this.redraw?.());
    this.#makeLists();
    this.title = element('h2', {});
    this.search = new SearchBox('Search allocations', (search) => go({ search }, true));
    this.groups = new Choices('Group by', GROUPS, (group) => go({ group }));
    this.groups.node.prepend(element('span', { class: 'note' }, 'Group by'));
    this.all = link('all processes', () => go({ pid: '' }));
    const tools = [this.title, this.all, this.search.node, this.groups.node];
    this.node = element(
      'div',
      { class: 'view fill' },
      element('section', { class: 'panel' }, element('h2', {}, 'Processes'), this.processes.node),
      element(
        'section',
        { class: 'panel fill' },
        element('div', { class: 'toolbar' }, tools),
        this.allocations.node,
      ),
    );
  }

  #makeLists() {
    this.processes = new Table({
      label: 'Processes',
      columns: processColumns,
      sort: '-DRAM',
      tallest: 8,
      look: (row) => `${row.state} ${isNamed(row, row.segment, this.pid) ? 'current' : ''}`,
      open: (row) => this.#choose(row),
    });
    this.allocations = new Table({
      label: 'Allocations',
      columns: allocationColumns,
      sort: '-Size',
      sorted: (sort) => this.go({ sort }, true),
      look: (row) => (row.group ? 'group' : row.state),
      open: (row) => this.#toggle(row),
    });
  }

  #choose(row) {
    const pid = processName(row, this.recorded);
    this.go({ pid: pid === this.pid ? '' : pid });
  }

  #toggle(row) {
    if (!row.group) return;
    if (!this.openGroups.delete(row.name)) this.openGroups.add(row.name);
    ++this.toggled;
    this.redraw();
  }

  update(state, place, device, key) {
    this.redraw = () => this.update(state, place, device, key);
    this.pid = place.pid;
    this.devices = [...state.devices.values()];
    this.search.set(place.search);
    this.groups.set(place.group);
    this.allocations.setSort(place.sort);
    const chosen = device ? [device] : []; // null if no process has the device open
    const devices = place.device ? chosen : this.devices;
    const nobody = state.noLists ?? 'No process holds memory of a device.';
    this.processes.set(processRows(devices), nobody);
    show(this.all, place.pid !== '');
    this.keeper.keep({
      ...(place.pid ? { pid: place.pid } : {}),
      ...(place.device && key ? { device: key } : {}),
    });
    this.#list(place);
  }

  #list(place) {
    const { document: list, error } = this.keeper;
    const { search, group, pid } = place;
    // Searches and sorts only after a change, because a long list takes time.
    const { sort } = this.allocations;
    if (!this.drawn.changed(list, error, search, group, sort, this.toggled)) return;
    const all = list?.allocations ?? [];
    const found = matching(all, search, searchText);
    const title = titleOf(pid, list, found.length, all.length);
    setText(this.title, title + this.keeper.remarks);
    const nameOf = (row) => (group === 'kind' ? format.KINDS[row.kind] : row[group]);
    const how = { nameOf, sizeOf, chipsOf: chipsOf(this.devices), open: this.openGroups };
    const rows = group ? grouped(found, how) : found;
    this.allocations.set(rows, this.keeper.whyEmpty(all.length, 'No live allocation.'));
    if (this.asked.changed(search, group, pid)) this.allocations.top();
  }

  // Handles a key. Passes other keys to the list of allocations if it has the focus or shows one
  // process, otherwise to the list of processes.
  key(name) {
    if (name === '/') {
      this.search.focus();
      return true;
    }
    if (name === 'g') {
      this.groups.next();
      return true;
    }
    if (name === 'Escape' && (this.pid || this.search.node.value)) {
      this.go({ pid: '', search: '' });
      return true;
    }
    const list =
      this.allocations.node.contains(document.activeElement) || this.pid
        ? this.allocations
        : this.processes;
    return list.key(name);
  }
}
