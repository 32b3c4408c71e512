# SPDX-License-Identifier: Apache-2.0
"""The base class of the tests of `ttmem export`."""

import pathlib

from recording_file import Recording
from support import Case

SEEDS = (1, 2, 3)


class ExportCase(Case):
    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.dir) / "run.ttmem"

    def save(self, recording):
        self.path.unlink(missing_ok=True)
        recording.save(self.path, ended=1_000_000)
        return recording

    def export(self, form, *arguments, name="out"):
        out = pathlib.Path(self.dir) / name
        said = self.ttmem("export", self.path, "--format", form, "-f", "-o", out, *arguments).stderr
        return out, said

    def small(self):
        recording = Recording()
        process = recording.process(7, "model")
        device = recording.device(process, 0)
        recording.allocate([device], "dram", 4000, 10, per_bank=512, banks=8, label="weights",
                           scope="decoder.0/attention", address=64)
        recording.allocate([device], "l1", 1000, 20, 30, label="activation")
        return self.save(recording)
