# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of results, for the page and as Markdown."""
import math
import re

from bench import kernels, names, noise, peers, report_data, spttm
from bench.text import number, percent, seconds


class Table:
    def __init__(self, title, header, rows, words=""):
        self.title, self.header, self.words = title, header, words
        self.rows = [["" if cell is None else cell for cell in row] for row in rows]


def machines(data):
    rows = []
    for machine in data.machines:
        described, software = machine.latest["machine"], machine.latest["software"]
        gpu = described.get("gpu") or {}
        peak = data.peaks[machine.name].bandwidth
        triads = [kernels.triad(machine.timed(), scalar) for scalar in ("double", "float")]
        memory = gpu.get("memory") if machine.gpu else described.get("memory")
        builds = dict.fromkeys("%s (%s)" % (one["software"].get("sporades"), one["software"].get("git"))
                               for one in machine.files)
        rows.append([
            machine.name, gpu.get("name", "GPU") if machine.gpu else described.get("cpu") or "",
            "" if machine.gpu else str(machine.threads()), number(memory / 1e9) + " GB" if memory else "",
            " / ".join(number(triad / 1e9) if triad else "–" for triad in triads),
            number(peak / 1e9) if peak else "unknown",
            "%s, %s, Kokkos %s" % (software.get("backend"), software.get("compiler"),
                                   software.get("kokkos")),
            ", ".join(builds), machine.latest["date"][:10]])
    return Table("Machines", ["machine", "processor", "threads", "memory",
                              "triad, double / float, GB/s", "vendor's peak, GB/s",
                              "backend and compiler", "Sporades", "date"], rows)


def stream(data):
    """GB/s of each loop, and how many times as fast as the same loop without Kokkos."""
    rows = []
    for machine in data.machines:
        timed = machine.timed()
        speed = {(own["kernel"], own["scalar"]): one for _, _, own, one, _ in report_data.twins(timed)}
        for scalar in ("double", "float"):
            cells = []
            for kernel in kernels.STREAM:
                row = next((row for row in timed if row["kernel"] == kernel and not row["native"]
                            and row["scalar"] == scalar and row.get("bytes_per_second")), None)
                twin = speed.get((kernel, scalar))
                cells.append("–" if row is None else number(row["bytes_per_second"] / 1e9) + (
                    " (%.2f)" % twin if twin else ""))
            if any(cell != "–" for cell in cells):
                rows.append([machine.name, scalar] + cells)
    return Table("STREAM", ["machine", "values", "copy", "scale", "add", "triad", "multiply"], rows,
                 "GB/s; in brackets, how many times as fast as the same loop without Kokkos.")


def _tensors(machine):
    """{family: a row of its tensor, which has its name and nonzeros}."""
    return {names.family(row["tensor"]): row for row in kernels.of_largest(
        [row for row in machine.timed() if row["tensor"] and row["kernel"] != "read"])}


def times(data, machine):
    """Milliseconds of all modes of each kernel by tensor, and the share of the triad."""
    tensors = _tensors(machine)
    shown = {row["tensor"] for row in tensors.values()}
    timed = [row for row in machine.timed() if row["tensor"] in shown]
    triad = kernels.triad(machine.timed(), data.scalar)
    rows = []
    for kernel, title, _ in kernels.KERNELS:
        found = kernels.wholes(timed, kernel, data.scalar, data.rank)
        if found:
            rows.append([title] + [_cell(found.get(family), triad) for family in tensors])
    for kernel, strategy, title in (
            ("cp_als", None, "CP-ALS, an iteration"), ("cp_apr", "mu", "CP-APR (mu), an iteration"),
            ("cp_apr", "pdnr", "CP-APR (pdnr), an iteration"),
            ("cp_apr", "pqnr", "CP-APR (pqnr), an iteration"), ("tucker", None, "HOOI, an iteration"),
            ("plan", None, "building MTTKRP's plan")):
        found = {names.family(row["tensor"]): row for row in timed
                 if row["kernel"] == kernel and row["strategy"] == strategy
                 and row["scalar"] == data.scalar
                 and (kernel == "tucker" or row["rank"] in (None, data.rank))}
        if found:
            rows.append([title] + [number(found[family]["median"] * 1e3) if family in found else "–"
                                   for family in tensors])
    header = ["milliseconds"] + ["%s, %s nonzeros" % (family, number((row.get("nnz") or 0) / 1e6) + " M"
                                                      if row.get("nnz") else "?")
                                 for family, row in tensors.items()]
    return Table("%s: times (%s)" % (machine.name, data.settings()), header, rows,
                 "All modes together, of SspTTM one product, by `automatic` where a kernel has it; in "
                 "brackets, the share of the measured triad's bandwidth that the bytes reach. HOOI and "
                 "TTM chains: ranks 8.")


