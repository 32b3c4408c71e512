# SPDX-License-Identifier: Apache-2.0
"""The commands as users type them: output streams, exit codes, wrong usage."""

import csv
import io
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest

from support import CAPTURES, TTMEM, Case


class Misuse(Case):
    def assert_usage(self, *arguments, says=""):
        result = self.ttmem(*arguments, code=2)
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(says, result.stderr)

    def test_each_mistake_is_one_line_and_exit_2(self):
        for arguments, says in (
                (("--jsno",), "--json"), (("nonsense",), "nonsense"), (("alocs",), "allocs"),
                (("tpo",), "did you mean top?"), (("hepl",), "did you mean help?"),
                (("help", "progams"), "did you mean programs?"), (("help", "nonsense"), "nonsense"),
                (("help", "top", "allocs"), "allocs"), (("-l", "0"), "--watch"),
                (("-i", "x"), "--device"),
                (("--json", "--csv"), "--csv"),
                (("--device", "x"), "--device"), (("--device", "3-1"), "--device"),
                (("--device",), "--device"), (("--watch", "0"), "--watch"),
                (("--watch", "soon"), "--watch"), (("--color", "pink"), "pink"),
                (("--color", "run"), "--color run"), (("--device", "run"), "--device run"),
                (("--json", "run", "true"), "--json"),
                (("demo", "--seconds", "2000000"), "at most 1000000"),
                (("allocs", "--kind", "sram"), "sram"), (("allocs", "--pid", "-3"), "-3"),
                (("programs", "--limit", "none"), "--limit"),
                (("clean", "everything"), "everything"),
                (("demo", "mesh9"), "mesh8"), (("demo", "--seconds", "-1"), "--seconds"),
                (("demo", "single", "mesh8"), "mesh8"),
                (("replay",), "FILE"), (("replay", "x.jsonl", "--lines", "0"), "--lines"),
                (("replay", "x.jsonl", "--speed", "0"), "--speed"),
                (("run",), "ttmem run -- "), (("run", "--fast", "true"), "--fast")):
            with self.subTest(arguments):
                self.assert_usage(*arguments, says=says)

    def test_a_missing_device_is_a_failure(self):
        self.start_ttmem("demo", "single", "--hold").line("stderr")
        result = self.ttmem("--device", "7", code=1)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertIn("7", result.stderr)

    def test_help_goes_to_stdout_and_has_examples(self):
        shown = self.ttmem("--help").stdout
        commands = re.findall(r"^  (\w+) {2,}", shown[shown.index("Subcommands:"):], re.M)
        self.assertLess({"top", "allocs", "programs", "help", "version"}, set(commands))
        for command in ((), *((name,) for name in commands)):
            result = self.ttmem(*command, "--help")
            self.assertIn("Examples:", result.stdout, command)
            self.assertEqual(result.stderr, "")

    def test_help_of_a_command_is_its_help(self):
        self.assertEqual(self.ttmem("help").stdout, self.ttmem("--help").stdout)
        for command in ("allocs", "top", "run", "help"):
            self.assertEqual(self.ttmem("help", command).stdout,
                             self.ttmem(command, "--help").stdout, command)

    def test_version(self):
        version = self.ttmem("--version").stdout
        self.assertRegex(version, r"^ttmem \d+\.\d+\.\d+\n$")
        self.assertEqual(self.ttmem("-V").stdout, version)
        self.assertEqual(self.ttmem("version").stdout, version)


class NothingRuns(Case):
    def test_one_friendly_line_says_that_nothing_runs(self):
        result = self.ttmem()
        self.assertIn("ttmem demo", result.stdout)
        self.assertNotIn("Device", result.stdout)

    def test_json_is_complete_and_empty(self):
        snapshot = self.json()
        self.assertEqual(snapshot["schema"], "ttmem.snapshot.v1")
        self.assertEqual(snapshot["devices"], [])
        self.assertEqual(snapshot["warnings"], [])
        self.assertGreater(snapshot["time_unix_ns"], 0)
        self.assertEqual(self.json("allocs")["allocations"], [])
        self.assertEqual(self.json("programs")["programs"], [])

    def test_clean_says_that_nothing_is_left(self):
        self.assertTrue(self.ttmem("clean").stdout)


