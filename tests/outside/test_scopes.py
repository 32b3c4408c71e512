# SPDX-License-Identifier: Apache-2.0
"""Tests the nested scopes of a thread. Allocations and programs show the scopes in which they were
made."""

import pathlib
import subprocess
import sys
import unittest

from python_case import SOURCE
from support import LIBRARY, Case, library_path, pkg_config


class Scopes(Case):
    def scopes(self):
        """Returns the scope of each allocation, keyed by its label or its id."""
        return {entry["label"] or entry["id"]: entry["scope"]
                for entry in self.json("allocs")["allocations"]}

    def test_a_buffer_has_the_path_of_its_scopes(self):
        self.hold_calls("""
open_device()
alloc(DRAM, 1, 4096, label=b"outside")
push(b"decoder.0")
alloc(DRAM, 2, 4096, 1 << 21, label=b"weights")
push(b"attention")
alloc(L1, 3, 4096, label=b"q")
place(7, (105664, 2048, [(0, 0, 7, 7)]), name=b"matmul")
pop()
alloc(DRAM, 4, 4096, 1 << 22)
pop()
pop()
alloc(DRAM, 5, 4096, 1 << 23, label=b"after")
""")
        self.assertEqual(self.scopes(), {"outside": None, "weights": "decoder.0",
                                         "q": "decoder.0/attention", 4: "decoder.0",
                                         "after": None})
        [program] = self.json("programs")["programs"]
        self.assertEqual((program["scope"], program["name"]), ("decoder.0/attention", "matmul"))
        self.assertIn("decoder.0/attention/q", self.ttmem("allocs").stdout)
        self.assertIn("decoder.0/attention/matmul", self.ttmem("programs").stdout)
        groups = self.json("allocs", "--group-by", "scope")["groups"]
        self.assertEqual({group["scope"]: group["allocations"] for group in groups},
                         {None: 2, "decoder.0": 2, "decoder.0/attention": 1})
        # View 3 of `ttmem top` shows the map of the first core, with the scope of each buffer.
        self.assertIn("decoder.0/attention/q", self.ttmem("top", "--once", "--view", "3").stdout)

    def test_labels_of_every_length_are_kept(self):
        labels = ["x" * length for length in (1, 27, 28, 29, 31, 32, 33, 119, 120)]
        self.hold_calls("open_device()\npush(b'scope')\n" + "\n".join(
            f"alloc(DRAM, {i + 1}, 64, {(i + 1) << 20}, label={label.encode()!r})"
            for i, label in enumerate(labels)))
        self.assertEqual(self.scopes(), {label: "scope" for label in labels})

    def test_threads_have_their_own_scopes(self):
        self.hold_calls("""
import threading
open_device()
push(b"main")
def other():
    alloc(DRAM, 1, 64, 1 << 20, label=b"none")
    push(b"worker")
    alloc(DRAM, 2, 64, 2 << 20, label=b"own")
thread = threading.Thread(target=other)
thread.start()
thread.join()
alloc(DRAM, 3, 64, 3 << 20, label=b"still")
""")
        self.assertEqual(self.scopes(), {"none": None, "own": "worker", "still": "main"})

    def test_more_pops_than_pushes_and_too_many_of_both(self):
        self.hold_calls("""
open_device()
pop()
push(None)
push(b"")
for i in range(100):
    push(b"%d" % i)
alloc(DRAM, 1, 64, 1 << 20, label=b"deep")
for i in range(100):
    pop()
alloc(DRAM, 2, 64, 2 << 20, label=b"two")
pop()
pop()
pop()
alloc(DRAM, 3, 64, 3 << 20, label=b"none")
""")
        scopes = self.scopes()
        self.assertEqual(scopes["deep"].split("/"),
                         ["(unnamed)", "(unnamed)", *map(str, range(62))])
        self.assertEqual((scopes["two"], scopes["none"]), ("(unnamed)/(unnamed)", None))

    def test_hostile_characters_in_a_name_are_harmless(self):
        self.hold_calls("open_device()\npush(b'\\x1b[31m\\xff' + b'y' * 500)\n"
                        "alloc(DRAM, 1, 64, label=b'x')")
        scope = self.scopes()["x"]
        self.assertTrue(scope.startswith("?[31m?y"), scope)
        self.assertLessEqual(len(scope), 120)

    def test_a_child_that_is_forked_in_scopes_is_in_them(self):
        self.hold_calls("""
open_device()
push(b"outer")
push(b"inner")
if os.fork() == 0:
    open_device()
    alloc(DRAM, 1, 64, 1 << 20, label=b"child")
    pop()
    alloc(DRAM, 2, 64, 2 << 20, label=b"popped")
    hold()
    os._exit(0)
alloc(DRAM, 3, 64, 3 << 20, label=b"parent")
""")
        self.wait_for(lambda: len(self.scopes()) == 3, "the child's allocations")
        self.assertEqual(self.scopes(), {"child": "outer/inner", "popped": "outer",
                                         "parent": "outer/inner"})

    def test_python(self):
        source = """
import sys, ttmem
ttmem.device_open(0, arch="wormhole_b0", grid_x=8, grid_y=8, dram_channels=12)
try:
    with ttmem.scope("decoder.0"):
        with ttmem.scope("mlp"):
            ttmem.buffer_alloc(0, ttmem.BufferType.DRAM, 64, 4096, label="up")
            raise ValueError
except ValueError:
    pass
ttmem.mark("loaded")
ttmem.buffer_alloc(0, ttmem.BufferType.DRAM, 64, 8192, label="after")
print(flush=True)
sys.stdin.read()
"""
        env = self.tracked(TTMEM_LIB=LIBRARY, PYTHONPATH=str(SOURCE))
        self.start([sys.executable, "-c", source], env).line()
        self.assertEqual(self.scopes(), {"up": "decoder.0/mlp", "after": None})

    def test_cxx(self):
        source = pathlib.Path(self.dir) / "scoped.cpp"
        source.write_text("""
#include <cstdio>
#include <ttmem/scope.hpp>
int main() {
  const ttmem::Scope scope("layer.3");
  ttmem_buffer buffer{};
  buffer.struct_size = sizeof buffer;
  buffer.id = 1;
  buffer.bytes = 64;
  buffer.label = "bias";
  ttmem_buffer_alloc(0, &buffer);
  std::puts("");
  std::fflush(stdout);
  std::getchar();
}
""")
        program = source.with_suffix("")
        subprocess.run(["c++", "-std=c++17", source, "-o", program,
                        *pkg_config("--cflags", "--libs"), f"-Wl,-rpath,{library_path()}"],
                       check=True)
        self.start([program], self.tracked()).line()
        self.assertEqual(self.scopes(), {"bias": "layer.3"})


if __name__ == "__main__":
    unittest.main()
