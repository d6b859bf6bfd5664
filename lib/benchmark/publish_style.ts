/** Style of a published page: one column of text, scrolling tables, both colour schemes, print. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --bg: #f7f8f9; --panel: #fff; --line: #dfe3e8; --ink: #1b2330; --soft: #4d596b;
  --accent: #0b5cad; --warn: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --bg: #12161c; --panel: #191f27; --line: #2b3440; --ink: #e4e9f0;
  --soft: #aab6c6; --accent: #6cb2f5; --warn: #e0b050; } }
* { box-sizing: border-box; }
html { font: 15px/1.5 Inter, Helvetica, Arial, sans-serif; background: var(--bg); color: var(--ink); }
body { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
a { color: var(--accent); }
a:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
header { border-bottom: 1px solid var(--line); margin-bottom: 1.5rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .4rem; font-weight: 600; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .8rem; font-weight: 600; }
.lead { color: var(--soft); margin: 0 0 1rem; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; padding: 0; margin: 0 0 1rem; }
figure { margin: 0 0 1.5rem; background: var(--panel); border: 1px solid var(--line); border-radius: 4px;
  padding: 1rem; break-inside: avoid; }
figure svg { max-width: 100%; height: auto; display: block; margin: 0 auto; }
figcaption strong { color: var(--ink); }
figcaption { color: var(--soft); font-size: .87rem; margin-top: .6rem; }
.on-dark { display: none !important; }
.scroll { overflow-x: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 4px; }
table { border-collapse: collapse; width: 100%; font-size: .87rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .7rem .75rem .4rem; }
th, td { padding: .35rem .75rem; text-align: left; vertical-align: baseline; border-top: 1px solid var(--line); }
thead th { border-top: 0; color: var(--soft); font-weight: 600; vertical-align: bottom; }
thead .r { white-space: normal; }
.r { text-align: right; white-space: nowrap; }
tbody th { min-width: 9rem; }
.facts th { width: 12rem; color: var(--soft); font-weight: 400; }
.facts td { overflow-wrap: anywhere; }
.note { color: var(--soft); font-size: .87rem; margin: .5rem 0 1.5rem; }
.warn { border-left: 3px solid var(--warn); padding: .2rem .9rem; }
code, pre { font-family: ui-monospace, "JetBrains Mono", Menlo, Consolas, monospace; font-size: .82rem; }
td code { overflow-wrap: anywhere; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 4px; padding: .8rem 1rem; overflow-x: auto; }
details { margin: .8rem 0; }
summary { cursor: pointer; }
@media (prefers-color-scheme: dark) {
  .on-dark { display: block !important; }
  .on-light { display: none !important; }
}
@media print {
  :root { color-scheme: light; --bg: #fff; --panel: #fff; --line: #c8ccd2; --ink: #000; --soft: #333; --accent: #000; }
  html { font-size: 10pt; }
  body { max-width: none; padding: 0; }
  nav { display: none; }
  figure, .scroll { border: 0; padding: 0; overflow: visible; }
  .on-dark { display: none !important; }
  .on-light { display: block !important; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
  table { font-size: 8pt; }
  .r { white-space: normal; }
}
`;
