// SPDX-License-Identifier: Apache-2.0
// How charts over time look: colours of the axes and of the filled kinds.
import { colour, mix } from './dom.js';
import * as format from './format.js';

// The steps of the axis are round numbers of MiB, not of millions.
export const BINARY_STEPS = Array.from({ length: 50 }, (_, i) => 2 ** i);

// How far the axis of bytes reaches: a little above the most; of nothing at all, a round figure.
export function axisEnd(most) {
  return most > 0 ? most * 1.08 : 2 ** 20;
}

// That of time, that of bytes.
export function axes() {
  const line = {
    stroke: colour('dim'),
    grid: { stroke: colour('grid'), width: 1 },
    ticks: { stroke: colour('grid'), width: 1 },
    font: '12px system-ui, sans-serif',
  };
  return [
    { ...line },
    {
      ...line,
      size: 78,
      incrs: BINARY_STEPS,
      values: (_, splits) => splits.map((value) => format.bytes(value)),
    },
  ];
}

export function filled(kind) {
  return { stroke: colour(kind), width: 1.5, fill: mix(colour(kind), colour('card'), 0.3) };
}
