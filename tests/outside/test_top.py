# SPDX-License-Identifier: Apache-2.0
"""`ttmem top` on a real terminal: in tmux, with a separate tmux server."""

import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from support import HERE, PREFIX, TTMEM, Case

TITLE = "1 Detailed"
SCREENS = HERE.parent / "data" / "screens"


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class Terminal(Case):
    """A shell in a terminal, by default of 100x30 characters. The test types into the shell."""

    def setUp(self):
        super().setUp()
        # The folder contains tmux's socket, whose path must be short.
        self.folder = tempfile.mkdtemp(prefix="ttmem-top-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.terminals = 0
        self.env["XDG_CONFIG_HOME"] = self.folder
        self.env["TTMEM_HTTP"] = "127.0.0.1:1"  # no server listens there
        self.env.update(LANG="C.UTF-8", LC_ALL="C.UTF-8", SHELL="/bin/sh", PS1="$ ")
        for name in ("COLUMNS", "LINES", "TMUX", "NO_COLOR"):
            self.env.pop(name, None)

    def run_tmux(self, *arguments):
        socket = os.path.join(self.folder, f"tmux-{self.terminals}")
        return subprocess.run(["tmux", "-S", socket, "-f", "/dev/null", *map(str, arguments)],
                              env=self.env, text=True, capture_output=True, timeout=20)

    def tmux(self, *arguments):
        result = self.run_tmux(*arguments)
        self.assertEqual(result.returncode, 0, f"tmux {arguments}: {result.stderr}")
        return result.stdout

    def close(self):
        """Ends the tmux server, if it still runs, and the programs in its terminal."""
        self.run_tmux("kill-server")

    def open(self, width=100, height=30, term="tmux-256color"):
        self.terminals += 1  # the old tmux server may still be ending
        self.tmux("new-session", "-d", "-x", width, "-y", height, "env PS1='$ ' /bin/sh")
        self.addCleanup(self.close)
        self.type(f"export TERM={term}")
        self.type("clear; echo before; stty -a >" + self.stty("before"))
        self.see(r"^before\n\$")

    def stty(self, name):
        return os.path.join(self.folder, f"stty-{name}")

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def type(self, line):
        self.tmux("send-keys", "-l", line)
        self.press("Enter")

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def see(self, pattern):
        """Waits until the screen matches the pattern. Returns the screen."""
        seen = self.wait_for(
            lambda: [screen for screen in [self.screen()] if re.search(pattern, screen, re.M)],
            f"{pattern} on the screen")
        return seen[0]

    def not_see(self, pattern):
        self.wait_for(lambda: not re.search(pattern, self.screen(), re.M),
                      f"{pattern} to leave the screen")

    def demo(self, scenario="single"):
        demo = self.start_ttmem("demo", scenario, "--hold")
        demo.line("stderr")
        return demo

    def top(self, *arguments):
        self.type(" ".join([TTMEM, "top", "--interval", "100", *arguments]) + "; echo ended $?")

    def pid_of_top(self):
        def below(pid):
            with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
                if comm.read().strip() == "ttmem":
                    return pid
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
                return next(filter(None, map(below, map(int, children.read().split()))), None)

        return below(int(self.tmux("display-message", "-p", "#{pane_pid}")))

    def assert_as_before(self):
        """Checks that the shell's screen is back, the cursor is shown, and the terminal's settings
        are unchanged."""
        self.see(r"^before$")
        self.assertNotIn(TITLE, self.screen())
        self.assertEqual(self.tmux("display-message", "-p",
                                   "#{alternate_on} #{cursor_flag} #{mouse_any_flag}").split(),
                         ["0", "1", "0"])
        self.type("stty -a >" + self.stty("after") + "; echo compared")
        self.see(r"^compared$")
        with open(self.stty("before"), encoding="ascii") as before, \
                open(self.stty("after"), encoding="ascii") as after:
            # Leaves out the size of the terminal, because a test may have changed it.
            drop = re.compile(r"rows \d+; columns \d+;")
            self.assertEqual(drop.sub("", after.read()), drop.sub("", before.read()))


class ASession(Terminal):
    def test_from_the_start_over_every_view_to_the_end(self):
        demo = self.demo("mesh8")
        self.open()
        self.top()
        self.see(r"Device 0: n300 \(wormhole_b0\)")
        self.see(rf"{demo.pid} ")
        self.press("2")
        self.see(r"Device 0 DRAM \d+%")
        self.see(r"-60s")
        self.press("t")
        self.see(r"-120s")
        self.press("Right")
        self.see(r"Device 1 DRAM")
        self.press("3")
        self.see(r"Core \(0,0\)")
        self.press("l", "j", "j")
        self.see(r"Core \(1,2\)")
        self.see(r"headroom")
        self.press("4")
        self.see(r"1 process · on all devices")
        self.press("Enter")
        self.see(r"live allocations and \d+ CBs")
        self.press("s")
        self.see(r"PER BANK▼")
        self.press("Escape")
        self.see(r"1 process · on all devices")
        self.press("?")
        self.see(r"any key closes it")
        self.press("x")
        self.not_see(r"any key closes it")
        self.press("q")
        self.see(r"^ended 0$")
        self.assert_as_before()

    def test_f9_ends_a_process_after_a_question(self):
        demo = self.demo("single")
        self.open(100, 30)
        self.top("--view", "4")
        self.see(rf"{demo.pid} ")
        self.press("F9")
        self.see(rf"Send SIGTERM to process {demo.pid} \(ttmem\)")
        self.press("Escape")
        self.not_see(r"Send SIGTERM")
        self.press("F9", "Tab", "Tab")
        self.see(r"Send SIGKILL")
        self.press("Enter")
        self.see(rf"sent SIGKILL to process {demo.pid}")
        self.assertEqual(demo.wait(), -signal.SIGKILL)
        self.see(rf"{demo.pid} .* dead ")  # the next key acts on the state that is shown
        self.press("F9")
        self.see(r"is dead; `ttmem clean`")
        self.press("q")
        self.see(r"^ended 0$")

    def test_the_filter_and_the_sorting(self):
        first, second = self.demo("single"), self.demo("blackhole")
        self.open(140, 30)
        self.top("--view", "4")
        self.see(rf"{first.pid} [^\n]*\n[^\n]*{second.pid} |{second.pid} [^\n]*\n[^\n]*{first.pid} ")
        self.press("/")
        self.tmux("send-keys", "-l", "blackhole")
        self.not_see(rf"{first.pid} ")
        self.see(rf"{second.pid} ")
        self.press("Escape")
        self.see(rf"{first.pid} ")
        for _ in range(9):
            self.press("s")
        self.see(r"PID▲")
        low, high = sorted((first.pid, second.pid))
        self.see(rf" {low} [^\n]*\n[^\n]*{high} ")
        self.press("r")
        self.see(rf" {high} [^\n]*\n[^\n]*{low} ")
        self.press("F10")
        self.see(r"^ended 0$")

    def test_resizing_at_any_moment(self):
        self.demo("mesh8")
        self.open()
        self.top()
        self.see("Device 0")
        for view in "1234":
            self.press(view)
            for width, height in ((80, 24), (200, 60), (41, 11), (120, 40)):
                self.tmux("resize-window", "-x", width, "-y", height)
                self.see(r"q quit\s*$")
                lines = self.screen().splitlines()
                self.assertLessEqual(max(map(len, lines)), width)
        self.tmux("resize-window", "-x", 30, "-y", 8)
        self.see(r"ttmem top needs 40x10")
        self.tmux("resize-window", "-x", 100, "-y", 30)
        self.see(r"q quit")
        self.press("q")
        self.see(r"^ended 0$")
        self.assert_as_before()

    def test_with_nothing_tracked_it_is_the_screen_of_the_golden_file(self):
        self.open(80, 24)
        self.type(f"{TTMEM} top")
        self.see(r"q quit")
        clock = re.compile(r"\d\d:\d\d:\d\d")
        golden = (SCREENS / "nothing_80x24.txt").read_text(encoding="utf-8")
        self.assertRegex(golden, clock)
        self.assertEqual(clock.sub("", self.screen()), clock.sub("", golden))

    def test_a_killed_process_is_dead_and_a_new_process_appears(self):
        self.open()
        self.top()
        self.see(r"No process uses a device right now")
        self.see(r"ttmem demo")
        demo = self.demo("single")
        self.see(r"Device 0: n150")
        self.press("4")
        self.see(rf"{demo.pid} .*ttmem demo")
        demo.kill()
        self.see(rf"{demo.pid}\s+\S+\s+dead")
        self.press("Enter")
        self.see(r"dead: not counted as in use")
        self.press("q")
        self.see(r"^ended 0$")

    def test_pause_stops_and_continues(self):
        self.open()
        self.top()
        self.see(r"No process")
        self.press("p")
        self.see(r"PAUSED")
        demo = self.demo("single")
        self.assertIn("No process", self.screen())
        self.press("p")
        self.see(rf"{demo.pid}")

    def test_settings_are_saved_on_request(self):
        self.demo()
        self.open()
        self.top("--view", "2")
        self.see(r"Device 0 DRAM")
        self.press("t")
        self.see(r"-120s")
        path = os.path.join(self.folder, "ttmem", "top.toml")
        self.assertFalse(os.path.exists(path))
        self.press("F12")
        self.see(r"settings saved in")
        self.press("q")
        self.see(r"^ended 0$")
        self.type(f"{TTMEM} top")
        self.see(r"-120s")

    def test_the_mouse_opens_tabs(self):
        self.demo()
        self.open(term="xterm-256color")
        self.top()
        row = self.see(r"4 Processes").splitlines()[0]
        column = row.index("4 Processes") + 1
        self.tmux("send-keys", "-l", f"\x1b[<0;{column + 1};1M\x1b[<0;{column + 1};1m")
        self.see(r"1 process · on all devices")


class EveryExitRestores(Terminal):
    def end_by(self, number):
        self.open()
        self.top()
        self.see(r"q quit")
        os.kill(self.pid_of_top(), number)
        self.see(r"^ended \d+$")
        self.assert_as_before()
        return int(re.search(r"^ended (\d+)$", self.screen(), re.M).group(1))

    def test_sigterm(self):
        self.assertEqual(self.end_by(signal.SIGTERM), 0)

    def test_sighup(self):
        self.assertEqual(self.end_by(signal.SIGHUP), 0)

    def test_ctrl_c(self):
        self.open()
        self.top()
        self.see(r"q quit")
        self.press("C-c")
        self.see(r"^ended 0$")
        self.assert_as_before()

    def test_a_crash_ends_with_its_signal(self):
        self.assertEqual(self.end_by(signal.SIGSEGV), 128 + signal.SIGSEGV)

    def test_an_abort(self):
        self.assertEqual(self.end_by(signal.SIGABRT), 128 + signal.SIGABRT)

    def test_suspend_and_resume(self):
        self.demo()
        self.open()
        self.type(f"{TTMEM} top --interval 100")
        self.see(r"q quit")
        self.press("C-z")
        self.see(r"before")
        self.not_see(r"q quit")
        self.type("fg")
        self.see(r"q quit")
        self.press("q")
        self.assert_as_before()


class EveryTerminal(Terminal):
    def make_direct_colour_type(self):
        """Defines a terminal type like xterm-direct, which not every machine has."""
        source = os.path.join(self.folder, "direct.ti")
        with open(source, "w", encoding="ascii") as file:
            file.write("direct-for-test|red green and blue,\n\tRGB, colors#0x1000000, "
                       "pairs#0x7FFF,\n\tsetab=\\E[%?%p1%{8}%<%t4%p1%d%e48;2;%p1%{65536}%/%d;"
                       "%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m,\n\t"
                       "setaf=\\E[%?%p1%{8}%<%t3%p1%d%e38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&"
                       "%d;%p1%{255}%&%d%;m,\n\tuse=xterm,\n")
        self.env["TERMINFO"] = os.path.join(self.folder, "terminfo")
        subprocess.run(["tic", "-x", "-o", self.env["TERMINFO"], source], env=self.env, check=True)

    def test_terminal_types_and_colours(self):
        self.demo("mesh8")
        self.make_direct_colour_type()
        for term in ("xterm", "linux", "tmux", "xterm-256color", "direct-for-test", "vt100"):
            with self.subTest(term):
                self.open(term=term)
                self.top()
                self.see(r"Device 0")
                self.press("3")
                self.see(r"Core \(0,0\)")
                if term == "direct-for-test":
                    self.assertIn("48;2;", self.tmux("capture-pane", "-p", "-e"))
                self.press("q")
                self.see(r"^ended 0")
                self.close()

    def test_no_color_uses_none(self):
        self.demo()
        self.open()
        self.type("export NO_COLOR=1")
        self.top("--view", "3")
        self.see(r"Core \(0,0\)")
        self.assertNotRegex(self.tmux("capture-pane", "-p", "-e"), r"\x1b\[[0-9;]*(3|4)[0-8]")
        self.press("q")

    def test_without_utf_8_all_is_ascii(self):
        self.demo()
        self.open()
        self.type("export LC_ALL=C LANG=C")
        self.top()
        screen = self.see(r"Device 0")
        self.assertTrue(screen.isascii(), screen)
        self.press("q")

    def test_a_dumb_terminal_gets_view_1_repeatedly(self):
        self.demo()
        self.open()
        self.type("export TERM=dumb")
        self.top()
        self.see(r"this terminal cannot move the cursor")
        self.see(r"(?s)Device 0.*Device 0")
        os.kill(self.pid_of_top(), signal.SIGINT)
        self.see(r"^ended 0$")

    def test_the_light_theme_has_a_white_background(self):
        self.demo()
        self.open()
        self.top()
        self.see(r"Device 0")
        white = r"\x1b\[[0-9;]*48;5;231"
        self.assertNotRegex(self.tmux("capture-pane", "-p", "-e"), white)
        self.press("T")
        self.wait_for(lambda: re.search(white, self.tmux("capture-pane", "-p", "-e")), "white")
        self.press("q")
        self.see(r"^ended 0$")

    def test_columns_stay_separate_on_the_smallest_terminal(self):
        self.demo("mesh8")
        self.open(40, 10)
        self.type(f"{TTMEM} top")
        screen = self.see(r"HEADROOM")
        self.assertRegex(screen, r"DRAM +L1 +HEADROOM\n")
        self.assertRegex(screen, r"0 n300 +\d+% +\d+% +[\d.]+ KiB\n")
        self.press("4", "Enter")
        self.assertRegex(self.see(r"KIND"), r"KIND +SIZE +PHYSICAL\S* +LABEL")
        self.press("q")

    def test_an_unknown_terminal_is_one_line_and_a_failure(self):
        self.open()
        self.type("export TERM=nonsense-9")
        self.top()
        self.see(r"terminal type 'nonsense-9'")
        self.see(r"^ended 1$")


class AsText(Case):
    def test_once_prints_view_1_and_ends(self):
        demo = self.start_ttmem("demo", "single", "--hold")
        demo.line("stderr")
        text = self.ttmem("top", "--once",
                          env={**self.env, "LANG": "C.UTF-8", "COLUMNS": "110"}).stdout
        self.assertIn("Device 0: n150 (wormhole_b0), 8x8 cores", text)
        for word in ("L1 buffers", "L1_SMALL", "CBs", "Kernels", "Total L1", "resident", "logical",
                     "Headroom", str(demo.pid)):
            self.assertIn(word, text)
        self.assertIn("29.0 MiB", text)
        self.assertNotIn("\x1b", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 110)

    def test_without_a_terminal_and_under_the_old_name_it_is_the_same(self):
        self.start_ttmem("demo", "single", "--hold").line("stderr")
        lines = [re.sub(r"\d\d:\d\d:\d\d", "", self.ttmem("top", *options).stdout)
                 for options in ((), ("--once",), ("-w",))]
        result = subprocess.run([PREFIX / "bin" / "tt_smi_umd", "-w", "-r", "250"], env=self.env,
                                text=True, capture_output=True, timeout=20, check=True)
        lines.append(re.sub(r"\d\d:\d\d:\d\d", "", result.stdout))
        self.assertEqual(len(set(lines)), 1)

    def test_with_nothing_running_it_says_what_to_start(self):
        self.assertIn("ttmem demo", self.ttmem("top").stdout)

    def test_a_missing_device_is_a_failure(self):
        self.ttmem("top", "--once", "--device", "7", code=1)

    def test_each_mistake_is_one_line_and_exit_2(self):
        for arguments in (("--view", "5"), ("--view", "x"), ("--interval", "0"),
                          ("--interval", "soon"), ("--device", "0,1"), ("--device", "x"),
                          ("extra",), ("--fast",), ("-r",)):
            with self.subTest(arguments):
                result = self.ttmem("top", *arguments, code=2)
                self.assertEqual(result.stdout, "")
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def test_help_has_examples(self):
        self.assertIn("Examples:", self.ttmem("top", "--help").stdout)


class HistoryOfAServer(Terminal):
    def serve(self, answer, hang_up=True):
        """Starts a server that answers each request with `answer(path)`. Returns the list of the
        requested paths, which grows with each request."""
        asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                body = answer(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = hang_up

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.env["TTMEM_HTTP"] = f"127.0.0.1:{server.server_port}"
        return asked

    def history(self, path, directory_id=None):
        (device,) = urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)["device"]
        now = time.time_ns()
        points = [{"time_unix_ns": now - age * 10**9, "dram_bytes": 11 * 2**30, "l1_bytes": None,
                   "l1_used_bytes": 60 * 2**20, "cb_bytes": 40 * 2**20}
                  for age in range(50, 0, -1)]
        return json.dumps({"schema": "ttmem.history.v1", "device": 0, "uid": device, "interval_seconds": 1,
                           "directory_id": directory_id or self.directory_id(self.dir),
                           "points": points}).encode()

    @staticmethod
    def directory_id(path):
        """Returns the id as docs/reference/server-http.md describes it."""
        there = os.stat(path)
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}:{there.st_dev}:{there.st_ino}"

    def test_charts_start_with_the_history(self):
        asked = self.serve(self.history)
        self.demo("mesh8")
        self.open()
        self.top("--view", "2")
        self.see(r"peak 92% \(11\.0 GiB\)")
        self.see(r"history from ttmem serve on 127\.0\.0\.1:\d+")
        self.see(r"⣿{20}")
        self.press("Right")
        self.see(r"Device 1 DRAM")
        self.wait_for(lambda: len(asked) == 2, "a question for each device")
        uids = [device["uid"] for device in self.devices()[:2]]
        self.assertEqual([re.search(r"device=(0x\w+)", path).group(1) for path in asked], uids)
        self.assertTrue(all(path.startswith("/api/v1/history?") for path in asked))
        self.press("q")

    def test_the_history_of_another_directory_is_not_shown(self):
        with tempfile.TemporaryDirectory() as other:
            for given, words in ((self.directory_id(other), "reads another TTMEM_DIR"),
                                 ("", "does not say which TTMEM_DIR it reads")):
                with self.subTest(given):
                    self.serve(lambda path, given=given: self.history(path).replace(
                        self.directory_id(self.dir).encode(), given.encode()))
                    self.demo()
                    self.open(120, 40)
                    self.top("--view", "2")
                    self.see(r"no history: ttmem serve on 127\.0\.0\.1:\d+ " + words)
                    self.see(r"60s peak (?!92%)")
                    self.press("q")
                    self.see(r"^ended 0$")
                    self.close()

    @staticmethod
    def has_history(server):
        try:
            with urllib.request.urlopen(f"http://{server}/api/v1/history?device=0") as answer:
                return json.load(answer)["points"]
        except urllib.error.HTTPError:  # the server has not seen the device yet
            return False

    def test_a_real_server_says_which_directory_it_reads(self):
        with tempfile.TemporaryDirectory() as elsewhere:
            link = pathlib.Path(elsewhere) / "link"
            link.symlink_to(self.dir)
            for directory, words in ((str(link), "history from"),
                                     (elsewhere, "no history: .* reads another TTMEM_DIR")):
                with self.subTest(words):
                    there = {**self.env, "TTMEM_DIR": directory}
                    self.start([TTMEM, "demo", "single", "--hold"], there).line("stderr")
                    server = self.start([TTMEM, "serve", "--http", "127.0.0.1:0", "--socket",
                                         f"{elsewhere}/socket"], there)
                    where = re.compile(r"127\.0\.0\.1:\d+")
                    while not (found := where.search(server.line("stderr"))):
                        pass
                    self.env["TTMEM_HTTP"] = found.group()
                    self.wait_for(lambda: self.has_history(found.group()), "the first pass")
                    self.open(120, 40)
                    self.top("--view", "2")
                    self.see(words)
                    self.press("q")
                    self.see(r"^ended 0$")
                    self.close()
                    server.signal(signal.SIGTERM)
                    server.wait()

    def test_a_server_that_does_not_hang_up_is_accepted(self):
        self.serve(self.history, hang_up=False)
        self.demo()
        self.open()
        self.top("--view", "2")
        self.see(r"peak 92% \(11\.0 GiB\)")
        self.press("q")

    def test_invalid_answers_give_no_history(self):
        for answer in (b"", b"{", b'{"schema":"ttmem.history.v1","points":[1,2]}', b"\xff" * 1000):
            with self.subTest(answer[:20]):
                self.serve(lambda _, answer=answer: answer)
                self.demo()
                self.open()
                self.top("--view", "2")
                self.see(r"Device 0 DRAM \d+%")
                self.press("q")
                self.see(r"^ended 0$")
                self.close()
