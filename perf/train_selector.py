#!/usr/bin/env python3
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the strategies of all kernels on a set of tensors, and fits the trees of the selector.

  train_selector.py measure SPORADES_PERF TIMES.json [TENSOR...]
      runs every strategy on every tensor, or on those given; adds times and features to the file,
      in which the least of all measurements stays
      (SCALARS, RANKS, FILTER in the environment: only these)
  train_selector.py fit hosts|gpus TIMES.json [TREES.hpp]
      fits a tree a kernel, prints how well they choose for tensors that they were not fitted to,
      and replaces those of that kind of backend in TREES.hpp. Of SpTTM the library may choose three
      strategies. The others, and the library of the GPU's vendor, are reported only: how often one
      of them would have been the fastest, and a tree of all.
"""
import collections
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from bench import names, papers, spttm, trees  # noqa: E402
from bench.trees import Case  # noqa: E402

# Dims, nonzeros and skew (0: uniform) of random tensors, and names that resemble published ones.
TENSORS = [
    "200x200x200:3000000:0", "1000x1000x1000:3000000:0", "10000x10000x10000:3000000:0",
    "10000x10000x10000:3000000:0.8", "100000x100000x100000:3000000:0",
    "100000x100000x100000:3000000:0.9", "1000000x1000000x1000000:3000000:0.5",
    "30x2000x100000:3000000:0.6", "100000x100000x5:3000000:0.7", "2000000x3000x40:3000000:0.4",
    "500x500x20000:3000000:0", "5000x3000x400:300000:0.5", "40000x40000x40000:300000:0.7",
    "50x50x50x50:2000000:0.3", "1000x1000x1000x1000:3000000:0.6",
    "6186x24x77x32:4000000:0.4", "2482x2862x14036x17:3100000:0.6",
    "100000x50000x200x10:3000000:0.8", "500000x500000x10x10:3000000:0.5",
    "20x20x20x50000:2000000:0.2", "20x20x500x500x500:3000000:0", "50x50x50x50x50:3000000:0.3",
    "8000x8000x8000x8000x8000:2000000:0.8", "30x30x30x30x30x30:2000000:0.5",
    "2000x10x300x10x40x7:2000000:0.7", "12x200x8x40x3x900x30:1500000:0.7",
    "30x30x30x30x30x30x30x30:1000000:0.6", "60000x90000x9:400000:0.6", "uber", "nell-2:5000000",
    "nell-1:4000000", "delicious-4d:4000000", "vast-2015:4000000", "uniform:3000000", "hub:3000000",
    "160000x11000x2x100x90:3000000:0.9", "200000x500x50x20:3000000:0.5",
    "1000000x100x100:3000000:0.6", "50000x300x40:2000000:0.8", "400000x2000x2000:3000000:0.3",
    "100x60000x8x25:3000000:0.7", "3000x3000x3000x50:3000000:0.6",
    "20000x20000x100x10:2000000:0.5", "300x300x300x300x300:2000000:0.4",
    "100x100x100x100x100x100:2000000:0.6", "15x15x15x15x15x15x15:1500000:0.5",
    "500x400x300x20x10x5:2000000:0.6", "150000x600x30:2000000:0.4", "30000x30000x30000:1000000:0.5",
    "3000x3000x3000:500000:0.3", "80000x20x20x20x20:2000000:0.6", "10000x40x40x40x10:3000000:0.5",
    "5x5x200000x30:2000000:0.4", "300000x200000x20:3000000:0.6", "200000x100000x50:2000000:0.4",
    "60000x50x2000:3000000:0.6", "120000x1500x50:3000000:0.7", "80000x3000x10x5:3000000:0.5",
    "100000x60000x10x4:3000000:0.7", "10000x30x20:200000:0.5", "30000x100x20:500000:0.4",
    "20000x3000x100:400000:0.5", "5000x40x10:100000:0.6",
]
STRATEGIES = "sorted,fibers:1,fibers:2,fibers:3,fibers:4,alto,automatic"
FILTER = ("^mttkrp/.*/mode|^phi/.*/(pull|alto)/.*/mode|"
          "^spttm/.*/(lanes|spmm_[a-z]+|" + "|".join(spttm.STEPS) + ")/R16/mode|"
          "^ttm_chain|^sptv/.*/(hocoo|hocsr|cfb|hocfs)/|^selector")


def measure(binary, output, tensors):
    results = {}
    if os.path.exists(output):
        with open(output) as file:
            results = json.load(file)
    scalars = os.environ.get("SCALARS", "double,float")
    ranks = os.environ.get("RANKS", "16,32")
    for tensor in tensors or TENSORS:
        subprocess.run(
            [binary, "--benchmark_out=" + output + ".one", "--tensors=" + tensor,
             "--ranks=" + ranks, "--strategies=" + STRATEGIES, "--scalars=" + scalars,
             "--benchmark_filter=" + os.environ.get("FILTER", FILTER),
             "--benchmark_repetitions=3", "--benchmark_out_format=json"],
            stdout=subprocess.DEVNULL, check=True)
        with open(output + ".one") as file:
            benchmarks = json.load(file)["benchmarks"]
        os.remove(output + ".one")
        for one in benchmarks:
            name = one["run_name"].split("/iterations:")[0]
            if one.get("aggregate_name") == "min":
                before = results.get(name, one)
                one["real_time"] = min(one["real_time"], before["real_time"])
                results[name] = one
        with open(output + ".new", "w") as file:
            json.dump(results, file, indent=1)
        os.replace(output + ".new", output)
        print(tensor, len(results), file=sys.stderr, flush=True)


def runs_of(results):
    """Names as (kernel, tensor, scalar, ...): results."""
    return {tuple(name.split("/")): one for name, one in results.items()}


def case_of(tensor, features, times):
    """Look-alikes of one tensor are left out together."""
    return Case(names.family(tensor), features, times)


def by_case(runs, kernel):
    """{(tensor, scalar, rank, mode): {strategy: time}} of a kernel's benchmarks."""
    cases = collections.defaultdict(dict)
    for name, one in runs.items():
        if name[0] != kernel:
            continue
        tensor, scalar, rest = name[1], name[2], list(name[3:])
        rank = next((part for part in rest if part[0] == "R" and part[1:].isdigit()), "")
        mode = next((part for part in rest if part.startswith("mode")), "").replace(":", "")
        strategy = next(part for part in rest if part not in (rank,) and not part.startswith("mode"))
        cases[(tensor, scalar, rank, mode)][strategy] = one["real_time"]
    return cases


