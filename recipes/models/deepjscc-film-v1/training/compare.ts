/**
 * deepjscc-film-v1 against JPEG, WebP and AVIF over a coded digital link, at half a channel use per pixel, on the twelve
 * photographs of `svc_test_photographs`: writes `comparison.csv` beside this script and the figure of slow fading beside the
 * package.
 *
 *     deno run -A recipes/models/deepjscc-film-v1/training/compare.ts
 *
 * The networks run in their starter recipes. The codecs have their strong setting: streams without the headers and tables that
 * the receiver knows, full or half size, and the largest quality that fits. Their link is that of a good code of finite length,
 * 1 dB from capacity: η bits per channel use arrive from an Es/N0 of 2^η - 1 plus 1 dB on, and nothing below it; then
 * the receiver shows the mean colours of the photograph. With `fixed` one η serves all fades and photographs, the best one in
 * mean PSNR for the mean Es/N0. With `adapted` the sender knows every fade and takes the largest η that arrives. Means over
 * fades are exact for the codecs; the networks meet eight random fades a photograph.
 *
 * Scenarios: `fading`, one Rayleigh gain an image with a known mean Es/N0; `awgn` with a known Es/N0; `wrong`, AWGN of which
 * the sender assumes 8 dB. Intervals are 95 % t intervals over photographs.
 */
import { join } from "node:path";
import { decodeArtifact } from "../../../../lib/artifact/codec.ts";
import { imageAt, type ImageBatch, imagesOf } from "../../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../../lib/contract/value.ts";
import { figureSpec } from "../../../../lib/figure/spec.ts";
import { STYLES } from "../../../../lib/figure/style.ts";
import { renderSvg } from "../../../../lib/figure/svg.ts";
import type { Figure } from "../../../../lib/figure/types.ts";
import { dbToLinear } from "../../../../lib/numeric/decibel.ts";
import { psnrDb, sampleErrors, structuralSimilarity } from "../../../../lib/numeric/image_quality.ts";
import { studentQuantile } from "../../../../lib/numeric/student_t.ts";
import { closeOnnxSessions } from "../../../../lib/onnx/session.ts";
import { readRecipeText } from "../../../../lib/recipe/read.ts";
import { open } from "../../../../mod.ts";

const SNR_DB = [-4, 0, 4, 8, 12, 16], ASSUMED_DB = 8, USES_PER_PIXEL = 0.5, FADES = 8, GAP_DB = 1;
const EFFICIENCIES = [0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5];
const CODECS = ["jpeg", "webp", "avif"] as const, PHOTOGRAPHS = 12;
const SOURCE = { dataset: "svc_test_photographs", image_ids: "", split: "test" };

/** Quality of each photograph. */
interface Scores {
  psnr_db: number[];
  ms_ssim: number[];
}

const projectRoot = new URL("../../../../", import.meta.url).pathname;
const stateDir = await Deno.makeTempDir({ prefix: "svc-compare-" });
const svc = await open({ projectRoot, stateDir });

async function imagesFrom(recipe: JsonObject, outputs: string[]): Promise<ImageBatch[]> {
  const { status, directory, summary } = await svc.recipes.run(recipe);
  if (status !== "completed") throw new Error(`${recipe.name}: ${summary.error}`);
  return await Promise.all(
    outputs.map(async (path) =>
      imagesOf(decodeArtifact("image.batch.numpy", await Deno.readFile(join(directory, "artifacts", path))))
    ),
  );
}

/** Scores of every photograph; the candidate repeats all photographs one or more times. */
function scoresOf(reference: ImageBatch, candidate: (image: number) => Uint8Array, repeats = 1): Scores {
  const scores: Scores = { psnr_db: [], ms_ssim: [] };
  for (let photograph = 0; photograph < PHOTOGRAPHS; photograph++) {
    let psnr = 0, ms = 0;
    for (let repeat = 0; repeat < repeats; repeat++) {
      const x = imageAt(reference, photograph) as Uint8Array, y = candidate(repeat * PHOTOGRAPHS + photograph);
      psnr += psnrDb(sampleErrors(x, y).mse, 255) / repeats;
      ms += structuralSimilarity(x, y, reference, 255).msSsim! / repeats;
    }
    scores.psnr_db.push(psnr);
    scores.ms_ssim.push(ms);
  }
  return scores;
}

