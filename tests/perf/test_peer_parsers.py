#!/usr/bin/env python3
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/peers: what is read of each library's output. The texts in the folder peers were recorded on
two busy cores, so that their times say little; but those of BLCO, MM-CSF, GenTen and pasta-ttm-gpu
are written after the formats in the sources."""
import os
import sys
import unittest

import support

sys.path.insert(0, support.PERF)
from peers import alto, blco, catalogue, genten, hiparti, library  # noqa: E402
from peers import mm_csf, parti, pasta, sparten, splatt  # noqa: E402

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


FIVE = library.Case(Like([2, 2, 2, 2, 2], 3), 16, 2, 20, True)


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
        self.assertEqual(told(found), [("mttkrp", "all", "csf_two", "double", 3450),
                                       ("cp_als", None, "csf_two", "double", 16473.68)])
        self.assertEqual(splatt.version(text("splatt-cpd")), "2.0.0")
        self.assert_refused("it made one iteration, which warms up", splatt.read, "\n".join(
            line for line in text("splatt-cpd").splitlines()
            if not line.startswith("  its =") or line.startswith("  its =   1")), case(), "csf_two")
        single = text("splatt-cpd").replace("382.50KB", "191.25KB")
        self.assertEqual(splatt.read(single, case(), "csf_two")[0].scalar, "float")

    def test_alto(self):
        self.assertEqual(told(alto.read_mttkrp(text("alto-mttkrp"), case())),
                         [("mttkrp", "all", None, "double", 7819.15),
                          ("build", None, None, "double", 723)])
        self.assertEqual(told(alto.read_cp_als(text("alto-cp-als"), case())),
                         [("cp_als", None, None, "double", 5415.79)])
        self.assertEqual(told(alto.read_cp_apr(text("alto-cp-apr"), case())), [
            ("cp_apr", None, "mu", "double", 114681.8), ("phi", 0, "on_the_fly", "double", 1391.74),
            ("phi", 1, "on_the_fly", "double", 1711.98), ("phi", 2, "on_the_fly", "double", 834.38),
            ("phi", 3, "on_the_fly", "double", 2391.36)])
        self.assertEqual(alto.version("/a b/cpd64 version 0.1.2\n"), "0.1.2")

    def test_blco(self):
        self.assertEqual(told(blco.read_mttkrp(text("blco-mttkrp"), case(True), 2)),
                         [("mttkrp", 2, None, None, 172.8), ("build", None, None, None, 1689)])
        self.assertEqual(told(blco.read_cp_als(text("blco-cp-als"), case(True))),
                         [("cp_als", None, None, None, 4680)])
        self.assertEqual(told(blco.read_mttkrp(text("blco-mttkrp"), FIVE, 2)),
                         [("mttkrp", 2, "atomic", None, 172.8), ("build", None, None, None, 1689)])
        self.assert_refused("it printed no 'BLCO: Blocking time = ...'", blco.read_mttkrp, text(
            "blco-mttkrp").replace("Blocking time", "Other time"), FIVE, 2)
        for given, kernel in ((case(True), "10"), (FIVE, "13")):
            for run in blco.runs(given):
                self.assertEqual(run.arguments[run.arguments.index("-k") + 1], kernel)

    def test_mm_csf(self):
        self.assertEqual(told(mm_csf.read(text("mm-csf"), case(True))), [
            ("mttkrp", 0, None, "float", 122.9), ("mttkrp", 1, None, "float", 234.5),
            ("mttkrp", 2, None, "float", 345.6), ("mttkrp", 3, None, "float", 456.7)])

    def test_parti(self):
        self.assertEqual(told(parti.read(text("parti-ttm"), case(), 1)),
                         [("spttm", 1, "kernel", None, 80414.78)])

    def test_hiparti(self):
        self.assertEqual(told(hiparti.read_spttm(text("hiparti-ttm"), case(), 1)), [
            ("spttm", 1, "kernel", None, 73758.57), ("spttm", 1, "call", None, 15187.34)])
        for on_gpu in (False, True):
            self.assertEqual("--impl-num=14" in hiparti.runs(case(on_gpu))[0].arguments, on_gpu)
        self.assertEqual(told(hiparti.read_mttkrp(text("hiparti-mttkrp"), case())), [
            ("mttkrp", mode, None, None, took)
            for mode, took in enumerate((32981.04, 30177.26, 32793.46, 31197.76))])
        self.assertEqual(told(hiparti.read_sptv(text("hiparti-ttv"), case())), [
            ("sptv", mode, "kernel", None, took)
            for mode, took in enumerate((80.72, 76.85, 53.29, 56.18))])

    def test_pasta(self):
        for kernel, name, loops, call in (("spttm", "pasta-ttm", 506.23, 3640.09),
                                          ("sptv", "pasta-ttv", 68456.78, 31196.38)):
            self.assertEqual(told(pasta.read(text(name), case(), kernel, 1)), [
                (kernel, 1, "kernel", None, loops), (kernel, 1, "call", None, call)])
        self.assertEqual(told(pasta.read(text("pasta-mttkrp"), case(), "mttkrp", 1)),
                         [("mttkrp", 1, None, None, 87803.34)])
        self.assertEqual(told(pasta.read(text("pasta-ttm-gpu"), case(True), "spttm", 1))[0],
                         ("spttm", 1, "kernel", None, 15000))

    def test_sparten(self):
        found = told(sparten.read(text("sparten"), case()))
        self.assertEqual(found[:3], [("pi", 0, "stored_pi", "double", 417.88),
                                     ("phi", 0, "stored_pi", "double", 273.01),
                                     ("phi", 0, "reduced_footprint", "double", 451.31)])
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
                                text("alto-mttkrp").replace("0.156383", bad), case())
        self.assert_refused("the fit is nan", genten.read_cp_als, text("genten-cp-als").replace(
            "Final fit =  8.123456e-02", "Final fit = nan"), case())
        self.assert_refused("the fit is -nan", splatt.read, text("splatt-cpd").replace(
            "fit = 0.00896", "fit = -nan"), case(), "csf_two")

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
        launch = "[CUDA SpTns * Mtx] spt_TTMKernel<<<782, (32, %d), 8192>>>\n"
        self.assert_refused("it asked for blocks of 32 x 64 threads: no kernel ran", parti.read,
                            launch % 64 + text("parti-ttm"), case(True), 0)
        on_gpu = text("parti-ttm").replace("OMP  SpTns", "CUDA SpTns")
        self.assertEqual(len(parti.read(launch % 32 + on_gpu, case(True), 0)), 1)
        self.assert_refused("it has no kernel for a tensor of 5 modes", pasta.read,
                            "Execute spt_MTTKRPKernelScratch (625, 16)\n"
                            "[Cuda SpTns MTTKRP]: 0.000002000 s\n", FIVE, "mttkrp", 0)
        self.assert_refused("its two ways of Phi differ by 1.000e-03", sparten.read,
                            text("sparten").replace("1.969e-16", "1.000e-03"), case())

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
        self.assertEqual(mm_csf.LIBRARY.refuses(FIVE), "it takes tensors of 3 or 4 modes")
        self.assertIsNone(blco.LIBRARY.refuses(case(True)))


if __name__ == "__main__":
    unittest.main()
