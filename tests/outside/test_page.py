# SPDX-License-Identifier: Apache-2.0
"""The page of `ttmem serve` in a real browser: its figures equal the JSON, labels are shown as
text, it requests nothing from other servers, and it survives the end of processes and of the
server."""

import contextlib
import glob
import gzip
import json
import os
import re
import signal
import time
import unittest

from browser import Browser, borrow, give_back
from http_case import HttpCase
from support import DEADLINE_SECONDS, KIB, MIB, shown

# Errors of the browser if no server listens, or if the server ended before it answered.
AWAY = ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")


class PageCase(HttpCase):
    normal = ()  # complaints of the browser that a test expects

    def setUp(self):
        super().setUp()
        self.browser = borrow()
        self.addCleanup(give_back, self.browser)

    def tearDown(self):
        complaints = [complaint for complaint in self.browser.complaints
                      if not any(one in complaint for one in self.normal)]
        self.assertEqual(complaints, [])
        hosts = {url.split("/")[2] for url in self.browser.requests if url.startswith("http")}
        self.assertLessEqual({host.split(":")[0] for host in hosts}, {"127.0.0.1"})
        super().tearDown()

    def open(self, place=""):
        self.browser.open("about:blank")
        self.browser.open(f"http://127.0.0.1:{self.port}/#{place}")

    def text(self, selector):
        """Returns the texts of the elements that match the selector, in order."""
        return self.browser.run(
            f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.textContent)")

    def wait_text(self, selector, words):
        return self.wait_for(lambda: any(words in one for one in self.text(selector)),
                             f"{words!r} in {selector}, which has {self.text(selector)}")

    def wait_rows(self, label, least=1):
        """Waits for this number of visible rows of a list. Returns the rows as lists of texts."""
        script = (f"[...document.querySelectorAll('[aria-label={json.dumps(label)}] [data-row]')]"
                  ".sort((a, b) => a.dataset.row - b.dataset.row)"
                  ".map((row) => [...row.children].map((cell) => cell.textContent))")

        def enough():
            rows = self.browser.run(script)
            return rows if len(rows) >= least else None
        return self.wait_for(enough, f"rows of {label}")

    def figures(self, key):
        """Returns {field: (text, bytes)} of a device's card."""
        selector = f"[data-key={json.dumps(key)}] [data-field]"
        return self.browser.run(
            f"Object.fromEntries([...document.querySelectorAll({json.dumps(selector)})]"
            ".map((one) => [one.dataset.field, [one.textContent, one.dataset.bytes]]))")

    def status(self, what="textContent"):
        return self.browser.run(f"document.getElementById('status').{what}")

    def address(self):
        return self.browser.run("location.hash")


