# SPDX-License-Identifier: Apache-2.0
"""The installed manual pages: one for each command, with exactly the options of its --help."""

import os
import re
import sqlite3
import subprocess
import unittest

from support import CAPTURES, PREFIX, Case, pkg_config

PAGES = PREFIX / "share" / "man"


def page_text(path):
    """Returns the page as `man` shows it, without bold and underlined text."""
    shown = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=200", str(path)], text=True,
                           capture_output=True, check=True).stdout
    return re.sub(r".\x08", "", shown)


def section(text, name):
    found = re.search(rf"^{name}\n(.*?)(?=^\S|\Z)", text, re.S | re.M)
    return found[1] if found else ""


def terms(text):
    """Returns {term: its description} of a section of a manual page."""
    blocks = re.findall(r"^ {7}(\S.*)\n((?: {11}.*\n|\n(?= {11}))+)", text, re.M)
    return {" ".join(term.split()): " ".join(said.split()) for term, said in blocks}


def help_terms(text, heading):
    """Returns {term: its description} of a section of a help text. A term is "-i, --device
    LIST"."""
    found = re.search(rf"^{heading}:\n(.*?)\n\n", text, re.S | re.M)
    rows = re.findall(r"^  (\S+(?: \S+)?)(?:  +|\n {10,})(.*)$", found[1] if found else "", re.M)
    if heading == "Positionals":  # "files FILE..." becomes "FILE..."
        return {name.split()[-1]: " ".join(said.split()) for name, said in rows}
    return {name.replace(",-", ", -"): " ".join(said.split()) for name, said in rows}


class Pages(Case):
    def setUp(self):
        super().setUp()
        self.help = {"": self.ttmem("--help").stdout}
        for name in help_terms(self.help[""], "Subcommands"):
            self.help[name] = self.ttmem(name, "--help").stdout

    def page(self, command):
        return PAGES / "man1" / (f"ttmem-{command}.1" if command else "ttmem.1")

    def test_every_command_has_a_page_and_there_is_no_other_page(self):
        self.assertGreater(len(self.help), 20)
        installed = {str(path.relative_to(PAGES)) for path in PAGES.rglob("*") if path.is_file()}
        expected = {f"man1/{self.page(command).name}" for command in self.help}
        self.assertEqual(installed, expected | {"man3/ttmem.3", "man5/ttmem-recording.5",
                                                "man1/tt_smi_umd.1", "man1/allocation_server.1"})
        self.assertEqual(os.readlink(PAGES / "man1/tt_smi_umd.1"), "ttmem-top.1")
        self.assertEqual(os.readlink(PAGES / "man1/allocation_server.1"), "ttmem-serve.1")

    def test_options_and_arguments_equal_the_help(self):
        for command, help_text in self.help.items():
            with self.subTest(command):
                text = page_text(self.page(command))
                options = help_terms(help_text, "Options")
                self.assertIn("-h, --help", options)
                self.assertEqual(terms(section(text, "OPTIONS")), options)
                self.assertEqual(terms(section(text, "ARGUMENTS")),
                                 help_terms(help_text, "Positionals"))

    def test_no_page_names_an_option_that_no_command_has(self):
        known = {name for text in self.help.values() for term in help_terms(text, "Options")
                 for name in re.findall(r"(?<!\S)--?[\w-]+", term)}
        for path in PAGES.rglob("ttmem*.1"):
            bold = re.findall(r"\\fB(--?[a-zA-Z][\w-]*)", path.read_text())
            self.assertTrue(bold, path)
            self.assertEqual(set(bold) - known, set(), path)

    def test_each_page_has_the_usual_sections(self):
        for command in self.help:
            with self.subTest(command):
                text = page_text(self.page(command))
                name = f"ttmem-{command}" if command else "ttmem"
                self.assertRegex(section(text, "NAME"), rf"^ +{name} [-–] \w")
                for heading in ("SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO"):
                    self.assertTrue(section(text, heading).strip(), heading)
                self.assertIn(f"ttmem {command}".strip(), section(text, "EXAMPLES"))

    def test_the_commands_are_listed_as_in_the_help(self):
        listed = terms(section(page_text(self.page("")), "COMMANDS"))
        self.assertEqual(listed, {f"ttmem-{name}(1)": said for name, said in
                                  help_terms(self.help[""], "Subcommands").items()})

    def test_referenced_pages_exist(self):
        for path in PAGES.rglob("ttmem*.[0-9]"):
            for name, number in re.findall(r"\b(ttmem[a-z-]*)\(([135])\)", page_text(path)):
                self.assertTrue((PAGES / f"man{number}" / f"{name}.{number}").exists(),
                                f"{path.name}: {name}({number})")

    def test_lint(self):
        paths = sorted(map(str, PAGES.rglob("ttmem*.[0-9]")))
        said = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *paths], text=True,
                              capture_output=True).stdout.splitlines()
        # Ignores the empty paragraphs that scdoc writes at the beginning of sections and items.
        self.assertEqual([line for line in said if "skipping paragraph macro: PP" not in line], [])


class Formats(Case):
    def test_the_tables_and_columns_of_a_recording(self):
        self.ttmem("import", CAPTURES / "basic_wh1.jsonl", "-o", f"{self.dir}/run.ttmem")
        with sqlite3.connect(f"{self.dir}/run.ttmem") as database:
            tables = [name for name, in database.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
            columns = {name: {row[1] for row in database.execute(f"PRAGMA table_info({name})")}
                       for name in tables}
        database.close()
        text = page_text(PAGES / "man5" / "ttmem-recording.5")
        said = {**terms(section(text, "VIEWS")), **terms(section(text, "TABLES"))}
        listed = {name: set(re.search(r"Columns: ([\w, ]+)\.", what)[1].split(", "))
                  for name, what in said.items()}
        self.assertEqual(listed, columns)

    def test_the_functions_of_the_interface(self):
        header = (PREFIX / "include" / "ttmem" / "ttmem.h").read_text()
        declared = set(re.findall(r"^TTMEM_API \w+ (ttmem_\w+)\(", header, re.M))
        text = page_text(PAGES / "man3" / "ttmem.3")
        self.assertGreater(len(declared), 20)
        self.assertNotIn("/*", section(text, "SYNOPSIS"))
        self.assertEqual(set(re.findall(r"(ttmem_\w+)\(", section(text, "SYNOPSIS"))), declared)
        self.assertEqual(set(re.findall(r"(ttmem_\w+)\(\)", section(text, "DESCRIPTION"))), declared)

    def test_the_program_of_the_interface_compiles(self):
        text = section(page_text(PAGES / "man3" / "ttmem.3"), "EXAMPLES")
        subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-x", "c", "-",
                        *pkg_config("--cflags")], input=text.replace("‘", "'"), text=True, check=True)


if __name__ == "__main__":
    unittest.main()
