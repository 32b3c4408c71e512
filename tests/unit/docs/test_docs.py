# SPDX-License-Identifier: Apache-2.0
"""Checks the documentation: docs/README.md lists every page of docs/, every relative link leads to
an existing file and heading, every path of the repository in backquotes exists, and the changelog
and the packages have the version in ttmem.h. Each rule is also tested with a fault."""

import email.utils
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
HEADER = ROOT / "include" / "ttmem" / "ttmem.h"
FOLDERS = {"cmake", "debian", "docs", "include", "integrations", "packaging", "scripts",
           "simulator", "src", "tests"}


def version_of_header():
    return ".".join(re.findall(r"^#define TTMEM_VERSION_[A-Z]+ (\d+)$", HEADER.read_text(), re.M))


def pages_of(root):
    """Yields every *.md file except in build folders and node_modules."""
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders
                      if name not in ("build", "node_modules") and not name.startswith(".")]
        yield from (pathlib.Path(folder) / name for name in files if name.endswith(".md"))


def prose_of(page):
    """Returns the page without code, which may look like links and headings."""
    text = re.sub(r"^ *(```|~~~).*?^ *\1", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    return re.sub(r"<!--.*?-->", "", text, flags=re.S)


def anchors_of(page):
    """Returns the anchors that repository hosts make of headings: lower case, no punctuation, "-"
    for a blank; the second heading of the same name gets the suffix -1."""
    seen, anchors = {}, set()
    for heading in re.findall(r"^#{1,6} +(.*?) *#* *$", prose_of(page), re.M):
        shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        anchors.add(f"{slug}-{seen[slug]}" if slug in seen else slug)
        seen[slug] = seen.get(slug, 0) + 1
    return anchors


def links_of(page):
    text = re.sub(r"(`+)[^`].*?\1", "", prose_of(page))
    inline = re.findall(r"\]\(<?([^()\s<>]+(?:\([^()]*\))?)>?(?: +\"[^\"]*\")?\)", text)
    # In links such as [`code`](page.md), the link text was removed above, but the link target was
    # kept.
    return inline + re.findall(r"^\[[^\]]+\]: +(\S+)", text, re.M)


def paths_of(page):
    """Returns the paths of the repository in backquotes. A path may be followed by arguments."""
    spans = [span for paragraph in prose_of(page).split("\n\n")
             for _, span in re.findall(r"(`+)(.+?)\1", paragraph, re.S)]
    paths = [span.split()[0] for span in spans if span.strip()]
    return [path for path in paths if "/" in path and path.split("/")[0] in FOLDERS]


def is_in(root, path):
    """Returns true if the path is in the tree; "*" and a folder "X" stand for any name."""
    return any(root.glob(re.sub(r"/X(?=/|$)", "/*", path).rstrip("/")))


def faults_of(root):
    """Returns one line for each broken link, missing path, and page that the index lacks."""
    faults = []
    for page in sorted(pages_of(root)):
        name = page.relative_to(root)
        for link in links_of(page):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = page.parent / urllib.parse.unquote(parts.path) if parts.path else page
            if not target.exists():
                faults.append(f"{name}: {link}: there is no such file")
            elif parts.fragment and target.suffix == ".md" and (
                    parts.fragment not in anchors_of(target)):
                faults.append(f"{name}: {link}: there is no such heading")
        if page.name != "CHANGELOG.md":  # names paths of earlier versions
            faults += [f"{name}: {path}: there is no such path"
                       for path in paths_of(page) if not is_in(root, path)]
    index = root / "docs" / "README.md"
    listed = {link.partition("#")[0] for link in links_of(index)}
    faults += [f"docs/README.md does not list {page.relative_to(root / 'docs')}"
               for page in sorted((root / "docs").rglob("*.md"))
               if page != index and str(page.relative_to(root / "docs")) not in listed]
    return faults


class Repository(unittest.TestCase):
    def test_every_link_leads_somewhere_and_every_page_is_listed(self):
        self.assertGreater(sum(len(links_of(page)) for page in pages_of(ROOT)), 100)
        self.assertEqual(faults_of(ROOT), [])

    def test_the_architecture_names_paths(self):
        self.assertGreater(len(paths_of(ROOT / "ARCHITECTURE.md")), 30)

    def test_the_files_to_read_first_are_in_their_folder(self):
        page = (ROOT / "docs" / "internals" / "folders.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `([^`]+)` .*\| ([^|]*) ?\|$", page, re.M)
        named = [(folder, file) for folder, files in rows for file in re.findall(r"`([^`]+)`", files)]
        self.assertGreater(len(named), 50)
        self.assertEqual([one for one in named if not (ROOT / one[0] / one[1]).exists()], [])

    def test_no_page_is_missed(self):
        tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "*.md"], text=True,
                                 capture_output=True)
        if tracked.returncode != 0:
            self.skipTest("not a clone")
        known = {str(page.relative_to(ROOT)) for page in pages_of(ROOT)}
        self.assertEqual(set(tracked.stdout.split()) - known, set())

    def test_the_newest_release_of_the_changelog_is_the_version(self):
        headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
        self.assertRegex([line for line in headings if line != "Unreleased"][0],
                         rf"^{re.escape(version_of_header())} \(\d{{4}}-\d\d-\d\d\)$")
        self.assertNotIn("Unreleased", headings[1:])

    def test_the_packages_have_the_version_of_the_header(self):
        released = re.search(r"^## \d.* \((.*)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
        newest = (ROOT / "debian" / "changelog").read_text().split("\n -- ")
        self.assertRegex(newest[0], rf"^ttmem \({re.escape(version_of_header())}-\S+\) ")
        signed = email.utils.parsedate_to_datetime(newest[1].splitlines()[0].split(">  ")[1])
        self.assertEqual(signed.date().isoformat(), released)

    def test_the_symbols_of_the_package_match_the_header(self):
        declared = re.findall(r"^TTMEM_API [^(]*?(ttmem_\w+)\(", HEADER.read_text(), re.M)
        listed = (ROOT / "debian" / "libttmem0.symbols").read_text()
        self.assertEqual(re.findall(r"^ (\w+)@Base ", listed, re.M), sorted(declared))

    def test_setup_installs_the_build_dependencies_of_the_packages(self):
        control = (ROOT / "debian" / "control").read_text()
        wanted = re.search(r"^Build-Depends:(.*?)^(?=\S|$)", control, re.S | re.M)[1]
        names = {one.split()[0].replace("-compat", "") for one in wanted.split(",")}
        sections = re.findall(r"^\[(\w+)\].*\n((?:(?!\[).*\n)*)",
                              (ROOT / "scripts" / "packages.txt").read_text(), re.M)
        packages = {name: set(text.split()) for name, text in sections}
        self.assertEqual(packages["build"] - names, set())
        self.assertEqual(names - packages["build"] - packages["package"], set())


class Faults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ttmem-test-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("docs/README.md", "[One](one.md)\n")
        self.write("docs/one.md", "# One\n\n## `a --b`: what, now?\n\n## Twice\n\n## Twice\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test_a_correct_tree_has_no_faults(self):
        self.write("README.md", "[1](docs/one.md#a---b-what-now) [2](docs/one.md#twice-1) [3](docs)\n"
                                "[`code`](docs/one.md) <https://nowhere.example/x.md>\n"
                                "```\n[not a link](gone.md)\n```\n`[nor](this.md)`\n")
        self.assertEqual(faults_of(self.root), [])

    def test_a_link_to_a_missing_file_is_a_fault(self):
        self.write("README.md", "a\n[x](docs/gone.md#top), ![y](y.png)\n[`z`](z.md \"title\")\n")
        self.assertEqual(faults_of(self.root), [
            "README.md: docs/gone.md#top: there is no such file",
            "README.md: y.png: there is no such file",
            "README.md: z.md: there is no such file"])

    def test_a_link_to_a_missing_heading_is_a_fault(self):
        self.write("README.md", "[x](docs/one.md#two) [y](#here)\n# There\n")
        self.assertEqual(faults_of(self.root), [
            "README.md: docs/one.md#two: there is no such heading",
            "README.md: #here: there is no such heading"])

    def test_a_missing_path_is_a_fault(self):
        self.write("src/a/b.cpp", "")
        self.write("README.md", "`src/a` `src/a/` `src/X/b.cpp` `src/a/*.cpp -v` `a/b` `docs/gone.md`\n"
                                "```\n`src/no`\n```\n`src/a/c.cpp\n--all` `src/c/X`\n")
        self.assertEqual(faults_of(self.root), [
            "README.md: docs/gone.md: there is no such path",
            "README.md: src/a/c.cpp: there is no such path",
            "README.md: src/c/X: there is no such path"])

    def test_an_unlisted_page_is_a_fault(self):
        self.write("docs/guides/two.md", "# Two\n")
        self.assertEqual(faults_of(self.root), ["docs/README.md does not list guides/two.md"])


if __name__ == "__main__":
    unittest.main()
