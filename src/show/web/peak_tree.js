// SPDX-License-Identifier: Apache-2.0
// The parts of a peak as a tree by scope and label. Pure: no page, no clock.
import * as format from './format.js';

// Maximum depth of the tree. Programs may nest scopes to any depth, but each level costs time and
// deep levels are not readable.
const DEEPEST = 64;
const SHARED = '(shared by programs of several names)';

// Returns the scopes of a path. Scopes below the maximum depth are joined to one name.
function scopesOf(scope) {
  const all = scope ? scope.split('/') : [];
  if (all.length <= DEEPEST) return all;
  return [...all.slice(0, DEEPEST - 1), all.slice(DEEPEST - 1).join('/')];
}

// Returns the steps from the root to a row: the scopes, then the label.
function pathOf(row) {
  const scopes = scopesOf(row.scope);
  const leaf = row.shared ? SHARED : row.label || `(${format.KINDS[row.kind]} without a label)`;
  return [...scopes, leaf];
}

// Returns a step of a path as text for the address. The name is encoded, because it may contain any
// character. The kind is part of the step, because a scope and a label, or labels of two kinds, may
// have the same name.
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

// Returns a tree. A node is {name, kind: of a leaf, null for a scope; path: steps from the root;
// names: of the steps; bytes, count, children: largest first; kinds: of all leaves below}. `rows`
// are rows of ttmem.report.v1: {kind, scope, label, bytes, count}.
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

// Returns the node at a path, or the last existing node on the path.
export function nodeAt(root, path) {
  let node = root;
  for (const step of path) {
    const next = node.children.find((one) => one.path.at(-1) === step);
    if (!next) break;
    node = next;
  }
  return node;
}

// Converts a path in the tree to text for the URL of the page, and back.
export const pathText = (path) => path.join('/');
export const parsePath = (text) => (text ? text.split('/') : []);
