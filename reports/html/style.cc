#include "reports/html/parts.h"

namespace attest::report::html {

// Contrast of text on its ground is at least 4.5:1 in both schemes.
std::string_view stylesheet() {
  return R"css(:root {
  color-scheme: light dark;
  --page: #fff; --text: #1b1b1d; --muted: #5d5d63; --rule: #dcdce0; --soft: #f5f5f6; --link: #0a4f9e;
  --ok: #1c6a3b; --ok-soft: #e9f5ee; --bad: #a31515; --bad-soft: #fdebe9;
  --waived: #744d00; --waived-soft: #fcf2da; --idle: #5d5d63; --idle-soft: #f0f0f2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #151517; --text: #e6e6e8; --muted: #a2a2aa; --rule: #35353b; --soft: #1e1e21; --link: #8bbcff;
    --ok: #7fd3a1; --ok-soft: #15291d; --bad: #ff9f96; --bad-soft: #38191a;
    --waived: #efc873; --waived-soft: #30260f; --idle: #a2a2aa; --idle-soft: #222226;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; }
.wrap { max-width: 78rem; margin: 0 auto; padding: 0 1.5rem; }
code, .values td { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .85em; }
code { overflow-wrap: anywhere; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; z-index: 3; background: var(--page); padding: .25rem .75rem; }
.vh { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.muted { color: var(--muted); }
.n { color: var(--muted); font-weight: 400; font-variant-numeric: tabular-nums; }

header { position: sticky; top: 0; z-index: 2; background: var(--page); border-bottom: 1px solid var(--rule); }
nav { display: flex; gap: 1.25rem; overflow-x: auto; white-space: nowrap; padding-block: .6rem; font-size: .9rem; }
nav a { color: inherit; text-decoration: none; }
nav a:hover { text-decoration: underline; }

h1 { margin: 3rem 0 .25rem; font-size: 2.1rem; line-height: 1.2; font-weight: 650; letter-spacing: -.015em; }
h2 { margin: 0 0 1rem; font-size: 1.3rem; font-weight: 650; }
h3 { margin: 2rem 0 .75rem; font-size: 1rem; font-weight: 650; }
section { margin-top: 3.5rem; }
p { margin: 0 0 .75rem; max-width: 46rem; }
.lead { margin: 0 0 1.5rem; max-width: none; text-wrap: balance; font-size: 1.15rem; font-variant-numeric: tabular-nums; }
.bar { display: flex; gap: 2px; height: .5rem; border-radius: .25rem; overflow: hidden; }
.bar i { flex-basis: 3px; background: currentColor; }
.bar .idle { opacity: .55; }
.bar .none { border: 1px dashed var(--muted); background: none; }
.ok { color: var(--ok); } .bad { color: var(--bad); } .waived { color: var(--waived); } .idle { color: var(--idle); }
.tag { padding: .1rem .5rem; border-radius: .25rem; font-size: .85rem; font-weight: 600; white-space: nowrap; }
.tag.ok { background: var(--ok-soft); } .tag.bad { background: var(--bad-soft); }
.tag.waived { background: var(--waived-soft); } .tag.idle { background: var(--idle-soft); }
.note { padding: .6rem .9rem; border-left: 3px solid var(--waived); background: var(--waived-soft); }

summary { cursor: pointer; }
.failure { border: 1px solid var(--rule); border-radius: .4rem; margin: 0 0 .75rem; padding: .7rem 1rem; }
.failure[open] { padding-bottom: 1rem; }
.failure[open] > summary { margin-bottom: .75rem; }
.failure > summary .tag { margin-right: .5rem; }
.failure:target { border-color: var(--link); box-shadow: 0 0 0 1px var(--link); }
.message { white-space: pre-wrap; overflow-wrap: anywhere; }
.failure .message { max-width: 60rem; }
.shared { color: var(--muted); font-size: .93rem; max-width: none; }
.shared code { color: var(--text); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .35rem 1.25rem; margin: 0; font-size: .93rem; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.cmd { user-select: all; background: var(--soft); padding: .1rem .35rem; border-radius: .25rem; box-decoration-break: clone; }

.scroll { position: relative; overflow-x: auto; margin-bottom: 1rem; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .9rem .4rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--rule); }
thead th { color: var(--muted); font-weight: 500; white-space: nowrap; vertical-align: bottom; }
tbody th { font-weight: 600; white-space: nowrap; }
.r { text-align: right; white-space: nowrap; }
.values { width: auto; margin-bottom: .25rem; }
.values th, .values td { border: 0; padding-block: .1rem; padding-right: 2rem; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; font-size: .9rem; }
.matrix { border-collapse: separate; border-spacing: 0; font-size: .86rem; }
.matrix th, .matrix td { padding: .3rem .45rem; white-space: nowrap; }
.matrix .name { padding-left: 0; }
.matrix tbody + tbody tr:first-child > * { border-top: 1px solid var(--muted); }
.matrix .kv { position: sticky; left: 0; z-index: 1; background: var(--page); font-weight: 500; }
.matrix .first { border-left: 1px solid var(--rule); }
.cell { border-left: 2px solid var(--page); }
.cell.ok { background: var(--ok-soft); } .cell.bad { background: var(--bad-soft); }
.cell.waived { background: var(--waived-soft); } .cell.idle { background: var(--idle-soft); }
.cell .ratio { display: block; color: var(--text); font-size: .85em; }
.cell a { color: inherit; }
.ratios td, .ratios th { vertical-align: middle; }
.meter { display: inline-block; width: 6rem; height: .4rem; margin-left: .75rem; background: var(--idle-soft); border-radius: .2rem; vertical-align: middle; }
.meter i { display: block; height: 100%; background: var(--ok); border-radius: .2rem; }
.reasons, .cases, .runs, .backends { width: 100%; }
.reasons td:first-child { width: 1%; }
.reasons td:nth-child(2) { min-width: 16rem; }
.reasons p { margin: 0; }
.reasons details { font-size: .9em; color: var(--muted); }
.tokens { margin: .25rem 0 0; padding-left: 1.1rem; }
.cases td:first-child { white-space: nowrap; }
.cases td:last-child { width: 100%; min-width: 22rem; }
.cases p { margin: 0; font-size: .92em; max-width: none; overflow-wrap: anywhere; }
.all { border-bottom: 1px solid var(--rule); padding: .5rem 0; }
.all > summary { font-weight: 600; }
main > :last-child { margin-bottom: 5rem; }

@media (max-width: 40rem) {
  .wrap { padding: 0 1rem; }
  h1 { margin-top: 1.75rem; font-size: 1.6rem; }
  .lead { font-size: 1.05rem; }
  section { margin-top: 2.5rem; }
  .failure { padding: .6rem .7rem; }
  dl { grid-template-columns: minmax(0, 1fr); gap: 0; }
  dd { margin-bottom: .5rem; }
  .values th, .values td { padding-right: .9rem; }
}
@media print {
  header, .skip { display: none; }
  .wrap { max-width: none; padding: 0; }
  body { font-size: 10pt; }
  .scroll { overflow: visible; }
  .matrix { font-size: 6.5pt; }
  .matrix th, .matrix td { padding: .15rem .2rem; }
  .failure, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .failure::details-content { content-visibility: visible; block-size: auto; }
  .cell, .tag, .bar i, .meter, .meter i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";
}

}  // namespace attest::report::html
