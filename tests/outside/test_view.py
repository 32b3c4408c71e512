# SPDX-License-Identifier: Apache-2.0
"""`ttmem view` and `ttmem report --html` without a browser: which clients get an answer, the
contents of the answers, the files that are left, and the end of the viewer."""

import base64
import contextlib
import gzip
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import socket
import sqlite3
import subprocess
import unittest
import urllib.parse

from export_case import ExportCase
from recording_file import random_recording
from support import DEADLINE_SECONDS, TTMEM, is_sanitized, shown

PORT = 9489
FORMATS = ("perfetto", "pprof", "memory-viz", "speedscope", "collapsed", "csv")


def only_small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


class ViewCase(ExportCase):
    def setUp(self):
        super().setUp()
        # The viewer's folder for temporary files. No other program uses it.
        self.temporary = pathlib.Path(self.dir) / "temporary"
        self.temporary.mkdir()
        self.env["TMPDIR"] = str(self.temporary)

    def view(self, *arguments, files=None):
        """Serves recordings; self.url is the address that the viewer prints."""
        self.viewer = self.start_ttmem("view", "--no-open", *arguments, *(files or [self.path]))
        said = self.viewer.line("stderr")
        self.url = urllib.parse.urlsplit(re.search(r"http://\S+", said)[0])
        return said

    def view_somewhere(self, *files):
        return self.view("--http", "127.0.0.1:0", files=files)

    @contextlib.contextmanager
    def asking(self, target, method="GET", headers=None, host=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.url.port,
                                                timeout=DEADLINE_SECONDS)
        try:
            connection.request(method, target, headers={**({"Host": host} if host else {}),
                                                        **(headers or {})})
            yield connection.getresponse()
        finally:
            connection.close()

    def request(self, target, **options):
        """Returns (status, headers, body) for a path below the address of the page."""
        with self.asking(self.url.path + target, **options) as response:
            return response.status, dict(response.getheaders()), response.read()

    def get(self, target):
        status, _, body = self.request(target)
        self.assertEqual(status, 200, body[:500])
        return body

    def error(self, target, status):
        got, _, body = self.request(target)
        self.assertEqual(got, status, body[:500])
        return json.loads(body)["error"]

    def document(self):
        return json.loads(self.get("api/v1/recording"))

    def stop(self, number=signal.SIGINT):
        self.viewer.signal(number)
        self.assertEqual(self.viewer.wait(), 0)

    def long(self, events=30_000 if is_sanitized() else 150_000):
        """Saves a large recording. Its exports take a while, and do not fit into the buffer of a
        socket."""
        recording = self.small()
        for number in range(events):
            recording.allocate([1], "l1", 64, 40 + number, 41 + number + number % 7, per_bank=8,
                               banks=8, address=8 * number)
        return self.save(recording)

    def open_files(self):
        """Returns the viewer's open files in its temporary folder, including deleted files."""
        folder = pathlib.Path(f"/proc/{self.viewer.pid}/fd")
        found = []
        for descriptor in folder.iterdir():
            with contextlib.suppress(OSError):
                found.append(os.readlink(descriptor))
        return [path for path in found if path.startswith(str(self.temporary))]


