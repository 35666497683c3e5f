# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures and tables of Ma et al. (2018) in perf/report and perf/tables, on measured rows."""
import copy
import json
import math
import os
import re
import sys
import unittest

import support

sys.path.insert(0, support.PERF)
from bench import report_data, results, spttm, tables  # noqa: E402

DRAWING = support.drawing_python()


def machine_of(contents):
    return results.Machine(results.machine_name(contents), contents)


class Measured(unittest.TestCase):
    def setUp(self):
        self.contents = results.load(support.MEASURED)
        self.machine = machine_of(self.contents)
        self.rows = {row["name"]: row for row in self.contents["rows"]}

    def row(self, strategy, rank=16, mode="all", tensor="uber"):
        return self.rows["spttm/%s:20000/double/%s/R%d/%s" % (
            tensor, strategy, rank, mode if mode == "all" else "mode%d" % mode)]

    def data(self, *machines):
        return report_data.Data(machines or [self.machine], "double", 16, [], None, None)

    def test_equation_3_by_hand(self):
        row = self.row("lanes", mode=2)
        self.assertEqual((row["nnz"], row["rank"]), (20000, 16))
        self.assertEqual(spttm.equation_3(row), 640000)
        self.assertEqual(spttm.equation_3(self.row("lanes")), 4 * 640000)  # uber has four modes
        self.assertEqual(spttm.equation_3(self.row("lanes", rank=32, tensor="nell-2")), 3 * 1280000)

    def test_equation_3_is_what_the_library_counts(self):
        rows = [row for row in self.contents["rows"] if row["kernel"] == "spttm" and row["rounds"]]
        self.assertGreater(len(rows), 90)
        for row in rows:
            self.assertAlmostEqual(row["flops"] / spttm.equation_3(row), 1, delta=1e-5, msg=row["name"])

    def test_speeds(self):
        found = spttm.speeds(self.machine.timed(), "double", 16)
        self.assertEqual(list(found), ["uber", "nell-2"])
        own, best, step = found["uber"]
        self.assertAlmostEqual(own, 2560000 / self.row("automatic")["median"], delta=1e-6 * own)
        times = {one: self.row(one)["median"] for one in spttm.STEPS}
        self.assertEqual(step, min(times, key=times.get))
        self.assertAlmostEqual(best, 2560000 / min(times.values()), delta=1e-6 * best)

    def test_what_each_strategy_adds(self):
        timed = self.machine.timed()
        self.assertEqual(spttm.ranks_of_steps(timed, "double"), [16, 32])
        over = spttm.over_naive(timed, "double", 32)
        self.assertEqual(list(over), list(spttm.STEPS + spttm.OWN))
        ratio = self.row("scratch", 32)["median"] / self.row("naive", 32)["median"]
        self.assertAlmostEqual(over["scratch"]["uber"], ratio)
        faster = [self.row("rank_blocked", 32, tensor=tensor)["median"] /
                  self.row("scratch", 32, tensor=tensor)["median"] for tensor in ("uber", "nell-2")]
        self.assertAlmostEqual(spttm.added(over, "scratch"), math.sqrt(faster[0] * faster[1]))
        self.assertIsNone(spttm.added({"coalesced": {"uber": 1.0}}, "rank_blocked"))

    def test_semi_sparse(self):
        found = spttm.semi_sparse(self.machine.timed(), "double", 16)
        times = [self.rows["sspttm/nell-2:20000/double/%s/R16" % strategy]["median"]
                 for strategy in ("as_sparse", "semi_sparse")]
        self.assertAlmostEqual(found["nell-2"], times[0] / times[1])

    def test_modes_by_the_fastest_of_the_five(self):
        whose, found = spttm.by_best(
            lambda strategies: spttm.modes(self.machine.timed(), "double", 16, strategies))
        self.assertEqual(whose, "the fastest of their five strategies")
        least = [min(self.row(strategy, mode=mode)["median"] for strategy in spttm.STEPS)
                 for mode in (0, 3)]
        self.assertAlmostEqual(found["uber"][3][1], least[1] / least[0])
        self.assertNotAlmostEqual(found["uber"][3][1], self.row("automatic", mode=3)["median"] /
                                  self.row("automatic", mode=0)["median"])

    def test_ranks_by_the_fastest_of_the_five(self):
        for row in self.contents["rows"]:  # as if automatic were the five, in mode 0
            if row["kernel"] == "spttm" and row["strategy"] == "automatic" and row["mode"] == "all":
                for strategy in spttm.STEPS:
                    factor = {"naive": 1.0, "scratch": 1.5 - row["rank"] / 32}.get(strategy, 2.0)
                    key = "spttm/x/%s/R%d" % (strategy, row["rank"])
                    self.machine.rows[key, row["threads"]] = dict(
                        row, name=key, strategy=strategy, mode=0, tensor=row["tensor"] + "0",
                        median=row["median"] * factor)
        found = spttm.by_rank(self.machine.timed(), "double", spttm.STEPS, 0)["nell-2"]
        for rank, factor in ((8, 1.0), (16, 1.0), (32, 0.5)):
            row = self.row("automatic", rank, tensor="nell-2")
            self.assertAlmostEqual(found[rank], 2 * 20000 * rank / row["median"] / factor, delta=1)
        # without one of the five the fastest is not known
        timed = [row for row in self.machine.timed()
                 if (row["strategy"], row["rank"], row["mode"]) != ("coalesced", 32, 0)]
        self.assertNotIn(32, spttm.by_rank(timed, "double", spttm.STEPS, 0)["nell-2"])

    def test_the_fastest_is_not_known_where_one_is_missing(self):
        timed = [row for row in self.machine.timed() if row["kernel"] != "spttm"
                 or (row["strategy"], row["tensor"]) != ("scratch", "nell-2:20000")]
        speeds = spttm.speeds(timed, "double", 16)
        self.assertIsNone(speeds["nell-2"][1])
        self.assertIsNotNone(speeds["nell-2"][0])
        self.assertIsNotNone(speeds["uber"][1])

    def test_modes_by_automatic(self):
        found = spttm.modes(self.machine.timed(), "double", 16, ("automatic",))
        self.assertEqual(list(found["uber"]), [0, 1, 2, 3])
        deviation, ratio = found["uber"][3]
        self.assertEqual(deviation, self.row("automatic", mode=3)["counters"]["fiber_deviation"])
        self.assertAlmostEqual(ratio, self.row("automatic", mode=3)["median"] /
                               self.row("automatic", mode=0)["median"])
        self.assertEqual(found["uber"][0][1], 1)
        marks = {"a": {0: (1.0, 1.0), 1: (2.0, 3.0), 2: (2.0, 0.5)}, "b": {0: (9.0, 1.0)}}
        self.assertEqual(spttm.agreeing(marks), (1, 2))  # equal deviations say nothing

    def test_ranks(self):
        whose, found = spttm.by_best(lambda strategies: spttm.by_rank(
            self.machine.timed(), "double", strategies, "all"))
        self.assertEqual(whose, "automatic")  # the five have two ranks only
        self.assertEqual(list(found["nell-2"]), [8, 16, 32, 64])
        row = self.row("automatic", 64, tensor="nell-2")
        self.assertAlmostEqual(found["nell-2"][64], 6 * 20000 * 64 / row["median"], delta=1)

    def test_blocks_are_tuned_and_named(self):
        for strategy in spttm.STEPS[1:]:
            for mode in (0, "all"):
                row = self.row(strategy, mode=mode)
                self.assertRegex(row["label"], r"^(\d+:\d+ ){%d}\d" % (4 if mode == "all" else 1))
                self.assertGreaterEqual(row["counters"]["tuning"], 1)
        self.assertNotIn("tuning", self.row("naive")["counters"])

    def test_hooi_by_machine(self):
        other = copy.deepcopy(self.contents)
        other["software"]["backend"], other["machine"]["gpu"] = "Cuda", {"name": "Imaginary"}
        for row in other["rows"]:
            if row["kernel"] == "tucker":
                row["median"] /= 4
        table = tables.hooi(self.data(self.machine, machine_of(other)))
        self.assertEqual(table.header[-1], "%s over Imaginary (Cuda)" % self.machine.name)
        self.assertEqual([row[0] for row in table.rows], ["uber:20000", "nell-2:20000"])
        self.assertEqual([row[-1] for row in table.rows], ["4.00", "4.00"])
        row = self.rows["tucker/uber:20000/double/R8"]
        parts = {name: value for name, value in row["counters"].items() if name.endswith(" ms")}
        self.assertEqual(len(parts), 9)  # a chain and singular vectors a mode, and the core
        chains = sum(parts["ttm_chain mode %d ms" % mode] for mode in range(4))
        self.assertEqual(table.rows[0][2], "%.3g (%.0f %%)" % (
            row["median"] * 1e3, 100 * chains / sum(parts.values())))
        for row in other["rows"]:  # other sizes are not compared
            if row["kernel"] == "tucker":
                row["nnz"] += 1
        table = tables.hooi(self.data(self.machine, machine_of(other)))
        self.assertEqual([row[-1] for row in table.rows], ["–"] * 4)


