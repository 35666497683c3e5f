# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/report and perf/tables, on small results with awkward names, and merging."""
import base64
import html.parser
import json
import os
import re
import subprocess
import sys
import unittest

import support

sys.path.insert(0, support.PERF)
from bench import kernels, names, noise, report_data, results, tables, text  # noqa: E402

AWKWARD = ("a<b> \"quoted\" & 'single' $x^2$ `|`.tns", "тензор-名前-テンソル.tns",
           "a-tensor-whose-name-goes-on-for-much-longer-than-any-picture-has-room-for-and-then-some-"
           "more-characters.tns")
DRAWING = support.drawing_python()


class Page(html.parser.HTMLParser):
    """All text of a page, and its tags."""

    def __init__(self, source):
        super().__init__()
        self.words, self.tags, self.attributes = [], [], []
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_data(self, data):
        self.words.append(data)


def data_file():
    with open(support.DATA, encoding="utf-8") as file:
        return json.load(file)


def small():
    """A few rows of it, which are drawn soon."""
    found = data_file()
    found["rows"] = [row for row in found["rows"] if row["kernel"].startswith("stream_")]
    return found


@unittest.skipUnless(DRAWING, "there is no matplotlib")
class Report(support.Folder):
    def report(self, *arguments):
        out, _ = self.run_command(0, "report", *arguments, "--output", self.path("r.html"),
                                  python=DRAWING)
        with open(self.path("r.html"), encoding="utf-8") as file:
            source = file.read()
        self.assert_no_litter()
        return source, Page(source), out

    def test_a_page_of_awkward_names(self):
        source, page, _ = self.report(support.DATA, "--pictures", self.path("png"))
        shown = " ".join(page.words)
        for name in AWKWARD + ('Imaginary <b>chip</b> & Sons "x"',):
            with self.subTest("names are shown as they are", name=name):
                self.assertIn(name, shown)
                if "<" in name:
                    self.assertNotIn(name, source)
        self.assertNotIn("b", page.tags)
        for name in AWKWARD:
            with self.subTest("pictures number them, and a key names them", name=name):
                self.assertTrue(any(words.startswith("tensor ") and words.endswith(": " + name)
                                    for words in page.words))
        with self.subTest("the page stands alone"):
            self.assertNotIn("script", page.tags)
            for name, value in page.attributes:
                if name in ("src", "href"):
                    self.assertRegex(value, "^(data:image/png;base64,|#)")
            self.assertNotRegex(source, r"url\(|@import|https?:")
        with self.subTest("the pictures are also files"):
            pictures = re.findall("data:image/png;base64,([^\"]+)", source)
            self.assertGreaterEqual(len(pictures), 10)
            beside = set()
            for name in os.listdir(self.path("png")):
                with open(os.path.join(self.path("png"), name), "rb") as file:
                    beside.add(file.read())
            self.assertEqual({base64.b64decode(picture) for picture in pictures}, beside)
            self.assertTrue(all(picture.startswith(b"\x89PNG") for picture in beside))
        figures = re.findall("<figure.*?</figure>", source, re.DOTALL)
        self.assertGreaterEqual(len(figures), 10)
        for figure in figures:
            with self.subTest("one sentence says how to read it"):
                words = re.search("<p>(.*?)</p>", figure, re.DOTALL).group(1)
                self.assertRegex(words, r"^[A-Z].{40,}\.$")
                self.assertEqual(words.count(". "), 0, words)

    def test_machines_merge(self):
        other = small()
        other["machine"].update(cpu="Xeon Gold 6140", sockets=2)
        other["rows"] = [row for row in other["rows"] if row["kernel"] != "stream_copy"]
        _, page, out = self.report(self.save("r.json", small()), self.save("other.json", other))
        self.assertIn("of 2 machines", out)
        shown = " ".join(page.words)
        self.assertIn("Performance portability", shown)
        self.assertIn("Xeon Gold 6140", shown)
        self.assertIn("STREAM copy counts 0: it was not measured on Xeon Gold 6140, 4 cores (OpenMP).",
                      page.words)

    def test_of_one_machine_the_later_counts_and_is_said(self):
        later = small()
        later["date"] = "2027-01-01T00:00:00Z"
        for row in later["rows"]:
            if row["name"] == "stream/triad/double" and row["threads"] == 4:
                row["median"] = 0.123
        _, page, out = self.report(self.save("later.json", later), self.save("r.json", small()))
        self.assertIn("of 2 files, %d rows are those of the latest" % len(later["rows"]), out)
        shown = " ".join(page.words)
        self.assertIn("2 files were merged", shown)
        self.assertIn("123 ms", shown)

    def test_against_an_older_result(self):
        new = small()
        for row in new["rows"]:
            if row["name"] == "stream/triad/double" and row["threads"] == 4:
                row["median"] *= 1.5
        _, page, _ = self.report(self.save("new.json", new), "--against",
                                 self.save("r.json", small()))
        self.assertIn("What changed", page.words)
        shown = " ".join(page.words)
        self.assertIn(": 1 rows changed beyond their noise bands", shown)
        self.assertIn("1.500", shown)
        other = small()
        other["machine"]["cpu"], other["date"] = "Another", "<script>"
        _, page, _ = self.report(self.path("r.json"), "--against", self.save("other.json", other))
        self.assertIn("nothing is compared", " ".join(page.words))
        _, page, _ = self.report(self.path("other.json"))
        self.assertNotIn("script", page.tags)

    def test_a_stopped_result_says_so(self):
        stopped = small()
        stopped.update(complete=False, left_out=[
            {"part": part, "tensor": tensor, "round": 2, "why": "the time <was> over"}
            for part, tensor in (("phi", "uber"), ("phi", "nell-2"), ("read", None))])
        _, page, _ = self.report(self.save("r.json", stopped))
        self.assertIn("is not complete: phi, read (the time <was> over).",
                      " ".join(page.words))
        stopped["left_out"] = []
        _, page, _ = self.report(self.save("r.json", stopped))
        self.assertIn("is not complete: it was stopped.", " ".join(page.words))

    def test_bad_input(self):
        for arguments in (("nothing.json",), (support.DATA, "--peak", "much"),
                          (support.DATA, "--peak", "Another=5"), (support.DATA, "--rank", "7"),
                          (support.DATA, "--output", "no/r.html"), (support.DATA, "--output", "."),
                          (support.DATA, "--against", "nothing.json")):
            self.run_command(2, "report", "--output", self.path("r.html"), *arguments, python=DRAWING)
        empty = data_file()
        empty["rows"] = []
        self.run_command(2, "report", self.save("e.json", empty), "--output", self.path("r.html"),
                         python=DRAWING)
        self.assertFalse(os.path.exists(self.path("r.html")))


