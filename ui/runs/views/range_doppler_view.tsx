/** Range-Doppler maps with true and estimated targets. */
import { valueText } from "../metrics.ts";
import { MARGIN, pictureFile, PictureFiles, short, SIDE, ticksOf } from "../../charts/density.tsx";
import { paintPower } from "../../charts/power_canvas.ts";
import { DEEPEST_DB, gridOf, MARKS, type Place, type PowerGrid, windowAround } from "../../charts/range_doppler.ts";
import { useEffect, useMemo, useRef } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { readBlock } from "../fetch_array.ts";
import { Table } from "../../parts.tsx";
import { metadataNumber, nameOf, type Shaped, sourceOf } from "./parts.tsx";
import { view } from "./view.tsx";

/** A map [example, range bin, Doppler bin] with its targets. */
interface Radar {
  map: Shaped;
  truth: Artifact | null;
  estimate: Artifact | null;
}

/** Forms of the panel. */
const FORMS = [["near", "around the targets"], ["whole", "whole map"], ["table", "table"]] as const;

export const RADAR = view({
  title: "Range-Doppler map",
  matches({ artifacts }): Radar[] {
    const map = artifacts.find(({ kind, shape }) => kind === "isac.range_doppler_map.numpy" && shape?.length === 3);
    if (map === undefined) return [];
    const find = (role: string) =>
      artifacts.find(({ kind, shape }) =>
        kind === `isac.range_velocity_${role}.numpy` && shape?.length === 3 && shape[0] === map.shape![0]
      ) ?? null;
    return [{ map: map as Shaped, truth: find("truth"), estimate: find("estimate") }];
  },
  keyOf: ({ map }) => map.path,
  options: { label: "Show", of: () => FORMS },
  indices: ({ map: { shape } }) => [["Example", shape[0]]],
  what: "the map",
  async load({ map, truth, estimate }, [index], signal) {
    const range = metadataNumber(map, "range_step_m") ?? 1, velocity = metadataNumber(map, "velocity_step_mps") ?? 1;
    const [{ real, sizes, cell }, targets, found] = await Promise.all([
      readBlock(map, [index], signal, { reduce: "max" }),
      placesIn(truth, index, signal),
      placesIn(estimate, index, signal),
    ]);
    const grid = gridOf(real, { sizes, cell, bins: map.shape[2], range, velocity });
    return { grid, targets, found };
  },
  figure: (value, { item: { map }, indices: [index], option, summary }) =>
    option === "table"
      ? <Places {...value} />
      : <Picture {...value} whole={option === "whole"} index={index} map={map} summary={summary} />,
});

/** Targets of an example; a row without power is no detection. */
async function placesIn(artifact: Artifact | null, index: number, signal: AbortSignal): Promise<Place[]> {
  if (artifact === null) return [];
  const [{ real }, power] = await Promise.all([
    readBlock(artifact, [index], signal),
    readBlock({ ...artifact, array: "power" }, [index], signal),
  ]);
  return Array.from(power.real, (_, i) => ({ range: real[2 * i], velocity: real[2 * i + 1] }))
    .filter((_, i) => power.real[i] > 0);
}

function Picture({ grid, targets, found, whole, index, map, summary }: {
  grid: PowerGrid;
  targets: Place[];
  found: Place[];
  whole: boolean;
  index: number;
  map: Shaped;
  summary: RunSummary;
}) {
  const canvas = useRef<HTMLCanvasElement>(null), axes = useRef<SVGSVGElement>(null);
  const shown = useMemo(() => windowAround(grid, whole ? [] : [...targets, ...found]), [grid, whole]);
  useEffect(() => paintPower(canvas.current!, grid, shown), [grid, shown]);
  const near = grid.nearest + shown.bottom * grid.rangeStep, far = near + shown.rows * grid.rangeStep;
  const slow = grid.lowest + shown.left * grid.velocityStep, fast = slow + shown.columns * grid.velocityStep;
  const x = (velocity: number) => (velocity - slow) / (fast - slow) * SIDE;
  const y = (range: number) => SIDE - (range - near) / (far - near) * SIDE;
  const inside = ({ range, velocity }: Place) => range <= far && velocity >= slow && velocity <= fast;
  const sentence = `${targets.length} true targets (circles) and ${found.length} estimates (crosses) between ` +
    `${short(near)} and ${short(far)} m, ${short(slow)} and ${short(fast)} m/s.`;
  return (
    <figure class="chart density">
      <div class="row view-controls">
        <PictureFiles
          name={`range-doppler-${index}`}
          disabled={false}
          svg={() =>
            pictureFile(axes.current!, canvas.current!, `Range-Doppler map of ${nameOf(map)}`, sourceOf(summary, map))}
        />
      </div>
      <div class="density-picture">
        <canvas ref={canvas} role="img" aria-label={`Range-Doppler map. ${sentence}`} />
        <svg ref={axes} viewBox={`${-MARGIN} -8 ${SIDE + MARGIN + 12} ${SIDE + MARGIN + 8}`} aria-hidden="true">
          {ticksOf(slow, fast).map((tick) => (
            <text key={`x${tick}`} class="faint-text" x={x(tick)} y={SIDE + 14} text-anchor="middle">
              {short(tick)}
            </text>
          ))}
          {ticksOf(near, far).map((tick) => (
            <text key={`y${tick}`} class="faint-text" x={-6} y={y(tick) + 4} text-anchor="end">{short(tick)}</text>
          ))}
          {targets.filter(inside).map((place, i) => (
            <circle
              key={`t${i}`}
              cx={x(place.velocity)}
              cy={y(place.range)}
              r={8}
              fill="none"
              stroke={MARKS.target}
              stroke-width={2}
            />
          ))}
          {found.filter(inside).map((place, i) => (
            <path
              key={`e${i}`}
              d={`M${x(place.velocity) - 5} ${y(place.range) - 5}l10 10m0 -10l-10 10`}
              stroke={MARKS.estimate}
              stroke-width={2}
            />
          ))}
          <text class="plain-text" x={SIDE / 2} y={SIDE + 32} text-anchor="middle">Velocity (m/s)</text>
          <text class="plain-text" transform={`translate(-30 ${SIDE / 2}) rotate(-90)`} text-anchor="middle">
            Range (m)
          </text>
        </svg>
      </div>
      <figcaption>
        {sentence} Colour: power from {DEEPEST_DB}{" "}
        dB below the peak (dark) to the peak (bright). Positive velocities approach.
      </figcaption>
    </figure>
  );
}

function Places({ targets, found }: { targets: Place[]; found: Place[] }) {
  const rows = [
    ...targets.map((place) => ({ ...place, role: "True" })),
    ...found.map((place) => ({ ...place, role: "Estimated" })),
  ];
  return (
    <Table
      rows={rows}
      columns={[
        ["Target", ({ role }) => role],
        ["Range (m)", ({ range }) => valueText(range), "number mono"],
        ["Velocity (m/s)", ({ velocity }) => valueText(velocity), "number mono"],
      ]}
    />
  );
}