class Figures(PageCase):
    def check_card(self, device):
        l1 = device["l1"]
        expected = {"dram": device["dram"]["used_bytes"], "l1": l1["used_bytes"],
                    "l1_buffers": l1["buffers"]["physical_bytes"],
                    "l1_small": l1["small_bytes"], "cb": l1["cb"]["physical_bytes"],
                    "kernel": l1["kernels_bytes"]}
        card = self.figures(device["uid"])
        for field, size in expected.items():
            self.assertEqual(card[field], [shown(size), str(size)], field)
        room = l1["headroom_bytes_per_core"]
        self.assertEqual(card["headroom"], [shown(room, 1), str(room)])
        [free] = self.text(f"[data-key='{device['uid']}'] .line:has([data-field=free])")
        for name, memory, banks in (
                ("DRAM", device["dram"], device["dram"]["channels"]),
                ("L1", l1, device["grid"]["x"] * device["grid"]["y"])):
            in_bank = memory["free_bytes_per_bank"]
            self.assertIn(
                f"{name} {shown(in_bank * banks)} ({banks} banks x {shown(in_bank, 1)}, "
                f"largest block {shown(memory['largest_free_bytes_per_bank'], 1)})", free)

    def test_every_device_and_process_equals_the_json(self):
        demo = self.start_demo("mesh8")
        self.serve()
        self.open()
        self.wait_for(lambda: len(self.text(".card.device")) == 8, "eight devices")
        for device in self.get_json("/api/v1/snapshot")["devices"]:
            self.check_card(device)
        [row] = self.wait_rows("Processes")
        processes = [one for device in self.devices() for one in device["processes"]]
        self.assertEqual(row[0], str(demo.pid))
        self.assertEqual(row[2], "0-7")
        self.assertEqual(row[3], shown(sum(one["dram_bytes"] for one in processes)))

    def test_the_tightest_of_many_devices(self):
        self.start_demo("mesh8")
        self.serve()
        self.open()
        devices = self.wait_for(self.devices, "devices")
        tightest = min(devices, key=lambda one: one["l1"]["headroom_bytes_per_core"])
        room = shown(tightest["l1"]["headroom_bytes_per_core"], 1)
        self.wait_text(".tightest", f"Device {tightest['id']} · {room}")
        used = sum(device["dram"]["used_bytes"] for device in devices)
        self.wait_text(".summary", shown(used))
        self.browser.run("document.querySelector('.tightest').click()")
        self.wait_text(".core-map .words", f"headroom {room}")
        self.assertIn(f"device={tightest['uid']}", self.address())

    def test_shares_with_partly_unknown_capacities(self):
        self.hold_calls("open_device()\nalloc(DRAM, 1, 4096)\n"
                        "open_device(1, dram_channels=0, dram_bytes_per_channel=0)\n"
                        "alloc(DRAM, 1, 4096, device=1, size=4096)")
        self.serve()
        self.wait_for(lambda: len(self.devices()) == 2, "devices")
        capacities = [device["dram"]["capacity_bytes"] for device in self.devices()]
        self.assertIn(None, capacities)
        used = sum(device["dram"]["used_bytes"] for device in self.devices())
        self.open()
        self.wait_text(".summary", f"DRAM{shown(used)} · n/a")

    def test_the_chosen_core_and_the_tightest_core(self):
        self.start_demo("blackhole")
        self.serve()
        [device] = self.devices()
        cores = {(core["x"], core["y"]): core for core in device["per_core"]}
        least = min(core["headroom_bytes"] for core in device["per_core"])
        self.open("view=cores")
        self.wait_text(".core-map .words", f"headroom {shown(least, 1)}")
        self.open("view=cores&core=3,4")
        self.wait_text(".core-map h2", "Core (3,4)")
        core = cores[3, 4]
        [words] = self.text(".core-map .words")
        self.assertIn(f"CB {shown(core['cb_bytes'], 1)}", words)
        self.assertIn(f"L1 buffers {shown(core['l1_bytes'], 1)}", words)
        rows = self.wait_rows("What lies in the core", 2)
        gap = next(row for row in rows if row[2] == "headroom")
        self.assertEqual(gap[1], shown(core["headroom_bytes"], 1))
        buffers = [one for one in self.json("allocs")["allocations"] if one["kind"] == "l1"]
        self.assertEqual({row[3] for row in rows if row[2] == "L1 buffers"},
                         {one["label"] for one in buffers})

    def test_the_figures_and_the_map_of_a_core_are_of_one_moment(self):
        """Compares the headroom above the map with the gap in the map after every change of the
        page, while buffers come and go."""
        host = self.hold_calls("""
open_device()
place(1, (110_000, 4096, [(0, 0, 7, 7)]))
for number in range(2, 8):
    alloc(L1, number, 4096, 1_400_000 - 65536 * number)
    hold()
""")
        self.serve()
        self.open("view=cores")
        self.wait_rows("What lies in the core", 2)
        self.browser.run("""
            window.seen = new Set();
            window.mixed = [];
            const rows = () => [...document.querySelectorAll(
                "[aria-label='What lies in the core'] [data-row]")];
            new MutationObserver(() => {
              const words = document.querySelector('.core-map .words').textContent;
              const gap = rows().find((row) => row.children[2].textContent === 'headroom');
              if (!gap) return;
              const size = gap.children[1].textContent;
              seen.add(size);
              if (!words.includes(`headroom ${size}`)) mixed.push(`${words}; map: ${size}`);
            }).observe(document.querySelector('main'),
                       {subtree: true, childList: true, characterData: true}); 0""")
        for count in range(3):
            host.go_on()
            self.assertEqual(host.line(), "ready")
            self.wait_for(lambda: self.browser.run("seen.size") > count, "the next map")
        self.assertEqual(self.browser.run("mixed"), [])

    def test_a_core_that_processes_overfill_is_painted_above_100_percent(self):
        for _ in range(2):
            self.hold_calls("open_device()\nalloc(L1, 1, 840_000, 600_000)")
        self.serve()
        [device] = self.devices()
        self.assertTrue(device["sums_may_overlap"])
        self.open("view=cores")
        self.wait_text("main .words", "2 processes share this chip; sums may overlap")
        self.browser.run("""
            window.painted = [];
            const fillText = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
              painted.push(String(text));
              return fillText.call(this, text, ...more);
            }; 0""")
        self.browser.press("c", "c", "c")
        self.wait_for(lambda: "112%" in self.browser.run("painted"), "112 % on the map")
        self.open()
        self.wait_text(".chips", "2 processes share this chip; sums may overlap")

    def test_allocations_are_searched_sorted_and_grouped(self):
        self.hold_calls(f"""
open_device()
lib.ttmem_scope_push(b"decoder.0")
alloc(L1, 1, 4096, label=b"small")
alloc(DRAM, 2, {8 * MIB}, label=b"large")
lib.ttmem_scope_pop()
lib.ttmem_scope_push(b"decoder.1")
alloc(DRAM, 3, {KIB}, {16 * MIB}, label=b"other")
lib.ttmem_scope_pop()
""")
        self.serve()
        self.open("view=processes")
        rows = self.wait_rows("Allocations", 3)
        self.assertEqual([row[2] for row in rows][0], "large")
        self.open("view=processes&search=decoder.0")
        self.wait_for(lambda: len(self.wait_rows("Allocations")) == 2, "two that match")
        self.open("view=processes&group=scope")
        rows = self.wait_rows("Allocations", 2)
        self.assertEqual([row[2].split(" ", 1)[1] for row in rows],
                         ["decoder.0 · 2 allocations", "decoder.1 · 1 allocation"])

    def test_programs(self):
        self.start_demo("single")
        self.serve()
        self.open("view=programs")
        rows = self.wait_rows("Programs")
        programs = self.json("programs")["programs"]
        self.wait_text("h2", f"Programs: {len(programs)}")
        first = max(programs, key=lambda one: one["physical_bytes"])
        self.assertEqual(rows[0][6], shown(first["physical_bytes"]))

    def test_unknown_is_not_zero(self):
        self.hold_calls("open_device()\nalloc(DRAM, 1, 4096)")
        self.serve()
        [device] = self.devices()
        self.open()
        self.wait_for(lambda: self.text(".card.device"), "a device")
        card = self.figures(device["uid"])
        self.assertIsNone(device["l1"]["kernels_bytes"])
        self.assertEqual(card["kernel"], ["n/a", "null"])

    def test_a_chart_ends_with_the_present_figures(self):
        self.start_demo("single")
        self.serve()
        self.open("view=charts")
        if self.logged("the page has no charts"):
            self.wait_text(".empty", "This build has no charts")
            return
        self.wait_for(lambda: self.text(".u-wrap"), "a chart")
        [device] = self.devices()
        self.wait_text("[data-field=dram_bytes]", shown(device["dram"]["used_bytes"]))
        self.wait_text("[data-field=cb_bytes]", shown(device["l1"]["cb"]["physical_bytes"]))