class Address(ViewCase):
    def setUp(self):
        super().setUp()
        self.small()

    def test_is_printed_with_a_new_secret(self):
        said = self.view_somewhere()
        self.assertIn("run.ttmem is on http://127.0.0.1:", said)
        self.assertRegex(self.url.path, r"^/[0-9a-f]{32}/$")
        first = self.url.path
        self.view_somewhere()
        self.assertNotEqual(self.url.path, first)

    def test_without_the_secret_nothing_is_found(self):
        self.view_somewhere()
        secret = self.url.path.strip("/")
        other = secret[:-1] + ("1" if secret.endswith("0") else "0")
        for path in ("/", "/app.js", "/api/v1/recording", f"/{secret}", f"/{secret[:-1]}/",
                     f"/{secret.upper()}x/", f"//{secret}/", f"/{other}/api/v1/recording",
                     f"/x/../{secret}/"):
            with self.asking(path) as response:
                self.assertEqual(response.status, 404, path)
                self.assertNotIn(secret, response.read().decode(), path)
        self.assertIn(b"ttmem-source", self.get(""))

    def test_another_host_is_refused_also_with_the_secret(self):
        self.view_somewhere()
        port = self.url.port
        for host in ("evil.example", f"evil.example:{port}", f"localhost:{port + 1}", "127.0.0.2"):
            self.assertEqual(self.request("", host=host)[0], 403, host)
        for host in (f"localhost:{port}", f"127.0.0.1:{port}", "localhost"):
            self.assertEqual(self.request("", host=host)[0], 200, host)

    def test_accepts_only_get_and_head(self):
        self.view_somewhere()
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            status, headers, _ = self.request("api/v1/recording", method=method)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"), method)

    def test_answers_are_not_cached_or_referred(self):
        self.view_somewhere()
        self.assertEqual(self.request("api/v1/recording")[1]["Cache-Control"], "no-store")
        _, headers, _ = self.request("")
        self.assertEqual(headers["Referrer-Policy"], "no-referrer")
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])

    def test_the_port_is_the_default_or_any_free_port(self):
        # Another process, such as another test, may take or release the port at any time.
        free = True
        try:
            socket.create_server(("127.0.0.1", PORT)).close()
        except OSError:
            free = False
        self.view()
        first = self.url.port
        if free:
            self.assertEqual(first, PORT)
        self.view()
        self.assertNotEqual(self.url.port, first)
        self.assertEqual(self.request("")[0], 200)

    def test_a_requested_port_is_used_or_an_error(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            where = f"127.0.0.1:{taken.getsockname()[1]}"
            said = self.ttmem("view", "--no-open", "--http", where, self.path, code=1).stderr
        self.assertIn(where, said)
        self.assertIn("--http ADDRESS:PORT", said)
        self.view("--http", where)
        self.assertEqual(self.url.netloc, where)

    def test_invalid_addresses(self):
        for wrong in ("nonsense", "127.0.0.1", ":80", "127.0.0.1:", "127.0.0.1:x",
                      "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1: 80"):
            said = self.ttmem("view", "--no-open", "--http", wrong, self.path, code=2).stderr
            self.assertIn("is not ADDRESS:PORT", said, wrong)
        for wrong in ("nowhere.invalid:80", "256.0.0.1:80", "[::1:80"):
            said = self.ttmem("view", "--no-open", "--http", wrong, self.path, code=1).stderr
            self.assertIn("it is not an IP address", said, wrong)

    def test_an_example_has_the_port_of_this_command(self):
        said = self.ttmem("view", "--no-open", "--http", "nonsense", self.path, code=2).stderr
        self.assertIn(f"127.0.0.1:{PORT}", said)


class Browsers(ViewCase):
    """A stand-in for the browser writes down the address that it should open."""

    def setUp(self):
        super().setUp()
        self.small()
        self.opened = pathlib.Path(self.dir) / "opened"
        programs = pathlib.Path(self.dir) / "programs"
        programs.mkdir()
        self.program = programs / "xdg-open"
        self.program.write_text(f'#!/bin/sh\necho "$1" >"{self.opened}.part"\n'
                                f'mv "{self.opened}.part" "{self.opened}"\n')
        self.program.chmod(0o755)
        self.env["PATH"] = f"{programs}:{self.env['PATH']}"
        for screen in ("DISPLAY", "WAYLAND_DISPLAY"):
            self.env.pop(screen, None)

    def serve(self, *arguments):
        self.viewer = self.start_ttmem("view", "--http", "127.0.0.1:0", *arguments, self.path)
        return re.search(r"http://\S+", self.viewer.line("stderr"))[0]

    def test_a_browser_is_opened_if_there_is_a_screen(self):
        self.env["DISPLAY"] = ":7"
        url = self.serve()
        self.wait_for(self.opened.exists, "the browser")
        self.assertEqual(self.opened.read_text().strip(), url)

    def test_no_browser_is_taken_from_the_current_directory(self):
        """The current directory, perhaps unpacked from somebody else's archive, contains a hostile
        xdg-open."""
        self.env["DISPLAY"] = ":7"
        planted = pathlib.Path(self.dir) / "planted"
        folder = pathlib.Path(self.dir) / "folder"
        folder.mkdir()
        (folder / "xdg-open").write_text(f'#!/bin/sh\n: >"{planted}"\n')
        (folder / "xdg-open").chmod(0o755)
        self.env["PATH"] = f".::{self.env['PATH']}"
        self.viewer = self.start([TTMEM, "view", "--http", "127.0.0.1:0", self.path], cwd=folder)
        self.wait_for(lambda: self.opened.exists() or planted.exists(), "the browser")
        self.assertFalse(planted.exists())

    def test_a_browser_that_ends_is_not_left_as_a_zombie(self):
        self.env["DISPLAY"] = ":7"
        self.serve()
        self.wait_for(self.opened.exists, "the browser")
        children = pathlib.Path(f"/proc/{self.viewer.pid}/task/{self.viewer.pid}/children")
        self.wait_for(lambda: not children.read_text(), "its end to be noticed")

    def test_a_browser_inherits_nothing_of_the_viewer(self):
        """The browser inherits neither the viewer's socket nor the terminal. Ctrl-C therefore ends
        only the viewer."""
        self.env["DISPLAY"] = ":7"
        said = pathlib.Path(self.dir) / "browser"
        # The shell itself reads its signal masks, because it blocks all signals while it starts
        # another program.
        self.program.write_text(
            f'#!/bin/sh\nexec >"{said}.part"\nls -l /proc/$$/fd\n'
            'while read -r line; do echo "$line"; done </proc/$$/status\n'
            'read -r pid name state parent group session rest </proc/$$/stat\n'
            f'echo "$session"\nmv "{said}.part" "{said}"\n')
        self.serve()
        self.wait_for(said.exists, "the browser")
        lines = said.read_text()
        self.assertNotIn("socket:", lines)
        self.assertNotIn("run.ttmem", lines)
        ours = os.getsid(self.viewer.pid)
        self.assertNotEqual(lines.splitlines()[-1], str(ours))
        for ignored in re.findall(r"^Sig(?:Ign|Blk):\s*(\w+)", lines, re.M):
            for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD, signal.SIGTERM):
                self.assertEqual(int(ignored, 16) >> (number - 1) & 1, 0, (number, lines))

    def test_no_browser_is_opened_without_a_screen_or_with_no_open(self):
        self.serve()
        self.stop()
        self.assertFalse(self.opened.exists())
        self.env["DISPLAY"] = ":7"
        self.serve("--no-open")
        self.stop()
        self.assertFalse(self.opened.exists())

    def test_a_missing_browser_does_no_harm(self):
        self.env.update(DISPLAY=":7", PATH="/nonexistent")
        self.serve()
        self.stop()