/** A codec at each efficiency, and the photographs of which nothing fits, which count as lost. */
async function codedAt(codec: string, efficiency: number): Promise<Scores> {
  const [reference, decoded] = await imagesFrom({
    name: `compare_${codec}`,
    metadata: { seed: 23 },
    steps: [
      { id: "data", op: "source.image_dataset", params: SOURCE },
      {
        id: "sender",
        op: `model.${codec}_encode`,
        inputs: { images: "data.images" },
        params: {
          stream: "abbreviated",
          half_size: true,
          wire_format: "compact_binary_v1",
          target_bpp: USES_PER_PIXEL * efficiency,
        },
      },
      {
        id: "receiver",
        op: `model.${codec}_decode`,
        inputs: { bits: "sender.bits" },
        params: { on_error: "gray_image" },
      },
    ],
  }, ["data/images.npz", "receiver/images.npz"]);
  return scoresOf(reference, (image) => imageAt(decoded, image) as Uint8Array);
}

async function networksAt(scenario: string, snr: number): Promise<Scores> {
  const starter = scenario === "fading" ? "deepjscc_slow_rayleigh" : "deepjscc_awgn";
  const text = await Deno.readTextFile(join(projectRoot, `recipes/recipe_starters/${starter}.yaml`));
  const recipe = readRecipeText(text, { file: starter }).value as JsonObject & {
    metadata: JsonObject;
    steps: { id: string; params: JsonObject }[];
  };
  const { matrix: _, ...metadata } = recipe.metadata;
  const repeats = scenario === "fading" ? FADES : 1;
  const set = (id: string, params: JsonObject) =>
    Object.assign(recipe.steps.find((step) => step.id === id)!.params, params);
  set("source", { ...SOURCE, crop_size: 0, repeat_count: repeats });
  set("wireless_channel", { snr_db: snr });
  set("sender", { snr_db: scenario === "wrong" ? ASSUMED_DB : snr });
  const outputs = ["source/images.npz", "receiver/images.npz"];
  const [reference, received] = await imagesFrom({ ...recipe, metadata: { ...metadata, seed: 23 } }, outputs);
  return scoresOf(reference, (image) => imageAt(received, image) as Uint8Array, repeats);
}

const thresholds = EFFICIENCIES.map((efficiency) => (2 ** efficiency - 1) * dbToLinear(GAP_DB));
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Scores weighted with probabilities; the rest is lost. */
function mixed(coded: Scores[], shares: number[], lost: Scores): Scores {
  const missing = 1 - shares.reduce((sum, share) => sum + share, 0);
  const mix = (key: keyof Scores) =>
    lost[key].map((value, i) => shares.reduce((sum, share, k) => sum + share * coded[k][key][i], missing * value));
  return { psnr_db: mix("psnr_db"), ms_ssim: mix("ms_ssim") };
}

/** A fixed and an adapted rate of one codec, at one Es/N0. */
function digital(scenario: string, snr: number, coded: Scores[], lost: Scores): Record<string, Scores> {
  const level = dbToLinear(snr), only = (index: number) => thresholds.map((_, k) => k === index ? 1 : 0);
  const highest = (limit: number) => thresholds.findLastIndex((threshold) => threshold <= limit);
  if (scenario === "awgn") return { adapted: mixed(coded, only(highest(level)), lost) };
  if (scenario === "wrong") {
    const chosen = highest(dbToLinear(ASSUMED_DB));
    return { fixed: mixed(coded, only(thresholds[chosen] <= level ? chosen : -1), lost) };
  }
  const survival = thresholds.map((threshold) => Math.exp(-threshold / level));
  const fixed = survival.map((share, k) => mixed(coded, only(k).map((one) => one * share), lost));
  const best = fixed.reduce((found, one) => mean(one.psnr_db) > mean(found.psnr_db) ? one : found);
  return { fixed: best, adapted: mixed(coded, survival.map((share, k) => share - (survival[k + 1] ?? 0)), lost) };
}

