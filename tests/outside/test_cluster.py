# SPDX-License-Identifier: Apache-2.0
"""A cluster on this machine (cluster.py): eight hosts with a real `ttmem serve` and the ranks of
two jobs, and one real Prometheus with the rules of packaging/deploy/. The sums of Prometheus over
jobs and hosts equal the bytes that the ranks hold, also after a host was cut off, a rank died, and
a server was restarted: nothing is counted twice, and no sample that Prometheus could scrape is
lost."""

import json
import os
import re
import tempfile
import unittest
import urllib.parse

import cluster
from support import KIB, MIB, TTMEM, Case, build_consumer, plain_environment
from test_prometheus import BOARDS, DEPLOY, RULES, VARIABLES

# {job: nodes on which the job has a rank}. Some nodes have both jobs; one has a process without a
# job.
JOBS = {"alpha": (1, 2, 3, 4, 5), "beta": (4, 5, 6, 7, 8), None: (8,)}
NODES = range(1, 9)
PORT = 9488


class Node(cluster.Host):
    """A host with a server and with ranks of jobs."""

    def __init__(self, case, number):
        super().__init__(case, f"node{number}", number)
        self.number = number
        self.instance = f"{self.address}:{PORT}"
        self.env = {name: value for name, value in case.env.items() if name != "TTMEM_DIR"}
        self.ranks = {}  # keyed by job

    def start_rank(self, job, worker):
        """Starts a rank. The DRAM sizes are chosen so that no two sets of ranks have the same
        sum."""
        env = {**self.env, "TT_ALLOC_TRACKING_ENABLED": "1", **({"TTMEM_JOB": job} if job else {})}
        place = list(JOBS).index(job) * len(NODES) + self.number
        rank = self.start([worker, 0xc0de00 + self.number, MIB + (32 << place), place * KIB], env)
        rank.pid_there, rank.dram, rank.cb, rank.l1 = map(int, rank.line().split())
        self.ranks[job] = rank
        return rank

    def work(self, job, times):
        for _ in range(times):
            self.ranks[job].go_on()
            self.ranks[job].line()

    def serve(self, token_file, *arguments):
        self.server = self.start([TTMEM, "serve", "--http", self.instance, "--token-file", token_file,
                                  "--socket", "/dev/shm/socket", "--quiet", *arguments], self.env)


