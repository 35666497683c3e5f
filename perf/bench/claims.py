# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of rows that check a published claim, by the words in claims.md. A measure is a function
of a Machine and of all Machines that gives back [Value], one a case; none where no row checks it."""
import math
import re

from bench import kernels, names, ncu, noise, papers, spttm, trees
from bench.results import Bad
from bench.text import number

FIVE = spttm.STEPS
LAYOUT = ("spmm_rows", "spmm_nonzeros")
KERNELS = {"stream": kernels.STREAM}
SPMM = LAYOUT + ("spmm_library", *papers.VENDORS)
GROUPS = {"the five": FIVE, "the other four": FIVE[:4], "SpMM": SPMM, "SpMM in the layout": LAYOUT,
          "cuSPARSE": papers.VENDORS, "PASTA": ("PASTA", "PASTA kernel"), "Kokkos": ("",),
          "what automatic chooses from": spttm.CHOSEN, "the best": FIVE + SPMM + ("lanes",)}


class Value:
    """A number, the rows that it comes from and their noise band; exact: of no times, without one."""

    def __init__(self, value, *rows, exact=False):
        self.value, self.rows = value, [one for row in rows for one in row.get("sum_of", [row])]
        self.band = 0 if exact else max((row.get("noise", 0) for row in rows), default=0)

    def within(self, low, high):
        """Whether it may lie between the two, as far as noise tells."""
        return self.value * (1 + self.band) >= low and self.value / (1 + self.band) <= high


class Shares(list):
    """[Value], each of another thing: shown in their order and judged one by one, without a mean."""


def side(machine, kernel, strategy, rank=None):
    """{(tensor, scalar, rank, mode): row}, the fastest one of a group of strategies where all of
    the group were measured that the machine has rows of. With a rank only these rows, and keys
    without it. "native pull" is the loop without Kokkos, "SparTen x" the strategy x of that
    library."""
    found, measured = {}, {}
    for row in machine.timed():
        whose = row.get("peer") or ("native" if row["native"] else "")
        own = (whose + " " + (row["strategy"] or "")).strip()
        is_wanted = (own in GROUPS.get(strategy, (strategy,))
                     or strategy == "automatic" and not own)  # kernels without strategies
        if is_wanted and row["kernel"] in KERNELS.get(kernel, (kernel,)) and (
                not rank or row["rank"] in (int(rank), None)):
            key = (row["tensor"] or row["kernel"], row["scalar"], None if rank else row["rank"],
                   row["mode"])
            measured.setdefault(key, set()).add(own)
            if key not in found or row["median"] < found[key]["median"]:
                found[key] = row
    return with_sums(kernels.of_all(found, measured))


def with_sums(found):
    """And rows of all modes together of other libraries, which time each mode alone. Products of
    flycoo on one mode alone have no row beside them."""
    modes = {}
    for key, row in found.items():
        if row.get("peer") and isinstance(key[3], int):
            modes.setdefault(key[:3], []).append(row)
    sums = {(*key, "all"): dict(rows[0], mode="all", sum_of=rows, noise=max(
        row["noise"] for row in rows), median=sum(row["median"] for row in rows))
        for key, rows in modes.items() if len(rows) == len(rows[0].get("dims") or ())}
    return {**sums, **found}


def cases(*sides, by_mode=False):
    """Tuples of rows that measure the same: all modes together where every side has them, and each
    mode elsewhere, or by_mode."""
    keys = [key for key in sides[0] if all(key in one for one in sides)]
    whole = {key[:3] for key in keys if key[3] == "all"}
    return [tuple(one[key] for one in sides) for key in keys
            if (key[3] != "all" if by_mode else key[3] == "all" or key[:3] not in whole)]


def times(machine, _, kernel, fast, slow, rank=None, by_mode=False):
    """How many times as fast."""
    return [Value(other["median"] / own["median"], own, other) for own, other in cases(
        side(machine, kernel, fast, rank), side(machine, kernel, slow, rank), by_mode=by_mode)]


def times_of_others(machine, _, kernel, strategy):
    """Of the modes for which automatic chose another strategy, which its label begins with."""
    return [Value(other["median"] / own["median"], own, other) for own, other in cases(
        side(machine, kernel, "automatic"), side(machine, kernel, strategy), by_mode=True)
        if own.get("label", strategy).split()[0] != strategy]


def _share(answers, rows):
    """The share of those that are True."""
    return Value(sum(answers) / len(answers), *rows, exact=True)


def share_faster(machine, _, kernel, fast, slow, rank=None):
    """The share of the modes in which it is."""
    found = times(machine, _, kernel, fast, slow, rank, by_mode=True)
    return [_share([one.value > 1 for one in found],
                   [row for one in found for row in one.rows])] if found else []


def wins(machine, _, kernel, *groups):
    """The share of the modes in which each group is the fastest."""
    found = cases(*(side(machine, kernel, one) for one in groups), by_mode=True)
    rows = [row for one in found for row in one]
    least = [min(row["median"] for row in one) for one in found]
    return Shares(_share([one[at]["median"] == best for one, best in zip(found, least)], rows)
                  for at in range(len(groups)) if found)


def _left_out(machine, kernel, groups):
    """[(rows by group, group that a tree chooses, best single group)], a case a mode: both fitted to
    other tensors alone. GROUPS of several strategies: the fastest of them."""
    found = {}
    sides = [side(machine, kernel, one) for one in groups.split(", ")]
    for rows in cases(*sides, by_mode=True):
        asked = next(filter(None, map(spttm.features, rows)), None)
        if asked:
            case = trees.Case(names.family(rows[0]["tensor"]), asked,
                              {at: row["median"] for at, row in enumerate(rows)})
            found[id(case)] = case, rows
    chosen = trees.left_out([case for case, _ in found.values()], spttm.FEATURES)
    return [(found[id(case)][1], choice, single) for case, choice, single in chosen]


def tree_is_right(machine, _, kernel, groups):
    """The share of the cases in which it chooses the fastest."""
    found = _left_out(machine, kernel, groups)
    return [_share([rows[at]["median"] == min(row["median"] for row in rows)
                    for rows, at, _ in found],
                   [row for rows, _, _ in found for row in rows])] if found else []


def tree_regret(machine, _, kernel, groups):
    """The time by what it chooses over that by the best."""
    found = []
    for rows, at, _ in _left_out(machine, kernel, groups):
        best = min(rows, key=lambda row: row["median"])
        found.append(Value(rows[at]["median"] / best["median"], rows[at], best,
                           exact=rows[at] is best))
    return found


def tree_over_single(machine, _, kernel, groups):
    """How many times as fast, where the two differ; 1 where they never do."""
    found = _left_out(machine, kernel, groups)
    differ = [(rows[at], rows[single]) for rows, at, single in found if at != single]
    if not differ:
        return [Value(1.0, *found[0][0])] if found else []
    return [Value(other["median"] / own["median"], own, other) for own, other in differ]


def factor_of_algorithm(machine, _, kernel, *pair):
    """By what factor the strategy changes the time, over that of a native loop in place of ours."""
    def factor(one, other):
        return max(one["median"] / other["median"], other["median"] / one["median"])
    return [Value(factor(a, b) / max(factor(a, native_a), factor(b, native_b)),
                  a, b, native_a, native_b) for a, b, native_a, native_b in cases(
        *(side(machine, kernel, kind + one) for kind in ("", "native ") for one in pair))]


def share_of_roof(machine, _, roof, kernel, strategy):
    """The bytes that must move, of the vendor's bandwidth or of the measured triad's."""
    roofs = {scalar: machine.peak if roof == "peak" else kernels.triad(machine.timed(), scalar)
             for scalar in names.SCALARS}
    return [Value(row["bytes_per_second"] / roofs[row["scalar"]], row)
            for row, in cases(side(machine, kernel, strategy))
            if row.get("bytes_per_second") and roofs.get(row["scalar"])]


def part_of_time(machine, _, kernel, strategy, beginning):
    """Of all kernels of an iteration, those whose labels begin so."""
    found = [(row, kernels.parts_of_time(row)) for row, in cases(side(machine, kernel, strategy))]
    return [Value(sum(value for name, value in parts.items() if name.startswith(beginning)) /
                  sum(parts.values()), row) for row, parts in found if sum(parts.values()) > 0]


def part_of_remaps(machine, _, rank):
    """N remaps, which know no rank."""
    return [Value(remaps["median"] / own["median"], remaps, own) for remaps, own in cases(
        side(machine, "remap", "flycoo", rank), side(machine, "mttkrp", "flycoo", rank))]


def part_of_fused_remaps(machine, _, strategy, rank):
    """Of products that move the nonzeros, beside those of all modes that leave them where they are."""
    unmoved = side(machine, "unmoved", strategy, rank)
    found = []
    for key, row in side(machine, "mttkrp", strategy, rank).items():
        modes = [one for of, one in unmoved.items() if of[:3] == key[:3]]
        if key[3] == "all" and len(modes) == len(row.get("dims") or ()):
            found.append(Value(1 - sum(one["median"] for one in modes) / row["median"],
                               row, *modes))
    return found


def storage_over(machine, _, unit, one, large, small):
    """Bytes of two formats, or words as papers count them; one: of one copy of the first instead of
    a copy a mode. The words of hocsr follow from dims and nonzeros, so that it need not be built."""
    def size(row):
        return row.get("storage_bytes") if unit == "bytes" else row.get("counters", {}).get("words")

    own = side(machine, "build", small)
    if (unit, large) == ("words", "hocsr"):
        return [Value(hocsr_words(row["dims"], row["nnz"], row["mode"]) / size(row), row, exact=True)
                for row, in cases(own) if row["mode"] is not None and size(row) and row.get("dims")]
    return [Value(size(first) / size(second) / (len(first.get("dims") or [0]) if one else 1),
                  first, second, exact=True)
            for first, second in cases(side(machine, "build", large), own)
            if size(first) and size(second)]


def hocsr_words(dims, nonzeros, mode):
    """A word a fiber, empty ones included, and two a nonzero (Yang, Li & Li 2019, tables 4 to 6)."""
    return math.prod(dims) // dims[mode] + 2 * nonzeros


def gflops(machine, _, kernel, strategy, rank):
    return [Value(row["flops"] / row["median"] / 1e9, row)
            for row, in cases(side(machine, kernel, strategy, rank)) if row.get("flops")]


def rank_gain(machine, _, kernel, strategy, larger, rank):
    """How many times as many flop/s."""
    return [Value(least["median"] * int(larger) / most["median"] / int(rank), least, most)
            for least, most in cases(side(machine, kernel, strategy, rank),
                                     side(machine, kernel, strategy, larger))]


def over_host(machine, machines, kernel, fast, slow, rank):
    """How many times as fast a GPU is as the first host, on one and the same tensor."""
    host = next((one for one in machines if not one.gpu), None)
    return [Value(other["median"] / own["median"], own, other) for own, other in cases(
        side(machine, kernel, fast, rank), side(host, kernel, slow, rank))
        if own.get("nnz") and own["nnz"] == other.get("nnz")] if host else []


def profiled(machine, _, what, kernel, *pair):
    """A share of what the hardware can do, as perf/profile writes it, over that of another strategy."""
    counter = ncu.COUNTERS[what]
    return [Value(own["counters"][counter] / other["counters"][counter], own, other)
            for own, other in cases(*(side(machine, ncu.PREFIX + kernel, one) for one in pair))
            if own["counters"].get(counter) and other["counters"].get(counter)]


def even_fibers(machine, _, kernel, strategy):
    found = [(key[:3], row["counters"]["fiber_deviation"], row)
             for key, row in side(machine, kernel, strategy).items()
             if "fiber_deviation" in row.get("counters", {})]
    pairs = [(one[2], other[2]) for one in found for other in found
             if one[0] == other[0] and one[1] < other[1]]
    return [_share([even["median"] < uneven["median"] for even, uneven in pairs],
                   [row for pair in pairs for row in pair])] if pairs else []


def pipeline(machine, _, kernel, strategy):
    return [Value(row["counters"]["T_s"] / 1e3 / row["median"], row)
            for row, in cases(side(machine, kernel, strategy))
            if row.get("counters", {}).get("T_s")]


# The words of claims.md; groups are the arguments of the measure. The first that matches counts.
WORDS = [(re.compile(pattern), measure) for pattern, measure in (
    (r"share of the (peak|triad): (\w+), (.+)", share_of_roof),
    (r"share of mttkrp, flycoo, R = (\d+): remaps", part_of_remaps),
    (r"share of mttkrp, (flycoo-blocks), R = (\d+): fused remaps", part_of_fused_remaps),
    (r"share of (\w+), (\w+): (\w+)", part_of_time),
    (r"share of modes: (\w+), (.+) over (.+?)(?:, R = (\d+))?", share_faster),
    (r"shares of wins: (\w+), (.+), (.+), (.+)", wins),
    (r"share of pairs of modes where fibers that deviate less are faster: (\w+), (.+)",
     even_fibers),
    (r"(\w+), a tree of (.+): share right", tree_is_right),
    (r"(\w+), a tree of (.+): time over the best", tree_regret),
    (r"(\w+), a tree of (.+): over one choice, where they differ", tree_over_single),
    (r"(\w+): factor between (\w+) and (\w+) over that between Kokkos and native",
     factor_of_algorithm),
    (r"(bytes|words): (one )?(\w+) over (\w+)", storage_over),
    (r"GFlop/s: (\w+), (.+), R = (\d+)", gflops),
    (r"flop/s: (\w+), (.+), R = (\d+) over (\d+)", rank_gain),
    (r"over the first host, on the same tensor: (\w+), (.+) over (.+?)(?:, R = (\d+))?", over_host),
    (r"(%s): (\w+), (.+) over (.+)" % "|".join(ncu.COUNTERS), profiled),
    (r"T_s over the time: (\w+), (\w+)", pipeline),
    (r"(\w+): automatic over (\w+), where it chose another", times_of_others),
    (r"(\w+): (.+) over (.+?)(?:, R = (\d+))?(, by mode)?", times))]


def values(compared, machine, machines):
    if compared.startswith("–"):
        return []
    libraries = {row["peer"] for row in machine.peer_rows().values()}
    libraries = {one for one in libraries if re.search(r"(?<!\w)%s(?!\w)" % re.escape(one), compared)}
    if libraries:
        machine = machine.beside(libraries)
    for pattern, measure in WORDS:
        match = pattern.fullmatch(compared)
        if match:
            return measure(machine, machines, *match.groups())
    raise Bad("claims.md: nothing compares '%s'" % compared)


def bounds(words):
    """("CPU", "GPU" or None, least, most) of "GPU: 0.76 to 0.91", "1 or more", "0.9 or less", "CPU";
    the latter two are None where nothing is said."""
    kind, text = re.fullmatch(r"(?:(CPU|GPU)(?:: |$))?(.*)", words).groups()
    match = re.fullmatch(r"([\d.]+) (?:to ([\d.]+)|or (more|less))", text)
    if not match:
        if text:
            raise Bad("claims.md: '%s' is no bound" % words)
        return kind, None, None
    first = float(match.group(1))
    return kind, 0.0 if match.group(3) == "less" else first, float(
        match.group(2) or (first if match.group(3) == "less" else "inf"))


def verdict(found, mean, low, high):
    """In a few words; perf/claims explains them."""
    all_within = all(one.within(low, high) for one in found)
    if isinstance(found, Shares):
        return "holds" if all_within else "does not hold"
    width = high / low - 1 if low else math.inf
    distance = min((max(mean / end, end / mean) - 1 for end in (low, high)
                    if mean and 0 < end < math.inf), default=math.inf)
    bands = [one.band for one in found]
    if width < max(bands) or distance < sum(bands) / len(bands):
        return "cannot be told"
    if not low <= mean <= high:
        return "does not hold"
    return "holds" if all_within else "holds in the mean"


def commit(results):
    return results["software"].get("git") or "unknown"


def about(machine):
    """What computed, and the commit of the latest results."""
    described = machine.latest["machine"]
    cores = described.get("processors") or described.get("cores") or machine.threads()
    words = [(described.get("gpu") or {}).get("name", "GPU") if machine.gpu else "%s, %d core%s" % (
        described.get("cpu") or "host", cores, "" if cores == 1 else "s"),
        machine.latest["software"].get("backend") or "unknown backend",
        "commit " + commit(machine.latest), machine.latest["date"][:10]]
    return "%s: %s" % (machine.name, ", ".join(words + [
        "beside %s %s (%s)" % (name, one.get("version"), one.get("git"))
        for name, one in machine.software_of_peers().items()]))


def remarks(found, machine, machines):
    """The number of cases, the nonzeros of their tensors, and the commits where these are not only
    that of about(machine)."""
    rows = [row for one in found for row in one.rows]
    commits = {id(row): commit(results) for one in [machine, *machines] for results in one.files
               for row in results["rows"]}
    words = [] if isinstance(found, Shares) or len(found) == 1 else [str(len(found))]
    sizes = [number(size / 1e6) for size in sorted({row["nnz"] for row in rows if row.get("nnz")})]
    if sizes:
        words.append(" to ".join(dict.fromkeys((sizes[0], sizes[-1]))) + " M nonzeros")
    used = sorted({commits[id(row)] for row in rows})
    if used and used != [commit(machine.latest)]:
        words.append("commits " * (len(used) > 1) + " and ".join(used))
    return " (%s)" % "; ".join(words) if words else ""


def cell(compared, holds_at, machine, machines):
    """The verdict, the range, the geometric mean and remarks."""
    kind, low, high = bounds(holds_at)
    if kind and machine.gpu != (kind == "GPU"):
        return ""
    found = values(compared, machine, machines)
    if not found:
        return "not measured"
    numbers = [one.value for one in found]
    mean = noise.geometric_mean(numbers)
    if len(numbers) == 1 or isinstance(found, Shares):
        text = ", ".join(map(number, numbers))
    else:
        text = "%s to %s, mean %s" % (number(min(numbers)), number(max(numbers)), number(mean))
    judged = "" if low is None else verdict(found, mean, low, high) + ": "
    return judged + text + remarks(found, machine, machines)
