# SPDX-License-Identifier: Apache-2.0
"""When a process runs out of memory, its state at that moment is kept until after its end."""

import os
import signal
import sqlite3
import subprocess
import sys

from support import HERE, LIBRARY, TTMEM, Case

OOM = "Out of Memory: Not enough space to allocate 4096 B DRAM buffer"
HELD = "open_device(0)\nalloc(DRAM, 1, 1024, label=b'weights')\n"
FAILED = HELD + f"lib.ttmem_failure({OOM.encode()!r})\nfree(DRAM, 1)\nlib.ttmem_device_close(0)\n"


class FailureCase(Case):
    def run_calls(self, source, code=0, env=None, prefix=()):
        """Runs a process that makes these calls of the C interface and ends."""
        env = {**self.tracked(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE)), **(env or {})}
        result = subprocess.run([*prefix, sys.executable, "-c",
                                 "import sys\nfrom abi import *\n" + source],
                                env=env, text=True, capture_output=True, timeout=60)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def copies(self):
        return [name for name in self.files() if name.endswith(".failed")]


class TheCopy(FailureCase):
    def test_stays_after_a_nonzero_exit(self):
        self.run_calls(FAILED + "raise SystemExit(3)", code=3)
        self.assertEqual(self.files(), self.copies())
        self.assertEqual(len(self.copies()), 1)
        self.assertEqual(self.devices(), [], "nobody holds anything now")
        said = self.ttmem("clean", "--dry-run").stdout
        self.assertIn(f"\n  {OOM}\n", said)
        self.assertRegex(said, r"^Process \d+ \(python\S*\) of \S+ failed, and what it held then")
        self.assertIn("Removed.", self.ttmem("clean").stdout)
        self.assertEqual(self.files(), [])

    def test_is_removed_after_exit_0(self):
        self.run_calls(FAILED)
        self.assertEqual(self.files(), [])

    def test_stays_when_the_process_is_killed(self):
        self.run_calls(FAILED + "os.kill(os.getpid(), 9)", code=-signal.SIGKILL)
        self.assertEqual(len(self.copies()), 1)
        self.assertEqual(len(self.files()), 2, "the segment of the dead process too")
        self.ttmem("clean")
        self.assertEqual(self.files(), [])

    def test_is_not_touched_while_its_process_lives(self):
        held = self.hold_calls(FAILED)
        (copy,) = self.copies()
        self.assertIn("Nothing to clean", self.ttmem("clean").stdout)
        (device,) = self.devices() or [None]
        self.assertIsNone(device)
        self.assertEqual(self.copies(), [copy])
        held.kill()

    def test_has_the_requested_mode(self):
        self.run_calls(FAILED + "raise SystemExit(1)", code=1, env={"TTMEM_MODE": "0644"})
        (copy,) = self.copies()
        self.assertEqual(os.stat(os.path.join(self.dir, copy)).st_mode & 0o777, 0o644)

    def test_of_a_forked_child_is_its_own(self):
        """The parent exits with 0, so the copy of its state is removed. The copy of the child,
        which exits with 1, stays."""
        self.run_calls(FAILED + "child = os.fork()\n"
                       "if child == 0:\n"
                       "    open_device(0)\n"
                       "    lib.ttmem_failure(b'the child')\n"
                       "    raise SystemExit(1)\n"
                       "os.waitpid(child, 0)")
        (copy,) = self.copies()
        with open(os.path.join(self.dir, copy), "rb") as file:
            self.assertIn(b"the child", file.read())

    def test_of_the_parent_survives_the_exit_of_a_child(self):
        self.run_calls(FAILED + "child = os.fork()\n"
                       "if child == 0:\n"
                       "    sys.exit(0)\n"
                       "os.waitpid(child, 0)\n"
                       "raise SystemExit(1)", code=1)
        self.assertEqual(len(self.copies()), 1)

    def test_is_removed_by_exec(self):
        again = "from abi import *; open_device(0); raise SystemExit(1)"
        self.run_calls(FAILED + f"os.execv(sys.executable, [sys.executable, '-c', {again!r}])",
                       code=1)
        self.assertEqual(self.files(), [])

    def test_is_not_made_without_tracking(self):
        self.run_calls(FAILED + "raise SystemExit(1)", code=1,
                       env={"TT_ALLOC_TRACKING_ENABLED": "0"})
        self.assertEqual(self.files(), [])

    def fail_in_little_space(self, size, source, then="true"):
        """Runs a process that makes these calls and exits with 1, in a directory of segments of
        this size. Then runs the shell command `then`."""
        script = (f'mount -t tmpfs -o size={size} none "{self.dir}" || exit 77\n'
                  f'"$@"; code=$?; {then}; exit $code')
        result = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, "-c",
             "from abi import *\n" + source + "print(sorted(os.listdir(os.environ['TTMEM_DIR'])))\n"
             "raise SystemExit(1)"],
            env=self.tracked(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE)), text=True,
            capture_output=True, timeout=60)
        if "Operation not permitted" in result.stderr or result.returncode == 77:
            self.skipTest("mounting a tmpfs needs root and a kernel that lets it")
        self.assertEqual(result.returncode, 1, result.stderr)
        return result

    def test_is_not_made_in_a_full_directory(self):
        """The directory has room for the segment, but not for a copy."""
        result = self.fail_in_little_space("1200k", FAILED)
        self.assertEqual(result.stdout.count("ttmem."), 1, result.stdout)
        self.assertNotIn("failed", result.stdout)

    def test_takes_at_most_a_quarter_of_the_free_space(self):
        """The library makes no larger copy, because other processes need the memory. `ttmem
        explain` still shows the message of the failure."""
        many = "for i in range(2, 20000): alloc(DRAM, i, 1024)\n"
        result = self.fail_in_little_space("8m", FAILED.replace("lib.ttmem_f", many + "lib.ttmem_f"),
                                           f'ls "{self.dir}"; {TTMEM} explain')
        before, after, *_ = result.stdout.splitlines()
        self.assertNotIn("failed", before)
        self.assertRegex(after, r"^ttmem\.[\d.]+\.failed$")
        self.assertRegex(result.stderr, rf"^ttmem: \d+ failed: {OOM}\n"
                         "ttmem: the state of that moment could not be kept: No space left")

    def test_a_missing_text_is_counted(self):
        held = self.hold_calls("open_device(0)\nlib.ttmem_failure(None)\nlib.ttmem_failure(b'')")
        self.assertEqual(self.copies(), [])
        self.assertIn("2 calls", "".join(self.json()["warnings"]))
        held.kill()


