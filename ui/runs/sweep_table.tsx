// deno-lint-ignore-file jsx-key -- elements in tuples of columns are not lists
/** The variants of a sweep with their values, counts and reasons of failures. */
import { canonicalJson } from "../../lib/contract/json.ts";
import type { Value } from "../../lib/contract/value.ts";
import { rateEstimate } from "../../lib/numeric/scores/rate_interval.ts";
import { unitText } from "../../lib/figure/unit_text.ts";
import { csvText } from "../charts/csv.ts";
import { type ComparedRun, numericMetrics, selectionOf } from "../compare/table.ts";
import { type Column, StateMark, Table } from "../parts.tsx";
import { address } from "../router.ts";
import { saveText } from "../state/files.ts";
import { entryOf, headlineOf, metricsOf, shownMetric, valueText } from "./metrics.ts";

export function SweepTable({ name, runs }: { name: string; runs: readonly ComparedRun[] }) {
  const dimensions = [...new Set(runs.flatMap((run) => Object.keys(selectionOf(run))))];
  const metrics = headlineOf(numericMetrics(runs), metricsOf(runs[0].task));
  const counted = metrics.find((metric) => runs.some(({ rates }) => rates.has(metric)));
  const failed = runs.some(({ failure }) => failure !== null);
  const columns: (Column<ComparedRun> | null)[] = [
    ...dimensions.map((dimension): Column<ComparedRun> => [
      dimension,
      (run) => shownValue(selectionOf(run)[dimension]),
      "number mono",
    ]),
    ["State", ({ id, status }) => (
      <a href={address("runs", [id])}>
        <StateMark state={status} />
      </a>
    )],
    ...metrics.map((metric): Column<ComparedRun> => {
      const entry = entryOf(metric), unit = unitText(entry?.unit ?? "");
      return [
        <span title={metric}>{entry?.name ?? metric}{unit && ` (${unit})`}</span>,
        ({ status, metrics, rates }) =>
          status === "completed" ? shownMetric(metrics.get(metric), rates.get(metric)) : "–",
        "number mono",
        ({ metrics }) => String(metrics.get(metric) ?? ""),
      ];
    }),
    counted === undefined ? null : ["Counted", ({ rates }) => countsText(rates.get(counted)), "number mono small"],
    failed
      ? ["Reason", ({ failure }) =>
        failure && (
          <>
            {failure.step !== null && <code>{failure.step}</code>} {failure.message}
          </>
        ), "wide"]
      : null,
  ];
  const save = () => saveText(csvText(tableOf(runs, dimensions, metrics)), `${name}.csv`, "text/csv");
  return (
    <>
      <Table label={`Values of ${name}`} rows={runs} keyOf={({ id }) => id} columns={columns} />
      <p class="row">
        <button type="button" onClick={save}>Save as CSV</button>
      </p>
    </>
  );
}

const shownValue = (value: Value | undefined) =>
  typeof value === "string" ? value : value === undefined ? "–" : canonicalJson(value);

type Rate = NonNullable<ReturnType<ComparedRun["rates"]["get"]>>;

const countsText = (rate: Rate | undefined) =>
  rate === undefined ? "" : `${valueText(rate.events)} of ${valueText(rate.trials)}`;

/** Every digit, with intervals and counts. */
function tableOf(runs: readonly ComparedRun[], dimensions: readonly string[], metrics: readonly string[]) {
  const columns = [
    "run_id",
    "status",
    ...dimensions,
    ...metrics.flatMap((metric) => [metric, ...["low", "high", "events", "trials"].map((part) => `${metric}.${part}`)]),
  ];
  const rows = runs.map((run) => {
    const selection = selectionOf(run);
    return [
      run.id,
      run.status,
      ...dimensions.map((dimension) => shownValue(selection[dimension])),
      ...metrics.flatMap((metric) => {
        const rate = run.rates.get(metric), estimate = rate === undefined ? null : rateEstimate(rate, 0.95);
        return [run.metrics.get(metric), estimate?.low, estimate?.high, rate?.events, rate?.trials]
          .map((value) => String(value ?? ""));
      }),
    ];
  });
  return { columns, rows };
}
