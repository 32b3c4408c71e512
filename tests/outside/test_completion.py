# SPDX-License-Identifier: Apache-2.0
"""Completion with the Tab key in bash, zsh and fish, with the installed files, and the output of
`ttmem complete`."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from support import CAPTURES, DEADLINE_SECONDS, PREFIX, TTMEM, Case

SHARE = PREFIX / "share"

# Ctrl-T prints the current line between < and >, and clears it.
BASHRC = """
. /usr/share/bash-completion/bash_completion
bind 'set enable-bracketed-paste off'
bind 'set bell-style none'
_say() { printf '\\n<%s>\\n' "$READLINE_LINE"; READLINE_LINE=; }
bind -x '"\\C-t": _say'
PS1=
"""
ZSHRC = f"""
fpath=({SHARE}/zsh/site-functions $fpath)
autoload -Uz compinit
compinit -u -d $ZDOTDIR/dump
unsetopt beep
zle_bracketed_paste=()
say() {{ print -r -- $'\\n'"<$BUFFER>"; BUFFER= }}
zle -N say
bindkey '^T' say
PS1=
"""


class Shell:
    """A shell on its own terminal. The test sends keys and reads the resulting line."""

    def __init__(self, command, env, folder):
        self.command = command
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, env)
        self.pid = pid
        self.unread = ""

    def line(self, keys):
        """Types these keys. Returns the resulting line."""
        os.write(self.terminal, f"{keys}\x14".encode())
        end = time.monotonic() + DEADLINE_SECONDS
        while True:
            plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\r", "", self.unread)
            found = re.search(r"^<(.*)>$", plain, re.M)
            if found:
                self.unread = ""
                return found[1]
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"{self.command}: no line after {keys!r}: {plain!r}")
            self.unread += os.read(self.terminal, 65536).decode(errors="replace")

    def end(self):
        os.close(self.terminal)  # the shell gets SIGHUP
        os.waitpid(self.pid, 0)


class WithDemo(Case):
    """A demo on one device, and a folder with a recording in it."""

    def setUp(self):
        super().setUp()
        self.demo = self.start_ttmem("demo", "blackhole", "--hold")
        self.wait_for(lambda: len(self.devices()) == 1, "the demo")
        self.folder = pathlib.Path(self.dir) / "work"
        (self.folder / "sub").mkdir(parents=True)
        shutil.copy(CAPTURES / "basic_wh1.jsonl", self.folder / "run.ttmem")
        self.env["HOME"] = str(self.folder)
        self.env["PATH"] = f"{pathlib.Path(TTMEM).parent}:{self.env['PATH']}"
        self.env["XDG_DATA_DIRS"] = f"{SHARE}:/usr/share"
        self.env.update(TERM="xterm", LC_ALL="C.UTF-8")
        self.env.pop("LD_PRELOAD", None)  # shells must not load the sanitizers' library


class TtmemComplete(WithDemo):
    def complete(self, *words):
        """Returns {candidate: help}, or a directive such as ":files"."""
        lines = self.ttmem("complete", "--", *words).stdout.splitlines()
        if lines and lines[0].startswith(":"):
            self.assertEqual(len(lines), 1)
            return lines[0]
        return dict(line.split("\t") for line in lines)

    def test_commands_have_their_help(self):
        commands = self.complete("")
        self.assertGreater(len(commands), 20)
        self.assertEqual(commands["allocs"], "Every live allocation, the largest first")
        self.assertNotIn("complete", commands)
        self.assertEqual(list(self.complete("al")), ["allocs"])
        self.assertEqual(list(self.complete("--device", "0", "pro")), ["programs"])
        self.assertEqual(list(self.complete("help", "pro")), ["programs"])

    def test_options_of_the_command_that_was_typed(self):
        self.assertIn("--group-by", self.complete("allocs", "-"))
        self.assertIn("-i", self.complete("allocs", "-"))
        self.assertNotIn("--group-by", self.complete("--"))
        self.assertIn("--dry-run", self.complete("clean", ""))

    def test_values(self):
        self.assertEqual(list(self.complete("--device", "")), ["0"])
        self.assertEqual(list(self.complete("--pid", "")), [str(self.demo.pid)])
        self.assertEqual(list(self.complete("record", "--pid", "")), [str(self.demo.pid)])
        self.assertEqual(list(self.complete("--color=al")), ["--color=always"])
        self.assertEqual(list(self.complete("allocs", "--kind", "l1,l1")), ["l1,l1_small"])
        self.assertIn("p150", self.complete("fit", "--board", ""))
        self.assertIn("headroom", self.complete("fleet", "--sort", ""))
        self.assertIn("command", self.complete("--sort", ""))
        self.assertIn("perfetto", self.complete("export", "x", "--format", ""))
        self.assertIn("noheader", self.complete("--format", ""))
        self.assertIn("training", self.complete("demo", ""))
        self.assertEqual(list(self.complete("adapter", "li")), ["list"])

    def test_files_are_left_to_the_shell(self):
        self.assertEqual(self.complete("view", ""), ":files")
        self.assertEqual(self.complete("fleet", "--servers-from", ""), ":files")
        self.assertEqual(self.complete("diff", "a", "b"), ":files")
        self.assertEqual(self.complete("serve", "--assets", ""), ":folders")
        self.assertEqual(self.complete("run", "--summary", "--", "ls", ""), ":command 3")
        self.assertEqual(self.complete("record", "-o", "x", "py"), ":command 3")
        self.assertEqual(self.complete("record", "-o", "x"), ":files")

    def test_every_offered_value_is_accepted(self):
        listed = ["color", "units", "sort", "query", "format"]
        for name in listed:
            values = self.complete(f"--{name}", "")
            self.assertGreater(len(values), 2, name)
            for value in values:
                query = ["--query=device"] if name == "format" else []
                value = f"csv,{value}" if name == "format" and value != "csv" else value
                units = ["--units=MiB"] if value.endswith("nounits") else []
                self.ttmem(f"--{name}", value, *query, *units)
        for value in self.complete("allocs", "--group-by", ""):
            self.ttmem("allocs", "--group-by", value)
        for value in self.complete("allocs", "--kind", ""):
            self.ttmem("allocs", "--kind", value)
        for value in self.complete("top", "--view", ""):
            self.ttmem("top", "--once", "--view", value)
        for value in self.complete("top", "--theme", ""):
            self.ttmem("top", "--once", "--theme", value)
        self.ttmem("import", CAPTURES / "basic_wh1.jsonl", "-o", f"{self.dir}/x.ttmem")
        for value in self.complete("report", "--at", ""):
            self.ttmem("report", f"{self.dir}/x.ttmem", "--at", value)

    def test_every_option_whose_value_has_names_is_known(self):
        free = {"BYTES", "JOB", "LABEL", "LIMIT", "MS", "N", "SCOPE", "SECONDS", "TEXT", "TIME", "UINT",
                "URL", "URLS", "X"}
        for command in ["", *self.complete("")]:
            shown = self.ttmem(*command.split(), "--help").stdout
            for option, value in re.findall(r"^  \S*?(--[\w-]+) ([\w,.]+)\S*  ", shown, re.M):
                with self.subTest(command=command, option=option):
                    self.assertTrue(value in free or self.complete(*command.split(), option, ""))

    def test_impossible_words_have_no_candidates(self):
        for words in ([], ["nonsense", ""], ["--nonsense=", ""], ["allocs", "--pid", "x"], ["--x=y"]):
            result = self.ttmem("complete", "--", *words)
            self.assertEqual(result.stderr, "", words)
        self.env["TTMEM_DIR"] = "/nonexistent"
        self.assertEqual(self.ttmem("complete", "--", "--device", "").stderr, "")


class Tab(WithDemo):
    def check(self, shell):
        for keys, line in {
                "ttmem al\t": "ttmem allocs ",
                "ttmem allocs --gr\t": "ttmem allocs --group-by ",
                "ttmem --device 0 allocs --js\t": "ttmem --device 0 allocs --json ",
                "ttmem demo tra\t": "ttmem demo training ",
                "ttmem top --device \t": "ttmem top --device 0 ",
                "ttmem allocs --pid \t": f"ttmem allocs --pid {self.demo.pid} ",
                "ttmem allocs --kind dram,tr\t": "ttmem allocs --kind dram,trace ",
                "ttmem --units=M\t": "ttmem --units=MiB ",
                "ttmem view ru\t": "ttmem view run.ttmem ",
                "ttmem report --html=ru\t": "ttmem report --html=run.ttmem ",
                "ttmem serve --assets s\t": "ttmem serve --assets sub/",
                "ttmem run -- ttmem pro\t": "ttmem run -- ttmem programs ",
                "ttmem help lea\t": "ttmem help leaks ",
        }.items():
            with self.subTest(keys):
                self.assertEqual(shell.line(keys), line)

    def test_in_bash(self):
        rc = pathlib.Path(self.dir) / "bashrc"
        rc.write_text(BASHRC)
        shell = Shell(["bash", "--noprofile", "--rcfile", str(rc), "-i"], self.env, self.folder)
        self.addCleanup(shell.end)
        self.check(shell)

    def test_in_zsh(self):
        rc = pathlib.Path(self.dir) / ".zshrc"
        rc.write_text(ZSHRC)
        shell = Shell(["zsh", "-d", "-i"], {**self.env, "ZDOTDIR": self.dir}, self.folder)
        self.addCleanup(shell.end)
        self.check(shell)

    def test_in_fish(self):
        def offered(line):
            shown = subprocess.run(["fish", "-c", f"complete -C '{line}'"], env=self.env,
                                   cwd=self.folder, text=True, capture_output=True,
                                   timeout=DEADLINE_SECONDS)
            self.assertEqual(shown.stderr, "")
            return [row.split("\t")[0] for row in shown.stdout.splitlines()]
        for line, words in {
                "ttmem al": ["allocs"],
                "ttmem allocs --gr": ["--group-by"],
                "ttmem demo tra": ["training"],
                "ttmem top --device ": ["0"],
                "ttmem allocs --pid ": [str(self.demo.pid)],
                "ttmem allocs --kind dram,tr": ["dram,trace"],
                "ttmem --units=M": ["--units=MiB"],
                "ttmem view ru": ["run.ttmem"],
                "ttmem report --html=ru": ["--html=run.ttmem"],
                "ttmem serve --assets s": ["sub/"],
                "ttmem run -- ttmem pro": ["programs"],
                "ttmem help lea": ["leaks"],
        }.items():
            with self.subTest(line):
                self.assertEqual(offered(line), words)


if __name__ == "__main__":
    unittest.main()
