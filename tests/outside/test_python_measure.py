# SPDX-License-Identifier: Apache-2.0
"""The Python package: the bytes that a block of code allocated, freed and held at its peak."""

import unittest

from python_case import ALONE, DEVICE, PythonCase


class Measured(PythonCase):
    ALLOC = """
        def dram(id, pages):
            ttmem.buffer_alloc(0, BufferType.DRAM, 12 * 1024 * pages, id << 24, id=id,
                               bytes_per_bank=1024 * pages)
        def l1(id, pages):
            ttmem.buffer_alloc(0, BufferType.L1, 64 * 1024 * pages, 1000000 + (id << 16), id=id,
                               bytes_per_bank=1024 * pages)
        def sampled(measure, times=2):
            import time
            end = measure.samples + times
            deadline = time.monotonic() + 15
            while measure.samples < end:
                assert time.monotonic() < deadline, "no samples"
                time.sleep(0.005)
        def figures(measure, kind):
            change = measure.change(kind)
            return [change.took_bytes, change.gave_back_bytes, change.net_bytes,
                    change.peak_bytes, change.peak_is_exact]
    """

    def measured(self, *code):
        return self.value(DEVICE, self.ALLOC, "open_device()",
                          "ttmem.set_reported(0, 0xff)  # all that there is", *code)

    def test_bytes_allocated_and_freed_are_exact_where_known(self):
        found = self.measured("""
            dram(1, 10)
            with ttmem.Measure(interval_s=None) as m:
                dram(2, 5)
                dram(3, 20)
                ttmem.buffer_free(0, BufferType.DRAM, 1)
                ttmem.buffer_free(0, BufferType.DRAM, 3)
                ttmem.program_place(0, 1, [Cb(105664, 4096, [(0, 0, 7, 7)])])
                ttmem.program_destroy(1)
            print(json.dumps([figures(m, "dram"), figures(m, "cb"), figures(m, "l1_total"),
                              figures(m, "l1"), m.samples, m.problem]))
        """)
        dram, cb, total, l1, samples, problem = found
        kib = 12 * 1024
        self.assertEqual(dram, [25 * kib, 30 * kib, -5 * kib, 35 * kib, True])
        self.assertEqual(cb, [64 * 4096, 64 * 4096, 0, 64 * 4096, True])
        self.assertEqual(total, cb)
        self.assertEqual(l1, [None, None, 0, None, False])  # no sample: an unknown peak
        self.assertEqual((samples, problem), (0, None))

    def test_a_peak_below_an_earlier_peak_is_unknown_without_samples(self):
        self.assertEqual(self.measured("""
            dram(1, 100)
            ttmem.buffer_free(0, BufferType.DRAM, 1)
            with ttmem.Measure(interval_s=None) as m:
                dram(2, 5)
            print(json.dumps(figures(m, "dram")))
        """), [None, None, 5 * 12 * 1024, None, False])

    def test_samples_find_peaks_below_an_earlier_peak(self):
        self.assertEqual(self.measured("""
            with ttmem.Measure(interval_s=0.01) as m:
                l1(1, 2)
                l1(2, 3)
                sampled(m)
                ttmem.buffer_free(0, BufferType.L1, 2)
            print(json.dumps(figures(m, "l1")))
        """), [5 * 65536, 3 * 65536, 2 * 65536, 5 * 65536, False])

    def test_with_another_process_on_the_device_a_peak_is_only_sampled(self):
        self.after(DEVICE, self.ALLOC, "open_device()", "dram(9, 100)")
        self.assertEqual(self.measured("""
            with ttmem.Measure(interval_s=0.01) as m:
                dram(1, 4)
                sampled(m)
            print(json.dumps(figures(m, "dram")))
        """), [4 * 12288, 0, 4 * 12288, 4 * 12288, False])

    def test_the_peak_of_another_process_does_not_count(self):
        self.assertEqual(self.measured("""
            ready, stop = os.pipe(), os.pipe()
            with ttmem.Measure(interval_s=None) as m:
                if os.fork() == 0:
                    open_device()
                    dram(9, 100)
                    ttmem.buffer_free(0, BufferType.DRAM, 9)
                    os.close(stop[1])
                    os.write(ready[1], b"x")
                    os.read(stop[0], 1)
                    os._exit(0)
                os.read(ready[0], 1)
                dram(1, 4)
            os.close(stop[1])
            print(json.dumps(figures(m, "dram")))
        """), [None, None, 4 * 12288, None, False])

    def test_a_device_opened_or_closed_inside_counts(self):
        found = self.measured("""
            l1(1, 2)
            with ttmem.Measure(interval_s=0.01) as m:
                sampled(m)
                ttmem.device_close(0)
                open_device(5)
                ttmem.kernel_load(5, 1, 1000)
            print(json.dumps([figures(m, "l1"), m.change("kernel", 5).net_bytes,
                              m.change("dram", 7).net_bytes]))
        """)
        self.assertEqual(found, [[0, 2 * 65536, -2 * 65536, 2 * 65536, False], 1000, 0])

    def test_watch_prints_its_report_and_passes_exceptions_on(self):
        printed = self.output(DEVICE, self.ALLOC, """
            open_device()
            try:
                with ttmem.watch("load weights", interval_s=None, file=sys.stdout):
                    dram(1, 1024)
                    raise KeyError("x")
            except KeyError:
                print("passed")
        """)
        first, head, dram, last = printed.splitlines()
        self.assertRegex(first, r"^load weights: \d+\.\d{3} s$")
        self.assertEqual(head.split(), ["device", "0", "took", "gave", "back", "net", "peak"])
        self.assertEqual(dram.split("  ")[1:2] + dram.split()[1:],
                         ["dram", "12.00", "MiB", "0.00", "MiB", "+12.00", "MiB", "12.00", "MiB"])
        self.assertEqual(last, "passed")

    def test_a_sampled_peak_is_marked(self):
        printed = self.output(DEVICE, self.ALLOC, """
            open_device()
            with ttmem.watch("x", interval_s=0.01, file=sys.stdout) as m:
                l1(1, 16)
                sampled(m)
        """)
        self.assertRegex(printed, r"\n  l1 +>= 1\.00 MiB +>= 0\.00 MiB +\+1\.00 MiB +>= 1\.00 MiB")
        self.assertRegex(printed, r">=: from \d+ samples, one every 0\.01 s")

    def test_an_obstacle_to_measuring_is_one_sentence_and_no_exception(self):
        body = """
            with ttmem.watch("load", file=__import__("sys").stdout) as m:
                print("ran")
            assert m.change("dram").net_bytes is None and m.changes == []
        """
        cases = ((("import ttmem",), self.found(), "tracking is off"),
                 ((ALONE,), self.env, "libttmem.so is nowhere to be found"),
                 (("import ttmem",), {**self.found_and_tracked(), "TTMEM_BIN": "/nowhere"},
                  "TTMEM_BIN names /nowhere"))
        for before, env, reason in cases:
            ran, said = self.output(*before, body, env=env).splitlines()
            self.assertEqual(ran, "ran")
            self.assertTrue(said.startswith(f"load: not measured: {reason}"), said)

    def test_no_process_is_left_behind(self):
        self.assertEqual(self.measured("""
            with ttmem.Measure(interval_s=0.01) as m:
                sampled(m)
            try:
                os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                print(json.dumps("none"))
        """), "none")

    def test_a_child_that_leaves_the_block_does_no_harm(self):
        self.assertEqual(self.measured("""
            with ttmem.Measure(interval_s=0.01) as m:
                pid = os.fork()
                if pid:
                    assert os.waitpid(pid, 0)[1] == 0
                    dram(1, 4)
                    sampled(m)
            if pid == 0:
                os._exit("fork" not in m.problem)
            print(json.dumps(figures(m, "dram")))
        """), [4 * 12288, 0, 4 * 12288, 4 * 12288, True])


if __name__ == "__main__":
    unittest.main()