class OneShotViews(Case):
    def setUp(self):
        super().setUp()
        self.demo = self.start_ttmem("demo", "mesh8", "--hold")
        self.demo.line("stderr")

    def test_every_device_has_the_lines_that_scripts_grep_for(self):
        shown = self.ttmem().stdout
        self.assertEqual(re.findall(r"^Device (\d+):", shown, re.M), [str(n) for n in range(8)])
        self.assertEqual(len(re.findall(r"^\s+CB:\s+29\.0+ MiB", shown, re.M)), 8)
        for name in ("DRAM:", "L1:", "Kernels:"):
            self.assertEqual(len(re.findall(rf"^\s+{name}", shown, re.M)), 8, name)
        self.assertIn(str(self.demo.pid), shown)

    def test_no_escape_codes_without_a_terminal(self):
        self.assertNotIn("\x1b", self.ttmem().stdout)
        self.assertIn("\x1b", self.ttmem("--color", "always").stdout)

    def test_the_output_fits_the_width_of_the_terminal(self):
        for columns in (80, 120, 200):
            env = {**self.env, "COLUMNS": str(columns), "LC_ALL": "C.UTF-8"}
            for command in ((), ("allocs",), ("programs",), ("--per-core",)):
                shown = self.ttmem(*command, env=env).stdout
                longest = max(shown.splitlines(), key=len)
                self.assertLessEqual(len(longest), columns, f"{command}: {longest}")

    def test_nothing_is_shortened_without_a_terminal(self):
        env = {name: value for name, value in self.env.items() if name != "COLUMNS"}
        env["LC_ALL"] = "C.UTF-8"
        shown = self.ttmem("allocs", env=env).stdout
        self.assertNotIn("…", shown)
        for entry in self.json("allocs")["allocations"]:
            if entry["label"]:
                self.assertRegex(shown, rf"(?m)\s{re.escape(entry['label'])}( \(.*\))?$")
        for heading in ("PROCESS", "ADDRESS", "PER BANK", "CORES", "AGE"):
            self.assertIn(heading, shown.splitlines()[0])
        table = self.ttmem(env=env).stdout
        self.assertIn("ttmem demo mesh8 --hold", table)
        self.assertRegex(table, r"(?m)^ +CB: .*resident .*, logical .*, peak ")

    def test_units_are_the_requested_units(self):
        (device,) = self.json("--device", "0", "--units", "GiB")["devices"]  # JSON always has bytes
        used = device["dram"]["used_bytes"]
        shown = {unit: self.ttmem("--device", "0", "--units", unit).stdout
                 for unit in ("auto", "bytes", "MiB", "GiB")}
        for unit, figure in (("auto", f"{used / 2**30:.2f} GiB"), ("bytes", f"{used} B"),
                             ("MiB", f"{used / 2**20:.2f} MiB"), ("GiB", f"{used / 2**30:.2f} GiB")):
            self.assertRegex(shown[unit], rf"(?m)^ +DRAM: {re.escape(figure)} ")
            self.assertRegex(shown[unit], rf"(?m)^ *{self.demo.pid} .* {re.escape(figure)} ")
        self.assertNotRegex(shown["bytes"], "[KMG]iB")
        self.assertNotRegex(shown["GiB"], "[KM]iB")
        for command in (("allocs",), ("programs",), ("--brief",), ("--per-core",),
                        ("allocs", "--group-by", "kind")):
            text = self.ttmem(*command, "--units", "bytes").stdout
            self.assertNotRegex(text, "[KMG]iB", command)
            self.assertRegex(text, r" \d+ B\b", command)

    def test_brief_is_one_line_for_each_device(self):
        header, *lines = self.ttmem("--brief").stdout.splitlines()
        self.assertEqual(header.split()[:4], ["DEV", "UID", "BOARD", "DRAM"])
        self.assertEqual([line.split()[0] for line in lines], [str(n) for n in range(8)])
        self.assertTrue(all("29.0 MiB" in line for line in lines), lines)

    def test_a_terminal_that_is_too_small_gets_the_brief_view(self):
        small = self.on_terminal(80, 24)
        self.assertEqual(len(re.findall(r"^ +\d  n300 ", small, re.M)), 8, small)
        self.assertIn(str(self.demo.pid), small)
        self.assertIn("ttmem --long", small)
        self.assertLess(len(small.splitlines()), 24)
        for shown in (self.on_terminal(80, 24, "--long"), self.on_terminal(80, 100)):
            self.assertEqual(len(re.findall(r"^Device \d:", shown, re.M)), 8, shown)
            self.assertNotIn("ttmem --long", shown)
        self.assertEqual(len(re.findall(r"^Device \d:", self.ttmem().stdout, re.M)), 8)

    def test_watch_always_shows_the_processes(self):
        for rows, options in ((12, ()), (24, ()), (60, ()), (20, ("--per-core",)),
                              (20, ("--brief",))):
            shown = self.on_terminal(100, rows, "--watch", "0.05", *options,
                                     until=f"{self.demo.pid}  ")
            frame = shown.split("\x1b[H")[1].split("\x1b[J")[0]
            self.assertIn(f"{self.demo.pid}  ", frame, (rows, options))
            self.assertLess(len(frame.splitlines()), rows)

    def test_processes_are_chosen_and_sorted(self):
        other = self.start_ttmem("demo", "single", "--hold")
        other.line("stderr")
        owners = [str(self.demo.pid), str(other.pid)]

        def pids(*options):
            shown = self.ttmem(*options).stdout
            return re.findall(r"^ *(\d+) +\S+ +(?:alive|dead)", shown, re.M)

        self.assertEqual(pids(), owners)
        self.assertEqual(pids("--sort", "pid"), sorted(owners, key=int))
        self.assertEqual(pids("--sort", "dram"), owners)  # eight devices hold more than one device
        self.assertEqual(pids("--pid", other.pid), owners[1:])
        self.start_ttmem("demo", "single", "--hold").line("stderr")
        shown = self.ttmem("--pid", other.pid).stdout
        self.assertIn("1 of 2 processes", shown)  # on the device that the process uses
        self.assertEqual(len(re.findall("^Device.* 2 processes", shown, re.M)), 1)
        (device,) = self.json("--pid", other.pid)["devices"]
        self.assertEqual([process["pid"] for process in device["processes"]], [other.pid])
        user = device["processes"][0]["user"]
        self.assertEqual(pids("--user", user)[:1], owners[:1])
        result = self.ttmem("--user", "nobody-has-this-name", code=1)
        self.assertEqual(result.stdout, "")
        self.assertIn("nobody-has-this-name", result.stderr)
        self.assertIn("l1_buf", self.ttmem("--sort", "size", code=2).stderr)

    def test_labels_are_cut_in_the_middle(self):
        env = {**self.env, "COLUMNS": "50", "LC_ALL": "C.UTF-8"}
        listed = self.json("allocs", "--device", "0")["allocations"]
        longest = max((entry["label"] or "" for entry in listed), key=len)
        shown = self.ttmem("allocs", "--device", "0", env=env).stdout
        self.assertNotIn(longest, shown)
        self.assertRegex(shown, rf"(?m) {re.escape(longest[:4])}\S*…\S*{re.escape(longest[-4:])}$")

    def test_the_option_device_selects_devices(self):
        for option in ("--device", "-i"):
            snapshot = self.json(option, "0,3")
            self.assertEqual([device["id"] for device in snapshot["devices"]], [0, 3])
        listed = self.json("allocs", "--device", "3")["allocations"]
        self.assertEqual({entry["device"] for entry in listed}, {3})
        programs = self.json("programs", "--device", "3")["programs"]
        self.assertEqual({entry["device"] for entry in programs}, {3})

    def test_csv_is_one_row_per_device(self):
        rows = list(csv.DictReader(io.StringIO(self.ttmem("--csv").stdout)))
        self.assertEqual(len(rows), 8)
        self.assertTrue(any(str(29 << 20) in row.values() for row in rows), rows[0])

    def test_lists_add_up_to_the_snapshot(self):
        for device in self.devices():
            listed = self.json("allocs", "--device", device["id"])["allocations"]
            for kind, used in (("dram", device["dram"]["used_bytes"]),
                               ("l1", device["l1"]["buffers"]["physical_bytes"]),
                               ("l1_small", device["l1"]["small_bytes"]),
                               ("trace", device["trace"]["used_bytes"]),
                               ("kernel", device["l1"]["kernels_bytes"])):
                self.assertEqual(sum(entry["physical_bytes"] for entry in listed
                                     if entry["kind"] == kind), used, kind)
            self.assertEqual(len(listed), device["processes"][0]["allocations"])
            programs = self.json("programs", "--device", device["id"])["programs"]
            self.assertEqual(len(programs), device["programs"])
            self.assertEqual(sum(p["logical_bytes"] for p in programs),
                             device["l1"]["cb"]["logical_bytes"])
            self.assertEqual(max(p["physical_bytes"] for p in programs), 29 << 20)
            self.assertEqual(programs[0]["physical_bytes"], 29 << 20)  # the largest first

    def test_filters_of_allocs(self):
        listed = self.json("allocs", "--kind", "l1,l1_small", "--device", "0")["allocations"]
        self.assertEqual({entry["kind"] for entry in listed}, {"l1", "l1_small"})
        self.assertEqual(self.json("allocs", "--pid", self.demo.pid + 1)["allocations"], [])
        cbs = self.json("allocs", "--kind", "cb", "--device", "0")["allocations"]
        self.assertTrue(cbs)
        self.assertEqual({entry["kind"] for entry in cbs}, {"cb"})

    def test_per_core_figures_add_up(self):
        for device in self.json("--per-core")["devices"]:
            self.assertEqual(len(device["per_core"]), 64)
            self.assertEqual(sum(core["cb_bytes"] for core in device["per_core"]),
                             device["l1"]["cb"]["physical_bytes"])
            self.assertEqual(sum(core["cb_resident_bytes"] for core in device["per_core"]),
                             device["l1"]["cb"]["resident_bytes"])
            self.assertEqual(sum(core["l1_bytes"] for core in device["per_core"]),
                             device["l1"]["buffers"]["physical_bytes"])

    def test_watch_continues_until_a_signal(self):
        for option in ("--watch", "-l"):
            watch = self.start_ttmem(option, "0.05", "--json")
            self.assertEqual([watch.line()[:10] for _ in range(3)], ['{"schema":'] * 3)
            watch.signal(signal.SIGINT)
            self.assertEqual(watch.wait(), 0)

    def test_a_closed_pipe_is_no_failure(self):
        watch = self.start_ttmem("--watch", "0.05")
        watch.line()
        watch.process.stdout.close()
        self.assertEqual(watch.wait(), 0)

    def test_a_full_disk_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([TTMEM, "--json"], env=self.env, stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=20)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stderr.splitlines()), 1)


