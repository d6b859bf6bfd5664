/** A pivot on the page, with its files for papers. */
import { unitText } from "../../lib/figure/unit_text.ts";
import { useMemo, useState } from "../preact.ts";
import { place } from "../router.ts";
import { entryOf, keyMetric } from "../runs/metrics.ts";
import { saveText } from "../state/files.ts";
import { Choice } from "./choices.tsx";
import { methodsOf } from "./methods.ts";
import { cellText, pivotCsv, pivotLatex, pivotMarkdown, pivotOf } from "./pivot.ts";
import { type ComparedRun, isSeed, numericMetrics, varying } from "./table.ts";

/** The parameter that a method counts as. */
const METHOD = "method";

export default function PivotView({ runs: given }: { runs: readonly ComparedRun[] }) {
  const { query } = place.value;
  const [note, setNote] = useState("");
  const varied = varying(given).map(({ name }) => name), metrics = numericMetrics(given);
  const chosen = (name: string, fallback: string) => {
    const value = query.get(name) ?? fallback;
    return value === "-" ? "" : value;
  };
  // Seeds number repetitions: a table has their mean.
  const plain = varied.filter((name) => !isSeed(name)), rows = chosen("rows", plain.at(-1) ?? "");
  const methods = methodsOf(given, rows), several = methods.length > 1;
  const names = several ? [METHOD, ...varied] : varied;
  const runs = methods.flatMap(({ label, runs }) =>
    runs.map((run) => ({ ...run, parameters: new Map([...run.parameters, [METHOD, label]]) }))
  );
  const columns = chosen("cols", several ? METHOD : plain.at(-2) ?? "");
  const metric = query.get("metric") ?? keyMetric(Object.fromEntries(metrics.map((name) => [name, 0]))) ?? "";
  const pivot = useMemo(() => pivotOf(runs, rows, columns, metric), [runs, runs.length, rows, columns, metric]);
  const merged = pivot.cells.flat().some((cell) => (cell?.n ?? 0) > 1);
  const copy = async (text: string, what: string) => {
    try {
      await navigator.clipboard.writeText(text);
      setNote(`${what} copied`);
    } catch {
      setNote("The browser did not let the page write to the clipboard; use Save");
    }
  };
  const entry = entryOf(metric);
  return (
    <div class="stack">
      <div class="row">
        <Choice label="Rows" name="rows" value={rows || "-"} options={names} none="all runs" />
        <Choice label="Columns" name="cols" value={columns || "-"} options={names} none="all runs" />
        <Choice label="Metric" name="metric" value={metric} options={metrics} />
      </div>
      <div class="row" role="group" aria-label="This table">
        <button type="button" onClick={() => copy(pivotLatex(pivot), "LaTeX")}>Copy LaTeX</button>
        <button type="button" onClick={() => saveText(pivotLatex(pivot), "pivot.tex", "text/x-tex")}>Save LaTeX</button>
        <button type="button" onClick={() => copy(pivotMarkdown(pivot), "Markdown")}>Copy Markdown</button>
        <button type="button" onClick={() => saveText(pivotCsv(pivot), "pivot.csv", "text/csv")}>Save CSV</button>
        <span class="muted" role="status">{note}</span>
      </div>
      <div class="scroll-x panel" tabIndex={0} role="region" aria-label="Pivot">
        <table class="compare-table">
          <caption class="hidden-text">{entry?.name ?? metric} of {runs.length} runs</caption>
          <thead>
            {columns !== "" && (
              <tr>
                <td class="first" />
                <th class="number" colSpan={pivot.columns.length}>{columns}</th>
              </tr>
            )}
            <tr>
              <th class="first">{rows || "runs"}</th>
              {pivot.columns.map((column) => <th key={column} class="number">{column}</th>)}
            </tr>
          </thead>
          <tbody>
            {pivot.rows.map((row, r) => (
              <tr key={row}>
                <th class="first" scope="row">{row}</th>
                {pivot.cells[r].map((cell, c) => (
                  <td key={c} class="number mono">
                    {cellText(cell, "unicode")}
                    {cell !== null && cell.n > 1 ? <span class="muted small">{` n = ${cell.n}`}</span> : null}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="muted small">
        {entry?.name ?? metric}
        {entry !== undefined && unitText(entry.unit) !== "" ? ` in ${unitText(entry.unit)}` : ""}.
        {merged ? " Cells of several runs: mean ± standard deviation of the runs that share both values." : ""}
      </p>
    </div>
  );
}