class Answers(ViewCase):
    def test_the_document_equals_the_commands(self):
        self.save(random_recording(1))
        self.view_somewhere()
        document = self.document()
        self.assertEqual(document["schema"], "ttmem.view.v1")
        [run] = document["runs"]
        self.assertEqual(run["name"], "run.ttmem")
        self.assertEqual(document["diff"], None)
        self.assertEqual(sorted(document["exports"]), sorted(FORMATS))
        report = self.json("report", self.path, "--top", "1000")
        self.assertEqual(run["report"], report)
        [leaks] = [json.loads(self.ttmem("leaks", self.path, "--json").stdout)]
        self.assertEqual(run["leaks"]["schema"], leaks["schema"])

    def test_head_has_the_headers_of_get(self):
        self.small()
        self.view_somewhere()
        for target, asked in (("", {}), ("app.js", {}), ("app.js", {"Accept-Encoding": "gzip"}),
                              ("api/v1/recording", {}), ("api/v1/timeline", {}), ("nothing", {}),
                              ("api/v1/export?format=csv", {})):
            status, headers, body = self.request(target, method="HEAD", headers=asked)
            got_status, got_headers, got_body = self.request(target, headers=asked)
            self.assertEqual((status, headers, body), (got_status, got_headers, b""), target)
            self.assertEqual(int(headers["Content-Length"]), len(got_body), target)

    def test_compressed_for_clients_that_accept_gzip(self):
        self.small()
        self.view_somewhere()
        plain = self.get("app.js")
        for accepted, encoding in (("gzip", "gzip"), ("br, gzip;q=0.5", "gzip"), ("*", "gzip"),
                                   ("*;q=0, gzip", "gzip"), ("GZIP", "gzip"), ("gzip;q=0", None),
                                   ("gzip;q=0.000", None), ("gzip; q=0, *", None),
                                   ("*;q=0", None), ("identity", None), ("", None)):
            _, headers, body = self.request("app.js", headers={"Accept-Encoding": accepted})
            self.assertEqual(headers.get("Content-Encoding"), encoding, accepted)
            self.assertEqual(headers["Vary"], "Accept-Encoding")
            self.assertEqual(gzip.decompress(body) if encoding else body, plain, accepted)

    def test_parts_of_the_time_line(self):
        self.save(random_recording(2))
        self.view_somewhere()
        end = self.document()["runs"][0]["timeline"]["end_ns"]
        for query, begin, last in (("", 0, end), ("from=1000", 1000, end), ("to=5000", 0, 5000),
                                   ("run=0&from=400000&to=400001", 400000, 400001),
                                   (f"to={2**63 - 1}", 0, end), (f"from={end - 1}", end - 1, end)):
            part = json.loads(self.get(f"api/v1/timeline?{query}"))
            self.assertEqual((part["from_ns"], part["to_ns"]), (begin, last), query)
            for line in part["lines"]:
                times = line["time_ns"]
                self.assertEqual(times, sorted(times))
                self.assertTrue(begin <= times[0] and times[-1] <= last, query)
            for moment in part["moments"]:
                self.assertTrue(begin <= moment["time_ns"] <= last, query)

    def test_invalid_parts(self):
        self.save(random_recording(2))
        self.view_somewhere()
        for query in ("from=5&to=4", "from=5&to=5", "to=0", "from=-1", "from=-1&to=5", "from=NaN",
                      "from=nan&to=inf", "from=1e3", "from=1.5", "from=", "to=", "from=&to=",
                      f"from={2**63}", f"to={2**64}", "to=99999999999999999999999", "from=0x10",
                      "from=1%00", "from=%20 1".replace(" ", ""), "from=1&from=2", "run=1",
                      "run=-1", "run=x", f"run={2**64}", "runs=0", f"from={2**62}"):
            self.assertTrue(self.error(f"api/v1/timeline?{query}", 400), query)
        self.assertEqual(self.request("api/v1/timeline")[0], 200)

    def test_two_recordings(self):
        self.save(random_recording(1))
        other = pathlib.Path(self.dir) / "other.ttmem"
        random_recording(2).save(other, ended=1_000_000)
        said = self.view_somewhere(self.path, other)
        self.assertIn("run.ttmem, ", said)
        self.assertIn("other.ttmem is on", said)
        document = self.document()
        self.assertEqual([run["name"] for run in document["runs"]], ["run.ttmem", "other.ttmem"])
        self.assertEqual([run["report"]["devices"] for run in document["runs"]],
                         [self.json("report", path, "--top", "1000")["devices"]
                          for path in (self.path, other)])
        self.assertEqual(document["diff"]["schema"],
                         self.json("diff", self.path, other)["schema"])
        for run, path in enumerate((self.path, other)):
            out = pathlib.Path(self.dir) / f"{run}.csv"
            self.ttmem("export", path, "--format", "csv", "-o", out)
            self.assertEqual(self.get(f"api/v1/export?run={run}&format=csv"), out.read_bytes())
        self.error("api/v1/export?run=2&format=csv", 400)

    def test_one_recording_twice(self):
        self.small()
        self.view_somewhere(self.path, self.path)
        self.assertEqual(len(self.document()["runs"]), 2)

    def test_no_recording_or_three_are_refused(self):
        self.small()
        for files in ((), (self.path,) * 3):
            said = self.ttmem("view", "--no-open", *files, code=2).stderr
            self.assertIn("needs a recording, or two", said)


