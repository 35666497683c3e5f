# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which rows stand for a kernel, and what they say of a machine."""
import math
import re

from bench import names, noise
from bench.results import Bad

# Kernel, title, and the strategies of which the first that was measured stands for it.
KERNELS = [
    ("stream_copy", "STREAM copy", None),
    ("stream_scale", "STREAM scale", None),
    ("stream_add", "STREAM add", None),
    ("stream_triad", "STREAM triad", None),
    ("stream_multiply", "STREAM multiply", None),
    ("mttkrp", "MTTKRP", ("automatic", "sorted")),
    ("phi", "Φ", ("automatic", "pull")),
    ("pi", "Π, stored", ("pull_stored_pi",)),
    ("spttm", "SpTTM", ("automatic", "lanes")),
    ("sspttm", "SspTTM", ("semi_sparse",)),
    ("sptv", "SpTV", ("automatic", "hocfs")),
    ("ttm_chain", "TTM chain", ("automatic",)),
]
STREAM = [kernel for kernel, _, _ in KERNELS if kernel.startswith("stream_")]
TITLES = {kernel: title for kernel, title, _ in KERNELS}
TITLES.update({"gather": "gathered rows", "cp_als": "CP-ALS", "cp_apr": "CP-APR",
               "tucker": "HOOI", "loss_gradient": "gradient of a loss", "read": "reading",
               "build": "building", "plan": "plan"})


def title(kernel):
    return TITLES.get(kernel, kernel.replace("_", " "))


def shown_rank(rows, wanted=None):
    """The rank of the pictures that show one: the wanted one, or 16, or the least; of MTTKRP and
    SpTTM, or of others where there are no rows of these."""
    by_kernel = {}
    for row in rows:
        if row["rank"] and row["kernel"] not in ("tucker", "ttm_chain"):  # which have their own
            by_kernel.setdefault(row["kernel"], set()).add(row["rank"])
    ranks = sorted(by_kernel.get("mttkrp", set()) | by_kernel.get("spttm", set())
                   or set().union(*by_kernel.values()))
    if wanted is not None and wanted not in ranks:
        raise Bad("--rank %d: there are rows of %s" % (
            wanted, ", ".join(map(str, ranks)) or "no number of components"))
    return wanted or (16 if 16 in ranks else ranks[0] if ranks else None)


def of_largest(rows):
    """The rows of one size of each look-alike: of the one with most nonzeros."""
    sizes = {}
    for row in rows:
        family, nonzeros = names.family(row["tensor"]), row.get("nnz") or 0
        if family not in sizes or nonzeros > sizes[family][0]:
            sizes[family] = (nonzeros, row["tensor"])
    return [row for row in rows if row["tensor"] == sizes[names.family(row["tensor"])][1]]


def parts_of_time(row):
    """{label: milliseconds} of the kernels that an iteration of a decomposition consists of."""
    return {name: value for name, value in row.get("counters", {}).items() if name.endswith(" ms")}


class Whole:
    """A kernel on one tensor: all its modes together."""

    def __init__(self, rows):
        self.rows = rows
        self.tensor = rows[0]["tensor"]
        self.seconds = sum(row["median"] for row in rows)
        self.bytes = sum(row.get("bytes") or 0 for row in rows)
        self.flops = sum(row.get("flops") or 0 for row in rows)
        self.noise = max(row["noise"] for row in rows)
        self.bandwidth = self.bytes / self.seconds
        dims = rows[0].get("dims") or [0]
        products = len(dims) if rows[0]["mode"] == "all" else len(rows)
        self.bytes_of_one = self.bytes / products


def wholes(rows, kernel, scalar, rank, native=False, strategy=None, peer=None):
    """{family of tensors: Whole} of a kernel, by the strategy that stands for it, or the one
    named; modes that are missing leave the tensor out. peer: of this library instead."""
    strategies = (strategy,) if strategy or peer else next(
        (chosen for name, _, chosen in KERNELS if name == kernel), None)
    found = {}
    for row in rows:
        if row["kernel"] != kernel or row["native"] != native or row["scalar"] != scalar:
            continue
        if row.get("peer") != peer:
            continue
        if not row["rounds"] or (kernel != "ttm_chain" and row["rank"] not in (None, rank)):
            continue
        found.setdefault((row["tensor"], row["strategy"]), {})[row["mode"]] = row
    result = {}
    for (tensor, own), modes in found.items():
        order = strategies.index(own) if strategies and own in strategies else 0
        if strategies and own not in strategies:
            continue
        if "all" in modes:
            chosen = [modes["all"]]
        else:
            chosen = list(modes.values())
            dims = chosen[0].get("dims")
            if dims and None not in modes and len(modes) < len(dims):
                continue
        family = names.family(tensor)
        best = (order, -(chosen[0].get("nnz") or 0))  # of two sizes of a look-alike the larger one
        if family not in result or best < result[family][0]:
            result[family] = (best, Whole(chosen))
    return {family: whole for family, (_, whole) in result.items()}


