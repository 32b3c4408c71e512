# SPDX-License-Identifier: Apache-2.0
"""Tests `ttmem fleet` with a real Prometheus, and with real servers that each have their own
directory of segments. Also tests addresses without a server, with a silent server, with a server
that sends garbage, and with a server of another version."""

import json
import pathlib
import re
import shutil
import signal
import socket
import sys
import unittest
import urllib.parse

from remote_case import RemoteCase
from support import GIB, HERE, KIB, LIBRARY, MIB, TTMEM
from test_fields import paths_in, table_rows
from test_prometheus import DEPLOY, RULES, Prometheus, free_port

# The device has 12 banks of DRAM and 64 of L1. A program's circular buffers lie on 4 cores. These
# cores have the least headroom.
WORKLOAD = """
from abi import *
open_device({device}, uid={uid})
alloc(DRAM, 1, {dram}, device={device})
alloc(L1, 2, {l1}, address=1499136 - 32768 - {l1}, device={device})
place(7, (105664, {cb}, [(0, 0, 1, 1)]), device={device})
hold()
"""


def headroom(l1, cb):
    return 1499136 - 32768 - l1 - 105664 - cb


class FleetCase(RemoteCase):
    uid = 0x7e57

    def work_on(self, host, job=None, dram=MIB, l1=64 * KIB, cb=32 * KIB, device=0):
        """Starts a process that holds these bytes in each bank or on each core of its own chip."""
        FleetCase.uid += 1
        env = {**host.env, "TT_ALLOC_TRACKING_ENABLED": "1", "TTMEM_LIB": LIBRARY,
               "PYTHONPATH": str(HERE), **({"TTMEM_JOB": job} if job else {})}
        source = WORKLOAD.format(device=device, uid=self.uid, dram=dram, l1=l1, cb=cb)
        held = self.start([sys.executable, "-c", source], env)
        held.line()
        return held

    def seen(self, host, devices):
        """Waits until a pass of the host's server has found this number of devices."""
        self.wait_for(lambda: len(self.json("--server", host.at)["devices"]) == devices and
                      self.fleet("--server", host.at)["total"]["devices"] == devices, "a pass")

    def fleet(self, *arguments, code=0):
        return json.loads(self.ttmem("fleet", "--json", *arguments, code=code).stdout)

    def text(self, *arguments, columns=200, code=0):
        return self.ttmem("fleet", *arguments, code=code,
                          env={**self.env, "COLUMNS": str(columns), "LC_ALL": "C.UTF-8"}).stdout

    @staticmethod
    def by_job(fleet):
        return {job["job"]: job for job in fleet["jobs"]}


