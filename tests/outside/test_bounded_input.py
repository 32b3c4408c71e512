# SPDX-License-Identifier: Apache-2.0
"""`explain` and `import` take bounded memory, whatever the size of lines, texts and nodes in their
input."""

import pathlib
import resource
import subprocess
import threading
import unittest

from support import DEADLINE_SECONDS, MIB, TTMEM, Case, skip_if_sanitized

OUT_OF_MEMORY = (b"Out of Memory: Not enough space to allocate 6400 B L1 buffer across 64 banks, where "
                 b"each bank needs to store 100 B, but bank size is 1360704 B")
HUGE = 384 * MIB
ROOM = 256 * MIB  # limit of the address space


class BoundedCase(Case):
    def setUp(self):
        super().setUp()
        skip_if_sanitized()  # sanitizers need terabytes of address space

    def limited(self, *arguments, stdin=None):
        """Runs ttmem with a limited address space, and pipes the parts of `stdin` into it. Returns
        (exit code, standard output, standard error)."""
        running = subprocess.Popen(
            [TTMEM, *map(str, arguments)], env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM)))
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        feeder = threading.Thread(target=self.feed, args=(running.stdin, stdin or ()), daemon=True)
        feeder.start()
        out, said = running.stdout.read(), running.stderr.read()
        self.addCleanup(running.stdout.close)
        self.addCleanup(running.stderr.close)
        code = running.wait(DEADLINE_SECONDS)
        feeder.join(DEADLINE_SECONDS)
        return code, out.decode(), said.decode()

    @staticmethod
    def feed(pipe, parts):
        try:
            for part in parts:
                pipe.write(part)
            pipe.close()
        except OSError:
            pass  # ttmem closed the pipe, because it has read enough

    def file(self, *parts):
        path = pathlib.Path(self.dir) / "input"
        with open(path, "wb") as file:
            for part in parts:
                file.write(part)
        return path


def repeated(text, size=HUGE):
    block = text * (MIB // len(text))
    for _ in range(size // len(block)):
        yield block


class Explain(BoundedCase):
    def test_a_line_of_any_length_is_read_in_pieces(self):
        for line in ((*repeated(b"x"), b"\n", OUT_OF_MEMORY, b"\n"),
                     (OUT_OF_MEMORY, *repeated(b"x")),
                     (*repeated(b"x", 100 * MIB), OUT_OF_MEMORY, b". ", *repeated(b"x", 100 * MIB))):
            code, out, said = self.limited("explain", "-", stdin=line)
            self.assertEqual(code, 0, said)
            self.assertIn("100 B of L1 are asked for", out.replace("(100 B) ", "").replace("\n", " "))

    def test_a_message_is_found_wherever_the_pieces_end(self):
        for before in range((1 << 16) - len(OUT_OF_MEMORY) - 8, (1 << 16) + 8, 7):
            said = subprocess.run([TTMEM, "explain", "-"], env=self.env, capture_output=True,
                                  input=b"x" * before + OUT_OF_MEMORY, check=False,
                                  timeout=DEADLINE_SECONDS)
            self.assertIn(b"Out of memory in L1: 100 B", said.stdout, before)

    def test_millions_of_failures_are_not_kept(self):
        warning = b"Allocating is potentially unsafe due to the existence of an active trace\n"
        code, out, said = self.limited("explain", "-", stdin=(OUT_OF_MEMORY, b"\n", *repeated(warning)))
        self.assertEqual(code, 0, said)
        self.assertIn("Out of memory in L1", out)

    def test_a_progress_bar_counts_as_many_lines(self):
        code, out, said = self.limited(
            "explain", "-", stdin=(*repeated(b"\r 10%|#", 8 * MIB), b"\r", OUT_OF_MEMORY, b"\r\n"))
        self.assertEqual(code, 0, said)
        self.assertIn("Out of memory in L1", out)

    def test_an_unreadable_input_is_an_error(self):
        self.assertIn("Is a directory", self.ttmem("explain", self.dir, code=1).stderr)


class Import(BoundedCase):
    def refused(self, reason, *parts):
        path = self.file(*parts)
        code, _, said = self.limited("import", path, "-o", pathlib.Path(self.dir) / "out.ttmem")
        self.assertEqual(code, 1, said)
        self.assertIn(reason, said)
        self.assertIn(str(path), said)
        self.assertLess(len(said), 1000)
        self.assertFalse((pathlib.Path(self.dir) / "out.ttmem").exists())

    def test_texts_numbers_and_nodes_of_a_graph_are_bounded(self):
        node = b'{"counter": 0, "node_type": "capture_start"'
        self.refused("a text or a number of more than 1 MiB", b'[{"x": "', *repeated(b"y"), b'"}]')
        self.refused("a text or a number of more than 1 MiB", b"[", node, b', "x": ', *repeated(b"1"),
                     b"}]")
        self.refused("a node has more than 262144 values", b"[", node, b', "x": [', *repeated(b"0,"),
                     b"0]}]")
        self.refused("a node has more than 262144 values", b'{"graph": [', node, b'}], "devices": [',
                     *repeated(b"0,"), b"0]}")
        self.refused("more than", b'{"other": ', *repeated(b"["))

    def test_a_ttnn_report_may_be_large_beside_its_graph(self):
        path = self.file(b'{"other": [', *repeated(b'{"a": [1, 2]},', 64 * MIB), b'0], "graph": [',
                         b'{"counter": 0, "node_type": "capture_start"}]}')
        code, _, said = self.limited("import", path, "-o", pathlib.Path(self.dir) / "out.ttmem")
        self.assertEqual(code, 0, said)

    def test_a_line_of_a_capture_is_bounded(self):
        self.refused("longer than 1 MiB", b'{"ev": "mesh", "mesh_id": 0, "chips": [], "t_ns": 0, '
                     b'"thread": 0}\n{"ev": "', *repeated(b"x"), b'"}\n')


if __name__ == "__main__":
    unittest.main()
