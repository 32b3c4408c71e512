# SPDX-License-Identifier: Apache-2.0
"""Writes a recording with Python's sqlite3, following only docs/guides/recording.md, and computes
the figures of the recording at any time in the simplest way."""

import collections
import dataclasses
import random
import sqlite3

KINDS = ("dram", "l1", "l1_small", "trace", "cb", "kernel", "system")
MEMORIES = {"DRAM": ("dram",), "L1": ("l1", "l1_small", "cb", "kernel"), "trace": ("trace",),
            "host memory": ("system",)}

COLUMNS = {
    "run": "schema, version, source, command, host, started_unix_ns, ended_ns, exit_code, events, "
           "lost_events, aggregate, imported",
    "processes": "id, pid, name, command, user, begin_ns, end_ns, killed",
    "devices": "id, process, number, uid, arch, board, grid_x, grid_y, l1_bytes_per_core, l1_base, "
               "l1_small_bytes_per_core, dram_channels, dram_bytes_per_channel, trace_region_bytes, "
               "known_kinds, resident_known, cb_estimate, begin_ns, end_ns",
    "device_sets": "id, device",
    "texts": "id, text",
    "scopes": "id, path",
    "scope_visits": "process, scope, entered, open, last_ns, before_ns",
    "core_sets": "id, cores",
    "requests": "id, kind, role, bytes, bytes_per_bank, banks, cores, own_banks, estimate, label, "
                "scope",
    "allocations": "id, devices, request, number, address, begin_ns, end_ns, ending",
    "partial_ends": "allocation, position, devices, rest, end_ns, ending",
    "layouts": "id, circular_buffers",
    "circular_buffers": "layout, position, address, bytes, cores, global",
    "programs": "id, device, layout, number, name, scope, begin_ns, end_ns, ending",
    "launches": "id, trace",
    "launch_programs": "launch, position, program",
    "dispatches": "id, time_ns, devices, launch",
    "marks": "id, time_ns, process, name",
    "gaps": "id, process, begin_ns, end_ns, lost_events",
    "timeline": "id, time_ns, device, kind, used_bytes, peak_bytes",
    "not_tracked": "reason, processes",
}

# Tables that older recordings lack. If such a table is empty, save() does not write the table.
LATER = ("scope_visits", "not_tracked", "partial_ends")


@dataclasses.dataclass
class Life:
    """An allocation or a program on one device. For a program, `cbs` is a list of (address, bytes,
    cores, global)."""
    device: int
    kind: str
    bytes: int
    begin: int
    end: int = None
    label: str = None
    scope: str = None
    address: int = None
    cbs: tuple = None
    ending: str = None

    def lives_at(self, time):
        return self.begin <= time and (self.end is None or self.end > time)

    def own_bytes(self):
        return self.bytes if self.cbs is None else union_of([self])


def core_text(cores):
    return ",".join(map(str, sorted(cores)))


def union_of(programs):
    """Returns the bytes that the circular buffers of these programs of one device reserve."""
    taken = collections.defaultdict(list)
    for program in programs:
        for address, size, cores, is_global in program.cbs:
            if not is_global:
                for core in cores:
                    taken[core].append((address, address + size))
    total = 0
    for ranges in taken.values():
        end = 0
        for first, last in sorted(ranges):
            total += max(0, last - max(first, end))
            end = max(end, last)
    return total