class Servers(FleetCase):
    def closed(self):
        with socket.create_server(("127.0.0.6", 0)) as server:
            return f"127.0.0.6:{server.getsockname()[1]}"

    def silent(self):
        """Returns the address of a server that accepts and never sends."""
        server = socket.create_server(("127.0.0.7", 0))
        self.addCleanup(server.close)
        return f"127.0.0.7:{server.getsockname()[1]}"

    def test_hosts_jobs_and_silent_servers(self):
        one, two = self.host(2), self.host(3)
        self.work_on(one, "4711", dram=MIB, cb=32 * KIB)
        self.work_on(one, "12", dram=2 * MIB, device=1)
        self.work_on(two, "4711", dram=4 * MIB, cb=256 * KIB)
        self.work_on(two, dram=8 * MIB, device=1)
        self.seen(one, 2)
        self.seen(two, 2)
        hostile = json.dumps({"schema": "ttmem.changes.v1", "host": "\x1b[2J" + "x" * 100_000,
                              "present": ["0"], "number": 1, "all": True, "devices": [
                                  {"key": "0", "device": {"id": 0, "processes": [
                                      {"pid": 1, "state": "alive", "job": "\x1b]0;y\x07\u202e" + "j" * 999}]}}]})
        odd = {"hostile": self.answering(lambda _: (200, hostile.encode()), 4),
               "garbage": self.answering(lambda _: (200, b"\x00\x1b[31m<html>"), 5),
               "newer": self.answering(lambda _: (200, b'{"schema": "ttmem.changes.v9"}'), 9),
               "huge": self.answering(lambda _: (200, b" " * (5 * MIB)), 8),
               "closed": self.closed(), "silent": self.silent()}
        path = pathlib.Path(self.dir) / "hosts"
        path.write_text(f"# all of them\n\n{two.at}   # twice\n{one.url}/\n"
                        + "\n".join(odd[name] for name in sorted(odd)))
        servers = ("--server", f"{one.at},{two.at}", "--servers-from", path, "--timeout", "0.5")
        fleet = self.fleet(*servers)

        hosts = {host["address"]: host for host in fleet["hosts"]}
        self.assertEqual(len(fleet["hosts"]), 8)
        answers = {name: hosts[at]["answer"] for name, at in odd.items()}
        self.assertEqual(answers, {"hostile": "ok", "garbage": "not_ttmem", "newer": "newer",
                                   "huge": "too_large", "closed": "unreachable",
                                   "silent": "timeout"})
        self.assertEqual(hosts[odd["closed"]]["reason"], "connection refused")
        self.assertNotIn("--device", hosts[odd["huge"]]["next_step"])  # not an option of fleet
        self.assertIn("`ttmem --server HOST`", hosts[odd["huge"]]["next_step"])
        self.assertIn("ttmem.changes.v9", hosts[odd["newer"]]["reason"])
        self.assertIsNone(hosts[odd["silent"]]["dram"]["used_bytes"])
        self.assertEqual([host["address"] for host in fleet["hosts"]][:3],
                         [two.at, one.at, odd["hostile"]])  # the tightest first, unknown hosts last
        self.assertEqual(hosts[two.at]["headroom_bytes_per_core"], headroom(64 * KIB, 256 * KIB))
        self.assertEqual(hosts[two.at]["headroom_device"], "0")
        self.assertEqual(hosts[one.at]["dram"],
                         {"used_bytes": 12 * 3 * MIB, "capacity_bytes": 24 * GIB, "complete": True,
                          "least_free_bytes": 12 * GIB - 12 * 2 * MIB, "least_free_device": "1"})
        self.assertEqual(hosts[one.at]["processes"], 2)

        l1 = 64 * 64 * KIB + 4 * 32 * KIB
        jobs = {job: (entry["hosts"], entry["processes"], entry["dram_bytes"], entry["l1_bytes"])
                for job, entry in self.by_job(fleet).items() if job in ("4711", "12", None)}
        self.assertEqual(jobs, {"4711": (2, 2, 12 * 5 * MIB, 2 * l1 + 4 * 224 * KIB),
                                "12": (1, 1, 12 * 2 * MIB, l1), None: (1, 1, 12 * 8 * MIB, l1)})
        self.assertEqual(self.by_job(fleet)["4711"]["headroom_host"], two.at)
        self.assertFalse(fleet["complete"])
        self.assertFalse(self.by_job(fleet)["4711"]["complete"])
        self.assertEqual(len(fleet["unread"]), 5)

        self.check_text(servers, odd, one)

    def check_text(self, servers, odd, one):
        wide = self.text(*servers)
        self.assertNotIn("\x1b", wide)
        self.assertNotIn("\u202e", wide)
        self.assertRegex(wide, r"(?m)^ttmem fleet  .*  3 of 8 hosts, 5 devices, 5 processes$")
        self.assertRegex(wide, rf"(?m)^{re.escape(one.at)} .* 36\.0 MiB  24\.0 GiB ")
        self.assertRegex(wide, r"(?m)^4711 +>=2 +>=2 +>=60\.0 MiB ")
        self.assertRegex(wide, rf"(?m)^{re.escape(odd['silent'])} +timeout +no answer within 0\.5 s$")
        for columns in (80, 120):
            for line in self.text(*servers, columns=columns).splitlines():
                self.assertLessEqual(len(line), columns, line)

    def test_complete_answers_have_the_documented_fields(self):
        host = self.host(2)
        self.work_on(host, "4711")
        self.seen(host, 1)
        fleet = self.fleet("--server", host.at)
        self.assertEqual((fleet["complete"], fleet["warnings"]), (True, []))
        self.assertNotIn(">=", self.text("--server", host.at))
        page = (HERE.parents[1] / "docs" / "reference" / "json.md").read_text()
        common, *sections = re.split(r"^## ", page, flags=re.M)
        (section,) = [text for text in sections if text.startswith("ttmem.fleet.v1")]
        listed = {row[0] for row in table_rows(common) + table_rows(section)}
        self.assertEqual(paths_in(fleet), listed)

    def test_a_dead_process_is_shown_and_a_machine_counts_once(self):
        host = self.host(2)
        self.work_on(host, "4711")
        work = self.work_on(host, "4711", device=1)
        self.seen(host, 2)
        # A second server shows the same processes.
        second = self.start([TTMEM, "serve", "--socket", f"{self.dir}/other", "--http",
                             "127.0.0.3:0", "--no-reap"], host.env)
        line = second.line("stderr")
        while "HTTP on" not in line:
            line = second.line("stderr")
        other = re.search(r"http://([\d.:]+)/", line).group(1)
        fleet = self.wait_for(
            lambda: (found := self.fleet("--server", f"{host.at},{other}"))
            and found["total"]["answered"] == 1 and found, "the second to have made a pass")
        self.assertEqual(self.by_job(fleet)["4711"]["dram_bytes"], 2 * 12 * MIB)
        self.assertTrue(fleet["complete"])
        (twice,) = [entry for entry in fleet["hosts"] if entry["answer"] == "twice"]
        self.assertEqual(twice["address"], other)
        self.assertEqual([twice["devices"], twice["processes"], twice["dram"]["used_bytes"],
                          twice["headroom_bytes_per_core"]], [None] * 4)
        second.end()
        work.kill()
        died = self.wait_for(
            lambda: (found := self.fleet("--server", host.at)["hosts"][0])
            ["dead_processes_total"] == 1 and found, "the post-mortem")
        self.assertEqual(died["processes"], 1)
        self.assertRegex(self.text("--server", host.at), r"DIED")

    def test_watching_shows_new_processes_and_lost_servers(self):
        one, two = self.host(2), self.host(3)
        self.work_on(two, "12")
        self.seen(two, 1)
        watching = self.start([TTMEM, "fleet", "--json", "--watch", "0.05", "--server",
                               f"{one.at},{two.at}"])

        def until(condition):
            while not condition(fleet := json.loads(watching.line())):
                pass
            return fleet
        until(lambda fleet: fleet["total"]["answered"] == 2)
        self.work_on(one, "4711")
        fleet = until(lambda fleet: "4711" in self.by_job(fleet))
        self.assertEqual(self.by_job(fleet)["12"]["dram_bytes"], 12 * MIB)
        two.kill()
        fleet = until(lambda fleet: fleet["total"]["answered"] == 1)
        self.assertEqual([job["job"] for job in fleet["jobs"]], ["4711"])
        self.assertFalse(fleet["complete"])
        watching.signal(signal.SIGINT)
        self.assertEqual(watching.wait(), 0)

    def test_without_any_answer_it_fails_with_a_line_for_each_server(self):
        at = self.closed()
        result = self.ttmem("fleet", "--server", at, code=1)
        self.assertIn(at, result.stdout)
        self.assertIn("connection refused", result.stdout)
        self.assertEqual(self.fleet("--server", at, code=1)["total"]["answered"], 0)

    def test_wrong_usage(self):
        for arguments, words in (((), "no server is named"),
                                 (("--server", "a", "--prometheus", "b"), "leave out --server"),
                                 (("--server", "a://b"), "is not the address of a server"),
                                 (("--server", ","), "the list of servers is empty"),
                                 (("--server", "a", "--sort", "size"), "must be one of headroom"),
                                 (("--server", "a", "--host-label", "n"), "belong to --prometheus"),
                                 (("--prometheus", "a", "--host-label", "n)"), "not the name of a label"),
                                 (("--timeout", "0", "--server", "a"), "--timeout 0")):
            self.assertIn(words, self.ttmem("fleet", *arguments, code=2).stderr)
        self.assertIn("No such file", self.ttmem("fleet", "--servers-from", f"{self.dir}/no",
                                                 code=1).stderr)

    def test_the_token_is_sent(self):
        token = self.token_file()
        host = self.host(2, "--token-file", token)
        self.assertEqual(self.fleet("--server", host.at, code=1)["hosts"][0]["answer"],
                         "unauthorized")
        self.assertEqual(self.fleet("--server", host.at, "--token-file", token)["hosts"][0]["answer"],
                         "ok")


