# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How all pictures look. Colours are those of Okabe & Ito, which colour-blind readers tell apart;
hatches, markers and labels say the same without colour."""
import io
import warnings

import matplotlib

matplotlib.use("Agg")
from matplotlib import font_manager  # noqa: E402
from matplotlib import pyplot, transforms  # noqa: E402

from bench.text import number, percent, seconds  # noqa: E402,F401

WIDTH = 4.4  # inches of every picture: as wide as a phone, elsewhere two beside each other
DOTS = 200   # an inch
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++", "oo", "--")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
INK, FAINT, GRID = "#1a1a1a", "#666666", "#d8d8d8"

matplotlib.rcParams.update({
    "font.family": "sans-serif", "font.size": 8.5, "axes.titlesize": 9, "axes.titleweight": "bold",
    "axes.labelsize": 8.5, "axes.edgecolor": FAINT, "axes.labelcolor": INK, "text.color": INK,
    "xtick.color": INK, "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False,
    "axes.axisbelow": True, "grid.color": GRID, "grid.linewidth": 0.6, "hatch.linewidth": 0.5,
    "legend.frameon": False, "legend.fontsize": 8, "figure.dpi": DOTS, "axes.titlelocation": "left",
})
if "text.parse_math" in matplotlib.rcParams:
    matplotlib.rcParams["text.parse_math"] = False  # a name with dollars is no formula


class Picture:
    """png, its title, one sentence that says how to read it, notes, and what short names in it
    stand for: [(short, full)]."""

    def __init__(self, name, title, reading, figure, notes=(), key=()):
        self.name, self.title, self.reading = name, title, reading
        self.notes, self.key = list(notes), list(key)
        buffer = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # letters that no font has: see Names
            figure.savefig(buffer, format="png", dpi=DOTS, facecolor="white",
                           metadata={"Software": None})
        self.size = (int(figure.get_figwidth() * 100), int(figure.get_figheight() * 100))
        pyplot.close(figure)
        self.png = buffer.getvalue()


def _drawn():
    """The characters that the pictures' font has."""
    path = font_manager.findfont(font_manager.FontProperties())
    return set(font_manager.get_font(path).get_charmap())


class Names:
    """Names as pictures show them: those that are longer, or have letters that the font lacks, are
    numbered, and the key under the picture, which the browser draws, has them in full."""

    def __init__(self, kind, longest):
        self.kind, self.longest, self._short, self._used = kind, longest, {}, {}
        self._letters = _drawn()

    def __call__(self, name):
        if name not in self._short:
            short = name
            if len(name) > self.longest or any(ord(letter) not in self._letters for letter in name):
                numbered = sum(1 for full, shown in self._short.items() if full != shown)
                short = "%s %d" % (self.kind, numbered + 1)
            self._short[name] = short
        if self._short[name] != name:
            self._used[self._short[name]] = name
        return self._short[name]

    def key(self):
        """[(short, full)] of those that were shown since the last call."""
        found = sorted(self._used.items())
        self._used = {}
        return found


def figure(height, rows=1, columns=1, **settings):
    """height in inches."""
    made, axes = pyplot.subplots(rows, columns, figsize=(WIDTH, height), squeeze=False,
                                 constrained_layout=True, **settings)
    return made, axes


def colour(at):
    return COLOURS[at % len(COLOURS)]


def hatch(at):
    return HATCHES[at % len(HATCHES)]


def marker(at):
    return MARKERS[at % len(MARKERS)]


def beside(axis, text, x, y):
    """Right of a mark, on white; left of one below zero."""
    axis.annotate(text, (x, y), xytext=(-5 if x < 0 else 5, 0), textcoords="offset points", va="center",
                  ha="right" if x < 0 else "left", fontsize=7.5,
                  bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})


def grouped_bars(axis, labels, series, text):
    """Horizontal bars, a group a label. series: [(name, [(length or None, [(dot, is hollow)])])],
    an entry a label. text(length) stands at the bar's end. Gives back the longest."""
    height = 0.8 / len(series)
    most = 0
    for at, (name, entries) in enumerate(series):
        places = [row + height * (at - (len(series) - 1) / 2) for row in range(len(labels))]
        axis.barh(places, [length or 0 for length, _ in entries], height, color=colour(at),
                  hatch=hatch(at), edgecolor=INK, linewidth=0.5, label=name)
        for place, (length, dots) in zip(places, entries):
            ends = [length or 0] + [dot for dot, _ in dots]
            for dot, is_hollow in dots:
                axis.plot([dot], [place], "o", markersize=3.2, markeredgewidth=0.7,
                          color=INK, markerfacecolor="white" if is_hollow else INK)
            beside(axis, text(length), max(ends), place)
            most = max(most, *ends)
    axis.set_yticks(range(len(labels)), labels)
    axis.set_ylim(len(labels) - 0.45, -0.55)
    axis.grid(axis="x")
    if len(series) > 1:
        legend(axis)
    return most


def height_of_bars(labels, series):
    """Inches."""
    return 0.65 + (0.1 + 0.17 * series) * labels + 0.18 * series


def legend(axis, columns=1, lift=0, **settings):
    """Above the axis, so many points above its top."""
    handles, labels = axis.get_legend_handles_labels()
    if handles:
        place = transforms.offset_copy(axis.transAxes, axis.figure, y=lift + 2, units="points")
        axis.legend(handles, labels, loc="lower left", bbox_to_anchor=(0, 1), ncol=columns,
                    bbox_transform=place, handlelength=2.0, borderaxespad=0.2, **settings)
