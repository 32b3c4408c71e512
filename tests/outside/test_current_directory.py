# SPDX-License-Identifier: Apache-2.0
"""ttmem runs and loads no file of the current directory, where others may have put files."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import DEADLINE_SECONDS, TTMEM, Case

MODULES = ("ttnn/__init__.py", "importlib/__init__.py", "importlib/util.py", "json.py", "site.py",
           "sitecustomize.py", "usercustomize.py", "encodings/__init__.py", "os.py")
PROGRAMS = ("python3", "g++", "clang++", "c++", "as", "ld")


class CurrentDirectory(Case):
    def setUp(self):
        super().setUp()
        self.own = pathlib.Path(tempfile.mkdtemp(prefix="ttmem-here-"))
        self.addCleanup(shutil.rmtree, self.own, ignore_errors=True)
        self.here = self.own / "here"
        self.markers = self.own / "markers"
        self.markers.mkdir()
        for name in MODULES:
            path = self.here / name
            path.parent.mkdir(parents=True, exist_ok=True)
            # The file does not call open(), which does not exist yet when Python imports encodings.
            path.write_text("import posix\n"
                            f"posix.open({str(self.marker(name))!r}, posix.O_CREAT | posix.O_WRONLY)\n")
        for name in PROGRAMS:
            self.script(self.here / name)
        for name in ("CXX", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONSAFEPATH"):
            self.env.pop(name, None)
        self.env.update(HOME=str(self.own), XDG_CACHE_HOME=str(self.own / "cache"),
                        PATH="/usr/bin:/bin")

    def marker(self, name):
        return self.markers / name.replace("/", ".")

    def script(self, path):
        path.write_text(f"#!/bin/sh\n: >{self.marker(path.name)}\n")
        path.chmod(0o755)
        return path

    def assert_runs_nothing(self, *arguments, code=0, **env):
        done = subprocess.run([TTMEM, *map(str, arguments)], env={**self.env, **env}, cwd=self.here,
                              text=True, capture_output=True, timeout=DEADLINE_SECONDS)
        self.assertEqual([path.name for path in self.markers.iterdir()], [])
        if code is not None:
            self.assertEqual(done.returncode, code, done.stderr)
        return done

    def assert_all_run_nothing(self, command, **env):
        self.assert_runs_nothing("run", "--", *command, **env)
        self.assert_runs_nothing("record", "-o", self.own / "recording.ttmem", "-f", "--", *command,
                                 **env, code=None)
        self.assert_runs_nothing("doctor", **env, code=None)

    def test_python_imports_no_file_of_it(self):
        self.assert_all_run_nothing(("python3", "-c", "pass"))
        self.assert_all_run_nothing((sys.executable, "-c", "pass"))

    def test_no_file_is_run_by_an_empty_or_relative_entry_of_a_path(self):
        # ttmem itself also searches the folders of PYTHONPATH.
        for entries in (":", "::/nothing", ".", "../here:/nothing"):
            with self.subTest(entries):
                self.assert_runs_nothing("doctor", PYTHONPATH=entries, code=None)
                self.assert_runs_nothing("run", "--", "true", PYTHONPATH=entries)

    def test_no_program_is_run_by_a_relative_path(self):
        for first in (".", "", "../here"):
            with self.subTest(first):
                path = f"{first}:/usr/bin:/bin"
                self.assert_runs_nothing("doctor", PATH=path, code=None)
                # The command is a script. ttmem must not run the Python named in its first line.
                command = self.own / "model"
                command.write_text("#!/usr/bin/env -S PATH=/usr/bin python3\n")
                command.chmod(0o755)
                self.assert_runs_nothing("run", "--", command, PATH=path)

    def test_no_interpreter_named_by_a_library_is_run(self):
        package = self.own / "site" / "ttnn"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        # Links the interpreter statically, so that it always runs. In a dynamically linked program,
        # the loader would obey LD_TRACE_LOADED_OBJECTS and only list libraries.
        interpreter = self.own / "interpreter"
        subprocess.run(["cc", "-static", "-x", "c", "-", "-o", interpreter], text=True, check=True,
                       input="#include <fcntl.h>\n"
                             f'int main(void) {{ return open("{self.marker("interpreter")}", '
                             "O_CREAT | O_WRONLY, 0600) < 0; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", package / "_ttnn.so"],
                       input='__attribute__((section(".interp"))) const char name[] = '
                             f'"{interpreter}";\n', text=True, check=True)
        headers = subprocess.run(["readelf", "-l", package / "_ttnn.so"], text=True,
                                 capture_output=True, check=True).stdout
        self.assertIn(f"program interpreter: {interpreter}", headers)
        self.assert_all_run_nothing(("python3", "-c", "pass"), PYTHONPATH=str(package.parent))


if __name__ == "__main__":
    unittest.main()