class Warnings(PageCase):
    def test_unreadable_segments_are_a_warning(self):
        with open(os.path.join(self.dir, "ttmem.0.4711.99"), "wb") as file:
            file.write(b"junk" * 2000)
        self.serve()
        self.open()
        self.wait_text("#warnings-button", "1 warning")
        self.wait_text("#notice", "at least")
        self.browser.press("w")
        self.assertEqual(self.text("#warnings li"), self.get_json("/api/v1/snapshot")["warnings"])
        self.assertFalse(self.browser.run("document.getElementById('warnings').hidden"))


class Life(PageCase):
    def test_a_process_that_is_killed(self):
        demo = self.start_demo("single")
        self.serve()
        self.open("view=postmortems")
        self.wait_text(".empty", "No process has died")
        [device] = self.devices()
        self.wait_for(lambda: self.get_json(f"/api/v1/history?device={device['uid']}")["points"],
                      "a history")
        demo.kill()
        self.wait_text(".card.dead h2", f"PID {demo.pid}")
        held = self.get_json("/api/v1/postmortems")["postmortems"][0]
        self.wait_text(".card.dead", shown(held["dram_bytes"]))
        self.browser.press("1")
        self.wait_text(".empty", "No device")

    def test_a_restarted_server(self):
        self.start_demo("single")
        self.serve()
        self.open()
        self.wait_for(lambda: self.text(".card.device"), "a device")
        self.assertEqual(self.browser.run("document.getElementById('notice').hidden"), True)
        self.normal = AWAY
        self.server.stop(signal.SIGKILL)
        self.wait_text("#notice", "has not answered")
        self.assertEqual(len(self.text(".card.device")), 1)  # the known figures stay
        self.server = self.start_server(port=self.port)
        self.wait_text("#notice", "started again")
        self.wait_for(lambda: self.status("dataset.state") == "live", "a page that is live")
        self.assertEqual(len(self.text(".card.device")), 1)

    def test_a_new_process_appears(self):
        self.serve()
        self.open()
        self.wait_text(".empty", "No device")
        self.start_demo("single")
        self.wait_for(lambda: self.text(".card.device"), "a device")

    def test_a_shown_device_that_disappears(self):
        self.hold_calls("open_device()\nalloc(L1, 1, 4096)")
        other = self.hold_calls("open_device(1)\nalloc(L1, 1, 8192, device=1)")
        self.serve()
        uids = {device["id"]: device["uid"] for device in self.devices()}
        self.open(f"view=cores&device={uids[1]}")
        self.wait_text(".core-map .words", "L1 buffers 8.00 KiB")
        self.assertTrue(self.browser.run("document.getElementById('notice').hidden"))
        self.normal = ("status of 404",)  # the page may request the lists once more
        other.process.kill()
        self.wait_text("#notice", f"There is no device {uids[1]} here now: Device 0 is shown instead")
        self.wait_text(".core-map .words", "L1 buffers 4.00 KiB")

    def test_a_hidden_page_sends_no_request(self):
        self.serve()
        self.open()
        self.wait_text(".empty", "No device")
        script = ("Object.defineProperty(document, 'hidden', {get: () => %s, configurable: true});"
                  "document.dispatchEvent(new Event('visibilitychange'))")
        self.browser.run(script % "true")
        shown_time = self.status()
        passes = self._passes()
        self.wait_for(lambda: self._passes() >= passes + 3, "three passes")
        self.assertEqual(self.status(), shown_time)
        self.browser.run(script % "false")
        self.wait_for(lambda: self.status() != shown_time, "an answer")

    def _passes(self):
        line = next(line for line in self.get("/metrics").splitlines()
                    if line.startswith("ttmem_server_passes_total"))
        return float(line.split()[1])