class Exports(ViewCase):
    def test_equal_the_exports_of_the_command(self):
        self.save(random_recording(3))
        self.view_somewhere()
        for form in FORMATS:
            out, _ = self.export(form)
            status, headers, body = self.request(f"api/v1/export?format={form}")
            self.assertEqual(status, 200)
            self.assertEqual(body, out.read_bytes(), form)
            self.assertRegex(headers["Content-Disposition"], r'^attachment; filename="run\.\S+"$')
        for query in ("", "format=", "format=ttnn-visualizer", "format=CSV", "format=../csv",
                      "format=csv&at=end", "format=csv&format=csv"):
            self.error(f"api/v1/export?{query}", 400)

    def test_leave_nothing_behind_and_the_viewer_ends_with_0(self):
        self.small()
        for number in (signal.SIGINT, signal.SIGTERM):
            self.view_somewhere()
            for form in FORMATS:
                self.get(f"api/v1/export?format={form}")
            self.assertEqual(os.listdir(self.temporary), [])
            self.wait_for(lambda: self.open_files() == [], "the files of the exports to be closed")
            self.stop(number)

    def test_end_when_their_client_leaves(self):
        self.long()
        self.view_somewhere()
        target = f"{self.url.path}api/v1/export?format=csv"
        asked = f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{self.url.port}\r\n\r\n".encode()
        # The client leaves at once, or after the first bytes of an answer that is still being sent.
        for bytes_read in (0, 1):
            with socket.create_connection(("127.0.0.1", self.url.port), DEADLINE_SECONDS) as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.sendall(asked)
                self.assertEqual(len(client.recv(bytes_read)) if bytes_read else 0, bytes_read)
            self.wait_for(lambda: self.open_files() == [], "the file of the export to be closed")
            self.assertEqual(os.listdir(self.temporary), [])
        self.assertGreater(len(self.get("api/v1/export?format=csv")), 1 << 20)
        self.stop()

    def test_nothing_is_left_when_it_is_killed_meanwhile(self):
        self.long()
        self.view_somewhere()
        with socket.create_connection(("127.0.0.1", self.url.port), DEADLINE_SECONDS) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(f"GET {self.url.path}api/v1/export?format=csv HTTP/1.1\r\n"
                           f"Host: 127.0.0.1:{self.url.port}\r\n\r\n".encode())
            self.wait_for(self.open_files, "an export under way")
            self.viewer.kill()
        self.assertEqual(os.listdir(self.temporary), [])

    def test_many_at_once_are_bounded_and_all_others_are_answered(self):
        self.long()
        self.view_somewhere()
        asked = (f"GET {self.url.path}api/v1/export?format=perfetto HTTP/1.1\r\n"
                 f"Host: 127.0.0.1:{self.url.port}\r\nConnection: close\r\n\r\n").encode()
        with contextlib.ExitStack() as stack:
            greedy = [stack.enter_context(socket.create_connection(("127.0.0.1", self.url.port),
                                                                   DEADLINE_SECONDS))
                      for _ in range(20)]
            for client in greedy:
                client.sendall(asked)
            self.assertIn(b"ttmem-source", self.get(""))
            codes = [client.recv(12).split(b" ")[1] for client in greedy]
        self.assertIn(b"200", codes)
        self.assertGreater(codes.count(b"503"), 0)
        self.assertLessEqual(set(codes), {b"200", b"503"})
        self.wait_for(lambda: self.request("api/v1/export?format=csv")[0] == 200, "a place again")
        self.wait_for(lambda: self.open_files() == [], "the files of the exports to be closed")

    def test_a_full_disk_is_an_error(self):
        self.long(20_000)
        self.viewer = self.start([TTMEM, "view", "--no-open", "--http", "127.0.0.1:0", self.path],
                                 preexec_fn=only_small_files)
        self.url = urllib.parse.urlsplit(re.search(r"http://\S+",
                                                   self.viewer.line("stderr"))[0])
        self.assertIn("cannot write", self.error("api/v1/export?format=csv", 500))
        self.assertEqual(os.listdir(self.temporary), [])
        self.stop()

    def test_a_missing_temporary_folder_is_an_error(self):
        self.small()
        self.env["TMPDIR"] = "/nonexistent"
        self.view_somewhere()
        self.assertIn("TMPDIR", self.error("api/v1/export?format=csv", 500))


