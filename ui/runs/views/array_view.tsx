/** Arrays without a view of their own: a line, named columns, points of a plane, or a map of rows and columns. */
import type { CurveFigure, FigurePoint } from "../../../lib/figure/types.ts";
import { get } from "../../api.ts";
import { Chart } from "../../charts/chart.tsx";
import { equalDomains } from "../../charts/maps.ts";
import { PowerMap } from "../../charts/power_map.tsx";
import { SeriesChart } from "../../charts/series.tsx";
import { Select, Shown } from "../../parts.tsx";
import { useState } from "../../preact.ts";
import { useLoaded } from "../../state/fetched.ts";
import type { Artifact, RunSummary } from "../documents.ts";
import { MOST_VALUES, readBlock } from "../fetch_array.ts";
import { columnsOf, MOST_COLUMNS, size } from "./array_columns.ts";
import { IndexChoice, nameOf, sourceOf } from "./parts.tsx";

const POINTS = 600, MOST_MARKED = 60;

interface Props {
  artifact: Artifact;
  summary: RunSummary;
  value: { title: string; unit: string };
}

const FORMS = { columns: "columns over the row", map: "map of two columns", histogram: "histogram" } as const;

export function ArrayView(props: Props) {
  const { artifact, value, summary } = props, { shape, path, array } = artifact, columns = columnsOf(artifact);
  const [form, setForm] = useState<keyof typeof FORMS>(columns?.length === 2 && value.unit === "m" ? "map" : "columns");
  if (columns === null && shape !== null && shape.length >= 2 && shape.at(-1)! > MOST_COLUMNS) {
    return <Grid {...props} />;
  }
  if (columns === null) {
    const source = sourceOf(summary, artifact);
    return <SeriesChart path={path} array={array} kind="line" title={nameOf(artifact)} value={value} source={source} />;
  }
  const forms = (["columns", "map", "histogram"] as const).filter((one) =>
    one !== "map" || (columns.length === 2 && size(shape!) <= MOST_VALUES)
  );
  const controls = (
    <Select
      label="Form"
      value={form}
      options={forms.map((one) => [one, FORMS[one]] as const)}
      onChoose={setForm}
    />
  );
  return form === "map"
    ? <Points {...props} columns={columns} controls={controls} />
    : <Columns key={form} {...props} columns={columns} form={form} controls={controls} />;
}

type ColumnsProps = Props & { columns: readonly string[]; controls: ReturnType<typeof Select> };

/** A series for each column, over the rows or as a histogram. */
function Columns(
  { artifact, summary, value, columns, form, controls }: ColumnsProps & { form: "columns" | "histogram" },
) {
  const { path, array, shape } = artifact, kind = form === "columns" ? "line" : "histogram", stride = columns.length;
  const found = useLoaded((signal) =>
    Promise.all(columns.map((_, offset) => {
      const query = { path, array, kind, points: POINTS / (kind === "line" ? 1 : 10), stride, offset } as const;
      return get("/api/series", { query, signal });
    })), `${path} ${form}`);
  return (
    <Shown of={found} what="the columns">
      {(series) => (
        <Chart
          figure={{
            ...base(artifact, summary, `${size(shape!) / stride} rows`),
            type: kind === "line" ? "series" : "histogram",
            x: { ...(kind === "line" ? { title: "Row", unit: "" } : value), scale: "linear", domain: null },
            y: { ...(kind === "line" ? value : { title: "Count", unit: "" }), scale: "linear", domain: null },
            series: series.map(({ x, y }, at) => ({
              label: columns[at],
              kind: "measured",
              points: y.map((one, i) => pointOf(Number(x[i]), one === null ? null : Number(one))),
            })),
            step: kind !== "line",
            markers: kind === "line" && series[0].y.length <= MOST_MARKED,
          }}
          controls={controls}
        />
      )}
    </Shown>
  );
}

const pointOf = (x: number, y: number | null): FigurePoint => ({ x, y, low: null, high: null });

const base = (artifact: Artifact, summary: RunSummary, subtitle: string) => ({
  form: "curves" as const,
  title: nameOf(artifact),
  subtitle,
  source: sourceOf(summary, artifact),
  front: null,
});

/** Rows of two columns as points of a plane. */
function Points({ artifact, summary, value, columns, controls }: ColumnsProps) {
  const found = useLoaded((signal) => readBlock(artifact, [], signal), artifact.path);
  return (
    <Shown of={found} what="the points">
      {({ real }) => {
        const points = Array.from({ length: real.length / 2 }, (_, i) => pointOf(real[2 * i], real[2 * i + 1]));
        // Lengths are equal in all directions; other quantities have scales of their own.
        const domains = value.unit === "m" ? equalDomains([points]) : [null, null];
        const figure: CurveFigure = {
          ...base(artifact, summary, `${points.length} rows`),
          type: "map",
          x: { title: columns[0], unit: value.unit, scale: "linear", domain: domains[0] },
          y: { title: columns[1], unit: value.unit, scale: "linear", domain: domains[1] },
          series: [{ label: nameOf(artifact), kind: "measured", points }],
          step: false,
          joined: false,
          equal: value.unit === "m",
        };
        return <Chart figure={figure} controls={controls} />;
      }}
    </Shown>
  );
}

/** The last two axes as rows and columns; the axes before them are chosen one by one. */
function Grid({ artifact, summary, value }: Props) {
  const shape = artifact.shape!, [rows, columns] = shape.slice(-2), blocks = size(shape.slice(0, -2));
  const [index, setIndex] = useState(0);
  const at = shape.slice(0, -2).map((length, axis) => Math.floor(index / size(shape.slice(axis + 1, -2))) % length);
  const found = useLoaded((signal) => readBlock(artifact, at, signal, { reduce: "max" }), `${artifact.path} ${at}`);
  return (
    <>
      <IndexChoice label="Part" count={blocks} value={index} onChoose={setIndex} />
      <Shown of={found} what="the array">
        {({ real, sizes, cell }) => (
          <PowerMap
            title={nameOf(artifact)}
            sentence={`${rows} rows and ${columns} columns` +
              (cell.some((one) => one > 1) ? `; a cell has the largest of ${cell.join(" × ")} values.` : ".")}
            source={sourceOf(summary, artifact)}
            cells={real}
            columns={sizes.at(-1)!}
            x={{ title: "Column", low: -0.5, high: columns - 0.5 }}
            y={{ title: `Row${value.unit === "" ? "" : `, values in ${value.unit}`}`, low: -0.5, high: rows - 0.5 }}
            deepest={null}
          />
        )}
      </Shown>
    </>
  );
}
