#!/usr/bin/env python3
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/claims: its numbers on small results, and each of its measures on rows of round numbers."""
import json
import math
import os
import re
import sys
import unittest

import support

sys.path.insert(0, support.PERF)
from bench import claims, names, noise, report_data, results  # noqa: E402


def machine(rows, backend="OpenMP", software=None):
    """rows: {a benchmark's name: seconds, or fields beside "median"}; software: more of it."""
    made = []
    for name, fields in rows.items():
        fields = fields if isinstance(fields, dict) else {"median": fields}
        row = dict(names.parse(name), name=name, threads=2, noise=0.02, dims=[4, 5, 6], nnz=100,
                   rounds=[[fields.get("median", 1.0)]], median=1.0)
        made.append(dict(row, **fields))
    found = results.Machine(backend, {"software": dict(software or {}, backend=backend), "rows": made,
                                      "machine": {}, "date": "2026-01-02T03:04:05Z"})
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
        name = "Imaginary &lt;b&gt;chip&lt;/b&gt; &amp; Sons \"x\", 4 cores (OpenMP)"
        self.assertIn("| %s |" % name, out)
        self.assertRegex(out, "\n- %s: .*, 4 cores, OpenMP, commit \\w+, 20" % re.escape(name))
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
            sizes = {"stream": "", "sptv": "; 0.001 M nonzeros"}.get(kernel, "; 0.1 M nonzeros")
            return "%.3g to %.3g, mean %.3g (%d%s)" % (min(found), max(found), math.prod(found) ** (
                1 / len(found)), len(found), sizes)

        def native(kernel, strategy, other):
            return expected(kernel, strategy + "/R16/all", (kernel + "/", kernel + "_native/"),
                            (strategy, other))

        for compared, holds_at, verdict, wanted in (
                ("stream: Kokkos over native", "0.64 or more", "holds",
                 expected("stream", "", ("stream/", "stream/native_"))),
                ("mttkrp: atomic over native atomic", "CPU: 1 or more", "does not hold",
                 native("mttkrp", "/atomic", "/atomic"))):
            with self.subTest(compared):
                self.assertEqual(cells[compared, holds_at], verdict + ": " + wanted)
        for compared, wanted in (
                ("mttkrp: automatic over native atomic", native("mttkrp", "/automatic", "/atomic")),
                ("phi: atomic over native pull", native("phi", "/atomic", "/pull")),
                ("phi: pull over native pull", native("phi", "/pull", "/pull")),
                ("phi: pull over atomic",
                 expected("phi", "/pull/R16/all", ("/pull/", "/atomic/"))),
                ("sptv: hocfs over hocsr", expected("sptv", "", ("/hocfs/", "/hocsr/")))):
            with self.subTest(compared):
                self.assertEqual(cells[compared, ""], wanted)
        for at, cell in {
                ("mttkrp: atomic over native atomic", "GPU: 0.76 or more"): "",
                ("mttkrp: atomic over native atomic", "CPU: 1 or more"):
                    "does not hold: 0.838 to 0.901, mean 0.864 (3; 0.1 M nonzeros)",
                ("share of the peak: stream, Kokkos", ""): "0.614 to 0.652, mean 0.633 (2)",
                ("words: hocoo over cfb", "1 or more"): "not measured",
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
        self.assertRegex(cells["stream: Kokkos over native", "0.64 or more"],
                         "^holds in the mean: 0.495 to 0.99")

    def test_noise_as_large_as_the_difference(self):
        with open(support.DATA, encoding="utf-8") as file:
            found = json.load(file)
        for row in found["rows"]:
            if row["kernel"] == "mttkrp" and row["rounds"]:
                row["noise"] = 0.2
        cells, out = self.cells(self.save("r.json", found))
        self.assertEqual(cells["mttkrp: atomic over native atomic", "CPU: 1 or more"],
                         "cannot be told: 0.838 to 0.901, mean 0.864 (3; 0.1 M nonzeros)")
        for verdict in ("holds", "holds in the mean", "does not hold", "cannot be told"):
            self.assertIn("- %s: " % verdict, out)

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
            for strategy, one in zip(claims.FIVE + claims.LAYOUT + ("spmm_cusparse",), seconds):
                rows["spttm/x/double/%s/R16/mode%d" % (strategy, mode)] = float(one)
            rows["spttm/x/double/automatic/R16/mode%d" % mode] = 2.0
        self.assertEqual(numbers("share of modes: spttm, SpMM over the five", rows), [0.5])
        self.assertEqual(numbers("share of modes: spttm, scratch over the other four", rows), [0.25])
        self.assertEqual(numbers("shares of wins: spttm, SpMM in the layout, cuSPARSE, the five",
                                 rows), [0.25, 0.25, 0.5])
        self.assertEqual(numbers("share of modes: spttm, scratch over the other four, R = 16", rows),
                         [0.25])
        self.assertEqual(numbers("share of modes: spttm, scratch over the other four, R = 32", rows),
                         [])
        self.assertEqual(numbers("spttm: automatic over the best, by mode", rows), [0.5] * 4)
        del rows["spttm/x/double/naive/R16/mode3"]  # the fastest of the five is not known there
        self.assertEqual(numbers("share of modes: spttm, SpMM over the five", rows), [0.666667])

    def test_shares(self):
        rows = {"stream/triad/double": {"bytes_per_second": 10.0},
                "mttkrp/x/double/automatic/R16/all": {"bytes_per_second": 4.0},
                "cp_als/x/double/R16/no_dimension_tree": {
                    "counters": {"mttkrp mode 0 ms": 2.0, "mttkrp mode 1 ms": 1.0, "solve ms": 1.0,
                                 "seconds": 9.0}},
                "tucker/x/double/R8": {"counters": {"ttm_chain mode 0 ms": 1.0, "core ms": 4.0}},
                "tucker_run/x/double/R16/semi_sparse_svd": {"counters": {
                    "ttm_chain ms": 1.0, "singular vectors ms": 6.0, "preparation ms": 1.0}},
                "remap/x/double/flycoo/all": 1.0, "mttkrp/x/double/flycoo/R32/all": 4.0,
                "mttkrp/x/double/flycoo/R16/all": 2.0}
        one = machine(rows)
        one.peak = 16.0
        self.assertEqual(numbers("share of the triad: mttkrp, automatic", one), [0.4])
        self.assertEqual(numbers("share of the peak: mttkrp, automatic", one), [0.25])
        self.assertEqual(numbers("share of the peak: mttkrp, automatic", rows), [])
        self.assertEqual(numbers("share of cp_als, no_dimension_tree: mttkrp", one), [0.75])
        self.assertEqual(numbers("share of tucker, automatic: ttm_chain", one), [0.2])
        self.assertEqual(numbers("share of tucker_run, semi_sparse_svd: singular", one), [0.75])
        self.assertEqual(numbers("share of mttkrp, flycoo, R = 32: remaps", one), [0.25])

    def test_fused_remaps(self):
        rows = {"mttkrp/x/double/flycoo-blocks/R32/all": {"median": 4.0, "dims": [5, 6]},
                "unmoved/x/double/flycoo-blocks/R32/mode0": {"median": 1.0},
                "unmoved/x/double/flycoo-blocks/R32/mode1": {"median": 2.0}}
        words = "share of mttkrp, flycoo-blocks, R = 32: fused remaps"
        self.assertEqual(numbers(words, rows), [0.25])
        del rows["unmoved/x/double/flycoo-blocks/R32/mode1"]
        self.assertEqual(numbers(words, rows), [])

    def test_bytes(self):
        rows = {"build/x/double/coo_sorted": {"storage_bytes": 600},
                "build/x/double/alto": {"storage_bytes": 100}, "build/x/double/cfb": {}}
        self.assertEqual(numbers("bytes: one coo_sorted over alto", rows), [2.0])
        self.assertEqual(numbers("bytes: coo_sorted over alto", rows), [6.0])
        self.assertEqual(numbers("bytes: coo_sorted over cfb", rows), [])

    def test_words(self):
        rows = {"build/x/double/hocoo": {"counters": {"words": 600}},
                "build/x/double/cfb": {"counters": {"words": 400}},
                "build/x/double/packed": {"storage_bytes": 10, "counters": {}}}
        self.assertEqual(numbers("words: hocoo over cfb", rows), [1.5])
        self.assertEqual(numbers("words: one hocoo over cfb", rows), [0.5])
        self.assertEqual(numbers("words: hocoo over packed", rows), [])

    def test_words_of_each_mode(self):
        rows = {"build/x/double/%s/mode%d" % (name, mode): {"counters": {"words": words}}
                for name, both in (("hocoo", (600, 300)), ("cfb", (400, 300)))
                for mode, words in enumerate(both)}
        self.assertEqual(numbers("words: hocoo over cfb", rows), [1.5, 1.0])
        # of 4 x 5 x 6 and 100 nonzeros 5 x 6 and 4 x 6 fibers, built or not
        wanted = [round(words / of, 6) for words, of in ((230, 400), (224, 300))]
        self.assertEqual(numbers("words: hocsr over cfb", rows), wanted)
        rows["build/x/double/hocsr/mode0"] = {"rounds": [], "refused": "too many rows"}
        self.assertEqual(numbers("words: hocsr over cfb", rows), wanted)

    def test_formats_take_the_bytes_of_all_their_modes(self):
        rows = {"build/x/double/hocoo/mode%d" % mode: {"storage_bytes": 100 * (mode + 1)}
                for mode in range(3)}
        rows["build/x/double/alto"] = {"storage_bytes": 250}
        rows["build/y/double/hocoo/mode0"] = {"storage_bytes": 1}  # of three
        rows["build/z/double/hocoo"] = {"storage_bytes": 900}

        def found(of):
            return report_data.of_formats(machine(of), "double", lambda row: row["storage_bytes"])
        self.assertEqual(found(rows), {"hocoo": [600, 900], "alto": [250]})
        rows["build/x/double/hocoo"] = {"storage_bytes": 7}  # older, of all modes together
        self.assertEqual(found(rows)["hocoo"], [600, 900])

    def test_flops(self):
        rows = {"spttm/x/double/automatic/R%d/all" % rank: {"median": seconds, "flops": 2e9 * rank}
                for rank, seconds in ((8, 1.0), (16, 1.6), (32, 3.2))}
        rows["spttm/x/double/scratch/R16/all"] = {"median": 4.0, "flops": 32e9}
        self.assertEqual(numbers("flop/s: spttm, automatic, R = 16 over 8", rows), [1.25])
        self.assertEqual(numbers("flop/s: spttm, automatic, R = 32 over 16", rows), [1.0])
        self.assertEqual(numbers("GFlop/s: spttm, the five, R = 16", rows), [8.0])

    def test_a_gpu_over_the_first_host(self):
        host = machine({"tucker/uber:100/double/R8": 4.0, "tucker/x/double/R8": 4.0,
                        "tucker/y/double/R8": {"median": 4.0, "nnz": None}})
        gpu = machine({"tucker/uber:1000/double/R8": {"median": 2.0, "nnz": 1000},
                       "tucker/uber:100/double/R8": 0.5, "tucker/y/double/R8": 1.0,
                       "tucker/x/double/R8": {"median": 2.0, "nnz": 1000}}, "Cuda")
        words = "over the first host, on the same tensor: tucker, automatic over automatic"
        self.assertEqual(numbers(words, gpu, [host]), [8.0])  # x has another number of nonzeros
        self.assertEqual(numbers(words, gpu), [])
        self.assertEqual(claims.cell(words, "GPU: 1 or more", gpu, [host, gpu]),
                         "holds: 8 (0.0001 M nonzeros)")
        self.assertEqual(claims.cell(words, "GPU: 1 or more", host, [host, gpu]), "")
        other = machine({"tucker/uber:1000/double/R8": 1.0}, "Cuda")
        self.assertEqual(claims.cell(words, "GPU: 1 or more", other, [host, other]), "not measured")

    def test_the_rest(self):
        rows = {"spttm/x/double/naive/R16/mode%d" % mode: {
            "median": seconds, "counters": {"fiber_deviation": deviation}}
            for mode, (seconds, deviation) in enumerate(((1.0, 1.0), (2.0, 2.0), (1.5, 3.0)))}
        self.assertEqual(numbers("share of pairs of modes where fibers that deviate less are faster: "
                                 "spttm, the five", rows), [round(2 / 3, 6)])
        rows = {"streamed_sptv/x/double/cfb/mode0": {"median": 0.002, "counters": {"T_s": 3.0}}}
        self.assertEqual(numbers("T_s over the time: streamed_sptv, cfb", rows), [1.5])

    def test_verdicts(self):
        def cell(seconds, holds_at, band=0.02):
            rows = {}
            for at, one in enumerate(seconds):
                rows["phi/t%d/double/pull/R16/all" % at] = {"median": 1.0, "noise": band}
                rows["phi/t%d/double/atomic/R16/all" % at] = {"median": one, "noise": band}
            return claims.cell("phi: pull over atomic", holds_at, machine(rows), []).split(":")[0]
        self.assertEqual(cell([0.99, 1.5], "1 or more"), "holds")  # within the noise of 2 %
        self.assertEqual(cell([0.97, 1.5], "1 or more"), "holds in the mean")
        self.assertEqual(cell([0.6, 1.5], "1 or more"), "does not hold")
        self.assertEqual(cell([0.97], "1 or more"), "does not hold")
        self.assertEqual(cell([0.6, 1.2], "1 or less"), "holds in the mean")
        self.assertEqual(cell([0.7, 0.9], "0.76 to 0.91"), "holds in the mean")
        self.assertEqual(cell([0.95], "0.76 to 0.91"), "does not hold")
        self.assertEqual(cell([2.0], ""), "2 (0.0001 M nonzeros)")
        self.assertEqual(cell([2.0], "CPU"), "2 (0.0001 M nonzeros)")
        self.assertEqual(cell([2.0], "GPU"), "")
        self.assertEqual(cell([2.0], "GPU: 1 or more"), "")

    def test_what_noise_hides_cannot_be_told(self):
        def cell(value, holds_at, *bands):
            rows = {}
            for at, band in enumerate(bands):
                rows["phi/t%d/double/pull/R16/all" % at] = {"median": 1.0, "noise": band}
                rows["phi/t%d/double/atomic/R16/all" % at] = {"median": value, "noise": 0.02}
            return claims.cell("phi: pull over atomic", holds_at, machine(rows), []).split(":")[0]
        # a bound nearer to the mean than the mean band, on either side of it
        self.assertEqual(cell(0.99, "1 or more", 0.02), "cannot be told")
        self.assertEqual(cell(1.01, "1 or more", 0.02), "cannot be told")
        self.assertEqual(cell(1.1, "1 or less", 0.2), "cannot be told")
        self.assertEqual(cell(1.1, "1 or less", 0.09), "does not hold")
        self.assertEqual(cell(1.1, "1 or more", 0.02, 0.16), "holds")  # 9 % in the mean
        self.assertEqual(cell(1.1, "1 or more", 0.02, 0.2), "cannot be told")
        # a band wider than two bounds are apart
        self.assertEqual(cell(3.0, "0.8 to 1.2", 0.3, 0.49), "does not hold")
        self.assertEqual(cell(3.0, "0.8 to 1.2", 0.3, 0.51), "cannot be told")
        # what is no time has no band
        build = {"build/x/double/coo_sorted": {"storage_bytes": 101, "noise": 0.5},
                 "build/x/double/alto": {"storage_bytes": 100, "noise": 0.5}}
        self.assertEqual(claims.cell("bytes: coo_sorted over alto", "1 or more", machine(build), []),
                         "holds: 1.01 (0.0001 M nonzeros)")

    def test_zeros_are_shown(self):
        self.assertEqual(noise.geometric_mean([0.0, 4.0]), 0.0)
        self.assertEqual(noise.geometric_mean([]), None)
        self.assertAlmostEqual(noise.geometric_mean(iter([2.0, 8.0])), 4.0)
        rows = {"cp_apr/%s/double/R16/mu" % tensor: {"counters": {"phi ms": phi, "rest ms": 1.0}}
                for tensor, phi in (("x", 3.0), ("y", 0.0))}
        self.assertEqual(claims.cell("share of cp_apr, mu: phi", "0.5 or more", machine(rows), []),
                         "does not hold: 0 to 0.75, mean 0 (2; 0.0001 M nonzeros)")

    def test_shares_of_wins_are_all_shown_and_judged(self):
        def cell(*modes):
            rows = {}
            for mode, seconds in enumerate(modes):
                for strategy, one in zip(("spmm_rows", "spmm_cusparse", "naive"), seconds):
                    rows["spttm/x/double/%s/R16/mode%d" % (strategy, mode)] = one
            return claims.cell("shares of wins: spttm, SpMM in the layout, cuSPARSE, the five",
                               "CPU: 0.999 or less", machine(rows), [])
        self.assertEqual(cell((1.0, 2.0, 3.0), (1.0, 2.0, 3.0), (3.0, 2.0, 1.0), (1.0, 2.0, 3.0)),
                         "holds: 0.75, 0, 0.25 (0.0001 M nonzeros)")
        self.assertEqual(cell((3.0, 2.0, 1.0)), "does not hold: 0, 0, 1 (0.0001 M nonzeros)")
        self.assertEqual(cell(), "not measured")

    def test_sizes_and_commits(self):
        rows = {"mttkrp/%s/double/%s/R16/all" % (tensor, strategy): {"nnz": nonzeros}
                for tensor, nonzeros in (("x", 77000000), ("y", 3309490), ("z", 100000))
                for strategy in ("a", "b")}
        one = machine(rows, software={"git": "abc"})
        self.assertEqual(claims.cell("mttkrp: a over b", "", one, []),
                         "1 to 1, mean 1 (3; 0.1 to 77 M nonzeros)")
        later = machine({"mttkrp/x/double/a/R16/all": {"nnz": 77000000}}, software={"git": "def"})
        one.add(later.latest)
        self.assertEqual(claims.about(one), "OpenMP: host, 2 cores, OpenMP, commit def, 2026-01-02")
        self.assertEqual(claims.cell("mttkrp: a over b", "", one, []),
                         "1 to 1, mean 1 (3; 0.1 to 77 M nonzeros; commits abc and def)")
        one.rows = {key: row for key, row in one.rows.items() if row["tensor"] == "y"}
        self.assertEqual(claims.cell("mttkrp: a over b", "", one, []), "1 (3.31 M nonzeros; abc)")


if __name__ == "__main__":
    unittest.main()