def of_all(found, measured):
    """Those of found, {case: the best of some strategies}, where every strategy was measured that was
    measured in any case: else the best is not known. measured: {case: {strategy}}."""
    every = set().union(*measured.values())
    return {case: best for case, best in found.items() if measured[case] == every}


def triad(rows, scalar):
    """Bytes a second of the triad that sporades_perf measured, or of the row of STREAM."""
    stream = [row["bytes_per_second"] for row in rows if row["kernel"] == "stream_triad"
              and not row["native"] and row["scalar"] == scalar and row.get("bytes_per_second")]
    own = [row["triad"] for row in rows if row["scalar"] == scalar and row.get("triad")]
    return stream[0] if stream else (noise.median(own) if own else None)


def efficiency(rows, kernel, scalar, rank, roof):
    """The share of a bandwidth that a kernel's bytes reach: the geometric mean over the tensors,
    None without any, and [(share, Whole)]."""
    shares = [(whole.bandwidth / roof, whole)
              for whole in wholes(rows, kernel, scalar, rank).values() if whole.bytes and roof]
    return noise.geometric_mean([share for share, _ in shares]), shares


SIZES = {"double": 8, "float": 4}


def gathered_bytes(row):
    """Bytes of the matrix of a row of gather, whose strategy is such as 32KB; None where it is not."""
    size = re.fullmatch(r"([1-9][0-9]{0,12})KB", row["strategy"] or "")
    return int(size.group(1)) * 1024 if size else None


def gather_rates(rows, scalar, rank):
    """[(bytes of the matrix, bytes a second)] of rows gathered at random, sorted, of the measured
    number of columns next to the rank."""
    found = {}
    for row in rows:
        if row["kernel"] == "gather" and row["scalar"] == scalar and row.get("bytes_per_second"):
            size = gathered_bytes(row)
            if size and row["rank"] and rank:
                found.setdefault(row["rank"], []).append((size, row["bytes_per_second"]))
    nearest = min(found, key=lambda one: (abs(one - rank), one), default=None)
    return sorted(found.get(nearest, []))


def rate_at(rates, size):
    """Between the two nearest sizes, linearly in the logarithms; past the ends, that of the end."""
    if size <= rates[0][0]:
        return rates[0][1]
    for (below, slow), (above, fast) in zip(rates, rates[1:]):
        if size <= above:
            place = math.log(size / below) / math.log(above / below)
            return slow * (fast / slow) ** place
    return rates[-1][1]


def gathered(row):
    """[(bytes gathered, bytes of the matrices)] of each product of a row: of MTTKRP and Phi a row
    of each other factor for every nonzero, of SpTTM one of the matrix."""
    kernel, dims, nonzeros = row["kernel"], row.get("dims"), row.get("nnz")
    if kernel not in ("mttkrp", "phi", "spttm") or not dims or not nonzeros or not row["rank"]:
        return []
    line = row["rank"] * SIZES[row["scalar"]]
    found = []
    for mode in range(len(dims)) if row["mode"] == "all" else [row["mode"]]:
        read = [mode] if kernel == "spttm" else [m for m in range(len(dims)) if m != mode]
        found.append((nonzeros * len(read) * line,
                      sum(min(dims[m], nonzeros) for m in read) * line))
    return found


def least_seconds(whole, roof, rates):
    """{"bytes": ..., "gathers": ...}: the time in which its bytes move at the bandwidth `roof`, and
    that in which its rows are gathered as fast as `gather` does from matrices of that size."""
    found = {"bytes": whole.bytes / roof}
    if rates:
        found["gathers"] = sum(moved / rate_at(rates, size) for row in whole.rows
                               for moved, size in gathered(row))
    return found


def bounds(rows, kernel, scalar, rank, roof):
    """[(tensor, which of least_seconds is the longest, its share of the measured time)]."""
    rates = gather_rates(rows, scalar, rank)
    found = []
    for family, whole in wholes(rows, kernel, scalar, rank).items():
        if whole.bytes and roof:
            least = least_seconds(whole, roof, rates)
            which = max(least, key=least.get)
            found.append((family, which, least[which] / whole.seconds))
    return found


def portability(efficiencies):
    """Pennycook, Sewall & Lee (2016): the harmonic mean of the efficiencies, 0 where a platform
    does not run the kernel (None). Above 1, where caches serve, counts as 1."""
    if not efficiencies or any(not one for one in efficiencies):
        return 0.0
    return len(efficiencies) / sum(1 / min(1.0, one) for one in efficiencies)