class Narrow(PageCase):
    def test_the_head_of_a_phone_is_one_row_and_the_tabs(self):
        self.start_demo("mesh8")
        self.serve()
        self.browser.resize(390, 844)
        self.open()
        self.wait_for(lambda: len(self.text(".card.device")) == 8, "eight devices")
        middles = [top + height / 2 for _, top, _, height in
                   map(self.browser.box, ("#device", "#status", "#help-button"))]
        self.assertLess(max(middles) - min(middles), 8)
        self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), 390)
        self.assertEqual(self.text("#device option")[7], "Device 7")


class Hostile(PageCase):
    def test_labels_are_text(self):
        label = "<img src=x onerror=alert(1)>\x1b[31m \u202egnp.exe"
        self.hold_calls(f"open_device()\nalloc(L1, 1, 4096, label={label.encode()!r})")
        self.serve()
        for view, rows in (("processes", "Allocations"), ("cores", "What lies in the core")):
            self.open(f"view={view}")
            self.wait_rows(rows)
            self.wait_text(f"[aria-label='{rows}'] .cell", "<img src=x onerror=alert(1)>")
        self.assertEqual(self.browser.run("document.querySelectorAll('img').length"), 0)


class Keys(PageCase):
    def test_the_cores_of_another_device_while_paused(self):
        self.start_demo("mesh8")
        self.serve()
        self.open("view=cores&device=0")
        self.wait_text(".core-map h2", "Core (")
        self.browser.press("p", "]")
        self.wait_text("main .empty", "Paused. These cores come when it goes on")
        self.browser.press("p")
        self.wait_for(lambda: self.browser.run("document.querySelector('main > .view > .empty').hidden"),
                      "the cores")

    def test_enter_opens_the_marked_core(self):
        self.start_demo("single")
        self.serve()
        self.open()
        self.wait_for(lambda: self.text("canvas.grid[aria-label]"), "the cores")
        self.browser.run("document.querySelector('canvas.grid').focus()")
        self.browser.press("Enter")
        self.assertRegex(self.address(), "view=cores.*core=")

    def test_views_devices_cores_and_search(self):
        self.start_demo("mesh8")
        self.serve()
        self.open()
        self.wait_for(lambda: len(self.text(".card.device")) == 8, "eight devices")
        uids = [device["uid"] for device in self.devices()]
        self.browser.press("ArrowRight", "ArrowRight")
        self.assertIn(f"device={uids[1]}", self.address())
        self.browser.press("3")
        self.wait_text(".core-map h2", "Core (")
        self.assertIn("Device 1", self.text("main h2")[0])
        before = self.text(".core-map h2")[0]
        self.browser.press("ArrowRight", "ArrowDown")
        self.assertNotEqual(self.text(".core-map h2")[0], before)
        self.assertIn("core=", self.address())
        self.browser.press("]")
        self.assertIn(f"device={uids[2]}", self.address())
        self.browser.press("4", "a", "/")
        self.wait_rows("Allocations")
        for key in "tok_emb":
            self.browser.press(key)
        self.wait_for(lambda: "search=tok_emb" in self.address(), "the search in the address")
        self.wait_for(lambda: all("tok_emb" in row[2] for row in self.wait_rows("Allocations")),
                      "only what matches")
        self.browser.press("Escape", "?")
        self.assertTrue(self.browser.run("document.getElementById('help').open"))

    def test_each_list_has_its_own_order(self):
        self.start_demo("single")
        self.serve()
        self.open("view=processes&sort=Size")
        self.wait_rows("Allocations")
        self.assertEqual(self.sorted_by("Allocations"), [["Size/device", "ascending"]])
        self.browser.press("5")
        self.wait_rows("Programs")
        self.assertEqual(self.sorted_by("Programs"), [["Physical", "descending"]])
        self.browser.press("r")
        self.assertEqual(self.sorted_by("Programs"), [["Physical", "ascending"]])
        self.open("view=processes&sort=Nothing&group=nothing&paint=nothing")
        self.wait_rows("Allocations")
        self.assertEqual(self.sorted_by("Allocations"), [["Size/device", "descending"]])
        self.assertEqual(self.text(".choices [aria-pressed=true]"), ["None"])

    def sorted_by(self, label):
        return self.browser.run(
            f"[...document.querySelectorAll('[aria-label={label}] [role=columnheader]')]"
            ".map((one) => [one.textContent, one.getAttribute('aria-sort')])"
            ".filter(([, order]) => order !== 'none')")

    def test_a_link_leads_to_the_same_place(self):
        self.start_demo("mesh8")
        self.serve()
        uid = self.devices()[5]["uid"]
        self.open(f"view=cores&device={uid}&core=2,3&paint=headroom")
        self.wait_text(".core-map h2", "Core (2,3)")
        self.assertEqual(self.text("main h2")[0], "Device 5")
        self.assertEqual(self.text(".choices [aria-pressed=true]"), ["Headroom"])

    def test_a_link_names_a_device_by_any_of_its_numbers(self):
        for number, uid in ((0, 0xa0), (1, 0xb0), (5, 0xb0)):
            self.hold_calls(f"open_device({number}, uid={uid})\n"
                            f"alloc(DRAM, 1, {MIB}, device={number})")
        self.serve()
        self.wait_for(lambda: [device["ids"] for device in self.devices()] == [[0], [1, 5]],
                      "a chip of two numbers")
        self.open("view=cores&device=5")
        self.wait_text("main h2", "Device 1")
        self.assertTrue(self.browser.run("document.getElementById('notice').hidden"))