def _cell(whole, triad):
    if whole is None:
        return "–"
    share = " (%s)" % percent(whole.bandwidth / triad) if triad and whole.bytes else ""
    return number(whole.seconds * 1e3) + share


def reading(data):
    rows = [[machine.name, row["tensor"], seconds(row["median"]),
             number(row["bytes_per_second"] / 1e6)]
            for machine in data.machines for row in machine.timed()
            if row["kernel"] == "read" and row.get("bytes_per_second")]
    return Table("Reading files", ["machine", "file", "time", "MB/s"], rows)


def storage(data):
    """Bytes a nonzero by format: the geometric mean over the tensors."""
    found = [report_data.of_formats(machine, data.scalar, lambda row: row["storage_bytes"] / row["nnz"])
             for machine in data.machines]
    labels = list(dict.fromkeys(label for one in found for label in one))
    return Table("Storage by format (%s)" % data.scalar,
                 ["bytes a nonzero"] + [machine.name for machine in data.machines],
                 [[label] + [number(noise.geometric_mean(one.get(label, []))) or "–" for one in found]
                  for label in labels],
                 "As many copies as serve all modes; the geometric mean over the tensors.")


def native(data, machine):
    """MTTKRP and Phi over loops without Kokkos, of each tensor."""
    rows = [[kernels.title(own["kernel"]), own["tensor"], own["scalar"], strategy or "",
             other["strategy"] or "", "%.2f ± %.2f" % (speed, speed * band)]
            for other, strategy, own, speed, band in report_data.twins(machine.timed())
            if other["tensor"] and other["rank"] == data.rank and other["mode"] in ("all", None)]
    return Table(machine.name + ": over loops without Kokkos",
                 ["kernel", "tensor", "values", "strategy", "native loop", "times as fast"], rows,
                 "How many times as fast a strategy is as the native loop, the same product in plain "
                 "OpenMP or CUDA; all modes together, with the noise band.")


def over_peers(data, machine):
    """Sporades and native loops over other libraries, of each tensor."""
    triad = kernels.triad(machine.timed(), data.scalar)
    found = {kernel: peers.implementations(machine, kernel, data.scalar, data.rank)
             for kernel in peers.kernels_of(machine)}
    labels = list(dict.fromkeys(label for ones in found.values()
                                for label, _, peer, _ in ones if not peer))
    known, rows = machine.software_of_peers(), []
    for kernel, ones in found.items():
        others = {label: wholes for label, _, peer, wholes in ones if not peer}
        for label, _, peer, wholes in ones:
            for family, whole in wholes.items() if peer else ():
                twins = [others.get(one, {}).get(family) for one in labels]
                about = known.get(peer, {})
                version = "%s (%s)" % (about.get("version"), about.get("git")) if about else ""
                rows.append([kernels.title(kernel), whole.tensor, label, version,
                             _cell(whole, triad)] + [
                    "%.2f" % (whole.seconds / twin.seconds)
                    if twin and twin.tensor == whole.tensor else "–" for twin in twins])
    return Table("%s: over other libraries (%s, R = %s)" % (machine.name, data.scalar, data.rank),
                 ["kernel", "tensor", "library", "its version", "its time, ms"] + labels, rows,
                 "All modes together; in brackets, the share of the measured triad's bandwidth that "
                 "the bytes reach. Then how many times as fast as the library each loop without "
                 "Kokkos and each strategy of Sporades is, as it was measured together with the "
                 "library. Figures 10 and 11 of Anderson & Choi (2021) have this of SparTen with Π "
                 "computed on the fly, which they call its reduced footprint.")


