/** The page of all validation cards with their newest results, and a figure for each card with a curve. */
import { inside, makeUserFolder, writeFile } from "../../artifact/inside.ts";
import { dirname, join, relative, resolve } from "node:path";
import { SvcError } from "../../contract/error.ts";
import { sameValue } from "../../contract/json.ts";
import { isNumber, type JsonObject, toNumber } from "../../contract/value.ts";
import { numberText } from "../../figure/number_text.ts";
import { renderSvg } from "../../figure/render.ts";
import { figureSpec } from "../../figure/spec.ts";
import { STYLES } from "../../figure/style.ts";
import type { CurveFigure, FigureSeries } from "../../figure/types.ts";
import { unitText } from "../../figure/unit_text.ts";
import { coordinatesText } from "../../recipe/variant_name.ts";
import { findMetric } from "../../research/catalog.ts";
import { AXIS, type CheckedPoint, placeText } from "../pack/card.ts";
import { left, right, tableMarkdown } from "../report/table.ts";
import type { CardFile } from "./cards.ts";
import type { JudgedCard } from "./run.ts";
import { deviationText, standingOf } from "./standing.ts";
import type { Verdict } from "./verdict.ts";

/** The written files. */
export interface ValidationReport {
  /** Absolute path of the page. */
  file: string;
  /** Names of the figures, beside the page in `validation/`. */
  figures: string[];
  /** Cards without a result. */
  missing: string[];
}

/** Names of the kinds of references. */
const KINDS = {
  closed_form: "closed form",
  standard: "standard",
  published: "published numbers",
  reference_program: "reference program",
};

const number = (value: number | null, digits = 4) => numberText(value, "unicode", digits);
/**
 * Writes the page.
 * @param file the page, a path
 */
export async function writeReport(cards: readonly JudgedCard[], file: string): Promise<ValidationReport> {
  const path = resolve(file), folder = dirname(path);
  const judged = cards.flatMap(({ card, latest }) => latest === null ? [] : [{ card, latest }]);
  if (judged.length === 0) {
    throw new SvcError("result_not_found", "Cannot write a report: no card has a result", {
      hint: "Run them first: svc validation run",
    });
  }
  const sections: string[] = [], figures: string[] = [];
  makeUserFolder(join(folder, "validation"));
  for (const { card, latest: verdict } of judged) {
    const figure = figureOf(card.title, verdict);
    if (figure !== null) {
      const name = `${card.id}.svg`;
      writeFile(inside(folder, "validation", name), await renderSvg(figureSpec(figure, STYLES.svc), STYLES.svc));
      figures.push(name);
    }
    sections.push(section(card, verdict, figure === null ? null : `validation/${card.id}.svg`));
  }
  const rows = judged.map(({ card, latest }) => {
    const { verdict, within, points, quick, largest } = standingOf(latest);
    const count = `${within} of ${points}${quick ? " (quick)" : ""}`;
    return [{ written: `[${card.title}](#${card.id})` }, KINDS[card.reference.kind], count, largest.text, verdict];
  });
  const table = tableMarkdown({
    columns: [left("Card"), left("Reference"), right("Points within"), right("Largest deviation"), left("Verdict")],
    rows,
  });
  const page = `# Validation\n\n${NOTE}\n${INTRODUCTION}\n\n${table}\n${sections.join("\n")}`;
  writeFile(inside(folder, relative(folder, path)), page);
  return {
    file: path,
    figures,
    missing: cards.filter(({ latest }) => latest === null).map(({ card }) => card.id),
  };
}

const NOTE = "<!-- Written by svc validation report; change the cards in benchmarks/validation instead. -->\n";
const INTRODUCTION = "Each card has one published curve, table or closed form, and the recipe that measures it. " +
  "`reproduced`: all points are within their tolerances. `partly`: each point outside has a cause that was switched. " +
  "Otherwise the card `differs`. A shift in dB is that of the measured curve along Es/N0; σ counts standard errors. " +
  "Repeat a card with `svc validation run <id>`.";

