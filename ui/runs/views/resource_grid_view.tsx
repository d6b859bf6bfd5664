/**
 * OFDM resource grids: places of data and pilots, and powers of channel estimates and received grids.
 * No row of the table of views: the part of the subcarriers and two reads are chosen apart, and the picture has files.
 */
import { isObject } from "../../../lib/contract/value.ts";
import { darkened, STYLES } from "../../../lib/figure/style.ts";
import { MARGIN, pictureFile, PictureFiles, short, SIDE, ticksOf } from "../../charts/density.tsx";
import { useDark } from "../../charts/page_style.ts";
import { paintPower } from "../../charts/power_canvas.ts";
import { MARKS } from "../../charts/range_doppler.ts";
import {
  cellsPath,
  centresOf,
  elementPowers,
  type GridPart,
  type PilotGroup,
  pilotGroups,
  SUBCARRIERS_SHOWN,
} from "../../charts/resource_grid.ts";
import { useEffect, useRef, useState } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { useLoaded } from "../../state/fetched.ts";
import { MOST_VALUES, readBlock } from "../fetch_array.ts";
import { Select, Wait } from "../../parts.tsx";
import { IndexChoice, nameOf, sourceOf, ViewPanel } from "./parts.tsx";

/** Level of the darkest colour below the largest power: fading notches, not noise. */
const DEEPEST_DB = 20;

/** Arrays [grid, OFDM symbol, subcarrier, …]: names of the axes after the subcarriers. */
const GAINS: Readonly<Record<string, readonly string[]>> = {
  "channel.ofdm_channel_estimate.numpy": ["rx", "port"],
  "channel.mimo_rx_grid.numpy": ["rx"],
};

export interface ResourceGrid {
  context: Artifact;
  subcarriers: number;
  symbols: number;
  grids: number;
  ports: number;
  /** Estimates and received grids of this layout. */
  gains: (Artifact & { shape: number[] })[];
}

export function resourceGridOf(artifacts: readonly Artifact[]): ResourceGrid | null {
  const context = artifacts.find(({ kind }) => kind === "channel.ofdm_pilot_context.numpy");
  const layout = context?.metadata.ofdm_grid;
  if (context === undefined || !isObject(layout)) return null;
  const [subcarriers, symbols, grids, ports] = ["subcarriers", "num_ofdm_symbols", "grids", "port_count"]
    .map((key) => Number(layout[key]));
  const gains = artifacts.flatMap((artifact) => {
    const { kind, shape } = artifact;
    const same = GAINS[kind] !== undefined && String(shape?.slice(0, 3)) === String([grids, symbols, subcarriers]);
    return same ? [{ ...artifact, shape: shape! }] : [];
  });
  return subcarriers * symbols * grids > 0 ? { context, subcarriers, symbols, grids, ports, gains } : null;
}

interface Line {
  label: string;
  artifact: ResourceGrid["gains"][number];
  lines: number;
  line: number;
  /** Whose pilots are marked; null marks those of all ports. */
  port: number | null;
}

/** The lines of gains: `estimator.estimate, rx 0, port 1`. */
function linesOf({ gains }: ResourceGrid): Line[] {
  return gains.flatMap((artifact) => {
    const names = GAINS[artifact.kind], sizes = artifact.shape.slice(3), lines = sizes.reduce((a, b) => a * b, 1);
    return Array.from({ length: lines }, (_, line): Line => {
      const places = names.length === 1 ? [line] : [Math.floor(line / sizes[1]), line % sizes[1]];
      const label = [nameOf(artifact), ...names.map((name, axis) => `${name} ${places[axis]}`)].join(", ");
      return { label, artifact, lines, line, port: places[1] ?? null };
    });
  });
}

export function ResourceGridView({ grid, summary }: { grid: ResourceGrid; summary: RunSummary }) {
  const { context, subcarriers, grids, ports } = grid, lines = linesOf(grid);
  const [chosen, setChosen] = useState("elements"), [index, setIndex] = useState(0), [page, setPage] = useState(0);
  const canvas = useRef<HTMLCanvasElement>(null), axes = useRef<SVGSVGElement>(null);
  const line = lines.find(({ label }) => label === chosen) ?? null;
  const columns = Math.max(1, Math.min(grid.symbols, Math.floor(MOST_VALUES / subcarriers)));
  const first = page * SUBCARRIERS_SHOWN;
  const part: GridPart = { subcarriers, first, rows: Math.min(SUBCARRIERS_SHOWN, subcarriers - first), columns };
  const places = useLoaded(async (signal) => {
    const most = { first: MOST_VALUES };
    const [data, ...positions] = await Promise.all([
      readBlock({ ...context, array: "data_positions" }, [], signal, most),
      ...Array.from({ length: ports }, (_, port) => readBlock(context, [port], signal, most)),
    ]);
    return { data: data.real, groups: pilotGroups(positions.map(({ real }) => real)) };
  }, context.path);
  const powers = useLoaded(async (signal) => {
    if (line === null) return null;
    const { artifact: { shape }, lines } = line;
    const whole = shape.slice(1).reduce((a, b) => a * b, 1) <= MOST_VALUES;
    const blocks = await Promise.all(
      whole
        ? [readBlock(line.artifact, [index], signal)]
        : Array.from({ length: columns }, (_, symbol) => readBlock(line.artifact, [index, symbol], signal)),
    );
    const joined = (key: "real" | "imaginary") => Float64Array.from(blocks.flatMap((block) => [...block[key] ?? []]));
    const block = { real: joined("real"), imaginary: joined("imaginary") };
    return { power: elementPowers(block, { subcarriers, columns, lines, line: line.line }), columns };
  }, `${chosen} ${index}`);
  useEffect(() => {
    if (canvas.current === null || powers.value === null) return;
    paintPower(canvas.current, powers.value, { bottom: first, left: 0, rows: part.rows, columns }, DEEPEST_DB);
  }, [powers.value, places.value, first]);
  const title = `Resource grid of ${nameOf(context)}`;
  const ready = places.value !== null && (line === null || powers.value !== null);
  return (
    <ViewPanel
      title="Resource grid"
      controls={
        <>
          <Select
            label="Content"
            value={line === null ? "elements" : chosen}
            options={[["elements", "data and pilots"] as const, ...lines.map(({ label }) => [label, label] as const)]}
            onChoose={setChosen}
          />
          {line !== null && <IndexChoice label="Grid" count={grids} value={index} onChoose={setIndex} />}
          <IndexChoice
            label={`Subcarriers in steps of ${SUBCARRIERS_SHOWN}`}
            count={Math.ceil(subcarriers / SUBCARRIERS_SHOWN)}
            value={page}
            onChoose={setPage}
          />
          <PictureFiles
            name="resource-grid"
            disabled={!ready}
            svg={() => pictureFile(axes.current!, canvas.current!, title, sourceOf(summary, line?.artifact ?? context))}
          />
        </>
      }
    >
      {!ready
        ? <Wait of={places.value === null ? places : powers} what="the grid" />
        : <Picture grid={grid} part={part} line={line} places={places.value!} canvas={canvas} axes={axes} />}
    </ViewPanel>
  );
}

