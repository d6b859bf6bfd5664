/** Defaults of plots, and available choices. */
import { recipeRows } from "../rows/stored_rows.ts";
import { SvcError } from "../../contract/error.ts";
import { nearestName } from "../../contract/nearest.ts";
import { isNumber, isObject } from "../../contract/value.ts";
import { FIGURE_TYPES, type FigureType } from "../../figure/types.ts";
import { coordinatesOf, metricFacts } from "../rows/estimates.ts";
import type { BenchmarkResult } from "../pack/types.ts";

const QUALITY = /^(quality|semantic|text|task|classification|faithfulness|segmentation|detection|retrieval)\./;

/** Metrics by preference; a pattern matches any metric of the result. */
const Y: Record<FigureType, readonly (string | RegExp)[]> = {
  "error-rate": ["channel.ber", "channel.payload.ber", "channel.bler", /(^|[._])(ber|bler|wer|cer)$/, /error_rate$/],
  "graceful-degradation": ["quality.psnr_db", "quality.ms_ssim", "quality.ssim", QUALITY],
  "rate-distortion": ["quality.psnr_db", "quality.ms_ssim", "quality.ssim", QUALITY],
  "rate-distortion-perception": ["quality.lpips", "quality.dists", "quality.gmsd", "quality.ms_ssim", QUALITY],
  "packet-success": ["channel.packet_success_rate", "channel.payload_delivery_success", /success/],
  "channel-uses": ["channel.channel_use_count", "channel.uses_per_pixel", /channel_uses?|resource_element_count$/],
  "confusion-matrix": [],
  cdf: [/./],
  box: [/./],
  difference: [/./],
  "heat-map": [/./],
  curves: [/./],
};

/** Whether the axis of a metric is logarithmic: that of error rates, also among curves of any metric. */
export const isLogarithmic = (type: FigureType, y: string): boolean =>
  type === "error-rate" || type === "curves" && first(Y["error-rate"], [y]) !== null;

const RATES = [
  "channel.uses_per_pixel",
  /^rate\./,
  "codec.bit_count",
  "channel.channel_use_count",
  /^rate|bpp$|_bits$/,
];
const COORDINATES = ["channel.snr_db", "snr_db", /(^|[._])snr_db$/];

/** The figure requested by a pack, or one that fits its metrics. */
export function defaultPlot(result: BenchmarkResult): FigureType {
  const asked = defaultsOf(result).plot;
  if (typeof asked === "string" && (FIGURE_TYPES as readonly string[]).includes(asked)) return asked as FigureType;
  const declared = result.benchmark.metrics.map(({ id }) => id);
  const order: FigureType[] = ["error-rate", "graceful-degradation", "packet-success"];
  return order.find((type) => first(Y[type], declared) !== null) ?? "cdf";
}

function defaultsOf({ benchmark }: BenchmarkResult) {
  const { default_plot } = benchmark.metadata;
  return isObject(default_plot) ? default_plot : {};
}

/** The first existing choice. */
function first(choices: readonly (string | RegExp)[], there: readonly string[]): string | null {
  for (const choice of choices) {
    const found = typeof choice === "string" ? there.find((id) => id === choice) : there.find((id) => choice.test(id));
    if (found !== undefined) return found;
  }
  return null;
}

/** Metrics of completed rows: declared ones first, then promoted ones, without those of single steps. */
function metricsThere(result: BenchmarkResult): string[] {
  const there = new Set(
    recipeRows(result).filter(({ status }) => status === "completed").flatMap((row) => Object.keys(row.metrics)),
  );
  const declared = result.benchmark.metrics.map(({ id }) => id).filter((id) => there.has(id));
  const rest = [...there].filter((id) => !declared.includes(id) && !id.startsWith("steps.")).sort();
  return [...declared, ...rest];
}

/** Coordinates with numbers, which can be an axis. */
export function numericCoordinates(result: BenchmarkResult): string[] {
  return coordinatesOf(result).filter((name) =>
    recipeRows(result).every(({ matrix_selection }) => {
      const value = matrix_selection?.[name];
      return value === undefined || isNumber(value);
    })
  );
}

