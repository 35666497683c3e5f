#!/usr/bin/env python3
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/claims: its numbers on small results, and each of its measures on rows of round numbers."""
import json
import math
import os
import sys
import unittest

import support

sys.path.insert(0, support.PERF)
from bench import claims, names, results  # noqa: E402


def machine(rows, backend="OpenMP"):
    """rows: {a benchmark's name: seconds, or fields beside "median"}."""
    made = []
    for name, fields in rows.items():
        fields = fields if isinstance(fields, dict) else {"median": fields}
        row = dict(names.parse(name), name=name, threads=2, noise=0.02, dims=[4, 5, 6], nnz=100,
                   rounds=[[fields.get("median", 1.0)]], median=1.0)
        made.append(dict(row, **fields))
    found = results.Machine(backend, {"software": {"backend": backend}, "rows": made})
    found.peak = None
    return found


def numbers(compared, rows, others=()):
    one = rows if isinstance(rows, results.Machine) else machine(rows)
    return [round(value.value, 6) for value in claims.values(compared, one, list(others) + [one])]


class Page(support.Folder):
    def cells(self, *arguments):
        """{(what is compared, where it holds): the machine's cell}, and the page."""
        out, _ = self.run_command(0, "claims", *arguments)
        lines = [[cell.strip() for cell in line.strip("|").replace("\\", "").split("|")]
                 for line in out.splitlines() if line.startswith("|")]
        return {tuple(line[3:5]): line[5] for line in lines}, out

    def test_numbers_of_the_small_results(self):
        cells, out = self.cells(support.DATA, "--peak", "100")
        self.assertIn("made by `perf/claims bench-results.json --peak '100'`", out)
        self.assertIn("| Imaginary &lt;b&gt;chip&lt;/b&gt; &amp; Sons \"x\", 4 cores (OpenMP) |", out)
        with open(support.DATA, encoding="utf-8") as file:
            rows = {row["name"]: row["median"] for row in json.load(file)["rows"]
                    if row["threads"] == 4 and row["rounds"]}

        def expected(kernel, end, *changes):
            """Of rows of the kernel that end so: the time of the row whose name is changed over it."""
            found = []
            for name in rows:
                twin = name
                for change in changes:
                    twin = twin.replace(*change, 1)
                if name.startswith(kernel + "/") and name.endswith(end) and twin in rows and (
                        twin != name):
                    found.append(rows[twin] / rows[name])
            return "%.3g to %.3g, mean %.3g (%d)" % (min(found), max(found), math.prod(found) ** (
                1 / len(found)), len(found))

        def native(kernel, strategy, other):
            return expected(kernel, strategy + "/R16/all", (kernel + "/", kernel + "_native/"),
                            (strategy, other))

        for compared, holds_at, verdict, wanted in (
                ("stream: Kokkos over native", "0.64 to 1.66", "holds",
                 expected("stream", "", ("stream/", "stream/native_"))),
                ("mttkrp: atomic over native atomic", "CPU: 1 or more", "does not hold",
                 native("mttkrp", "/atomic", "/atomic")),
                ("mttkrp: automatic over native atomic", "CPU: 1 or more", "holds",
                 native("mttkrp", "/automatic", "/atomic")),
                ("phi: atomic over native atomic", "CPU: 0.47 to 0.96", "does not hold",
                 native("phi", "/atomic", "/atomic")),
                ("phi: atomic over native pull", "CPU: 1 or less", "holds",
                 native("phi", "/atomic", "/pull")),
                ("phi: pull over atomic", "1 or more", "holds",
                 expected("phi", "/pull/R16/all", ("/pull/", "/atomic/"))),
                ("sptv: hocfs over hocsr", "1 or more", "holds",
                 expected("sptv", "", ("/hocfs/", "/hocsr/")))):
            with self.subTest(compared):
                self.assertEqual(cells[compared, holds_at], verdict + ": " + wanted)
        self.assertEqual(cells["phi: pull over native pull", ""],
                         native("phi", "/pull", "/pull"))
        for at, cell in {
                ("mttkrp: atomic over native atomic", "GPU: 0.76 to 0.91"): "",
                ("mttkrp: atomic over native atomic", "CPU: 1 or more"):
                    "does not hold: 0.838 to 0.901, mean 0.864 (3)",
                ("share of the peak: stream, Kokkos", ""): "0.614 to 0.652, mean 0.633 (2)",
                ("bytes: hocoo over cfb", "1 or more"): "not measured",
                ("– MATLAB is not in the suite", ""): "not measured"}.items():
            with self.subTest(at):
                self.assertEqual(cells[at], cell)

    def test_a_slower_row_changes_the_verdict(self):
        with open(support.DATA, encoding="utf-8") as file:
            found = json.load(file)
        for row in found["rows"]:
            if row["kernel"] == "stream_copy" and not row["native"]:
                row["median"] *= 2
        cells, _ = self.cells(self.save("r.json", found))
        self.assertRegex(cells["stream: Kokkos over native", "0.64 to 1.66"],
                         "^holds in the mean: 0.495 to 0.99")

    def test_each_line_of_the_list_is_understood(self):
        one = machine({})
        with open(os.path.join(support.PERF, "bench", "claims.md"), encoding="utf-8") as file:
            lines = [line for line in file if line.startswith("|") and "---" not in line]
        listed = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
        self.assertGreater(len(listed), 60)
        for cells in listed:
            with self.subTest(cells[3]):
                self.assertEqual(len(cells), 5)
                if cells[0] != "claim":
                    self.assertIn(claims.cell(*cells[3:], one, [one]), ("", "not measured"))

    def test_bad_input(self):
        self.run_command(2, "claims", "nothing.json")
        self.run_command(2, "claims", support.DATA, "--peak", "much")
        for compared, holds_at in (("mttkrp: fast or slow", ""), ("mttkrp: a over b", "about 1")):
            with self.assertRaises(results.Bad):
                claims.cell(compared, holds_at, machine({}), [])


class Measures(unittest.TestCase):
    def test_times(self):
        rows = {"phi/x/double/pull/R16/all": 1.0, "phi/x/double/atomic/R16/all": 3.0,
                "phi/x/double/pull/R16/mode0": 1.0, "phi/x/double/atomic/R16/mode0": 9.0,
                "phi/y/double/pull/R16/mode0": 1.0, "phi/y/double/atomic/R16/mode0": 4.0,
                "phi/x/float/pull/R16/all": 1.0, "phi_native/x/double/pull/R16/all": 0.5,
                "phi_native/x/double/atomic/R16/all": 2.4}
        self.assertEqual(numbers("phi: pull over atomic", rows), [3.0, 4.0])
        self.assertEqual(numbers("phi: pull over atomic, by mode", rows), [9.0, 4.0])
        self.assertEqual(numbers("phi: pull over atomic, R = 32", rows), [])
        self.assertEqual(numbers("phi: pull over native pull", rows), [0.5])
        self.assertEqual(numbers("phi: native pull over native atomic", rows), [4.8])
        # 3 over the larger one of 2 (pull) and 1.25 (atomic)
        self.assertEqual(numbers("phi: factor between pull and atomic over that between Kokkos and "
                                 "native", rows), [1.5])

    def test_groups_and_shares_of_modes(self):
        rows = {}
        for mode, seconds in enumerate(((5, 4, 3, 2, 1, 8, 7, 6), (5, 4, 3, 2, 6, 1, 9, 9),
                                        (5, 4, 3, 2, 6, 9, 9, 1), (5, 4, 3, 1, 6, 9, 9, 1.5))):
            for strategy, one in zip(claims.FIVE + claims.LAYOUT + ("spmm_library",), seconds):
                rows["spttm/x/double/%s/R16/mode%d" % (strategy, mode)] = float(one)
            rows["spttm/x/double/automatic/R16/mode%d" % mode] = 2.0
        self.assertEqual(numbers("share of modes: spttm, SpMM over the five", rows), [0.5])
        self.assertEqual(numbers("share of modes: spttm, scratch over the other four", rows), [0.25])
        self.assertEqual(numbers("shares of wins: spttm, SpMM in the layout, the library's, the five",
                                 rows), [0.25, 0.25, 0.5])
        self.assertEqual(numbers("spttm: automatic over the best, by mode", rows), [0.5] * 4)

    def test_shares(self):
        rows = {"stream/triad/double": {"bytes_per_second": 10.0},
                "mttkrp/x/double/automatic/R16/all": {"bytes_per_second": 4.0},
                "cp_als/x/double/R16/no_dimension_tree": {
                    "counters": {"mttkrp mode 0 ms": 2.0, "mttkrp mode 1 ms": 1.0, "solve ms": 1.0,
                                 "seconds": 9.0}},
                "tucker/x/double/R8": {"counters": {"ttm_chain mode 0 ms": 1.0, "core ms": 4.0}},
                "remap/x/double/flycoo/all": 1.0, "mttkrp/x/double/flycoo/R32/all": 4.0,
                "mttkrp/x/double/flycoo/R16/all": 2.0}
        one = machine(rows)
        one.peak = 16.0
        self.assertEqual(numbers("share of the triad: mttkrp, automatic", one), [0.4])
        self.assertEqual(numbers("share of the peak: mttkrp, automatic", one), [0.25])
        self.assertEqual(numbers("share of the peak: mttkrp, automatic", rows), [])
        self.assertEqual(numbers("share of cp_als, no_dimension_tree: mttkrp", one), [0.75])
        self.assertEqual(numbers("share of tucker, automatic: ttm_chain", one), [0.2])
        self.assertEqual(numbers("share of mttkrp, flycoo, R = 32: remaps", one), [0.25])

    def test_bytes(self):
        rows = {"build/x/double/coo_sorted": {"storage_bytes": 600},
                "build/x/double/alto": {"storage_bytes": 100}, "build/x/double/cfb": {}}
        self.assertEqual(numbers("bytes: one coo_sorted over alto", rows), [2.0])
        self.assertEqual(numbers("bytes: coo_sorted over alto", rows), [6.0])
        self.assertEqual(numbers("bytes: coo_sorted over cfb", rows), [])

    def test_flops(self):
        rows = {"spttm/x/double/automatic/R%d/all" % rank: {"median": seconds, "flops": 2e9 * rank}
                for rank, seconds in ((8, 1.0), (16, 1.6), (32, 3.2))}
        rows["spttm/x/double/scratch/R16/all"] = {"median": 4.0, "flops": 32e9}
        self.assertEqual(numbers("flop/s: spttm, automatic, R = 16 over 8", rows), [1.25])
        self.assertEqual(numbers("flop/s: spttm, automatic, R = 32 over 16", rows), [1.0])
        self.assertEqual(numbers("GFlop/s: spttm, the five, R = 16", rows), [8.0])

    def test_a_gpu_over_the_first_host(self):
        host = machine({"tucker/uber:100/double/R8": 4.0, "tucker/x/double/R8": 4.0})
        gpu = machine({"tucker/uber:1000/double/R8": {"median": 2.0, "nnz": 1000},
                       "tucker/uber:500/double/R8": {"median": 2.0, "nnz": 500}}, "Cuda")
        words = "nonzeros a second over the first host: tucker, automatic over automatic"
        self.assertEqual(numbers(words, gpu, [host]), [20.0])
        self.assertEqual(numbers(words, gpu), [])
        self.assertEqual(claims.cell(words, "GPU: 1.3 to 3.2", gpu, [host, gpu]), "does not hold: 20")
        self.assertEqual(claims.cell(words, "GPU: 1.3 to 3.2", host, [host, gpu]), "")

    def test_the_rest(self):
        rows = {"spttm/x/double/naive/R16/mode%d" % mode: {
            "median": seconds, "counters": {"fiber_deviation": deviation}}
            for mode, (seconds, deviation) in enumerate(((1.0, 1.0), (2.0, 2.0), (1.5, 3.0)))}
        self.assertEqual(numbers("share of pairs of modes where fibers that deviate less are faster: "
                                 "spttm, the five", rows), [round(2 / 3, 6)])
        rows = {"mttkrp/x/double/%s/R16/all" % one: {"dims": [2] * 5}
                for one in ("automatic", "sorted", "alto")}
        rows["mttkrp/y/double/csf/R16/all"] = 1.0
        self.assertEqual(numbers("strategies timed on five modes or more: mttkrp", rows), [2])
        rows = {"streamed_sptv/x/double/cfb/mode0": {"median": 0.002, "counters": {"T_s": 3.0}}}
        self.assertEqual(numbers("T_s over the time: streamed_sptv, cfb", rows), [1.5])

    def test_verdicts(self):
        def cell(seconds, holds_at):
            rows = {}
            for at, one in enumerate(seconds):
                rows["phi/t%d/double/pull/R16/all" % at] = 1.0
                rows["phi/t%d/double/atomic/R16/all" % at] = one
            return claims.cell("phi: pull over atomic", holds_at, machine(rows), []).split(":")[0]
        self.assertEqual(cell([0.99, 1.5], "1 or more"), "holds")  # within the noise of 2 %
        self.assertEqual(cell([0.97, 1.5], "1 or more"), "holds in the mean")
        self.assertEqual(cell([0.6, 1.5], "1 or more"), "does not hold")
        self.assertEqual(cell([0.99], "1 or more"), "within the noise")
        self.assertEqual(cell([0.97], "1 or more"), "does not hold")
        self.assertEqual(cell([0.6, 1.2], "1 or less"), "holds in the mean")
        self.assertEqual(cell([0.7, 0.9], "0.76 to 0.91"), "holds in the mean")
        self.assertEqual(cell([0.95], "0.76 to 0.91"), "does not hold")
        self.assertEqual(cell([2.0], ""), "2")
        self.assertEqual(cell([2.0], "GPU: 1 or more"), "")


if __name__ == "__main__":
    unittest.main()
