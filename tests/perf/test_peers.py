#!/usr/bin/env python3
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of other libraries in results files: what stands beside them, and that they count nowhere
else."""
import copy
import json
import os
import sys
import types
import unittest

import support

sys.path.insert(0, support.PERF)
from bench import claims, exhibit, names, peers, results  # noqa: E402

TENSOR = "a<b> \"quoted\" & 'single' $x^2$ `|`.tns"
DRAWING = support.drawing_python()
NATIVE = {"pull": 2.0, "atomic": 8.0}
OWN = {"automatic": 1.0, "coo-alto-atomic": 16.0, "atomic": 5.0}
PEER = {"reduced_footprint": 10.0, "stored_pi": 4.0}


def own_file():
    with open(support.DATA, encoding="utf-8") as file:
        found = json.load(file)
    for row in found["rows"]:  # its times of Φ in another file are to be told from these
        if row["kernel"] == "phi" and row["rounds"]:
            row["median"] = 100.0
    return found


def peer_rows(scale=1.0, modes=("all",)):
    """Φ of a library on the first tensor, in seconds as PEER has them."""
    rows = []
    for strategy, seconds in PEER.items():
        for mode in modes:
            rows.append({
                "name": "SparTen/phi/%s/double/%s/R16/%s" % (TENSOR, strategy, mode),
                "kernel": "phi", "native": False, "peer": "SparTen", "tensor": TENSOR,
                "scalar": "double", "strategy": strategy, "rank": 16, "mode": mode, "threads": 4,
                "dims": [300, 200, 100], "nnz": 100000, "rounds": [[scale * seconds]],
                "median": scale * seconds, "min": scale * seconds, "noise": 0.02, "bytes": 5e9,
                "bytes_per_second": 5e9 / scale / seconds})
    return rows


def with_peers(scale=1.0, **changes):
    """A file of round numbers that was measured before the other."""
    found = dict(own_file(), **changes)
    own = next(row for row in found["rows"] if row["kernel"] == "phi" and row["tensor"] == TENSOR)
    found["rows"] = []
    for native, times in ((True, NATIVE), (False, OWN)):
        for strategy, seconds in times.items():
            name = "phi%s/%s/double/%s/R16/all" % ("_native" if native else "", TENSOR, strategy)
            found["rows"].append(dict(own, name=name, native=native, strategy=strategy,
                                      rounds=[[seconds]], median=seconds, min=seconds))
    found["date"] = "2026-01-01T00:00:00Z"
    found["rows"] += peer_rows(scale)
    found["software"] = dict(found["software"],
                             peers={"SparTen": {"version": "1.2", "git": "<fedcba>"}})
    return found


def only_peers():
    found = with_peers(date="2027-01-01T00:00:00Z")
    found["rows"] = [row for row in found["rows"] if row.get("peer")]
    found["date"] = "2027-01-01T00:00:00Z"
    found["software"]["git"] = "not-of-ours"
    return found


class Files(support.Folder):
    def merged(self, *contents):
        files = [results.load(self.save("%d.json" % at, one)) for at, one in enumerate(contents)]
        machine, = results.merge(files)
        machine.peak = None
        return machine

    def test_rows_of_a_peer_are_apart(self):
        machine = self.merged(own_file(), with_peers())
        for rows in (machine.rows.values(), machine.timed()):
            self.assertFalse([row for row in rows if row.get("peer")])
        self.assertEqual(len(machine.peer_rows()), 2)
        both = machine.beside_peers()
        self.assertEqual(len([row for row in both.timed() if row.get("peer")]), 2)
        name = ("phi/%s/double/automatic/R16/all" % TENSOR, 4)
        self.assertEqual(machine.rows[name]["median"], 100)  # of the latest file
        self.assertEqual(both.rows[name]["median"], 1)       # of the file with the library's rows

    def test_a_file_of_a_peer_alone_describes_no_machine_of_ours(self):
        for order in ((own_file(), only_peers()), (only_peers(), own_file())):
            machine = self.merged(*order)
            self.assertEqual(machine.latest["software"]["git"], "0123456789ab")
            self.assertEqual(len(machine.beside_peers().rows), len(machine.rows) + 2)

    def test_of_two_files_the_later_one_counts(self):
        later = with_peers(scale=2.0)
        later["date"] = "2026-01-03T00:00:00Z"
        machine = self.merged(later, with_peers())
        self.assertEqual(sorted(row["median"] for row in machine.peer_rows().values()), [8, 20])

    def test_ours_beside_a_library_were_measured_in_turn_with_it(self):
        other = with_peers(date="2026-01-03T00:00:00Z")  # later, of another library
        for row in other["rows"]:
            row.update(median=row["median"] / 2, rounds=[[row["median"] / 2]])
            if row.get("peer"):
                row.update(peer="MiniSparTen", name="Mini" + row["name"])
        alone = dict(own_file(), date="2026-01-04T00:00:00Z")
        machine = self.merged(with_peers(), other, alone)

        def numbers(compared):
            return [one.value for one in claims.values(compared, machine, [machine])]
        self.assertEqual(numbers("phi: automatic over SparTen stored_pi"), [4])
        self.assertEqual(numbers("phi: automatic over MiniSparTen stored_pi"), [4])
        self.assertEqual(numbers("phi: alto over SparTen stored_pi"), [])  # of the last file only
        self.assertEqual({row["median"] for row in machine.beside({"SparTen"}).timed()},
                         {1, 2, 4, 5, 8, 10, 16})
        later = with_peers(scale=3.0, date="2026-01-05T00:00:00Z")
        machine.add(results.load(self.save("later.json", later)))
        self.assertEqual(numbers("phi: automatic over SparTen stored_pi"), [12])
        self.assertEqual(numbers("phi: automatic over MiniSparTen stored_pi"), [4])
        partial = with_peers(scale=5.0, date="2026-01-06T00:00:00Z")  # it failed on what came after
        of_peer = [row for row in partial["rows"] if row.get("peer")]
        partial["rows"] = [row for row in partial["rows"] if row not in of_peer[1:]]
        machine.add(results.load(self.save("partial.json", partial)))
        self.assertEqual(numbers("phi: automatic over SparTen stored_pi"), [12])
        data = types.SimpleNamespace(scalar="double", rank=16)
        for library, wanted in (("SparTen", 12), ("MiniSparTen", 4)):
            found = exhibit.speedups(data, machine, [exhibit.Series("x", "phi", "automatic")],
                                     exhibit.of_peer(library, "phi", "stored_pi"))
            self.assertEqual(found, {"x": {TENSOR: wanted}})

    def test_modes_of_a_library_are_added_up(self):
        def numbers(modes):
            file = with_peers()
            file["rows"] = [row for row in file["rows"] if not row.get("peer")] + peer_rows(modes=modes)
            machine = self.merged(file)
            found = claims.values("phi: automatic over SparTen stored_pi", machine, [machine])
            return [(one.value, len(one.rows)) for one in found]
        self.assertEqual(numbers((0, 1, 2)), [(12, 4)])  # our row of all modes, and three
        self.assertEqual(numbers((0, 1)), [])
        self.assertEqual(numbers((0, 1, 2, "all")), [(4, 2)])

    def test_pasta_stands_by_its_kernels(self):
        file = with_peers()
        rows = [dict(row, kernel=kernel, peer="PASTA", strategy=strategy, median=seconds,
                     name="PASTA/%s/%s/%s" % (kernel, strategy, row["mode"]))
                for row in peer_rows(modes=(0, 1, 2)) if row["strategy"] == "stored_pi"
                for kernel, strategy, seconds in (("mttkrp", None, 1.0), ("spttm", "kernel", 2.0),
                                                  ("spttm", "call", 4.0))]
        own = next(row for row in file["rows"] if row["strategy"] == "automatic")
        file["rows"] = rows + [dict(own, kernel=kernel, name=kernel) for kernel in ("mttkrp", "spttm")]
        machine = self.merged(file)
        for kernel, wanted in (("mttkrp", 3), ("spttm", 6)):
            one, = claims.values("%s: automatic over PASTA" % kernel, machine, [machine])
            self.assertEqual(one.value, wanted)

    def test_a_sum_of_modes_in_a_cell(self):
        file = with_peers()
        file["rows"] = [row for row in file["rows"] if not row.get("peer")] + peer_rows(modes=(0, 1, 2))
        machine = self.merged(file)
        self.assertEqual(claims.cell("phi: automatic over SparTen stored_pi", "1 or more", machine,
                                     [machine]), "holds: 12 (0.1 M nonzeros)")

    def test_bad_rows(self):
        for value in ("", 3, None):
            bad = with_peers()
            bad["rows"][-1]["peer"] = value
            with self.assertRaisesRegex(results.Bad, "row 6 has no good 'peer'"):
                results.load(self.save("bad.json", bad))
        bad = with_peers()
        bad["software"]["peers"] = {"SparTen": "1.2"}
        with self.assertRaisesRegex(results.Bad, "no good 'peers'"):
            results.load(self.save("bad.json", bad))

    def test_efficiencies(self):
        machine = self.merged(own_file(), with_peers())
        found = peers.implementations(machine, "phi", "double", 16)
        self.assertEqual([label for label, *_ in found], [
            "native pull", "native atomic", "SparTen reduced_footprint", "SparTen stored_pi",
            "Sporades", "Sporades coo-alto-atomic"])
        shares = {label: {tensor: share for tensor, (share, _) in one.items()}
                  for label, one in peers.performance(found).items()}
        self.assertEqual(shares, {
            "native pull": {TENSOR: 1}, "native atomic": {TENSOR: 0.25},
            "SparTen reduced_footprint": {TENSOR: 0.2}, "SparTen stored_pi": {TENSOR: 0.5},
            "Sporades": {TENSOR: 2}, "Sporades coo-alto-atomic": {TENSOR: 0.125}})
        shares = peers.architectural(found, 10e9)
        self.assertEqual(shares["SparTen stored_pi"], {TENSOR: (0.125, 0.02)})
        self.assertEqual(shares["SparTen reduced_footprint"], {TENSOR: (0.05, 0.02)})

    def test_modes_are_added_and_other_tensors_left_out(self):
        file = with_peers()
        file["rows"] = [row for row in file["rows"] if not row.get("peer")] + peer_rows(
            modes=(0, 1, 2))
        other = dict(file["rows"][0], name="phi_native/other/double/pull/R16/all", tensor="other")
        file["rows"].append(other)
        found = {label: one for label, _, _, one in
                 peers.implementations(self.merged(file), "phi", "double", 16)}
        self.assertEqual(found["SparTen stored_pi"][TENSOR].seconds, 12)
        self.assertEqual(list(found["native pull"]), [TENSOR])
        file["rows"] = [row for row in file["rows"] if row["mode"] != 2]
        found = [label for label, *_ in
                 peers.implementations(self.merged(file), "phi", "double", 16)]
        self.assertNotIn("SparTen stored_pi", found)

    def test_strategies_of_a_peer_may_be_named_as_ours_or_not_at_all(self):
        file = with_peers()
        for strategy, seconds in (("automatic", 0.1), (None, 0.2)):
            file["rows"].append(dict(file["rows"][-1], name="SparTen/%s" % strategy,
                                     strategy=strategy, median=seconds))
        found = {label: one[TENSOR].seconds for label, _, _, one in
                 peers.implementations(self.merged(file), "phi", "double", 16)}
        self.assertEqual([found[label] for label in ("Sporades", "SparTen automatic", "SparTen")],
                         [1, 0.1, 0.2])

    def test_two_sizes_of_a_look_alike_are_not_compared(self):
        file = with_peers()
        template = file["rows"][0]
        file["rows"] = []
        for kernel, size, seconds in (("phi_native", 100, 1.0), ("phi_native", 200, 2.0),
                                      ("phi", 100, 4.0)):
            name = "%s/uber:%d/double/pull/R16/all" % (kernel, size)
            file["rows"].append(dict(template, **names.parse(name), name=name, nnz=size,
                                     median=seconds, rounds=[[seconds]]))
        found = peers.implementations(self.merged(file), "phi", "double", 16)
        self.assertEqual(peers.performance(found)["Sporades"], {})
        self.assertEqual(list(peers.performance(found)["native pull"]), ["uber"])

    def test_claims_take_the_rows_of_the_same_file(self):
        machine = self.merged(own_file(), with_peers())

        def numbers(compared):
            return [value.value for value in claims.values(compared, machine, [machine])]
        self.assertEqual(numbers("phi: SparTen reduced_footprint over native atomic"), [0.8])
        self.assertEqual(numbers("phi: SparTen stored_pi over native pull"), [0.5])
        self.assertEqual(numbers("phi: automatic over SparTen stored_pi"), [4])
        self.assertEqual(set(numbers("phi: automatic over pull")), {1})  # of the latest file
        self.assertEqual(claims.cell("phi: SparTen reduced_footprint over native atomic",
                                     "CPU: 0.47 to 0.96", machine, [machine]),
                         "holds: 0.8 (0.1 M nonzeros)")
        alone = self.merged(own_file())
        self.assertEqual(claims.cell("phi: SparTen reduced_footprint over native atomic",
                                     "CPU: 0.47 to 0.96", alone, [alone]), "not measured")


class Commands(support.Folder):
    def fast(self):
        """Rows that would be the best of all if they counted."""
        found = own_file()
        found["rows"] += peer_rows(scale=1e-9)
        for row in peer_rows(scale=1e-9):  # as if automatic, and another kernel
            found["rows"] += [dict(row, name=row["name"] + kernel + str(native), kernel=kernel,
                                   native=native, strategy=strategy)
                              for kernel in ("phi", "mttkrp") for native in (False, True)
                              for strategy in ("automatic", "pull", "sorted", "atomic")]
        return found

    def test_tables(self):
        first, second = self.save("own.json", own_file()), self.save("peers.json", with_peers())
        out, _ = self.run_command(0, "tables", first, second)
        line = next(line for line in out.splitlines() if "SparTen reduced\\_footprint" in line)
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        self.assertEqual([cell.strip() for cell in cells[2:]], [
            "SparTen reduced\\_footprint", "1.2 (&lt;fedcba&gt;)", "10000 (0.8 %)", "5.00", "1.25",
            "10.00", "0.62"])

    def test_nothing_else_counts_them(self):
        own = self.save("r.json", own_file())
        for command in ("tables", "claims"):
            before, _ = self.run_command(0, command, own)
            self.save("r.json", self.fast())
            after, _ = self.run_command(0, command, own)
            self.save("r.json", own_file())
            if command == "tables":
                head, _, rest = after.partition("### Imaginary &lt;b&gt;chip&lt;/b&gt; &amp; Sons "
                                                "\"x\", 4 cores (OpenMP): over other libraries")
                self.assertTrue(rest)
                after = head + rest[rest.index("### "):]
            else:
                before, after = ([line for line in text.splitlines() if "SparTen" not in line]
                                 for text in (before, after))
            self.assertEqual(before, after)

    def test_a_slower_peer_is_no_regression(self):
        old, new = with_peers(), with_peers(scale=3.0)
        out, _ = self.run_command(0, "compare", self.save("old.json", old),
                                  self.save("new.json", new))
        self.assertIn("5 rows compared: 0 slower", out)

    @unittest.skipUnless(DRAWING, "there is no matplotlib")
    def test_the_report(self):
        files = [self.save("own.json", own_file()), self.save("peers.json", with_peers())]
        self.run_command(0, "report", *files, "--output", self.path("r.html"), "--pictures",
                         self.path("png"), python=DRAWING)
        drawn = set(os.listdir(self.path("png")))
        self.assertLess({"phi-performance-0.png", "phi-architecture-0.png"}, drawn)
        with open(self.path("r.html"), encoding="utf-8") as file:
            source = file.read()
        for words in ("Performance efficiency of Φ", "Architectural efficiency of Φ",
                      "Of SparTen, stored_pi reads", "over other libraries",
                      "<tr><td>SparTen/phi/a&lt;b&gt;"):
            self.assertIn(words, source)
        alone = own_file()
        alone["rows"] = copy.deepcopy(only_peers()["rows"])
        _, err = self.run_command(2, "report", self.save("alone.json", alone), "--output",
                                  self.path("r.html"), python=DRAWING)
        self.assertIn("there is no row with times", err)


if __name__ == "__main__":
    unittest.main()
