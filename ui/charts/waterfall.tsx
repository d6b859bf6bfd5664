/** From source bits to channel uses, bar by bar. */
import { valueText } from "../runs/metrics.ts";
import { Table } from "../parts.tsx";
import { useRef, useState } from "../preact.ts";
import { csvText } from "./csv.ts";
import { pictureFile, PictureFiles } from "./density.tsx";
import { rateSentence, type RateStep, rateSteps } from "./rates.ts";

const ROW = 26, LABEL = 140, PLOT = 520, AFTER = 110;

export function Waterfall({ report }: { report: Record<string, unknown> }) {
  const [asTable, setAsTable] = useState(false), drawing = useRef<SVGSVGElement>(null);
  const steps = rateSteps(report);
  if (steps.length === 0) return null;
  const most = { bits: largest(steps, "bits"), symbols: largest(steps, "symbols") };
  return (
    <figure class="panel">
      <div class="row spread">
        <h2>From source bits to channel uses</h2>
        <div class="row" role="group" aria-label="Tools of the channel uses">
          <button type="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>Table</button>
          <PictureFiles
            name="channel-uses"
            disabled={asTable}
            svg={() => pictureFile(drawing.current!, null, rateSentence(steps), {})}
            csv={() =>
              csvText({
                columns: ["step", "amount", "unit"],
                rows: steps.map(({ label, amount, unit }) => [label, String(amount), unit]),
              })}
          />
        </div>
      </div>
      <figcaption>{rateSentence(steps)}</figcaption>
      {asTable
        ? (
          <Table
            rows={steps}
            columns={[
              ["Step", ({ label }) => label],
              [
                "Amount",
                ({ kind, amount }) => `${kind === "added" ? "+" : ""}${valueText(amount)}`,
                "number mono",
              ],
              ["Unit", ({ unit }) => unit],
              ["Description", ({ explanation }) => explanation, "muted"],
            ]}
          />
        )
        : (
          <div class="scroll-x" tabIndex={0} role="region" aria-label="Waterfall">
            <svg
              ref={drawing}
              class="waterfall"
              viewBox={`0 0 ${LABEL + PLOT + AFTER} ${ROW * steps.length}`}
              width={LABEL + PLOT + AFTER}
              height={ROW * steps.length}
              role="img"
              aria-label={rateSentence(steps)}
            >
              {steps.map(({ label, amount, from, kind, unit, explanation }, index) => {
                const scale = PLOT / most[unit], x = LABEL + from * scale, width = Math.max(1, amount * scale);
                return (
                  <g key={label} transform={`translate(0 ${index * ROW})`}>
                    <title>{`${label}: ${explanation}`}</title>
                    <text
                      x={LABEL - 8}
                      y={17}
                      text-anchor="end"
                      class={kind === "total" ? "strong-text" : "plain-text"}
                    >
                      {label}
                    </text>
                    <rect class={`bar ${kind} ${unit}`} x={x} y={4} width={width} height={ROW - 8} />
                    <text x={x + width + 6} y={17} class="faint-text">
                      {kind === "added" ? "+" : ""}
                      {valueText(amount)}
                      {kind === "total" ? ` ${unit}` : ""}
                    </text>
                  </g>
                );
              })}
            </svg>
          </div>
        )}
    </figure>
  );
}

const largest = (steps: readonly RateStep[], wanted: RateStep["unit"]) =>
  Math.max(1, ...steps.filter(({ unit }) => unit === wanted).map(({ from, amount }) => from + amount));
