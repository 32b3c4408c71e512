# SPDX-License-Identifier: Apache-2.0
"""`ttmem doctor`: each test takes away one thing that tracking needs. `ttmem doctor` names the
missing thing and the command to type."""

import json
import os
import pathlib
import subprocess
import unittest

from support import DEADLINE_SECONDS, PREFIX, TTMEM
from test_could_not_look import become_nobody
from test_discovery import NOT_LOADED, Machine
from test_regions import UID, region


class Doctor(Machine):
    def setUp(self):
        super().setUp()
        self.env["TTMEM_SOCKET"] = self.path
        self.env["XDG_CACHE_HOME"] = self.folder
        # A path on which no TT-Metal of this machine is found.
        self.env["PATH"] = "/usr/bin:/bin"

    def examine(self, env=None, preexec_fn=None):
        said = subprocess.run([TTMEM, "doctor", "--json"], env=env or self.env, text=True,
                              capture_output=True, timeout=DEADLINE_SECONDS, preexec_fn=preexec_fn)
        document = json.loads(said.stdout)
        self.assertEqual(document["schema"], "ttmem.doctor.v1")
        failed = any(check["status"] == "failure" for check in document["checks"])
        self.assertEqual((said.returncode, document["ok"]), (1, False) if failed else (0, True))
        return document["checks"]

    def assert_says(self, status, name, found, advice, **options):
        """Asserts that one check of this name and status has these words."""
        checks = self.examine(**options)
        for check in checks:
            if (check["name"], check["status"]) == (name, status) and found in check["found"]:
                self.assertIn(advice, check["advice"] or "")
                return
        self.fail(f"no {status} of {name} with {found!r} in {json.dumps(checks, indent=1)}")


class NothingIsMissing(Doctor):
    def test_one_screen_and_exit_0(self):
        self.add("n300", "n300")
        self.hold_calls(f"open_device(uid={self.tree.asic_id(0)})")
        self.assertEqual({check["status"] for check in self.examine()}, {"ok", "note"})
        text = self.on_terminal(80, 24, "doctor")
        self.assertLess(len(text.splitlines()), 24, text)
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
        self.assertIn("Nothing prevents measuring.", text)
        for words in ("tt-kmd 2.5.0", "2 chips: n300 (0-1)", "1 process is tracked"):
            self.assertIn(words, text)


class TheMachine(Doctor):
    def setUp(self):
        super().setUp()
        self.no_driver = self.tree.root.parent / "none"
        self.no_driver.mkdir()

    def test_no_card(self):
        self.assert_says("note", "driver", "not loaded", "",
                         env={**self.env, "TTMEM_SYSROOT": str(self.no_driver)})

    def test_a_card_without_driver(self):
        device = self.no_driver / "sys/bus/pci/devices/0000:07:00.0"
        device.mkdir(parents=True)
        (device / "vendor").write_text("0x1e52\n")
        self.assert_says("failure", "driver", "0000:07:00.0", "modprobe tenstorrent",
                         env={**self.env, "TTMEM_SYSROOT": str(self.no_driver)})

    def test_no_chip(self):
        self.assert_says("failure", "chips", "no chip", "lspci")

    def test_no_nodes(self):
        self.add("n150")
        self.tree.node(0).unlink()
        self.assert_says("failure", "chips", "/dev/tenstorrent", "--device /dev/tenstorrent")

    def test_a_chip_in_reset(self):
        self.add("p150a", "p150a")
        self.tree.reset(1)
        self.assert_says("warning", "chips", "chip 1 does not answer", "`tt-smi -r 1`")

    def test_a_card_that_the_driver_does_not_drive(self):
        self.add("n150")
        devices = self.tree.root / "sys/bus/pci/devices"
        devices.mkdir(parents=True)
        (devices / "0000:01:00.0").symlink_to("../../../devices/pci0000:00/0000:01:00.0")
        self.assertNotIn("failure", {check["status"] for check in self.examine()})
        (devices / "0000:09:00.0").mkdir()
        (devices / "0000:09:00.0/vendor").write_text("0x1e52\n")
        self.assert_says("failure", "driver", "0000:09:00.0", "modprobe")

    def test_an_older_driver(self):
        self.add("n150")
        self.tree.make_older()
        self.assert_says("warning", "driver", "1.29", "update tt-kmd")

    @unittest.skipIf(os.geteuid() != 0, "becoming another user needs root")
    def test_no_permission(self):
        self.add("n150")
        for path in (self.tree.root.parent, self.tree.root):
            os.chmod(path, 0o755)
        os.chmod(self.tree.node(0), 0o600)
        os.chmod(self.dir, 0o1777)
        self.assert_says("warning", "chips", "may not open", "group", preexec_fn=become_nobody)