class Recording:
    """A recording in memory, which save() writes. Add rows in the order of their begin."""

    def __init__(self, command="model --layers 2", started_unix_ns=1_790_000_000_000_000_000):
        self.rows = {table: [] for table in COLUMNS}
        self.known = collections.defaultdict(dict)  # {table: {value: row}}
        self.lives = []
        self.devices = []  # (pid, name of the process, number, uid, arch)
        self.run = ["ttmem.recording.v1", "0", "record", command, "host", started_unix_ns, None, 0,
                    0, 0, 0, None]

    def _once(self, table, key, *values):
        known = self.known[table]
        if key not in known:
            known[key] = len(known) + 1
            self.rows[table].append((known[key], *values))
        return known[key]

    def text(self, text):
        return self._once("texts", text, text) if text else None

    def scope(self, path):
        return self._once("scopes", path, path) if path else None

    def scope_visits(self, process, path, entered, open, last, before=None):
        self.rows["scope_visits"].append((process, self.scope(path), entered, open, last, before))

    def process(self, pid, name, begin=0, end=None):
        rows = self.rows["processes"]
        rows.append((len(rows) + 1, pid, name, f"{name} --run", "ada", begin, end, 0))
        return len(rows)

    def device(self, process, number, uid=None, arch="blackhole", begin=0, end=None, **other):
        about = {"board": "p150", "grid_x": 13, "grid_y": 10, "l1_bytes_per_core": 1464 * 1024,
                 "l1_base": 100 * 1024, "l1_small_bytes_per_core": 32 * 1024, "dram_channels": 8,
                 "dram_bytes_per_channel": 4 * 1024**3, "trace_region_bytes": 64 * 1024**2,
                 "known_kinds": 127, "resident_known": 1, "cb_estimate": 0, **other}
        rows = self.rows["devices"]
        rows.append((len(rows) + 1, process, number, uid, arch, *about.values(), begin, end))
        owner = self.rows["processes"][process - 1]
        self.devices.append((owner[1], owner[2], number, uid, arch))
        return len(rows)

    def device_set(self, devices):
        known = self.known["device_sets"]
        devices = tuple(sorted(devices))
        if devices not in known:
            known[devices] = len(known) + 1
            self.rows["device_sets"] += [(known[devices], device) for device in devices]
        return known[devices]

    def allocate(self, devices, kind, size, begin, end=None, ending=None, per_bank=None, banks=None,
                 address=None, label=None, scope=None, cores=None, own_banks=0):
        place = self._once("core_sets", core_text(cores), core_text(cores)) if cores else None
        values = (kind, 0, size, per_bank, banks, place, own_banks, 0, self.text(label),
                  self.scope(scope))
        request = self._once("requests", values, *values)
        rows = self.rows["allocations"]
        rows.append((len(rows) + 1, self.device_set(devices), request, 1000 + len(rows), address,
                     begin, end, ending))
        used = size if per_bank is None or banks is None else per_bank * banks
        for device in devices:
            self.lives.append(Life(device, kind, used, begin, end, label, scope, address,
                                   None, ending))

    def layout(self, cbs):
        key = tuple((address, size, tuple(cores), is_global)
                    for address, size, cores, is_global in cbs)
        is_new = key not in self.known["layouts"]
        row = self._once("layouts", key, len(cbs))
        if is_new:
            self.rows["circular_buffers"] += [
                (row, position, address, size, core_text(cores), int(is_global))
                for position, (address, size, cores, is_global) in enumerate(key)]
        return row

    def place(self, device, number, cbs, begin, end=None, ending=None, name=None, scope=None):
        rows = self.rows["programs"]
        rows.append((len(rows) + 1, device, self.layout(cbs), number, self.text(name),
                     self.scope(scope), begin, end, ending))
        self.lives.append(Life(device, "cb", 0, begin, end, name, scope, None,
                               tuple(cbs), ending))

    def dispatch(self, devices, programs, time, trace=False):
        is_new = (trace, programs) not in self.known["launches"]
        launch = self._once("launches", (trace, programs), int(trace))
        if is_new:
            self.rows["launch_programs"] += [(launch, position, program)
                                             for position, program in enumerate(programs)]
        rows = self.rows["dispatches"]
        rows.append((len(rows) + 1, time, self.device_set(devices), launch))

    def mark(self, process, name, time):
        self.rows["marks"].append((len(self.rows["marks"]) + 1, time, process, name))

    def gap(self, process, begin, end, lost):
        self.rows["gaps"].append((len(self.rows["gaps"]) + 1, process, begin, end, lost))

    def save(self, path, ended=None):
        self.run[6] = ended
        self.rows["run"] = [tuple(self.run)]
        with sqlite3.connect(path) as file:
            for table, columns in COLUMNS.items():
                if table in LATER and not self.rows[table]:
                    continue
                file.execute(f"CREATE TABLE {table} ({columns})")
                places = ", ".join("?" * len(columns.split(",")))
                file.executemany(f"INSERT INTO {table} VALUES ({places})", self.rows[table])
        file.close()
        return path

    # The figures of the recording, computed in the simplest way.

    def chips(self):
        """Returns {(number, uid): the chip's rows in the table devices}, sorted by number."""
        found = collections.defaultdict(list)
        for row, (_, _, number, uid, _) in enumerate(self.devices, start=1):
            found[number, uid].append(row)
        return dict(sorted(found.items()))

    def moments(self):
        return sorted({life.begin for life in self.lives} |
                      {life.end for life in self.lives if life.end is not None})

    def held(self, device, kind, time):
        live = [life for life in self.lives
                if life.device == device and life.kind == kind and life.lives_at(time)]
        return (sum(life.bytes for life in live if life.cbs is None) +
                union_of([life for life in live if life.cbs is not None]))

    def left(self, kinds, devices=None):
        """Returns the bytes that the program never freed on these devices, or on all devices. If a
        process opened a device several times, only the last time counts."""
        last = {device[:4]: row for row, device in enumerate(self.devices, start=1)}
        lives = [life for life in self.lives if life.kind in kinds and
                 (life.end is None or life.ending in ("device_closed", "process_ended")) and
                 life.device in last.values() and (not devices or life.device in devices)]
        plain = sum(life.bytes for life in lives if life.cbs is None)
        return plain + sum(union_of([life for life in lives
                                     if life.cbs is not None and life.device == device])
                           for device in last.values())

    def held_by(self, devices, kinds, time):
        return sum(self.held(device, kind, time) for device in devices for kind in kinds)

    def peak(self, devices, memory):
        """Returns (bytes, -time) of the peak of this memory on these devices. If several moments
        have the same bytes, the first moment counts, so the time is negated for max()."""
        return max(((self.held_by(devices, MEMORIES[memory], time), -time)
                    for time in self.moments()), default=(0, 0))