class Run(Case):
    def test_run_is_a_command_only_at_the_place_of_a_command(self):
        shutil.copy(CAPTURES / "basic_wh1.jsonl", os.path.join(self.dir, "run"))
        replay = self.start([TTMEM, "replay", "run", "--lines", "15", "--hold"], cwd=self.dir)
        replay.line("stderr")
        (device,) = self.devices()
        self.assertEqual(device["processes"][0]["pid"], replay.pid)
        result = self.ttmem("run", "--", sys.executable, "-c", "import sys; print(sys.argv[1:])",
                            "run", "--", "run")
        self.assertEqual(result.stdout, "['run', '--', 'run']\n")

    def test_the_command_is_tracked(self):
        running = self.start([TTMEM, "run", "--", TTMEM, "replay",
                              CAPTURES / "basic_wh1.jsonl", "--lines", "15", "--hold"])
        running.line("stderr")
        (device,) = self.devices()
        (child,) = pathlib.Path(f"/proc/{running.pid}/task/{running.pid}/children"
                                ).read_text().split()
        self.assertEqual(device["processes"][0]["pid"], int(child))

    def test_run_replaces_itself_by_the_command_when_possible(self):
        running = self.start([TTMEM, "run", "--no-explain", "--", TTMEM, "replay",
                              CAPTURES / "basic_wh1.jsonl", "--lines", "15", "--hold"])
        running.line("stderr")
        (device,) = self.devices()
        self.assertEqual(device["processes"][0]["pid"], running.pid)

    def test_run_sets_only_the_variable(self):
        code = "import os, sys; print(os.environ['TT_ALLOC_TRACKING_ENABLED'], sys.argv[1:])"
        result = self.ttmem("run", "--", sys.executable, "-c", code, "--json", "-h", "a b")
        self.assertEqual(result.stdout, "1 ['--json', '-h', 'a b']\n")

    def test_the_exit_code_is_the_exit_code_of_the_command(self):
        self.ttmem("run", "--", sys.executable, "-c", "raise SystemExit(42)", code=42)

    def test_a_signal_ends_the_command(self):
        running = self.start([TTMEM, "run", "--", sys.executable, "-c",
                              "import time; print('up', flush=True); time.sleep(60)"])
        running.line()
        running.signal(signal.SIGTERM)
        self.assertEqual(running.wait(), -signal.SIGTERM)

    def test_an_interrupt_is_left_to_the_command(self):
        running = self.start([TTMEM, "run", "--", sys.executable, "-c",
                              "import signal, sys\nsignal.pthread_sigmask(signal.SIG_BLOCK, {2})\n"
                              "print('up', flush=True)\nsignal.sigwait({2})\nsys.exit(9)"])
        running.line()
        running.signal(signal.SIGINT)
        self.assertEqual(running.wait(), 9)

    def test_the_command_ends_when_ttmem_is_killed(self):
        running = self.start([TTMEM, "run", "--", sys.executable, "-c",
                              "import os; print(os.getpid(), flush=True); os.read(0, 1)"])
        child = int(running.line())
        running.signal(signal.SIGKILL)
        running.wait()

        def is_gone():
            try:
                stat = pathlib.Path(f"/proc/{child}/stat").read_text()
                return stat.rpartition(")")[2].split()[0] == "Z"
            except FileNotFoundError:
                return True
        self.wait_for(is_gone, "the end of the command")

    def test_a_missing_command(self):
        result = self.ttmem("run", "--", os.path.join(self.dir, "nothing"), code=127)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        result = self.ttmem("run", "--", self.dir, code=126)
        self.assertEqual(len(result.stderr.splitlines()), 1)