class Leftovers(unittest.TestCase):
    def test_a_browser_leaves_neither_folder_nor_process(self):
        browser = Browser()
        browser.open("about:blank")
        browser.close()
        end = time.monotonic() + DEADLINE_SECONDS
        while self._is_in_a_command_line(browser.profile) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertFalse(self._is_in_a_command_line(browser.profile))
        self.assertFalse(os.path.exists(browser.profile))

    @staticmethod
    def _is_in_a_command_line(folder):
        """Returns true if a process has the folder in its command line."""
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            with contextlib.suppress(OSError), open(path, "rb") as file:
                if folder.encode() in file.read():
                    return True
        return False


class OnTheWire(HttpCase):
    def test_headers_compression_and_tags(self):
        self.serve()
        status, headers, body = self.request("/", headers={"Accept-Encoding": "gzip"})
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Encoding"], "gzip")
        self.assertEqual(gzip.decompress(body).decode(), self.get("/"))
        self.assertTrue(headers["Content-Security-Policy"].startswith(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            "img-src 'self' data:"))
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(headers["Cache-Control"], "no-cache")
        status, _, body = self.request("/", headers={"If-None-Match": headers["ETag"]})
        self.assertEqual((status, body), (304, b""))
        status, _, _ = self.request("/", headers={"Host": "example.com"})
        self.assertEqual(status, 403)

    def test_all_files_together_are_small(self):
        self.serve()
        sizes, asked = {}, ["index.html"]
        while asked:
            name = asked.pop()
            if name in sizes:
                continue
            target = "/" if name == "index.html" else f"/{name}"
            status, _, body = self.request(target, headers={"Accept-Encoding": "gzip"})
            self.assertEqual(status, 200, name)
            sizes[name] = len(body)
            asked += re.findall(r'(?:href|src)="([\w.-]+)"|from \'\./([\w.]+)\'', self.get(target))
            asked = [one if isinstance(one, str) else one[0] or one[1] for one in asked]
        self.assertIn("time_plot.js", sizes)
        self.assertLess(sum(sizes.values()), 200_000, sizes)

    def test_changes_since_a_number(self):
        demo = self.start_demo("mesh8")
        self.serve()
        first = self.wait_for(lambda: (got := self.get_json("/api/v1/changes"))["devices"] and got,
                              "devices")
        self.assertEqual(len(first["devices"]), 8)
        snapshot = self.get_json("/api/v1/snapshot")
        for changed, device in zip(first["devices"], snapshot["devices"]):
            cores = device.pop("per_core")
            self.assertEqual(changed["device"], device)
            asked = self.get_json(f"/api/v1/changes?after={first['number']}&cores={changed['key']}")
            self.assertEqual(asked["cores"]["per_core"], cores)
        quiet = self.get(f"/api/v1/changes?after={first['number']}")
        self.assertLess(len(quiet), 400)
        demo.kill()

        def gone():
            answer = self.get_json(f"/api/v1/changes?after={first['number']}")
            return answer if answer.get("present") == [] else None
        later = self.wait_for(gone, "devices that are gone")
        self.assertFalse(later["all"])
        self.assertGreater(later["lists"]["postmortems"], first["lists"]["postmortems"])

    def test_files_of_a_folder_have_priority(self):
        with open(os.path.join(self.folder, "index.html"), "w", encoding="utf-8") as file:
            file.write("mine")
        self.serve("--assets", self.folder)
        self.assertEqual(self.get("/"), "mine")
        self.assertIn("SPDX", self.get("/app.js"))


