# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""sporades-bench --paper and --scale, and the papers' figures and tables in perf/report."""
import copy
import re
import sys
import types
import unittest

import support

sys.path.insert(0, support.PERF)
from bench import cp_apr, exhibits, names, papers, report_data, results  # noqa: E402
from bench.exhibits import yan19  # noqa: E402
from bench.originals import ORIGINALS  # noqa: E402

DRAWING = support.drawing_python()
# What the evaluation of each paper has, by its sections of experiments.
FIGURES = {"ma18": range(4, 10), "wij24": range(5, 11), "and21": range(2, 12), "yan19": range(14, 18),
           "ahm24": ()}
TABLES = {"ma18": range(2, 7), "wij24": range(2, 5), "and21": range(2, 4), "yan19": range(2, 9),
          "ahm24": ()}


def numbers_of(paper):
    return (["figure %d" % at for at in FIGURES[paper]] + ["table %d" % at for at in TABLES[paper]]
            + ["result %d of the abstract" % at for at in (1, 2, 3)] * (paper == "ahm24"))


def drawing():
    """Stands for bench/pictures/papers.py: keeps what would be drawn."""
    def chart(data, name, title, reading, series, *rest):
        return types.SimpleNamespace(name=name, title=title, series=series) \
            if any(series.values()) else None

    def picture(*_):
        return types.SimpleNamespace(name="", title="")
    return types.SimpleNamespace(
        bars=chart, lines=chart, twins=types.SimpleNamespace(over_native=picture),
        spttm=types.SimpleNamespace(**{"figure_%d" % at: picture for at in range(5, 10)}),
        shares=types.SimpleNamespace(draw=lambda data: [picture()]))


def shown(*files):
    """{number: exhibit} of the first paper of results."""
    data = report_data.Data(results.merge(list(files)), None, None, [], str, str)
    (_, _, _, found), = exhibits.sections(data, drawing())
    return {one.title.rpartition("), ")[2]: one for one in found}


class Runs(support.Folder):
    def test_each_paper(self):
        for paper, kernels in (
                ("ma18", {"spttm", "sspttm", "build", "tucker_run"}),
                ("wij24", {"mttkrp", "remap", "unmoved", "build"}),
                ("and21", {"stream", "mttkrp", "phi", "pi", "cp_apr", "cp_als", "build"}),
                ("yan19", {"sptv", "build", "streamed_sptv"}), ("ahm24", {"spttm", "spttm_unfold", "build"})):
            found, _ = self.measure("r.json", "--paper", paper, "--quick", "--scale", "0.01")
            self.assertTrue(found["complete"], found["left_out"])
            self.assertEqual((found["settings"]["paper"], found["settings"]["scale"]), (paper, 0.01))
            self.assertEqual(found["command"][:4], ["--paper", paper, "--scale", "0.01"])
            self.assertEqual({re.sub("^stream_.*", "stream", row["kernel"]) for row in found["rows"]},
                             kernels)
            self.assertEqual({row["scalar"] for row in found["rows"]}, {papers.PAPERS[paper].scalar})
            for row in found["rows"]:
                if row["tensor"]:
                    self.assertEqual(row["nnz"], max(
                        5000, int(0.01 * ORIGINALS[names.family(row["tensor"])][1])))

    def test_parts_and_tensors(self):
        found, _ = self.measure("r.json", "--paper", "ma18", "--tensors", "uber,nell-2:9000",
                                "--parts", "sequential,ranks", "--scale", "0.01")
        self.assertEqual({(row["tensor"], row["threads"], row["part"]) for row in found["rows"]},
                         {("nell-2:9000", 1, "sequential"), ("nell-2:9000", 4, "ranks"),
                          ("uber:33094", 4, "ranks")})
        self.assertEqual({row["strategy"] for row in found["rows"] if row["part"] == "ranks"},
                         {"naive", "fine_grained", "coalesced", "rank_blocked", "scratch"})

    def test_a_gpu_runs_originals(self):
        found, err = self.measure("r.json", "--paper", "yan19", "--parts", "sptv", "--memory", "1G",
                                  "--tensors", "ratings-m20,user-shopping-x40", FAKE_BACKEND="Cuda")
        self.assertEqual({row["tensor"] for row in found["rows"]},
                         {"ratings-m20:1048575", "user-shopping-x40:10000000"})
        self.assertIn("user-shopping-x40 is smaller: 10000000 nonzeros instead of 29999529", err)
        self.assertEqual({row["threads"] for row in found["rows"]}, {found["settings"]["threads"]})

    def test_scale_without_a_paper(self):
        found, _ = self.measure("r.json", "--quick", "--parts", "build", "--scale", "0.5", "--memory",
                                "100G")
        self.assertEqual({row["tensor"] for row in found["rows"]}, {"uber:1654745", "nell-2:38439709"})
        self.assertIsNone(found["settings"]["paper"])

    def test_bad_input(self):
        for words, arguments in (
                ("invalid choice: 'ma19'", ("--paper", "ma19")),
                ("'0' is no share of the nonzeros", ("--scale", "0")),
                ("above 0 and at most 1", ("--scale", "1.5")),
                ("no share", ("--scale=-0.1",)), ("no share", ("--scale", "nan")),
                ("no share", ("--scale", "small")),
                ("there is no part 'phi'; there are spttm", ("--paper", "ma18", "--parts", "phi")),
                ("there is nothing to run", ("--paper", "ma18", "--parts", "tucker", "--tensors",
                                             "uber"))):
            _, err = self.run_command(2, "sporades-bench", "--quick", "--program", support.FAKE,
                                      "--output", self.path("r.json"), *arguments)
            self.assertIn(words, err)

    def test_claims_of_a_paper(self):
        self.measure("r.json", "--paper", "yan19", "--quick", "--scale", "0.01")
        out, _ = self.run_command(0, "claims", self.path("r.json"))
        self.assertEqual(re.findall("^## (.*?):", out, re.MULTILINE), ["Yang, Li & Li 2019"])
        self.assertRegex(out, r"HOCFS is faster than HOCOO .* holds: ")
        out, _ = self.run_command(0, "claims", self.path("r.json"), support.DATA)
        self.assertEqual(len(re.findall("^## (.*?):", out, re.MULTILINE)), 5)


