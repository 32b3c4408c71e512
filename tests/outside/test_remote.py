# SPDX-License-Identifier: Apache-2.0
"""--server: the views of another machine equal the views on that machine."""

import itertools
import re
import signal
import ssl
import subprocess
import unittest
import urllib.error
import urllib.request

from remote_case import MOVING, RemoteCase
from support import TTMEM
from test_top import Terminal

# Every view that has --server.
VIEWS = (("--json",), (), ("--per-core",), ("--brief",), ("-L",), ("-L", "--json"),
         ("--csv", "--per-core"), ("--device", "1-2", "--json"), ("--sort", "cb"),
         ("--query=device,dram_used,cb_physical,headroom_bytes_per_core",),
         ("allocs", "--json"), ("allocs", "--kind", "cb,l1", "--device", "0x300b02", "--json"),
         ("allocs", "--group-by", "label"), ("programs", "--json"), ("top", "--once"))


def without_times(text):
    """Returns the lines without values that change over time: times, ages, the clock of a headline,
    a column of CSV."""
    text = MOVING.sub(r"\1 0", text)
    return re.sub(r"\d\d:\d\d:\d\d|\d{19}$", "0", text, flags=re.M).splitlines()


class Views(RemoteCase):
    def assert_same(self, host, *arguments):
        here = self.ttmem(*arguments, env=host.env)
        there = self.ttmem(*arguments, "--server", host.at)
        differ = [pair for pair in itertools.zip_longest(without_times(here.stdout), without_times(there.stdout))
                  if pair[0] != pair[1]]
        self.assertEqual(differ[:3], [], arguments)
        self.assertEqual(there.stderr, here.stderr, arguments)

    def test_every_view_is_the_same_text(self):
        host = self.host()
        self.demo_on(host, "mesh8")
        for arguments in VIEWS:
            self.assert_same(host, *arguments)
        self.assertEqual(self.json()["devices"], [])  # the directory of this host is empty

    def test_a_dead_process_and_one_of_another_source_too(self):
        host = self.host(2, "--no-reap")
        self.demo_on(host, "single").kill()
        self.demo_on(host, "single")
        states = [process["state"] for device in self.json("--server", host.at)["devices"]
                  for process in device["processes"]]
        self.assertEqual(states, ["alive", "dead"])
        for arguments in ((), ("--json",), ("allocs", "--json"), ("programs", "--json")):
            self.assert_same(host, *arguments)

    def test_a_host_without_anything(self):
        host = self.host()
        for arguments in ((), ("--json",), ("allocs",), ("programs",)):
            self.assert_same(host, *arguments)

    def test_a_url_or_an_address(self):
        host = self.host()
        for text in (host.at, host.url, host.url + "/"):
            self.assertEqual(self.json("--server", text)["devices"], [])

    def test_a_missing_device_is_the_same_error_as_without_a_server(self):
        host = self.host()
        self.demo_on(host)
        self.assertEqual(self.refused("--device", "7", "--server", host.at),
                         self.refused("--device", "7", env=host.env))

    def test_watch_reports_the_loss_and_return_of_the_server(self):
        host = self.host()
        watching = self.start_ttmem("--server", host.at, "--watch", "0.1", "--json")
        self.assertIn("ttmem.snapshot.v1", watching.line())
        host.kill()
        self.assertIn(f"cannot read {host.url}", watching.line("stderr"))
        watching.signal(signal.SIGINT)
        self.assertEqual(watching.wait(), 0)


