# SPDX-License-Identifier: Apache-2.0
"""packaging/deploy/nginx/ttmem.conf in a real nginx (the distribution's package): TLS, passwords
for people and tokens for commands. Behind the proxy are the page, the API and servers with their
own tokens."""

import base64
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import unittest

from browser import Browser
from http_case import HttpCase
from remote_case import MOVING
from support import HERE, plain_environment
from test_prometheus import free_port

CONFIGURATION = (HERE.parent.parent / "packaging" / "deploy" / "nginx" / "ttmem.conf").read_text()
# The relevant part of Debian's nginx.conf, which includes ttmem.conf. nginx runs as one process, so
# SIGKILL ends all of nginx at once.
AROUND = """daemon off; master_process off; pid {folder}/pid; error_log stderr;
events {{ }}
http {{
  access_log off; client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder};
  include {folder}/ttmem.conf;
}}
"""
TOKEN = "0123456789abcdef0123456789abcdef"
PASSWORD = {"Authorization": "Basic " + base64.b64encode(b"alice:secret").decode()}


class Proxy(HttpCase):
    def setUp(self):
        super().setUp()
        self.at = f"localhost:{free_port()}"
        self.url = f"https://{self.at}"
        self.pem = self.write("ttmem.pem", "")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=proxy",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout",
                        f"{self.folder}/ttmem.key", "-out", self.pem], check=True,
                       capture_output=True)
        hashed = subprocess.run(["openssl", "passwd", "-apr1", "secret"], text=True, check=True,
                                capture_output=True).stdout
        self.write("ttmem.htpasswd", "alice:" + hashed)
        self.write("ttmem.tokens", f'"~^Bearer {TOKEN}$" off;\n')
        self.token_file = self.write("token", TOKEN)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        return path

    def start_nginx(self, **changes):
        """Starts nginx with the shipped ttmem.conf, in which only the paths, the port and `changes`
        are replaced."""
        port = self.at.split(":")[1]
        changes = {"/etc/nginx/": f"{self.folder}/", "/etc/ssl/certs/": f"{self.folder}/",
                   "/etc/ssl/private/": f"{self.folder}/", "listen 443 ": f"listen 127.0.0.1:{port} ",
                   "127.0.0.1:9488": f"127.0.0.1:{self.port}", **changes}
        text = CONFIGURATION
        for old, new in changes.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("ttmem.conf", text)
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        self.start([nginx, "-p", self.folder, "-e", "stderr", "-c",
                    self.write("nginx.conf", AROUND.format(folder=self.folder))],
                   plain_environment())
        self.wait_for(self.listens, "nginx to listen")

    def listens(self):
        try:
            return self.ask("/healthz")
        except OSError:
            return None

    def proxied(self):
        return http.client.HTTPSConnection(self.at, timeout=20,
                                           context=ssl.create_default_context(cafile=self.pem))

    def ask(self, target, headers=None, connection=None):
        one = connection or self.proxied()
        try:
            one.request("GET", target, headers=headers or {})
            answer = one.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            if connection is None:
                one.close()

    def trusting(self):
        return {**self.env, "SSL_CERT_FILE": self.pem}

    def test_people_need_a_password(self):
        self.serve()
        self.start_demo("single")
        self.start_nginx()
        wrong = base64.b64encode(b"alice:guess").decode()
        for headers in ({}, {"Authorization": f"Basic {wrong}"}):
            for target in ("/", "/app.js", "/api", "/api/v1/snapshot", "/metrics", "/healthz"):
                status, answer, _ = self.ask(target, headers)
                self.assertEqual((status, answer["WWW-Authenticate"]), (401, 'Basic realm="ttmem"'))
        status, headers, page = self.ask("/", {**PASSWORD, "Accept-Encoding": "gzip"})
        self.assertEqual((status, headers["Content-Encoding"]), (200, "gzip"))
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertLess(len(page), 10000)
        self.assertIn(b"/api/v1/changes", self.ask("/api", PASSWORD)[2])
        status, _, body = self.ask("/api/v1/snapshot", PASSWORD)
        self.assertEqual((status, MOVING.sub("", body.decode())),
                         (200, MOVING.sub("", self.get("/api/v1/snapshot"))))
        small = self.ask("/api/v1/snapshot", {**PASSWORD, "Accept-Encoding": "gzip"})[2]
        self.assertLess(len(small) * 5, len(body))
        # A direct request with the proxy's host name is refused: the proxy replaces the name by the
        # server's own.
        self.assertEqual(self.request("/api", headers={"Host": "ttmem.example"})[0], 403)

    def test_commands_need_a_token(self):
        self.serve()
        self.start_demo("single")
        self.start_nginx()
        for token, status in ((TOKEN, 200), (TOKEN + "0", 401), (TOKEN[:-1], 401), ("", 401)):
            self.assertEqual(self.ask("/metrics", {"Authorization": f"Bearer {token}"})[0], status)
        through = ("--server", self.url, "--token-file", self.token_file, "--timeout", "20")
        for view in (("--json",), ("allocs", "--json"), ("top", "--once")):
            here = self.ttmem(*view).stdout
            there = self.ttmem(*view, *through, env=self.trusting()).stdout
            clock = re.compile(r"\d\d:\d\d:\d\d")
            self.assertEqual(clock.sub("", MOVING.sub("", there)), clock.sub("", MOVING.sub("", here)))
        said = self.ttmem("--server", self.url, code=1, env=self.trusting()).stderr
        self.assertIn("it wants a token; name the file that has it with --token-file", said)
        said = self.ttmem(*through[:2], "--token-file", self.write("other", TOKEN + "0"), code=1,
                          env=self.trusting()).stderr
        self.assertIn("it does not take this token", said)
        self.assertIn("certificate verify failed", self.ttmem(*through, code=1).stderr)
        self.server.stop()
        said = self.ttmem(*through, code=1, env=self.trusting()).stderr
        self.assertIn("it answers 502 Bad Gateway", said)

    def test_without_tokens_only_passwords_count(self):
        os.remove(f"{self.folder}/ttmem.tokens")
        self.serve()
        self.start_nginx()
        self.assertEqual(self.ask("/api", {"Authorization": f"Bearer {TOKEN}"})[0], 401)
        self.assertEqual(self.ask("/api", PASSWORD)[0], 200)

    def test_backups_of_the_tokens_do_not_count(self):
        for suffix, token in (("~", "a"), (".bak", "b"), (".old", "c")):
            self.write(f"ttmem.tokens{suffix}", f'"~^Bearer {token * 32}$" off;\n')
        self.serve()
        self.start_nginx()
        for token, status in ((TOKEN, 200), ("a" * 32, 401), ("b" * 32, 401), ("c" * 32, 401)):
            self.assertEqual(self.ask("/api", {"Authorization": f"Bearer {token}"})[0], status)

    def test_guesses_are_limited(self):
        self.serve()
        self.start_nginx()
        connection = self.proxied()
        self.addCleanup(connection.close)
        for guess in range(5000):
            status = self.ask("/api", {"Authorization": f"Bearer {guess}"}, connection)[0]
            if status == 429:
                break
            self.assertEqual(status, 401)
        self.assertEqual(status, 429)
        self.assertGreater(guess, 100)

    def test_changes_are_polled_on_one_connection(self):
        self.serve()
        self.start_nginx()
        connection = self.proxied()
        self.addCleanup(connection.close)

        def changes(query=""):
            status, _, body = self.ask("/api/v1/changes" + query, PASSWORD, connection)
            self.assertEqual(status, 200, body)
            return json.loads(body)

        first = changes()
        self.assertTrue(first["all"])
        self.start_demo("single")
        after = f"?after={first['number']}"
        changed = self.wait_for(lambda: (got := changes(after))["devices"] and got, "the device")
        self.assertFalse(changed["all"])
        self.assertEqual(changes(f"?after={changed['number']}")["devices"], [])

    def test_servers_with_their_own_tokens_and_the_page_below_a_path(self):
        self.serve("--token-file", self.write("inner", "inner-" + TOKEN))
        self.start_demo("single")
        inner = f'Authorization "Bearer inner-{TOKEN}"'
        below = re.search(r"    # location /node7/ \{\n(    #.*\n)+", CONFIGURATION).group()
        active = below.replace("    # ", "    ").replace("node7:9488", f"127.0.0.1:{self.port}")
        self.start_nginx(**{'Authorization ""': inner,
                            below: active.replace('Authorization "Bearer TOKEN"', inner)})
        for path in ("", "/node7"):
            self.assertEqual(self.ask(path + "/api/v1/snapshot")[0], 401)
            self.assertEqual(self.ask(path + "/api/v1/snapshot", PASSWORD)[0], 200)
            got = self.ttmem("--json", "--server", self.url + path, "--token-file", self.token_file,
                             "--timeout", "20", env=self.trusting()).stdout
            self.assertEqual([device["board"] for device in json.loads(got)["devices"]], ["n150"])
        browser = Browser(flags=["--ignore-certificate-errors"])
        self.addCleanup(browser.close)
        browser.call("Network.setExtraHTTPHeaders", headers=PASSWORD)
        browser.open(self.url + "/node7/")
        self.wait_for(lambda: "n150" in browser.run("document.body?.innerText ?? ''"), "the device")
        self.assertEqual(browser.complaints, [])
        pathless = [url for url in browser.requests if not url.startswith(self.url + "/node7/")]
        self.assertEqual(pathless, [])


if __name__ == "__main__":
    unittest.main()