class ARecording(FailureCase):
    def test_has_the_failure(self):
        file = os.path.join(self.dir, "run.ttmem")
        long = OOM + "\\nsecond line"
        source = FAILED.replace(OOM, long) + "raise SystemExit(1)"
        self.run_calls(source, code=1, prefix=[TTMEM, "record", "-o", file, "--"])
        with sqlite3.connect(file) as database:
            ((time, pid, text),) = database.execute(
                "SELECT time_ns, pid, text FROM failures JOIN processes ON process = processes.id")
        database.close()
        self.assertGreater(time, 0)
        self.assertEqual(text, OOM + "\nsecond line")
        said = self.ttmem("report", file).stdout
        self.assertIn(f"Out of memory in process {pid} (python", said)
        self.assertIn("Out of Memory: Not enough space", " ".join(said.split()))
        (failure,) = self.json("report", file)["failures"]
        self.assertEqual(failure["text"], text)
        self.assertEqual(failure["pid"], pid)

    def test_of_an_earlier_version_opens(self):
        file = os.path.join(self.dir, "run.ttmem")
        self.run_calls(HELD, prefix=[TTMEM, "record", "-o", file, "--"])
        with sqlite3.connect(file) as database:
            database.execute("DROP TABLE failures")
        database.close()
        self.assertEqual(self.json("report", file)["failures"], [])


class Run(FailureCase):
    """`ttmem run` reports failures after the command ended."""

    def run_it(self, source, code, *options):
        """Returns the standard error of ttmem and the command."""
        result = self.run_calls(source, code=code, prefix=[TTMEM, "run", *options, "--no-adapter",
                                                           "--"])
        return result.stderr

    def test_explains_the_failure(self):
        said = self.run_it("print('mine', file=sys.stderr, flush=True)\n" + FAILED +
                           "raise SystemExit(3)", 3)
        self.assertRegex(said, rf"^mine\nttmem: \d+ failed: {OOM}\n")
        self.assertEqual(len(self.copies()), 1, "for `ttmem explain`")

    def test_says_nothing_about_a_caught_failure(self):
        self.assertEqual(self.run_it(FAILED, 0), "")
        self.assertEqual(self.files(), [])

    def test_says_nothing_about_other_exit_codes(self):
        self.assertEqual(self.run_it(HELD + "raise SystemExit(4)", 4), "")

    def test_says_nothing_about_other_processes(self):
        self.run_calls(FAILED + "raise SystemExit(1)", code=1)
        self.assertEqual(self.run_it(HELD + "raise SystemExit(1)", 1), "")

    def test_says_nothing_with_no_explain(self):
        self.assertEqual(self.run_it(FAILED + "raise SystemExit(1)", 1, "--no-explain"), "")
        self.assertEqual(len(self.copies()), 1)

    def test_explains_the_first_of_several_processes(self):
        said = self.run_it("for name in (b'first', b'second', b'third'):\n"
                           "    child = os.fork()\n"
                           "    if child == 0:\n"
                           "        open_device(0)\n"
                           "        lib.ttmem_failure(name)\n"
                           "        raise SystemExit(1)\n"
                           "    os.waitpid(child, 0)\n"
                           "raise SystemExit(1)", 1)
        self.assertRegex(said, r"^ttmem: \d+ failed: first\n"
                               r"ttmem: and 2 processes more failed after it\n$")

    def test_a_command_that_was_killed(self):
        said = self.run_it(FAILED + "os.kill(os.getpid(), 9)", -signal.SIGKILL)
        self.assertIn(f"failed: {OOM}\n", said)

    def test_an_unreadable_copy_is_a_warning(self):
        with open(os.path.join(self.dir, "ttmem.0.1.2.failed"), "w", encoding="ascii") as file:
            file.write("anything")
        said = self.run_it(HELD + "raise SystemExit(1)", 1)
        self.assertRegex(said, r"^ttmem: warning: cannot read \S+/ttmem.0.1.2.failed: .*\n$")

    def test_with_a_summary(self):
        said = self.run_it(FAILED + "raise SystemExit(1)", 1, "--summary")
        self.assertIn(f"failed: {OOM}\n", said)