def mode_features(runs, key):
    return runs.get(("selector", key[0], key[1], key[3]))


def split_steps(lengths, order, times, row_bytes):
    """The comparisons of a split with the one chosen before it, as the library makes them."""
    at = 0
    for k in range(1, order - 1):
        if "split%d" % k not in times or "split%d" % at not in times:
            break
        features = {"order": order, "run_length": lengths[k], "longer_run_length": lengths[at],
                    "modes_saved": k - at, "modes_left": order - 1 - k, "row_bytes": row_bytes}
        yield k, at, features
        if times["split%d" % k] < times["split%d" % at]:
            at = k


def padded_bytes(rank, scalar):
    return spttm.row_bytes(int(rank[1:]), scalar)


def mttkrp_cases(runs):
    """Cases of the split, of every mode, and of the layout, of every tensor."""
    split, layout = [], []
    rows = collections.defaultdict(dict)
    for (tensor, scalar, rank, mode), times in by_case(runs, "mttkrp").items():
        found = mode_features(runs, (tensor, scalar, rank, mode))
        if not found or "sorted" not in times:
            continue
        order = int(found["order"])
        named = {"split0": times["sorted"]}
        named.update({"split%d" % k: times["fibers:%d" % k] for k in range(1, order - 1)
                      if "fibers:%d" % k in times})
        lengths = [1] + [found["length%d" % k] for k in range(1, order - 1)]
        for k, at, features in split_steps(lengths, order, named, padded_bytes(rank, scalar)):
            split.append(case_of(tensor, features, {"deeper": named["split%d" % k],
                                                 "stay": named["split%d" % at]}))
        sums = rows[(tensor, scalar, rank)]
        for choice, time in (("rows", min(named.values())), ("alto", times.get("alto"))):
            if time is not None:
                sums.setdefault(choice, []).append(time)
    for (tensor, scalar, rank), sums in rows.items():
        features = runs.get(("selector", tensor, scalar, rank))
        whole = {choice: sum(times) for choice, times in sums.items()
                 if len(times) == len(sums["rows"])}
        if features and len(whole) > 1:
            layout.append(case_of(tensor, features, whole))
    return split, layout