function section(
  { id, title, operations, reference, needs, notes }: CardFile["card"],
  verdict: Verdict,
  figure: string | null,
): string {
  const { common, own } = divided(verdict.points);
  const rows = verdict.points.map((point) => [
    placeText({ ...point, at: own(point.at) }),
    { written: `\`${point.metric}\`` },
    number(point.expected, 5),
    point.low === null || point.high === null
      ? number(point.measured, 5)
      : `${number(point.measured, 5)} (${number(point.low)} to ${number(point.high)})`,
    deviationText(point),
    point.within ? "within" : "outside",
  ]);
  const columns = [
    left("Point"),
    left("Metric"),
    right("Expected"),
    right("Measured (95 %)"),
    right("Deviation"),
    left(""),
  ];
  return [
    `## ${id}\n`,
    `**${title}: ${verdict.verdict}${
      verdict.quick ? " (quick subset)" : ""
    }.** ${reference.citation}, ${reference.location}. ` +
    `Access: ${reference.access}. Operations: ${operations.map((operation) => `\`${operation}\``).join(", ")}.\n`,
    ...needs === undefined ? [] : [`Needs ${needs}.\n`],
    ...notes === undefined ? [] : [`${notes.trim()}\n`],
    ...figure === null ? [] : [`![${title}: reference and measured points](${figure})\n`],
    ...Object.keys(common).length === 0 ? [] : [`At all points: ${codeText(common)}.\n`],
    tableMarkdown({ columns, rows }),
  ].join("\n");
}

const codeText = (at: JsonObject) =>
  Object.entries(at).map((coordinate) => `\`${coordinatesText(Object.fromEntries([coordinate]))}\``).join(", ");

/** The coordinates that all points share, and the other ones of a point. */
function divided(points: readonly CheckedPoint[]) {
  const isCommon = (name: string) => points.every(({ at }) => sameValue(at[name] ?? null, points[0].at[name] ?? null));
  const part = (at: JsonObject, common: boolean): JsonObject =>
    Object.fromEntries(Object.entries(at).filter(([name]) => isCommon(name) === common));
  return {
    common: points.length === 1 ? {} : part(points[0].at, true),
    own: (at: JsonObject) => points.length === 1 ? at : part(at, false),
  };
}

/** The numeric coordinate along the curves, Es/N0 where it changes; null without one. */
function axisOf(points: readonly CheckedPoint[]): string | null {
  const names = Object.keys(points[0].at).filter((name) => points.every(({ at }) => isNumber(at[name])));
  const counts = names.map((name) => new Set(points.map(({ at }) => toNumber(at[name] as number))).size);
  const most = Math.max(1, ...counts);
  return names.find((name, place) => AXIS.test(name) && counts[place] > 1) ??
    names.find((_, place) => most > 1 && counts[place] === most) ?? null;
}

/** Expected values as lines, measured ones as points with their intervals; null for a card without a curve. */
export function figureOf(title: string, { points, result_id, card }: Verdict): CurveFigure | null {
  const axis = axisOf(points), metrics = new Set(points.map(({ metric }) => metric));
  if (axis === null || metrics.size > 1) return null;
  const [metric] = metrics, facts = findMetric(metric);
  const { own } = divided(points);
  const curves = Map.groupBy(points, ({ at, cause }) => {
    const { [axis]: _, ...others } = own(at);
    const named = Object.entries(others).map(([name, value]) => [name.slice(name.lastIndexOf(".") + 1), value]);
    return [
      ...named.length === 0 ? [] : [coordinatesText(Object.fromEntries(named))],
      ...cause === undefined ? [] : [cause],
    ].join(", ");
  });
  const series = [...curves].flatMap(([label, members]): FigureSeries[] => {
    const sorted = members.toSorted((a, b) => xOf(a, axis) - xOf(b, axis));
    const name = (what: string) => label === "" ? what : `${label}, ${what}`;
    return [
      {
        label: name("reference"),
        kind: "theory",
        whole: true,
        points: sorted.map((point) => ({ x: xOf(point, axis), y: point.expected, low: null, high: null })),
      },
      {
        label: name("measured"),
        kind: "measured",
        joined: false,
        points: sorted.map((point) => ({ x: xOf(point, axis), y: point.measured, low: point.low, high: point.high })),
      },
    ];
  });
  const isRate = facts?.statistic === "rate";
  return {
    form: "curves",
    type: "curves",
    title,
    subtitle: "Lines: reference; points: measured, with intervals of 95 %",
    source: { card, result_id },
    x: { title: axis, unit: axis.endsWith("_db") ? "dB" : "", scale: "linear", domain: null },
    y: {
      title: facts?.name ?? metric,
      unit: unitText(facts?.unit ?? ""),
      scale: isRate ? "log" : "linear",
      domain: null,
    },
    series,
    step: false,
    front: null,
  };
}

const xOf = ({ at }: CheckedPoint, axis: string) => toNumber(at[axis] as number);
