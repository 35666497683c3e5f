# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/sporades-bench, with a program that prints what sporades_perf would."""
import os
import signal
import statistics
import subprocess
import time
import unittest

import support

SMALL = ("--quick", "--tensors", "uber:1000")


class Bench(support.Folder):
    def test_results_are_complete(self):
        results, err = self.measure("r.json", "--quick")
        self.assertTrue(results["complete"])
        self.assertEqual(results["left_out"], [])
        self.assertEqual(results["software"]["kokkos"], "4.6.99")
        self.assertEqual(results["settings"]["threads"], 4)
        self.assertIn("--quick", results["command"])
        kernels = {row["kernel"] for row in results["rows"]}
        self.assertLessEqual(
            {"stream_triad", "gather", "mttkrp", "phi", "pi", "spttm", "sspttm", "sptv", "ttm_chain",
             "plan", "build", "cp_als", "cp_apr", "tucker", "read"}, kernels)
        for row in results["rows"]:
            if row["rounds"]:
                times = [one for samples in row["rounds"] for one in samples]
                self.assertEqual(len(row["rounds"]), 2, row["name"])
                self.assertAlmostEqual(row["median"], statistics.median(times), delta=1e-5 * times[0])
                self.assertEqual(row["min"], min(times))
                self.assertGreaterEqual(row["noise"], 0.02)
        self.assertIn("rows", err)
        self.assert_no_litter()

    def test_names_are_taken_apart(self):
        results, _ = self.measure("r.json", *SMALL)
        row = support.rows_by_name(results)[("mttkrp/uber:1000/double/sorted/R16/mode2", 4)]
        wanted = {"kernel": "mttkrp", "native": False, "tensor": "uber:1000", "nnz": 1000,
                  "dims": [183, 24, 1140, 1717], "scalar": "double", "strategy": "sorted", "rank": 16,
                  "mode": 2}
        self.assertEqual({name: row[name] for name in wanted}, wanted)
        self.assertAlmostEqual(row["bytes"], 1000 * 16 + 3064 * 16 * 8, delta=1)
        self.assertAlmostEqual(row["flops"], 4 * 16 * 1000, delta=1)
        self.assertAlmostEqual(row["bytes_per_second"] * row["median"], row["bytes"],
                               delta=1e-4 * row["bytes"])
        rows = support.rows_by_name(results)
        self.assertTrue(rows[("stream/native_triad/double", 4)]["native"])
        self.assertEqual(rows[("stream/native_triad/double", 4)]["kernel"], "stream_triad")
        self.assertEqual(rows[("mttkrp_native/uber:1000/double/atomic/R16/all", 4)]["kernel"], "mttkrp")
        self.assertEqual(rows[("mttkrp/uber:1000/double/automatic/R16/all", 1)]["threads"], 1)
        self.assertEqual(rows[("ttm_chain/uber:1000/double/R8/fused/mode:1", 4)]["mode"], 1)
        self.assertGreater(rows[("build/uber:1000/double/csf", 4)]["storage_bytes"], 0)
        gradient = rows[("loss_gradient/uber:1000/double/poisson/R16/all", 4)]
        self.assertEqual((gradient["kernel"], gradient["strategy"], gradient["rank"], gradient["mode"]),
                         ("loss_gradient", "poisson", 16, "all"))

    def test_nothing_names_the_machine_or_its_folders(self):
        file = self.path("x.tns")
        with open(file, "w", encoding="ascii") as written:
            written.write("1 1 1 1.0\n")
        results, _ = self.measure("r.json", "--parts", "stream,mttkrp,read", "--files", file, "--quick")
        with open(self.path("r.json"), encoding="utf-8") as written:
            text = written.read()
        for secret in ("must-not-be-kept", "must/not/be/kept", self.folder, support.HERE,
                       os.uname().nodename):
            self.assertNotIn('"%s' % secret, text)
            self.assertNotIn(secret + "/", text)
        self.assertIn(("read/x.tns", 4), support.rows_by_name(results))
        self.assertIn(("mttkrp/x.tns/double/sorted/R16/all", 4), support.rows_by_name(results))

    def test_what_a_strategy_refuses_is_kept_with_its_words(self):
        results, _ = self.measure("r.json", "--quick", "--parts", "sptv", "--tensors", "nell-2:1000")
        row = support.rows_by_name(results)[("sptv/nell-2:1000/double/cfb/mode0", 4)]
        self.assertEqual(row["rounds"], [])
        self.assertIn("too many buckets", row["refused"])

    def test_interrupt_leaves_what_was_measured(self):
        children = {}
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            children[number] = subprocess.Popen(
                support.command("sporades-bench", *SMALL, "--program", support.FAKE, "--output",
                                self.path("r%d.json" % number), "--budget", "900"),
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                env=dict(os.environ, FAKE_DELAY="0.1", OMP_NUM_THREADS="4"))
        for child in children.values():
            for _ in range(2):
                child.stderr.readline()  # the jobs without tensors are over
        time.sleep(2)
        for number, child in children.items():
            name = "r%d.json" % number
            self.assertFalse(os.path.exists(self.path(name)), "it appears at the end only")
            child.send_signal(number)
            child.communicate(timeout=20)
            self.assertEqual(child.returncode, 128 + number)
            results = self.load(name)
            self.assertFalse(results["complete"])
            self.assertGreater(len(results["rows"]), 3)
            self.assertLess(len(results["rows"]), 100)
            of_tensors = [row for row in results["rows"] if row["tensor"]]
            self.assertTrue(of_tensors and all(row["dims"] for row in of_tensors))
            self.run_command(0, "tables", self.path(name))
        self.assert_no_litter()

    def test_the_budget_holds(self):
        start = time.monotonic()
        results, err = self.measure("r.json", *SMALL, "--parts", "stream,gather", "--budget", "5",
                                    FAKE_DELAY="0.4")
        self.assertIn("of 4 runs lacked time: a longer --budget measures more", err)
        self.assertLess(time.monotonic() - start, 17)
        self.assertFalse(results["complete"])
        self.assertTrue(all(one["why"] for one in results["left_out"]))
        self.assertGreater(len(results["rows"]), 1)

    def test_memory_bounds_look_alikes(self):
        results, _ = self.measure("r.json", "--parts", "mttkrp", "--memory", "2G", "--tensors",
                                  "nell-1,uber", "--quick")
        self.assertEqual([one["tensor"] for one in results["left_out"]], ["nell-1"])
        self.assertIn("memory", results["left_out"][0]["why"])
        tensors = {row["tensor"] for row in results["rows"]}
        self.assertEqual(len(tensors), 1)
        less, _ = self.measure("s.json", "--parts", "mttkrp", "--memory", "40M", "--tensors", "uber",
                               "--quick")
        self.assertLess(less["rows"][0]["nnz"], results["rows"][0]["nnz"])

    def test_a_part_that_fails_is_said(self):
        results, err = self.measure("r.json", *SMALL, "--parts", "stream,phi", status=1,
                                    FAKE_CRASH="phi/.*/alto/")
        self.assertIn("out of memory", err)
        self.assertIn("out of memory", results["left_out"][0]["why"])
        self.assertIn(("stream/triad/double", 4), support.rows_by_name(results))
        self.assertIn(("phi/uber:1000/double/pull/R16/all", 4), support.rows_by_name(results))

    def test_bad_input(self):
        for words, arguments in (
                ("no program", ("--program", "nothing")), ("no file", ("--files", "nothing.tns")),
                ("cannot be written", ("--output", "no/such/folder.json")),
                ("there is no part", ("--parts", "streem")),
                ("seconds", ("--budget", "soon")), ("bytes", ("--memory", "much")),
                ("bytes", ("--memory", "0.5")), ("bytes", ("--memory", "9" * 400)),
                ("cannot be written", ("--output", "")), ("cannot be written", ("--output", "x/"))):
            options = ["--quick", "--program", support.FAKE, "--output", self.path("r.json")]
            _, err = self.run_command(2, "sporades-bench", *options, *arguments)
            self.assertIn(words, err)
        self.assertFalse(os.path.exists(self.path("r.json")))

    def test_what_was_there_stays_where_nothing_is_measured(self):
        self.save("r.json", {"old": 1})
        self.run_command(1, "sporades-bench", *SMALL, "--program", support.FAKE, "--output",
                         self.path("r.json"), "--parts", "stream", "--budget", "900", FAKE_CRASH="stream/copy")
        self.assertEqual(self.load("r.json"), {"old": 1})

    def test_no_time_is_no_row_with_times(self):
        results, _ = self.measure("r.json", *SMALL, "--parts", "stream", FAKE_SLOWER="/copy/=nan")
        row = support.rows_by_name(results)[("stream/copy/double", 4)]
        self.assertEqual((row["rounds"], row["refused"]), ([], "no time was measured"))
        self.run_command(0, "tables", self.path("r.json"))

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
    def test_results_are_kept_where_the_disk_is_full(self):
        os.symlink("/dev/full", self.path("full.json"))
        os.mkdir(self.path("tmp"))
        _, err = self.run_command(2, "sporades-bench", *SMALL, "--program", support.FAKE, "--output",
                                  self.path("full.json"), "--parts", "stream", "--budget", "900",
                                  TMPDIR=self.path("tmp"))
        self.assertIn("full.json: No space left on device; the results are in ", err)
        kept, = os.listdir(self.path("tmp"))
        self.assertGreater(len(self.load(os.path.join("tmp", kept))["rows"]), 3)

    def test_links_devices_and_permissions_of_outputs(self):
        self.save("target.json", {})
        os.chmod(self.path("target.json"), 0o640)
        os.symlink("target.json", self.path("link.json"))
        self.measure("link.json", *SMALL, "--parts", "stream")
        self.assertTrue(os.path.islink(self.path("link.json")))
        self.assertTrue(self.load("target.json")["rows"])
        self.assertEqual(os.stat(self.path("target.json")).st_mode & 0o777, 0o640)
        os.mkfifo(self.path("pipe"))
        reader = os.open(self.path("pipe"), os.O_RDONLY | os.O_NONBLOCK)
        self.run_command(0, "sporades-bench", *SMALL, "--program", support.FAKE, "--output",
                         self.path("pipe"), "--parts", "stream", "--budget", "900")
        self.assertIn(b"sporades-bench", os.read(reader, 100))
        os.close(reader)
        self.assert_no_litter()

    def test_names_of_files_that_are_no_utf_8(self):
        file = os.path.join(os.fsencode(self.folder), b"caf\xe9.tns")
        with open(file, "w", encoding="ascii") as written:
            written.write("1 1 1 1.0\n")
        results, _ = self.measure("r.json", "--quick", "--tensors", "", "--parts", "stream", "--files",
                                  os.fsdecode(file))
        self.assertIn("caf?.tns", results["command"])

    def test_another_program(self):
        for words in ("", '{"benchmarks": [', '{\n  "context": 5,\n  "benchmarks": ['):
            with open(self.path("program"), "w", encoding="ascii") as file:
                file.write("#!/bin/sh\ncat << 'E'\n%s\nE\n" % words)
            os.chmod(self.path("program"), 0o755)
            _, err = self.run_command(2, "sporades-bench", *SMALL, "--program", self.path("program"),
                                      "--output", self.path("r.json"))
            self.assertIn("it printed no results", err)


