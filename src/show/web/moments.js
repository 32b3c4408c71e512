// SPDX-License-Identifier: Apache-2.0
// The moments of a recording at which the cursor stops. Pure: no page, no clock.

// Returns the stops: the moments of the finer timeline `fine` within its range, and the moments of
// the timeline `whole` outside of that range. `fine` may be null. A stop is {time, why, timeline,
// index: of the moment in that timeline, ordinal: position among the moments with the same time}.
export function stopsOf(whole, fine) {
  const all = [];
  const take = (timeline, wanted) => {
    timeline.moments.forEach((moment, index) => {
      if (wanted(moment.time_ns))
        all.push({ time: moment.time_ns, why: moment.why, timeline, index, ordinal: 0 });
    });
  };
  if (fine) {
    take(whole, (time) => time < fine.from_ns);
    take(fine, (time) => time >= fine.from_ns && time <= fine.to_ns);
    take(whole, (time) => time > fine.to_ns);
  } else {
    take(whole, () => true);
  }
  for (let i = 1; i < all.length; ++i) {
    if (all[i].time === all[i - 1].time) all[i].ordinal = all[i - 1].ordinal + 1;
  }
  return all;
}

// Returns the index of the last of the ascending `times` that is not after `time`, or -1.
export function lastUntil(times, time) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// Returns the index of the stop nearest to a time. If several stops have that time, prefers one
// with a reason.
export function nearest(stops, time) {
  const distance = (one) => Math.abs(one.time - time);
  let best = -1;
  stops.forEach((stop, i) => {
    const known = stops[best];
    if (!known || distance(stop) < distance(known)) best = i;
    else if (distance(stop) === distance(known) && stop.why.length > known.why.length) best = i;
  });
  return best;
}

// Returns the name of a stop: "1276494631", or with its ordinal if several stops have the same
// time: "1276494631.2".
export function nameOf(stops, position) {
  const { time, ordinal } = stops[position];
  const twin = ordinal > 0 || stops[position + 1]?.time === time;
  return twin ? `${time}.${ordinal}` : String(time);
}

// Returns the index of the stop with this name, or of the nearest stop; -1 if there is none.
export function named(stops, name) {
  const [time, ordinal] = name.split('.').map(Number);
  const exact = stops.findIndex((one) => one.time === time && one.ordinal === ordinal);
  return exact >= 0 ? exact : nearest(stops, time);
}

// Returns the index of the next stop (`by` 1) or the previous stop (`by` -1) that has a wanted
// reason; null if there is none.
export function withReason(stops, position, by, wanted = () => true) {
  for (let i = position + by; i >= 0 && i < stops.length; i += by) {
    if (stops[i].why.some(wanted)) return i;
  }
  return null;
}

// Returns the reasons of a moment as text, grouped by device: "L1 peak, CB peak of device 0".
export function reasonWords(why) {
  const groups = new Map(); // " of device 0" -> reasons
  for (const reason of why) {
    const found = isMark(reason) ? null : reason.match(/^(.*?)( of devices? [\d, -]+)$/);
    const [what, whose] = found ? found.slice(1) : [reason, ''];
    const key = whose || reason;
    groups.set(key, { whose, all: [...(groups.get(key)?.all ?? []), what] });
  }
  return [...groups.values()].map(({ whose, all }) => all.join(', ') + whose).join('; ');
}

export const isMark = (why) => why.startsWith('mark ');
export const isPeak = (why) => /^(L1|DRAM) peak of /.test(why);
