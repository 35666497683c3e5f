#!/usr/bin/env python3
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suites of sporades-bench --paper: tensors, types of values, sweeps and sizes."""
import re
import sys
import types
import unittest

import support

sys.path.insert(0, support.PERF)
from bench import jobs, papers  # noqa: E402
from bench.originals import ORIGINALS  # noqa: E402

RATES = (600, 20000)


def options(**given):
    return types.SimpleNamespace(**dict({"tensors": None, "quick": False, "scale": None,
                                         "budget": 100.0}, **given))


def suite(paper, quick=False):
    return papers.PaperSuite(papers.PAPERS[paper], quick, RATES)


def look_alikes(paper, on_gpu, memory=1e13, parts=None, **given):
    given = options(**given)
    own = suite(paper, given.quick)
    found, left_out, smaller = own.look_alikes(given, own.chosen_parts(parts, given.quick), memory,
                                               on_gpu, 4)
    return dict(one.split(":") if ":" in one else (one, "") for one in found), left_out, smaller


class Suites(unittest.TestCase):
    def test_each_part_runs_somewhere(self):
        for paper in papers.PAPERS:
            for is_quick in (False, True):
                own = suite(paper, is_quick)
                parts = own.chosen_parts(None, is_quick)
                tensors, left_out, _ = own.look_alikes(options(quick=is_quick), parts, 1e13, True, 4)
                self.assertEqual(left_out, [])
                found = jobs.plan(parts, tensors, [], 4, True, own.common["rounds"])
                self.assertEqual({job.part["part"] for job in found},
                                 {part["part"] for part in papers.PAPERS[paper].parts}, paper)
                self.assertEqual(own.common["rounds"], 1 if is_quick else 2)
                for job in found:
                    re.compile(job.part["filter"])
                    self.assertIn("--scalars=" + papers.PAPERS[paper].scalar, job.arguments)

    def test_tensors_types_and_numbers_of_components(self):
        tables = {"ma18": ("float", "16", 11), "wij24": ("float", "32", 6), "and21": ("double", "16", 4),
                  "yan19": ("float", "1", 9), "ahm24": ("float", "16,32", 10)}
        for key, (scalar, ranks, count) in tables.items():
            paper = papers.PAPERS[key]
            self.assertEqual((paper.common["scalars"], paper.common["ranks"], len(paper.tensors)),
                             (scalar, ranks, count))
            self.assertLessEqual({base for _, base in paper.tensors}, set(ORIGINALS))
            self.assertLessEqual(set(paper.quick_tensors), {base for _, base in paper.tensors})

    def test_sweeps(self):
        by_part = {part["part"]: part for part in suite("wij24").chosen_parts(None, False)}
        for parallel in (1, 2, 4, 8, 16, 32, 64):
            self.assertIn("flycoo:0:%d" % parallel, by_part["parallel"]["strategies"].split(","))
            self.assertIn("flycoo-blocks:0:%d" % parallel, by_part["parallel"]["strategies"].split(","))
        self.assertIn("flycoo:82:32", by_part["partitions"]["strategies"].split(","))
        by_part = {part["part"]: part for part in suite("ma18").chosen_parts(None, False)}
        self.assertEqual(by_part["ranks"]["ranks"], "8,16,32,64")
        self.assertEqual(by_part["ranks"]["tensors"], ("choa", "nell-2", "uber", "enron"))

    def test_full_on_a_gpu(self):
        for paper in papers.PAPERS:
            found, _, smaller = look_alikes(paper, True)
            self.assertEqual(found, {base: str(ORIGINALS[base][1])
                                     for _, base in papers.PAPERS[paper].tensors})
            self.assertEqual(smaller, [])

    def test_the_budget_limits_hosts_and_quick_runs(self):
        found, _, _ = look_alikes("ma18", False)
        self.assertEqual(found["uber"], "200000")  # 100 s, 600 a second and core, 4 cores
        found, _, _ = look_alikes("ma18", True, quick=True)
        self.assertEqual(found, {"nell-2": "2000000", "uber": "2000000"})

    def test_scale(self):
        for on_gpu in (False, True):
            found, _, _ = look_alikes("yan19", on_gpu, scale=0.01)
            self.assertEqual(found["user-shopping-x40"], "299995")
            self.assertEqual(found["user-tagged-movies"], "5000")  # of 47,957
            found, _, _ = look_alikes("yan19", on_gpu, scale=1.0, tensors=["user-tagged-movies"])
            self.assertEqual(found, {"user-tagged-movies": "47957"})
            found, _, _ = look_alikes("yan19", on_gpu, scale=0.5, quick=True)
            self.assertEqual(found["user-rated-movies"], "427799")
            found, _, _ = look_alikes("and21", on_gpu, scale=0.5, tensors=["uber:77", "x.tns"])
            self.assertEqual(found, {"uber": "77", "x.tns": ""})  # what is stated counts

    def test_memory_limits_all(self):
        found, left_out, smaller = look_alikes("ma18", True, memory=2e10)
        self.assertEqual([name for name, _ in left_out], ["freebase-sampled"])
        self.assertIn(("delicious-3d", "20000000 nonzeros instead of 140126181 fit the memory of "
                       "20 GB"), smaller)
        self.assertEqual(found["delicious-3d"], "20000000")
        self.assertEqual(found["uber"], "3309490")
        _, left_out, smaller = look_alikes("wij24", True, memory=1.35e11)
        self.assertEqual((left_out, smaller), ([], []))  # an H200 holds them
        self.assertEqual(suite("ma18").share_of_memory(True), 0.9)
        self.assertEqual(suite("ma18").share_of_memory(False), 0.5)

    def test_a_run_on_more_nonzeros_gets_more_time(self):
        part, = suite("yan19").chosen_parts(["sptv"], False)
        weights = [jobs.Job(part, tensor, 1, 0, []).weight for tensor in ("a:10", "b:20000000", "c.tns")]
        self.assertAlmostEqual(weights[1] / weights[2], 2)
        self.assertAlmostEqual(weights[0] / weights[2], 1, places=5)

    def test_files_stand_for_look_alikes_of_their_names(self):
        part, = suite("ma18").chosen_parts(["tucker"], False)
        self.assertEqual(jobs.taken(part, ["choa:10", "uber:10", "folder/enron.tns"]),
                         ["choa:10", "folder/enron.tns"])


if __name__ == "__main__":
    unittest.main()
