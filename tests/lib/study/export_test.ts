import assert from "node:assert/strict";
import { exportTexts } from "../../../lib/study/report/export.ts";
import { escapeLatex, escapeMarkdown } from "../../../lib/contract/escape.ts";
import { type BenchmarkResult } from "../../../lib/study/pack/types.ts";
import { parseJson, prettyJson } from "../../../lib/contract/json.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { errorRateResult, resultOf } from "./result_fixture.ts";

Deno.test("the same result exports the same bytes, also after a trip through its file", () => {
  const result = errorRateResult();
  const files = exportTexts(result);
  const stored = parseJson(prettyJson(result as JsonObject)) as BenchmarkResult;
  assert.deepEqual(exportTexts(stored), files);
  assert.deepEqual(Object.keys(files), [
    "metrics.csv",
    "recipes.csv",
    "aggregates.csv",
    "comparisons.csv",
    "summary.md",
    "summary.tex",
  ]);
});

Deno.test("one replicate has no aggregates to export", () => {
  assert.deepEqual(Object.keys(exportTexts(errorRateResult(1))), [
    "metrics.csv",
    "recipes.csv",
    "summary.md",
    "summary.tex",
  ]);
});

Deno.test("tables for programs have every digit and every row", () => {
  const result = errorRateResult(2);
  const files = exportTexts(result);
  const lines = files["metrics.csv"].trimEnd().split("\n");
  assert.equal(
    lines[0],
    "benchmark_id,benchmark_version,recipe_id,recipe_label,recipe_role,replicate,run_id,status,metric,value," +
      "events,trials,unit,units,unit_failures,upper_bound,shown",
  );
  assert.equal(lines.length - 1, result.recipes.length * 4);
  assert.ok(lines.includes(
    "demo,1.2.0,qpsk_awgn_0db,qpsk_awgn at 0 dB,candidate,1,20260101T000000Z_qpsk_awgn_0db_1,completed,channel.snr_db,0.0,,,,,,,0",
  ));
  assert.equal(files["recipes.csv"].trimEnd().split("\n").length - 1, result.recipes.length);
  assert.equal(files["aggregates.csv"].trimEnd().split("\n").length - 1, result.aggregates.length);
  assert.match(
    files["comparisons.csv"],
    /\nqpsk_awgn_0db,qpsk_rayleigh_0db,channel\.ber,replicate,2,-0\.0525,.*,sign_flip,false,,.*\n/,
  );
});

Deno.test("a rate without events is an upper bound everywhere, and never 0", () => {
  const quiet = resultOf(
    [{
      id: "quiet",
      method: "quiet",
      metrics: () => ({ "channel.ber": float(0), "channel.error_count": 0, "channel.compare_bit_count": 15_000 }),
    }],
    ["channel.ber"],
    2,
  );
  const files = exportTexts(quiet);
  assert.match(
    files["summary.md"],
    /\| quiet \| candidate \| 0 errors in 30\u202f000 bits: BER at most 1×10⁻⁴; about 300\u202f000 bits give 1e-5 \|/,
  );
  assert.match(
    files["summary.tex"],
    /quiet & candidate & 0 errors in 30\\,000 bits: BER at most \$1 \\times 10\^\{-4\}\$; about 300\\,000 bits give \$10\^\{-5\}\$ \\\\/,
  );
  assert.match(
    files["aggregates.csv"],
    /\nquiet,channel\.ber,2,,.*,wilson,0\.95,0,30000,,,,,bit,30000,0,0\.0001,,,0 errors in 30\u202f000 bits: BER at most 1×10⁻⁴; about 300\u202f000 bits give 1e-5\n/,
  );
});

