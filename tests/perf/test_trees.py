#!/usr/bin/env python3
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/bench/trees.py and perf/train_selector.py: trees against all splits, tensors left out, and the
header that a tree is written to."""
import itertools
import json
import math
import os
import random
import re
import sys
import unittest

import support

sys.path.insert(0, support.PERF)
from bench import trees  # noqa: E402
from bench.trees import Case  # noqa: E402
from test_claims import numbers  # noqa: E402

TREES = os.path.join(support.PERF, "..", "kernels", "detail", "selector", "trees.hpp")


def random_cases(count, seed, tensors=6):
    """Features "x" and "y" of few values; times of three choices."""
    chance = random.Random(seed)
    return [Case("t%d" % chance.randrange(tensors),
                 {"x": chance.randrange(8), "y": chance.randrange(5)},
                 {choice: chance.uniform(1, 3) for choice in "abc"}) for _ in range(count)]


def entropy(cases):
    """By the definition, times the weight."""
    whole = sum(case.weight for case in cases)
    shares = [sum(case.weight for case in cases if case.best == choice) / whole for choice in "abc"]
    return -whole * sum(share * math.log2(share) for share in shares if share > 0)


class Trees(unittest.TestCase):
    def test_regret_and_weight(self):
        case = Case("t", {}, {"a": 2.0, "b": 3.0, "c": 12.0})
        self.assertEqual([case.regret(choice) for choice in "abcd"], [1.0, 1.5, 6.0, 6.0])
        self.assertAlmostEqual(case.weight, math.log(4) + 1e-6)

    def test_the_best_of_all_splits(self):
        for seed in range(40):
            cases = random_cases(5 + seed, seed)
            gains = {}
            for feature, at in itertools.product("xy", [k + 0.5 for k in range(8)]):
                halves = [[one for one in cases if (one.features[feature] <= at) == is_up_to]
                          for is_up_to in (True, False)]
                if min(map(len, halves)) >= trees.LEAST:
                    gains[feature, at] = entropy(cases) - sum(map(entropy, halves))
            found = trees.Node(cases).best_split("xy")
            best = max(gains.values(), default=0)
            if found is None:
                self.assertLess(best, 1e-6)
                continue
            self.assertAlmostEqual(found[0], best)
            _, feature, threshold = found
            halves = [[one for one in cases if (one.features[feature] <= threshold) == is_up_to]
                      for is_up_to in (True, False)]
            self.assertAlmostEqual(entropy(cases) - sum(map(entropy, halves)), best)

    def test_leaves(self):
        cases = random_cases(200, 7)
        whole = trees.Tree(cases, "xy", 8)
        for leaves in range(1, 9):
            tree = trees.Tree(cases, "xy", leaves)
            self.assertEqual(len(tree.top.leaves()), leaves)
            for leaf in tree.top.leaves():
                self.assertGreaterEqual(len(leaf.cases), trees.LEAST)
            for case in cases:
                self.assertEqual(tree.choose(case), whole.choose(case, leaves))
        self.assertEqual(sum(len(leaf.cases) for leaf in whole.top.leaves()), 200)

    def test_no_tensor_chooses_for_itself(self):
        """What is the fastest follows from the tensor alone, which is a feature, too."""
        cases = [Case("t%d" % t, {"x": t}, {choice: 1.0 if choice == "abcde"[t] else 2.0
                                            for choice in "abcde"}) for t in range(5) for _ in range(6)]
        self.assertEqual(len(trees.Tree(cases, "x", 8).top.leaves()), 5)
        found = trees.left_out(cases, "x")
        self.assertEqual(len(found), 30)
        for case, choice, single in found:
            self.assertNotIn(case.best, (choice, single))
        for own in trees.chosen_without(cases, "x").values():
            for case in cases:
                self.assertNotEqual(own[id(case)], case.best)
        self.assertEqual(trees.left_out(cases[:6], "x"), [])

    def test_a_leaf_must_gain(self):
        cases = [Case("t%d" % (k % 8), {"x": k}, {"a": 1.0, "b": 1.001 if k < 40 else 0.999})
                 for k in range(80)]
        self.assertEqual(trees.size_of(cases, trees.chosen_without(cases, "x")), 0)
        cases = [Case("t%d" % (k % 8), {"x": k + 10 * (k >= 40)},
                      {"a": 1.0, "b": 1.5 if k < 40 else 0.5}) for k in range(80)]
        self.assertEqual(trees.size_of(cases, trees.chosen_without(cases, "x")), 2)
        self.assertEqual({choice == case.best for case, choice, _ in trees.left_out(cases, "x")},
                         {True})


class Selector(support.Folder):
    def times(self):
        """SpTTM on GPUs: spmm_rows wins where fibers are long, lanes elsewhere, cuSPARSE in one mode."""
        found = {}
        for tensor, mode in itertools.product(range(8), range(3)):
            name = "nell-2:%d" % tensor if tensor < 2 else "9x9x%d:50:0.5" % tensor
            what = name + "/double/"
            found["selector/%smode%d" % (what, mode)] = {
                "real_time": 1.0, "order": 3, "nonzeros": 1000 + tensor, "fiber_length": 1.0 + 9 * mode,
                "fiber_spread": 0.1, "empty_rows": 0.5}
            for strategy, ms in (("lanes", 1.0), ("spmm_nonzeros", 1.5), ("naive", 4.0),
                                 ("spmm_rows", (2.0, 0.5, 0.5)[mode]),
                                 ("spmm_cusparse", (3.0, 3.0, 0.4)[mode])):
                found["spttm/%s%s/R16/mode%d" % (what, strategy, mode)] = {"real_time": ms}
        return self.save("times.json", found)

    def test_fit(self):
        with open(TREES, encoding="utf-8") as file:
            before = file.read()
        with open(self.path("trees.hpp"), "w", encoding="utf-8") as file:
            file.write(before)
        out, _ = self.run_command(0, "train_selector.py", "fit", "gpus", self.times(),
                                  self.path("trees.hpp"))
        with open(self.path("trees.hpp"), encoding="utf-8") as file:
            after = file.read()
        written = re.search(r"spttm_on_gpus\[\] = {(.*?)};", after, re.DOTALL).group(1)
        self.assertEqual(re.sub(r"\s+", " ", written).strip(),
                         '{Feature::fiber_length, 5.5, 2, nullptr}, {Feature::count, 0, 0, "lanes"}, '
                         '{Feature::count, 0, 0, "spmm_rows"}')
        without = re.compile(r"spttm_on_gpus\[\].*?};", re.DOTALL)
        self.assertEqual(without.sub("", before), without.sub("", after))
        # two sizes of nell-2 are left out together
        self.assertIn("spttm on gpus: 24 cases of 7 tensors", out)
        self.assertIn("  2 leaves: accuracy 1.00, mean 1.000, worst 1.00", out)
        self.assertIn("spttm on gpus: spmm_cusparse is faster than all that automatic may choose in 8 of "
                      "24 cases", out)
        self.assertIn("spttm on gpus: naive is faster than all that automatic may choose in 0 of 24",
                      out)
        self.assertIn("of all contenders (not in the library): 24 cases of 7 tensors", out)

    def test_nothing_is_written_without_a_file(self):
        out, _ = self.run_command(0, "train_selector.py", "fit", "hosts", self.times())
        self.assertIn("spttm on hosts", out)
        self.assertEqual(os.listdir(self.folder), ["times.json"])

    def test_bad_input(self):
        self.run_command(1, "train_selector.py", "fit", "moon", self.times())
        with open(self.path("empty.hpp"), "w", encoding="utf-8"):
            pass
        _, err = self.run_command(1, "train_selector.py", "fit", "gpus", self.times(),
                                  self.path("empty.hpp"))
        self.assertIn("has no tree spttm_on_gpus to replace", err)


class Claims(unittest.TestCase):
    """What perf/claims says of trees."""

    def test_trees(self):
        """lanes up to two nonzeros a fiber, then spmm_rows; one tensor is otherwise."""
        rows = {}
        for tensor in "abcdefgh":
            for mode in range(6):
                is_long, is_odd = mode > 2, tensor == "h" and mode == 5
                fields = {"dims": [4] * 6, "counters": {"fiber_length": 1.0 + mode / 2 + is_long,
                                                        "fiber_deviation": 1.0}}
                for strategy, seconds in (("lanes", 2.0 if is_long else 1.0), ("spmm_nonzeros", 3.0),
                                          ("spmm_rows", 4.0 if is_odd else 1.0 if is_long else 1.5)):
                    rows["spttm/%s/double/%s/R16/mode%d" % (tensor, strategy, mode)] = dict(
                        fields, median=seconds)
        words = "spttm, a tree of lanes, spmm_rows, spmm_nonzeros: "
        self.assertEqual(numbers(words + "share right", rows), [round(47 / 48, 6)])
        regrets = numbers(words + "time over the best", rows)
        self.assertEqual((len(regrets), regrets.count(1.0), max(regrets)), (48, 47, 2.0))
        # always spmm_rows: 1.5 times as long in 24 cases, twice as long in one
        over = numbers(words + "over one choice, where they differ", rows)
        self.assertEqual((len(over), set(over)), (24, {1.5}))
        for name in list(rows):
            if "/a/" not in name:
                del rows[name]
        self.assertEqual(numbers(words + "share right", rows), [])  # there are no others to fit to
        for row in rows.values():
            row["counters"] = {}
        self.assertEqual(numbers(words + "time over the best", rows), [])

    def test_where_automatic_chose_another(self):
        rows = {"spttm/x/double/%s/R16/mode%d" % (strategy, mode): {"median": seconds, "label": label}
                for mode, (own, label) in enumerate(((2.0, "spmm_rows 12.3 a fiber"),
                                                     (1.0, "lanes 2.0 a fiber"),
                                                     (0.5, "spmm_nonzeros 20 a fiber")))
                for strategy, seconds in (("automatic", own), ("lanes", 1.0))}
        words = "spttm: automatic over lanes, where it chose another"
        self.assertEqual(numbers(words, rows), [0.5, 2.0])
        del rows["spttm/x/double/automatic/R16/mode0"]["label"]
        self.assertEqual(numbers(words, rows), [2.0])

    def test_a_tree_of_one_leaf(self):
        rows = {"spttm/%s/double/%s/R16/mode%d" % (tensor, strategy, mode): {
            "median": seconds, "counters": {"fiber_length": 2.0 + mode, "fiber_deviation": 1.0}}
            for tensor in "abc" for mode in range(3)
            for strategy, seconds in (("lanes", 1.0), ("spmm_rows", 2.0))}
        words = "spttm, a tree of lanes, spmm_rows: "
        self.assertEqual(numbers(words + "share right", rows), [1.0])
        self.assertEqual(numbers(words + "over one choice, where they differ", rows), [1.0])


if __name__ == "__main__":
    unittest.main()
