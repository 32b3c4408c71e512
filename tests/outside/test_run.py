# SPDX-License-Identifier: Apache-2.0
"""`ttmem run` and `ttmem adapter`: the adapter is found or built automatically. If anything is
missing, the command runs as without ttmem."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import host_program
from support import HERE, TTMEM, Case, PREFIX, library_path

# The source of a library that counts as TT-Metal's library, because it has Buffer::allocate_impl().
RUNTIME = """
namespace tt::tt_metal {
class Buffer { void allocate_impl(); };
void Buffer::allocate_impl() {}
int version() { return VERSION; }
}
"""
HEADER = "namespace tt::tt_metal { int version(); }\n"
ADAPTER = """
#include <impl/program/program_impl.hpp>
#include <ttmem/ttmem.h>
extern "C" int stand_in() { return tt::tt_metal::version() + ttmem_enabled() * 0; }
"""
WITHOUT = "without it, only what the program reports itself is seen"
SHOW = "import json, os; print(json.dumps(dict(os.environ)))"


def compile_library(target, source, *flags):
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(target), *flags],
                   input=source, text=True, check=True)
    return target


def build_id_of(library):
    notes = subprocess.run(["readelf", "-n", str(library)], text=True, capture_output=True,
                           check=True).stdout
    return notes.split("Build ID:")[1].split()[0]


class AdapterCase(Case):
    """An installation of ttmem for the test, with stand-ins for the stub, the adapter and the
    runtime."""

    BUILDING = "ttmem: building the adapter for {} (about 30 s, once)\n"

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="ttmem-run-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.prefix = cls.folder / "ttmem"
        for part in ("bin", "lib", "share/ttmem/adapter/ttmem"):
            shutil.copytree(PREFIX / part, cls.prefix / part, symlinks=True)
        sources = cls.prefix / "share" / "ttmem" / "adapter"
        (sources / "stand_in.cpp").write_text(ADAPTER)
        cls.stub = compile_library(cls.prefix / "lib" / "ttmem" / "libttmem_preload.so", "")
        cls.ttmem_bin = cls.prefix / "bin" / "ttmem"
        # The same layout as an installed dry run.
        cls.dryrun = compile_library(cls.folder / "dryrun" / "lib" / "libttmem_dryrun.so", RUNTIME,
                                     "-DVERSION=1", "-Wl,--build-id=sha1",
                                     "-Wl,-soname,libttmem_dryrun.so.0")
        cls.write_header(cls.folder / "dryrun" / "include" / "ttmem-dryrun")

    @staticmethod
    def write_header(folder, text=HEADER):
        header = folder / "impl" / "program" / "program_impl.hpp"
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(text)

    def setUp(self):
        super().setUp()
        self.own = pathlib.Path(tempfile.mkdtemp(prefix="ttmem-run-"))
        self.addCleanup(shutil.rmtree, self.own, ignore_errors=True)
        self.cache = self.own / "cache"
        for name in ("CXX", "LD_LIBRARY_PATH", "PYTHONPATH", "CPM_SOURCE_CACHE"):
            self.env.pop(name, None)
        self.env.update(XDG_CACHE_HOME=str(self.cache), HOME=str(self.own))

    def call(self, *arguments, code=0, env=None, **options):
        result = subprocess.run([str(self.ttmem_bin), *map(str, arguments)], env=env or self.env,
                                text=True, capture_output=True, timeout=60, **options)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stdout}{result.stderr}")
        return result

    def seen_by_command(self, *options, env=None, lines=0):
        """Returns the environment of a command that `ttmem run` starts. Checks the number of lines
        that ttmem prints, except the line about the build of an adapter."""
        result = self.call("run", *options, "--", sys.executable, "-c", SHOW, env=env)
        said = [line for line in result.stderr.splitlines() if "building the adapter" not in line]
        self.assertEqual(len(said), lines, result.stderr)
        self.said = result.stderr
        return json.loads(result.stdout)

    def with_library(self, library=None, **more):
        return {**self.env, "TTMEM_TT_METAL_LIBRARY": str(library or self.dryrun), **more}

    def adapters(self):
        return json.loads(self.call("adapter", "list", "--json").stdout)["adapters"]

    def assert_untouched(self, seen, env):
        """Checks that nothing was attached: `seen`, the environment of the command, has LD_PRELOAD
        as in `env` and no variable of the adapter. Tracking is on."""
        self.assertEqual(seen["TT_ALLOC_TRACKING_ENABLED"], "1")
        self.assertEqual(seen.get("LD_PRELOAD"), env.get("LD_PRELOAD"))
        for name in ("TTMEM_ADAPTER", "TTMEM_OPS", "TT_METAL_SHM_TRACKING_DISABLED"):
            self.assertNotIn(name, seen)


class Attaching(AdapterCase):
    def test_the_adapter_is_built_once_and_attached(self):
        env = self.with_library()
        seen = self.seen_by_command(env=env)
        before = env.get("LD_PRELOAD")
        self.assertEqual(seen["LD_PRELOAD"], f"{before}:{self.stub}" if before else str(self.stub))
        self.assertEqual(seen["TT_METAL_SHM_TRACKING_DISABLED"], "1")
        adapter = pathlib.Path(seen["TTMEM_ADAPTER"])
        self.assertEqual(adapter.name, "adapter.so")
        self.assertTrue(adapter.parent.name.startswith(build_id_of(self.dryrun) + "-"))
        self.assertEqual(adapter.parent.parent, self.cache / "ttmem" / "adapters")
        self.assertEqual(sorted(os.listdir(adapter.parent)), ["about.json", "adapter.so", "lock"])
        first = adapter.stat().st_mtime_ns
        self.seen_by_command(env={**env, "PATH": "/nothing", "CXX": "/nothing"})
        self.assertEqual(adapter.stat().st_mtime_ns, first)

    def test_the_adapter_is_linked_by_name(self):
        seen = self.seen_by_command(env=self.with_library())
        dynamic = subprocess.run(["readelf", "-d", seen["TTMEM_ADAPTER"]], text=True,
                                 capture_output=True, check=True).stdout
        self.assertIn("[libttmem_dryrun.so.0]", dynamic)
        self.assertIn("[libttmem.so.0]", dynamic)
        self.assertIn(f"[{self.prefix / 'lib'}]", dynamic)

    def test_options_of_run(self):
        env = self.with_library()
        self.assertNotIn("TTMEM_OPS", self.seen_by_command(env=env))
        seen = self.seen_by_command("--ops", "--keep-shm-tracking", env=env)
        self.assertEqual(seen["TTMEM_OPS"], "1")
        self.assertNotIn("TT_METAL_SHM_TRACKING_DISABLED", seen)
        self.assert_untouched(self.seen_by_command("--no-adapter", env=env), env)

    def test_run_within_run_preloads_once(self):
        result = self.call("run", "--", self.ttmem_bin, "run", "--", sys.executable, "-c", SHOW,
                           env=self.with_library())
        seen = json.loads(result.stdout)
        self.assertEqual(seen["LD_PRELOAD"].split(":").count(str(self.stub)), 1)

    def test_two_builds_at_once(self):
        env = self.with_library()
        both = [subprocess.Popen([self.ttmem_bin, "run", "--", sys.executable, "-c", SHOW], env=env,
                                 text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(3)]
        answers = [process.communicate(timeout=60) for process in both]
        self.assertEqual([process.returncode for process in both], [0, 0, 0])
        told = sorted(stderr for _, stderr in answers)
        self.assertEqual(told, ["", "", self.BUILDING.format(self.dryrun)])
        self.assertEqual(len({json.loads(stdout)["TTMEM_ADAPTER"] for stdout, _ in answers}), 1)

    def test_a_command_without_tt_metal_runs_quietly(self):
        env = {**self.env, "PATH": "/usr/bin:/bin"}
        result = self.call("run", "--", "ls", "/", env=env)
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.stdout, subprocess.run(["ls", "/"], text=True, capture_output=True,
                                                       check=True).stdout)
        self.assert_untouched(self.seen_by_command(env=env), env)
        self.assertFalse(self.cache.exists())


class Finding(AdapterCase):
    """ttmem finds the library of TT-Metal that the command would load."""

    def attached_to(self, env, *command):
        result = self.call("run", "--", *command, env=env)
        self.assertIn("TTMEM_ADAPTER=", result.stdout)
        (adapter,) = self.adapters()
        self.assertEqual(result.stderr, self.BUILDING.format(adapter["library"]))
        return pathlib.Path(adapter["library"])

    def test_by_the_libraries_linked_to_the_program(self):
        program = self.own / "program"
        subprocess.run(["g++", "-x", "c++", "-", "-o", program, "-Wl,--no-as-needed",
                        f"-Wl,-rpath,{self.own / 'lib'}", "-x", "none", self.dryrun],
                       input='#include <unistd.h>\n'
                             'int main() { execlp("env", "env", nullptr); }\n',
                       text=True, check=True)
        shutil.copytree(self.folder / "dryrun" / "include", self.own / "include")
        shutil.copytree(self.dryrun.parent, self.own / "lib")
        (self.own / "lib" / "libttmem_dryrun.so.0").symlink_to("libttmem_dryrun.so")
        self.assertEqual(self.attached_to(self.env, program), self.own / "lib" / self.dryrun.name)

    def test_in_the_library_path(self):
        root, library = self.checkout()
        copy = self.own / "lib" / library.name
        copy.parent.mkdir()
        shutil.copy(library, copy)
        env = {**self.env, "LD_LIBRARY_PATH": f"/nothing:{copy.parent}", "TT_METAL_HOME": str(root)}
        self.assertEqual(self.attached_to(env, "env"), copy)

    def test_not_the_dry_run_that_lies_beside_ttmem(self):
        env = {**self.env, "LD_LIBRARY_PATH": str(self.dryrun.parent)}
        self.assert_untouched(self.seen_by_command(env=env), env)

    def checkout(self, ninja="build.ninja"):
        """Makes a checkout of TT-Metal with a build. Only the build's files say where the headers
        are."""
        root = self.own / "checkout"
        self.write_header(root / "tt_metal", '#include <only/the/build/knows.hpp>\n')
        header = root / "elsewhere with blank" / "only" / "the" / "build" / "knows.hpp"
        header.parent.mkdir(parents=True)
        header.write_text("#ifdef MARK\n" + HEADER + "#endif\n")
        build = root / "build_Release"
        library = compile_library(build / "lib" / "libtt_metal.so", RUNTIME, "-DVERSION=2",
                                  "-Wl,--build-id=none")
        (build / ninja).parent.mkdir(exist_ok=True)
        (build / ninja).write_text("\n" + textwrap.dedent(f"""\
            build tt_metal/impl/CMakeFiles/impl.dir/Unity/unity_0_cxx.cxx.o: CXX_COMPILER__impl x
              DEFINES = -DMARK=1
              FLAGS = -O3 -include no/such/file.hpp
              INCLUDES = -I{root}/tt_metal -isystem "../elsewhere$ with$ blank"
            """))
        return root, library

    def test_in_a_checkout_with_the_flags_of_its_build(self):
        for variable, ninja in (("TT_METAL_HOME", "build.ninja"),
                                ("TT_METAL_RUNTIME_ROOT", "CMakeFiles/impl-Release.ninja")):
            with self.subTest(variable):
                root, library = self.checkout(ninja)
                found = self.attached_to({**self.env, variable: str(root)}, "env")
                self.assertEqual(found, library)
                self.call("adapter", "remove", "--all")
                shutil.rmtree(root)

    def test_in_the_python_package(self):
        root, library = self.checkout()
        package = self.own / "site" / "ttnn"
        (package / "build" / "lib").mkdir(parents=True)
        (package / "__init__.py").write_text("raise SystemExit('ttnn must not be imported')")
        shutil.copy(library, package / "build" / "lib")
        env = {**self.env, "PYTHONPATH": str(package.parent), "TT_METAL_HOME": str(root)}
        script = self.own / "model"
        script.write_text(f"#!{sys.executable}\nimport os\nos.execlp('env', 'env')\n")
        script.chmod(0o755)
        for command in ((sys.executable, script), (script,)):
            with self.subTest(command):
                found = self.attached_to(env, *command)
                self.assertEqual(found, package / "build" / "lib" / library.name)
                self.call("adapter", "remove", "--all")

    def test_linked_into_an_extension_module(self):
        root, library = self.checkout()
        package = self.own / "site" / "ttnn"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        shutil.copy(library, package / "_ttnn.so")
        env = {**self.env, "PYTHONPATH": str(package.parent), "TT_METAL_HOME": str(root)}
        code = "import os; os.execlp('env', 'env')"
        self.assertEqual(self.attached_to(env, sys.executable, "-c", code), package / "_ttnn.so")


class Missing(AdapterCase):
    """Each test takes away one thing that the adapter needs. The command still runs and keeps its
    exit status, and one line gives the reason."""

    def assert_runs_without(self, env, *words, options=()):
        seen = self.seen_by_command(*options, env=env, lines=1)
        self.assert_untouched(seen, env)
        self.assertIn(WITHOUT, self.said)
        for word in words:
            self.assertIn(str(word), self.said)
        self.call("run", *options, "--", sys.executable, "-c", "raise SystemExit(42)", code=42,
                  env=env)

    def test_headers(self):
        library = self.own / "lib" / "libtt_metal.so"
        library.parent.mkdir()
        shutil.copy(self.dryrun, library)
        self.assert_runs_without(self.with_library(library), library, "headers are needed",
                                 "TT_METAL_HOME", "tt-metalium-dev")

    def test_packages_of_a_checkout_that_was_not_built(self):
        root = self.own / "checkout"
        self.write_header(root / "tt_metal")
        library = self.own / "lib" / "libtt_metal.so"
        library.parent.mkdir()
        shutil.copy(self.dryrun, library)
        self.assert_runs_without(self.with_library(library, TT_METAL_HOME=str(root)),
                                 "build.ninja", "enchantum", "CPM_SOURCE_CACHE")

    def test_compiler(self):
        self.assert_runs_without(self.with_library(PATH="/nothing"), self.dryrun, "no compiler",
                                 "ttmem adapter build")

    def test_compiler_that_is_too_old(self):
        old = self.own / "old"
        old.mkdir()
        (old / "g++").write_text("#!/bin/sh\necho '#define __GNUC__ 9'\n")
        (old / "g++").chmod(0o755)
        self.assert_runs_without(self.with_library(PATH=str(old)), "no compiler")

    def test_library(self):
        for path in (self.own / "nothing.so", pathlib.Path(library_path()) / "libttmem.so"):
            with self.subTest(path):
                self.assert_runs_without(self.with_library(path), path, "libtt_metal.so")
                self.assert_runs_without(self.env, path, options=("--library", path))

    def test_a_header_of_another_version(self):
        """The adapter cannot be compiled with this header. Later runs do not try again."""
        prefix = self.own / "other"
        self.write_header(prefix / "include" / "ttmem-dryrun", "#error another version\n")
        (prefix / "lib").mkdir()
        library = shutil.copy(self.dryrun, prefix / "lib")
        env = self.with_library(library)
        self.assert_runs_without(env, "build.log")
        log = pathlib.Path(self.said.split(" says why")[0].split()[-1])
        self.assertIn("another version", log.read_text())
        self.assertEqual(sorted(os.listdir(log.parent)), ["build.log", "lock"])
        self.assert_runs_without({**env, "PATH": "/nothing"}, "the last time", log)
        (adapter,) = self.adapters()
        self.assertEqual((adapter["state"], adapter["path"]), ("failed", None))
        self.write_header(prefix / "include" / "ttmem-dryrun")
        self.call("adapter", "build", env=env)
        self.seen_by_command(env=env)

    def test_a_name_that_the_library_does_not_have(self):
        prefix = self.own / "other"
        self.write_header(prefix / "include" / "ttmem-dryrun",
                          "namespace tt::tt_metal { int renamed(); "
                          "inline int version() { return renamed(); } }\n")
        (prefix / "lib").mkdir()
        library = shutil.copy(self.dryrun, prefix / "lib")
        self.assert_runs_without(self.with_library(library), "build.log")
        log = pathlib.Path(self.said.split(" says why")[0].split()[-1])
        self.assertIn("does not define _ZN2tt8tt_metal7renamedEv", log.read_text())

    def test_stub_or_sources_of_this_installation(self):
        for missing in ("lib/ttmem/libttmem_preload.so", "share/ttmem/adapter/stand_in.cpp"):
            with self.subTest(missing):
                hidden = self.own / "hidden"
                shutil.move(self.prefix / missing, hidden)
                try:
                    self.assert_runs_without(self.with_library(), "this installation")
                finally:
                    shutil.move(hidden, self.prefix / missing)

    def test_a_cache_that_cannot_be_written(self):
        file = self.own / "file"
        file.touch()
        self.assert_runs_without(self.with_library(XDG_CACHE_HOME=str(file)), file,
                                 "XDG_CACHE_HOME")

    def test_a_cache_that_others_can_write_to(self):
        self.seen_by_command(env=self.with_library())
        adapters = self.cache / "ttmem" / "adapters"
        (entry,) = adapters.iterdir()
        for path in (self.own, self.cache, adapters.parent, adapters, entry, entry / "adapter.so"):
            with self.subTest(path):
                mode = path.stat().st_mode
                path.chmod(mode | 0o020)
                self.assert_runs_without(self.with_library(), path, "others may write")
                path.chmod(mode)
        self.seen_by_command(env=self.with_library())

    @unittest.skipIf(os.geteuid() != 0, "only root can give files away")
    def test_a_cache_that_belongs_to_someone_else(self):
        self.seen_by_command(env=self.with_library())
        (entry,) = (self.cache / "ttmem" / "adapters").iterdir()
        os.chown(entry / "adapter.so", 12345, 12345)
        self.assert_runs_without(self.with_library(), "belongs to user 12345")

    def test_a_cache_in_a_directory_like_tmp_counts_by_its_owner(self):
        shared = self.own / "shared"
        shared.mkdir()
        shared.chmod(0o1777)
        mine = shared / "mine"
        env = self.with_library(XDG_CACHE_HOME=str(mine))
        mine.mkdir(mode=0o755)
        self.seen_by_command(env=env)
        if os.geteuid() == 0:
            os.chown(mine, 12345, 12345)
            self.assert_runs_without(env, mine, "belongs to user 12345")
        shared.chmod(0o777)
        self.assert_runs_without(env, shared, "others may write")

    def test_a_cache_behind_a_symbolic_link_counts_by_its_target(self):
        target = self.own / "target"
        target.mkdir()
        link = self.own / "link"
        link.symlink_to("nothing/../target/.")
        (self.own / "nothing").mkdir()
        env = self.with_library(XDG_CACHE_HOME=str(link))
        self.seen_by_command(env=env)
        target.chmod(0o777)
        self.assert_runs_without(env, target, "others may write")
        target.chmod(0o755)
        link.unlink()
        link.symlink_to(link)
        self.assert_runs_without(env, link)

    def test_home(self):
        env = self.with_library(XDG_CACHE_HOME="", HOME="/nothing")
        if os.geteuid() != 0:
            self.assert_runs_without(env, "/nothing")


class Command(AdapterCase):
    """The command `ttmem adapter`."""

    def test_build_list_and_remove(self):
        self.assertIn(str(self.cache / "ttmem" / "adapters"), self.call("adapter", "list").stdout)
        self.assertEqual(self.adapters(), [])
        built = self.call("adapter", "build", "--library", self.dryrun)
        self.assertEqual(built.stderr, self.BUILDING.format(self.dryrun))
        path = built.stdout.strip()
        (adapter,) = self.adapters()
        self.assertEqual(adapter["path"], path)
        self.assertEqual(adapter["state"], "ready")
        self.assertEqual(adapter["library"], str(self.dryrun))
        self.assertEqual(adapter["headers"], str(self.folder / "dryrun/include/ttmem-dryrun"))
        version = self.call("version").stdout.split()[1]
        self.assertEqual(adapter["ttmem_version"], version)
        table = self.call("adapter", "list").stdout
        for word in (adapter["id"], "ready", str(self.dryrun), version):
            self.assertIn(word, table)
        self.assertEqual(json.loads(self.call("--json", "adapter", "list").stdout)["schema"],
                         "ttmem.adapters.v1")
        self.call("adapter", "remove", "zz", code=1)
        self.assertEqual(self.call("adapter", "remove", adapter["id"][:8]).stdout,
                         "Removed 1 adapter.\n")
        self.assertEqual(self.adapters(), [])
        self.assertFalse(os.path.exists(path))

    def test_nothing_is_removed_where_others_may_put_links(self):
        mine = self.own / "mine"
        (mine / "entry").mkdir(parents=True)
        shared = self.cache / "ttmem"
        shared.mkdir(parents=True)
        (shared / "adapters").symlink_to(mine)
        shared.chmod(0o777)
        said = self.call("adapter", "remove", "--all", code=1).stderr
        self.assertIn(f"others may write to {shared}", said)
        self.assertTrue((mine / "entry").exists())

    def test_headers_by_hand(self):
        headers = self.own / "headers"
        self.write_header(headers)
        library = self.own / "libtt_metal.so"
        shutil.copy(self.dryrun, library)
        said = self.call("adapter", "build", "--library", library, code=1).stderr
        self.assertIn("headers are needed", said)
        said = self.call("adapter", "build", "--library", library, "--headers", self.own,
                         code=1).stderr
        self.assertIn(str(self.own), said)
        self.call("adapter", "build", "--library", library, "--headers", headers)
        self.assertEqual(self.adapters()[0]["headers"], str(headers))
        self.seen_by_command("--library", library)

    def test_a_rebuilt_library_needs_another_adapter(self):
        prefix = self.own / "other"
        shutil.copytree(self.folder / "dryrun" / "include", prefix / "include")
        ids = []
        for version in ("-DVERSION=1", "-DVERSION=2"):
            library = compile_library(prefix / "lib" / "libttmem_dryrun.so", RUNTIME, version,
                                      "-Wl,--build-id=none")
            ids.append(pathlib.Path(
                self.seen_by_command(env=self.with_library(library))["TTMEM_ADAPTER"]).parent.name)
        self.assertNotEqual(*ids)
        self.assertEqual({adapter["id"]: adapter["state"] for adapter in self.adapters()},
                         {ids[0]: "library changed", ids[1]: "ready"})

    def test_wrong_usage(self):
        for arguments in ((), ("make",), ("list", "--all"), ("remove",), ("build", "x"),
                          ("remove", "x", "--all"), ("build", "--json"),
                          ("list", "--library", "x")):
            with self.subTest(arguments):
                said = self.call("adapter", *arguments, code=2).stderr
                self.assertEqual(len(said.splitlines()), 1, said)

    def test_nothing_found(self):
        said = self.call("adapter", "build", code=1, env={**self.env, "PATH": "/usr/bin"}).stderr
        self.assertIn("--library", said)


class Whole(Case):
    """The real installed product on the dry run, with a program that does not use ttmem."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ttmem-run-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.plain = self.folder / "plain"
        self.env.update(XDG_CACHE_HOME=str(self.folder / "cache"), TTMEM_DRYRUN_SYSTEM="n150")

    def assert_is_tracked_exactly(self):
        host = self.start([TTMEM, "run", "--", self.plain])
        step = None
        while step != "last":
            step, told = host.line().split(" ", 1)
            snapshot = self.json()
            self.assertEqual(snapshot["warnings"], [])
            (device,) = snapshot["devices"]
            self.assertEqual(told.split()[:2], ["dram", str(device["dram"]["used_bytes"])], step)
            self.assertIn(f" cb {device['l1']['cb']['physical_bytes']} ", told, step)
            host.go_on()
        self.assertEqual(host.wait(), 0)

    def test_a_program_is_tracked_exactly(self):
        host_program.build_plain("g++", self.plain, HERE / "host" / "plain.cpp")
        self.assert_is_tracked_exactly()

    def test_with_a_package_of_the_runtime(self):
        """A package has PREFIX/lib and PREFIX/include, with the public headers alone."""
        for folder in ("lib", "lib/x86_64-linux-gnu"):
            prefix = self.folder / folder.replace("/", "-")
            prefix.mkdir()
            host_program.copy_public_headers(prefix / "include")
            (prefix / folder).parent.mkdir(exist_ok=True)
            library = host_program.relink_dryrun(prefix / folder, name="libtt_metal.so")
            host_program.build_plain("g++", self.plain, HERE / "host" / "plain.cpp",
                                     runtime=pathlib.Path(library) / "libtt_metal.so")
            self.assert_is_tracked_exactly()
            (adapter,) = json.loads(self.ttmem("--json", "adapter", "list").stdout)["adapters"]
            self.assertEqual(adapter["headers"], str(prefix / "include"))
            self.ttmem("adapter", "remove", "--all")


if __name__ == "__main__":
    unittest.main()
