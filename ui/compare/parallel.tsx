/** Runs over three or more parameters: a line for each run across the axes, and what each parameter explains. */
import { unitText } from "../../lib/figure/unit_text.ts";
import type { BarFigure } from "../../lib/figure/types.ts";
import { Chart } from "../charts/chart.tsx";
import { viridis } from "../charts/density.ts";
import { pictureFile, PictureFiles } from "../charts/density.tsx";
import { Trouble } from "../parts.tsx";
import { useMemo, useRef, useState } from "../preact.ts";
import { address, place } from "../router.ts";
import { entryOf, keyMetric, metricEntries, valueText } from "../runs/metrics.ts";
import { Choice } from "./choices.tsx";
import { lastPart } from "./parameter_axis.ts";
import { axesOf, importanceOf, inDecades, type Point, pointsOf, positions } from "./importance.ts";
import { type ComparedRun, isSeed, numericMetrics, varying } from "./table.ts";

/** Size of the drawing and distance of the outer axes from its edges. */
const WIDTH = 960, HEIGHT = 370, SIDE = 130, TOP = 90, BOTTOM = 24;
const MOST_AXES = 8, MOST_LETTERS = 22, MOST_OTHERS = 6;
/** The part of viridis whose lines are seen on a dark page and on a light one. */
const DARKEST = 0.3, LIGHTEST = 0.75;

/** The last part of each name; the step of an operation; the whole name where two axes would have one title. */
function axisTitles(params: readonly string[]): string[] {
  const short = params.map((param) => param.endsWith(".op") ? param.slice(0, -3) : lastPart(param));
  return short.map((title, at) => short.indexOf(title) === short.lastIndexOf(title) ? title : params[at]);
}

const clip = (text: string, most: number) => text.length > most ? `${text.slice(0, most - 1)}…` : text;

export default function Parallel({ runs }: { runs: readonly ComparedRun[] }) {
  const { query } = place.value, metrics = numericMetrics(runs);
  const metric = query.get("metric") ?? keyMetric(Object.fromEntries(metrics.map((name) => [name, 0]))) ?? "";
  const varied = useMemo(() => varying(runs).map(({ name }) => name).filter((name) => !isSeed(name)), [runs]);
  const [axes, points, params] = useMemo(() => {
    const all = pointsOf(runs, varied, metric), axes = axesOf(all, varied, MOST_AXES);
    const points = all.map((point) => ({ ...point, values: axes.map(({ at }) => point.values[at]) }));
    return [axes, points, axes.map(({ name }) => name)];
  }, [runs, varied, metric]);
  const left = varied.length - axes.reduce((sum, { others }) => sum + 1 + others.length, 0);
  const bars = useMemo(() => barsOf(points, params, entryOf(metric)?.name ?? metric), [
    points,
    metricEntries.value,
  ]);
  if (params.length === 0 || points.length === 0) return <p class="empty">No parameter differs among these runs.</p>;
  return (
    <div class="stack">
      <div class="row">
        <Choice label="Metric" name="metric" value={metric} options={metrics} />
      </div>
      <Axes points={points} params={params} metric={metric} />
      {axes.filter(({ others }) => others.length > 0).map(({ name, others }) => (
        <p key={name} class="muted small">
          {name} stands for {others.slice(0, MOST_OTHERS).join(", ")}
          {others.length > MOST_OTHERS && (
            <span title={others.join(", ")}>{` and ${others.length - MOST_OTHERS} more`}</span>
          )} too: they split these runs in the same way and cannot be told apart.
        </p>
      ))}
      {left > 0 && <p class="muted small">{left} parameters that explain less of the variance have no axis.</p>}
      {bars === null
        ? (
          <Trouble
            tone="warn"
            text="No importance: it needs several runs for each value of a parameter, as a full matrix has."
          />
        )
        : <Chart figure={bars} />}
    </div>
  );
}

