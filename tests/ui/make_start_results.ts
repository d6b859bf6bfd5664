/**
 * Makes what the cards of the first page show: `ui/pages/start_results.json` with the curve of each starting point and the digest
 * of its recipe, and `ui/pictures/start_*.jpg` with one photograph as received at each value. `deno task pictures` runs it.
 */
import { join } from "node:path";
import { decodeArtifact } from "../../lib/artifact/codec.ts";
import { imageSheet, pictureOf } from "../../lib/artifact/image_sheet.ts";
import { encodeJpeg } from "../../lib/artifact/jpeg/encoder.ts";
import { imagesOf } from "../../lib/artifact/values.ts";
import { sha256Json } from "../../lib/contract/hash.ts";
import type { JsonObject, Value } from "../../lib/contract/value.ts";
import { findMetric } from "../../lib/research/catalog.ts";
import { open } from "../../mod.ts";
import { curveFigure } from "../../ui/compare/curve.ts";
import { comparedRun, selectionOf } from "../../ui/compare/table.ts";
import { STARTING_POINTS, startingRecipe } from "../../ui/form/starting_points.ts";
import { startingSource } from "../support/starting_source.ts";

/** Side of a photograph in the strip, and the one that it shows. */
const SIDE = 96, SHOWN = 1;
/** One of so many points of theory is kept. */
const THINNED = 4;

const projectRoot = new URL("../..", import.meta.url).pathname;
const stateDir = await Deno.makeTempDir({ prefix: "svc-figure-" });
const svc = await open({ projectRoot, stateDir });
const results: JsonObject = {};

for (const point of STARTING_POINTS) {
  const recipe = startingRecipe(point, await startingSource(svc, point));
  const { rows } = await svc.recipes.runMatrix(recipe);
  const runs = [];
  for (const { run_id } of rows) {
    const { summary, manifest } = await svc.runs.show(run_id!);
    const documents = { summary, environment: manifest.environment, recipe: await svc.runs.recipe(run_id!) };
    runs.push(comparedRun({ ...documents, task_id: null } as Parameters<typeof comparedRun>[0]));
  }
  const swept = runs.map((run) => ({ ...run, parameters: new Map(Object.entries(selectionOf(run))) }));
  const figure = curveFigure(swept, "snr_db", point.metric, (metric) => findMetric(metric) as never);
  const { source: _, ...drawn } = figure;
  const last = Math.max(
    ...figure.series.flatMap(({ kind, points }) => kind === "theory" ? [] : points.map(({ x }) => x)),
  );
  drawn.series = figure.series.map((series) => ({
    ...series,
    points: series.points.filter(({ x }, at) => series.kind !== "theory" || (x <= last && at % THINNED === 0)),
  }));
  results[point.id] = { recipe_sha256: sha256Json(recipe), figure: rounded(drawn as unknown as Value) };
  const received = runs.map(({ id, outputs }) => {
    const images = outputs.filter(({ kind }) => kind === "image.batch.numpy").at(-1);
    return images && pictureOf(
      imagesOf(decodeArtifact(images.kind, Deno.readFileSync(join(stateDir, "runs", id, images.path)))),
      SHOWN,
    );
  });
  if (received.some((image) => image === undefined)) continue;
  const { width, height, data } = imageSheet([received.map((image) => image!)], SIDE, 0);
  const file = encodeJpeg({ width, height, channels: 3, data }, { quality: 85, subsampling: "444" });
  await Deno.mkdir(new URL("../../ui/pictures/", import.meta.url), { recursive: true });
  await Deno.writeFile(new URL(`../../ui/pictures/start_${point.id}.jpg`, import.meta.url), file);
}
await Deno.writeTextFile(
  new URL("../../ui/pages/start_results.json", import.meta.url),
  `${JSON.stringify(results, null, 1)}\n`,
);
svc.close();
await Deno.remove(stateDir, { recursive: true });

/** Numbers with the digits that a card shows. */
function rounded(value: Value): Value {
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value === "number") return Number(value.toPrecision(4));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rounded(one as Value)])) as Value;
}
