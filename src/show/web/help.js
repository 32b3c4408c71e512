// SPDX-License-Identifier: Apache-2.0
// The list of keys.
import { element } from './dom.js';

const BOTH = [
  ['← →', 'another device; in the cores another core'],
  ['[ ]', 'another device, in every view'],
  ['↑ ↓ PgUp PgDn Home End', 'another row, in the cores another core'],
  ['Enter', 'open what is selected'],
  ['/', 'search the list; Esc leaves it'],
  ['s, r', 'sort by the next column, reverse the order'],
  ['g', 'group the allocations'],
  ['c', 'colour the cores by use, headroom or kind'],
  ['a', 'all devices, in processes and programs'],
];
const LIVE = [
  ['1 to 6', 'the views'],
  ...BOTH,
  ['t', 'the time that charts show'],
  ['w', 'the warnings'],
  ['p or Space', 'pause, resume'],
  ['? or F1', 'this list'],
];
const RECORDED = [
  ['1 to 8', 'the views'],
  [', .', 'one moment back, one moment forward'],
  ['< >', 'to the previous, to the next peak, mark or failure'],
  ['m, M or n, N', 'to the next mark, to the previous mark'],
  ['P', 'to the peak; pressed again: to the next peak'],
  ['+ - 0', 'zoom in, zoom out, the whole time'],
  ['d', 'L1 or DRAM in the strip'],
  ['x', 'the other recording'],
  ['o', 'exports, open in Perfetto'],
  ...BOTH,
  ['? or F1', 'this list'],
];

// `kind` is the kind of the source: live, recording or file.
export function fillHelp(dialog, kind) {
  const keys = kind === 'live' ? LIVE : RECORDED;
  dialog.append(
    element('h2', {}, 'Keys'),
    element(
      'dl',
      {},
      keys.flatMap(([key, what]) => [element('dt', {}, key), element('dd', {}, what)]),
    ),
    element('p', { class: 'note' }, ...footnote(kind)),
    element('form', { method: 'dialog' }, element('button', {}, 'Close')),
  );
}

function footnote(kind) {
  const licence = element('a', { href: 'uplot-licence.txt' }, 'MIT licence');
  if (kind === 'live') {
    return [
      'The address says where you are: send it to somebody. All figures as JSON: ',
      element('a', { href: 'api' }, '/api'),
      '. Charts by uPlot (',
      licence,
      ').',
    ];
  }
  return [
    'The address says where you are, and at which moment. Charts by uPlot (',
    kind === 'file' ? 'MIT licence, Leon Sorokin' : licence,
    ').',
  ];
}