class Exhibits(support.Folder):
    def results_of(self, paper, name="r.json", **environment):
        self.measure(name, "--paper", paper, "--quick", "--scale", "0.01", **environment)
        return results.load(self.path(name))

    def test_every_number_is_there(self):
        for paper in papers.PAPERS:
            found = shown(self.results_of(paper))
            self.assertLessEqual(set(numbers_of(paper)), set(found), paper)
            for number, one in found.items():
                with self.subTest(paper=paper, number=number):
                    self.assertTrue(one.tables or one.pictures or one.missing)
                    self.assertTrue(one.shows.endswith(".") and one.ours.endswith("."))
                    self.assertFalse(one.missing.endswith("."))

    def test_what_is_missing(self):
        host, gpu = (self.results_of("ma18", name, **more) for name, more in (
            ("r.json", {}), ("g.json", {"FAKE_BACKEND": "Cuda"})))
        gpu["machine"]["gpu"] = {"name": "Imaginary"}
        found = shown(host)
        self.assertEqual({number for number, one in found.items()
                          if not one.tables and not one.pictures}, {"figure 4"})
        self.assertIn("needs results of a GPU and of a host", found["figure 4"].missing)
        self.assertIn("F-COO", shown(host, gpu)["figure 4"].missing)
        picture, = shown(host, gpu)["figure 4"].pictures
        (values,) = picture.series.values()
        self.assertEqual(set(values), {"uber", "nell-2"})
        times = [{row["strategy"]: row["median"] for row in one["rows"] if row["part"] == "spttm"
                  and row["tensor"] == "uber:33094" and row["rank"] == 16 and row["mode"] == "all"}
                 for one in (gpu, host)]
        best = min(time for strategy, time in times[0].items()
                   if strategy not in ("automatic", "lanes"))
        self.assertAlmostEqual(values["uber"], times[1]["naive"] / best)
        other = copy.deepcopy(gpu)
        for row in other["rows"]:
            row["nnz"] += 1
        self.assertIn("needs results of a GPU", shown(host, other)["figure 4"].missing)
        self.assertEqual(found["table 4"].tables[0].rows[0][1], "nell-2")
        self.assertIn("Tensor Toolbox (MATLAB is not in the suite)", found["table 4"].missing)
        table, = found["table 6"].tables
        self.assertEqual([row[1] for row in table.rows],
                         ["automatic", "gram", "lanczos", "svd", "semi_sparse_svd"])
        row, = (row for row in host["rows"] if row["kernel"] == "tucker_run"
                and row["strategy"] == "svd" and row["rank"] == 16)
        self.assertEqual(table.rows[3][2], "%.3g" % row["median"])
        shares = [float(one.split(" ")[0]) for one in table.rows[3][3:7]]  # of 9 in all
        for share, part in zip(shares, (0.3, 8.5, 0.05, 0.15)):
            self.assertAlmostEqual(share, 100 * part / 9, delta=1)
        self.assertEqual(table.rows[3][7], "0.1200")
        over, = shown(host, gpu)["table 6"].pictures
        self.assertEqual([set(values) for values in over.series.values()], [{"nell-2"}] * 2)
        for number in ("figure 5", "figure 8", "figure 9", "table 3"):
            self.assertEqual(found[number].missing, "")
        none = copy.deepcopy(host)
        none["rows"] = [row for row in none["rows"] if row["part"] == "sspttm"]
        self.assertEqual(shown(none)["table 5"].missing,
                         "no rows: part 'storage' of sporades-bench --paper ma18 measures them")

    def test_missing_rows_are_named_and_a_profiler_is_taken(self):
        host = self.results_of("wij24")
        found = shown(host)
        for number in ("figure 5", "figure 8", "κ (section 5.1.5)"):
            self.assertEqual(found[number].missing, "")
        self.assertNotIn("flycoo-blocks", found["figure 9"].missing)
        shares = found["figure 5"].pictures[0].series["flycoo-blocks"]
        for family, share in shares.items():
            own = [row for row in host["rows"] if row["strategy"] == "flycoo-blocks" and
                   row["rank"] == 32 and names.family(row["tensor"]) == family]
            whole, = (row["median"] for row in own if row["mode"] == "all")
            self.assertAlmostEqual(share, 100 * (1 - sum(
                row["median"] for row in own if row["kernel"] == "unmoved") / whole))
        self.assertEqual(len(shares), 1)  # the largest tensor, as the quick suite has one
        self.assertIn("perf/profile counts them", found["figure 6"].missing)
        fewer = copy.deepcopy(host)
        fewer["rows"] = [row for row in fewer["rows"]
                         if not (row["strategy"] or "").startswith("flycoo-blocks")]
        for number in ("figure 5", "figure 8", "κ (section 5.1.5)", "figure 9", "table 4"):
            self.assertRegex(shown(fewer)[number].missing, r"flycoo-blocks \(there are no rows")
            self.assertTrue(shown(fewer)[number].tables or shown(fewer)[number].pictures)
        for row in list(host["rows"]):
            if row["kernel"] == "mttkrp" and row["mode"] == "all" and row["rank"] == 32 and (
                    row["strategy"] in ("flycoo-blocks", "flycoo-blocks:0:8")):
                host["rows"].append(dict(row, name="profiled_" + row["name"],
                                         kernel="profiled_mttkrp", counters={"sm_throughput": 61.0}))
        found = shown(host)
        for number, strategy in (("figure 6", "flycoo-blocks"), ("figure 8", "flycoo-blocks:0:8")):
            line, = found[number].tables[0].rows
            self.assertEqual(line[-2:], [strategy, "61"])
        self.assertEqual(found["figure 7"].tables, [])
        row, = (row for row in found["table 4"].tables[0].rows if row[1] == "csf, as MM-CSF")
        self.assertAlmostEqual(float(row[3]) / float(row[2]), 2, delta=0.4)

    def test_numbers_by_hand(self):
        host = self.results_of("yan19")
        rows = {row["name"]: row for row in host["rows"]}
        found = shown(host)
        table, = found["table 7"].tables
        self.assertEqual(table.header[:4], ["tensor", "nonzeros", "mode", "hocoo"])
        row, = (row for row in table.rows if row[0] == "user-rated-movies" and row[2] == "2")
        self.assertAlmostEqual(float(row[3]), 1e3 * rows[
            "sptv/user-rated-movies:8555/float/hocoo/mode1"]["median"], delta=1e-2 * float(row[3]))
        table, = found["threshold (section 1)"].tables
        self.assertEqual(table.header[3:6], ["hocfs_blocks_csr", "ELL from 1", "ELL from 0.9"])
        row, = (row for row in table.rows if row[0] == "user-rated-movies" and row[2] == "2")
        self.assertAlmostEqual(float(row[5]), 1e3 * rows[
            "sptv/user-rated-movies:8555/float/hocfs_blocks:0.9/mode1"]["median"],
            delta=1e-2 * float(row[5]))
        times = [sum(rows["sptv/user-rated-movies:8555/float/%s/mode%d" % (strategy, mode)]["median"]
                     for mode in range(3)) for strategy in ("hocfs_blocks_ell", "hocoo_warps")]
        self.assertAlmostEqual(found["figure 14"].pictures[0].series["hocfs_blocks_ell over hocoo_warps"][
            "user-rated-movies"], 100 * (1 - times[0] / times[1]))
        for values in found["figure 17"].pictures[0].series.values():
            for value in values.values():  # steps take 1.2 times as long in the program
                self.assertAlmostEqual(value, 100 * (1 - 1 / 1.2), delta=1)
        self.assertEqual((found["table 8"].tables, found["figure 15"].pictures), ([], []))
        self.assertIn("on a GPU", found["table 8"].missing)
        words = {name: int(rows["build/user-rated-movies:8555/float/%s/mode1" % name]["counters"]["words"])
                 for name in ("cfb", "hocfs")}
        row, = (row for row in found["table 5"].tables[0].rows if row[0] == "user-rated-movies")
        self.assertEqual(row[2:4], ["%d (60)" % ((words["hocfs"] - words["cfb"]) // 2),
                                    "%d (27567)" % (words["cfb"] // 2 - 8555)])
        self.assertEqual(row[4], "4 (4)")
        self.assertEqual(row[5], "%.3g (7.02)" % (2 + 300 * 100 / 8555))  # 6003236 / 855598
        self.assertEqual(row[7], "%.3g (2.06)" % (words["hocfs"] / 8555))  # 1766450 / 855598
        for number in ("table 4", "table 5", "table 6"):
            self.assertEqual(found[number].missing, "")
        streams, = found["streams (section 7.3)"].tables
        self.assertEqual(streams.header, ["format", "tensor", "collections", "1", "2", "3", "4", "5", "8"])
        row, = (row for row in streams.rows if row[:2] == ["cfb", "user-rated-movies"])
        whole = {count: sum(rows["streamed_sptv/user-rated-movies:8555/float/%s/mode%d" % (
            "cfb" if count == 3 else "cfb:%d" % count, mode)]["median"] for mode in range(3))
                 for count in (1, 2, 3, 4, 5, 8)}
        self.assertEqual(row[2:], ["9"] + ["%.3g" % (1e3 * one) for one in whole.values()])
        means = found["streams (section 7.3)"].pictures[0].series
        self.assertEqual((set(means), means["cfb"][1]), ({"cfb", "hocfs"}, 1.0))
        self.assertAlmostEqual(means["cfb"][4], 5 / 6, delta=0.02)

    def test_words_of_the_paper(self):
        # table 4, No. 9; table 5, No. 1; table 6, No. 2
        for name, mode, there in (
                ("user-shopping-x40", 0, (119998116, 70503058, 79004970, 79024968)),
                ("user-rated-movies", 1, (3422392, 6003236, 1766330, 1766450)),
                ("user-tagged-movies", 2, (191828, 4659319936, 151338, 155564))):
            dims, nonzeros = ORIGINALS[name]
            self.assertEqual(yan19.words(dims, nonzeros, mode, *yan19.PUBLISHED[name][mode]), there)
        self.assertEqual(set(yan19.PUBLISHED), {name for _, name in papers.PAPERS["yan19"].tensors})

    def test_stored_pi(self):
        machine, = results.merge([self.results_of("and21")])
        found = cp_apr.shares(machine, "double", 16)
        self.assertEqual([one[:2] for one in found], [
            ("uber", False), ("uber", True), ("nell-2", False), ("nell-2", True)])
        for _, is_stored, shares in found:
            self.assertAlmostEqual(sum(shares.values()), 1)
            self.assertEqual(shares["Π"] > 0.05, is_stored)

    def test_refusals_are_told(self):
        host = self.results_of("and21")
        for row in host["rows"]:
            if row["strategy"] == "coo-alto-pull":
                row.update(rounds=[], refused="too many rows")
        for number in ("figure 9", "figure 11"):
            self.assertEqual(shown(host)[number].missing, "coo-alto-pull (too many rows)")
        host["rows"] = [row for row in host["rows"] if row["kernel"] != "phi"]
        self.assertIn("no rows: part 'phi'", shown(host)["figure 9"].missing)

    def test_sizes_of_a_look_alike_are_not_mixed(self):
        host = self.results_of("wij24")
        for row in copy.deepcopy(host["rows"]):
            if row["strategy"] == "flycoo" and row["mode"] == "all":
                row.update(name=row["name"].replace(":260219", ":7"), tensor="vast-2015:7", nnz=7)
                host["rows"].append(row)
            elif row["strategy"] == "csf":
                larger = row["name"].replace(":260219", ":900000")
                host["rows"].append(dict(row, name=larger, tensor="vast-2015:900000", nnz=900000))
        table, = shown(host)["figure 9"].tables
        row, = table.rows
        self.assertEqual(row[:2], ["vast-2015", "0.9 M"])
        self.assertEqual([cell != "–" for cell in row[2:]],
                         [label == "csf, as MM-CSF" for label in table.header[2:]])

    def test_wins_and_shares(self):
        found = shown(self.results_of("ahm24"))
        row, = found["result 1 of the abstract"].tables[0].rows
        self.assertEqual(row[1:3], ["the fastest of Ma's five", "7"])  # modes of uber and nell-2
        wins = [row[2] for row in found["result 2 of the abstract"].tables[0].rows]
        self.assertEqual(sum(int(one.split(" of ")[0]) for one in wins), 7)
        self.assertIn("cuSPARSE", found["result 2 of the abstract"].missing)
        for name in ("result 3 of the abstract", "unfolding"):
            self.assertIn("cuSPARSE", found[name].missing)

    def test_cusparse_where_there_is_a_gpu(self):
        found = shown(self.results_of("ahm24", FAKE_BACKEND="Cuda"))
        wins = {row[1]: row[2] for row in found["result 2 of the abstract"].tables[0].rows}
        self.assertEqual(wins["cuSPARSE"], "0 of 7")
        self.assertEqual(found["result 2 of the abstract"].missing.count("cuSPARSE"), 0)
        trees = found["result 3 of the abstract"].tables[1]
        self.assertEqual([row[1] for row in trees.rows], [
            "SpMM in the layout, cuSPARSE, the five", "lanes, spmm_rows, spmm_nonzeros"])
        self.assertEqual([row[2] for row in trees.rows], ["14", "14"])  # of two ranks
        times, = found["times"].tables
        self.assertIn("unfolding, then cuSPARSE", times.header)


@unittest.skipUnless(DRAWING, "there is no matplotlib")
class Report(support.Folder):
    def test_each_paper(self):
        for paper in papers.PAPERS:
            self.measure("r.json", "--paper", paper, "--quick", "--scale", "0.01")
            self.measure("g.json", "--paper", paper, "--quick", "--scale", "0.01", FAKE_BACKEND="Cuda")
            out, _ = self.run_command(0, "report", self.path("r.json"), self.path("g.json"), "--output",
                                      self.path("r.html"), python=DRAWING)
            self.assertIn("of 2 machines", out)
            with open(self.path("r.html"), encoding="utf-8") as file:
                source = file.read()
            sections = re.findall("<section class=exhibit.*?</section>", source, re.DOTALL)
            for number in numbers_of(paper):
                with self.subTest(paper=paper, number=number):
                    own, = (one for one in sections if ", %s</h3>" % number in one)
                    self.assertRegex(own, "<table>|<img |<p class=lacks>Not measured: ")
            self.assertIn("Made with --scale 0.01", source)
            for figure in re.findall("<figure.*?</figure>", "".join(sections), re.DOTALL):
                words = re.search("<p>(.*?)</p>", figure, re.DOTALL).group(1)
                self.assertRegex(words, r"^[A-Z].{40,}\.$")
                self.assertEqual(words.count(". "), 0, words)
            ids = re.findall(' id="([^"]*)"', source)
            self.assertEqual(len(ids), len(set(ids)))


if __name__ == "__main__":
    unittest.main()