const namesOf = ({ ports }: PilotGroup) => `pilots of port${ports.length > 1 ? "s" : ""} ${ports.join(", ")}`;

function Picture({ grid, part, line, places: { data, groups }, canvas, axes }: {
  grid: ResourceGrid;
  part: GridPart;
  line: Line | null;
  places: { data: Float64Array; groups: PilotGroup[] };
  canvas: { current: HTMLCanvasElement | null };
  axes: { current: SVGSVGElement | null };
}) {
  const { series, grid: plain } = useDark() ? darkened(STYLES.svc) : STYLES.svc;
  const { first, rows, columns } = part, last = first + rows - 1;
  const marked = line === null || line.port === null
    ? groups
    : groups.filter(({ ports }) => ports.includes(line.port!));
  const counts = groups.map((group) => `${group.positions.length} ${namesOf(group)}`).join(", ");
  const range = `subcarriers ${first} to ${last} of ${grid.subcarriers}`;
  const shown = columns < grid.symbols ? `the first ${columns} of ${grid.symbols}` : `${columns}`;
  const sentence = `${range}, ${shown} OFDM symbols, ${counts}.`;
  const x = (symbol: number) => (symbol + 0.5) * SIDE / columns;
  const y = (subcarrier: number) => SIDE - (subcarrier - first + 0.5) * SIDE / rows;
  const radius = Math.max(0.8, Math.min(5, 0.3 * SIDE / Math.max(rows, columns)));
  const areas: [name: string, colour: string, positions: Float64Array][] = [
    ["data", plain, data],
    ...groups.map((group, i) => [namesOf(group), series[i], group.positions] as [string, string, Float64Array]),
  ];
  const whole = (ticks: number[]) => ticks.filter(Number.isInteger);
  return (
    <figure class="chart density">
      <div class="density-picture">
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${line === null ? "Data and pilots" : `Power of ${line.label}`}: ${sentence}`}
        />
        <svg ref={axes} viewBox={`${-MARGIN} -8 ${SIDE + MARGIN + 12} ${SIDE + MARGIN + 8}`} aria-hidden="true">
          {line === null && (
            <g transform={`translate(0 ${SIDE}) scale(${SIDE / columns} ${-SIDE / rows})`}>
              {areas.map(([name, colour, positions]) => (
                <path key={name} d={cellsPath(positions, part)} fill={colour} />
              ))}
            </g>
          )}
          {line !== null &&
            marked.flatMap(({ positions }) => centresOf(positions, part)).map((place) => (
              <circle
                key={`${place.x} ${place.y}`}
                cx={place.x * SIDE / columns}
                cy={SIDE - place.y * SIDE / rows}
                r={radius}
                fill={MARKS.estimate}
              />
            ))}
          {whole(ticksOf(0, Math.max(columns - 1, 1))).filter((tick) => tick < columns).map((tick) => (
            <text key={`x${tick}`} class="faint-text" x={x(tick)} y={SIDE + 14} text-anchor="middle">{tick}</text>
          ))}
          {whole(ticksOf(first, Math.max(last, first + 1))).filter((tick) => tick <= last).map((tick) => (
            <text key={`y${tick}`} class="faint-text" x={-6} y={y(tick) + 4} text-anchor="end">{short(tick)}</text>
          ))}
          <text class="plain-text" x={SIDE / 2} y={SIDE + 32} text-anchor="middle">OFDM symbol</text>
          <text class="plain-text" transform={`translate(-32 ${SIDE / 2}) rotate(-90)`} text-anchor="middle">
            Subcarrier
          </text>
        </svg>
      </div>
      {line === null && (
        <ul class="mask-legend">
          {areas.map(([name, colour]) => (
            <li key={name} class="chart-sign">
              <svg viewBox="0 0 14 14" width={14} height={14} aria-hidden="true">
                <rect width={14} height={14} fill={colour} />
              </svg>
              {name}
            </li>
          ))}
        </ul>
      )}
      <figcaption>
        {sentence[0].toUpperCase() + sentence.slice(1)} {line === null
          ? "Elements without colour are empty."
          : `Colour: power from ${DEEPEST_DB} dB below the largest (dark) to the largest (bright). Dots: ${
            marked.map(namesOf).join(", ")
          }.`}
      </figcaption>
    </figure>
  );
}
