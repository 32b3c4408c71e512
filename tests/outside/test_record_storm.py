# SPDX-License-Identifier: Apache-2.0
"""A storm of short processes that end in every way: `ttmem record` and `ttmem run --summary`
include each process, or count the process as not tracked. No process is lost silently."""

import collections
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

from support import DEADLINE_SECONDS, TTMEM, build_consumer, rounds
from test_record import RecordCase
from test_run_summary import MOST, table_after

CHANNELS = 12
EVERY_END = "e_kacdsv"
STEPS = 3  # number of programs in a chain of exec calls


def labels_of(number, end):
    parts = {"c": STEPS, "s": 2}.get(end)
    return [f"w{number}.{part}" for part in range(parts)] if parts else [f"w{number}"]


def model(count, ends):
    """Returns the buffers that storm.c allocates: {label: (number of buffers, bytes of one buffer
    on all banks)}."""
    return {label: (1 + number % 5, 32 * (1 + number % 7) * CHANNELS)
            for number in range(count) for label in labels_of(number, ends[number % len(ends)])}


def no_mounts():
    """Returns why this user cannot mount, or "" if mounting is possible."""
    said = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"],
                          capture_output=True, text=True)
    return said.stderr.strip() if said.returncode != 0 else ""


class StormCase(RecordCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="ttmem-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.storm = build_consumer(folder.name, "storm")

    def setUp(self):
        super().setUp()
        self.env["TTMEM_EVENTS"] = "65536"  # 4 MiB, so that clearing the ring is quick

    def recorded(self):
        """Returns the recorded buffers in the form of model()."""
        rows = self.rows("SELECT label, count(*), min(used_bytes), max(used_bytes) "
                         "FROM allocation_list GROUP BY label")
        for label, _, least, most in rows:
            self.assertEqual(least, most, label)
        return {label: (count, most) for label, count, _, most in rows}

    def assert_recorded(self, expected):
        recorded = self.recorded()
        missing = collections.Counter(label.partition(".")[0] for label in expected
                                      if label not in recorded)
        self.assertFalse(missing, f"{len(missing)} are missing: {sorted(missing)[:20]}")
        self.assertEqual(recorded, expected)
        self.assertEqual(self.row("SELECT count(*) FROM processes"), (len(expected),))
        self.assertEqual(self.row("SELECT lost_events FROM run"), (0,))


class Recorded(StormCase):
    def check(self, count, at_once):
        said = self.record([self.storm, str(count), str(at_once), EVERY_END])
        self.assert_recorded(model(count, EVERY_END))
        self.assertNotIn("not tracked", said)
        self.assertEqual(self.files(), [])

    def test_one_at_a_time(self):
        self.check(rounds(1001), 1)

    def test_sixteen_at_a_time(self):
        self.check(rounds(1001), 16)

    def test_sixty_four_at_a_time(self):
        self.check(rounds(1001), 64)

    def test_only_what_is_known_is_said_about_an_end(self):
        self.record([self.storm, "30", "4", "eck"])
        # Ten programs ended by exit() and twenty by exec. Ten processes ended by _exit() and ten by
        # SIGKILL: only their parent knows which.
        self.assertEqual(self.rows("SELECT killed, signal, count(*) FROM processes "
                                   "GROUP BY killed, signal"), [(None, None, 20), (0, None, 30)])

    def test_a_recorder_that_is_stopped_meanwhile(self):
        self.end_while_stopped("sh", "-c", 'read line; exec "$@"', "sh", self.storm, "60", "16",
                               "ckcs")
        self.assert_recorded(model(60, "ckcs"))
        self.assertEqual(self.files(), [])

    # Copies the process's own segment and makes another user the owner of the copy. The copy has
    # the name of a segment that an ended process of that user leaves for the recorder.
    FORGE = ("from abi import *\nimport glob, struct\n"
             "open_device(0); alloc(DRAM, 1, 64, label=b'ours')\n"
             "folder = os.environ['TTMEM_DIR']\n"
             "[own] = glob.glob(folder + '/ttmem.*')\n"
             "data = bytearray(open(own, 'rb').read())\n"
             "struct.pack_into('<iI', data, 40, 999999999, 1234)\n"
             "struct.pack_into('<Q', data, 48, 5)\n"
             "struct.pack_into('<I', data, 384, 1)\n"
             "data[8752:8800] = bytes(48); data[10560:11072] = bytes(512)\n"
             "name = '/ttmem.1234.999999999.5.ended.' + os.environ['TTMEM_KEEP_FOR'].replace(':', '.')\n"
             "open(folder + '/forged', 'wb').write(data)\n"
             "os.chmod(folder + '/forged', 0o644); os.chown(folder + '/forged', 1234, 1234)\n"
             "os.rename(folder + '/forged', folder + name)\n")

    @unittest.skipIf(os.geteuid() != 0, "needs root, to be another user")
    def test_a_segment_forged_by_another_user_is_not_recorded(self):
        self.record(self.calls(self.FORGE))
        self.assertEqual(self.rows("SELECT label FROM allocation_list"), [("ours",)])
        self.assertEqual(self.row("SELECT count(*) FROM processes"), (1,))
        self.assertEqual(self.files(), [])

    def test_a_public_mark_does_not_contain_the_id(self):
        script = ('(ulimit -f 0; "$1" one label 1)\n'
                  'printf "%s %s" "$TTMEM_RUN" "$(readlink "$TTMEM_DIR"/*.untracked.*)"')
        held = self.start_record(["sh", "-c", script, "sh", self.storm])
        self.assertIn("1 process was not tracked: File too large", held.line("stderr"))
        self.assertEqual(held.wait(), 0)
        run, mark = held.process.stdout.read().decode().split()
        self.assertNotIn(run.split(".")[3], mark)
        self.assertEqual(self.files(), [])

    # Leaves the files of a process that is killed before its segment is complete. Its child, which
    # the recorder reads later, has one buffer.
    KILLED_EARLY = ("import os, signal, sys\n"
                    "start = open('/proc/self/stat').read().rpartition(')')[2].split()[19]\n"
                    "name = f'/ttmem.{os.geteuid()}.{os.getpid()}.{start}'\n"
                    "open(os.environ['TTMEM_DIR'] + name, 'w').close()\n"
                    "if os.fork() == 0:\n"
                    "    from abi import *\n"
                    "    open_device(0); alloc(DRAM, 1, 64)\n"
                    "    sys.exit(0)\n"
                    "os.wait()\n"
                    "sys.stdin.readline()\n"
                    "os.kill(os.getpid(), signal.SIGKILL)\n")

    def test_the_last_process_is_killed_while_it_starts(self):
        held = self.start_record([sys.executable, "-c", self.KILLED_EARLY])
        self.wait_for_allocations(1)
        held.close_stdin()
        self.assertIn("1 process was not tracked: it ended while it started", held.line("stderr"))
        self.assertEqual(held.wait(), 128 + signal.SIGKILL)
        self.assertEqual(self.files(), [])

    # Imitates a child that is killed while it makes its segment. The file that the child leaves is
    # a copy of a complete segment, but its first 8 bytes are 0, and it ends after argv[1] bytes.
    KILLED_UNSEEN = ("import os, sys\n"
                     "sys.stdin.readline()\n"
                     "start = lambda: open('/proc/self/stat').read().rpartition(')')[2].split()[19]\n"
                     "if os.fork() == 0:\n"
                     "    left = f'/ttmem.{os.geteuid()}.{os.getpid()}.{start()}'\n"
                     "    if os.fork() == 0:\n"
                     "        from abi import *\n"
                     "        import glob\n"
                     "        open_device(0); alloc(DRAM, 1, 64)\n"
                     "        folder = os.environ['TTMEM_DIR']\n"
                     "        [own] = glob.glob(f'{folder}/ttmem.*.{os.getpid()}.*')\n"
                     "        data = bytes(8) + open(own, 'rb').read()[8:]\n"
                     "        open(folder + left, 'wb').write(data[:int(sys.argv[1])])\n"
                     "        sys.exit(0)\n"
                     "    os.wait()\n"
                     "    os._exit(0)\n"
                     "os.wait()\n")

    def end_while_stopped(self, *workload):
        """Stops a recorder, runs its workload to the end, and continues the recorder. Returns the
        standard error of the recorder."""
        held = self.start_record(workload)
        [pid] = self.wait_for(lambda: self.children_of(held), "the workload")
        held.signal(signal.SIGSTOP)
        held.process.stdin.write(b"go\n")
        held.process.stdin.flush()
        self.wait_for(lambda: self.has_ended(pid), "the end of the workload")
        held.signal(signal.SIGCONT)
        self.assertEqual(held.wait(), 0)
        return held.process.stderr.read().decode()

    def test_one_that_is_killed_while_it_starts_and_was_not_seen(self):
        said = self.end_while_stopped(sys.executable, "-c", self.KILLED_UNSEEN, 1 << 20)
        self.assertIn("1 process was not tracked: it ended while it started", said)
        self.assertEqual(self.rows("SELECT reason, processes FROM not_tracked"),
                         [("it ended while it started", 1)])
        self.assertEqual(self.files(), [])

    def test_one_that_is_killed_before_it_names_its_run(self):
        said = self.end_while_stopped(sys.executable, "-c", self.KILLED_UNSEEN, 0)
        self.assertIn("1 process that ended before it could be seen who started it", said)
        self.assertEqual(len(self.files()), 1, "it may be another run's")
        self.ttmem("clean")
        self.assertEqual(self.files(), [])

    def test_with_few_descriptors(self):
        command = ["sh", "-c", 'ulimit -n 40; exec "$@"', "sh", TTMEM, "record", "--no-adapter",
                   "-o", self.file, "--", self.storm, "400", "64", EVERY_END]
        subprocess.run(command, env=self.env, check=True, capture_output=True,
                       timeout=DEADLINE_SECONDS)
        self.assert_recorded(model(400, EVERY_END))

    def test_the_command_has_the_limits_of_its_caller(self):
        result = subprocess.run(["sh", "-c", 'ulimit -S -n 60; exec "$@"', "sh", TTMEM, "record",
                                 "--no-adapter", "-o", self.file, "--", "sh", "-c",
                                 "ulimit -S -n"], env=self.env, text=True, capture_output=True,
                                timeout=DEADLINE_SECONDS)
        self.assertEqual(result.stdout, "60\n")


class Nested(StormCase):
    """A run inside another run has its own results, and removes no segments from the outer run."""

    def test_a_recorder_in_a_recorder(self):
        inner = os.path.join(os.path.dirname(self.file), "inner.ttmem")
        self.record([TTMEM, "record", "--no-adapter", "-o", inner, "--", self.storm, "200", "16",
                     EVERY_END])
        self.assert_recorded(model(200, EVERY_END))
        self.file = inner
        self.assert_recorded(model(200, EVERY_END))
        self.assertEqual(self.files(), [])

    def test_a_summary_in_a_recorder(self):
        said = self.record([TTMEM, "run", "--summary", "--no-adapter", "--", self.storm, "200",
                            "16", EVERY_END])
        self.assertEqual(len(table_after(said, MOST)) - 1, len(model(200, EVERY_END)))
        self.assert_recorded(model(200, EVERY_END))
        self.assertEqual(self.files(), [])


class Summary(StormCase):
    def summary(self, *storm):
        return self.ttmem("run", "--summary", "--no-adapter", "--", self.storm, *storm).stderr

    def test_every_process_is_in_the_summary(self):
        count = rounds(501)
        said = self.summary(count, 16, EVERY_END)
        expected = model(count, EVERY_END)
        rows = table_after(said, MOST)[1:]
        self.assertNotIn("not in this summary", said)
        self.assertEqual(len(rows), len(expected))

    def test_a_summary_keeps_the_segments_of_killed_processes(self):
        self.summary(20, 4, "ek")
        self.assertEqual(len(self.files()), 10, self.files())
        self.assertIn("10 dead processes held", self.ttmem("clean").stdout)
        self.assertEqual(self.files(), [])


@unittest.skipIf(no_mounts(), f"this user may not mount: {no_mounts()}")
class LittleSpace(StormCase):
    """A directory that has room for the segments of only some processes."""

    ENDS = "e_kadsv"  # not a chain: a process with several programs counts once

    def setUp(self):
        super().setUp()
        del self.env["TTMEM_EVENTS"]

    def in_space(self, size, *command, after=":"):
        script = (f'mount -t tmpfs -o size={size} none "{self.dir}" && "$@" && {after} && '
                  f'ls -A "{self.dir}"')
        result = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", *command], env=self.env,
                                text=True, capture_output=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def not_tracked(self, said):
        found = re.search(r"(\d+) process(?:es)? (?:was|were) not tracked: (.*)", said)
        self.assertTrue(found, said)
        self.assertIn("No space left on device", found[2])
        return int(found[1])

    def test_recorded_and_untracked_processes_are_all_processes(self):
        expected = model(300, self.ENDS)
        result = self.in_space("5m", TTMEM, "record", "--no-adapter", "-o", self.file, "--",
                               self.storm, "300", "64", self.ENDS)
        recorded = self.recorded()
        self.assertEqual(recorded, {label: expected[label] for label in recorded})
        self.assertEqual(len(recorded) + self.not_tracked(result.stderr), len(expected))
        self.assertIn("not tracked", self.ttmem("report", self.file).stdout)
        self.assertEqual(result.stdout, "")

    def test_in_a_summary(self):
        result = self.in_space("5m", TTMEM, "run", "--summary", "--no-adapter", "--", self.storm,
                               "300", "64", self.ENDS, after=f'"{TTMEM}" clean > "{self.file}"')
        rows = table_after(result.stderr, MOST)[1:]
        self.assertEqual(len(rows) + self.not_tracked(result.stderr),
                         len(model(300, self.ENDS)))
        self.assertEqual(result.stdout, "", "clean removes all that was left")

    def test_a_ring_takes_a_part_of_the_free_space(self):
        result = self.in_space("64m", TTMEM, "record", "--no-adapter", "-o", self.file, "--",
                               self.storm, "24", "24", "h")
        self.assertNotIn("not tracked", result.stderr)
        self.assert_recorded(model(24, "h"))


if __name__ == "__main__":
    unittest.main()