@unittest.skipIf(cluster.refused(), f"no namespaces here: {cluster.refused()}")
class Cluster(Case):
    maxDiff = None

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-cluster-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.worker = build_consumer(self.folder, "worker")
        self.token = "0123456789abcdef0123"
        self.token_file = os.path.join(self.folder, "token")
        with open(os.open(self.token_file, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(self.token)

    def start_cluster(self):
        self.nodes = {number: Node(self, number) for number in NODES}
        self.monitor = cluster.Host(self, "monitor", 100)
        self.switch = cluster.Switch(self, [*self.nodes.values(), self.monitor])
        for node in self.nodes.values():
            for job, numbers in JOBS.items():
                if node.number in numbers:
                    node.start_rank(job, self.worker)
            # The test kills a rank of node 6. The dead process must stay visible.
            node.serve(self.token_file, *(["--no-reap"] if node.number == 6 else []))
        self.start_prometheus()

    def start_prometheus(self):
        text = (DEPLOY / "prometheus" / "prometheus.yml").read_text().replace("15s", "1s")
        text = text.replace("    # authorization:\n    #   credentials_file: /etc/prometheus/ttmem.token",
                            f"    authorization:\n      credentials_file: {self.token_file}")
        self.assertIn("\n    authorization:", text)
        targets = ", ".join(f'"{node.instance}"' for node in self.nodes.values())
        config = os.path.join(self.folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(text.replace('"127.0.0.1:9488"', targets))
        for rules in RULES:  # unchanged, except for the durations
            with open(os.path.join(self.folder, rules.name), "w", encoding="utf-8") as file:
                file.write(re.sub(r"\bfor: \d+m", "for: 1s", rules.read_text()))
        self.monitor.start(["prometheus", f"--config.file={config}",
                            f"--storage.tsdb.path={self.folder}/data",
                            "--web.listen-address=127.0.0.1:9090", "--log.level=error"],
                           plain_environment())

    def result(self, expression):
        try:
            status, body = self.monitor.get("/api/v1/query?" +
                                            urllib.parse.urlencode({"query": expression}),
                                            ("127.0.0.1", 9090))
        except OSError:
            return []  # not up yet
        self.assertIn(status, (200, 503), f"{expression}: {body}")
        return json.loads(body)["data"]["result"] if status == 200 else []

    def values(self, expression, *labels):
        """Returns the result of a query as {values of these labels: value}."""
        return {tuple(entry["metric"].get(label) for label in labels): float(entry["value"][1])
                for entry in self.result(expression)}

    def history(self, expression):
        """Returns [(time, value)] of each sample of the only series."""
        (series,) = self.result(f"{expression}[10m]")
        return [(float(time), float(value)) for time, value in series["values"]]

    def growth(self, node):
        """Returns how many allocations Prometheus saw on a node. A sample that is lower than the
        sample before means that the counter was restarted."""
        samples = [value for _, value in
                   self.history(f'ttmem_allocations_total{{instance="{node.instance}"}}')]
        return sum(now - before if now >= before else now
                   for before, now in zip(samples, samples[1:]))

    def held(self, without=()):
        """Returns the bytes that the ranks hold: {(job, kind): bytes} and {(instance, kind):
        bytes}."""
        by_job, by_host = {}, {}
        for node in self.nodes.values():
            if node.number in without:
                continue
            for job, rank in node.ranks.items():
                for kind, held in (("dram", rank.dram), ("cb", rank.cb)):
                    host = node.instance, kind
                    by_host[host] = by_host.get(host, 0) + held
                    if job:
                        by_job[job, kind] = by_job.get((job, kind), 0) + held
        return by_job, by_host

    def known(self):
        """Returns the sums of Prometheus in the form of held()."""
        return (self.values('ttmem:job_memory_used_bytes:sum{kind=~"dram|cb"} > 0', "exported_job",
                            "kind"),
                self.values('ttmem:host_memory_used_bytes:sum{kind=~"dram|cb"}', "instance", "kind"))

    def wait_for_sums(self, **which):
        expected = self.held(**which)
        try:
            self.wait_for(lambda: self.known() == expected, "the sums by job and host")
        except AssertionError:
            self.assertEqual(self.known(), expected)

    def alerts(self, name):
        return self.values(f'ALERTS{{alertname="{name}",alertstate="firing"}}', "instance")

    def test_sums_stay_right_when_hosts_go_and_come_back(self):
        self.start_cluster()
        self.wait_for_sums()
        self.assert_hosts_are_separate()
        self.assert_fleet_board_has_data()
        self.assertEqual(self.alerts("TtmemHostsUnseen"), {})

        cut_off, killed, restarted = (self.nodes[number] for number in (2, 6, 8))
        restarted.work(None, 3)
        self.wait_for_count(restarted, 3)
        self.switch.cut_off(cut_off)
        killed.server.kill()
        died = killed.ranks.pop("beta")
        died.kill()
        rank = restarted.ranks.pop(None)
        rank.close_stdin()
        self.assertEqual(rank.wait(), 0)
        restarted.server.kill()
        restarted.serve(self.token_file)
        cut_off.work("alpha", 4)
        self.assert_missing(cut_off, killed)

        killed.start_rank("beta", self.worker)
        killed.serve(self.token_file, "--no-reap")
        self.switch.connect(cut_off)
        restarted.work("beta", 2)
        self.wait_for_sums()
        self.wait_for(lambda: self.values("count(up == 1)") == {(): len(NODES)}, "all hosts")
        self.assert_gap_in_samples(cut_off)
        self.assert_dead_are_separate(killed, died)
        self.wait_for_count(restarted, 2)
        self.assertEqual(self.growth(restarted), 5)
        self.wait_for(lambda: not self.alerts("TtmemHostsUnseen"), "the end of the alert")
        self.assert_nothing_was_counted_twice()

    def wait_for_count(self, node, count):
        self.wait_for(lambda: self.values(f'ttmem_allocations_total{{instance="{node.instance}"}}')
                      == {(): count}, f"{count} allocations on {node.name}")

    def assert_hosts_are_separate(self):
        pids = {rank.pid_there for node in self.nodes.values() for rank in node.ranks.values()}
        self.assertLess(len(pids), 6, "pids are the same on several hosts")
        node = self.nodes[3]
        asked = [TTMEM, "--json", "--server", node.instance, "--timeout", "20"]
        answer = self.monitor.start([*asked, "--token-file", self.token_file], node.env)
        snapshot = json.loads(answer.process.stdout.read())
        self.assertEqual(snapshot["host"], "node3")
        (process,) = snapshot["devices"][0]["processes"]
        self.assertEqual((process["job"], process["dram_bytes"]), ("alpha", node.ranks["alpha"].dram))
        self.assertEqual(self.monitor.get("/metrics", (node.address, PORT))[0], 401)

    def assert_fleet_board_has_data(self):
        (board,) = [board for board in BOARDS if "fleet" in board.name]
        for panel in json.loads(board.read_text())["panels"]:
            for target in panel.get("targets", []):
                query = target["expr"]
                for name, value in VARIABLES.items():
                    query = query.replace(name, value)
                self.wait_for(lambda query=query: self.result(query), query)

    def assert_missing(self, *nodes):
        """Asserts that these nodes, which do not answer, have no figures: neither old figures nor
        zeros."""
        self.wait_for(lambda: {instance for (instance,) in self.values("up == 0", "instance")}
                      == {node.instance for node in nodes}, "the hosts that do not answer")
        self.wait_for_sums(without=[node.number for node in nodes])
        for node in nodes:
            series = f'{{__name__=~"ttmem.*",instance="{node.instance}"}}'
            self.wait_for(lambda series=series: not self.result(series), f"the end of {series}")
        self.wait_for(lambda: self.alerts("TtmemHostsUnseen"), "the alert for the fleet")
        self.assertEqual(self.values('count(up{job="ttmem"} == 0)'), {(): len(nodes)})

    def assert_gap_in_samples(self, node):
        samples = self.history(f'ttmem_memory_used_bytes{{instance="{node.instance}",kind="dram"}}')
        self.assertEqual({value for _, value in samples}, {node.ranks["alpha"].dram})
        steps = [later[0] - earlier[0] for earlier, later in zip(samples, samples[1:])]
        self.assertGreater(max(steps), 1.5)
        self.wait_for_count(node, 4)
        self.assertEqual(self.growth(node), 4)

    def assert_dead_are_separate(self, node, died):
        labels = f'{{instance="{node.instance}"}}'
        left = died.dram + died.cb + died.l1
        self.wait_for(lambda: self.values(f"ttmem_dead_owner_bytes{labels}") == {(): left},
                      "what the dead process left")
        self.wait_for(lambda: self.values(f"ttmem_dead_processes_total{labels}") == {(): 1},
                      "the count of the dead")
        self.assertEqual(self.values(f"ttmem_processes{labels}"), {(): 1})
        self.wait_for(lambda: self.alerts("TtmemDeadOwnerHoldsMemory") == {(node.instance,): 1},
                      "the alert for the dead")
        status, body = self.monitor.get("/api/v1/postmortems", (node.address, PORT),
                                        {"Authorization": f"Bearer {self.token}"})
        self.assertEqual(status, 200)
        (dead,) = json.loads(body)["postmortems"]
        self.assertEqual((dead["pid"], dead["job"], dead["dram_bytes"], dead["removed"]),
                         (died.pid_there, "beta", died.dram, False))

    def assert_nothing_was_counted_twice(self):
        by_job, by_host = self.held()
        for (job, kind), most in by_job.items():
            series = f'ttmem:job_memory_used_bytes:sum{{exported_job="{job}",kind="{kind}"}}'
            self.assertEqual(max(value for _, value in self.history(series)), most)
        for (instance, kind), most in by_host.items():
            if instance != self.nodes[8].instance:  # one of its ranks has ended
                series = f'ttmem:host_memory_used_bytes:sum{{instance="{instance}",kind="{kind}"}}'
                self.assertEqual({value for _, value in self.history(series)}, {most})


if __name__ == "__main__":
    unittest.main()
