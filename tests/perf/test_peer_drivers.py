#!/usr/bin/env python3
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/peers: what is read of each library's output, and whole runs with scripts in their place. In
the folder peers, output of SPLATT and ALTO is recorded; that of the others is written after the
formats in their sources."""
import os
import stat
import sys
import unittest

import support

sys.path.insert(0, support.PERF)
from bench import results  # noqa: E402
from peers import alto, blco, catalogue, genten, hiparti, library  # noqa: E402
from peers import mm_csf, parti, pasta, sparten, splatt, tensors  # noqa: E402

TEXTS = os.path.join(support.HERE, "peers")


class Like:
    """A tensors.Tensor without files."""

    def __init__(self, dims, nonzeros):
        self.dims, self.nonzeros = dims, nonzeros

    def frostt(self):
        return "a.tns"

    with_dims = counts = sptensor = frostt

    def file(self, name, *_):
        return name


def case(on_gpu=False, nonzeros=10000, calls=20):
    return library.Case(Like([183, 24, 1140, 1717], nonzeros), 16, 2, calls, on_gpu)


def text(name):
    with open(os.path.join(TEXTS, name + ".txt"), encoding="utf-8") as file:
        return file.read()


def told(samples):
    """[(kernel, mode, strategy, type of values, the seconds' sum in microseconds)]"""
    return [(one.kernel, one.mode, one.strategy, one.scalar, round(1e6 * sum(one.seconds), 2))
            for one in samples]


class Parsers(unittest.TestCase):
    def assert_refused(self, words, read, *arguments):
        with self.assertRaises(library.Unreadable) as caught:
            read(*arguments)
        self.assertEqual(str(caught.exception), words)

    def test_splatt(self):
        found = splatt.read(text("splatt-cpd"), case(), "csf_two")
        self.assertEqual(told(found), [("mttkrp", "all", "csf_two", "double", 25000),
                                       ("cp_als", None, "csf_two", "double", 35000)])
        self.assertEqual(splatt.version(text("splatt-cpd")), "2.0.0")
        single = text("splatt-cpd").replace("383.00KB", "191.50KB")
        self.assertEqual(splatt.read(single, case(), "csf_two")[0].scalar, "float")

    def test_alto(self):
        self.assertEqual(told(alto.read_mttkrp(text("alto-mttkrp"), case())),
                         [("mttkrp", "all", None, "double", 2300)])
        self.assertEqual(told(alto.read_cp_als(text("alto-cp-als"), case())),
                         [("cp_als", None, None, "double", 3500)])
        self.assertEqual(told(alto.read_cp_apr(text("alto-cp-apr"), case())), [
            ("cp_apr", None, "mu", "double", 100000), ("phi", 0, "on_the_fly", "double", 2000),
            ("phi", 1, "on_the_fly", "double", 2200), ("phi", 2, "on_the_fly", "double", 2400),
            ("phi", 3, "on_the_fly", "double", 2600)])
        self.assertEqual(alto.version("/a b/cpd64 version 0.1.2\n"), "0.1.2")

    def test_blco(self):
        self.assertEqual(told(blco.read_mttkrp(text("blco-mttkrp"), case(True), 2)),
                         [("mttkrp", 2, None, None, 172.8)])
        self.assertEqual(told(blco.read_cp_als(text("blco-cp-als"), case(True))),
                         [("cp_als", None, None, None, 4680)])

    def test_mm_csf(self):
        self.assertEqual(told(mm_csf.read(text("mm-csf"), case(True))), [
            ("mttkrp", 0, None, "float", 122.9), ("mttkrp", 1, None, "float", 234.5),
            ("mttkrp", 2, None, "float", 345.6), ("mttkrp", 3, None, "float", 456.7)])

    def test_parti(self):
        self.assertEqual(told(parti.read(text("parti-ttm"), case(), 1)),
                         [("spttm", 1, "kernel", None, 6500)])

    def test_hiparti(self):
        self.assertEqual(told(hiparti.read_spttm(text("hiparti-ttm"), case(), 1)), [
            ("spttm", 1, "kernel", None, 6500), ("spttm", 1, "call", None, 10203.04)])
        self.assertEqual(told(hiparti.read_mttkrp(text("hiparti-mttkrp"), case())), [
            ("mttkrp", mode, None, None, 1500 + 1000 * mode) for mode in range(4)])
        self.assertEqual(told(hiparti.read_sptv(text("hiparti-ttv"), case())), [
            ("sptv", mode, "kernel", None, 2300 + 2000 * mode) for mode in range(4)])

    def test_pasta(self):
        for kernel, name in (("spttm", "pasta-ttm"), ("sptv", "pasta-ttv")):
            self.assertEqual(told(pasta.read(text(name), case(), kernel, 1)), [
                (kernel, 1, "kernel", None, 15000), (kernel, 1, "call", None, 10203.04)])
        self.assertEqual(told(pasta.read(text("pasta-mttkrp"), case(), "mttkrp", 1)),
                         [("mttkrp", 1, None, None, 15000)])
        self.assertEqual(told(pasta.read(text("pasta-ttm-gpu"), case(True), "spttm", 1))[0],
                         ("spttm", 1, "kernel", None, 15000))

    def test_sparten(self):
        found = told(sparten.read(text("sparten"), case()))
        self.assertEqual(found[:3], [("pi", 0, "stored_pi", "double", 2400),
                                     ("phi", 0, "stored_pi", "double", 2600),
                                     ("phi", 0, "reduced_footprint", "double", 2800)])
        self.assertEqual(len(found), 12)
        self.assertEqual(sparten.version(text("sparten")), "1.1.0")

    def test_genten(self):
        found = told(genten.read_mttkrp(text("genten-mttkrp"), case()))
        for one, expected in zip(found, (612, 1100, 1500, 2100)):
            self.assertAlmostEqual(one[-1] / expected, 1, delta=2e-3)  # of the digits printed
        self.assertEqual(told(genten.read_cp_als(text("genten-cp-als"), case())),
                         [("cp_als", None, None, None, 7500)])

    def test_what_is_missing_is_named(self):
        self.assert_refused("it printed no 'DIMS=... NNZ=...'", splatt.read, "", case(), "csf_two")
        self.assert_refused("it printed no time of 'MTTKRP'", splatt.read,
                            text("splatt-cpd").replace("  MTTKRP", "  M"), case(), "csf_two")
        self.assert_refused("it printed no 'ALTO runtime: ...'", alto.read_mttkrp, "", case())
        self.assert_refused(
            "it printed no 'PHI update mode: OTF' or 'PRE', without which its choice depends on a "
            "variable that is not set", alto.read_cp_apr,
            text("alto-cp-apr").replace("\tPHI update mode:     OTF\n", ""), case())
        self.assert_refused("it printed 0 of at least 4 lines with 'MI-HCSR-GPU-mode ...'",
                            mm_csf.read, text("mm-csf").replace("MI-HCSR", "M"), case(True))
        self.assert_refused("it printed no 'Calculating...'", parti.read, "", case(), 0)
        self.assert_refused("it printed 0 of at least 1 lines with '[Omp SpTns * Mtx]: ... s'",
                            pasta.read, "[Average CooTtm]: 0.000000001 s\n", case(), "spttm", 0)
        self.assert_refused("it printed 3 of 4 lines 'mode N'", hiparti.read_sptv,
                            text("hiparti-ttv").replace("mode 3\n", ""), case())
        self.assert_refused("it printed 11 of at least 12 lines with 'phi stored_pi mode N: ...'",
                            sparten.read, text("sparten").replace("\npi stored_pi mode 3", "\n"),
                            case())

    def test_times_that_are_none(self):
        for bad, words in (("nan", "the runtime is nan"), ("inf", "the runtime is inf"),
                           ("-1.0", "the runtime is -1.0: no time was measured"),
                           ("0.000000", "the runtime is 0.000000: no time was measured"),
                           ("soon", "the runtime is 'soon', which is no number"),
                           ("0.000019", "the runtime is 0.000019, too short for a clock of 1e-06: "
                                        "more --calls are needed")):
            self.assert_refused(words, alto.read_mttkrp,
                                text("alto-mttkrp").replace("0.046000", bad), case())
        self.assert_refused("the fit is nan", genten.read_cp_als, text("genten-cp-als").replace(
            "Final fit =  8.123456e-02", "Final fit = nan"), case())
        self.assert_refused("the fit is -nan", splatt.read, text("splatt-cpd").replace(
            "fit = 0.08123", "fit = -nan"), case(), "csf_two")

    def test_another_tensor_than_ours(self):
        words = "it read 10000 nonzeros of 20000"
        other = case(nonzeros=20000)
        self.assert_refused(words, splatt.read, text("splatt-cpd"), other, "csf_two")
        self.assert_refused(words, alto.read_mttkrp, text("alto-mttkrp"), other)
        self.assert_refused(words, mm_csf.read, text("mm-csf"), other)
        self.assert_refused(words, hiparti.read_mttkrp, text("hiparti-mttkrp"), other)
        self.assert_refused(words, sparten.read, text("sparten"), other)
        with self.assertRaisesRegex(library.Unreadable, "for 20000 nonzeros"):
            genten.read_mttkrp(text("genten-mttkrp"), other)

    def test_errors_that_end_with_status_0(self):
        self.assert_refused(
            "it printed '!ERROR! Only order 3 and 4 tensors are supported'", blco.read_mttkrp,
            "!ERROR! Only order 3 and 4 tensors are supported\n" + text("blco-mttkrp"),
            case(True), 2)
        self.assert_refused("its two ways of Phi differ by 1.000e-03", sparten.read,
                            text("sparten").replace("7.216e-15", "1.000e-03"), case())

    def test_every_run_names_a_program_and_kernels_of_its_library(self):
        for its in catalogue.LIBRARIES.values():
            for on_gpu in (False, True):
                if its.refuses(case(on_gpu)):
                    continue
                runs = its.runs(case(on_gpu))
                self.assertTrue(runs)
                for run in runs:
                    self.assertIn(run.program, its.programs)
                    self.assertLessEqual(set(run.kernels), set(its.timed))

    def test_refusals(self):
        self.assertEqual(splatt.LIBRARY.refuses(case(True)),
                         "it runs on hosts, and Sporades was built for GPUs")
        five = library.Case(Like([2, 2, 2, 2, 2], 3), 16, 2, 20, True)
        self.assertEqual(blco.LIBRARY.refuses(five), "it takes tensors of 3 or 4 modes")
        self.assertIsNone(blco.LIBRARY.refuses(case(True)))


class Files(support.Folder):
    def test_dialects(self):
        with open(self.path("a.tns"), "w", encoding="utf-8") as file:
            file.write("# a comment\n1 2 3 -1.5\n\n4 5 6 2\n")
        tensor = tensors.Tensor(self.path("a.tns"), self.path("a.tns"), self.folder)
        tensor.dims, tensor.nonzeros = [4, 5, 6], 2

        def contents(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
        self.assertEqual(contents(tensor.with_dims()), "3\n4 5 6\n1 2 3 -1.5\n4 5 6 2\n")
        self.assertEqual(contents(tensor.counts()), "1 2 3 2\n4 5 6 2\n")
        self.assertEqual(contents(tensor.sptensor()), "sptensor\n3\n4 5 6\n2\n1 2 3 2\n4 5 6 2\n")


GENERATOR = """#!/bin/sh
# sporades generate --like NAME -q -o PATH --nnz N
[ "$3" = uber ] || { echo "generate: no tensor is known as '$3'" >&2; exit 2; }
printf '1 2 3 4 5\\n' > "$6"
"""
OURS = """#!/bin/sh
echo ours >> %s
exec %s %s "$@"
"""
PEER = """#!/bin/sh
case "$1" in -v) echo "$0 version 9.8"; exit 0;; esac
echo %s "$OMP_NUM_THREADS" "$@" >> %s
%s
"""


class Runs(support.Folder):
    def setUp(self):
        super().setUp()
        self.script("sporades", GENERATOR)
        self.script("ours", OURS % (self.path("log"), sys.executable, support.FAKE))

    def script(self, name, words):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(words)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path

    def peer(self, name, program, words):
        """A folder with a program that says words of the shell."""
        self.script(os.path.join(name, program), PEER % (name, self.path("log"), words))
        return "%s=%s" % (name, self.path(name))

    def printing(self, name):
        """The shell's words that print a text."""
        return "cat %s" % os.path.join(TEXTS, name + ".txt")

    def run_peers(self, status, *peers, arguments=(), **environment):
        """(the results or None, stderr, the programs in their order without the probe)"""
        given = [word for one in peers for word in ("--peer", one)]
        _, err = self.run_command(
            status, "peers/run", *given, "--tensors", "uber:10000", "--rounds", "2", "--ours",
            self.path("ours"), "--generator", self.path("sporades"), "--output",
            self.path("p.json"), "--threads", "4", *arguments, **environment)
        log = []
        if os.path.exists(self.path("log")):
            with open(self.path("log"), encoding="utf-8") as file:
                log = file.read().splitlines()
        return (self.load("p.json") if os.path.exists(self.path("p.json")) else None), err, log[1:]

    def test_in_turn_round_by_round(self):
        found, _, log = self.run_peers(
            0, self.peer("splatt", "splatt", self.printing("splatt-cpd")),
            self.peer("parti", "ttm", self.printing("parti-ttm")))
        names = [line.split()[0] for line in log]
        self.assertEqual(names, 2 * (["ours"] + 3 * ["splatt"] + 4 * ["parti"]))
        self.assertTrue(all(line.split()[1] == "4" for line in log if line != "ours"))
        self.assertRegex(log[1], r"^splatt 4 cpd \S+/frostt.tns -r 16 -t 4 -i 20 --tol 0 --csf one")
        rows = {row["name"]: row for row in found["rows"] if row.get("peer")}
        self.assertEqual(len(rows), 3 * 2 + 4)
        row = rows["SPLATT/mttkrp/uber:10000/double/csf_two/R16/all"]
        self.assertEqual(row["rounds"], [[0.025], [0.025]])
        self.assertEqual((row["dims"], row["nnz"]), ([183, 24, 1140, 1717], 10000))
        self.assertEqual((row["threads"], row["label"]), (4, splatt.TIMED["mttkrp"]))
        row = rows["ParTI/spttm/uber:10000/float/kernel/R16/mode3"]
        self.assertEqual((row["median"], len(row["rounds"][1])), (0.0013, 5))
        self.assertEqual(found["software"]["peers"]["SPLATT"]["version"], "2.0.0")
        own = {row["kernel"] for row in found["rows"] if not row.get("peer")}
        self.assertEqual(own, {"mttkrp", "spttm", "cp_als"})
        self.assertTrue(found["complete"])

    def test_the_commands_of_perf_read_the_file(self):
        self.run_peers(0, self.peer("splatt", "splatt", self.printing("splatt-cpd")))
        self.assertEqual(results.load(self.path("p.json"))["left_out"], [])
        out, _ = self.run_command(0, "tables", self.path("p.json"))
        line = next(line for line in out.splitlines() if line.startswith("| MTTKRP | uber:10000"))
        self.assertIn("SPLATT csf\\_one | 2.0.0 (unknown commit) | 25 |", line)
        self.run_command(0, "claims", self.path("p.json"))
        self.run_command(0, "compare", self.path("p.json"), self.path("p.json"))

    def test_commits(self):
        peer = self.peer("splatt", "splatt", self.printing("splatt-cpd"))
        found, _, _ = self.run_peers(0, peer, arguments=["--commit", "splatt=0123abc"])
        self.assertEqual(found["software"]["peers"]["SPLATT"]["git"], "0123abc")
        git = ["git", "-C", self.path("splatt"), "-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "a"]):
            support.subprocess.run(git + words, check=True)
        commit = support.subprocess.check_output(git + ["rev-parse", "--short=12", "HEAD"]).decode()
        found, _, _ = self.run_peers(0, peer)
        self.assertEqual(found["software"]["peers"]["SPLATT"]["git"], commit.strip())
        self.peer("splatt", "splatt", self.printing("splatt-cpd") + "\n# changed")
        found, _, _ = self.run_peers(0, peer)
        self.assertEqual(found["software"]["peers"]["SPLATT"]["git"], commit.strip() + "-dirty")

    def test_what_fails_is_named_and_the_others_go_on(self):
        good = self.peer("splatt", "splatt", self.printing("splatt-cpd"))
        for words, why in (("echo 'error: no memory' >&2; exit 3", "cpd64: error: no memory"),
                           ("exit 4", "cpd64: exit status 4"),
                           ("kill -SEGV $$", "cpd64: ended by signal SIGSEGV"),
                           ("echo fine", "cpd64: it printed no 'ALTO runtime: ...'"),
                           ("sleep 60", "cpd64: it took more than 3 s")):
            found, err, log = self.run_peers(
                1, good, self.peer("alto", "cpd64", words),
                arguments=["--kernels", "mttkrp", "--timeout", "3"], FAKE_DELAY="0")
            self.assertIn("ALTO, uber:10000: %s\n" % why, err)
            self.assertEqual([one["why"] for one in found["left_out"]], [why])
            self.assertEqual(found["left_out"][0]["part"], "ALTO")
            self.assertEqual({row.get("peer") for row in found["rows"]}, {None, "SPLATT"})
            self.assertEqual(list(found["software"]["peers"]), ["SPLATT"])
            self.assertFalse(found["complete"])
            # it is not tried again
            self.assertEqual(sum(line.startswith("alto") for line in log), 1)
            os.remove(self.path("log"))

    def test_programs_that_are_not_there(self):
        found, err, _ = self.run_peers(0, self.peer("hiparti", "ttm", self.printing("hiparti-ttm")))
        self.assertIn("HiParTI, uber:10000: hiparti_ttv: there is no such program", err)
        self.assertEqual({row["kernel"] for row in found["rows"] if row.get("peer")}, {"spttm"})

    def test_on_a_gpu(self):
        found, err, log = self.run_peers(
            0, self.peer("mm-csf", "mttkrp", self.printing("mm-csf")),
            self.peer("splatt", "splatt", "exit 1"), FAKE_BACKEND="Cuda")
        self.assertIn("SPLATT, uber:10000: it runs on hosts, and Sporades was built for GPUs", err)
        self.assertEqual([line.split()[0] for line in log], 2 * ["ours", "mm-csf"])
        row = next(row for row in found["rows"] if row.get("peer") == "MM-CSF")
        self.assertEqual(row["rounds"], [[0.0001229], [0.0001229]])

    def test_bad_input(self):
        good = self.peer("splatt", "splatt", self.printing("splatt-cpd"))
        for peers, arguments, words in (
                (["nobody=/"], [], "there is no library 'nobody'"),
                (["splatt"], [], "'splatt' has no '='"),
                (["splatt=" + self.path("nowhere")], [], "there is no program of SPLATT there; its "
                                                         "programs are splatt"),
                ([good], ["--tensors", "nobody:5"], "no tensor is known as 'nobody'"),
                ([good], ["--tensors", "nowhere.tns"], "there is no file nowhere.tns"),
                ([good], ["--tensors", "uber:1,uber:1"], "two tensors are called uber:1"),
                ([good], ["--kernels", "spttm"], "of these libraries are timed cp_als, mttkrp"),
                ([good], ["--kernels", "dance"], "there is no kernel 'dance'"),
                ([good], ["--scalar", "splatt=int"], "--scalar takes double or float, not 'int'"),
                ([good], ["--ranks", "0"], "'0' is no number"),
                ([good], ["--ours", self.path("nowhere")], "there is no program"),
                ([good], ["--output", self.path("none/p.json")], "cannot be written")):
            found, err, _ = self.run_peers(2, *peers, arguments=arguments)
            self.assertIn(words, err)
            self.assertIsNone(found)


if __name__ == "__main__":
    unittest.main()