class Files(ViewCase):
    def refused(self, path, code=1):
        """Returns the error message of `ttmem view`. Checks that `ttmem report --html` prints the
        same message, and that no file is left."""
        out = pathlib.Path(self.dir) / "out.html"
        said = self.ttmem("view", "--no-open", "--http", "127.0.0.1:0", path, code=code).stderr
        self.assertEqual(self.ttmem("report", path, "--html", out, code=code).stderr, said)
        self.assertEqual([name for name in self.files() if "out" in name], [])
        return said

    def test_other_files_are_refused(self):
        text = pathlib.Path(self.dir) / "text"
        text.write_text("no recording at all\n" * 1000)
        self.assertIn("text is not a recording of ttmem", self.refused(text))
        (pathlib.Path(self.dir) / "empty").touch()
        self.assertIn("empty is not a recording of ttmem", self.refused(f"{self.dir}/empty"))
        other = f"{self.dir}/other.db"
        with contextlib.closing(sqlite3.connect(other)) as database:
            database.execute("CREATE TABLE songs (name)")
            database.commit()
        self.assertIn("other.db is not a recording of ttmem", self.refused(other))

    def test_a_missing_file(self):
        self.assertIn("No such file or directory", self.refused(f"{self.dir}/missing.ttmem"))

    def test_a_folder(self):
        self.assertIn(f"{self.temporary}", self.refused(self.temporary))

    def test_a_device_and_a_pipe_do_not_hang_the_viewer(self):
        os.mkfifo(f"{self.dir}/pipe")
        for path in ("/dev/null", "/dev/zero", f"{self.dir}/pipe"):
            self.assertIn(path, self.refused(path))

    def test_a_recording_of_a_newer_version(self):
        recording = self.small()
        recording.run[0] = "ttmem.recording.v2"
        self.save(recording)
        said = self.refused(self.path)
        self.assertIn("another version (ttmem.recording.v2)", said)
        self.assertIn("ttmem.recording.v1", said)

    def test_a_truncated_recording(self):
        self.save(random_recording(1, events=3000))
        whole = self.path.read_bytes()
        for part in (100, 512, 4096, len(whole) // 2, len(whole) - 4096):
            self.path.write_bytes(whole[:part])
            self.assertRegex(self.refused(self.path), "is damaged|is not a recording")

    def test_a_recording_too_large_to_sort(self):
        self.long(150_000)
        for command in (["view", "--no-open"], ["report"]):
            ended = subprocess.run([TTMEM, *command, self.path], env=self.env, text=True,
                                   capture_output=True, preexec_fn=only_small_files, check=False)
            self.assertEqual(ended.returncode, 1, ended.stderr)
            self.assertIn("cannot sort ", ended.stderr)
            self.assertIn("run.ttmem: there is no room", ended.stderr)

    def test_the_second_of_two(self):
        self.small()
        said = self.ttmem("view", "--no-open", self.path, f"{self.dir}/missing", code=1).stderr
        self.assertIn(f"{self.dir}/missing", said)

    def test_a_read_only_recording(self):
        self.small()
        self.path.chmod(0o400)
        self.view_somewhere()
        self.assertEqual(len(self.document()["runs"]), 1)

    def test_a_recording_is_not_changed(self):
        self.small()
        before = self.path.read_bytes(), self.path.stat().st_mtime_ns
        self.view_somewhere()
        self.get("api/v1/timeline?from=1&to=20")
        self.get("api/v1/export?format=perfetto")
        self.stop()
        self.assertEqual((self.path.read_bytes(), self.path.stat().st_mtime_ns), before)
        self.assertEqual(self.files(), ["run.ttmem", "temporary"])

    def test_a_recording_removed_or_replaced_meanwhile_is_still_shown(self):
        self.save(random_recording(1))
        self.view_somewhere()
        before = self.document()
        part = self.get("api/v1/timeline?from=1000&to=500000")
        csv = self.get("api/v1/export?format=csv")
        other = pathlib.Path(self.dir) / "other"
        random_recording(2).save(other, ended=1_000_000)
        other.rename(self.path)
        for _ in range(2):
            self.assertEqual(self.document(), before)
            self.assertEqual(self.get("api/v1/timeline?from=1000&to=500000"), part)
            self.assertEqual(self.get("api/v1/export?format=csv"), csv)
            self.path.unlink(missing_ok=True)

    def test_a_recording_overwritten_meanwhile_is_an_error_or_unchanged(self):
        self.save(random_recording(1, events=1000))
        self.view_somewhere()
        part = self.get("api/v1/timeline?from=1000&to=500000")
        size = self.path.stat().st_size
        for content in (b"", b"\0" * size, b"x" * size):
            self.path.write_bytes(content)
            status, _, body = self.request("api/v1/timeline?from=1000&to=500000")
            if status == 200:
                self.assertEqual(body, part)
            else:
                self.assertEqual(status, 500)
                self.assertIn("run.ttmem", json.loads(body)["error"])
        self.assertEqual(self.document()["schema"], "ttmem.view.v1")
        self.stop()

    def test_a_recording_that_is_still_written(self):
        recording = self.small()
        recording.save(self.path.with_name("open.ttmem"))  # without an end
        self.path = self.path.with_name("open.ttmem")
        self.view_somewhere()
        with contextlib.closing(sqlite3.connect(self.path, timeout=0)) as database:
            database.execute("INSERT INTO marks VALUES (1, 50, 1, 'later')")
            database.commit()  # no lock is held
        document = self.document()
        self.assertFalse(document["runs"][0]["timeline"]["complete"])
        self.assertEqual(document["runs"][0]["timeline"]["marks"], [])
        self.assertEqual(json.loads(self.get("api/v1/timeline"))["marks"], [])
        self.assertEqual(self.get("api/v1/export?format=csv").count(b"\n"), 3)


class Ends(ViewCase):
    def test_with_0_on_sigint_and_sigterm(self):
        self.small()
        for number in (signal.SIGINT, signal.SIGTERM):
            self.view_somewhere()
            with socket.create_connection(("127.0.0.1", self.url.port)):
                self.get("")
                self.stop(number)

    def test_with_0_while_an_export_is_made_or_sent(self):
        self.long()
        self.view_somewhere()
        with socket.create_connection(("127.0.0.1", self.url.port)) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(f"GET {self.url.path}api/v1/export?format=csv HTTP/1.1\r\n"
                           f"Host: 127.0.0.1:{self.url.port}\r\n\r\n".encode())
            self.wait_for(self.open_files, "an export under way")
            self.stop()
        self.assertEqual(os.listdir(self.temporary), [])


class InOneFile(ViewCase):
    def write(self, *arguments, code=0):
        self.out = pathlib.Path(self.dir) / "out.html"
        return self.ttmem("report", self.path, "--html", self.out, *arguments, code=code).stderr

    def document_in(self, page):
        [packed] = re.findall(r'id="recording">([^<]*)</script>', page)
        return json.loads(gzip.decompress(base64.b64decode(packed)))

    def test_has_the_figures_of_the_report(self):
        for seed in (1, 2):
            self.save(random_recording(seed))
            self.write("-f")
            document = self.document_in(self.out.read_text())
            self.assertEqual((document["schema"], document["exports"]), ("ttmem.view.v1", []))
            [run] = document["runs"]
            report = self.json("report", self.path, "--top", "1000")
            self.assertEqual(run["report"], report)
            for device, line in zip(report["devices"], run["timeline"]["lines"], strict=True):
                l1 = [sum(filter(None, values)) for values in
                      zip(line["l1"], line["l1_small"], line["cb"], line["kernel"], strict=True)]
                self.assertEqual(max(l1), device["l1"]["peak_bytes"])
                self.assertEqual(max(filter(None, line["dram"]), default=0),
                                 device["dram"]["peak_bytes"])

    def test_loads_nothing_from_outside(self):
        self.small()
        self.write()
        page = self.out.read_text()
        self.assertIn("default-src 'none'", page)
        for tag, name, value in re.findall(r'<(\w+)[^>]*\s(src|href|action|srcset)="([^"]*)"', page):
            if tag != "a":  # the browser follows a link only after a click
                self.assertTrue(value.startswith("data:"), (tag, name, value[:80]))
        self.assertNotRegex(page, r"@import|url\(\s*['\"]?(?!data:)\w+:")
        scripts = re.findall(r'"data:text/javascript;base64,([^"]*)"', page)
        self.assertGreater(len(scripts), 5)
        for script in scripts:
            imported = re.findall(r"""(?m)^(?:import|export|\}).*\bfrom ['"]([^'"]+)['"]""",
                                  base64.b64decode(script).decode())
            for name in imported:
                self.assertIn(f'"{name}":"data:text/javascript;', page)

    def test_a_name_that_would_end_a_script_does_not(self):
        recording = self.small()
        recording.run[3] = "</script><script>alert(1)</script>"
        self.save(recording)
        self.write()
        page = self.out.read_text()
        self.assertNotIn("alert(1)", page)
        self.assertEqual(self.document_in(page)["runs"][0]["timeline"]["command"],
                         "</script><script>alert(1)</script>")

    def test_never_overwrites_unless_told(self):
        self.small()
        out = pathlib.Path(self.dir) / "out.html"
        out.write_text("mine")
        self.assertIn("is there already; -f overwrites it", self.write(code=1))
        self.assertEqual(out.read_text(), "mine")
        self.write("-f")
        self.assertIn("ttmem-source", out.read_text())
        self.assertEqual(self.files(), ["out.html", "run.ttmem", "temporary"])

    def test_says_what_it_wrote(self):
        self.small()
        said = self.write()
        self.assertEqual(said, f"ttmem: wrote {self.out}: {shown(self.out.stat().st_size)}\n")
        self.assertEqual(self.ttmem("report", self.path, "--html", "-").stderr, "")

    def test_replaces_the_old_page_atomically(self):
        """A program that has the old page open, or another link to it, keeps the old page."""
        self.small()
        out = pathlib.Path(self.dir) / "out.html"
        out.write_text("old")
        os.link(out, f"{self.dir}/second name")
        with open(out, encoding="utf-8") as still_open:
            self.write("-f")
            self.assertEqual(still_open.read(), "old")
        self.assertEqual(pathlib.Path(f"{self.dir}/second name").read_text(), "old")
        self.assertIn("ttmem-source", out.read_text())

    def test_a_failure_leaves_the_old_page(self):
        self.path.write_text("no recording")
        out = pathlib.Path(self.dir) / "out.html"
        out.write_text("old")
        self.assertIn("is not a recording", self.write("-f", code=1))
        self.assertEqual(out.read_text(), "old")
        self.assertEqual(self.files(), ["out.html", "run.ttmem", "temporary"])

    def test_a_full_disk_leaves_nothing(self):
        self.small()
        said = self.ttmem("report", self.path, "--html", "/dev/full", code=1).stderr
        self.assertIn("cannot write /dev/full: No space left on device", said)
        limits = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        result = subprocess.run([TTMEM, "report", self.path, "--html", f"{self.dir}/out.html"],
                                preexec_fn=limits, env=self.env, text=True, capture_output=True,
                                timeout=DEADLINE_SECONDS)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("cannot write", result.stderr)
        self.assertEqual(self.files(), ["run.ttmem", "temporary"])

    def test_into_a_folder_that_is_not_there(self):
        self.small()
        said = self.ttmem("report", self.path, "--html", f"{self.dir}/no/out.html", code=1).stderr
        self.assertIn("No such file or directory", said)
        said = self.ttmem("report", self.path, "--html", self.temporary, code=1).stderr
        self.assertIn("Is a directory", said)

    def test_onto_the_recording_itself_is_refused(self):
        self.small()
        before = self.path.read_bytes()
        said = self.ttmem("report", self.path, "--html", self.path, "-f", code=1).stderr
        self.assertIn("is the recording itself", said)
        self.assertEqual(self.path.read_bytes(), before)

    def test_to_standard_output(self):
        self.small()
        self.write()
        printed = self.ttmem("report", self.path, "--html", "-").stdout
        self.assertEqual(self.document_in(printed), self.document_in(self.out.read_text()))

    def test_not_with_options_that_contradict_it(self):
        self.small()
        for also in (("--at", "peak"), ("--fail-on", "leak>0"), ("--json",), ("--device", "0")):
            said = self.write(*also, code=2)
            self.assertIn("--html", said)


if __name__ == "__main__":
    unittest.main()
