# SPDX-License-Identifier: Apache-2.0
"""The prolog and the epilog for Slurm, run as slurmd runs them: as root, with variables about the
job and almost no other variables. The scripts must always succeed: after a failure Slurm would
drain the node."""

import json
import os
import pathlib
import pwd
import subprocess
import unittest

from support import DEADLINE_SECONDS, HERE, TTMEM, Case

SLURM = HERE.parent.parent / "packaging" / "deploy" / "slurm"
USER = pwd.getpwuid(os.getuid()).pw_name
SHELLS = ("dash", "bash")

LOGGER = """#!/bin/sh
printf '%s\\n' "$4" >>"$LOG"
"""

# Runs a command with ttmem's commands in /usr/local/bin, where the scripts find them, and with a
# full disk at $1. The mounts need a mount namespace of their own.
LIKE_SLURMD = """mount --make-rprivate / && mount -t tmpfs tmpfs /usr/local/bin &&
cp -P "$BIN"/* /usr/local/bin && mount -t tmpfs -o size=4k tmpfs "$1" && shift && exec env -u PATH "$@"
"""


def mounts_refused():
    said = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
                          capture_output=True, text=True)
    return said.stderr.strip()


class Slurm(Case):
    def setUp(self):
        super().setUp()
        self.bin = pathlib.Path(self.dir) / "bin"
        self.left = pathlib.Path(self.dir) / "left"
        self.log = pathlib.Path(self.dir) / "log"
        self.bin.mkdir()
        (self.bin / "logger").write_text(LOGGER)
        (self.bin / "logger").chmod(0o755)
        (self.bin / "ttmem").symlink_to(TTMEM)

    def slurmd(self, script, job, *before, shell="dash", **more):
        """Runs a script. Returns the lines that it wrote into the log."""
        self.log.unlink(missing_ok=True)
        env = {"PATH": f"{self.bin}:/usr/bin:/bin", "LOG": str(self.log), "BIN": str(self.bin),
               "TTMEM_DIR": self.dir, "TTMEM_SYSROOT": "/nonexistent",
               "TTMEM_LEFT_DIR": str(self.left), "SLURM_JOB_ID": job, "SLURM_JOBID": job,
               "SLURM_JOB_USER": "root", "SLURM_JOB_UID": "0", "SLURMD_NODENAME": "node1",
               "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""), **more}
        said = subprocess.run([*before, shell, SLURM / f"{script}.sh"], env=env, text=True,
                              capture_output=True, timeout=DEADLINE_SECONDS)
        self.assertEqual((said.returncode, said.stdout, said.stderr), (0, "", ""))
        return self.log.read_text().splitlines() if self.log.exists() else []

    def of_job(self, **variables):
        env = {**self.env, **variables}
        demo = self.start([TTMEM, "demo", "single", "--hold"], env)
        demo.line("stderr")
        return demo

    def files_left(self):
        return sorted(path.name for path in self.left.glob("*"))

    def test_every_shell_accepts_the_scripts(self):
        for shell in SHELLS:
            for script in ("prolog", "epilog"):
                subprocess.run([shell, "-n", SLURM / f"{script}.sh"], check=True)
                self.assertTrue(os.access(SLURM / f"{script}.sh", os.X_OK))

    def test_a_job_that_left_nothing_is_not_mentioned(self):
        self.of_job(SLURM_JOB_ID="5")
        for shell in SHELLS:
            self.assertEqual(self.slurmd("epilog", "4", shell=shell), [])
        self.assertEqual(self.files_left(), [])

    def test_a_job_that_left_a_dead_and_a_live_process(self):
        dead = self.of_job(SLURM_JOB_ID="47", SLURM_PROCID="3")
        alive = self.of_job(SLURM_JOB_ID="47", SLURM_PROCID="4")
        self.of_job(SLURM_JOB_ID="48")
        dead.kill()
        for shell in SHELLS:
            said = self.slurmd("epilog", "47", shell=shell)
            self.assertEqual(said[0], "job 47: left device memory behind: ttmem --job 47")
            rows = [line.split()[2:6] for line in said[2:4]]
            self.assertEqual(sorted(rows), sorted([[str(dead.pid), USER, "dead", "3"],
                                                   [str(alive.pid), USER, "alive", "4"]]))
            left = json.loads((self.left / "job-47.json").read_text())
            pids = [row["pid"] for device in left["devices"] for row in device["processes"]]
            self.assertEqual(sorted(pids), sorted([dead.pid, alive.pid]))
        self.assertEqual(self.files_left(), ["job-47.json"])
        self.assertEqual((self.left / "job-47.json").stat().st_mode & 0o7777, 0o640)

    def test_the_prolog_removes_dead_segments_and_names_live_processes(self):
        self.of_job(SLURM_JOB_ID="47").kill()
        alive = self.of_job(SLURM_JOB_ID="48")
        said = self.slurmd("prolog", "49")
        self.assertIn("job 49: before: 1 dead process held:", said)
        self.assertIn("job 49: before: Removed.", said)
        self.assertRegex(said[-1], rf"^job 49: still there: +{alive.pid} +{USER} +48 .*demo single")
        for shell in SHELLS:
            said = self.slurmd("prolog", "50", shell=shell)
            self.assertEqual([line.split()[:4] for line in said],
                             [["job", "50:", "still", "there:"]] * 2)
        alive.signal(15)
        alive.wait()
        self.assertEqual(self.slurmd("prolog", "51"), [])

    def test_hostile_names_are_text(self):
        name = "$(touch x) `touch x`; touch x \x1b[31m\nof: 47\u202e"
        self.of_job(SLURM_JOB_ID="47", SLURM_JOB_NAME=name, SLURM_JOB_PARTITION=name).kill()
        self.of_job(TTMEM_JOB=name).kill()
        said = self.slurmd("epilog", "47", SLURM_JOB_NAME=name, SLURM_JOB_COMMENT=name)
        self.assertEqual([line[:8] for line in said], ["job 47: "] * len(said))
        for job in ("../../x", "$(touch x)", "", "-1", "4 7"):
            self.assertEqual(self.slurmd("epilog", job), [], job)
        self.slurmd("prolog", "$(touch x)", SLURM_JOB_NAME=name)
        self.assertEqual(self.files_left(), ["job-47.json"])
        self.assertFalse(list(pathlib.Path(self.dir).rglob("x")) or pathlib.Path("x").exists())

    def test_without_ttmem_nothing_happens(self):
        self.of_job(SLURM_JOB_ID="47").kill()
        (self.bin / "ttmem").unlink()
        for script in ("prolog", "epilog"):
            self.assertEqual(self.slurmd(script, "47"), [])

    def test_failures_to_read_or_write_are_logged(self):
        said = self.slurmd("epilog", "47", TTMEM_DIR=str(self.bin / "ttmem"))
        self.assertRegex(said[0], "^job 47: cannot say what it left: .*/bin/ttmem")
        self.of_job(SLURM_JOB_ID="47").kill()
        self.left.write_text("no folder")
        self.assertEqual(self.slurmd("epilog", "47")[-1],
                         f"job 47: cannot write {self.left}/job-47.json: is the disk full?")

    @unittest.skipIf(mounts_refused(), f"no mount namespaces here: {mounts_refused()}")
    def test_without_a_path_and_on_a_full_disk(self):
        self.of_job(SLURM_JOB_ID="47").kill()
        self.left.mkdir()
        said = self.slurmd("epilog", "47", "unshare", "--mount", "sh", "-c", LIKE_SLURMD, "sh",
                           self.left, shell="/bin/dash")
        self.assertRegex(said[2], r" dead .*demo single --hold$")
        self.assertEqual(said[-1], f"job 47: cannot write {self.left}/job-47.json: is the disk full?")


if __name__ == "__main__":
    unittest.main()
