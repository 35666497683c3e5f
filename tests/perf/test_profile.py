#!/usr/bin/env python3
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/profile: reading what ncu prints (profile/ncu.csv is written by its documented format: two
repetitions of flycoo-blocks, then two of alto-atomic), the command with a script in place of ncu,
and the claims that are read from its results."""
import os
import re
import stat
import sys
import unittest

import support

sys.path.insert(0, support.PERF)
from bench import claims, ncu, profile, results  # noqa: E402

RECORDED = os.path.join(support.HERE, "profile", "ncu.csv")
DENIED = ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
          "Performance Counters on the target device 0.")
with open(RECORDED, encoding="utf-8") as recorded:
    TEXT = recorded.read()
# Every option is taken; the program runs, and the log is a copy of $NCU_LOG.
NCU = """#!/bin/sh
echo "$OMP_WAIT_POLICY" "$@" >> %s
while [ $# -gt 0 ]; do
  case "$1" in
    --log-file) log="$2"; shift 2;;
    --csv) shift;;
    --*) shift 2;;
    *) break;;
  esac
done
[ -z "$NCU_LOG" ] || cp "$NCU_LOG" "$log"
[ -z "$NCU_STATUS" ] || { echo "an error of ncu" >&2; exit "$NCU_STATUS"; }
[ -z "$NCU_PID" ] || { FAKE_DELAY=60 "$@" & echo $! > "$NCU_PID"; wait; }
exec "$@"
"""


class Reading(unittest.TestCase):
    def test_means_are_weighted_by_time(self):
        found = ncu.benchmarks(TEXT)
        self.assertEqual([one["kernels"] for one in found], [2, 2, 1, 1])
        for one in found[:2]:  # 0.1 ms beside 0.3 ms; that of ProfiledBenchmark is not among them
            self.assertAlmostEqual(one["seconds"], 4e-4)
            self.assertAlmostEqual(one["sm_throughput"], 40)
            self.assertAlmostEqual(one["l1_throughput"], 50)
            self.assertAlmostEqual(one["l1_hit_rate"], 60)
        self.assertAlmostEqual(found[2]["seconds"], 1e-3)
        self.assertEqual([found[3][name] for name in ncu.METRICS], [20, 25, 36])

    def test_what_ncu_does_not_know_is_left_out(self):
        found = ncu.benchmarks(TEXT.replace('"0.00","20.00","10.00"', '"n/a","nan","10.00"'))
        self.assertAlmostEqual(found[0]["l1_hit_rate"], 80)
        self.assertAlmostEqual(found[0]["l1_throughput"], 60)
        self.assertAlmostEqual(found[0]["sm_throughput"], 40)
        found = ncu.benchmarks(TEXT.replace('"36.00"', '"n/a"'))
        self.assertNotIn("l1_hit_rate", found[2])
        found = ncu.benchmarks(TEXT.replace('"1,000,000"', '"n/a"'))
        self.assertEqual(found[2], {"seconds": 0, "kernels": 0})

    def test_units_and_words_of_the_program(self):
        for unit, factor in (("us", 1e3), ("usecond", 1e3), ("nsecond", 1), ("ms", 1e6)):
            found = ncu.benchmarks(TEXT.replace('"","ns","%"', '"","%s","%%"' % unit))
            self.assertAlmostEqual(found[2]["seconds"], 1e-3 * factor)
        found = ncu.benchmarks("a word, another\n\n" + TEXT.replace('"4","4711"', 'x,y\n"4","4711"'))
        self.assertEqual(found, ncu.benchmarks(TEXT))

    def test_bad_input(self):
        head = next(line for line in TEXT.splitlines() if line.startswith('"ID"'))
        first = next(line for line in TEXT.splitlines() if line.startswith('"0"'))
        for text, words in (
                ("", "ncu has printed no rows"), (head + "\n", "ncu has printed no rows"),
                ("==WARNING== No kernels were profiled.\n", "ncu has printed no rows"),
                (DENIED + "\n" + head, "may not read the GPU's counters: ERR_NVGPUCTRPERM - The user"),
                ("==ERROR== The application returned an error code (2).\n",
                 r"^ncu: The application returned an error code \(2\).$"),
                (TEXT.replace(ncu.METRICS["l1_hit_rate"], "x"),
                 "no column 'l1tex__t_sector_hit_rate.pct'"),
                (TEXT.replace('"ns"', '"cycle"'), "times in 'cycle'"),
                (re.sub(r'\n"","",.*', "", TEXT), "no row of units"),
                (TEXT.replace(first + "\n", ""), "a kernel before the first benchmark: void Kokkos")):
            with self.subTest(words), self.assertRaisesRegex(results.Bad, words):
                ncu.benchmarks(text)

    def test_benchmarks_are_those_of_the_program(self):
        def printed(strategy, **more):
            name = "mttkrp/x/float/%s/R32/all/iterations:1/manual_time" % strategy
            return dict({"name": name, "run_name": name, "run_type": "iteration", "real_time": 5.0,
                         "time_unit": "ms", "profiled": 1.0, "bytes/s": 1e9}, **more)
        four = [printed("a"), printed("a"), printed("b", label="l"), printed("b")]
        refused = printed("c", error_occurred=True, error_message="too large", profiled=0)
        mean = printed("a", run_type="aggregate")
        other = printed("d", profiled=0)
        found = profile.samples([four[0], four[1], mean, refused, other, four[2], four[3]], TEXT)
        self.assertEqual([one["name"].split("/")[3] for one in found], ["a", "a", "c", "b", "b"])
        self.assertTrue(all(one["name"].startswith("profiled_mttkrp/x/") for one in found))
        self.assertAlmostEqual(found[0]["real_time"], 4e-4)
        self.assertEqual((found[0]["time_unit"], found[3]["label"]), ("s", "l"))
        self.assertNotIn("bytes/s", found[0])
        self.assertEqual(found[2]["error_message"], "too large")
        self.assertEqual(len(profile.samples([refused], "")), 1)
        for benchmarks, text, words in (
                (four[:3], TEXT, "more benchmarks than"), (four + four[:1], TEXT, "fewer benchmarks"),
                ([], TEXT, "no benchmark was profiled"), ([other], TEXT, "no benchmark was profiled"),
                ([], DENIED, "ERR_NVGPUCTRPERM"), (four, DENIED, "ERR_NVGPUCTRPERM")):
            with self.subTest(words), self.assertRaisesRegex(results.Bad, words):
                profile.samples(benchmarks, text)


class Command(support.Folder):
    def setUp(self):
        super().setUp()
        self.ncu = self.path("ncu")
        with open(self.ncu, "w", encoding="utf-8") as file:
            file.write(NCU % self.path("calls"))
        os.chmod(self.ncu, os.stat(self.ncu).st_mode | stat.S_IXUSR)

    def profile(self, status, *arguments, log=RECORDED, strategies="flycoo-blocks,alto-atomic",
                backend="Cuda", **environment):
        """(the results or None, stderr)"""
        _, err = self.run_command(
            status, "profile", "--program", support.FAKE, "--ncu", self.ncu, "--output",
            self.path("p.json"), "--tensors", "uber:10000", "--strategies", strategies, *arguments,
            FAKE_BACKEND=backend, NCU_LOG=log, **environment)
        self.assert_no_litter()
        return (self.load("p.json") if os.path.exists(self.path("p.json")) else None), err

    def text(self, name, words):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(words)
        return self.path(name)

    def test_a_results_file(self):
        found, _ = self.profile(0)
        rows = {row["name"]: row for row in found["rows"]}
        self.assertEqual(sorted(rows), ["profiled_mttkrp/uber:10000/float/%s/R32/all" % strategy
                                        for strategy in ("alto-atomic", "flycoo-blocks")])
        row = rows["profiled_mttkrp/uber:10000/float/flycoo-blocks/R32/all"]
        self.assertEqual((row["kernel"], row["strategy"], row["rank"], row["mode"], row["nnz"]),
                         ("profiled_mttkrp", "flycoo-blocks", 32, "all", 10000))
        self.assertEqual(row["counters"], {"sm_throughput": 40, "l1_throughput": 50,
                                           "l1_hit_rate": 60, "kernels": 2})
        self.assertEqual(row["rounds"], [[4e-4, 4e-4]])
        self.assertTrue(found["complete"])
        self.assertIn("--strategies flycoo-blocks,alto-atomic", " ".join(found["command"]))
        self.assertIn("--filter ^mttkrp/.*/all/", " ".join(found["command"]))
        self.assertIn("sm__throughput", " ".join(found["settings"]["ncu"]))
        with open(self.path("calls"), encoding="utf-8") as file:
            call, = file.read().splitlines()
        self.assertTrue(call.startswith("PASSIVE --profile-from-start off"), call)
        self.assertRegex(call, r"fake_sporades_perf.py .*--benchmark_filter=\^mttkrp/\.\*/all/ .*"
                               r"--strategies=flycoo-blocks,alto-atomic .*--profile")

    def test_threads_are_those_of_other_results_of_the_machine(self):
        found, _ = self.profile(0)
        own, _ = self.measure("own.json", "--quick", "--tensors", "uber:10000", FAKE_BACKEND="Cuda")
        self.assertEqual({row["threads"] for row in found["rows"]},
                         {row["threads"] for row in own["rows"]})

    def test_the_commands_of_perf_read_the_file(self):
        self.profile(0)
        self.measure("own.json", "--paper", "wij24", "--tensors", "uber:10000", FAKE_BACKEND="Cuda")
        out, _ = self.run_command(0, "claims", self.path("own.json"), self.path("p.json"))
        for words, cell in (("use of multiprocessors", "holds: 2 "), ("use of L1", "holds: 2 "),
                            ("hit rate of L1", "holds: 1.67 ")):
            line, = (line for line in out.splitlines() if "| %s: mttkrp, flycoo-blocks over alto"
                     "-atomic |" % words in line)
            self.assertIn("| %s(0.01 M nonzeros) |" % cell, line)
        before, _ = self.run_command(0, "tables", self.path("own.json"))
        after, _ = self.run_command(0, "tables", self.path("own.json"), self.path("p.json"))
        self.assertEqual(before.split("\n### ")[2:], after.split("\n### ")[2:])
        self.run_command(0, "compare", self.path("p.json"), self.path("p.json"))

    def test_rounds_and_repetitions(self):
        found, _ = self.profile(0, "--rounds", "2")
        self.assertEqual([len(row["rounds"]) for row in found["rows"]], [2, 2])
        _, err = self.profile(2, "--repetitions", "3", "--output", self.path("three.json"))
        self.assertIn("ncu looked at fewer benchmarks than sporades_perf ran", err)
        self.assertFalse(os.path.exists(self.path("three.json")))

    def test_one_tensor_that_fails_leaves_the_other(self):
        found, err = self.profile(1, "--tensors", "uber:10000,nips:10000",
                                  FAKE_CRASH="mttkrp/nips")
        self.assertEqual(len(found["rows"]), 2)
        self.assertIn("error: out of memory", err)
        self.assertEqual([one["tensor"] for one in found["left_out"]], ["nips:10000"])
        self.assertFalse(found["complete"])

    def test_what_lacks_time_is_ended_with_its_program(self):
        found, err = self.profile(2, "--budget", "3", NCU_PID=self.path("pid"))
        self.assertIsNone(found)
        self.assertIn("its share of the time was over", err)
        with open(self.path("pid"), encoding="utf-8") as file:
            state = "/proc/%s/stat" % file.read().strip()
        if os.path.exists(state):
            with open(state, encoding="utf-8") as file:
                self.assertEqual(file.read().rpartition(")")[2].split()[0], "Z")

    def test_bad_input(self):
        for arguments, log, words in (
                ((), self.text("denied", DENIED + "\n"),
                 "profile: error: ncu may not read the GPU's counters: ERR_NVGPUCTRPERM - The user"),
                ((), self.text("none", "==WARNING== No kernels were profiled.\n"),
                 "profile: error: ncu has printed no rows"),
                ((), "", "profile: error: ncu has printed no rows"),
                (("--filter", "^nothing"), RECORDED, "no benchmark was profiled"),
                (("--ncu", self.path("absent")), RECORDED, "there is no program"),
                (("--ncu", self.folder), RECORDED, "there is no program"),
                (("--program", self.path("absent")), RECORDED, "there is no program"),
                (("--program", "/bin/false"), RECORDED, "/bin/false does not run"),
                (("--output", self.path("no/folder.json")), RECORDED, "cannot be written"),
                (("--strategies", ""), RECORDED, "there is nothing in the list ''"),
                (("--ranks", "0"), RECORDED, "'0' is no number from 1"),
                (("--scalars", "half"), RECORDED, "there is no type 'half'")):
            with self.subTest(words):
                found, err = self.profile(2, *arguments, log=log)
                self.assertIsNone(found)
                self.assertIn(words, err)
        _, err = self.profile(2, backend="OpenMP")
        self.assertIn("was built for OpenMP: ncu looks at CUDA only", err)
        _, err = self.profile(2, log="", NCU_STATUS="9")
        self.assertIn("profile: error: an error of ncu", err)
        _, err = self.profile(2, log=self.path("denied"), NCU_STATUS="9")
        self.assertIn("ERR_NVGPUCTRPERM", err)


class Claims(support.Folder):
    def test_shares_of_one_strategy_over_another(self):
        def row(strategy, tensor="x", **counters):
            name = "profiled_mttkrp/%s/float/%s/R32/all" % (tensor, strategy)
            return dict(name=name, kernel="profiled_mttkrp", native=False, tensor=tensor,
                        scalar="float", strategy=strategy, rank=32, mode="all", threads=2, nnz=100,
                        noise=0.02, dims=[4, 5], rounds=[[1.0]], median=1.0, counters=counters)
        rows = [row("a", sm_throughput=60.0, l1_throughput=30.0, l1_hit_rate=10.0),
                row("b", sm_throughput=40.0, l1_throughput=60.0),
                row("a", "y", sm_throughput=60.0), row("b", "y", sm_throughput=0.0)]
        machine = results.Machine("m", {"software": {"backend": "Cuda"}, "rows": rows, "machine": {},
                                        "date": "2026-01-02T03:04:05Z"})

        def numbers(words):
            return [one.value for one in claims.values(words, machine, [machine])]
        self.assertEqual(numbers("use of multiprocessors: mttkrp, a over b"), [1.5])
        self.assertEqual(numbers("use of L1: mttkrp, a over b"), [0.5])
        self.assertEqual(numbers("hit rate of L1: mttkrp, a over b"), [])
        self.assertEqual(numbers("mttkrp: a over b"), [])  # no times of theirs


if __name__ == "__main__":
    unittest.main()
