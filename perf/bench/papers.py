# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What five papers measure, as suites of sporades-bench: tensors, types of values, numbers of
components and sweeps. bench/exhibits has their figures and tables."""
from bench import jobs
from bench.originals import ORIGINALS

DOUBLING = 2e7  # nonzeros with which a run gets twice the time of a small one
PAPER_BUDGET = 3600  # seconds

FLYCOO_BLOCKS = "flycoo-blocks"  # of MTTKRP: product and remap in one kernel (Wijeratne, algorithm 4)
VENDORS = ("spmm_cusparse", "spmm_rocsparse")  # of SpTTM on GPUs: perf/support/vendor_spmm.hpp
TUCKER_RUN = "tucker_run"        # a whole run of Tucker, as `tucker` is an iteration

BUILT = ("flycoo", "alto", "csf", "packed", "coo_sorted")  # formats of Wijeratne's figure 10
FIVE = "naive|fine_grained|coalesced|rank_blocked|scratch"
PARALLEL = (1, 2, 4, 8, 16, 32, 64)           # P of Wijeratne's figure 8
PARTITIONS = (16, 41, 82, 132, 264, 528, 1056)  # κ, which is 82 there and 132 multiprocessors here


def flycoo(pattern, numbers):
    """Strategies of FLYCOO as separate kernels and as one."""
    return ",".join(name + pattern % number for name in ("flycoo", FLYCOO_BLOCKS)
                    for number in numbers)


class Paper:
    """tensors: [(name in the paper, look-alike)]. products: whether parts hold products of SpTTM.
    common: options of all parts. parts: as in sporades-bench; their `tensors` may be look-alikes."""

    def __init__(self, title, about, heading, tensors, quick_tensors, products, common, parts):
        self.title, self.about, self.heading = title, about, heading
        self.tensors, self.quick_tensors, self.products = tensors, quick_tensors, products
        self.common, self.parts = common, parts
        self.scalar, self.rank = common["scalars"], int(common["ranks"].split(",")[0])


def settings(scalars, ranks, strategies="automatic"):
    return {"scalars": scalars, "ranks": ranks, "strategies": strategies, "repetitions": 5,
            "rounds": 2, "doubling": DOUBLING}


PAPERS = {
    "ma18": Paper(
        "Ma et al. (2018)", "optimizing sparse tensor times matrix on GPUs", "Ma et al. 2018",
        [("choa", "choa"), ("nell2", "nell-2"), ("fb-m", "freebase-music"),
         ("fb-s", "freebase-sampled"), ("deli", "delicious-3d"), ("nell1", "nell-1"),
         ("nips", "nips"), ("uber", "uber"), ("enron", "enron"), ("flickr", "flickr"),
         ("deli4d", "delicious-4d")],
        ("nell-2", "uber"), True, settings("float", "16"), [
            # figures 4 to 6, 8; of R = 32 what section 7.3.1 states
            {"part": "spttm", "filter": "^spttm/.*/(%s|lanes|automatic)/(R16/|R32/all/)" % FIVE,
             "tensors": "all", "ranks": "16,32", "weight": 8},
            {"part": "sspttm", "filter": "^sspttm/", "tensors": "all", "weight": 2},  # figure 7
            {"part": "sequential", "filter": "^spttm/.*/naive/.*/all/", "threads": "one",  # table 4
             "tensors": ("choa", "nell-2", "nips"), "weight": 4, "repetitions": 3},
            {"part": "storage", "filter": "^build/.*/(coo_sorted|hierarchical)/",  # table 5
             "tensors": "all", "weight": 3, "repetitions": 3},
            {"part": "ranks", "filter": "^spttm/.*/(%s)/.*/mode0/" % FIVE,  # figure 9
             "tensors": ("choa", "nell-2", "uber", "enron"), "ranks": "8,16,32,64", "weight": 4},
            {"part": "tucker", "filter": "^tucker_run/", "tensors": ("choa", "nell-2", "enron"),  # table 6
             "weight": 5, "repetitions": 3},
        ]),
    "wij24": Paper(
        "Wijeratne, Kannan & Prasanna (2024)", "sparse MTTKRP on GPU, FLYCOO",
        "Wijeratne, Kannan & Prasanna 2024",
        [("Amazon", "amazon-ratings"), ("Delicious", "delicious-4d"), ("Music", "freebase-music"),
         ("Nell1", "nell-1"), ("Twitch", "twitch"), ("Vast", "vast-2015")],
        ("vast-2015",), False, settings("float", "32"), [
            # figures 5 to 7 and 9, table 4
            {"part": "mttkrp", "filter": "^(mttkrp/.*/all/|remap/|unmoved/)", "tensors": "all", "weight": 6,
             "strategies": "automatic,flycoo,%s,sorted,fibers,csf,alto-atomic,atomic" % FLYCOO_BLOCKS},
            {"part": "parallel", "filter": "^mttkrp/.*/all/", "tensors": "all", "weight": 4,  # figure 8
             "strategies": flycoo(":0:%d", PARALLEL), "repetitions": 3},
            {"part": "partitions", "filter": "^mttkrp/.*/all/", "tensors": "all", "weight": 4,
             "strategies": flycoo(":%d:32", PARTITIONS), "repetitions": 3},
            {"part": "build", "filter": "^build/.*/(flycoo|alto|csf|packed|coo_sorted)/",  # figure 10
             "tensors": "all", "weight": 3, "repetitions": 3},
        ]),
    "and21": Paper(
        "Anderson & Choi (2021)", "performance portability of sparse tensor decomposition",
        "Anderson & Choi 2021",
        [("Chicago-crime", "chicago-crime"), ("NELL-2", "nell-2"), ("NIPS", "nips"),
         ("Uber", "uber")],
        ("uber", "nell-2"), False, settings("double", "16", "automatic,atomic,alto,alto-atomic,sorted"), [
            {"part": "stream", "filter": "^stream/", "tensors": "none", "weight": 6,  # figures 3, 4
             "repetitions": 9},
            {"part": "mttkrp", "filter": "^(mttkrp|mttkrp_native)/", "tensors": "all",  # figures 5, 6
             "weight": 4},
            {"part": "phi", "filter": "^(phi|phi_native|pi)/", "tensors": "all",  # figures 7 to 11
             "weight": 6},
            {"part": "cp_apr", "filter": "^cp_apr/.*/mu(_stored_pi)?/", "tensors": "all",  # figure 2
             "weight": 4, "repetitions": 3},
            {"part": "cp_als", "filter": "^cp_als/", "tensors": "all", "weight": 2},
            {"part": "build", "filter": "^build/.*/(alto|coo_sorted)/", "tensors": "all",
             "weight": 1, "repetitions": 3},
            {"part": "threads", "filter": "^(stream/triad|(mttkrp|phi)/.*/(automatic|atomic)/.*/all/)",
             "tensors": ("uber",), "strategies": "automatic,atomic", "threads": "fewer",
             "weight": 4, "repetitions": 3},
        ]),
    "yan19": Paper(
        "Yang, Li & Li (2019)", "a pipeline computing method of SpTV on CPU and GPU",
        "Yang, Li & Li 2019",
        [("userRatedmovies", "user-rated-movies"), ("userTaggedmovies", "user-tagged-movies"),
         ("userTaggedbookmarks", "user-tagged-bookmarks"), ("userTaggedartists", "user-tagged-artists"),
         ("ratings-m1", "ratings-m1"), ("ratings-m20", "ratings-m20"),
         ("userShopping-x10", "user-shopping-x10"), ("userShopping-x22", "user-shopping-x22"),
         ("userShopping-x40", "user-shopping-x40")],
        ("user-rated-movies", "user-shopping-x10"), False, settings("float", "1"), [
            # tables 7, 8, figures 14 to 16. Memory of hocsr and ELL slices does not follow from the
            # number of nonzeros: runs of their own, which may fail alone.
            {"part": "sptv", "filter": "^sptv/.*/(automatic|hocoo|cfb|hocfs|hocoo_warps|cfb_threads|"
             "hocfs_blocks_csr)/", "tensors": "all", "weight": 6},
            {"part": "hocfs_ell", "filter": "^sptv/.*/hocfs_blocks_ell/", "tensors": "all",
             "weight": 1},
            {"part": "fills", "filter": "^sptv/.*/hocfs_blocks:", "tensors": "all", "weight": 3},
            {"part": "hocsr", "filter": "^sptv/.*/hocsr/", "tensors": "all", "weight": 2},
            {"part": "storage", "filter": "^build/.*/(hocoo|cfb|hocfs)/", "tensors": "all",  # 4 to 6
             "weight": 2, "repetitions": 3},
            {"part": "storage_hocsr", "filter": "^build/.*/hocsr/", "tensors": "all", "weight": 2,
             "repetitions": 3},
            {"part": "pipelines", "filter": "^streamed_sptv/", "tensors": "all", "weight": 3},
        ]),
    "ahm24": Paper(
        "Ahmad et al. (2024)", "data layout for sparse tensor times dense matrix on GPUs",
        "Ahmad et al. 2024",
        # the abstract names none: those of FROSTT that the other papers have
        [("–", name) for name in ("nips", "uber", "chicago-crime", "vast-2015", "lbnl-network",
                                  "nell-2", "enron", "flickr", "nell-1", "delicious-4d")],
        ("uber", "nell-2"), True, settings("float", "16,32"), [
            {"part": "spttm", "filter": "^spttm/", "tensors": "all", "weight": 8},
            {"part": "unfold", "filter": "^spttm_unfold/", "tensors": "all", "ranks": "16",
             "weight": 4, "repetitions": 3},
            {"part": "build", "filter": "^build/.*/(hierarchical|unfolded)/", "tensors": "all",
             "weight": 2, "repetitions": 3},
        ]),
}
QUICK = {"repetitions": 3, "rounds": 1}


def of_files(files):
    """{paper: [--scale of each file]} of results that were made with --paper."""
    found = {}
    for results in files:
        settings = results.get("settings")
        settings = settings if isinstance(settings, dict) else {}
        if settings.get("paper") in list(PAPERS):
            found.setdefault(settings["paper"], []).append(settings.get("scale"))
    return found


class PaperSuite(jobs.Suite):
    """On a GPU the look-alikes are as large as their originals, if they fit the memory."""

    def __init__(self, paper, quick, rates):
        common = dict(paper.common, **(QUICK if quick else {}))
        parts = [dict(part, quick={"repetitions": 3}) for part in paper.parts]
        super().__init__(parts, common, ORIGINALS, [name for _, name in paper.tensors],
                         paper.quick_tensors, rates)
        self.paper = paper

    def share_of_memory(self, on_gpu):
        return 0.9 if on_gpu else super().share_of_memory(on_gpu)

    def wanted_nonzeros(self, nonzeros, options, on_gpu, cores):
        is_full = on_gpu and not options.quick and not options.scale
        return nonzeros if is_full else super().wanted_nonzeros(nonzeros, options, on_gpu, cores)

    def bytes_needed(self, dims, nonzeros, rank):
        """A sorted copy a mode, the tensor and what sorting takes; products of SpTTM of all modes;
        factors, products and one more."""
        value = 8 if self.common["scalars"] == "double" else 4
        entry = 4 * len(dims) + value
        products = len(dims) * rank * value if self.paper.products else 0
        return nonzeros * (entry * (len(dims) + 3) + products) + 3 * sum(dims) * rank * value
