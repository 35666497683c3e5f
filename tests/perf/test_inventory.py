# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/report --inventory: what five papers have, and what of it is here."""
import re
import sys
import types
import unittest

import support

sys.path.insert(0, support.PERF)
from bench import inventory, papers, results  # noqa: E402

HEAD = "| item | in the paper | where | rows | lacks |\n|---|---|---|---|---|\n"


def text_of(line):
    """A list that has this line in every paper."""
    return "".join("\n## %s\n\n%s%s\n" % (paper.heading, HEAD, line)
                   for paper in papers.PAPERS.values())


def cells(page, name):
    return [line.strip("| ").split(" | ") for line in page.split("\n") if line.startswith("| " + name)]


class Inventory(support.Folder):
    def page(self, paper, change=None, **environment):
        self.measure("r.json", "--paper", paper, "--quick", "--scale", "0.01", **environment)
        found = results.load(self.path("r.json"))
        if change:
            change(found)
        return inventory.page(results.merge([found]), [(paper, "", [], [self.exhibit(paper)])], "r.json")

    @staticmethod
    def exhibit(paper):
        return types.SimpleNamespace(name=paper + "-figure-9", title="The paper (2000), figure 9",
                                     shows="What it has.", missing="F-COO (it is not here)")

    def test_lines(self):
        page = self.page("ma18")
        self.assertEqual(re.findall("^## (.*)", page, re.MULTILINE),
                         [paper.heading.replace("&", "&amp;") for paper in papers.PAPERS.values()])
        scratch, = cells(page, "Algorithm 4: shared memory")
        self.assertEqual(scratch[1:3], ["§4.2.5", r"kernels/detail/spttm/baselines/scratch.hpp"])
        self.assertEqual(scratch[4], "complete")
        self.assertNotEqual(scratch[3], "–")
        figure, = cells(page, "Figure 9")
        self.assertEqual(figure[1:], ["What it has.", "perf/bench/exhibits/ma18.py", "",
                                      "not measured: F-COO (it is not here)"])
        hocoo, = cells(page, "HOCOO")  # of a paper that was not measured
        self.assertEqual(hocoo[3:], ["–", "not measured in these results"])

    def test_all_rows_of_a_line_are_wanted(self):
        def without(found):
            for row in found["rows"]:
                if row["strategy"] == "chunks":
                    row["rounds"], row["refused"] = [], "too large"
        chunks, = cells(self.page("ma18", without), "Algorithm 5: SspTTM")
        self.assertEqual(chunks[3:], ["–", "not measured in these results"])

    def test_a_library(self):
        self.assertEqual(cells(self.page("and21"), "SparTen")[0][3:],
                         ["–", "not measured in these results"])

        def beside(found):
            found["rows"].append(dict(next(row for row in found["rows"] if row["kernel"] == "phi"),
                                      peer="SparTen", strategy="SparTen stored_pi"))
        line = cells(self.page("and21", beside), "SparTen")[0]
        self.assertNotEqual(line[3], "–")
        self.assertEqual(line[4], "complete")

    def test_the_list(self):
        with open(inventory.LIST, encoding="utf-8") as file:
            found = inventory.items(file.read())
        for heading, items in found.items():
            self.assertGreater(len(items), 3, heading)
            for item in items:
                self.assertRegex(item.cited, "^(§|abstract)", item.name)

    def test_a_bad_list(self):
        for line, words in (
                ("| a | §1 | kernels/no_such.hpp | | |", "there is no kernels/no_such.hpp"),
                ("| a | §1 | kernels/spttm.hpp | |", "has 4 cells, not 5")):
            with self.assertRaisesRegex(results.Bad, words):
                inventory.items(text_of(line))
        with self.assertRaisesRegex(results.Bad, "has sections Nobody 2000, not "):
            inventory.items("\n## Nobody 2000\n" + HEAD)

    @unittest.skipUnless(support.drawing_python(), "needs matplotlib")
    def test_the_command(self):
        self.measure("r.json", "--paper", "yan19", "--quick", "--scale", "0.01")
        self.run_command(0, "report", self.path("r.json"), "--output", self.path("r.html"),
                         "--inventory", self.path("r.md"), python=support.drawing_python())
        with open(self.path("r.md"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("made by `perf/report r.json --inventory`", page)
        self.assertTrue(cells(page, "Figure 14"))
        self.assertFalse(cells(page, "Figure 5"))


if __name__ == "__main__":
    unittest.main()
