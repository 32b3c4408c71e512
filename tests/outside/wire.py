# SPDX-License-Identifier: Apache-2.0
"""A client of the allocation server, written with Python's struct as a foreign program would be."""

import os
import socket
import struct

ALLOC, FREE, QUERY, RESPONSE, DUMP_REMAINING, DEVICE_INFO_QUERY, DEVICE_INFO_RESPONSE, \
    CB_ALLOC, CB_FREE, KERNEL_LOAD, KERNEL_UNLOAD, DUMP_KERNELS = range(1, 13)
DRAM, L1, SYSTEM, L1_SMALL, TRACE = range(5)
APPLICATION, FABRIC, DISPATCH = range(3)

HEAD = struct.Struct("<B3xiQB3xiQQ")
ANSWER = struct.Struct("<8Q10I")
ANSWER_FIELDS = ("dram", "l1", "l1_small", "trace", "cb", "kernel", "total_dram", "total_l1",
                 "arch", "dram_channels", "dram_per_channel", "l1_per_core", "is_available",
                 "num_devices", "ring_size", "ring_used", "ring_programs", "mark")
SIZE = HEAD.size + ANSWER.size
assert SIZE == 144
MARK = 0x4D454D54


def message(kind, device=0, size=0, buffer_type=0, buffer_id=0, pid=None, body=b""):
    head = HEAD.pack(kind, device, size, buffer_type, os.getpid() if pid is None else pid,
                     buffer_id, 1_700_000_000_000_000_000)
    return head + body.ljust(ANSWER.size, b"\0")


def details(address=0, per_bank=0, banks=0, flags=0, cores=0, tail=b""):
    """Returns the fields that libttmem adds to a buffer, kernel or CB. `cores` is a bit mask."""
    return (struct.pack("<QQIHH", address, per_bank, banks, flags, 0) +
            cores.to_bytes(32, "little") + tail.ljust(32, b"\0") + bytes(12) +
            struct.pack("<I", MARK))


def cb_of(program, index, count):
    return struct.pack("<QIIQQ", program, index, count, 0, 0)


def device_details(available=1, grid=(8, 8), l1_base=105664, l1_small=0, channels=12,
                   channel_bytes=1 << 30, l1=1499136, arch=b"wormhole_b0", board=b"n150",
                   dropped=0):
    return (struct.pack("<QHHIIIQII", dropped, *grid, l1_base, l1_small, available, channel_bytes,
                        channels, l1) +
            arch.ljust(16, b"\0") + board.ljust(32, b"\0") + bytes(12) + struct.pack("<I", MARK))


class Client:
    """One connection to the server."""

    def __init__(self, path, pid=None):
        self.pid = pid
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        try:
            self.socket.connect(path)
        except OSError:
            self.socket.close()
            raise

    def raw(self, data):
        self.socket.sendall(data)

    def say(self, kind, **fields):
        if self.pid is not None:
            fields.setdefault("pid", self.pid)
        self.raw(message(kind, **fields))

    def alloc(self, buffer_id, size, buffer_type=DRAM, device=0, **more):
        self.say(ALLOC, buffer_id=buffer_id, size=size, buffer_type=buffer_type, device=device,
                 **more)

    def free(self, buffer_id, device=0, **more):
        self.say(FREE, buffer_id=buffer_id, device=device, **more)

    def receive(self):
        data = b""
        while len(data) < SIZE:
            chunk = self.socket.recv(SIZE - len(data))
            if not chunk:
                raise EOFError(f"the server closed after {len(data)} bytes of an answer")
            data += chunk
        kind, device, _, _, pid, _, when = HEAD.unpack(data[:HEAD.size])
        answer = dict(zip(ANSWER_FIELDS, ANSWER.unpack(data[HEAD.size:])))
        return {"type": kind, "device": device, "pid": pid, "time": when, **answer}

    def ask(self, kind, device=0):
        """Sends a request and returns the answer. The answer shows that the server has handled all
        earlier messages."""
        self.say(kind, device=device)
        return self.receive()

    def is_closed(self):
        """Waits until the server closes the connection. Returns False if the server sends data
        instead."""
        try:
            return self.socket.recv(SIZE) == b""
        except ConnectionResetError:
            return True

    def close(self):
        self.socket.close()
