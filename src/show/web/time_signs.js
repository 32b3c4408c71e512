// SPDX-License-Identifier: Apache-2.0
// The signs on a chart of a recording: marks, failures, gaps and a highlighted window. Painted on
// uPlot's canvas, which counts in device pixels.
import { colour } from './dom.js';

const LEAST = 3; // minimum pixels of a gap, and between two marks

function ratio() {
  return window.devicePixelRatio || 1;
}
const scaled = (pixels) => pixels * ratio();

const at = (plot, ns) => plot.valToPos(ns, 'x', true);

// Returns the visible items [{x, item}]. Of items closer than LEAST pixels, only the first is kept.
function thinned(plot, items) {
  const { left, width } = plot.bbox;
  const shown = [];
  for (const item of items) {
    const x = at(plot, item.time_ns);
    if (x < left || x > left + width) continue;
    if (shown.length === 0 || x - shown.at(-1).x >= scaled(LEAST)) shown.push({ x, item });
  }
  return shown;
}

// Returns the pixel ranges of the visible gaps, [[begin, end]], from left to right. Adjacent gaps
// are merged, because there may be a hundred thousand gaps.
function stretches(plot, gaps) {
  const { left, width } = plot.bbox;
  const found = [];
  for (const gap of gaps) {
    const begin = Math.max(left, at(plot, gap.begin_ns));
    const end = Math.min(left + width, Math.max(at(plot, gap.end_ns), begin + LEAST));
    if (end > left && begin < left + width) found.push([begin, end]);
  }
  found.sort((a, b) => a[0] - b[0]);
  const merged = [];
  for (const [begin, end] of found) {
    const last = merged.at(-1);
    if (last && begin <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([begin, end]);
  }
  return merged;
}

// Hatches the gaps, where events were lost.
export function paintGaps(plot, gaps) {
  const { ctx: pen, bbox } = plot;
  for (const [begin, end] of stretches(plot, gaps)) {
    pen.save();
    pen.beginPath();
    pen.rect(begin, bbox.top, end - begin, bbox.height);
    pen.clip();
    pen.globalAlpha = 0.55;
    pen.fillStyle = colour('warn-ground');
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = colour('warn');
    pen.lineWidth = ratio();
    pen.beginPath();
    for (let x = begin - bbox.height; x < end; x += scaled(7)) {
      pen.moveTo(x, bbox.top + bbox.height);
      pen.lineTo(x + bbox.height, bbox.top);
    }
    pen.stroke();
    pen.restore();
  }
}

function line(pen, x, top, bottom, ink, dash) {
  pen.strokeStyle = ink;
  pen.lineWidth = ratio();
  pen.setLineDash(dash);
  pen.beginPath();
  pen.moveTo(x, top);
  pen.lineTo(x, bottom);
  pen.stroke();
  pen.setLineDash([]);
}

// Returns the marks whose names have room.
function withRoom(plot, marks) {
  const { ctx: pen, bbox } = plot;
  pen.font = `${scaled(11)}px system-ui, sans-serif`;
  let free = 0;
  return marks.filter(({ x, item }) => {
    const end = x + pen.measureText(item.name).width + scaled(10);
    const fits = x >= free && end < bbox.left + bbox.width;
    if (fits) free = end;
    return fits;
  });
}

function paintNames(plot, marks) {
  const { ctx: pen, bbox } = plot;
  pen.textAlign = 'left';
  pen.textBaseline = 'top';
  pen.fillStyle = colour('dim');
  for (const { x, item } of marks) {
    line(pen, x, bbox.top, bbox.top + bbox.height, colour('peak-line'), [2, 3].map(scaled));
    pen.fillText(item.name, x + scaled(4), bbox.top + scaled(1));
  }
}

function paintFailure(pen, x, top, bottom) {
  line(pen, x, top, bottom, colour('bad'), []);
  pen.fillStyle = colour('bad');
  pen.beginPath();
  pen.moveTo(x - scaled(5), top);
  pen.lineTo(x + scaled(5), top);
  pen.lineTo(x, top + scaled(8));
  pen.fill();
}

// Paints the failures, and the marks as ticks. If `named`, also paints the names of marks where
// there is room.
export function paintMarks(plot, { marks, failures }, named) {
  const { ctx: pen, bbox } = plot;
  const bottom = bbox.top + bbox.height;
  const shown = thinned(plot, marks);
  pen.save();
  for (const { x } of shown) line(pen, x, bottom - scaled(8), bottom, colour('text'), []);
  if (named) paintNames(plot, withRoom(plot, shown));
  for (const { x } of thinned(plot, failures)) paintFailure(pen, x, bbox.top, bottom);
  pen.restore();
}

// Dims everything outside the window.
export function paintWindow(plot, [from, to]) {
  const { ctx: pen, bbox } = plot;
  const [begin, end] = [at(plot, from), at(plot, to)];
  pen.save();
  pen.globalAlpha = 0.65;
  pen.fillStyle = colour('card');
  pen.fillRect(bbox.left, bbox.top, begin - bbox.left, bbox.height);
  pen.fillRect(end, bbox.top, bbox.left + bbox.width - end, bbox.height);
  pen.globalAlpha = 1;
  for (const x of [begin, end])
    line(pen, x, bbox.top, bbox.top + bbox.height, colour('accent'), []);
  pen.restore();
}
