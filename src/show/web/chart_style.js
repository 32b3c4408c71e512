// SPDX-License-Identifier: Apache-2.0
// The look of charts over time: colours of the axes and of the filled kinds.
import { colour, mix } from './dom.js';
import * as format from './format.js';

// The steps of an axis of bytes are powers of two, so that they are round in MiB.
export const BINARY_STEPS = Array.from({ length: 50 }, (_, i) => 2 ** i);

// Returns the end of an axis of bytes: a little above the maximum, or 1 MiB if the maximum is 0.
export function axisEnd(most) {
  return most > 0 ? most * 1.08 : 2 ** 20;
}

// Returns the axis of time and the axis of bytes.
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