class SharedMemory(Doctor):
    def test_the_directory_is_missing(self):
        missing = os.path.join(self.dir, "missing")
        self.assert_says("failure", "shared memory", missing, "TTMEM_DIR",
                         env={**self.env, "TTMEM_DIR": missing})

    @unittest.skipIf(os.geteuid() != 0, "becoming another user needs root")
    def test_the_directory_cannot_be_written(self):
        os.chmod(self.dir, 0o755)
        self.assert_says("failure", "shared memory", "may not write", "1777",
                         preexec_fn=become_nobody)

    def test_the_directory_is_full(self):
        command = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", self.dir]
        if subprocess.run(command, capture_output=True).returncode != 0:
            self.skipTest("mounting a tmpfs needs root and a kernel that lets it")
        self.addCleanup(subprocess.run, ["umount", self.dir], check=True)
        self.assert_says("failure", "shared memory", "cannot be tracked", "ttmem clean")

    @unittest.skipIf(os.geteuid() != 0, "becoming another user needs root")
    def test_logout_removes_segments(self):
        for path in (self.tree.root.parent, self.tree.root):
            os.chmod(path, 0o755)
        (self.tree.root / "run/systemd/users").mkdir(parents=True)
        env = {**self.env, "TTMEM_DIR": "/dev/shm"}

        def become_other_user():
            os.setgroups([])
            os.setgid(54321)
            os.setuid(54321)

        self.assert_says("warning", "logout", "RemoveIPC", "loginctl enable-linger", env=env,
                         preexec_fn=become_other_user)
        conf = self.tree.root / "etc/systemd"
        conf.mkdir(parents=True)
        (conf / "logind.conf").write_text("[Login]\n#RemoveIPC=yes\nRemoveIPC = no\n")
        names = [check["name"] for check in self.examine(env=env, preexec_fn=become_other_user)]
        self.assertNotIn("logout", names)


class Processes(Doctor):
    def setUp(self):
        super().setUp()
        self.add("n150")

    def test_a_segment_that_was_deleted(self):
        process = self.hold_calls("open_device()")
        [name] = self.files()
        os.unlink(os.path.join(self.dir, name))
        self.assert_says("failure", "segments", f"process {process.pid} ", "start it again")

    def test_a_dead_process(self):
        self.hold_calls("open_device()\nalloc(DRAM, 1, 4096)").kill()
        self.assert_says("note", "segments", "1 is of a dead process", "ttmem clean")

    def test_a_file_that_is_no_segment(self):
        name = f"ttmem.{os.getuid()}.1.1"
        pathlib.Path(self.dir, name).write_bytes(b"x" * 8192)
        self.assert_says("failure", "segments", name, "")

    @unittest.skipIf(os.geteuid() != 0, "becoming another user needs root")
    def test_segments_of_another_user(self):
        for path in (self.tree.root.parent, self.tree.root):
            os.chmod(path, 0o755)
        os.chmod(self.dir, 0o1777)
        self.hold_calls("open_device()")
        self.assert_says("warning", "segments", "permission denied", "run ttmem as root",
                         preexec_fn=become_nobody)

    def test_a_process_that_is_not_tracked(self):
        process = self.untracked({"TT_METAL_SHM_TRACKING_DISABLED": "1"})
        self.assert_says("failure", "not tracked", f"process {process.pid} ", "ttmem run -- CMD")

    def test_a_process_that_only_reads(self):
        self.untracked(source=NOT_LOADED)
        self.assert_says("note", "not tracked", "no TT-Metal", "")

    def test_both_trackers(self):
        process = self.hold_calls("open_device(uid=0)")
        pathlib.Path(self.dir, f"tt_device_{UID}_memory").write_bytes(region(process.pid))
        self.assert_says("warning", "own tracker", str(process.pid),
                         "TT_METAL_SHM_TRACKING_DISABLED=1")

    def test_an_adapter_that_reports_nothing(self):
        stub = PREFIX / "lib/ttmem/libttmem_preload.so"
        process = self.untracked({"LD_PRELOAD": str(stub), "TTMEM_ADAPTER": "/nowhere/adapter.so"},
                                 numbers=())
        self.assert_says("failure", "adapter", f"process {process.pid} ", "ttmem adapter build")

    def test_calls_that_an_adapter_does_not_see(self):
        self.hold_calls("open_device()\nlib.ttmem_not_seen(0x20, b'this TT-Metal lacks names')")
        self.assert_says("warning", "adapter", "this TT-Metal lacks names", "update")


