// SPDX-License-Identifier: Apache-2.0
// The views of live data and of a recording: [{name, title, view}]. Key 1 opens the first view.
import { ChartsView } from './charts.js';
import { CompareView } from './compare.js';
import { CoresView } from './cores.js';
import { DevicesView } from './devices.js';
import { LeaksView } from './leaks.js';
import { PeakView } from './peak.js';
import { PostmortemsView } from './postmortems.js';
import { processName } from './process_rows.js';
import { ProcessesView } from './processes.js';
import { ProgramsView } from './programs.js';
import { TimelineView } from './timeline.js';

const named = (name, title, view) => ({ name, title, view });

function shared(go, source) {
  const open = (row) => go({ view: 'processes', pid: processName(row, source.recorded) });
  return {
    devices: named('devices', 'Devices', new DevicesView(go, open, source)),
    cores: named('cores', 'Cores', new CoresView(go, source)),
    processes: named('processes', 'Processes', new ProcessesView(go, source)),
    programs: named('programs', 'Programs', new ProgramsView(go, source)),
  };
}

export function liveViews(go, source) {
  const { devices, cores, processes, programs } = shared(go, source);
  return [
    devices,
    named('charts', 'Charts', new ChartsView(go, source)),
    cores,
    processes,
    programs,
    named('postmortems', 'Post-mortems', new PostmortemsView(go, source)),
  ];
}

export function recordedViews(go, source, cursor) {
  const { devices, cores, processes, programs } = shared(go, source);
  return [
    devices,
    named('timeline', 'Timeline', new TimelineView(cursor)),
    cores,
    processes,
    programs,
    named('peak', 'Peak', new PeakView(go, cursor)),
    named('leaks', 'Leaks', new LeaksView(cursor)),
    named('compare', 'Compare', new CompareView(go)),
  ];
}
