# SPDX-License-Identifier: Apache-2.0
"""Runs scripts/check_names on this tree, and on small trees with one fault each."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]


def faults(root):
    """Returns the lines of the check's output. Asserts that the check fails if and only if it
    prints something."""
    result = subprocess.run([sys.executable, ROOT / "scripts" / "check_names", root],
                            text=True, capture_output=True)
    lines = result.stderr.splitlines()
    assert result.returncode == (1 if lines else 0), result
    return lines


class CheckNames(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ttmem-test-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("src/read/a.hpp",
                   "namespace ttmem::read {\nstruct Failure {\n  struct Part {};\n};\n}\n")
        self.write("src/read/CMakeLists.txt", "add_library(ttmem_read STATIC a.cpp)\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_this_tree_has_none(self):
        self.assertEqual(faults(ROOT), [])

    def test_a_name_of_another_folder(self):
        self.write("src/show/b.cpp", "namespace {\nenum class Failure { no };\n}\n")
        self.assertEqual(faults(self.root), [
            "src/show/b.cpp: the type Failure is also defined in src/read/a.hpp; rename one of them"])

    def test_a_name_of_two_other_folders_is_one_fault(self):
        self.write("src/show/b.cpp", "struct Failure {};\n")
        self.write("src/text/c.cpp", "struct Failure {};\n")
        self.assertEqual(faults(self.root), [
            "src/text/c.cpp: the type Failure is also defined in src/read/a.hpp, src/show/b.cpp; "
            "rename one of them"])

    def test_a_class_with_bases_on_two_lines(self):
        self.write("src/show/b.hpp", "class Failure final : public Base,\n  public Other {\n};\n")
        self.assertEqual(len(faults(self.root)), 1)

    def test_a_template(self):
        self.write("src/show/b.hpp", "template <typename T, typename = std::void_t<T>>\n"
                                     "class [[nodiscard]] Failure {\n};\n")
        self.assertEqual(len(faults(self.root)), 1)

    def test_an_alias_of_something_else(self):
        self.write("src/show/b.hpp", "using Failure = std::vector<\n    std::string>;\n")
        self.assertEqual(faults(self.root), [
            "src/show/b.hpp: the type Failure is also defined in src/read/a.hpp; rename one of them"])

    def test_what_is_no_second_definition(self):
        self.write("src/show/b.hpp", "struct Failure;\nstruct Other {\n  struct Failure {};\n};\n"
                                     "struct Part {};\nFailure make(struct Failure x);\n"
                                     "using Failure = read::Failure;\n")
        self.write("src/show/b.cpp", "struct Other::State {};\ntemplate <>\nstruct Other<int> {};\n")
        self.write("simulator/dryrun/c.hpp", "struct Failure {};\n")
        self.assertEqual(faults(self.root), [])

    def test_a_namespace_of_another_folder(self):
        self.write("src/show/tui/b.cpp", "namespace ttmem::read {\n}\n")
        self.assertEqual(faults(self.root), [
            "src/show/tui/b.cpp: the namespace ttmem::read is not named after its folder; "
            "name it ttmem::tui"])

    def test_a_target_of_another_folder(self):
        self.write("src/show/tui/CMakeLists.txt", "add_library(ttmem_screen STATIC b.cpp)\n")
        self.assertEqual(faults(self.root), [
            "src/show/tui/CMakeLists.txt: the target ttmem_screen is not named after its folder; "
            "name it ttmem_tui"])

    def test_namespaces_and_targets_of_folders_above(self):
        self.write("src/show/tui/screen/b.cpp", "namespace ttmem::tui {\n}\n")
        self.write("src/show/tui/screen/CMakeLists.txt",
                   "add_library(ttmem_tui_screen STATIC b.cpp)\n")
        self.write("src/base/b.cpp", "namespace ttmem {\n}\n")
        self.assertEqual(faults(self.root), [])


if __name__ == "__main__":
    unittest.main()
