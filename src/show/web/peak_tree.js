// SPDX-License-Identifier: Apache-2.0
// What a peak was made of, as a tree by scope and label. Pure: no page, no clock.
import * as format from './format.js';

// A program may nest scopes as deep as it likes; nobody reads further, and each level costs.
const DEEPEST = 64;
const SHARED = '(shared by programs of several names)';

// Below the deepest level the rest of a scope is one name.
function scopesOf(scope) {
  const all = scope ? scope.split('/') : [];
  if (all.length <= DEEPEST) return all;
  return [...all.slice(0, DEEPEST - 1), all.slice(DEEPEST - 1).join('/')];
}

// The steps from the root to a row: its scopes, then what it is.
function pathOf(row) {
  const scopes = scopesOf(row.scope);
  const leaf = row.shared ? SHARED : row.label || `(${format.KINDS[row.kind]} without a label)`;
  return [...scopes, leaf];
}

// A step of a path for the address: names may hold any letter. A scope and a label, or two kinds of
// one label, may have one name: the kind tells them apart.
function stepOf(name, kind) {
  return kind === null ? encodeURIComponent(name) : `${encodeURIComponent(name)}:${kind}`;
}

function newNode(name, kind, path, names) {
  return { name, kind, path, names, bytes: 0, count: 0, children: [], byStep: new Map() };
}

function child(node, name, kind) {
  const step = stepOf(name, kind);
  let known = node.byStep.get(step);
  if (!known) {
    known = newNode(name, kind, [...node.path, step], [...node.names, name]);
    node.byStep.set(step, known);
    node.children.push(known);
  }
  return known;
}

// A node: {name, kind: of a leaf, or null for a scope; path: steps from the root, names: of these;
// bytes, count, children: largest first, kinds: those below it}. `rows` are those of
// ttmem.report.v1: {kind, scope, label, bytes, count}.
export function treeOf(rows, name) {
  const root = newNode(name, null, [], []);
  for (const row of rows) {
    const path = pathOf(row);
    let node = root;
    const add = () => {
      node.bytes += row.bytes;
      node.count += row.count;
    };
    add();
    path.forEach((step, i) => {
      node = child(node, step, i + 1 === path.length ? row.kind : null);
      add();
    });
  }
  finish(root);
  return root;
}

function finish(node) {
  node.children.sort((a, b) => b.bytes - a.bytes);
  node.children.forEach(finish);
  const below = node.children.flatMap((one) => one.kinds);
  node.kinds = node.kind ? [node.kind] : [...new Set(below)];
  delete node.byStep;
}

// The node at a path; the last one that there is.
export function nodeAt(root, path) {
  let node = root;
  for (const step of path) {
    const next = node.children.find((one) => one.path.at(-1) === step);
    if (!next) break;
    node = next;
  }
  return node;
}

// A path as text for the address.
export const pathText = (path) => path.join('/');
export const parsePath = (text) => (text ? text.split('/') : []);
