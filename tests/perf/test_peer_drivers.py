#!/usr/bin/env python3
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/peers/run, with scripts in place of the libraries' programs: what runs when, what is
written, and what is said of programs that fail."""
import os
import re
import signal
import stat
import subprocess
import sys
import time
import unittest

import support

sys.path.insert(0, support.PERF)
from bench import papers, results, spttm  # noqa: E402
from bench.text import number  # noqa: E402
from peers import splatt, tensors  # noqa: E402

TEXTS = os.path.join(support.HERE, "peers")


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
        self.assertEqual(row["rounds"], [[0.00345], [0.00345]])
        self.assertEqual((row["dims"], row["nnz"]), ([183, 24, 1140, 1717], 10000))
        self.assertEqual((row["threads"], row["label"]), (4, splatt.TIMED["mttkrp"]))
        row = rows["ParTI/spttm/uber:10000/float/kernel/R16/mode3"]
        self.assertEqual((row["median"], len(row["rounds"][1])), (0.0123544, 5))
        self.assertEqual(found["software"]["peers"]["SPLATT"]["version"], "2.0.0")
        own = [row for row in found["rows"] if not row.get("peer")]
        self.assertEqual({row["kernel"] for row in own}, {"mttkrp", "spttm", "cp_als"})
        self.assertEqual({(row["strategy"], row["mode"]) for row in own if row["kernel"] == "mttkrp"},
                         {("flycoo", "all"), *(("automatic", mode) for mode in ("all", 0, 1, 2, 3))})
        self.assertEqual({row["strategy"] for row in own if row["kernel"] == "spttm"},
                         {"automatic", *spttm.STEPS, "spmm_rows", "spmm_nonzeros", "spmm_library"})
        self.assertTrue(found["complete"])

    def test_building(self):
        found, _, _ = self.run_peers(0, self.peer("alto", "cpd64", self.printing("alto-mttkrp")),
                                     arguments=["--kernels", "build"])
        self.assertEqual({(row["name"], row["rank"]) for row in found["rows"] if row.get("peer")},
                         {("ALTO/build/uber:10000/double", None)})
        self.assertEqual({row["name"] for row in found["rows"] if not row.get("peer")},
                         {"build/uber:10000/double/" + one for one in papers.BUILT})

    def test_the_commands_of_perf_read_the_file(self):
        self.run_peers(0, self.peer("splatt", "splatt", self.printing("splatt-cpd")))
        self.assertEqual(results.load(self.path("p.json"))["left_out"], [])
        out, _ = self.run_command(0, "tables", self.path("p.json"))
        line = next(line for line in out.splitlines() if line.startswith("| MTTKRP | uber:10000"))
        self.assertIn("SPLATT csf\\_one | 2.0.0 (unknown commit) | 3.45 |", line)
        self.run_command(0, "claims", self.path("p.json"))
        self.run_command(0, "compare", self.path("p.json"), self.path("p.json"))

    def test_commits(self):
        peer = self.peer("splatt", "splatt", self.printing("splatt-cpd"))
        found, _, _ = self.run_peers(0, peer, arguments=["--commit", "splatt=0123abc"])
        self.assertEqual(found["software"]["peers"]["SPLATT"]["git"], "0123abc")
        git = ["git", "-C", self.path("splatt"), "-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "a"]):
            subprocess.run(git + words, check=True)
        commit = subprocess.check_output(git + ["rev-parse", "--short=12", "HEAD"]).decode()
        found, _, _ = self.run_peers(0, peer)
        self.assertEqual(found["software"]["peers"]["SPLATT"]["git"], commit.strip())
        self.peer("splatt", "splatt", self.printing("splatt-cpd") + "\n# changed")
        found, _, _ = self.run_peers(0, peer)
        self.assertEqual(found["software"]["peers"]["SPLATT"]["git"], commit.strip() + "-dirty")

    def test_what_fails_is_named_and_the_others_go_on(self):
        good = self.peer("splatt", "splatt", self.printing("splatt-cpd"))
        for words, why in (("echo 'error: no memory' >&2; exit 3", "cpd64: error: no memory"),
                           ("echo \"error: cannot read $2\" >&2; exit 2",
                            "cpd64: error: cannot read frostt.tns"),
                           ("exit 4", "cpd64: exit status 4"),
                           ("kill -SEGV $$", "cpd64: ended by signal SIGSEGV"),
                           ("echo fine", "cpd64: it printed no 'ALTO runtime: ...'"),
                           ("sleep 60", "cpd64: it took more than 5 s")):
            found, err, log = self.run_peers(
                1, good, self.peer("alto", "cpd64", words),
                arguments=["--kernels", "mttkrp"] + ["--timeout", "5"] * words.startswith("sleep"))
            self.assertIn("ALTO, uber:10000: %s\n" % why, err)
            self.assertEqual([one["why"] for one in found["left_out"]], [why])
            self.assertEqual(found["left_out"][0]["part"], "ALTO")
            self.assertEqual({row.get("peer") for row in found["rows"]}, {None, "SPLATT"})
            self.assertEqual(list(found["software"]["peers"]), ["SPLATT"])
            self.assertFalse(found["complete"])
            # it is not tried again
            self.assertEqual(sum(line.startswith("alto") for line in log), 1)
            os.remove(self.path("log"))

    def test_an_interrupt(self):
        """Ends what runs; what was measured is in the file."""
        peers = [self.peer("splatt", "splatt", self.printing("splatt-cpd")),
                 self.peer("alto", "cpd64", "exec sleep 60")]
        command = support.command(
            "peers/run", *[word for one in peers for word in ("--peer", one)], "--tensors",
            "uber:10000", "--ours", self.path("ours"), "--generator", self.path("sporades"),
            "--output", self.path("p.json"), "--threads", "4")
        start = time.monotonic()
        running = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.DEVNULL)
        while time.monotonic() < start + 30 and not self.has_started("alto"):
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        self.assertEqual(running.wait(30), 130)
        self.assertLess(time.monotonic(), start + 50)
        found = self.load("p.json")
        self.assertEqual({row.get("peer") for row in found["rows"]}, {None, "SPLATT"})
        self.assertFalse(found["complete"])

    def has_started(self, name):
        if not os.path.exists(self.path("log")):
            return False
        with open(self.path("log"), encoding="utf-8") as file:
            return any(line.startswith(name) for line in file)

    def test_a_program_instead_of_its_folder(self):
        self.peer("genten", "perf_MTTKRP", self.printing("genten-mttkrp"))
        self.peer("splatt", "my-splatt", self.printing("splatt-cpd"))
        found, err, _ = self.run_peers(
            0, "genten=" + self.path("genten/perf_MTTKRP"),
            "splatt=" + self.path("splatt/my-splatt"))
        self.assertEqual({row.get("peer") for row in found["rows"]}, {None, "SPLATT", "GenTen"})
        self.assertIn("GenTen, uber:10000: genten: there is no such program", err)
        _, err, _ = self.run_peers(2, "genten=" + self.path("splatt/my-splatt"))
        self.assertIn("its programs are perf_MTTKRP, genten", err)

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
        self.assertEqual(found["software"]["backend"], "Cuda")
        times = {}
        for row in found["rows"]:
            if row["kernel"] == "mttkrp" and row["scalar"] == "float":
                times.setdefault(row.get("peer") or row["strategy"], {})[row["mode"]] = row["median"]
        self.assertEqual(list(times["flycoo-blocks"]), ["all"])
        out, _ = self.run_command(0, "claims", self.path("p.json"))
        for strategy in ("flycoo-blocks", "flycoo", "automatic"):
            line, = (line for line in out.splitlines()
                     if "| mttkrp: %s over MM-CSF |" % strategy in line)
            ratio = sum(times["MM-CSF"].values()) / times[strategy]["all"]  # all modes together
            self.assertRegex(line, r"[|:] %s \(0.01 M nonzeros\) \|$" % re.escape(number(ratio)))

    def test_products_with_vectors(self):
        found, _, _ = self.run_peers(0, self.peer("hiparti", "hiparti_ttv", self.printing("hiparti-ttv")),
                                     arguments=["--kernels", "sptv"])
        own = {row["strategy"] for row in found["rows"] if not row.get("peer")}
        self.assertEqual(own, {"automatic", "hocfs", "hocfs_blocks_csr"})
        out, _ = self.run_command(0, "claims", self.path("p.json"))
        line, = (line for line in out.splitlines()
                 if r"| sptv: hocfs\_blocks\_csr over HiParTI kernel |" in line)
        self.assertRegex(line, r"\(4; 0.01 M nonzeros\) \|$")  # modes, as ours has no row of all

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