def phi_cases(runs):
    sums = collections.defaultdict(lambda: collections.defaultdict(list))
    for (tensor, scalar, rank, mode), times in by_case(runs, "phi").items():
        for choice, time in times.items():
            sums[(tensor, scalar, rank)][choice].append(time)
    cases = []
    for (tensor, scalar, rank), times in sums.items():
        features = runs.get(("selector", tensor, scalar, rank))
        whole = {choice: sum(all_modes) for choice, all_modes in times.items()
                 if len(all_modes) == len(times["pull"])}
        if features and len(whole) > 1:
            cases.append(case_of(tensor, features, whole))
    return cases


def plain_cases(runs, kernel, names):
    cases = []
    for key, times in by_case(runs, kernel).items():
        found = mode_features(runs, key)
        chosen = {names[choice]: time for choice, time in times.items() if choice in names}
        if found and len(chosen) > 1:
            features = dict(found)
            features["row_bytes"] = padded_bytes(key[2] or "R1", key[1])
            cases.append(case_of(key[0], features, chosen))
    return cases


def line_of(regrets):
    return "accuracy %.2f, mean %.3f, worst %.2f" % (
        trees.mean(one == 1 for one in regrets), trees.mean(regrets), max(regrets))


def report(name, cases, features):
    """Prints the cross-validation and returns the best number of leaves: 0 for a single choice."""
    print("%s: %d cases of %d tensors" % (name, len(cases), len({c.tensor for c in cases})))
    for choice in trees.choices_of(cases):
        print("  always %-14s %s" % (choice, line_of([case.regret(choice) for case in cases])))
    chosen = trees.chosen_without(cases, features)
    tested = [case for case in cases if id(case) in chosen[0]]
    for leaves, own in chosen.items() if tested else ():
        print("  %s: %s" % ("%d leaves" % leaves if leaves else "the best single choice",
                            line_of([case.regret(own[id(case)]) for case in tested])))
    found = trees.left_out(cases, features)
    if found:
        print("  as many leaves as the other tensors want: "
              + line_of([case.regret(choice) for case, choice, _ in found]))
    return trees.size_of(cases, chosen)


def report_contenders(runs, where):
    """Prints how often what `automatic` may not choose is faster than all that it may, and a tree of
    all, which the library cannot have."""
    cases = plain_cases(runs, "spttm", {name: name for name in ALL_OF_SPTTM})
    cases = [case for case in cases if all(name in case.times for name in OF_SPTTM)]
    if not cases:
        return
    for contender in trees.choices_of(cases):
        if contender not in OF_SPTTM:
            own = [case for case in cases if contender in case.times]
            won = [case for case in own
                   if case.times[contender] < min(case.times[name] for name in OF_SPTTM)]
            print("spttm on %s: %s is faster than all that automatic may choose in %d of %d cases"
                  % (where, contender, len(won), len(own)))
    report("spttm on %s, of all contenders (not in the library)" % where, cases, FIBERS)


