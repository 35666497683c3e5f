# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/compare: exit statuses, and what it prints."""
import copy
import json
import unittest

import support


class Compare(support.Folder):
    def setUp(self):
        super().setUp()
        with open(support.DATA, encoding="utf-8") as file:
            self.old = json.load(file)
        self.old_path = self.save("old.json", self.old)

    def changed(self, factor, which=lambda row: True):
        """The same results with some rows' times changed."""
        new = copy.deepcopy(self.old)
        for row in new["rows"]:
            if row["rounds"] and which(row):
                row["rounds"] = [[factor * one for one in samples] for samples in row["rounds"]]
                row["median"], row["min"] = factor * row["median"], factor * row["min"]
        return new

    def compare(self, status, new, *arguments):
        return self.run_command(status, "compare", self.old_path, self.save("new.json", new), *arguments)

    def one(self, row):
        return row["name"] == "stream/triad/double" and row["threads"] == 4

    def test_equal(self):
        out, _ = self.compare(0, self.old)
        self.assertIn("0 slower, 0 faster; the mean ratio of times is 1.000", out)

    def test_a_slower_row(self):
        out, _ = self.compare(1, self.changed(1.2, self.one))
        self.assertIn("stream/triad/double, 4 threads", out)
        self.assertIn("+20.0 %", out)
        self.assertIn("1 slower", out)
        self.assertNotIn("stream/copy/double", out)

    def test_the_edge_is_the_share_and_the_noise_together(self):
        noise = next(row["noise"] for row in self.old["rows"] if self.one(row))
        self.compare(0, self.changed(1 + 0.05 + noise - 0.005, self.one))
        self.compare(1, self.changed(1 + 0.05 + noise + 0.005, self.one))
        self.compare(0, self.changed(1.2, self.one), "--share", "0.25")
        self.compare(1, self.changed(1.05, self.one), "--share", "0.01")

    def test_within_noise(self):
        for noisy in (self.old, None):  # the band of either counts
            new = self.changed(1.2, self.one)
            for row in (noisy or new)["rows"]:
                if self.one(row):
                    row["noise"] = 0.3
            self.save("old.json", self.old)
            self.compare(0, new)
            self.setUp()

    def test_faster_is_no_failure(self):
        out, _ = self.compare(0, self.changed(0.7))
        self.assertIn("faster by more than", out)

    def test_a_row_that_is_refused_now(self):
        new = copy.deepcopy(self.old)
        row = next(row for row in new["rows"] if self.one(row))
        row["rounds"], row["refused"] = [], "no"
        out, _ = self.compare(1, new)
        self.assertIn("stream/triad/double ran before", out)

    def test_rows_of_one_only(self):
        new = copy.deepcopy(self.old)
        new["rows"] = new["rows"][:-2]
        out, _ = self.compare(0, new)
        self.assertIn("only in the old: 2, only in the new: 0", out)

    def test_malformed(self):
        with open(self.path("text.json"), "w", encoding="ascii") as file:
            file.write("{ no json")
        self.run_command(2, "compare", self.old_path, self.path("text.json"))
        self.run_command(2, "compare", self.old_path, self.path("nothing.json"))
        self.run_command(2, "compare", self.old_path)
        self.run_command(2, "compare", self.old_path, self.old_path, "--share", "much")
        for change in (lambda new: new.update(schema="sporades-bench 99"), lambda new: new.pop("rows"),
                       lambda new: new["rows"][0].pop("median"),
                       lambda new: new["rows"][0].update(noise="2 %"),
                       lambda new: new["rows"][0].update(rounds=[[0.0]]),
                       lambda new: new["rows"][0].update(rounds=[[]]),
                       lambda new: new["rows"].insert(0, "row"), lambda new: new.pop("machine"),
                       lambda new: new["machine"].update(caches="none"),
                       lambda new: new["rows"][0].update(median=0.0),
                       lambda new: new["rows"][0].update(mode=[1]),
                       lambda new: new["rows"][0].update(scalar="half"),
                       lambda new: new["rows"][0].update(dims=[2, 3], mode=2),
                       lambda new: new["rows"][0].update(nnz=10 ** 400),
                       lambda new: new["rows"][0].update(median=1e-320),
                       lambda new: new["rows"][0].update(counters={"x": float("nan")}),
                       lambda new: new["machine"].update(gpu={"memory": 1}),
                       lambda new: new["machine"].update(sockets="2"),
                       lambda new: new.update(left_out=7)):
            new = copy.deepcopy(self.old)
            change(new)
            _, err = self.compare(2, new)
            self.assertTrue(err.startswith("compare: error: "), err)
            self.assertEqual(err.count("\n"), 1)
        self.compare(2, [1, 2])
        new = copy.deepcopy(self.old)
        new["rows"] = []
        self.compare(2, new)

    def test_other_machines_are_not_compared_unless_asked(self):
        new = copy.deepcopy(self.old)
        new["machine"]["cpu"] = "Another"
        _, err = self.compare(2, new)
        self.assertIn("Another", err)
        self.compare(0, new, "--any-machine")


if __name__ == "__main__":
    unittest.main()
