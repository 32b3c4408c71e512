# SPDX-License-Identifier: Apache-2.0
"""Hosts on one machine. Each host has its own namespaces (network, mounts, host name, pids), with
its own address, /dev/shm and processes. A bridge in another namespace connects the hosts. No
namespace has a name, so the namespaces of a host disappear when its first process ends, which is at
the end of the test at the latest."""

import ctypes
import http.client
import os
import pathlib
import signal
import socket
import subprocess

from support import Running, plain_environment

CLONE_NEWNET = 0x40000000
NETWORK = "10.77.0"

# Shell commands of the first process of a host. The process ends when its stdin is closed.
FIRST = ("mount -t tmpfs tmpfs /dev/shm && hostname {name} && ip link set lo up && echo up && "
         "exec cat >/dev/null")
UNSHARE = ["unshare", "--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]

libc = ctypes.CDLL(None, use_errno=True)


def refused():
    """Returns why no cluster can be made here, or "" if one can."""
    try:
        said = subprocess.run([*UNSHARE, "ip", "link", "add", "br0", "type", "bridge"],
                              env=plain_environment(), capture_output=True, text=True)
    except FileNotFoundError as error:
        return str(error)
    return "" if said.returncode == 0 else said.stderr.strip()


def child_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


class InHost(Running):
    """A program in a host. The test starts nsenter(1), which starts the program as its child.
    `process` and `pid` belong to nsenter(1)."""

    def kill(self):
        """Kills the program with SIGKILL and waits for its end."""
        os.kill(child_of(self.pid), signal.SIGKILL)
        return self.wait()

    def end(self):
        if self.process.poll() is None:
            try:
                self.kill()
            except (OSError, IndexError):
                pass  # it ended just now
        super().end()


class Host:
    def __init__(self, case, name, number=None):
        self.name = name
        self.address = f"{NETWORK}.{number}"
        self._case = case
        self._first = Running([*UNSHARE, "sh", "-c", FIRST.format(name=name)], plain_environment())
        case.addCleanup(self._first.end)
        self._first.line()
        self.first_pid = child_of(self._first.pid)

    def start(self, command, env):
        enter = ["nsenter", f"--target={self.first_pid}", "--net", "--mount", "--uts", "--pid"]
        running = InHost([*enter, *map(str, command)], env)
        self._case.addCleanup(running.end)
        return running

    def configure(self, *lines):
        """Runs commands of ip(8) in the network of this host. A pid in a command is a pid of the
        test's namespace."""
        subprocess.run(["nsenter", f"--target={self.first_pid}", "--net", "ip", "-batch", "-"],
                       input="\n".join(lines), env=plain_environment(), text=True, check=True)

    def get(self, path, to, headers=None):
        """Sends an HTTP request from this host. Returns the status and the body of the answer."""
        connection = http.client.HTTPConnection(*to, timeout=5)
        connection.sock = self._connect(to)
        try:
            connection.request("GET", path, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def _connect(self, to):
        """Connects from this host. The thread enters the host's network only to create the socket:
        a socket stays in the network in which it was created."""
        with open("/proc/self/ns/net", "rb") as ours, \
                open(f"/proc/{self.first_pid}/ns/net", "rb") as theirs:
            enter(theirs)
            try:
                return socket.create_connection(to, timeout=5)
            finally:
                enter(ours)


def enter(namespace):
    if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Switch(Host):
    """The bridge to which all hosts are connected."""

    def __init__(self, case, hosts):
        super().__init__(case, "switch")
        self.configure("link add br0 type bridge", "link set br0 up",
                       *(f"link add to-{host.name} type veth peer name eth0 netns {host.first_pid}"
                         for host in hosts),
                       *(f"link set to-{host.name} master br0 up" for host in hosts))
        for host in hosts:
            host.configure(f"addr add {host.address}/24 dev eth0", "link set eth0 up")

    def cut_off(self, host):
        self.configure(f"link set to-{host.name} down")

    def connect(self, host):
        self.configure(f"link set to-{host.name} up")
