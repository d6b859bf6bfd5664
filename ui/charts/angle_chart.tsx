/** A pattern over the angle: over a straight axis, or in polar form as it leaves the array. */
import { numberText } from "../../lib/figure/number_text.ts";
import { darkened, seriesLooks, STYLES } from "../../lib/figure/style.ts";
import type { CurveFigure } from "../../lib/figure/types.ts";
import { Select } from "../parts.tsx";
import { useRef, useState } from "../preact.ts";
import { Chart } from "./chart.tsx";
import { csvText } from "./csv.ts";
import { pictureFile, PictureFiles, ticksOf } from "./density.tsx";
import { polarPoint, RADIUS } from "./maps.ts";
import { useDark } from "./page_style.ts";
import { figureTable } from "./table.ts";

const AROUND = 34, SPOKES = [-90, -60, -30, 0, 30, 60, 90];

export function AngleChart({ figure }: { figure: CurveFigure }) {
  const [form, setForm] = useState<"line" | "polar">("line");
  const choice = <Select label="Form" value={form} options={["line", "polar"]} onChoose={setForm} />;
  return form === "line" ? <Chart figure={figure} controls={choice} /> : <Polar figure={figure} controls={choice} />;
}

function Polar({ figure, controls }: { figure: CurveFigure; controls: ReturnType<typeof Select> }) {
  const drawing = useRef<SVGSVGElement>(null), [low, high] = figure.y.domain!;
  const style = useDark() ? darkened(STYLES.svc) : STYLES.svc,
    looks = seriesLooks(figure.series.map(({ kind }) => kind), style);
  const shareOf = (level: number) => (level - low) / (high - low);
  const text = ([x, y]: readonly number[]) => `${x.toFixed(1)},${y.toFixed(1)}`;
  const guides = (figure.guides ?? []).filter(({ axis }) => axis === "x");
  const sentence = `${figure.subtitle}. ${figure.y.title} in ${figure.y.unit} over the angle from broadside` +
    guides.map(({ label }) => `, ${label}`).join("");
  return (
    <figure class="chart polar">
      <div class="row spread chart-head">
        <p class="chart-title">{figure.title}</p>
        <div class="row" role="group" aria-label={`Tools of ${figure.title}`}>
          <PictureFiles
            name={`${figure.type}-polar`}
            svg={() => pictureFile(drawing.current!, null, figure.title, figure.source)}
            csv={() => csvText(figureTable(figure))}
          />
        </div>
      </div>
      <div class="row chart-tools">{controls}</div>
      <svg
        ref={drawing}
        viewBox={`${-RADIUS - AROUND} ${-RADIUS - AROUND} ${2 * (RADIUS + AROUND)} ${RADIUS + 2 * AROUND}`}
        role="img"
        aria-label={`${figure.title}. ${sentence}`}
      >
        {ticksOf(low, high).filter((tick) => tick > low).map((tick) => {
          const r = RADIUS * shareOf(tick);
          return (
            <g key={tick}>
              <path d={`M${-r} 0A${r} ${r} 0 0 1 ${r} 0`} fill="none" stroke={style.grid} />
              <text class="faint-text" x={r} y={14} text-anchor="middle">{numberText(tick, "unicode", 3)}</text>
            </g>
          );
        })}
        {SPOKES.map((angle) => {
          const [x, y] = polarPoint(angle, 1), [tx, ty] = polarPoint(angle, 1.07);
          return (
            <g key={angle}>
              <line class="grid-line" x1={0} y1={0} x2={x} y2={y} />
              <text class="faint-text" x={tx} y={ty + 4} text-anchor="middle">{angle}°</text>
            </g>
          );
        })}
        {guides.map(({ at, label }) => {
          const [x, y] = polarPoint(at, 1);
          return <line key={label} x1={0} y1={0} x2={x} y2={y} stroke={style.muted} stroke-dasharray="3 3" />;
        })}
        {figure.series.map(({ label, points }, index) => (
          <polyline
            key={label}
            fill="none"
            stroke={looks[index].color}
            stroke-width={style.line_width}
            points={points.map(({ x, y }) => text(polarPoint(x, shareOf(y ?? low)))).join(" ")}
          />
        ))}
        <text class="faint-text" x={0} y={30} text-anchor="middle">{`${figure.y.title} (${figure.y.unit})`}</text>
      </svg>
      <ul class="mask-legend">
        {figure.series.map(({ label }, index) => (
          <li key={label} class="chart-sign">
            <svg viewBox="0 0 28 14" width={28} height={14} aria-hidden="true">
              <path d="M1,7H27" stroke={looks[index].color} stroke-width={style.line_width} />
            </svg>
            {label}
          </li>
        ))}
      </ul>
      <figcaption>{sentence}.</figcaption>
    </figure>
  );
}