class Tables(support.Folder):
    def test_markdown(self):
        out, _ = self.run_command(0, "tables", support.DATA)
        self.assertIn("made by `perf/tables bench-results.json`", out)
        for line in out.splitlines():
            if line.startswith("|"):
                self.assertNotIn("<", line)
        self.assertIn("a&lt;b&gt; \"quoted\" &amp; 'single' &#36;x^2&#36; \\`\\|\\`.tns", out)
        for kernel in ("MTTKRP", "Φ", "CP-ALS, an iteration", "SpTV"):
            self.assertIn("| %s |" % kernel, out)
        lines = [line for line in out.splitlines() if line.startswith("|")]
        self.assertGreater(len(lines), 30)

    def test_summary(self):
        whole, _ = self.run_command(0, "tables", support.DATA)
        out, _ = self.run_command(0, "tables", support.DATA, "--summary")
        self.assertIn("made by `perf/tables bench-results.json --summary`", out)
        for text in (out, whole):
            for title in ("### Machines", "### STREAM", "### What bounds each kernel", ": times ("):
                self.assertIn(title, text)
            self.assertIn("noise band", text)
        titles = [line for line in out.splitlines() if line.startswith("### ")]
        self.assertEqual([line for line in whole.splitlines() if line in titles], titles)
        self.assertIn("### Storage by format", whole)
        self.assertNotIn("### Storage by format", out)

    def test_each_kernel_alone(self):
        for kernel in sorted({row["kernel"] for row in data_file()["rows"]}):
            alone = data_file()
            alone["rows"] = [row for row in alone["rows"] if row["kernel"] == kernel]
            self.tables_of(alone)
            for row in alone["rows"]:
                for field in ("nnz", "dims", "bytes", "flops", "triad", "storage_bytes", "counters",
                              "bytes_per_second"):
                    row.pop(field, None)
            self.tables_of(alone)

    def tables_of(self, found):
        machines = results.merge([results.load(self.save("r.json", found))])
        made = tables.all_tables(report_data.Data(machines, "double", None, [], None, None))
        self.assertTrue("".join(map(tables.as_markdown, made)))

    def test_any_locale_and_closed_pipes(self):
        out, _ = self.run_command(0, "tables", support.DATA)
        same, _ = self.run_command(0, "tables", support.DATA, PYTHONIOENCODING="ascii")
        self.assertEqual(out, same)
        child = subprocess.Popen(support.command("tables", support.DATA), stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        child.stdout.close()
        self.assertEqual(child.stderr.read(), b"")
        child.stderr.close()
        self.assertEqual(child.wait(), 1)

    def test_tables_into_a_page(self):
        out, _ = self.run_command(0, "tables", support.DATA, "--peak", "100")
        self.assertIn("made by `perf/tables bench-results.json --peak '100'`", out)
        page = self.path("page.md")
        for text in ("", "<!-- tables -->\n", "<!-- end of tables -->\n<!-- tables -->\n"):
            with open(page, "w", encoding="utf-8") as file:
                file.write(text)
            _, err = self.run_command(2, "tables", support.DATA, "--into", page)
            self.assertIn("has no line", err)
        with open(page, "w", encoding="utf-8") as file:
            file.write("before\n<!-- tables -->\nold\n<!-- end of tables -->\nafter\n")
        for _ in range(2):
            self.run_command(0, "tables", support.DATA, "--peak", "100", "--into", page)
            with open(page, encoding="utf-8") as file:
                self.assertEqual(file.read(), "before\n<!-- tables -->\n" + out
                                 + "<!-- end of tables -->\nafter\n")
        self.run_command(2, "tables", support.DATA, "--into", self.path("none.md"))

    def test_peaks_are_known_or_given(self):
        known = data_file()
        known["machine"].update(cpu="AMD EPYC 7452 32-Core Processor", sockets=2)
        out, _ = self.run_command(0, "tables", self.save("r.json", known))
        self.assertIn("| 410 |", out)
        out, _ = self.run_command(0, "tables", self.path("r.json"), "--peak", "7452=123")
        self.assertIn("| 123 |", out)

    def test_what_fits_nothing_is_refused(self):
        for arguments, words in ((("--peak", "H200=100"), "no machine has H200 in its name"),
                                 (("--rank", "5"), "there are rows of 16")):
            _, err = self.run_command(2, "tables", support.DATA, *arguments)
            self.assertIn(words, err)


    def test_sizes_of_a_look_alike_are_not_mixed(self):
        """A smaller one that was measured later changes no cell of the table of times."""
        def times(*files):
            out, _ = self.run_command(0, "tables", *files)
            return out.partition(": times")[2].partition("###")[0]

        smaller = data_file()
        smaller["date"] = "2099" + smaller["date"][4:]
        sized = [row for row in smaller["rows"] if names.family(row["tensor"]) != row["tensor"]]
        self.assertGreater(len(sized), 10)
        for row in sized:
            tensor = names.family(row["tensor"]) + ":7"
            row.update(name=row["name"].replace(row["tensor"], tensor), tensor=tensor, nnz=7)
            if row["rounds"]:
                row["median"] *= 3
        smaller["rows"] = sized
        self.assertEqual(times(support.DATA), times(support.DATA, self.save("s.json", smaller)))


class Numbers(unittest.TestCase):
    def test_portability(self):
        self.assertAlmostEqual(kernels.portability([0.5, 1.0]), 2 / 3)
        self.assertAlmostEqual(kernels.portability([0.5, 1.7]), 2 / 3)
        self.assertEqual(kernels.portability([0.5, None]), 0)
        self.assertEqual(kernels.portability([]), 0)

    def test_one_size_of_each_look_alike(self):
        rows = [{"tensor": tensor, "nnz": nonzeros} for tensor, nonzeros in (
            ("uber:5", 5), ("uber:90", 90), ("uber:7", 7), ("a.tns", 3), (None, None), ("uber:90", 90))]
        self.assertEqual([row["tensor"] for row in kernels.of_largest(rows)],
                         ["uber:90", "a.tns", None, "uber:90"])

    def test_bounds(self):
        rates = [(1024, 100.0), (4096, 25.0)]
        self.assertEqual([kernels.rate_at(rates, size) for size in (1, 1024, 4096, 10 ** 9)],
                         [100, 100, 25, 25])
        self.assertAlmostEqual(kernels.rate_at(rates, 2048), 50)
        row = {"kernel": "mttkrp", "dims": [10, 20, 5000], "nnz": 1000, "rank": 4, "mode": 0,
               "scalar": "float", "median": 2.0, "bytes": 30.0, "noise": 0.02, "tensor": "t"}
        self.assertEqual(kernels.gathered(row), [(2 * 1000 * 16, (20 + 1000) * 16)])
        self.assertEqual(kernels.gathered(dict(row, kernel="spttm", mode="all")),
                         [(16000, size * 16) for size in (10, 20, 1000)])
        self.assertEqual(kernels.gathered(dict(row, kernel="sptv")), [])
        whole = kernels.Whole([row])
        self.assertEqual(kernels.least_seconds(whole, 10.0, []), {"bytes": 3})
        self.assertEqual(kernels.least_seconds(whole, 10.0, rates), {"bytes": 3, "gathers": 1280})
        rows = [dict(row, native=False, strategy="sorted", rounds=[[2.0]])]
        for size, rate in rates:
            rows.append({"kernel": "gather", "scalar": "float", "rank": 16, "native": False,
                         "strategy": "%dKB" % (size / 1024), "bytes_per_second": rate})
        self.assertEqual(kernels.bounds(rows[:1], "mttkrp", "float", 4, 10.0), [])  # modes lack
        for mode in (1, 2):
            rows.append(dict(rows[0], mode=mode))
        found = kernels.bounds(rows, "mttkrp", "float", 4, 10.0)
        self.assertEqual([which for _, which, _ in found], ["gathers"])
        self.assertAlmostEqual(found[0][2], sum(
            32000 / kernels.rate_at(rates, size * 16) for size in (1020, 1010, 30)) / 6)

    def test_noise(self):
        def row(first, second, kernel="k"):
            return {"kernel": kernel, "rounds": [first, second]}
        quiet = [row([1.0, 1.0, 1.0], [1.001, 1.001, 1.001]) for _ in range(30)]
        noise.set_bands(quiet)
        self.assertEqual(quiet[0]["noise"], 0.02)
        loud = [row([1.0, 1.0, 1.0], [1.0 + at / 100] * 3) for at in range(30)]
        noise.set_bands(loud)  # 95 % differ by less than 0.2755
        self.assertAlmostEqual(loud[0]["noise"], 0.2755, places=3)
        self.assertLessEqual(sum(noise.between_rounds(one["rounds"]) > one["noise"] for one in loud),
                             0.05 * 30 + 1)
        alone = [row([1.0, 1.0, 1.2, 1.4, 1.4], [])]
        noise.set_bands(alone)
        self.assertAlmostEqual(alone[0]["noise"], 0.2 / 1.2, places=3)

    def test_names(self):
        for name, wanted in (
                ("read/a/b.tns", ("read", "a/b.tns", None, None, None, None)),
                ("phi/x:5/float/alto-atomic/R32/all",
                 ("phi", "x:5", "float", "alto-atomic", 32, "all")),
                ("plan/double/float", ("plan", "double", "float", None, None, None)),
                ("plan/double", ("plan", None, "double", None, None, None)),
                ("cp_als/u/double/R16/no_dimension_tree",
                 ("cp_als", "u", "double", "no_dimension_tree", 16, None)),
                ("gather/double/R16/32KB/iterations:1/manual_time",
                 ("gather", None, "double", "32KB", 16, None))):
            found = names.parse(name)
            self.assertEqual(tuple(found[field] for field in (
                "kernel", "tensor", "scalar", "strategy", "rank", "mode")), wanted)
        self.assertEqual(names.family("uber:1000"), "uber")
        self.assertEqual(names.family("3x4x5:100:0.6"), "3x4x5:100:0.6")
        self.assertEqual(names.family("a:b"), "a:b")

    def test_words(self):
        self.assertEqual([text.number(value) for value in (0, 0.01234, 1234.5, 12.3456)],
                         ["0", "0.0123", "1230", "12.3"])
        self.assertEqual([text.seconds(value) for value in (2, 0.0123, 4.5e-6)],
                         ["2 s", "12.3 ms", "4.5 µs"])
        self.assertEqual([text.percent(share) for share in (0.0512, 0.73)], ["5.1 %", "73 %"])


if __name__ == "__main__":
    unittest.main()