class OfPrometheus(FleetCase, Prometheus):
    def scrape(self, *targets):
        """Starts a Prometheus that scrapes these servers, with their addresses as labels `instance`
        and `node`."""
        config = pathlib.Path(self.folder) / "prometheus.yml"
        for file in RULES:
            shutil.copy(file, self.folder)
        text = (DEPLOY / "prometheus" / "prometheus.yml").read_text().replace("15s", "1s")
        one = '      - targets: ["127.0.0.1:9488"]\n'
        self.assertIn(one, text)
        config.write_text(text.replace(one, "".join(
            f'      - {{targets: ["{target}"], labels: {{node: "{target}"}}}}\n'
            for target in targets)))
        self.prometheus_port = free_port()
        self.start(["prometheus", f"--config.file={config}",
                    f"--storage.tsdb.path={self.folder}/data",
                    f"--web.listen-address=127.0.0.1:{self.prometheus_port}"])
        return f"127.0.0.1:{self.prometheus_port}"

    @staticmethod
    def known_to_both(fleet):
        """Returns the part of a fleet's JSON that both the hosts and Prometheus know. Prometheus
        knows no texts, and does not know which host of a job has the least headroom."""
        for host in fleet["hosts"]:
            for key in ("name", "dead_processes", "warnings", "reason", "next_step"):
                del host[key]
        for job in fleet["jobs"]:
            for key in ("headroom_host", "headroom_device"):
                del job[key]
            if job["job"] is None:
                del job["headroom_bytes_per_core"]
        return {key: fleet[key] for key in ("hosts", "jobs", "total", "complete")}

    def test_the_table_equals_the_table_of_the_hosts(self):
        one, two = self.host(2), self.host(3)
        self.work_on(one, "4711", dram=MIB, cb=32 * KIB)
        self.work_on(one, dram=2 * MIB, device=1)
        self.work_on(two, "4711", dram=4 * MIB, cb=256 * KIB)
        # The chips of these two jobs have the same number. Each job has the headroom of its own
        # chip.
        self.work_on(two, "12", cb=32 * KIB, device=1)
        self.work_on(two, "13", cb=128 * KIB, device=1)
        with socket.create_server(("127.0.0.6", 0)) as server:
            dead = f"127.0.0.6:{server.getsockname()[1]}"
        at = self.scrape(one.at, two.at, dead)
        for query in ('count(ttmem_memory_used_bytes{kind="dram"}) == 5', 'up{job="ttmem"} == 0',
                      f'sum(ttmem:host_memory_used_bytes:sum{{kind="dram"}}) == {12 * 9 * MIB}',
                      f'sum(ttmem:job_memory_used_bytes:sum{{kind="dram"}}) == {12 * 7 * MIB}',
                      "count(ttmem:job_l1_headroom_bytes:min) == 3"):
            self.wait_for(lambda query=query: self.query(query), query)
        asked = self.known_to_both(self.fleet("--server", f"{one.at},{two.at},{dead}"))
        self.assertEqual({job: entry["headroom_bytes_per_core"]
                          for job, entry in self.by_job(asked).items() if job},
                         {"4711": headroom(64 * KIB, 256 * KIB), "12": headroom(64 * KIB, 32 * KIB),
                          "13": headroom(64 * KIB, 128 * KIB)})
        # The first query uses the recording rules. The second query names another label for hosts,
        # which the recording rules lack.
        for arguments in ((), ("--host-label", "node")):
            found = self.fleet("--prometheus", at, *arguments)
            self.assertEqual(found["prometheus"], f"http://{at}")
            (down,) = [host for host in found["hosts"] if host["address"] == dead]
            self.assertIn("connection refused", down["reason"])
            self.assertEqual(self.known_to_both(found), asked, arguments)
        text = self.text("--prometheus", at)
        self.assertRegex(text, rf"(?m)^{re.escape(two.at)} ")
        # The second line of the table has the totals and their shares of the capacity.
        of_hosts = self.text("--server", f"{one.at},{two.at},{dead}")
        self.assertEqual(text.splitlines()[1], of_hosts.splitlines()[1])
        self.assertRegex(text.splitlines()[1], r"^DRAM .*%.*  L1 .*%$")
        said = self.ttmem("fleet", "--prometheus", at, "--host-label", "rack", code=1).stderr
        self.assertIn("knows no host with the label rack", said)