/** The metric that a figure shows: as requested, that of the pack, or by default. @throws SvcError `usage_invalid` */
export function metricAxis(result: BenchmarkResult, type: FigureType, asked: string | undefined): string {
  return axesOf(result, type, asked === undefined ? { x: "" } : { x: "", y: asked }).y;
}

/** Whether the figure needs no place along x. */
const WITHOUT_X: ReadonlySet<FigureType> = new Set(["cdf", "box", "channel-uses", "heat-map"]);

/** The axes of a figure, as requested or by default. @throws SvcError `usage_invalid` with the available choices */
export function axesOf(
  result: BenchmarkResult,
  type: FigureType,
  asked: { x?: string; y?: string },
): { x: string; y: string } {
  const metrics = metricsThere(result);
  const coordinates = numericCoordinates(result);
  const authored = defaultsOf(result);
  const own = authored.plot === undefined || authored.plot === type ? authored : {};
  const wish = (axis: "x" | "y") => asked[axis] ?? (typeof own[axis] === "string" ? own[axis] : undefined);
  const y = wish("y") ?? first(Y[type], metrics);
  const x = wish("x") ??
    (type === "box"
      ? null
      : type === "rate-distortion"
      ? first(RATES, metrics)
      : type === "rate-distortion-perception"
      ? first(Y["rate-distortion"], metrics)
      : first(COORDINATES, [...metrics, ...coordinates]) ?? coordinates[0] ?? null);
  if (y === null) throw nothingToShow(type, "y", metrics);
  if (x === null && !WITHOUT_X.has(type)) {
    throw nothingToShow(type, "x", [...metrics, ...coordinates]);
  }
  for (const [name, id, there] of [["y", y, metrics], ["x", x, [...metrics, ...coordinates]]] as const) {
    // Metrics of single steps can be requested by their full name.
    const known = id === null || there.includes(id) ||
      recipeRows(result).some(({ metrics }) => Object.hasOwn(metrics, id));
    if (known || (name === "x" && (type === "cdf" || type === "heat-map"))) continue;
    const near = nearestName(id, there);
    throw new SvcError("usage_invalid", `Cannot plot ${id} as ${name}: no completed row has it`, {
      hint: id === "channel.ebn0_db"
        ? "Add the step channel.communication_resource_accounting: it counts the bits that Eb/N0 needs"
        : near !== null
        ? `Did you mean ${near}?`
        : `There are ${there.join(", ")}`,
    });
  }
  return { x: x ?? "", y };
}

/**
 * The metric that bounds the one along y: as requested, or the pack's for its own axes; empty for none.
 * @throws SvcError `usage_invalid` if no completed row has it
 */
export function boundOf(result: BenchmarkResult, type: FigureType, y: string, asked?: string): string {
  const authored = defaultsOf(result);
  const own = authored.plot === type && authored.y === y && typeof authored.bound === "string" ? authored.bound : "";
  const bound = asked ?? own;
  if (bound === "" || recipeRows(result).some(({ metrics }) => Object.hasOwn(metrics, bound))) return bound;
  throw new SvcError("usage_invalid", `Cannot draw ${bound} as a bound: no completed row has it`, {
    hint: `There are ${metricsThere(result).join(", ")}`,
  });
}

function nothingToShow(type: FigureType, axis: "x" | "y", there: readonly string[]): SvcError {
  return new SvcError(
    "usage_invalid",
    `Cannot choose what to plot as ${axis} of ${type}: no metric of the result fits`,
    {
      hint: there.length === 0 ? "The result has no metrics" : `Give --${axis} as one of ${there.join(", ")}`,
    },
  );
}

/** Name and unit of a metric or a coordinate for an axis. */
export function axisFacts(result: BenchmarkResult, id: string): { title: string; unit: string } {
  const { name, unit } = metricFacts(result, coordinatesOf(result).includes(id) ? `channel.${id}` : id);
  const words = id.replaceAll("_", " ");
  const title = name === `channel.${id}` ? words[0].toUpperCase() + words.slice(1) : name;
  return { title, unit };
}