def spttm_tensors(data, machine):
    """Figures 5 and 7 of Ma et al. (2018)."""
    timed = machine.timed()
    semi_sparse = spttm.semi_sparse(timed, data.scalar, data.rank)
    heads = ["tensor", "automatic, Gflop/s", "the fastest of Ma et al., Gflop/s", "SspTTM over SpTTM"]
    rows = [[family, number(own / 1e9) if own else "–",
             "%s (%s)" % (number(best / 1e9), step) if best else "–",
             "%.2f" % semi_sparse[family] if family in semi_sparse else "–"]
            for family, (own, best, step) in spttm.speeds(timed, data.scalar, data.rank).items()]
    measured = [k for k in range(len(heads)) if any(row[k] != "–" for row in rows)]
    return Table("%s: SpTTM (%s, R = %s)" % (machine.name, data.scalar, data.rank),
                 [heads[k] for k in measured], [[row[k] for k in measured] for row in rows],
                 "All modes together; flops by equation 3 of Ma et al. (2018), 2 nnz R for each product. "
                 "The last column: how many times as fast SspTTM is as SpTTM on the same tensor.")


def spttm_steps(data, machine):
    """Figure 6 of Ma et al. (2018)."""
    timed = machine.timed()
    ranks = spttm.ranks_of_steps(timed, data.scalar)
    over = {rank: spttm.over_naive(timed, data.scalar, rank) for rank in ranks}
    rows = []
    for strategy in spttm.STEPS + spttm.OWN:
        cells = []
        for rank in ranks:
            mean = noise.geometric_mean(over[rank].get(strategy, {}).values())
            step = spttm.STEPS.index(strategy) if strategy in spttm.STEPS else 0
            added = spttm.added(over[rank], strategy) if step else None
            published = spttm.PUBLISHED.get(rank) if step else None
            cells += ["%.2f" % mean if mean else "–",
                      "%+.0f %%" % (100 * added - 100) if added else "",
                      "%+d %%" % published[step - 1] if published else ""]
        rows.append([strategy] + cells)
    header = ["strategy"]
    for rank in ranks:
        header += ["R = %d: time / naive" % rank, "adds", "adds, P100"]
    return Table("%s: what each strategy of SpTTM adds (%s)" % (machine.name, data.scalar), header,
                 rows if ranks else [],
                 "Geometric means over the tensors, all modes together. Adds: by how much it is faster "
                 "than the strategy before; P100: what Ma et al. (2018) state in section 7.3.1, in float. "
                 "Threads of a block and of a row are tuned.")


def hooi(data):
    """Table 6 of Ma et al. (2018)."""
    found = [(machine, spttm.hooi(machine, data.scalar)) for machine in data.machines]
    found = [(machine, rows) for machine, rows in found if rows]
    pairs = [(host, gpu) for host in found for gpu in found if gpu[0].gpu and not host[0].gpu]
    rows = []
    for key in dict.fromkeys(key for _, own in found for key in own):
        cells = []
        for _, own in found:
            chains = spttm.share_of_chains(own[key]) if key in own else None
            cells.append("–" if key not in own else number(own[key]["median"] * 1e3) + (
                " (%s)" % percent(chains) if chains else ""))
        for (_, host), (_, gpu) in pairs:
            cells.append("%.2f" % (host[key]["median"] / gpu[key]["median"])
                         if key in host and key in gpu else "–")
        rows.append([key[0], number(key[1] / 1e6) + " M" if key[1] else "?"] + cells)
    return Table("HOOI, an iteration (%s)" % data.scalar,
                 ["tensor", "nonzeros"] + [machine.name + ", ms" for machine, _ in found] +
                 ["%s over %s" % (host.name, gpu.name) for (host, _), (gpu, _) in pairs], rows,
                 "Ranks 8, or a mode's length where that is less; in brackets, the share of the TTM "
                 "chains, the rest are singular vectors and core. Table 6 of Ma et al. (2018) has whole "
                 "runs, on a P100 1.3 to 3.2 times as fast as on 12 cores.")


MOST_CHANGED = 30