const rows: { scenario: string; snr_db: number; method: string; scores: Scores }[] = [];
const [photographs] = await imagesFrom({
  name: "compare_source",
  metadata: { seed: 23 },
  steps: [{ id: "data", op: "source.image_dataset", params: SOURCE }],
}, ["data/images.npz"]);
const lost = scoresOf(photographs, (image) => {
  const samples = imageAt(photographs, image) as Uint8Array;
  const colour = [0, 1, 2].map((channel) => Math.round(mean(Array.from(samples).filter((_, i) => i % 3 === channel))));
  return samples.map((_, i) => colour[i % 3]);
});
for (const codec of CODECS) {
  const coded: Scores[] = [];
  for (const efficiency of EFFICIENCIES) {
    const found = await codedAt(codec, efficiency);
    // An image that does not fit was replaced by grey; the mean colours are better.
    const better = (key: keyof Scores) => found[key].map((value, i) => Math.max(value, lost[key][i]));
    coded.push({ psnr_db: better("psnr_db"), ms_ssim: better("ms_ssim") });
    console.log(codec, efficiency, mean(coded.at(-1)!.psnr_db).toFixed(2));
  }
  for (const scenario of ["fading", "awgn", "wrong"]) {
    for (const snr of SNR_DB) {
      for (const [kind, scores] of Object.entries(digital(scenario, snr, coded, lost))) {
        rows.push({ scenario, snr_db: snr, method: `${codec}_${kind}`, scores });
      }
    }
  }
}
for (const scenario of ["fading", "awgn", "wrong"]) {
  for (const snr of SNR_DB) {
    rows.push({ scenario, snr_db: snr, method: "deepjscc-film-v1", scores: await networksAt(scenario, snr) });
    console.log(scenario, snr, mean(rows.at(-1)!.scores.psnr_db).toFixed(2));
  }
}
await closeOnnxSessions();
svc.close();
await Deno.remove(stateDir, { recursive: true });

const t = studentQuantile(0.975, PHOTOGRAPHS - 1);
const half = (values: number[]) => {
  const centre = mean(values), variance = mean(values.map((value) => (value - centre) ** 2));
  return t * Math.sqrt(variance / (values.length - 1));
};
const lines = rows.map(({ scenario, snr_db, method, scores }) => {
  const networks = rows.find((row) =>
    row.scenario === scenario && row.snr_db === snr_db && row.method === "deepjscc-film-v1"
  )!;
  const gain = networks.scores.psnr_db.map((value, i) => value - scores.psnr_db[i]);
  const cells = [
    mean(scores.psnr_db),
    half(scores.psnr_db),
    mean(scores.ms_ssim),
    half(scores.ms_ssim),
    mean(gain),
    half(gain),
  ];
  return [scenario, snr_db, method, ...cells.map((cell) => cell.toFixed(4))].join(",");
});
const head =
  "scenario,snr_db,method,psnr_db,psnr_half_width_db,ms_ssim,ms_ssim_half_width,networks_minus_method_db,difference_half_width_db";
await Deno.writeTextFile(new URL("comparison.csv", import.meta.url), [head, ...lines, ""].join("\n"));

const figure: Figure = {
  type: "graceful-degradation",
  title: "Slow fading, half a channel use per pixel",
  subtitle: "twelve photographs that training never saw; the sender knows the mean Es/N0, not the fade",
  source: { script: "training/compare.ts" },
  form: "curves",
  x: { title: "Mean Es/N0", unit: "dB", scale: "linear", domain: null },
  y: { title: "PSNR", unit: "dB", scale: "linear", domain: null },
  series: ["deepjscc-film-v1", ...CODECS.map((codec) => `${codec}_fixed`)].map((method) => ({
    label: method.endsWith("_fixed") ? `${method.slice(0, -6).toUpperCase()}, best fixed rate` : method,
    kind: method.endsWith("_fixed") ? "baseline" as const : "measured" as const,
    points: rows.filter((row) => row.scenario === "fading" && row.method === method).map(({ snr_db, scores }) => {
      const y = mean(scores.psnr_db);
      return { x: snr_db, y, low: null, high: null };
    }),
  })),
  step: false,
  front: null,
};
await Deno.writeTextFile(
  new URL("../slow_fading.svg", import.meta.url),
  await renderSvg(figureSpec(figure, STYLES.svc), STYLES.svc),
);
