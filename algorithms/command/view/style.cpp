// SPDX-FileCopyrightText: Sporades contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sporades/algorithms/command/view/style.hpp>

namespace sporades::command {

char const* const page_style = R"(
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1c2126; --soft: #59636e; --rule: #d8dde2; --tint: 46 107 150;
  --fill: #2e6b96;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181b; --ink: #e3e7eb; --soft: #9ba5af; --rule: #343a40; --tint: 122 176 214;
    --fill: #7ab0d6;
  }
}
* { box-sizing: border-box; }
body {
  max-width: 82rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem;
  background: var(--paper); color: var(--ink);
  font: 0.9375rem/1.45 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
}
h1 { font-size: 1.6rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 0 0 0.25rem; }
p { margin: 0 0 0.75rem; max-width: 46rem; }
section { border-top: 1px solid var(--rule); padding: 1.1rem 0; }
header p, figcaption, .ends, .overview td:nth-child(4), .side p { color: var(--soft); }
bdi { white-space: pre-wrap; overflow-wrap: anywhere; }
a { color: inherit; }

table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { font-weight: inherit; text-align: left; }
th, td { padding: 0.1rem 0; vertical-align: middle; }
i {
  display: block; height: 0.7rem; min-width: 1px;
  background: var(--fill); border: 1px solid var(--fill);
}
i.minus, .map .minus {
  background-image: repeating-linear-gradient(135deg, var(--hatch) 0 1px, transparent 1px 4px);
}
i.minus { --hatch: var(--fill); background-color: transparent; }
i, .map td { -webkit-print-color-adjust: exact; print-color-adjust: exact; }

.guide ul { margin: 0; padding: 0; list-style: none; columns: 2 26rem; column-gap: 3rem; }
.guide li { display: flex; gap: 1rem; margin: 0 0 0.7rem; break-inside: avoid; max-width: 38rem; }
.sample { flex: 0 0 4.5rem; padding-top: 0.3rem; }
.sample svg { height: 1.5rem; }

.overview table { width: 100%; }
.overview th { width: 1%; white-space: nowrap; padding-right: 0.75rem; }
.overview td:nth-child(2) { width: 22%; }
.overview td:nth-child(3) { width: 1%; white-space: nowrap; text-align: right; padding: 0 1rem; }

.ranks th, .ranks td { padding: 0.1rem 1.25rem 0.1rem 0; }

.row { display: grid; grid-template-columns: 8.5rem minmax(0, 1fr); gap: 0.5rem 1.5rem; }
.side p { margin: 0 0 0.25rem; }
.panels {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1.25rem 2rem;
}
figure { margin: 0; }
.panel { max-width: 30rem; break-inside: avoid; }
figcaption { font-size: 0.8125rem; margin-bottom: 0.35rem; }
figcaption b { color: var(--ink); }
dl {
  display: grid; grid-template-columns: fit-content(52%) minmax(0, 1fr) auto; gap: 0.2rem 0.6rem;
  align-items: center; margin: 0; font-size: 0.875rem; line-height: 1.3;
  font-variant-numeric: tabular-nums;
}
dd { margin: 0; }
dd:nth-of-type(even) { text-align: right; }

svg { display: block; width: 100%; height: 3.25rem; overflow: visible; }
path { vector-effect: non-scaling-stroke; fill: none; stroke: var(--fill); stroke-width: 1.5; }
.zero { stroke: var(--soft); stroke-width: 1; }
.steps { fill: var(--fill); stroke: none; }
.curve { height: 6rem; }
.line { stroke-linejoin: round; }
.dot { stroke-width: 7; stroke-linecap: round; }
.ends {
  display: flex; justify-content: space-between; gap: 1rem; font-size: 0.75rem;
  margin: 0.1rem 0 0.4rem;
}
.ends bdi { max-width: 48%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }

.maps { display: flex; flex-wrap: wrap; gap: 1.25rem 2rem; }
.map { max-width: 100%; overflow-x: auto; break-inside: avoid; }
.map table { font-size: 0.75rem; line-height: 1; }
.map th { color: var(--soft); text-align: center; padding: 0.25rem 0.4rem; }
.map td {
  height: 1.75rem; min-width: 2rem; padding: 0 0.2rem; text-align: center;
  border: 1px solid var(--rule);
}
.map td[style] { background-color: rgb(var(--tint) / calc(var(--part) * 0.6)); }
.map .minus { --hatch: rgb(var(--tint) / calc(0.2 + var(--part) * 0.5)); }
.map td:first-child:empty { border: 0; }

@media (max-width: 40rem) {
  body { padding: 1rem 0.9rem 2rem; }
  .row { display: block; }
  .side { margin-bottom: 0.75rem; }
  .panel { max-width: none; }
  .overview td:nth-child(3) { padding: 0 0.6rem; }
}
@media print {
  :root {
    color-scheme: light; font-size: 12px;
    --paper: #fff; --ink: #000; --soft: #444; --rule: #bbb; --tint: 46 107 150; --fill: #2e6b96;
  }
  @page { margin: 14mm; }
  body { padding: 0; max-width: none; }
  .row, .overview { break-inside: avoid; }
  .row { display: block; }
  .side {
    display: grid; grid-template-columns: max-content max-content 12rem; gap: 0 1rem;
    align-items: center; margin-bottom: 0.5rem;
  }
  .side p, .side h2 { margin: 0; }
  .panels { grid-template-columns: repeat(auto-fit, minmax(14.5rem, 1fr)); gap: 1rem 1.5rem; }
  tr { break-inside: avoid; }
  h2, section > p { break-after: avoid; }
  .map { overflow: visible; }
}
)";

}  // namespace sporades::command