class Mistakes(RemoteCase):
    def test_without_a_server_it_fails(self):
        said = self.refused("--server", "127.0.0.7:1")
        self.assertIn("cannot read http://127.0.0.7:1: connection refused; start `ttmem serve`", said)

    def test_a_server_that_is_stopped_costs_the_timeout(self):
        host = self.host()
        host.signal(signal.SIGSTOP)
        self.addCleanup(host.signal, signal.SIGCONT)
        said = self.refused("allocs", "--server", host.at, "--timeout", "0.2")
        self.assertIn(f"cannot read {host.url}: no answer within 0.2 s", said)

    def test_an_unknown_host_name(self):
        self.assertIn("there is no host of that name", self.refused("--server", "no-such-host.invalid"))

    def test_servers_that_are_not_ttmem(self):
        for answer in ((200, b"<html>hello</html>"), (200, b"{}"), (404, b"nothing here"),
                       (200, b'{"schema": "other.v1"}'), (200, b"")):
            said = self.refused("--server", self.answering(lambda _, answer=answer: answer))
            self.assertIn("check the address and the port", said, answer)
        at = self.answering(lambda _: (301, b"", ("Location", "https://there.example/")))
        self.assertIn("https://there.example/", self.refused("--server", at))

    def test_a_newer_server(self):
        at = self.answering(lambda _: (200, b'{"schema": "ttmem.snapshot.v7", "devices": []}'))
        self.assertIn("it speaks ttmem.snapshot.v7, this ttmem ttmem.snapshot.v1; install",
                      self.refused("--server", at))

    def test_an_answer_without_end_is_refused_before_it_is_read(self):
        at = self.answering(lambda _: (200, b" " * (17 << 20)))
        self.assertIn("more than 16 MiB; run ttmem on that machine", self.refused("--server", at))

    def test_a_small_answer_that_would_become_a_large_machine(self):
        processes = b",".join([b"{}"] * 1_000_000)
        at = self.answering(lambda _: (200, b'{"schema": "ttmem.snapshot.v1", "devices": [{"processes": ['
                                       + processes + b"]}]}"))
        self.assertIn("more than 65536 processes", self.refused("--server", at))

    def test_an_answer_that_is_cut_off(self):
        at = self.answering(lambda _: (200, b'{"schema": "ttmem.snapshot.v1", "devices": [{'))
        self.assertIn("not `ttmem serve`", self.refused("--server", at))

    def test_the_error_of_the_server_is_shown(self):
        at = self.answering(lambda _: (503, b'{"error": "too many long answers at once"}'))
        self.assertIn("too many long answers at once", self.refused("allocs", "--server", at))
        at = self.answering(lambda _: (503, b'{"error": "%s"}' % (b"x" * 100_000)))
        self.assertIn("it answers 503 Service Unavailable", self.refused("--server", at))

    def test_no_address_is_a_wrong_option(self):
        for text in ("ftp://node7", "http://", "node7:0", "node7:99999", "user@node7",
                     "http://node7/?x=1"):
            said = self.ttmem("--server", text, code=2).stderr
            self.assertIn("is not the address of a server", said, text)


class Token(RemoteCase):
    def get(self, host, path, *headers):
        request = urllib.request.Request(host.url + path, headers=dict(headers))
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            self.assertEqual(error.headers["WWW-Authenticate"], 'Bearer realm="ttmem"')
            return error.code

    def test_only_clients_with_the_token_are_answered(self):
        token = self.token_file()
        host = self.host(2, "--token-file", token)
        self.demo_on(host)
        bearer = ("Authorization", "Bearer 0123456789abcdef0123")
        for path in ("/metrics", "/api", "/api/v1/snapshot", "/api/v1/changes", "/api/v1/postmortems"):
            self.assertEqual(self.get(host, path), 401, path)
            self.assertEqual(self.get(host, path, bearer), 200, path)
            self.assertEqual(self.get(host, path, ("Authorization", bearer[1] + "4")), 401, path)
            self.assertEqual(self.get(host, path, bearer, ("Host", "any.name.example")), 200, path)
            for scheme in ("bearer", "BEARER"):
                header = ("Authorization", bearer[1].replace("Bearer", scheme))
                self.assertEqual(self.get(host, path, header), 200, path)
        for path in ("/healthz", "/", "/app.js"):  # public paths
            self.assertEqual(self.get(host, path), 200, path)
        self.assertIn("it wants a token; name the file", self.refused("--server", host.at))
        for arguments, env in ((("--token-file", token), {}), ((), {"TTMEM_TOKEN_FILE": token})):
            seen = self.json("--server", host.at, *arguments, env={**self.env, **env})
            self.assertEqual(len(seen["devices"]), 1)
        other = self.token_file("another-token-of-it", name="other")
        self.assertIn("it does not take this token",
                      self.refused("--server", host.at, "--token-file", other))
        self.assertNotIn("0123456789abcdef0123", "".join(host.log))

    def test_a_token_file_that_others_can_read_is_refused(self):
        for mode in (0o644, 0o604, 0o660, 0o666):
            file = self.token_file(mode=mode)
            for arguments in (("serve", "--token-file", file),
                              ("--server", "127.0.0.7:1", "--token-file", file)):
                self.assertIn(f"others can read it, or its group can write it; chmod 600 {file}",
                              self.refused(*arguments))
        self.assertIn("connection refused",
                      self.refused("--server", "127.0.0.7:1", "--token-file", self.token_file(mode=0o640)))

    def test_an_invalid_token_is_refused(self):
        for text in ("", "short", "with blanks in the middle of it", "x" * 600):
            said = self.refused("--server", "127.0.0.7:1", "--token-file", self.token_file(text))
            self.assertIn("a token has 16 to 512 letters", said)
        said = self.refused("--server", "127.0.0.7:1", "--token-file", f"{self.dir}/none")
        self.assertIn("No such file or directory; make one: (umask 077; openssl", said)

    def test_beyond_loopback_a_token_or_an_option_is_needed(self):
        arguments = ("serve", "--socket", self.path, "--http", "0.0.0.0:0")
        result = self.ttmem(*arguments, code=1)
        self.assertIn("anyone who reaches it could read what every process holds; give it a token with "
                      "--token-file FILE, or allow it to everybody with --insecure-no-token",
                      result.stderr)
        for more, words in ((("--insecure-no-token",), "without encryption or token"),
                            (("--token-file", self.token_file()), "whoever has the token")):
            serving = self.start_ttmem(*arguments, *more)
            while words not in serving.line("stderr"):
                pass
            serving.signal(signal.SIGTERM)
            self.assertEqual(serving.wait(), 0)