class AnOptionBeforeTheCommand(Case):
    def test_is_taken_as_an_option_of_the_command(self):
        self.start_ttmem("demo", "single", "--hold").line("stderr")
        everything = self.json("allocs")["allocations"]
        self.assertGreater(len(everything), 0)
        for option in (["--pid", "1"], ["--pid=1"], ["--job", "none"]):
            self.assertEqual(self.json(*option, "allocs")["allocations"], [], option)
        for option in (["--device=0"], ["-i0"], ["-i", "0"]):
            self.assertEqual(len(self.json(*option, "allocs")["allocations"]), len(everything))

    def test_is_kept_where_the_command_has_another_meaning_for_it(self):
        missing = os.path.join(self.dir, "token")
        self.assertIn(missing, self.ttmem("--token-file", missing, "serve", code=1).stderr)
        self.assertIn("headroom, dram, l1, processes, host", self.ttmem("--sort", "nothing", "fleet", code=2).stderr)

    def test_that_the_command_does_not_have_is_refused(self):
        for arguments in (["--server", "there", "clean"], ["--csv", "fleet"], ["--json", "export"]):
            said = self.ttmem(*arguments, code=2).stderr
            self.assertIn(f"{arguments[0]} is not an option of `ttmem {arguments[-1]}`", said)

    def test_a_token_without_a_server_is_refused(self):
        self.assertIn("belongs to --server", self.ttmem("--token-file", "x", code=1).stderr)


if __name__ == "__main__":
    unittest.main()
