/**
 * deepjscc-film-v1 and the untrained linear analog code against JPEG, WebP and AVIF over a coded digital link, at half a channel
 * use per pixel, on the twelve photographs of `svc_test_photographs`: writes `comparison.csv` beside this script and the figures of
 * slow fading beside the package.
 *
 *     deno run -A recipes/models/deepjscc-film-v1/training/compare.ts
 *
 * The codecs have their strong setting: streams without the headers and tables that the receiver knows, full or half size, and the
 * largest quality that fits. Their rate η is continuous: 44 values from 0.08 to 8 bits per channel use and those of each known
 * Es/N0. Their link is that of a good code of finite length, 1 dB from capacity: η bits per channel use arrive from an Es/N0 of
 * 2^η - 1 plus 1 dB on, and nothing below it; then the receiver shows the mean colours of the photograph. With `fixed` one η serves
 * all fades and photographs, the best one in mean PSNR for the mean Es/N0. With `adapted` the sender knows the fade.
 *
 * Scenarios: `fading`, one Rayleigh gain an image with a known mean Es/N0; `awgn` with a known Es/N0; `wrong`, AWGN of which the
 * sender assumes 8 dB; `peak`, `fading` where all transmitters have the same peak power per symbol instead of the same mean
 * power. There the digital link sends QAM, 1 dB from the capacity of its points, and analog symbols pass a limiter of their envelope
 * at 5, 8, 11 or 14 dB over their mean power, the best one.
 *
 * Means over fades are integrals. Those of digital links with a fixed rate have the closed form exp(-threshold/mean). Networks and linear code are
 * evaluated at the gains 10^(-2.7 … 0.9), 3 dB apart, each as AWGN; the trapezoidal rule over the logarithm of the gain, whose
 * error falls exponentially with the step, weighs them. Intervals are 95 % t intervals over photographs.
 */
import { join } from "node:path";
import { decodeArtifact } from "../../../../lib/artifact/codec.ts";
import { imageAt, type ImageBatch, imagesOf } from "../../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../../lib/contract/value.ts";
import { figureSpec } from "../../../../lib/figure/spec.ts";
import { STYLES } from "../../../../lib/figure/style.ts";
import { renderSvg } from "../../../../lib/figure/svg.ts";
import type { Figure } from "../../../../lib/figure/types.ts";
import { dbToLinear } from "../../../../lib/numeric/link/decibel.ts";
import { gaussHermite } from "../../../../lib/numeric/linalg/gauss_hermite.ts";
import { psnrDb, sampleErrors, structuralSimilarity } from "../../../../lib/numeric/scores/image_quality.ts";
import { studentQuantile } from "../../../../lib/numeric/scores/student_t.ts";
import { closeOnnxSessions } from "../../../../lib/onnx/session.ts";
import { readRecipeText } from "../../../../lib/recipe/read.ts";
import { open } from "../../../../mod.ts";

const SNR_DB = [-4, 0, 4, 8, 12, 16], PEAK_DB = [0, 4, 8, 12, 16, 20], ASSUMED_DB = 8, USES_PER_PIXEL = 0.5;
const CODECS = ["jpeg", "webp", "avif"] as const, ANALOG = ["deepjscc-film-v1", "linear_analog"] as const;
const LIMITS_DB = [5, 8, 11, 14], PHOTOGRAPHS = 12;
const SOURCE = { dataset: "svc_test_photographs", image_ids: "", split: "test" };
const GAP = dbToLinear(1);
const rateAt = (snrDb: number) => Math.log2(1 + dbToLinear(snrDb) / GAP);
/** Bits per channel use. */
const RATES = [...Array.from({ length: 44 }, (_, i) => 0.08 * 100 ** (i / 43)), ...SNR_DB.map(rateAt)].sort((a, b) =>
  a - b
);

/** Gains of the fading in dB, and their weights: the density of ln g is g·exp(-g); the rest is below. */
const GAINS_DB = Array.from({ length: 13 }, (_, i) => 3 * i - 27);
const WEIGHTS = GAINS_DB.map((gain) => dbToLinear(gain) * Math.exp(-dbToLinear(gain)) * 0.3 * Math.LN10);
WEIGHTS[0] += 1 - WEIGHTS.reduce((sum, weight) => sum + weight, 0);

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

function scoresOf(reference: ImageBatch, candidate: (image: number) => Uint8Array): Scores {
  const scores: Scores = { psnr_db: [], ms_ssim: [] };
  for (let photograph = 0; photograph < PHOTOGRAPHS; photograph++) {
    const x = imageAt(reference, photograph) as Uint8Array, y = candidate(photograph);
    scores.psnr_db.push(psnrDb(sampleErrors(x, y).mse, 255));
    scores.ms_ssim.push(structuralSimilarity(x, y, reference, 255).msSsim!);
  }
  return scores;
}

