# SPDX-License-Identifier: Apache-2.0
"""Checks a snapshot against the rules of PyTorch's memory viewer, without the viewer."""

import bisect
import pickletools

KEYS_OF_SEGMENT = {"device", "address", "total_size", "allocated_size", "active_size",
                   "requested_size", "stream", "segment_type", "frames", "blocks"}
KEYS_OF_BLOCK = {"address", "size", "requested_size", "state", "frames"}
KEYS_OF_ENTRY = {"action", "addr", "size", "stream", "time_us", "frames"}
HIDDEN = ("unwind::unwind", "CapturedTraceback::gather", "gather_with_cpp", "_start",
          "__libc_start_main", "PyEval_", "PyObject_", "PyFunction_")


def unpickle(data):
    """Unpickles as the viewer does: only with the operations that the viewer knows, and with lists
    that grow by at most a thousand items at a time."""
    assert data[:2] == b"\x80\x04", data[:2]
    stack, marks, memo = [], [], []
    for opcode, argument, _ in pickletools.genops(data):
        name = opcode.name
        if name == "EMPTY_DICT":
            stack.append({})
        elif name == "EMPTY_LIST":
            stack.append([])
        elif name == "MARK":
            marks.append(len(stack))
        elif name == "SETITEMS":
            items = cut(stack, marks.pop())
            stack[-1].update(zip(items[::2], items[1::2]))
        elif name == "APPENDS":
            items = cut(stack, marks.pop())
            assert len(items) <= 1000, len(items)
            stack[-1].extend(items)
        elif name in ("BINUNICODE", "BININT", "LONG1"):
            stack.append(argument)
        elif name == "MEMOIZE":
            memo.append(stack[-1])
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        else:
            assert name in ("PROTO", "STOP"), f"the viewer does not know {name}"
    assert len(stack) == 1 and not marks
    return stack[0]


def cut(stack, mark):
    items = stack[mark:]
    del stack[mark:]
    return items


def check_numbers(test, value):
    if isinstance(value, dict):
        for key, item in value.items():
            test.assertIsInstance(key, str)
            check_numbers(test, item)
    elif isinstance(value, list):
        for item in value:
            check_numbers(test, item)
    elif isinstance(value, int):
        test.assertTrue(0 <= value < 2**53, value)
    else:
        test.assertIsInstance(value, str)


def check_frames(test, frames):
    for frame in frames:
        test.assertEqual(set(frame), {"filename", "line", "name"})
        test.assertIsInstance(frame["line"], int)
        test.assertFalse([word for word in HIDDEN if word in frame["name"]], frame)


def check_segments(test, segments):
    """Checks the segments. Returns {device: its segments as (begin, end), sorted}, and for the
    allocated blocks {(device, address): size}."""
    ranges, live = {}, {}
    for segment in segments:
        test.assertEqual(set(segment), KEYS_OF_SEGMENT)
        at = segment["address"]
        used = 0
        for block in segment["blocks"]:
            test.assertEqual(set(block), KEYS_OF_BLOCK)
            test.assertEqual(block["address"], at)  # blocks tile the segment
            test.assertGreater(block["size"], 0)
            test.assertIn(block["state"], ("active_allocated", "inactive"))
            check_frames(test, block["frames"])
            if block["state"] == "active_allocated":
                live[segment["device"], at] = block["size"]
                used += block["size"]
            at += block["size"]
        test.assertEqual(at, segment["address"] + segment["total_size"])
        test.assertEqual(segment["allocated_size"], used)
        ranges.setdefault(segment["device"], []).append((segment["address"], at))
    for of_device in ranges.values():
        of_device.sort()
        test.assertTrue(all(a[1] <= b[0] for a, b in zip(of_device, of_device[1:])))
    return ranges, live


def check(test, snapshot):
    """Checks the rules. Returns (histories, live): histories[device] has {category: bytes} after
    each entry of the device's trace, live is {(device, address): (size, category)} at the end."""
    check_numbers(test, [snapshot["segments"], snapshot["device_traces"]])
    ranges, live_at_end = check_segments(test, snapshot["segments"])
    histories, live = [], {}
    for device, trace in enumerate(snapshot["device_traces"]):
        histories.append(check_trace(test, device, trace, ranges.get(device, []), live))
    test.assertEqual({place: size for place, (size, _) in live.items()}, live_at_end)
    return histories, live


def check_trace(test, device, trace, ranges, live):
    totals, history = {}, []
    taken = []  # sorted [begin, end) of live blocks
    if any("category" in entry for entry in trace):
        test.assertEqual((trace[0]["action"], trace[0]["category"]), ("snapshot", "unknown"))
    for number, entry in enumerate(trace):
        test.assertEqual(set(entry) - {"category"}, KEYS_OF_ENTRY)
        check_frames(test, entry["frames"])
        first, last = entry["addr"], entry["addr"] + entry["size"]
        place = device, first
        if entry["action"] == "snapshot":
            continue
        test.assertTrue(any(begin <= first and last <= end for begin, end in ranges), entry)
        if entry["action"] == "alloc":
            at = bisect.bisect(taken, (first, last))
            test.assertTrue(at == 0 or taken[at - 1][1] <= first, entry)
            test.assertTrue(at == len(taken) or last <= taken[at][0], entry)
            taken.insert(at, (first, last))
            live[place] = entry["size"], entry["category"]
            totals[entry["category"]] = totals.get(entry["category"], 0) + entry["size"]
        elif entry["action"] == "free_requested":
            following = trace[number + 1]
            test.assertEqual((following["action"], following["addr"], following["size"]),
                             ("free_completed", first, entry["size"]))
        else:
            test.assertEqual(entry["action"], "free_completed")
            test.assertEqual(trace[number - 1]["action"], "free_requested")
            size, category = live.pop(place)
            test.assertEqual(size, entry["size"])
            taken.remove((first, last))
            totals[category] -= size
        history.append(dict(totals))
    return history
