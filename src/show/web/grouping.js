// SPDX-License-Identifier: Apache-2.0
// Searching a list, and adding up what belongs together.

// Whether any of some values is another one than at the last question.
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

// Every word must be somewhere in the row; case does not matter.
export function matching(rows, search, textOf) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = textOf(row).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

// A row for each group, the largest first, followed by its members when it is open. `nameOf(row)`
// is the name of its group, null: none.
export function grouped(rows, nameOf, sizeOf, open) {
  const groups = new Map();
  for (const row of rows) {
    const name = nameOf(row);
    const group = groups.get(name) ?? {
      fixed: true,
      group: true,
      name,
      count: 0,
      size: null,
      members: [],
    };
    groups.set(name, group);
    ++group.count;
    const size = sizeOf(row);
    if (size !== null && size !== undefined) group.size = (group.size ?? 0) + size;
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