/** A codec at a rate; photographs of which nothing fits become grey. */
async function codedAt(codec: string, rate: number): Promise<Scores> {
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
          target_bpp: USES_PER_PIXEL * rate,
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

const STARTERS = { "deepjscc-film-v1": "recipe_starters/deepjscc_awgn", linear_analog: "image_linear_analog_awgn" };

/**
 * An analog method over AWGN of several Es/N0, the same symbols for all.
 * @param assumed Es/N0 in dB that the sender assumes
 * @param limit envelope over the mean power in dB at which symbols are limited
 */
async function analogAt(
  method: typeof ANALOG[number],
  assumed: number,
  snrs: number[],
  limit?: number,
): Promise<Scores[]> {
  const text = await Deno.readTextFile(join(projectRoot, `recipes/${STARTERS[method]}.yaml`));
  const recipe = readRecipeText(text, { file: method }).value as JsonObject & {
    steps: (JsonObject & { id: string })[];
  };
  const step = (id: string) => recipe.steps.find((one) => one.id === id)!;
  const source = { ...step("source"), params: SOURCE };
  const sender = step("sender"), channel = step("wireless_channel"), receiver = step("receiver");
  const network: JsonObject = method === "linear_analog" ? {} : { snr_db: assumed };
  const limiter = { id: "limiter", op: "hardware.envelope_clip", params: { clip_ratio_db: limit ?? 0 } };
  const outputs = snrs.map((_, i) => `receiver_${i}/images.npz`);
  const [reference, ...received] = await imagesFrom({
    name: `compare_${method.replaceAll("-", "_")}`,
    metadata: { seed: 23 },
    steps: [
      source,
      { ...sender, params: { ...sender.params as JsonObject, ...network } },
      step("tx_power"),
      ...limit === undefined ? [] : [{ ...limiter, inputs: { signal: "tx_power.symbols" } }],
      ...snrs.flatMap((snr_db, i) => [
        {
          ...channel,
          id: `channel_${i}`,
          params: { channel: "awgn", snr_db },
          inputs: { symbols: limit === undefined ? "tx_power.symbols" : "limiter.signal" },
        },
        { ...receiver, id: `receiver_${i}`, inputs: { symbols: `channel_${i}.rx_symbols` } },
      ]),
    ],
  }, ["source/images.npz", ...outputs]);
  return received.map((images) => scoresOf(reference, (image) => imageAt(images, image) as Uint8Array));
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Weighted sums of scores. */
function mixed(parts: Scores[], weights: number[]): Scores {
  const mix = (key: keyof Scores) =>
    parts[0][key].map((_, i) => parts.reduce((sum, part, k) => sum + weights[k] * part[key][i], 0));
  return { psnr_db: mix("psnr_db"), ms_ssim: mix("ms_ssim") };
}
const better = (a: Scores, b: Scores) => mean(b.psnr_db) > mean(a.psnr_db) ? b : a;

/** Mean over the fades of an analog method. */
async function analogFading(method: typeof ANALOG[number], meanSnr: number, limit?: number): Promise<Scores> {
  return mixed(await analogAt(method, meanSnr, GAINS_DB.map((gain) => meanSnr + gain), limit), WEIGHTS);
}

/** Bits per symbol of 2^bits equally likely amplitudes of mean power 1/2, at noise of variance n0/2. */
function amplitudeInformation(bits: number, n0: number): number {
  const size = 2 ** bits, scale = Math.sqrt(1.5 / (size ** 2 - 1)), { nodes, weights } = RULE;
  const points = Array.from({ length: size }, (_, i) => (2 * i - size + 1) * scale);
  let loss = 0;
  for (const x of points) {
    nodes.forEach((node, k) => {
      const noise = node * Math.sqrt(n0);
      const sum = points.reduce((all, y) => all + Math.exp((noise ** 2 - (x - y + noise) ** 2) / n0), 0);
      loss += weights[k] / Math.sqrt(Math.PI) / size * Math.log2(sum);
    });
  }
  return bits - loss;
}
const RULE = gaussHermite(64);

/** Es/N0 of the peak power from which a rate arrives: the best of 4, 16, 64 and 256QAM. */
function peakThreshold(rate: number): number {
  const found = [1, 2, 3, 4].filter((bits) => 2 * bits > 1.02 * rate).map((bits) => {
    let low = -30, high = 60;
    while (high - low > 1e-3) {
      const middle = (low + high) / 2;
      if (2 * amplitudeInformation(bits, dbToLinear(-middle)) < rate) low = middle;
      else high = middle;
    }
    const size = 2 ** bits, peak = 3 * (size - 1) / (size + 1);
    return dbToLinear(high) * GAP * peak;
  });
  return Math.min(...found);
}
const thresholds = RATES.map((rate) => (2 ** rate - 1) * GAP), peakThresholds = RATES.map(peakThreshold);

/** The best fixed rate in fading. */
function fixedRate(coded: Scores[], lost: Scores, needed: number[], level: number): Scores {
  const each = needed.map((threshold, k) => {
    const share = Math.exp(-threshold / level);
    return mixed([coded[k], lost], [share, 1 - share]);
  });
  return each.reduce(better);
}

/** A rate that follows the fade: scores are linear in the rate between those of the table. */
function adaptedRate(coded: Scores[], lost: Scores, level: number): Scores {
  const parts = [lost, ...coded], weights = parts.map(() => 0), steps = 4000;
  for (let i = 0; i < steps; i++) {
    const rate = Math.log2(1 - Math.log(1 - (i + 0.5) / steps) * level / GAP);
    const above = RATES.findIndex((one) => one > rate), at = above < 0 ? RATES.length : above;
    const share = above < 1 ? 0 : (rate - RATES[above - 1]) / (RATES[above] - RATES[above - 1]);
    weights[at] += (1 - share) / steps;
    if (share > 0) weights[at + 1] += share / steps;
  }
  return mixed(parts, weights);
}

const rows: { scenario: string; snr_db: number; method: string; scores: Scores }[] = [];
function add(scenario: string, snr_db: number, method: string, scores: Scores) {
  rows.push({ scenario, snr_db, method, scores });
  console.log(scenario, snr_db, method, mean(scores.psnr_db).toFixed(2));
}

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
  for (const rate of RATES) {
    const found = await codedAt(codec, rate);
    // An image that does not fit was replaced by grey; the mean colours are better.
    const best = (key: keyof Scores) => found[key].map((value, i) => Math.max(value, lost[key][i]));
    coded.push({ psnr_db: best("psnr_db"), ms_ssim: best("ms_ssim") });
    console.log(codec, rate.toFixed(3), mean(coded.at(-1)!.psnr_db).toFixed(2));
  }
  const known = (snr: number) => coded[RATES.indexOf(rateAt(snr))];
  for (const snr of SNR_DB) {
    add("fading", snr, `${codec}_fixed`, fixedRate(coded, lost, thresholds, dbToLinear(snr)));
    add("fading", snr, `${codec}_adapted`, adaptedRate(coded, lost, dbToLinear(snr)));
    add("awgn", snr, `${codec}_adapted`, known(snr));
    add("wrong", snr, `${codec}_fixed`, snr >= ASSUMED_DB ? known(ASSUMED_DB) : lost);
  }
  for (const snr of PEAK_DB) {
    add("peak", snr, `${codec}_fixed`, fixedRate(coded, lost, peakThresholds, dbToLinear(snr)));
  }
}
for (const method of ANALOG) {
  for (const snr of SNR_DB) {
    add("fading", snr, method, await analogFading(method, snr));
    add("awgn", snr, method, (await analogAt(method, snr, [snr]))[0]);
  }
  const wrong = await analogAt(method, ASSUMED_DB, SNR_DB);
  SNR_DB.forEach((snr, i) => add("wrong", snr, method, wrong[i]));
  for (const snr of PEAK_DB) {
    const limited: Scores[] = [];
    for (const limit of LIMITS_DB) {
      limited.push(await analogFading(method, snr - limit, limit));
      console.log("limit", limit, mean(limited.at(-1)!.psnr_db).toFixed(2));
    }
    add("peak", snr, method, limited.reduce(better));
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

const LABELS: Record<string, string> = {
  "deepjscc-film-v1": "deepjscc-film-v1",
  linear_analog: "Linear analog, untrained",
  jpeg_fixed: "JPEG, best fixed rate",
  webp_fixed: "WebP, best fixed rate",
  avif_fixed: "AVIF, best fixed rate",
};
for (
  const [scenario, file, axis] of [["fading", "slow_fading", "Mean Es/N0"], [
    "peak",
    "slow_fading_peak",
    "Mean peak Es/N0",
  ]]
) {
  const figure: Figure = {
    type: "graceful-degradation",
    title: `Slow fading, half a channel use per pixel${scenario === "peak" ? ", equal peak power" : ""}`,
    subtitle: "twelve photographs that training never saw; the sender knows the mean Es/N0, not the fade",
    source: { script: "training/compare.ts" },
    form: "curves",
    x: { title: axis, unit: "dB", scale: "linear", domain: null },
    y: { title: "PSNR", unit: "dB", scale: "linear", domain: null },
    series: Object.entries(LABELS).map(([method, label]) => ({
      label,
      kind: method.endsWith("_fixed") ? "baseline" as const : "measured" as const,
      points: rows.filter((row) => row.scenario === scenario && row.method === method).map(({ snr_db, scores }) => {
        const y = mean(scores.psnr_db);
        return { x: snr_db, y, low: null, high: null };
      }),
    })),
    step: false,
    front: null,
  };
  const svg = await renderSvg(figureSpec(figure, STYLES.svc), STYLES.svc);
  await Deno.writeTextFile(new URL(`../${file}.svg`, import.meta.url), svg);
}
