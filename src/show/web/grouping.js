// SPDX-License-Identifier: Apache-2.0
// Searches a list, and groups its rows with sums.

// Remembers the values of the last call of changed().
export class Memo {
  #values = [];

  changed(...values) {
    const same =
      values.length === this.#values.length &&
      values.every((value, i) => value === this.#values[i]);
    this.#values = values;
    return !same;
  }
}

// Returns the rows that contain every word of the search. Case does not matter.
export function matching(rows, search, textOf) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = textOf(row).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function addSize(group, chips, size) {
  for (const chip of chips) {
    const sum = (group.onChips.get(chip) ?? 0) + size;
    group.onChips.set(chip, sum);
    group.size = Math.max(group.size ?? 0, sum);
    group.sizeOnAll = (group.sizeOnAll ?? 0) + size;
  }
}

// Returns a row for each group, the largest first, each followed by its members if the group is
// open. `nameOf(row)` returns the name of the row's group, or null; `chipsOf(row)` returns a key
// for each device on which the row has its size. The size of a group is its size on the device
// where the group is largest. sizeOnAll is the sum over all devices.
export function grouped(rows, { nameOf, sizeOf, chipsOf, open }) {
  const groups = new Map();
  for (const row of rows) {
    const name = nameOf(row);
    const group = groups.get(name) ?? {
      fixed: true,
      group: true,
      name,
      count: 0,
      size: null,
      sizeOnAll: null,
      onChips: new Map(),
      members: [],
    };
    groups.set(name, group);
    ++group.count;
    const size = sizeOf(row);
    if (size !== null && size !== undefined) addSize(group, chipsOf(row), size);
    group.members.push(row);
  }
  const sorted = [...groups.values()].sort((a, b) => (b.size ?? -1) - (a.size ?? -1));
  return sorted.flatMap((group) => {
    group.open = open.has(group.name);
    if (!group.open) return [group];
    const members = group.members.sort((a, b) => (sizeOf(b) ?? -1) - (sizeOf(a) ?? -1));
    return [group, ...members.map((row) => ({ ...row, fixed: true }))];
  });
}