@unittest.skipUnless(os.environ.get("SPORADES_PERF"), "sporades_perf is not built")
class RealProgram(support.Folder):
    def test_names_and_counters_are_those_that_reports_read(self):
        self.run_command(0, "sporades-bench", "--quick", "--tensors", "uber:2000", "--parts",
                         "mttkrp,build", "--budget", "60", "--program", os.environ["SPORADES_PERF"],
                         "--output", self.path("r.json"))
        results = self.load("r.json")
        rows = {row["name"]: row for row in results["rows"]}
        row = rows["mttkrp/uber:2000/double/automatic/R16/mode0"]
        self.assertEqual(row["dims"], [183, 24, 1140, 1717])
        self.assertLess(abs(row["nnz"] - 2000), 200)
        for name in ("bytes", "flops", "triad", "label"):
            self.assertTrue(row[name], name)
        self.assertGreater(rows["build/uber:2000/double/alto"]["storage_bytes"], 0)
        self.assertGreaterEqual(results["settings"]["threads"], 1)

    def test_lengths_of_fibers_and_equation_3_of_ma_et_al(self):
        with open(self.path("x.tns"), "w", encoding="ascii") as file:
            file.write("1 1 1\n2 1 2\n2 2 3\n2 3 4\n")
        self.run_command(0, "sporades-bench", "--quick", "--tensors", "", "--files", "x.tns", "--parts",
                         "spttm", "--budget", "60", "--program", os.environ["SPORADES_PERF"],
                         "--output", self.path("r.json"))
        rows = {row["name"]: row for row in self.load("r.json")["rows"]}
        for mode, mean, deviation in ((0, 4 / 3, (2 / 9) ** 0.5), (1, 2, 1)):
            row = rows["spttm/x.tns/double/fine_grained/R16/mode%d" % mode]
            self.assertAlmostEqual(row["counters"]["fiber_length"], mean, places=4)
            self.assertAlmostEqual(row["counters"]["fiber_deviation"], deviation, places=4)
            self.assertAlmostEqual(row["flops"], 2 * 4 * 16, delta=1e-3)
            self.assertGreaterEqual(row["counters"]["tuning"], 1)
            self.assertRegex(row["label"], r"^\d+:\d+ ")


if __name__ == "__main__":
    unittest.main()
