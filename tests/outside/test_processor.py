# SPDX-License-Identifier: Apache-2.0
"""The installed processor, compiled by a foreign CMake project against a target with TT-Metal's
name."""

import pathlib
import subprocess
import tempfile
import unittest

from support import HERE, PREFIX, Case, library_path, skip_if_sanitized

CORES = 49
CHIPS = 8


class TheProcessor(Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-processor-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def cmake(self, name, *options, code=0):
        skip_if_sanitized()  # a static library with sanitizers needs programs with sanitizers
        build = self.folder / name
        prefixes = f"{PREFIX};{HERE / 'processor'}"
        result = subprocess.run(
            ["cmake", "-S", str(HERE / "processor"), "-B", str(build), "-DCMAKE_BUILD_TYPE=Debug",
             f"-DCMAKE_PREFIX_PATH={prefixes}", f"-Dtt-metalium_DIR={HERE / 'processor'}", *options],
            text=True, capture_output=True, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return build if code == 0 else result.stderr

    def build(self, name, *options):
        build = self.cmake(name, *options)
        result = subprocess.run(["cmake", "--build", str(build), "-j", "2"], text=True,
                                capture_output=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return build / "host"

    def cbs(self, pid):
        return [(p["cb_bytes"] // CORES, d["programs"], p["cb_estimate"])
                for d in self.devices() for p in d["processes"] if p["pid"] == pid]

    def expect(self, running, step, physical, programs, estimate):
        said, number = running.line().rsplit(" ", 1)
        self.assertEqual(said, step)
        wanted = [(physical, programs, estimate)] * CHIPS
        self.wait_for(lambda: self.cbs(int(number)) == wanted, f"{step}: {wanted}")

    def dram(self, pid):
        return {p["dram_bytes"] for d in self.devices() for p in d["processes"] if p["pid"] == pid}

    def test_with_a_target_figures_are_exact_or_marked(self):
        host = self.build("named", "-DTTMEM_TT_METAL_TARGET=TT::Metalium", "-DPACKAGE=ON")
        env = self.tracked(TTMEM_DRYRUN_SYSTEM="t3000", LD_LIBRARY_PATH=library_path())
        running = self.start([str(host)], env)
        self.expect(running, "tracked", 8192, 2, False)
        self.assertEqual({d["l1"]["cb"]["resident_bytes"] for d in self.devices()}, {CORES * 4096})
        running.go_on()
        self.expect(running, "evicted", 4096, 1, False)
        running.go_on()
        self.expect(running, "nameless", 2048, 1, False)
        running.go_on()
        self.expect(running, "guessed", 4096, 2, True)
        self.assertRegex(self.ttmem("--device", 0).stdout, r"\n +CB: ~")
        running.go_on()
        self.expect(running, "gone", 0, 0, False)
        running.go_on()
        self.assertEqual(running.line().split()[0], "buffer")
        one = self.dram(running.pid)
        self.assertNotIn(0, one)
        running.go_on()
        self.assertEqual(running.line().split()[0], "reopened")
        self.assertEqual(self.dram(running.pid), one, "nothing of before stays")
        running.go_on()
        self.assertEqual(running.line().rsplit(" ", 1)[0], "old freed")
        self.assertEqual(self.dram(running.pid), one)
        self.assertEqual({d["anomalies"]["unknown_frees"] for d in self.devices()}, {0})
        running.go_on()
        self.expect(running, "child", 2048, 2, False)  # the child and its parent
        running.go_on()
        self.expect(running, "parent", 4096, 1, False)
        running.go_on()
        self.assertEqual(running.wait(), 0)

    def test_a_target_of_the_project_is_used_and_the_dry_run_by_default(self):
        self.cmake("of-the-project", "-DTTMEM_TT_METAL_TARGET=TT::Metalium")
        self.cmake("dry", "-DPACKAGE=OFF")

    def test_a_missing_target_is_named(self):
        error = self.cmake("none", "-DTTMEM_TT_METAL_TARGET=Somebody::Else", "-DPACKAGE=ON", code=1)
        self.assertIn("there is no target Somebody::Else", " ".join(error.split()))


if __name__ == "__main__":
    unittest.main()
