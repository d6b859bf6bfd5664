/**
 * How often the 95 % interval of a rate holds it, and how wide it is, over simulated links of known rate:
 *
 *     deno task soak coverage [ROUNDS] [--seed 1] [--only TEXT]
 *
 * ROUNDS links a row, 4000 without. Prints the table of `docs/explanation/statistics.md`. Exits 1 where the coverage is below
 * 94.0 %, or the median width over that of an interval which knows the variance is above 1.45 from 40 failed units on, or
 * 2.0 from 10.
 */
import { parseArgs } from "node:util";
import { CASES, coverageOf, LEAST_COVERAGE, widestOf } from "../lib/numeric/_coverage.ts";

const { values, positionals } = parseArgs({
  args: Deno.args.filter((argument) => argument !== "coverage"),
  options: { seed: { type: "string", default: "1" }, only: { type: "string", default: "" } },
  allowPositionals: true,
});
const rounds = Number(positionals[0] ?? 4000);
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
let failed = 0;
console.log(
  `| Link | Units | Failed | Coverage | Above | Below | Width |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |`,
);
for (const [index, one] of CASES.entries()) {
  if (!one.link.name.includes(values.only)) continue;
  const row = coverageOf(one, rounds, Number(values.seed) * 1000 + index), widest = widestOf(row.failed);
  const wrong = row.covered < LEAST_COVERAGE || widest !== null && row.ratio !== null && row.ratio > widest;
  if (wrong) failed++;
  const cells = [
    row.name,
    row.units,
    row.failed,
    percent(row.covered),
    percent(row.above),
    percent(row.below),
    (row.ratio?.toFixed(2) ?? "–") + (wrong ? " (fails)" : ""),
  ];
  console.log(`| ${cells.join(" | ")} |`);
}
if (failed > 0) {
  console.error(`${failed} rows fail`);
  Deno.exit(1);
}
