# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which rows stand for a kernel, and what they say of a machine."""
from bench import names, noise

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
TITLES = {kernel: title for kernel, title, _ in KERNELS}
TITLES.update({"gather": "gathered rows", "cp_als": "CP-ALS", "cp_apr": "CP-APR",
               "tucker": "HOOI", "read": "reading", "build": "building", "plan": "plan"})


def title(kernel):
    return TITLES.get(kernel, kernel.replace("_", " "))


def shown_rank(rows, wanted=None):
    """The rank of the pictures that show one: the wanted one, or 16, or the least."""
    ranks = sorted({row["rank"] for row in rows
                    if row["kernel"] in ("mttkrp", "spttm") and row["rank"]})
    return next((rank for rank in (wanted, 16, *ranks) if rank in ranks), None)


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


def wholes(rows, kernel, scalar, rank, native=False, strategy=None):
    """{family of tensors: Whole} of a kernel, by the strategy that stands for it, or the one
    named; modes that are missing leave the tensor out."""
    strategies = (strategy,) if strategy else next(
        (chosen for name, _, chosen in KERNELS if name == kernel), None)
    found = {}
    for row in rows:
        if row["kernel"] != kernel or row["native"] != native or row["scalar"] != scalar:
            continue
        if not row["rounds"] or (kernel not in ("ttm_chain",) and row["rank"] not in (None, rank)):
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


def portability(efficiencies):
    """Pennycook, Sewall & Lee (2016): the harmonic mean of the efficiencies, 0 where a platform
    does not run the kernel (None). Above 1, where caches serve, counts as 1."""
    if not efficiencies or any(not one for one in efficiencies):
        return 0.0
    return len(efficiencies) / sum(1 / min(1.0, one) for one in efficiencies)
