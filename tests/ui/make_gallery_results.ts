/**
 * Makes what the cards of the gallery show: `ui/pages/gallery_results.json` with the digest of each shipped recipe and a small
 * result of it, the curve over its swept parameter or a number, or the reason why there is none; and for links of images
 * `ui/pictures/gallery_*.jpg`, the first image as received at each value. `deno task gallery` runs it. Results of an unchanged
 * digest are kept; with part of a path, those of the recipes that it names are made again. Points that a card has no room for are
 * left out.
 */
import { join } from "node:path";
import { decodeArtifact } from "../../lib/artifact/codec.ts";
import { imageSheet, pictureOf } from "../../lib/artifact/image_sheet.ts";
import { encodeJpeg } from "../../lib/artifact/jpeg/encoder.ts";
import { imagesOf } from "../../lib/artifact/values.ts";
import { sha256Json } from "../../lib/contract/hash.ts";
import { canonicalJson } from "../../lib/contract/json.ts";
import { matrixFacts, setDimension } from "../../lib/contract/matrix_edits.ts";
import { isNumber, type JsonObject, toNumber, type Value } from "../../lib/contract/value.ts";
import { createCancellation } from "../../lib/execute/cancellation.ts";
import { recipeFiles } from "../../lib/recipe/recipe_files.ts";
import { readRecipeFile } from "../../lib/recipe/read.ts";
import { findMetric } from "../../lib/research/catalog.ts";
import { evaluatedMetrics } from "../../lib/research/evaluations.ts";
import { open, type Session } from "../../mod.ts";
import { curveFigure } from "../../ui/compare/curve.ts";
import { labelOf } from "../../ui/compare/methods.ts";
import { spoken } from "../../ui/compare/parameter_axis.ts";
import { pivotCell } from "../../ui/compare/pivot.ts";
import { type ComparedRun, comparedRun, selectionOf } from "../../ui/compare/table.ts";
import stored from "../../ui/pages/gallery_results.json" with { type: "json" };
import { type GalleryResult, pictureNameOf } from "../../ui/gallery/results.ts";

/** Values of the swept dimension, fewer where the first number takes too long; values of each other one; series in a card. */
const POINTS = [6, 3], OTHERS = 3, SERIES = 3;
const LONGEST_MS = 300_000;
/** Height of an image in pixels, and the quality of its JPEG file. */
const HEIGHT = 72, QUALITY = 75;

const LATE = "it runs for more than 5 minutes";

/** A small result, or the reason why there is none. */
type Found = Omit<GalleryResult, "sha256">;

const IMAGES = "image.batch.numpy";

type Stored = { [path: string]: GalleryResult };