class Shown(support.Folder):
    def test_tables(self):
        out, _ = self.run_command(0, "tables", support.MEASURED)
        for line in ("what each strategy of SpTTM adds (double)", "| rank\\_blocked | ",
                     "| strategy | R = 16: time / naive | adds | adds, P100 | R = 32: ",
                     "HOOI, an iteration (double)", "| uber:20000 | 0.02 M | "):
            self.assertIn(line, out)

    @unittest.skipUnless(DRAWING, "there is no matplotlib")
    def test_pictures(self):
        self.run_command(0, "report", support.MEASURED, "--output", self.path("r.html"), "--pictures",
                         self.path("png"), python=DRAWING)
        wanted = {"spttm-speed-0.png", "spttm-steps-0.png", "sspttm.png", "spttm-modes-0.png",
                  "spttm-ranks-0.png"}
        self.assertLessEqual(wanted, set(os.listdir(self.path("png"))))
        with open(self.path("r.html"), encoding="utf-8") as file:
            source = file.read()
        figures = re.findall("<figure.*?</figure>", source, re.DOTALL)
        self.assertEqual(sum("Ma and others (2018)" in figure for figure in figures), 5)
        for figure in figures:
            with self.subTest("one sentence says how to read it"):
                words = re.search("<p>(.*?)</p>", figure, re.DOTALL).group(1)
                self.assertRegex(words, r"^[A-Z].{40,}\.$")
                self.assertEqual(words.count(". "), 0, words)

    def test_the_suite_has_all_of_it(self):
        found, _ = self.measure("r.json", "--quick", "--tensors", "uber:1000,nell-2:1000", "--parts",
                                "spttm,spttm_ranks,hooi")
        with open(support.MEASURED, encoding="utf-8") as file:
            measured = json.load(file)
        names = [{row["name"].replace(":1000", ":20000") for row in one["rows"]
                  if row["strategy"] != "chunks"}  # later than what was measured
                 for one in (found, measured)]
        self.assertEqual(names[0], names[1])


if __name__ == "__main__":
    unittest.main()