def nodes_of(tree):
    """The nodes in the library's order: what follows a question is the answer up to the threshold."""
    nodes = []

    def add(node):
        if len({leaf.choice for leaf in node.leaves()}) == 1:
            nodes.append(("count", 0, 0, '"%s"' % node.leaves()[0].choice))
            return
        at = len(nodes)
        nodes.append(None)
        add(node.up_to)
        past = len(nodes)
        add(node.past)
        nodes[at] = (node.feature, float("%.4g" % node.threshold), past, "nullptr")

    add(tree.top)
    return nodes


def written(name, what, nodes):
    lines = ["/// %s" % what, "inline constexpr TreeNode %s[] = {" % name]
    for feature, threshold, past, choice in nodes:
        lines.append("    {Feature::%s, %.10g, %d, %s}," % (feature, threshold, past, choice))
    lines[-1] = lines[-1][:-1] + "};"
    return "\n".join(lines) + "\n"


LAYOUT = ["second_level_share", "longest_share"]
SPLIT = ["order", "run_length", "longer_run_length", "modes_saved", "modes_left", "row_bytes"]
FIBERS = list(spttm.FEATURES)
OF_SPTTM = spttm.CHOSEN
ALL_OF_SPTTM = OF_SPTTM + ("spmm_library", *papers.VENDORS) + spttm.STEPS


def kernels_of(runs, where):
    """(name, words, cases, features) of every tree of one kind of backend."""
    split, layout = mttkrp_cases(runs)
    result = [("mttkrp_split", "The modes that MTTKRP's `fibers` multiplies once a run.", split,
               SPLIT)]
    if where == "hosts":
        result.append(("mttkrp_layout", "MTTKRP's nonzeros: rows in order or in a linear order.",
                       layout, LAYOUT))
        result.append(("phi_layout", "Phi's nonzeros: rows in order or in a linear order.",
                       phi_cases(runs), LAYOUT))
    result.append(("spttm", "SpTTM's strategy.",
                   plain_cases(runs, "spttm", {name: name for name in OF_SPTTM}), FIBERS))
    # CFB reads the same as HOCFS, in about the same time, and refuses more tensors.
    result.append(("sptv", "SpTV's strategy.",
                   plain_cases(runs, "sptv", {name: name for name in
                                              ("hocfs", "hocsr", "hocoo")}),
                   ["order", "nonzeros", "empty_rows"]))
    result.append(("ttm_chain", "The strategy of TTM chains.",
                   plain_cases(runs, "ttm_chain", {name: name for name in
                                                   ("csf", "fused", "semi_sparse")}),
                   ["order", "time_share"]))
    return result


def fit(where, path, output):
    with open(path) as file:
        runs = runs_of(json.load(file))
    text = open(output).read() if output else ""
    for name, words, cases, features in kernels_of(runs, where):
        if not cases:
            continue
        leaves = report("%s on %s" % (name, where), cases, features)
        nodes = (nodes_of(trees.Tree(cases, features, leaves)) if leaves > 0
                 else [("count", 0, 0, '"%s"' % trees.best_single(cases))])
        print("  " + " ".join(str(node) for node in nodes))
        name += "_on_" + where
        old = re.compile(r"/// [^\n]*\ninline constexpr TreeNode %s\[\].*?};\n" % name, re.DOTALL)
        text, found = old.subn(lambda _: written(name, words, nodes), text)
        if output and not found:
            sys.exit("%s has no tree %s to replace" % (output, name))
    report_contenders(runs, where)
    if output:
        with open(output, "w") as file:
            file.write(text)


if __name__ == "__main__":
    if len(sys.argv) >= 4 and sys.argv[1] == "measure":
        measure(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif len(sys.argv) in (4, 5) and sys.argv[1] == "fit" and sys.argv[2] in ("hosts", "gpus"):
        fit(sys.argv[2], sys.argv[3], sys.argv[4] if len(sys.argv) == 5 else None)
    else:
        sys.exit(__doc__)
