# SPDX-License-Identifier: Apache-2.0
"""Simulates a container. Prints "waiting" and waits for a byte on stdin. Then starts process 1 of a
new pid namespace with its own /proc. That process holds BYTES of DRAM per bank on device NUMBER,
whose chip has the uid UID, until stdin is closed.

    container.py NUMBER UID BYTES"""

import ctypes
import os
import sys

CLONE_NEWNS, CLONE_NEWPID = 0x20000, 0x20000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000

libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result != 0:
        sys.exit(f"{what} is refused: {os.strerror(ctypes.get_errno())}")


def work(number, uid, per_bank):
    check(libc.mount(b"proc", b"/proc", b"proc", 0, None), "mount")
    import abi  # the process that imports the module is tracked
    abi.open_device(number, uid=uid)
    abi.alloc(abi.DRAM, 1, per_bank, device=number, label=b"weights")
    print("ready", os.getpid(), flush=True)
    while os.read(0, 1):
        pass
    os._exit(0)


number, uid, per_bank = int(sys.argv[1]), int(sys.argv[2], 0), int(sys.argv[3])
check(libc.unshare(CLONE_NEWNS | CLONE_NEWPID), "unshare")
check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "mount")
print("waiting", flush=True)
os.read(0, 1)
child = os.fork()
if child == 0:
    work(number, uid, per_bank)
print("child", child, flush=True)
os.waitpid(child, 0)
