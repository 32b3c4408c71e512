# SPDX-License-Identifier: Apache-2.0
"""Directories in which no segment can be made or can grow: the workload continues undisturbed, and
`ttmem` reports what is missing."""

import json
import os
import pathlib
import pwd
import re
import resource
import struct
import subprocess
import tempfile
import unittest

from support import TTMEM, Case, build_consumer

PID_OFFSET = 40  # in the header, see docs/internals/segment-layout.md
NOBODY = pwd.getpwnam("nobody").pw_uid


def become_nobody():
    os.setgid(NOBODY)
    os.setuid(NOBODY)


class Directories(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="ttmem-consumer-")
        cls.addClassCleanup(cls.folder.cleanup)
        os.chmod(cls.folder.name, 0o755)
        cls.consumer = build_consumer(cls.folder.name)

    def run_workload(self, env, **options):
        """Runs the workload to its end. Returns true if it was tracked."""
        result = subprocess.run([self.consumer, "once"], env=env, text=True, capture_output=True,
                                timeout=20, **options)
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(result.stderr, "")
        self.assertIn(result.stdout, ("enabled 0\n", "enabled 1\n"))
        return result.stdout == "enabled 1\n"

    def mount(self, *options):
        """Mounts a small file system on self.dir."""
        command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", self.dir]
        if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
            self.skipTest("mounting a tmpfs needs root and a kernel that lets it")
        self.addCleanup(subprocess.run, ["umount", "-l", self.dir], check=True)


