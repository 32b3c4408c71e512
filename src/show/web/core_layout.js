// SPDX-License-Identifier: Apache-2.0
// The layout of one core's L1: address ranges and their owners. Pure: no page, no clock.

function covers(ranges, x, y) {
  return ranges.some(([x0, y0, x1, y1]) => x >= x0 && x <= x1 && y >= y0 && y <= y1);
}

function coresIn(ranges) {
  return ranges.reduce((sum, [x0, y0, x1, y1]) => sum + (x1 - x0 + 1) * (y1 - y0 + 1), 0);
}

// Returns true if the buffer takes its address range on this core. Because of lockstep, a buffer
// takes its range on every core. Only a buffer of an allocator with its own cores takes its range
// only on these cores.
function takes(buffer, device, x, y) {
  if (buffer.state !== 'alive' || !buffer.devices.includes(device.id)) return false;
  const own = buffer.cores !== null && buffer.banks === coresIn(buffer.cores);
  return !own || covers(buffer.cores, x, y);
}

function named(scope, label) {
  return [scope, label].filter(Boolean).join('/');
}

function owner(item) {
  return { pid: item.host_pid ?? item.pid, process: item.process };
}

// Returns the ranges of the CBs on a core. CBs of several programs share one range if their
// address, size and process are equal.
function cbSpans(programs, x, y) {
  const places = new Map();
  for (const program of programs) {
    if (program.state !== 'alive') continue;
    for (const cb of program.cbs) {
      if (cb.global || !cb.cores || !covers(cb.cores, x, y)) continue;
      const key = `${cb.address}/${cb.bytes_per_core}/${owner(program).pid}`;
      const known = places.get(key);
      if (known) known.programs.push(program);
      else places.set(key, { cb, programs: [program] });
    }
  }
  return [...places.values()].map(({ cb, programs: users }) => ({
    begin: cb.address,
    end: cb.address + cb.bytes_per_core,
    kind: 'cb',
    elsewhere: false,
    ...owner(users[0]),
    label:
      users.length > 1
        ? `${users.length} programs`
        : `program ${users[0].program}${users[0].name ? ` ${users[0].name}` : ''}`,
  }));
}

// Returns {spans: ranges from the highest address down, gap: free range {begin, end} or null if
// unknown, base: begin of the CBs, end: end of L1, without: number of buffers whose address is
// unknown}.
export function coreLayout(device, allocations, programs, x, y) {
  let without = 0;
  const spans = cbSpans(programs, x, y);
  for (const buffer of allocations) {
    if (!takes(buffer, device, x, y)) continue;
    if (buffer.address === null || buffer.bytes_per_bank === null) {
      ++without;
      continue;
    }
    spans.push({
      begin: buffer.address,
      end: buffer.address + buffer.bytes_per_bank,
      kind: buffer.kind,
      elsewhere: buffer.cores !== null && !covers(buffer.cores, x, y),
      cores: buffer.cores,
      label: named(buffer.scope, buffer.label),
      ...owner(buffer),
    });
  }
  spans.sort((a, b) => b.begin - a.begin || b.end - a.end);
  return { spans, without, end: device.l1.bytes_per_core, ...gapOf(device.l1, spans) };
}

function gapOf(l1, spans) {
  if (l1.base_address === null || l1.bytes_per_core === null) return { gap: null, base: null };
  let begin = l1.base_address;
  let end = l1.bytes_per_core - (l1.small_region_bytes_per_core ?? 0);
  for (const span of spans) {
    if (span.kind === 'cb') begin = Math.max(begin, span.end);
    if (span.kind === 'l1') end = Math.min(end, span.begin);
  }
  return { gap: { begin, end }, base: l1.base_address };
}

// Returns the core with the least headroom, or null if no headroom is known.
export function tightestCore(perCore) {
  return perCore.reduce(
    (best, core) =>
      core.headroom_bytes !== null && (best === null || core.headroom_bytes < best.headroom_bytes)
        ? core
        : best,
    null,
  );
}