class Token(PageCase):
    normal = ("401",)

    def give(self, token):
        self.browser.run(f"(document.querySelector('#token input').value = {json.dumps(token)},"
                         "document.querySelector('#token form').requestSubmit())")

    def serve_with(self, token):
        path = os.path.join(self.dir, "token")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
            file.write(token)
        self.start_demo("single")
        self.serve("--token-file", path)

    def test_the_page_asks_for_the_token_once(self):
        token = "0123456789abcdef0123"
        self.serve_with(token)
        self.open()
        self.wait_text("#token h2", "The server wants a token")
        self.give("wrong")
        self.wait_text("#token h2", "The server does not take this token")
        self.give(f" {token} ")
        self.wait_text("#main", "Device 0")
        self.assertEqual(self.text("#token"), [])
        self.browser.open(f"http://127.0.0.1:{self.port}/#")  # the same tab
        self.wait_text("#main", "Device 0")
        self.assertEqual(self.text("#token"), [])

    def test_a_token_that_is_impossible_in_a_header(self):
        token = "0123456789abcdef0123"
        pasted = token[:10] + "\u200b" + token[10:]  # a space without width
        self.serve_with(token)
        self.open()
        self.wait_text("#token h2", "The server wants a token")
        self.give(pasted)
        self.wait_text("#token [role=alert]", "non-ASCII")
        self.give(token)
        self.wait_text("#main", "Device 0")
        self.browser.run(f"sessionStorage.setItem('ttmem-token', {json.dumps(pasted)})")
        self.wait_text("#token h2", "The server does not take this token")
        self.give(token)
        self.wait_for(lambda: self.status("dataset.state") == "live", "a page that is live")


if __name__ == "__main__":
    unittest.main()