class OfNoPrometheus(RemoteCase):
    def said(self, answer):
        return self.refused("fleet", "--prometheus", self.answering(answer))

    def test_an_address_without_prometheus_is_an_error(self):
        self.assertIn("cannot ask http://127.0.0.6:1: connection refused; check the address and the "
                      "port (9090", self.refused("fleet", "--prometheus", "127.0.0.6:1"))
        self.assertIn("what answers there is not Prometheus", self.said(lambda _: (200, b"<html>")))
        self.assertIn("query timed out in expression", self.said(
            lambda _: (503, b'{"status":"error","error":"query timed out in expression"}')))
        self.assertIn("let it scrape the servers", self.said(
            lambda _: (200, b'{"status":"success","data":{"resultType":"vector","result":[]}}')))

    def test_one_refused_query_leaves_the_other_figures(self):
        def answer(path):
            if "ttmem_up" in path and "last_over" not in path:
                return 200, (b'{"status":"success","data":{"resultType":"vector","result":[{"metric":'
                             b'{"instance":"n\\u001b1"},"value":[1,"1"]}]}}')
            return 422, b'{"status":"error","error":"too many samples\\u001b"}'
        at = self.answering(answer)
        fleet = self.json("fleet", "--prometheus", at)
        self.assertEqual([host["answer"] for host in fleet["hosts"]], ["ok"])
        self.assertFalse(fleet["complete"])
        self.assertIn("too many samples", fleet["warnings"][0])
        result = self.ttmem("fleet", "--prometheus", at)
        self.assertNotIn("\x1b", result.stdout + result.stderr)
        self.assertIn("too many samples", result.stderr)

    # A host with 8 devices, 4 processes that report and 2 that do not. 3 of the 4 processes that
    # report belong to one job.
    FIGURES = (
        ("up == 0", []),
        ("ttmem_up", [({}, 1)]),
        ("ttmem:", []),
        ("count by (instance) (ttmem_device_info)", [({}, 8)]),
        ("sum by (instance, kind) (ttmem_memory_used_bytes)", [({"kind": "dram"}, 8 * GIB)]),
        ("count by (instance) (ttmem_memory_used_bytes", [({}, 8)]),
        ("sum by (instance, memory)", [({"memory": "dram"}, 96 * GIB)]),
        ("count by (instance, memory)", [({"memory": "dram"}, 8)]),
        ("ttmem_complete", [({}, 1)]),
        ("ttmem_untracked_processes", [({}, 2)]),
        ("ttmem_processes", [({}, 4)]),
        ("count by (exported_job, instance)", [({"exported_job": "4711"}, 3)]),
        ("count by (instance) (count by (instance, pid", [({}, 4)]),
        ("sum by (exported_job, instance, kind)",
         [({"exported_job": "4711", "kind": "dram"}, 6 * GIB)]),
        ("sum by (instance, kind) (ttmem_process_memory", [({"kind": "dram"}, 8 * GIB)]))

    def refusing(self, *queries):
        """Starts a stand-in for Prometheus with the figures above. The stand-in refuses queries
        that contain one of these texts. Returns the arguments of ttmem. The timeout is long,
        because the stand-in serves few connections at a time and the kernel retries other
        connections only after seconds."""
        def answer(path):
            query = urllib.parse.unquote(path.partition("query=")[2])
            if any(text in query for text in queries):
                return 422, b'{"status":"error","error":"too many samples"}'
            samples = next((samples for text, samples in self.FIGURES if text in query), [])
            return 200, json.dumps({"status": "success", "data": {
                "resultType": "vector", "result": [
                    {"metric": {"instance": "n1", **labels}, "value": [1, str(value)]}
                    for labels, value in samples]}}).encode()
        return "fleet", "--prometheus", self.answering(answer), "--timeout", "20"

    def test_a_refused_figure_is_unknown_and_not_zero(self):
        whole = self.ttmem(*self.refusing()).stdout
        self.assertIn("  1 host, 8 devices, 4 processes", whole)
        self.assertIn(">=8.00 GiB", whole)
        self.assertRegex(whole, r"(?m)^4711 +>=1 +>=3 +>=6\.00 GiB")
        self.assertRegex(whole, r"(?m)^\(none\) +>=1 +>=1 +>=2\.00 GiB")
        some = self.refusing("device_info", "host_devices", "ttmem_process_info",
                             "ttmem_untracked_processes")
        text = self.ttmem(*some).stdout
        self.assertIn("  1 host, n/a devices, n/a processes", text)
        self.assertIn(">=8.00 GiB of >=96.0 GiB", text)
        self.assertNotRegex(text, "(?m)^JOB")
        fleet = self.json(*some)
        (host,) = fleet["hosts"]
        self.assertEqual([host[key] for key in ("devices", "processes", "untracked_processes")],
                         [None] * 3)
        self.assertEqual([host["dram"]["complete"], fleet["total"]["dram"]["complete"]],
                         [False] * 2)
        self.assertEqual([fleet["total"]["devices"], fleet["total"]["processes"]], [None] * 2)

    def test_memory_without_a_job_is_unknown_without_the_memory_of_jobs(self):
        (job,) = self.json(*self.refusing("job_host_memory"))["jobs"]
        self.assertEqual([job["job"], job["processes"], job["dram_bytes"], job["complete"]],
                         ["4711", 3, None, False])


if __name__ == "__main__":
    unittest.main()
