# SPDX-License-Identifier: Apache-2.0
"""An allocation server for the tests of the library's socket transport. It decodes messages with
Python's struct, following only the documented table of the message. It keeps an account for each
connection, and records each message that breaks the protocol."""

import collections
import os
import socket
import struct
import threading

ALLOC, FREE, CB_ALLOC, CB_FREE, KERNEL_LOAD, KERNEL_UNLOAD = 1, 2, 8, 9, 10, 11
DEVICE_INFO = 7
HELLO, COMPLETE, GOODBYE = 2, 3, 4  # notices about the connection: `available` of a DEVICE_INFO
MARK = 0x4d454d54
MESSAGE = 144

HEAD = struct.Struct("<B3xiQB3xiQQ")
ALLOCATION = struct.Struct("<QQIHH4Q32s12sI")
CB = struct.Struct("<QQIHH4QQII16s12sI")
DEVICE = struct.Struct("<QHHIIIQII16s32s12sI")
assert HEAD.size + ALLOCATION.size == HEAD.size + CB.size == HEAD.size + DEVICE.size == MESSAGE

Message = collections.namedtuple("Message", "type device size buffer_type pid id time details")
Allocation = collections.namedtuple("Allocation", "address per_bank banks flags cores label")
ProgramCb = collections.namedtuple("ProgramCb", "address bytes flags cores program index count")
Device = collections.namedtuple(
    "Device", "dropped grid l1_base l1_small available dram_per_channel channels l1 arch board")


def mask(words):
    return sum(word << (64 * i) for i, word in enumerate(words))


def text(field):
    return field.split(b"\0")[0].decode()


def decode(data):
    head, body = HEAD.unpack_from(data), data[HEAD.size:]
    details = None
    if struct.unpack_from("<I", body, len(body) - 4)[0] == MARK:
        if head[0] == DEVICE_INFO:
            (dropped, x, y, base, small, available, per_channel, channels, l1, arch, board, _,
             _) = DEVICE.unpack(body)
            details = Device(dropped, (x, y), base, small, available, per_channel, channels, l1,
                             text(arch), text(board))
        elif head[0] in (CB_ALLOC, CB_FREE):
            (address, size, _, flags, _, c0, c1, c2, c3, program, index, count, _, _,
             _) = CB.unpack(body)
            details = ProgramCb(address, size, flags, mask((c0, c1, c2, c3)), program, index,
                                count)
        else:
            (address, per_bank, banks, flags, _, c0, c1, c2, c3, label, _,
             _) = ALLOCATION.unpack(body)
            details = Allocation(address, per_bank, banks, flags, mask((c0, c1, c2, c3)),
                                 text(label))
    return Message(*head, details)


class Account:
    """The messages of one connection, and the faults in them."""

    def __init__(self):
        self.messages = collections.deque(maxlen=100_000)
        self.count = 0
        self.devices = {}
        self.live = {}  # {(device, space, id): message}
        self.programs = {}  # {(device, program): its CB messages}
        self.coming = []  # CBs of a program that is not complete yet
        self.faults = []
        self.over = False
        self.torn = 0  # bytes of an incomplete last message
        self.notices = []  # hello, complete, goodbye; not in `messages`

    def take(self, message):
        if message.type == DEVICE_INFO and message.details.available >= HELLO:
            self._notice(message)
            return
        if not self.notices:
            self.faults.append(("no hello", message))
        if GOODBYE in self.notices:
            self.faults.append(("told after the goodbye", message))
        self.messages.append(message)
        self.count += 1
        if self.coming and (message.type != CB_ALLOC or not message.details):
            self.faults.append(("a program was interrupted", message))
        {ALLOC: self._alloc, KERNEL_LOAD: self._alloc, FREE: self._free,
         KERNEL_UNLOAD: self._free, CB_ALLOC: self._cb_alloc, CB_FREE: self._cb_free,
         DEVICE_INFO: self._device}[message.type](message)

    def _notice(self, message):
        self.notices.append(message.details.available)
        if self.notices not in ([HELLO], [HELLO, COMPLETE], [HELLO, GOODBYE],
                                [HELLO, COMPLETE, GOODBYE]):
            self.faults.append(("a notice out of turn", message))

    @staticmethod
    def _key(message):
        space = ("kernel" if message.type in (KERNEL_LOAD, KERNEL_UNLOAD) else
                 "cb" if message.type in (CB_ALLOC, CB_FREE) else message.buffer_type)
        return message.device, space, message.id

    def _alloc(self, message):
        if self._key(message) in self.live:
            self.faults.append(("told twice", message))
        self.live[self._key(message)] = message

    def _free(self, message):
        if self.live.pop(self._key(message), None) is None:
            self.faults.append(("never told", message))

    def _cb_alloc(self, message):
        if message.details is None:
            return self._alloc(message)
        cb = message.details
        if cb.index != len(self.coming):
            self.faults.append(("not the next CB", message))
        self.coming.append(message)
        if cb.index + 1 >= cb.count:
            self.programs[message.device, cb.program] = self.coming
            self.coming = []
        return None

    def _cb_free(self, message):
        if message.details is None:
            return self._free(message)
        cb = message.details
        if (message.device, cb.program) not in self.programs:
            self.faults.append(("program never told", message))
        elif cb.index + 1 >= cb.count:
            del self.programs[message.device, cb.program]
        return None

    def _device(self, message):
        if message.details.available:
            self.devices[message.device] = message
            return
        self.devices.pop(message.device, None)
        for kept in (self.live, self.programs):
            for key in [key for key in kept if key[0] == message.device]:
                del kept[key]


class StandInServer:
    """Listens at `path` once it is constructed. stop() closes the connections as SIGKILL would, and
    also removes the socket's file. With `reads=False` the server accepts connections and never
    reads."""

    def __init__(self, path, reads=True):
        self.path = path
        self.reads = reads
        self.accounts = []
        self._connections = []
        self._threads = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(path)
        self._listener.listen(64)
        self._start(self._accept)

    def _start(self, target, *arguments):
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            account = Account()
            self._connections.append(connection)
            self.accounts.append(account)
            if self.reads:
                self._start(self._read, connection, account)

    @staticmethod
    def _read(connection, account):
        rest = b""
        while True:
            try:
                data = connection.recv(1 << 18)
            except OSError:
                return
            if not data:
                account.torn = len(rest)
                account.over = True
                return
            rest += data
            whole = len(rest) - len(rest) % MESSAGE
            for at in range(0, whole, MESSAGE):
                account.take(decode(rest[at:at + MESSAGE]))
            rest = rest[whole:]

    def drop_connections(self):
        for end in self._connections:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def stop(self):
        for end in [self._listener, *self._connections]:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self._threads[:1]:
            thread.join()
        for end in self._connections:  # also a connection accepted meanwhile
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self._threads[1:]:
            thread.join()
        for end in [self._listener, *self._connections]:
            end.close()
        if os.path.exists(self.path):
            os.unlink(self.path)

    def faults(self):
        return [fault for account in self.accounts for fault in account.faults]