def changed(data, old_machines):
    """The rows that changed most beyond noise, of each machine that both have."""
    found = []
    old = {machine.name: machine for machine in old_machines}
    for machine in data.machines:
        if machine.name not in old:
            continue
        changes = [one for one in report_data.changes(old[machine.name], machine)[0]
                   if one.is_beyond_noise()]
        changes.sort(key=lambda one: -abs(math.log(one.ratio)))
        found.append(Table(
            "%s: %d rows changed beyond their noise bands" % (machine.name, len(changes)),
            ["benchmark", "threads", "old", "new", "new / old", "noise"],
            [[one.new["name"], str(one.new["threads"]), seconds(one.old["median"]),
              seconds(one.new["median"]), "%.3f" % one.ratio, percent(one.band)]
             for one in changes[:MOST_CHANGED]],
            "Those that changed most." if len(changes) > MOST_CHANGED else ""))
    return [table for table in found if table.rows]


BOUNDS = {"bytes": "memory", "gathers": "caches"}


def portability(data):
    """What bounds each kernel on each machine, how much of that it reaches, and over all."""
    rows = []
    triads = {one.name: kernels.triad(one.timed(), data.scalar) for one in data.machines}
    for kernel, title, _ in kernels.KERNELS:
        cells, of_triad, of_bound = [], [], []
        for machine in data.machines:
            found = kernels.bounds(machine.timed(), kernel, data.scalar, data.rank,
                                   triads[machine.name])
            share = kernels.efficiency(machine.timed(), kernel, data.scalar, data.rank,
                                       triads[machine.name])[0]
            bound = noise.geometric_mean([one for _, _, one in found])
            by = [BOUNDS[which] for _, which, _ in found]
            cells.append("–" if not found else "%s; %s of %s" % (
                percent(share), percent(bound), ", ".join(
                    "%s (%d of %d)" % (word, by.count(word), len(by)) if by.count(word) < len(by)
                    else word for word in BOUNDS.values() if word in by)))
            of_triad.append(share)
            of_bound.append(bound)
        if any(of_triad):
            rows.append([title] + cells + ["%.2f" % kernels.portability(of_triad),
                                           "%.2f" % kernels.portability(of_bound)])
    return Table("What bounds each kernel (%s)" % data.settings(),
                 ["kernel"] + [one.name for one in data.machines]
                 + ["portability, of the triad", "of the bound"], rows,
                 "For each machine: the share of the measured triad's bandwidth that the kernel's bytes "
                 "reach; then the bound's share of the measured time. The bound is the longer of two "
                 "times: memory, the bytes at the triad's bandwidth; caches, the rows of factors at the "
                 "speed at which the benchmark gather reads rows at random from a matrix as large as "
                 "the factors. More than 100 % is possible, since tensors use rows again sooner than at "
                 "random. Where the share is small, instructions, latency or launches bound the kernel. "
                 "Geometric means over the tensors. Portability after Pennycook, Sewall & Lee (2016), "
                 "over the machines.")


def summary(data):
    """The tables that say most: machines, STREAM, what bounds each kernel, and times."""
    found = [machines(data), stream(data), portability(data)]
    found += [times(data, machine) for machine in data.machines]
    return [table for table in found if table.rows]


def all_tables(data):
    found = [machines(data), stream(data), portability(data)]
    for machine in data.machines:
        found += [times(data, machine), native(data, machine), over_peers(data, machine),
                  spttm_tensors(data, machine), spttm_steps(data, machine)]
    found += [hooi(data), storage(data), reading(data)]
    return [table for table in found if table.rows]


def markdown_cell(text):
    """Shown as it is: nothing in it is read as Markdown or HTML."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("$", "&#36;")
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", text.replace("\n", " "))


def as_markdown(table):
    lines = ["### " + markdown_cell(table.title), ""]
    if table.words:
        lines += [table.words, ""]
    lines.append("| " + " | ".join(markdown_cell(cell) for cell in table.header) + " |")
    lines.append("|" + "---|" * len(table.header))
    lines += ["| " + " | ".join(markdown_cell(cell) for cell in row) + " |" for row in table.rows]
    return "\n".join(lines) + "\n"