LABELS = ("wqkv", "w;o", 'a "quoted", one', "käse\tweight", None, "bos_start")
SCOPES = ("decoder.0/attention", "decoder.1/mlp", None, "decoder.0/attention/ttnn::matmul")


class Bank:
    """Gives out the lowest free address, as an allocator in lockstep does."""

    def __init__(self, size):
        self.size = size
        self.taken = []

    def take(self, size, begin, end):
        self.taken = [range_ for range_ in self.taken if range_[2] is None or range_[2] > begin]
        at = 0
        for first, last, _ in sorted(self.taken, key=lambda taken: taken[0]):
            if first - at >= size:
                break
            at = last
        if at + size > self.size:
            return None
        self.taken.append((at, at + size, end))
        return at


def random_recording(seed, events=120):
    """Returns a recording with two processes, three chips, a chip that is opened twice, a mesh, and
    all kinds."""
    chance = random.Random(seed)
    recording = Recording()
    model = recording.process(4711, "model", end=900_000)
    server = recording.process(4712, "serv;er")
    devices = [recording.device(model, 0, "0xa0", end=400_000), recording.device(model, 1, "0xa1"),
               recording.device(server, 3, "0xb3", arch="wormhole_b0"),
               recording.device(model, 0, "0xa0", begin=500_000)]
    banks = {(device, kind): Bank(1 << 20) for device in devices for kind in KINDS}
    begins = sorted(chance.randrange(1_000, 900_000) for _ in range(events))
    for number, begin in enumerate(begins):
        device = chance.choice(devices[1:3] + ([devices[0]] if begin < 400_000 else []) +
                               ([devices[3]] if begin > 500_000 else []))
        limit = 400_000 if device == devices[0] else 1_000_000
        end = chance.choice((begin + chance.randrange(0, 100_000), begin + 1,
                             chance.randrange(begin, limit), None))
        if device == devices[0]:
            end = min(end or limit, limit)
        about = {"begin": begin, "end": end, "scope": chance.choice(SCOPES),
                 "ending": chance.choice((None, "changed", "gap", "process_ended")) if end else None}
        if chance.random() < 0.3:
            cbs = [(110_000 + 4096 * chance.randrange(8), 2048 * chance.randrange(1, 6),
                    sorted(chance.sample(range(130), chance.randrange(1, 9))),
                    chance.random() < 0.2) for _ in range(chance.randrange(1, 4))]
            about["ending"] = "device_closed" if end in (400_000, 900_000) else None
            recording.place(device, number, cbs, name=chance.choice(("matmul", None)), **about)
            recording.dispatch([device], (number,), begin)
            continue
        kind = chance.choice(KINDS)
        mesh = [1, 2] if device == 2 and begin < 400_000 and chance.random() < 0.3 else [device]
        if mesh == [1, 2]:
            about["end"] = min(end or 400_000, 400_000)
        size = 2048 * chance.randrange(1, 20)
        place = {}
        if kind in KINDS[:4]:
            place = {"per_bank": size // 8, "banks": 8,
                     "address": banks[mesh[0], kind].take(size // 8, begin, about["end"])}
        recording.allocate(mesh, kind, size - 100, label=chance.choice(LABELS), **place, **about)
    for number, name in enumerate(("iteration 1", "iteration 2")):
        recording.mark(model, name, 300_000 * (number + 1))
    recording.gap(server, 700_000, 710_000, 12)
    return recording