Deno.test("names of any kind stay what they are", () => {
  const label = 'a|b, "c" & 50 % of_it <b>{$x^2$}\\';
  const odd = resultOf([{ id: "odd", label, method: null, metrics: () => ({ "channel.ber": 0.5 }) }], ["channel.ber"]);
  const files = exportTexts(odd);
  assert.ok(files["metrics.csv"].includes(`"${label.replaceAll('"', '""')}"`));
  assert.ok(files["summary.md"].includes('| a\\|b, "c" & 50 % of\\_it \\<b\\>{$x^2$}\\\\ |'));
  assert.ok(
    files["summary.tex"].includes(
      'a|b, "c" \\& 50 \\% of\\_it <b>\\{\\$x\\textasciicircum{}2\\$\\}\\textbackslash{} &',
    ),
  );
  assert.equal(escapeLatex("a\n b~c ± 3 ≤ °"), "a b\\textasciitilde{}c $\\pm$ 3 $\\le$ $^\\circ$");
  assert.equal(escapeMarkdown("a\nb`c`"), "a b\\`c\\`");
});

Deno.test("LaTeX tables are whole: rules, columns and cells agree", () => {
  const text = exportTexts(errorRateResult())["summary.tex"];
  const tables = text.split("\\begin{table}").slice(1);
  assert.equal(tables.length, 2);
  for (const table of tables) {
    const columns = /\\begin\{tabular\}\{([lr]+)\}/.exec(table)![1].length;
    for (const line of table.split("\n").filter((line) => line.endsWith("\\\\"))) {
      assert.equal(line.split(/(?<!\\)&/).length, columns, line);
    }
    for (const rule of ["toprule", "midrule", "bottomrule"]) assert.ok(table.includes(`\\${rule}`), rule);
    assert.equal((table.match(/(?<!\\)\$/g) ?? []).length % 2, 0, "dollars come in pairs");
  }
});

Deno.test("rows that did not complete are named with their reason", () => {
  const result = errorRateResult(1);
  Object.assign(result.recipes[0], {
    status: "failed",
    error: { code: "step_failed", message: "No | luck" },
    metrics: {},
  });
  const text = exportTexts({ ...result, status: "failed" })["summary.md"];
  assert.match(text, /## Rows that did not complete\n\n.*\n.*\n\| qpsk\\_awgn\\_0db \| 0 \| failed \| No \\\| luck \|/);
});

Deno.test("tables name methods by their labels, with one column for each coordinate", () => {
  const point = (id: string, label: string, selection: JsonObject, ber: number) => ({
    id,
    label,
    method: id.split("@")[0],
    selection,
    metrics: () => ({ "channel.ber": float(ber) }),
  });
  const result = resultOf(
    [
      point("zf@a", "Zero forcing, snr_db=10.0", { detector: "zf", snr_db: float(10) }, 0.2),
      point("mmse@a", "MMSE, snr_db=10.0", { detector: "mmse", snr_db: float(10) }, 0.1),
      point("mmse@b", "MMSE, snr_db=15.0", { detector: "mmse", snr_db: float(15) }, 0.05),
    ],
    ["channel.ber"],
    2,
  );
  const compared = (candidate_id: string, baseline_id: string): BenchmarkResult["comparisons"][number] => ({
    candidate_id,
    baseline_id,
    metric: "channel.ber",
    pairing: "replicate",
    n: 2,
    mean_difference: float(-0.1),
    ci_low: null,
    ci_high: null,
    p_value: null,
    p_value_holm: null,
    better: "candidate",
  } as object as BenchmarkResult["comparisons"][number]);
  result.comparisons = [compared("mmse@a", "zf@a"), compared("mmse@b", "mmse@a")];
  const text = exportTexts(result)["summary.md"];
  const lines = text.split("\n").filter((line) => line.startsWith("| "));
  const find = (start: string) =>
    lines.map((line) => line.replaceAll("\\_", "_")).filter((line) => line.startsWith(start)).map((line) =>
      line.split(" | ").slice(0, 4)
    );
  assert.deepEqual(find("| Candidate"), [["| Candidate", "Baseline", "detector", "snr_db"]]);
  assert.deepEqual(find("| MMSE | Zero"), [["| MMSE", "Zero forcing", "–", "10"]]);
  assert.deepEqual(find("| MMSE, snr"), [["| MMSE, snr_db=15.0", "MMSE, snr_db=10.0", "mmse", "–"]]);
  assert.ok(lines.some((line) => line.startsWith("| Zero forcing | candidate | zf | 10 | ")), text);
});
