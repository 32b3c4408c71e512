# SPDX-License-Identifier: Apache-2.0
"""Hostile files beside a recording. A journal may name any file for SQLite to delete, and in /tmp
any user may put a journal beside a recording. Reading a recording changes, creates and deletes no
file."""

import os
import pathlib
import re
import sqlite3
import stat
import struct
import unittest
import urllib.request

from test_hostile_recordings import SECONDS, HostileCase

MAGIC = bytes.fromhex("d9d505f920a163d7")
NOBODY = 65534


def journal(recording, whole_pages=None, super_journal=None, pages=()):
    """Returns a hot rollback journal, which restores `pages` ({number: bytes}) and cuts the file to
    `whole_pages`."""
    data = recording.read_bytes()
    page_bytes = int.from_bytes(data[16:18], "big")
    if whole_pages is None:
        whole_pages = len(data) // page_bytes
    written = MAGIC + struct.pack(">5I", len(pages), 0, whole_pages, 512, page_bytes)
    written = written.ljust(512, b"\0")
    for number, page in dict(pages).items():
        checksum = sum(page[at] for at in range(page_bytes - 200, 0, -200))
        written += struct.pack(">I", number) + page + struct.pack(">I", checksum)
    if super_journal is not None:
        name = os.fsencode(super_journal)
        checksum = sum(byte - 256 if byte > 127 else byte for byte in name) & 0xffffffff
        written += struct.pack(">I", 0x40000000 // page_bytes + 1) + name
        written += struct.pack(">II", len(name), checksum) + MAGIC
    return written


class Sidecars(HostileCase):
    def setUp(self):
        super().setUp()
        self.victim = pathlib.Path(self.dir) / "victim"
        self.victim.write_text("precious")
        self.victim.chmod(0o600)
        self.recording = self.model("run")
        self.beside = pathlib.Path(f"{self.recording}-journal")

    def commands(self, path):
        yield from super().commands(path)
        yield "explain", "--recording", path

    def on_disk(self):
        """Returns the files that must not change: {name: (mode, owner, number of links, time of the
        last change, contents)}."""
        found = {}
        for path in pathlib.Path(self.dir).iterdir():
            if ".out." in path.name or not path.name.startswith(("run", "victim", "fifo", "hot")):
                continue
            about = path.lstat()
            found[path.name] = (about.st_mode, about.st_uid, about.st_nlink, about.st_mtime_ns,
                                path.read_bytes() if stat.S_ISREG(about.st_mode) else None)
        return found

    def read_all(self, codes=frozenset({0, 3, 4})):
        """Asserts that every command that reads a recording changes no file."""
        before = self.on_disk()
        self.assertIn("victim", before)
        self.assertLessEqual(set(self.run_all([self.recording], every=True)), set(codes))
        self.assertEqual(self.on_disk(), before)
        return before

    def look_all(self, before):
        """Asserts that `view` and `top --replay` change no file."""
        viewer = self.start_ttmem("view", "--no-open", "--http", "127.0.0.1:0", self.recording)
        url = re.search(r"http://\S+", viewer.line("stderr"))[0]
        with urllib.request.urlopen(url + "api/v1/recording", timeout=SECONDS) as answer:
            self.assertIn(b"weights", answer.read())
        with urllib.request.urlopen(url + "api/v1/export?format=csv", timeout=SECONDS) as answer:
            answer.read()
        viewer.end()
        self.on_terminal(160, 50, "top", "--replay", self.recording, until="Device 0")
        self.assertEqual(self.on_disk(), before)

    def test_a_journal_that_names_a_file_to_delete(self):
        self.beside.write_bytes(journal(self.recording, super_journal=self.victim))
        self.look_all(self.read_all())

    def test_a_journal_that_names_a_pipe(self):
        os.mkfifo(f"{self.dir}/fifo")
        self.beside.write_bytes(journal(self.recording, super_journal=f"{self.dir}/fifo"))
        self.look_all(self.read_all())

    def test_a_journal_that_names_the_recording_and_itself(self):
        for name in (self.recording, self.beside):
            self.beside.write_bytes(journal(self.recording, super_journal=name))
            self.read_all()

    def test_an_empty_journal(self):
        self.beside.touch()
        self.look_all(self.read_all())

    def test_a_journal_that_removes_everything(self):
        self.beside.write_bytes(journal(self.recording, whole_pages=0))
        self.read_all({1})

    def test_a_journal_that_changes_the_recording(self):
        """The reader does not see a half-written transaction of the recording's owner, but the file
        keeps the transaction."""
        data = self.recording.read_bytes()
        page_bytes = int.from_bytes(data[16:18], "big")
        pages = [(number + 1, data[number * page_bytes:(number + 1) * page_bytes])
                 for number in range(len(data) // page_bytes)]
        undo = journal(self.recording, pages=pages)
        file = sqlite3.connect(self.recording)
        file.execute("UPDATE texts SET text = 'half written'")
        file.commit()
        file.close()
        self.beside.write_bytes(undo)
        self.assertNotIn(b"weights", self.recording.read_bytes())
        before = self.read_all()
        self.assertIn("weights", self.ttmem("report", self.recording).stdout)
        self.look_all(before)

    def test_a_journal_that_is_not_a_regular_file(self):
        os.mkfifo(f"{self.dir}/fifo")
        hot = pathlib.Path(self.dir) / "hot"
        hot.write_bytes(journal(self.recording, whole_pages=0))
        for make in (self.beside.mkdir, lambda: os.mkfifo(self.beside),
                     lambda: self.beside.symlink_to(hot), lambda: self.beside.symlink_to("fifo"),
                     lambda: self.beside.symlink_to("nothing")):
            make()
            before = self.read_all()
            self.look_all(before)
            self.beside.rmdir() if self.beside.is_dir() else self.beside.unlink()

    @unittest.skipIf(os.geteuid() != 0, "only root can give a file away")
    def test_a_journal_of_another_user(self):
        # SQLite ignores a journal that names a super-journal which does not exist.
        for name in (self.victim, None):
            self.beside.write_bytes(journal(self.recording, whole_pages=0, super_journal=name))
            os.chown(self.beside, NOBODY, NOBODY)
            self.look_all(self.read_all())

    @unittest.skipIf(os.geteuid() != 0, "only root can give a file away")
    def test_a_recording_of_another_user(self):
        self.beside.write_bytes(journal(self.recording, super_journal=self.victim))
        for path in (self.recording, self.beside):
            os.chown(path, NOBODY, NOBODY)
        self.read_all()

    def test_a_log_and_its_index_are_not_read(self):
        for name in ("wal", "shm"):
            pathlib.Path(f"{self.recording}-{name}").write_bytes(b"\x37\x7f\x06\x82" + bytes(40_000))
        self.look_all(self.read_all())

    def test_a_recording_with_a_log_is_refused(self):
        for header in ((2, 2), (1, 2), (2, 1)):
            data = bytearray(self.recording.read_bytes())
            data[18:20] = header
            self.recording.write_bytes(data)
            for name in ("wal", "shm"):
                pathlib.Path(f"{self.recording}-{name}").write_bytes(b"")
            self.read_all({1})
            said = self.ttmem("report", self.recording, code=1).stderr
            self.assertIn(str(self.recording), said)
            self.assertIn("PRAGMA journal_mode=DELETE", said)
            self.assertEqual(self.run_one(("view", "--no-open", self.recording)), 1)

    def test_a_link_to_a_recording(self):
        link = pathlib.Path(self.dir) / "run.link.ttmem"
        link.symlink_to(self.recording)
        self.beside.write_bytes(journal(self.recording, super_journal=self.victim))
        pathlib.Path(f"{link}-journal").write_bytes(journal(self.recording, whole_pages=0))
        before = self.on_disk()
        self.assertLessEqual(set(self.run_all([link], every=True)), {0, 3, 4})
        self.assertEqual(self.on_disk(), before)


if __name__ == "__main__":
    unittest.main()
