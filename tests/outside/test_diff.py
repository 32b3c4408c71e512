# SPDX-License-Identifier: Apache-2.0
"""`ttmem diff`: the changes from one recording to another, and limits on them."""

import json
import pathlib
import unittest

from recording_file import Recording
from support import KIB, TTMEM, Case


class DiffCase(Case):
    def setUp(self):
        super().setUp()
        self.old = pathlib.Path(self.dir) / "old.ttmem"
        self.new = pathlib.Path(self.dir) / "new.ttmem"

    def write(self, path, *buffers, number=0, pid=7, uid=None):
        """Writes a recording of buffers that are live at the same time. A buffer is given as (kind,
        label, size)."""
        recording = Recording()
        device = recording.device(recording.process(pid, "model"), number, uid)
        for at, (kind, label, size) in enumerate(buffers):
            recording.allocate([device], kind, size, 10 + at, 1000 + at, label=label,
                               address=64 * at + pid if kind == "dram" else None)
        path.unlink(missing_ok=True)
        recording.save(path, ended=2000)

    def diff(self, *arguments, code=0):
        return self.ttmem("diff", self.old, self.new, *arguments, code=code)


class Diff(DiffCase):
    def test_another_chip_pid_and_address_is_no_change(self):
        buffers = (("dram", "weights", 1000), ("l1", "activation", 200))
        self.write(self.old, *buffers)
        self.write(self.new, *buffers, number=5, pid=99, uid="0xabc")
        diff = json.loads(self.diff("--json").stdout)
        self.assertEqual(diff["schema"], "ttmem.diff.v1")
        for memory in ("dram", "l1"):
            self.assertEqual([], [item for kind in diff[memory].values() for item in kind])
        for figure in diff["figures"]:
            self.assertIn(figure["change"], (0, None), figure)

    def test_changes_are_listed(self):
        self.write(self.old, ("dram", "weights", 1000), ("dram", "cache", 500), ("dram", "a", 10))
        self.write(self.new, ("dram", "weights", 1000), ("dram", "cache", 900), ("dram", "b", 20))
        diff = json.loads(self.diff("--json").stdout)["dram"]
        found = {kind: [(item["label"], item["change_bytes"]) for item in items]
                 for kind, items in diff.items()}
        self.assertEqual(found, {"added": [("b", 20)], "gone": [("a", -10)],
                                 "grown": [("cache", 400)], "shrunk": [], "other_sizes": []})
        text = self.diff().stdout
        for words in ("dram.peak", "grown", "cache", "added", "gone"):
            self.assertIn(words, text)
        self.assertIn("| grown | +400 B |", self.diff("--markdown").stdout)

    def test_sizes_below_1_mib_are_in_kib(self):
        self.write(self.old, ("dram", "weights", 64 * KIB))
        self.write(self.new, ("dram", "weights", 256 * KIB))
        self.assertRegex(self.diff().stdout,
                         r"grown +\+192\.0 KiB +64\.0 KiB \(1\) +256\.0 KiB \(1\)")

    def test_limits(self):
        self.write(self.old, ("dram", "w", 1000), ("l1", "a", 100))
        self.write(self.new, ("dram", "w", 1021), ("l1", "a", 100))
        for limit, code in (("dram.peak>+2%", 3), ("dram.peak>+3%", 0), ("dram.peak>+20", 3),
                            ("dram.peak>+21", 0), ("dram.peak>1KiB", 0), ("dram.peak>=1021", 3),
                            ("l1.peak>+0", 0), ("leak>0", 0)):
            result = self.diff("--fail-on", limit, code=code)
            self.assertEqual(limit in result.stderr, code == 3, limit)
        said = self.diff("--fail-on", "l1.peak>+0", "--fail-on", "dram.peak>+2%", code=3).stderr
        self.assertIn("dram.peak>+2%: it was", said)
        self.assertIn("+21 bytes, +2.1%", said)
        failed = json.loads(self.diff("--json", "--fail-on", "dram.peak>+2%", code=3).stdout)
        self.assertEqual(len(failed["failed"]), 1)

    def test_wrong_usage(self):
        self.write(self.old, ("dram", "w", 1000))
        self.write(self.new, ("dram", "w", 1000))
        self.assertIn("--fail-on dram.peak>+2 percent: ",
                      self.diff("--fail-on", "dram.peak>+2 percent", code=2).stderr)
        self.assertIn("exclude each other", self.diff("--json", "--markdown", code=2).stderr)
        self.assertIn("OLD NEW", self.ttmem("diff", self.old, code=2).stderr)
        said = self.ttmem("diff", self.old, TTMEM, code=1).stderr
        self.assertIn("is not a recording", said)
        self.assertEqual(len(said.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
