# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of what five papers have (bench/inventory.md, bench/exhibits): where each thing is, on which
machines it was measured, and what is missing."""
import os
import re

from bench import papers, tables
from bench.results import Bad

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
LIST = os.path.join(HERE, "inventory.md")
COLUMNS = ["item", "in the paper", "where", "rows", "lacks"]
WORDS = """\
# What five papers have, and what of it is here

This page is made by `perf/report %s --inventory`; do not edit it by hand.

Formats, algorithms and systems are listed with the files that have them and the machines on which
they were measured; figures and tables are in the page that `perf/report` makes of these results.
"Complete" is what has all that the paper says of it; else it says what is missing, and why.
"""


class Item:
    """A line of the list. rows: [(kernel, strategy)] that are measured of it."""

    def __init__(self, line, cells):
        if len(cells) != len(COLUMNS):
            raise Bad("bench/inventory.md: '%s' has %d cells, not %d" % (line, len(cells), len(COLUMNS)))
        self.name, self.cited, where, rows, self.lacks = cells
        self.files = [one.strip() for one in where.split(",")]
        self.rows = [tuple((one.strip() + " ").split(" ")[:2]) for one in rows.split(",") if one.strip()]
        for path in self.files:
            if not os.path.exists(os.path.join(ROOT, path)):
                raise Bad("bench/inventory.md: there is no %s, where '%s' should be" % (path, self.name))


def items(text):
    """{heading of a paper: [Item]}"""
    found = {}
    for section in re.split(r"\n## ", text)[1:]:
        heading, *lines = section.split("\n")
        cells = [[cell.strip() for cell in line.strip().strip("|").split("|")]
                 for line in lines if line.startswith("|")]
        own = [one for one in cells if one[0] != "---" and one != COLUMNS]
        found[heading.strip()] = [Item(" | ".join(one), one) for one in own]
    headings = [paper.heading for paper in papers.PAPERS.values()]
    if sorted(found) != sorted(headings):
        raise Bad("bench/inventory.md has sections %s, not %s" % (
            ", ".join(sorted(found)), ", ".join(sorted(headings))))
    return found


def machines_of(rows, machines):
    """Names of those that timed all of the rows, a library at least once."""
    def timed(machine):
        return ({(row["kernel"], row["strategy"] or "") for row in machine.rows.values() if row["rounds"]}
                | {("peer", row["peer"]) for row in machine.peer_rows().values() if row["rounds"]})
    return [one.name for one in machines if set(rows) <= timed(one)]


def line(item, machines):
    measured = machines_of(item.rows, machines) if item.rows else []
    lacks = [item.lacks] if item.lacks else []
    if item.rows and not measured:
        lacks.append("not measured in these results")
    return [item.name, item.cited, ", ".join(item.files), ", ".join(measured) or "–",
            "; ".join(lacks) or "complete"]


def line_of_exhibit(shown):
    """shown: a bench.exhibit.Shown."""
    number = shown.title.rsplit(", ", 1)[1]
    return [number[0].upper() + number[1:], shown.shows, "perf/bench/exhibits/%s.py" % shown.name.split("-")[0],
            "", "not measured: " + shown.missing if shown.missing else "complete"]


def page(machines, sections, arguments):
    """Markdown. sections: those of bench/exhibits."""
    with open(LIST, encoding="utf-8") as file:
        own = items(file.read())
    parts = [WORDS % arguments]
    for key, paper in papers.PAPERS.items():
        rows = [line(item, machines) for item in own[paper.heading]]
        exhibits = [shown for name, _, _, found in sections if name == key for shown in found]
        rows += [line_of_exhibit(one) for one in exhibits]
        table = tables.Table(paper.heading, ["item", "in the paper", "where", "measured on",
                                             "complete, or what is missing and why"], rows)
        parts.append(tables.as_markdown(table)[1:])
    return "\n".join(parts)