class Tls(RemoteCase):
    """A proxy with its own certificate. The command talks to the proxy alone."""

    def setUp(self):
        super().setUp()
        self.certificate, self.key = f"{self.dir}/proxy.pem", f"{self.dir}/proxy.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=proxy",
                        "-addext", "subjectAltName=IP:127.0.0.9", "-keyout", self.key, "-out",
                        self.certificate], check=True, capture_output=True)

    def context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context

    def proxy_to(self, host):
        def pass_on(path):
            self.assertTrue(path.startswith("/node7/"), path)
            with urllib.request.urlopen(host.url + path.removeprefix("/node7"), timeout=20) as answer:
                return answer.status, answer.read()
        return self.answering(pass_on, tls=self.context())

    def test_a_certificate_is_verified_and_then_trusted(self):
        host = self.host()
        self.demo_on(host)
        at = self.proxy_to(host)
        self.assertIn("cannot read https://" + at, self.refused("--server", f"https://{at}/node7"))
        trusting = {**self.env, "SSL_CERT_FILE": self.certificate}
        self.assertEqual(len(self.json("--server", f"https://{at}/node7", env=trusting)["devices"]), 1)

    def test_a_certificate_of_another_name_is_refused(self):
        at = self.answering(lambda _: (200, b"{}"), 8, self.context())
        trusting = {**self.env, "SSL_CERT_FILE": self.certificate}
        self.assertIn("TLS: ", self.refused("--server", f"https://{at}", env=trusting))

    def test_plain_http_at_a_port_of_tls_is_an_error(self):
        at = self.proxy_to(self.host())
        self.assertIn("cannot read http://" + at, self.refused("--server", at))


class Record(RemoteCase):
    def test_record_points_to_that_machine(self):
        for arguments in (("record", "--server", "node7"), ("record", "--server=node7", "--", "true"),
                          ("record", "--server", "node7", "--for", "60s"),
                          ("--server", "node7", "record", "--", "true")):
            said = self.ttmem(*arguments, code=2).stderr
            self.assertIn("ssh HOST ttmem record -- CMD", said)
            self.assertEqual(said.count("\n"), 1)


class Top(Terminal, RemoteCase):
    def watch(self, host, *arguments):
        self.open()
        self.type(f"{TTMEM} top --server {host.at} {' '.join(arguments)}; echo ended $?")

    def test_every_view_of_another_host(self):
        host = self.host()
        demo = self.demo_on(host, "mesh8")
        self.watch(host)
        self.see(r"8 devices")
        self.press("2")
        self.see(r"Device 0 DRAM")
        self.press("3")
        self.see(r"\(0,0\)")
        self.press("4")
        self.see(str(demo.pid))
        self.press("Enter")
        self.see(r"live allocations")
        self.press("Escape")
        self.press("F9")
        self.see(r"its processes can be ended only there")
        self.assertIsNone(demo.process.poll())
        self.press("q")
        self.see(r"^ended 0$")

    def test_a_lost_server_leaves_its_last_figures_and_a_message(self):
        host = self.host()
        self.demo_on(host)
        self.watch(host)
        self.see(r"Device 0")
        host.kill()
        self.see(r"does not answer, what is shown is old")
        self.see(r"Device 0")
        self.press("q")
        self.see(r"^ended 0$")

    def test_a_missing_server_is_one_line(self):
        self.open()
        self.type(f"{TTMEM} top --server 127.0.0.7:1; echo ended $?")
        self.see(r"connection refused")
        self.see(r"^ended 1$")


if __name__ == "__main__":
    unittest.main()
