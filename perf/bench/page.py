# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report as one HTML page that needs nothing else."""
import base64
from html import escape

from bench import noise
from bench.text import number, percent, seconds

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1240px; padding: 0 16px 40px; background: #fff; color: #1a1a1a;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1.2em 0 .3em; }
h2 { font-size: 1.25rem; margin: 2em 0 .4em; border-bottom: 2px solid #1a1a1a; padding-bottom: .15em; }
p { margin: .4em 0; max-width: 75ch; overflow-wrap: anywhere; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 480px), 1fr));
  gap: 30px 36px; align-items: start; }
figure { margin: 0; break-inside: avoid; min-width: 0; }
figure h3 { font-size: 1rem; line-height: 1.35; margin: 0 0 .15em; overflow-wrap: anywhere; }
figure p { font-size: .9rem; line-height: 1.4; margin: .1em 0 .5em; }
figure img { display: block; width: 100%; height: auto; }
figcaption { font-size: .82rem; line-height: 1.4; color: #444; overflow-wrap: anywhere; }
figcaption ul { margin: .3em 0 0; padding-left: 1.2em; }
.exhibit { margin: 1.6em 0; }
.exhibit > h3 { font-size: 1.1rem; margin: 0 0 .2em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; line-height: 1.35; margin: .5em 0 1em;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .2em 0; }
th, td { padding: .25em .7em .25em 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid #ddd; overflow-wrap: break-word; max-width: 24em; }
th { border-bottom-color: #777; }
summary { cursor: pointer; font-weight: 600; margin: .6em 0; }
.warning { border-left: 4px solid #b00; padding-left: .7em; }
nav { line-height: 1.9; }
nav a { margin-right: 1em; white-space: nowrap; }
a { color: #00568f; }
@media print {
  html { font-size: 9.5px; }
  body { font-size: 1rem; max-width: none; padding: 0; }
  .pictures { display: block; columns: 2; column-gap: 24px; }
  figure { margin-bottom: 18px; }
  figure img { width: auto; max-width: 100%; max-height: 75vh; }
  details, nav { display: none; }
  h2 { break-after: avoid; }
}
"""


def table_html(table):
    head = "".join("<th scope=col>%s</th>" % escape(cell) for cell in table.header)
    body = "\n".join("<tr>%s</tr>" % "".join("<td>%s</td>" % escape(cell) for cell in row)
                     for row in table.rows)
    words = "<p>%s</p>" % escape(table.words) if table.words else ""
    return ("<div class=wide><table><caption>%s</caption><thead><tr>%s</tr></thead>\n"
            "<tbody>\n%s\n</tbody></table></div>%s\n" % (escape(table.title), head, body, words))


def picture_html(picture):
    notes = [escape(note) for note in picture.notes]
    notes += ["%s: %s" % (escape(short), escape(full)) for short, full in picture.key]
    listed = "<ul>%s</ul>" % "".join("<li>%s</li>" % note for note in notes) if notes else ""
    data = base64.b64encode(picture.png).decode("ascii")
    return ('<figure id="%s"><h3>%s</h3><p>%s</p>\n<img width=%d height=%d alt="%s" '
            'src="data:image/png;base64,%s">\n<figcaption>%s</figcaption></figure>\n' % (
                escape(picture.name), escape(picture.title), escape(picture.reading), *picture.size,
                escape(picture.title + ". " + picture.reading), data, listed))


def exhibit_html(exhibit):
    """exhibit: a bench.exhibit.Shown."""
    pictures = "".join(map(picture_html, exhibit.pictures))
    lacks = ("<p class=lacks>Not measured: %s.</p>\n" % escape(exhibit.missing)
             if exhibit.missing else "")
    return ('<section class=exhibit id="%s"><h3>%s</h3>\n<p>In the paper: %s<br>Here: %s</p>\n%s%s%s</section>\n'
            % (escape(exhibit.name), escape(exhibit.title), escape(exhibit.shows),
               escape(exhibit.ours),
               "<div class=pictures>\n%s</div>\n" % pictures if pictures else "",
               "".join(map(table_html, exhibit.tables)), lacks))


def _paper_html(paper):
    """paper: (id, title, notes, exhibits)."""
    name, title, notes, exhibits = paper
    return "<h2 id=%s>%s</h2>\n%s%s" % (
        name, escape(title), "".join("<p>%s</p>\n" % escape(note) for note in notes),
        "".join(map(exhibit_html, exhibits)))


def _remarks(machines, messages):
    """What a reader should know first: files that are cut short, rows replaced."""
    found = list(messages)
    for machine in machines:
        for results in machine.files:
            if not results.get("complete"):
                left = results.get("left_out") or []
                text = "%s (%s) is not complete" % (results["path"], machine.name)
                reasons = {}  # {why: [parts and tensors that are left out or cut short]}
                for one in left:
                    if isinstance(one, dict):
                        what = str(one.get("part") or one.get("tensor"))
                        kinds = reasons.setdefault(str(one.get("why")), [])
                        if what not in kinds:
                            kinds.append(what)
                text += ": %s." % ("; ".join("%s (%s)" % (", ".join(kinds), why)
                                             for why, kinds in reasons.items()) or "it was stopped")
                found.append(text)
        if len(machine.files) > 1:
            found.append("%s: %d files were merged; %d rows that an earlier one has, too, are those "
                         "of the latest." % (machine.name, len(machine.files), machine.replaced))
    return found


def _row_table(machine):
    rows = []
    for row in [*machine.rows.values(), *machine.peer_rows().values()]:
        if row["rounds"]:
            samples = [one for taken in row["rounds"] for one in taken]
            cells = [seconds(row["median"]), seconds(row["min"]), percent(row["noise"]),
                     str(len(samples)),
                     number(row["bytes_per_second"] / 1e9) if row.get("bytes_per_second") else ""]
        else:
            cells = [row.get("refused") or "not timed", "", "", "", ""]
        rows.append("<tr>%s</tr>" % "".join("<td>%s</td>" % escape(cell) for cell in [
            row["name"], str(row["threads"])] + cells))
    return ("<details><summary>All %d rows of %s</summary><div class=wide><table><thead><tr><th>"
            "benchmark<th>threads<th>median<th>least<th>noise<th>samples<th>GB/s</tr></thead><tbody>\n"
            "%s\n</tbody></table></div></details>\n" % (len(rows), escape(machine.name),
                                                       "\n".join(rows)))


def html(machines, papers, sections, tables, messages):
    """papers: [(id, title, notes, exhibits)]. sections: [(id, title, [Picture])]."""
    shown = [one for one in sections if one[2]]
    links = " ".join('<a href="#%s">%s</a>' % (one[0], escape(one[1])) for one in papers + shown)
    remarks = "".join("<p class=warning>%s</p>\n" % escape(text)
                      for text in _remarks(machines, messages))
    dates = sorted(results["date"][:10] for machine in machines for results in machine.files)
    body = "".join(map(_paper_html, papers))
    body += "".join("<h2 id=%s>%s</h2>\n<div class=pictures>\n%s</div>\n" % (
        name, escape(title), "".join(map(picture_html, pictures))) for name, title, pictures in shown)
    return """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sporades: what it reaches</title>
<style>%s</style>
</head>
<body>
<h1>Sporades: what it reaches, of what the machines can do</h1>
<p>%s. Measured %s. Made by <code>perf/report</code> from %s.</p>
%s<nav>%s<a href="#tables">Tables</a></nav>
%s<h2 id=tables>Tables</h2>
%s<p>%s</p>
%s</body>
</html>
""" % (STYLE, escape("; ".join(machine.name for machine in machines)),
       escape(dates[0] if dates[0] == dates[-1] else dates[0] + " to " + dates[-1]),
       escape(", ".join(results["path"] for machine in machines for results in machine.files)),
       remarks, links, body, "".join(map(table_html, tables)), escape(noise.DEFINITION),
       "".join(map(_row_table, machines)))
