# SPDX-License-Identifier: Apache-2.0
"""In a folder such as /tmp, where other users may put links, commands that write files follow no
link and use unpredictable names."""

import os
import pathlib
import stat
import subprocess
import threading
import unittest

from recording_file import random_recording
from support import CAPTURES, DEADLINE_SECONDS, TTMEM, Case

NOBODY = 65534
CAPTURE = next(iter(sorted(CAPTURES.glob("*.jsonl"))), None)


class LinksCase(Case):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.dir) / "shared"
        self.folder.mkdir()
        self.victim = pathlib.Path(self.dir) / "victim"
        self.victim.write_text("precious")
        self.recording = pathlib.Path(self.dir) / "run.ttmem"
        random_recording(1, events=10).save(self.recording, ended=1_000_000)
        self.out = self.folder / "out"

    def writers(self):
        """Returns the commands that write the file `out`."""
        return (["export", self.recording, "--format", "csv", "-o", self.out],
                ["export", self.recording, "--format", "perfetto", "-o", self.out],
                ["report", self.recording, "--html", self.out])

    def run_with_links(self, command):
        """Runs the command after planting links to the victim. The names of the links are usual
        names of temporary files; some contain the pid of the command."""
        begin = subprocess.Popen(["sh", "-c", 'read go; exec "$@"', "sh", TTMEM, *map(str, command)],
                                 env=self.env, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for name in (f"out.part{begin.pid}", f"out.{begin.pid}", f".out.part{begin.pid}", "out.part",
                     "out.tmp", "out-journal", "out-wal"):
            (self.folder / name).symlink_to(self.victim)
        _, said = begin.communicate(b"\n", DEADLINE_SECONDS)
        return begin.returncode, said

    def empty(self):
        for path in self.folder.iterdir():
            path.unlink()


class Links(LinksCase):
    def test_a_link_under_the_name_of_the_unfinished_file_is_not_followed(self):
        for command in (*self.writers(), ["import", CAPTURE, "-o", self.out],
                        ["record", "-o", self.out, "--", "true"]):
            with self.subTest(command=command):
                self.empty()
                code, said = self.run_with_links(command)
                self.assertEqual(code, 0, said)
                self.assertEqual(self.victim.read_text(), "precious")
                self.assertGreater(self.out.stat().st_size, 0)
                self.assertTrue(stat.S_ISREG(self.out.lstat().st_mode))

    def test_a_folder_under_the_name_of_the_unfinished_folder_is_not_used(self):
        command = ["export", self.recording, "--format", "ttnn-visualizer", "-o", self.out]
        begin = subprocess.Popen(["sh", "-c", 'read go; exec "$@"', "sh", TTMEM, *map(str, command)],
                                 env=self.env, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        planted = self.folder / f"out.part{begin.pid}"
        planted.mkdir()
        _, said = begin.communicate(b"\n", DEADLINE_SECONDS)
        self.assertEqual(begin.returncode, 0, said)
        self.assertEqual(list(planted.iterdir()), [])
        self.assertTrue((self.out / "config.json").exists())

    def test_a_link_as_the_output_is_replaced_and_not_followed(self):
        for command in self.writers():
            self.out.symlink_to(self.victim)
            with self.subTest(command=command):
                self.ttmem(*command, "-f")
                self.assertEqual(self.victim.read_text(), "precious")
                self.out.unlink()

    def test_a_link_in_place_of_the_folder_is_not_followed(self):
        mine = pathlib.Path(self.dir) / "mine"
        mine.mkdir()
        for name in ("db.sqlite", "config.json"):
            (mine / name).write_text("precious")
        self.out.symlink_to(mine)
        for path in (self.out, f"{self.out}/"):
            self.ttmem("export", self.recording, "--format", "ttnn-visualizer", "-f", "-o", path, code=1)
            self.assertEqual([(mine / name).read_text() for name in ("db.sqlite", "config.json")],
                             ["precious"] * 2)

    @unittest.skipIf(os.geteuid() != 0, "only root can give a file away")
    def test_a_pipe_of_another_user_gets_nothing(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        os.chown(pipe, NOBODY, NOBODY)
        link = self.folder / "link"
        link.symlink_to(pipe)
        os.lchown(link, NOBODY, NOBODY)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        for path in (pipe, link):
            for command in (["export", self.recording, "--format", "csv", "-o", path],
                            ["report", self.recording, "--html", path, "-f"]):
                said = self.ttmem(*command, code=1).stderr
                self.assertIn(f"cannot write {path}", said)
                self.assertEqual(os.read(reader, 1), b"")

    def test_written_files_have_the_mode_of_the_umask_and_no_leftovers(self):
        for mask, mode in ((0o027, 0o640), (0o077, 0o600)):
            for command in self.writers():
                with self.subTest(command=command, mask=oct(mask)):
                    subprocess.run([TTMEM, *map(str, command)], env=self.env, check=True, umask=mask,
                                   timeout=DEADLINE_SECONDS)
                    self.assertEqual(stat.S_IMODE(self.out.stat().st_mode), mode)
                    self.assertEqual(os.listdir(self.folder), ["out"])
                    self.empty()

    def test_pipes_and_standard_output_are_written_directly(self):
        expected = self.ttmem("export", self.recording, "--format", "csv", "-o", "-").stdout
        self.assertIn("pid,process", expected)
        said = subprocess.run([TTMEM, "export", self.recording, "--format", "csv", "-o", "/dev/stdout"],
                              env=self.env, capture_output=True, check=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(said.stdout.decode(), expected)
        os.mkfifo(self.out)
        read = []
        reader = threading.Thread(target=lambda: read.append(self.out.read_text()))
        reader.start()
        self.ttmem("export", self.recording, "--format", "csv", "-o", self.out)
        reader.join(DEADLINE_SECONDS)
        self.assertEqual(read, [expected])
        self.ttmem("export", self.recording, "--format", "csv", "-o", "/dev/null")

    def test_a_failure_leaves_nothing(self):
        damaged = pathlib.Path(self.dir) / "damaged.ttmem"
        damaged.write_bytes(self.recording.read_bytes()[:6000])
        for command in (["export", damaged, "--format", "csv", "-o", self.out],
                        ["report", damaged, "--html", self.out]):
            self.ttmem(*command, code=1)
            self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