class NoSegmentCanBeMade(Directories):
    def check(self, env, directory, reason):
        self.assertFalse(self.run_workload(env))
        demo = self.ttmem("demo", "single", env=env, code=1)
        self.assertEqual(len(demo.stderr.splitlines()), 1)
        self.assertIn(str(directory), demo.stderr)
        if reason is None:
            return
        said = self.ttmem(env=env, code=1).stderr
        self.assertIn(str(directory), said)
        self.assertIn(reason, said)

    def test_a_missing_directory(self):
        missing = os.path.join(self.dir, "missing")
        self.check(self.tracked(TTMEM_DIR=missing), missing, "No such file or directory")

    def test_a_file_in_the_place_of_the_directory(self):
        path = pathlib.Path(self.dir) / "file"
        path.write_text("")
        self.check(self.tracked(TTMEM_DIR=str(path)), path, "Not a directory")

    def test_a_read_only_file_system(self):
        self.mount("size=1m", "ro")
        self.check(self.tracked(), self.dir, None)
        self.assertEqual(self.files(), [])

    def test_a_full_file_system(self):
        self.mount("size=64k")
        with open(os.path.join(self.dir, "filler"), "wb") as filler:
            os.posix_fallocate(filler.fileno(), 0, 64 * 1024)
        self.check(self.tracked(), self.dir, None)
        self.check_marks(2, "No space left on device", code=1)
        self.assertEqual(self.files(), ["filler"])

    def check_marks(self, count, reason, code=0):
        """Asserts that each untracked process left a mark, a symbolic link that takes no space, and
        that the commands report the number of these processes and the reason."""
        marks = [name for name in self.files() if ".untracked." in name]
        self.assertEqual(len(marks), count)
        for name in marks:
            self.assertTrue(os.path.islink(os.path.join(self.dir, name)), name)
        were = "process that has ended was" if count == 1 else "processes that have ended were"
        self.assertIn(f"{count} {were} not tracked", self.ttmem().stderr)
        self.assertIn(f"{count} {were} not tracked", self.ttmem("doctor", code=code).stdout)
        self.assertRegex(self.ttmem("clean").stdout,
                         f"{count} process(es were| was) not tracked: {reason}")

    def test_a_limit_on_the_size_of_files(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        self.run_workload(self.tracked(), preexec_fn=limit)
        self.check_marks(1, "File too large")
        self.assertEqual(self.files(), [])

    def test_a_live_process_that_is_not_tracked(self):
        self.mount("size=64k")
        with open(os.path.join(self.dir, "filler"), "wb") as filler:
            os.posix_fallocate(filler.fileno(), 0, 64 * 1024)
        held = self.start([self.consumer, "hold"], self.tracked())
        held.line()
        snapshot = json.loads(self.ttmem("--json", code=1).stdout)
        self.assertIn("1 process was not tracked: No space left on device", snapshot["unread"][0])
        self.assertIn("Nothing to clean", self.ttmem("clean").stdout)
        held.close_stdin()

    def test_a_mark_of_another_user_is_ignored(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to be another user")
        with open(f"/proc/{os.getpid()}/stat") as stat:
            start = stat.read().rpartition(")")[2].split()[19]
        space = os.stat("/proc/self/ns/pid").st_ino
        for uid in (0, 1234):  # a name that belongs to root's process, and a name of the user's own
            name = f"ttmem.{uid}.{os.getpid()}.{start}.untracked.28.{space}"
            os.symlink("-", os.path.join(self.dir, name))
            os.lchown(os.path.join(self.dir, name), 1234, 1234)
        with open(os.path.join(self.dir, f"ttmem.0.1.1.untracked.28.{space}"), "w"):
            pass  # not a link
        self.assertEqual(self.json()["unread"], [])
        self.assertNotIn("not tracked", self.ttmem().stderr)


class ASegmentThatCannotGrow(Directories):
    """A demo of 32 devices and thousands of buffers, with room for the devices only."""

    ROOM = 780 * 1024

    def check_galaxy(self, **options):
        """Checks that all figures are exact and that the lists are reported as incomplete."""
        demo = self.start([TTMEM, "demo", "galaxy", "--hold"], **options)
        demo.line("stderr")
        snapshot = self.json()
        self.assert_sane(snapshot)
        self.assertTrue(any(f"process {demo.pid}" in warning and self.dir in warning
                            for warning in snapshot["warnings"]), snapshot["warnings"])
        devices = snapshot["devices"]
        self.assertEqual(len(devices), 32)
        for device in devices:
            self.assertEqual(device["l1"]["cb"]["physical_bytes"], 464 * 1024 * 72)
            self.assertEqual(device["dram"]["used_bytes"], devices[0]["dram"]["used_bytes"])
        listed = self.json("allocs")["allocations"]
        self.assertLess(sum(len(row["devices"]) for row in listed),
                        sum(d["processes"][0]["allocations"] for d in devices))

    def test_on_a_full_file_system(self):
        self.mount(f"size={self.ROOM}")
        self.check_galaxy()

    def test_with_a_limit_on_the_size_of_files(self):
        self.check_galaxy(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                (self.ROOM, self.ROOM)))


class AnotherUser(Directories):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("becoming another user needs root")
        reachable = subprocess.run([TTMEM, "--version"], capture_output=True,
                                   preexec_fn=become_nobody).returncode == 0
        if not reachable:
            self.skipTest("another user cannot reach the product where it is")

    def look_as_nobody(self):
        return subprocess.run([TTMEM], env=self.env, text=True, capture_output=True, timeout=20,
                              preexec_fn=become_nobody)

    def test_a_workload_without_permission_continues(self):
        os.chmod(self.dir, 0o755)
        self.assertFalse(self.run_workload(self.tracked(), preexec_fn=become_nobody))
        self.assertEqual(self.files(), [])

    def test_unreadable_segments_are_counted(self):
        os.chmod(self.dir, 0o1777)
        self.start([self.consumer, "hold"], env=self.tracked()).line()
        seen = self.look_as_nobody()
        self.assertEqual(seen.returncode, 1)
        self.assertIn("1 ", seen.stderr)
        self.assertIn("root", seen.stderr)
        self.assertNotIn("Device 0:", seen.stdout)

    def test_a_wider_mode_lets_other_users_read(self):
        os.chmod(self.dir, 0o1777)
        self.start([self.consumer, "hold"], env=self.tracked(TTMEM_MODE="0644")).line()
        seen = self.look_as_nobody()
        self.assertIn("Device 0:", seen.stdout)
        self.assertIn("root", seen.stdout)

    def test_an_unreadable_directory_is_reported(self):
        os.chmod(self.dir, 0o700)
        self.assertIn(self.dir, self.look_as_nobody().stderr)

    def test_a_segment_that_names_a_process_of_another_user_is_left_out(self):
        """Another user copies a segment of root and puts the copy into the directory."""
        os.chmod(self.dir, 0o1777)
        held = self.start([self.consumer, "hold"], env=self.tracked())
        held.line()
        (name,) = self.files()
        copy = os.path.join(self.dir, name + "0")
        with open(os.path.join(self.dir, name), "rb") as real, open(copy, "wb") as fake:
            fake.write(real.read())
        os.chown(copy, NOBODY, NOBODY)
        snapshot = self.json()
        (device,) = snapshot["devices"]
        self.assertEqual(len(device["processes"]), 1)
        self.assertEqual(device["dram"]["used_bytes"], 12 << 20)
        self.assertTrue(any(name + "0" in warning for warning in snapshot["warnings"]))

    def test_a_live_segment_that_names_another_process_has_the_pid_of_its_owner(self):
        """Another user's process holds the lock of a segment whose header names process 1."""
        os.chmod(self.dir, 0o1777)
        held = self.start([self.consumer, "hold"], env=self.tracked(), preexec_fn=become_nobody)
        held.line()
        (name,) = self.files()
        with open(os.path.join(self.dir, name), "rb") as real:
            content = bytearray(real.read())
        held.kill()
        self.ttmem("clean")
        struct.pack_into("<i", content, PID_OFFSET, 1)
        fake = os.path.join(self.dir, re.sub(r"\.\d+\.(\d+)$", r".1.\1", name))
        with open(fake, "wb") as file:
            file.write(content)
        os.chown(fake, NOBODY, NOBODY)
        holder = self.start(["flock", fake, "sh", "-c", "echo ready; cat"],
                            preexec_fn=become_nobody)
        holder.line()
        (device,) = self.json()["devices"]
        (process,) = device["processes"]
        self.assertEqual((process["state"], process["host_pid"]), ("alive", holder.pid))


if __name__ == "__main__":
    unittest.main()