class TheRuntime(Doctor):
    def setUp(self):
        super().setUp()
        self.add("n150")

    def library(self):
        return sorted(PREFIX.rglob("libttmem_dryrun.so"))[0]

    def test_no_runtime_is_found(self):
        self.assert_says("note", "TT-Metal", "not found", "TT_METAL_HOME")

    def test_a_wrong_name_of_a_runtime(self):
        self.assert_says("failure", "TT-Metal", "/nowhere", "TTMEM_TT_METAL_LIBRARY",
                         env={**self.env, "TTMEM_TT_METAL_LIBRARY": "/nowhere/lib.so"})

    def test_an_adapter_that_is_not_built(self):
        env = {**self.env, "TTMEM_TT_METAL_LIBRARY": str(self.library())}
        self.assert_says("ok", "TT-Metal", "libttmem_dryrun.so", "", env=env)
        self.assert_says("note", "adapter", "not built yet", "ttmem adapter build", env=env)

    def test_no_compiler(self):
        self.assert_says("failure", "adapter", "compiler", "",
                         env={**self.env, "TTMEM_TT_METAL_LIBRARY": str(self.library()),
                              "PATH": "/nothing"})

    def test_a_build_that_failed(self):
        compiler = pathlib.Path(self.folder, "c++")
        compiler.write_text('#!/bin/sh\ncase "$*" in *-dM*) exec /usr/bin/c++ "$@"; esac\nexit 1\n')
        compiler.chmod(0o755)
        env = {**self.env, "TTMEM_TT_METAL_LIBRARY": str(self.library()), "CXX": str(compiler)}
        subprocess.run([TTMEM, "adapter", "build"], env=env, capture_output=True,
                       timeout=DEADLINE_SECONDS)
        checks = [check for check in self.examine(env=env) if check["name"] == "adapter"]
        self.assertEqual([check["status"] for check in checks], ["failure"])


class ThisShell(Doctor):
    def setUp(self):
        super().setUp()
        self.add("n150")

    def test_variables(self):
        self.assert_says("ok", "variables", f"TTMEM_DIR={self.dir}", "")
        self.assert_says("warning", "variables", "report nothing", "ttmem run",
                         env={**self.env, "TT_METAL_SHM_TRACKING_DISABLED": "1"})

    def test_the_server(self):
        needed = {**self.env, "TTMEM_TRANSPORT": "socket"}
        self.assert_says("note", "server", "none at", "")
        self.assert_says("failure", "server", "nobody listens", "ttmem serve", env=needed)
        self.serve()
        self.assert_says("ok", "server", self.path, "", env=needed)

    def test_a_missing_locale(self):
        self.assert_says("note", "locale", "xx_YY.UTF-8", "C.UTF-8",
                         env={**self.env, "LC_ALL": "xx_YY.UTF-8"})


if __name__ == "__main__":
    unittest.main()