function Axes({ points, params, metric }: { points: readonly Point[]; params: readonly string[]; metric: string }) {
  const drawing = useRef<SVGSVGElement>(null), [chosen, setChosen] = useState<string | null>(null);
  const entry = entryOf(metric), name = entry?.name ?? metric, unit = unitText(entry?.unit ?? "");
  const titles = [...axisTitles(params), name];
  const decades = inDecades(points);
  const columns = [
    ...params.map((_, at) => positions(points.map(({ values }) => values[at]))),
    positions(points.map(({ level }) => level), (level) => valueText(decades ? 10 ** level : level)),
  ];
  const x = (axis: number) => SIDE + axis * (WIDTH - 2 * SIDE) / (titles.length - 1);
  const y = (share: number) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);
  const shares = columns.at(-1)!.at;
  const seen = points.find(({ id }) => id === chosen);
  const told = (point: Point) =>
    [...params.map((_, at) => `${titles[at]} ${valueText(point.values[at])}`), `${name} ${valueText(point.metric)}`]
      .join(", ");
  const sentence = `${points.length} runs over ${params.length} parameters; colour and last axis: ${name}` +
    (unit === "" ? "" : ` in ${unit}`) + (decades ? ", logarithmic" : "");
  return (
    <figure class="chart parallel">
      <div class="row spread chart-head">
        <p class="chart-title">{name} by parameters</p>
        <div class="row" role="group" aria-label="Tools of the parallel coordinates">
          <PictureFiles
            name="parallel-coordinates"
            svg={() => pictureFile(drawing.current!, null, sentence, { runs: String(points.length) })}
          />
        </div>
      </div>
      <div class="scroll-x" tabIndex={0} role="group" aria-label="Drawing">
        <svg ref={drawing} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={sentence}>
          {points.map((point, run) => (
            <polyline
              key={point.id}
              fill="none"
              stroke={`rgb(${viridis(DARKEST + (LIGHTEST - DARKEST) * shares[run]).join(" ")})`}
              stroke-width={point.id === chosen ? 4 : 1.5}
              points={columns.map(({ at }, axis) => `${x(axis).toFixed(1)},${y(at[run]).toFixed(1)}`).join(" ")}
              onPointerEnter={() => setChosen(point.id)}
            >
              <title>{told(point)}</title>
            </polyline>
          ))}
          {columns.map(({ ticks }, axis) => (
            <g key={axis}>
              <line class="axis-line" x1={x(axis)} x2={x(axis)} y1={y(1)} y2={y(0)} />
              <text class="plain-text" transform={`translate(${x(axis)} ${TOP - 14}) rotate(-24)`}>
                <title>{params[axis] ?? name}</title>
                {clip(titles[axis], MOST_LETTERS)}
              </text>
              {ticks.map(([at, text]) => (
                <text key={text} class="faint-text" x={x(axis) - 6} y={y(at) + 4} text-anchor="end">
                  {clip(text.replace(/^[a-z_]+\./, ""), MOST_LETTERS - 6)}
                </text>
              ))}
            </g>
          ))}
        </svg>
      </div>
      <figcaption>
        {sentence}.{" "}
        {seen === undefined ? "Point at a line to read it." : <a href={address("runs", [seen.id])}>{told(seen)}</a>}
      </figcaption>
    </figure>
  );
}

/** The importances as bars, largest first; null where none can be computed. */
function barsOf(points: readonly Point[], params: readonly string[], metric: string): BarFigure | null {
  const bars = params.flatMap((label, at) => {
    const value = importanceOf(points, at);
    return value === null ? [] : [{ label, kind: "baseline" as const, value, low: null, high: null }];
  });
  if (bars.length === 0) return null;
  return {
    form: "bars",
    type: "error-rate",
    title: `Share of the variance of ${metric} that a parameter explains`,
    subtitle: `Epsilon squared of the means by value${inDecades(points) ? ", of the logarithm" : ""}`,
    source: { runs: String(points.length) },
    value: { title: "Share of variance", unit: "", scale: "linear", domain: [0, 1] },
    bars: bars.sort((a, b) => b.value - a.value),
  };
}
