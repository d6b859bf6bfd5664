/** Figures as tables and as a sentence: the drawn data, for readers who cannot see it or need the digits. */
import type { Figure } from "../../lib/figure/types.ts";
import { matrixCells } from "../../lib/figure/matrix_spec.ts";
import { upperFirst } from "../../lib/contract/sentence.ts";
import { cellLines } from "../../lib/figure/figure_csv.ts";
import { heatDomain } from "../../lib/figure/heat_spec.ts";
import { numberText } from "../../lib/figure/number_text.ts";

export interface FigureTable {
  columns: string[];
  rows: string[][];
}

const titled = ({ title, unit }: { title: string; unit: string }) => unit === "" ? title : `${title} (${unit})`;

/** Every number that is drawn, theory apart: it is a formula. Full precision. */
export function figureTable(figure: Figure): FigureTable {
  if (figure.form === "bars") {
    return {
      columns: ["Method", titled(figure.value), "Low", "High"],
      rows: figure.bars.map(({ label, value, low, high }) => [label, ...[value, low, high].map(exact)]),
    };
  }
  if (figure.form === "matrix") {
    const cells = matrixCells(figure), asCounts = (figure.cells ?? "counts") === "counts";
    const cell = (row: number, column: number) => {
      const { count, share } = cells[row * figure.labels.length + column];
      return asCounts ? String(count) : `${numberText(100 * share, "unicode", 4)} %`;
    };
    return {
      columns: ["True class", ...figure.labels],
      rows: figure.counts.map((row, index) => [figure.labels[index], ...row.map((_, at) => cell(index, at))]),
    };
  }
  if (figure.form === "levels") {
    const { x, y, floor, amount, level } = figure;
    return {
      columns: [titled(x), ...[floor.label, amount.label].map((title) => titled({ title, unit: y.unit }))].concat(
        level === null ? [] : [titled({ title: level.label, unit: y.unit })],
      ),
      rows: amount.values.map((power, k) => [
        String(k),
        exact(floor.values[k]),
        exact(power),
        ...(level === null ? [] : [exact(level.value)]),
      ]),
    };
  }
  if (figure.form === "heat" || figure.form === "boxes") {
    const [columns, ...rows] = cellLines(figure);
    return { columns: columns.map((name) => upperFirst(name.replaceAll("_", " "))), rows };
  }
  const series = figure.series.filter(({ kind, hidden }) => kind !== "theory" && hidden !== true);
  const intervals = series.some(({ points }) => points.some(({ low, bound }) => low !== null || bound !== undefined));
  return {
    columns: ["Series", titled(figure.x), titled(figure.y), ...(intervals ? ["Low", "High"] : [])],
    rows: series.flatMap(({ label, points }) =>
      points.map(({ x, y, low, high, bound }) => [
        label,
        exact(x),
        exact(y),
        ...(intervals ? [exact(low), exact(high ?? bound ?? null)] : []),
      ])
    ),
  };
}

const exact = (value: number | null) => value === null ? "" : String(value);

/** What a figure shows, in one sentence. */
export function figureSentence(figure: Figure): string {
  if (figure.form === "matrix") {
    const total = figure.counts.flat().reduce((sum, count) => sum + count, 0);
    const right = figure.counts.reduce((sum, row, index) => sum + row[index], 0);
    return `${right} of ${total} items (${
      numberText(100 * right / total, "unicode", 3)
    } %) were taken for what they are.`;
  }
  if (figure.form === "bars") {
    const best = figure.bars.reduce((a, b) => b.value > a.value ? b : a);
    return `${figure.bars.length} bars; the longest is ${best.label} with ${numberText(best.value, "unicode")}.`;
  }
  if (figure.form === "levels") {
    const powers = figure.amount.values, total = powers.reduce((sum, power) => sum + power, 0);
    const dry = powers.filter((power) => power === 0).length;
    const without = dry === 0 ? "" : `, ${dry} of them without any`;
    return `A power of ${numberText(total, "unicode")} over ${powers.length} channels${without}.`;
  }
  if (figure.form === "heat") {
    const { x, y, value, columns, rows, cells } = figure, [low, high] = heatDomain(figure);
    return `${cells.length} cells, ${columns.length} by ${rows.length}: ${value.title} within ${
      numberText(low, "unicode")
    } to ${numberText(high, "unicode")} over ${x.title} and ${y.title}.`;
  }
  if (figure.form === "boxes") {
    const { boxes, value } = figure, medians = boxes.map(({ median }) => median);
    return `${boxes.length} boxes: medians of ${value.title} from ${numberText(least(medians), "unicode")} to ${
      numberText(most(medians), "unicode")
    }.`;
  }
  const seen = figure.series.filter(({ hidden }) => hidden !== true);
  const drawn = seen.filter(({ kind }) => kind !== "theory"), theory = seen.length - drawn.length;
  const points = drawn.flatMap(({ points }) => points), ys = points.flatMap(({ y }) => y === null ? [] : [y]);
  const zero = points.filter(({ bound }) => bound !== undefined).length;
  const xs = points.map(({ x }) => x);
  if (ys.length === 0) return "This figure has no values.";
  const span = (values: number[], unit: string) =>
    `${numberText(least(values), "unicode")} to ${numberText(most(values), "unicode")}${unit === "" ? "" : ` ${unit}`}`;
  return [
    `${drawn.length === 1 ? drawn[0].label : `${drawn.length} series`}, ${points.length} points: `,
    `${figure.y.title} from ${span(ys, figure.y.unit)} over ${figure.x.title} from ${span(xs, figure.x.unit)}`,
    zero > 0 ? `; ${zero} without an error, shown as bounds` : "",
    theory > 0 ? `; ${theory} theory curve${theory === 1 ? "" : "s"}` : "",
    theory > 0 && figure.source.theory !== undefined ? ` after ${figure.source.theory}` : "",
    ".",
  ].join("");
}

const least = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b));
const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b));