const projectRoot = new URL("../..", import.meta.url).pathname;
const [only] = Deno.args;
const known = stored as unknown as Stored, results: Stored = { ...known }, paths = new Set<string>();
for (const { path, file } of recipeFiles(projectRoot)) {
  const recipe = (await readRecipeFile(file)).value;
  // Manifests of images are no recipes.
  if (!isRecipe(recipe)) continue;
  const sha256 = sha256Json(recipe) as string, last = known[path];
  paths.add(path);
  if (only !== undefined && !path.includes(only)) continue;
  // The data that a recipe needed may be there now.
  if (only === undefined && last?.sha256 === sha256 && !last.none?.startsWith("needs")) continue;
  const began = performance.now();
  let result: Found = { none: LATE };
  for (const points of POINTS) {
    if (result.none === LATE) {
      result = await withLimit((svc, limit) => resultOf(svc, { path, points, ...limit }, recipe));
    }
  }
  results[path] = { sha256, ...result };
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${path}: ${result.none ?? Object.keys(result)}, ${seconds} s`);
  await write();
}
for (const path of Object.keys(results)) if (!paths.has(path)) delete results[path];
await write();

function isRecipe(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && "steps" in value;
}

async function write() {
  const rows = Object.entries(results).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([path, result]) => ` ${JSON.stringify(path)}: ${JSON.stringify(result)}`);
  await Deno.writeTextFile(
    new URL("../../ui/pages/gallery_results.json", import.meta.url),
    `{\n${rows.join(",\n")}\n}\n`,
  );
}

interface Limit {
  cancellation: ReturnType<typeof createCancellation>;
  stateDir: string;
}

/** Calls with a session that is cancelled where a release has no time for it. */
async function withLimit(body: (svc: Session, limit: Limit) => Promise<Found>): Promise<Found> {
  const stateDir = await Deno.makeTempDir({ prefix: "svc-gallery-" });
  const svc = await open({ projectRoot, stateDir });
  const cancellation = createCancellation(), late = setTimeout(() => cancellation.cancel(), LONGEST_MS);
  try {
    return await body(svc, { cancellation, stateDir });
  } finally {
    clearTimeout(late);
    svc.close();
    await Deno.remove(stateDir, { recursive: true });
  }
}

async function resultOf(
  svc: Session,
  { path, points, ...limit }: Limit & { path: string; points: number },
  whole: JsonObject,
): Promise<Found> {
  const { run_readiness } = await svc.recipes.overview(whole);
  if (run_readiness?.ready !== true) {
    const needed = (run_readiness?.missing ?? []).map(({ kind, id }) => `the ${kind} ${id}`);
    return { none: `needs ${needed.join(" and ")}` };
  }
  const { recipe, swept } = reduced(whole, points);
  const runs = await runsOf(svc, recipe, limit);
  if (runs === null) return { none: LATE };
  const metrics = metricsOf(runs);
  if (metrics.length === 0) return { none: "its runs have no headline number in common" };
  return {
    ...swept === null ? numbersOf(runs, metrics[0]) : curvesOf(runs, swept, metrics),
    ...await filmOf(runs, swept, limit.stateDir, pictureNameOf(path)),
  };
}

/** All runs of a recipe; null where there was no time for them. */
async function runsOf(svc: Session, recipe: JsonObject, { cancellation }: Limit): Promise<ComparedRun[] | null> {
  const ids = matrixFacts(recipe).count > 0
    ? (await svc.recipes.runMatrix(recipe, { cancellation })).rows.map(({ run_id }) => run_id)
    : [(await svc.recipes.run(recipe, { cancellation })).run_id];
  const runs = await Promise.all(ids.filter((id) => id != null).map((id) => compared(svc, id)));
  if (runs.length > 0 && runs.every(({ status }) => status === "completed")) return runs;
  if (cancellation.isCancelled) return null;
  throw new Error(`${recipe.name}: a run did not complete`);
}

/** Writes the first image as received in each run of the first curve; nothing for links of other data. */
async function filmOf(
  all: readonly ComparedRun[],
  swept: string | null,
  stateDir: string,
  name: string,
): Promise<Found> {
  const others = ({ parameters }: ComparedRun) => canonicalJson([...parameters].filter(([name]) => name !== swept));
  const runs = swept === null ? all.slice(0, 1) : all.filter((run) => others(run) === others(all[0]));
  const frames = runs.map(({ id, outputs, recipe }) => {
    const sources = new Set(
      (recipe.steps as { id: string; op: string }[]).filter(({ op }) => op.startsWith("source.")).map(({ id }) => id),
    );
    const received = outputs.findLast(({ kind, step }) => kind === IMAGES && !sources.has(step));
    if (received === undefined) return null;
    const bytes = Deno.readFileSync(join(stateDir, "runs", id, received.path));
    return pictureOf(imagesOf(decodeArtifact(received.kind, bytes)), 0);
  });
  if (frames.includes(null)) return {};
  const { width, height, data } = imageSheet([frames], HEIGHT, 0);
  const file = encodeJpeg({ width, height, channels: 3, data }, { quality: QUALITY, subsampling: "420" });
  await Deno.writeFile(new URL(`../../ui/pictures/${name}.jpg`, import.meta.url), file);
  const at = swept === null ? [] : runs.map(({ parameters }) => toNumber(parameters.get(swept) as number));
  return { film: [width, height, ...at] };
}

/** A recipe with few values of its dimensions, and the dimension that becomes the axis. */
function reduced(whole: JsonObject, points: number): { recipe: JsonObject; swept: string | null } {
  const { dimensions } = matrixFacts(whole);
  const numeric = dimensions.filter(({ values }) => values.length > 2 && values.every((value) => isNumber(value)));
  const swept = numeric.find(({ name }) => name === "snr_db") ??
    numeric.toSorted((a, b) => b.values.length - a.values.length)[0];
  let series = 1, recipe = whole;
  for (const { name, values } of dimensions) {
    const most = name === swept?.name ? points : Math.max(1, Math.min(OTHERS, Math.floor(SERIES / series)));
    const kept = spread(values, most);
    if (name !== swept?.name) series *= kept.length;
    recipe = setDimension(recipe, name, kept);
  }
  return { recipe, swept: swept?.name ?? null };
}

/** At most so many values, both ends among them. */
function spread(values: Value[], most: number): Value[] {
  if (values.length <= most) return values;
  return Array.from({ length: most }, (_, at) => values[Math.round(at * (values.length - 1) / Math.max(1, most - 1))]);
}

async function compared(svc: Session, id: string): Promise<ComparedRun> {
  const { summary, manifest } = await svc.runs.show(id);
  const documents = { summary, environment: manifest.environment, recipe: await svc.runs.recipe(id), task_id: null };
  const run = comparedRun(documents as Parameters<typeof comparedRun>[0]);
  return { ...run, parameters: new Map(Object.entries(selectionOf(run))) };
}

/** The first headline metric that differs between the runs, else the first that they have; where steps report it, of each step. */
function metricsOf(runs: readonly ComparedRun[]): string[] {
  const evaluated = evaluatedMetrics(runs[0].recipe as never);
  const common = (metric: string) => runs.every(({ metrics }) => isNumber(metrics.get(metric) ?? null));
  const wanted = evaluated.filter(common);
  if (wanted.length === 0) {
    const reported = [...runs[0].metrics.keys()].filter((metric) => metric.includes(":") && common(metric));
    const first = evaluated.find((metric) => reported.some((one) => nameIn(one) === metric));
    return reported.filter((one) => nameIn(one) === first).slice(0, SERIES);
  }
  // Links of pictures and texts count bits too: the score of what was sent comes first, then errors of the payload.
  const rank = (metric: string) =>
    !metric.startsWith("channel.")
      ? 0
      : metric === "channel.ber"
      ? 1
      : /(payload|info).*er$/.test(metric)
      ? 2
      : /er$/.test(metric)
      ? 3
      : 4;
  const ranked = wanted.toSorted((a, b) => rank(a) - rank(b));
  const differs = (metric: string) =>
    new Set(runs.map(({ metrics }) => toNumber(metrics.get(metric) as number))).size > 1;
  return [ranked.find(differs) ?? ranked[0]];
}

/** The metric that a step reports as `step:metric`. */
function nameIn(metric: string): string {
  return metric.slice(metric.indexOf(":") + 1);
}

/** The curves of a metric; of a metric that several steps report, the curve of each step. */
function curvesOf(runs: readonly ComparedRun[], swept: string, metrics: readonly string[]) {
  const figures = metrics.map((metric) =>
    curveFigure(runs, swept, metric, (metric) => findMetric(nameIn(metric)) as never)
  );
  const [{ x, y }] = figures;
  const drawn = figures.flatMap(({ series }, at) =>
    series.filter(({ kind }) => kind === "measured").map(({ label, points }) => ({
      label: metrics.length === 1 ? label : spoken(metrics[at].split(":")[0].replace(/_scores$/, "")),
      points,
    }))
  );
  return {
    x: [x.title, x.unit],
    y: [y.title, y.unit, y.scale],
    series: drawn.map(({ label, points }) => {
      // Of the last points without an event, one shows where they begin.
      const shown = points.slice(0, points.findLastIndex(({ bound }) => bound === undefined) + 2);
      return [
        label,
        shown.map(({ x, y, low, high, bound }) => {
          if (bound !== undefined) return [short(x), null, null, null, short(bound)];
          return low === null || high === null ? [short(x), short(y)] : [x, y, low, high].map(short);
        }),
      ];
    }),
  } as unknown as Found;
}

function numbersOf(runs: readonly ComparedRun[], metric: string) {
  const entry = findMetric(metric);
  return {
    numbers: runs.slice(0, SERIES).map((run) => {
      const { mean, low, high, bound } = pivotCell([run], metric)!;
      return [
        labelOf(run.parameters, [...run.parameters.keys()]),
        [short(mean), short(low), short(high), ...bound === undefined ? [] : [short(bound)]],
      ];
    }),
    metric: [entry?.name ?? metric, entry?.unit ?? ""],
  } as unknown as Found;
}

function short(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(3));
}
