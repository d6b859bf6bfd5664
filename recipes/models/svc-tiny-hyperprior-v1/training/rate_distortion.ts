/**
 * Rate against distortion of svc_tiny_hyperprior and of JPEG, whole photographs: writes `rate_distortion.csv` beside this
 * script, and the figure of the test photograph beside the package.
 *
 *     deno run -A recipes/models/svc-tiny-hyperprior-v1/training/rate_distortion.ts
 *
 * JPEG has tables fitted to each picture and progressive scans, the smallest files that it gives. Rates count the coded
 * picture alone, for JPEG with its header.
 */
import { figureSpec } from "../../../../lib/figure/spec.ts";
import { STYLES } from "../../../../lib/figure/style.ts";
import { renderSvg } from "../../../../lib/figure/svg.ts";
import type { Figure } from "../../../../lib/figure/types.ts";
import { closeOnnxSessions } from "../../../../lib/onnx/session.ts";
import { toNumber } from "../../../../lib/contract/value.ts";
import { run } from "../../../../mod.ts";

const PHOTOGRAPHS = ["chelsea", "camera"];
const QUALITIES = [1, 2, 3, 4, 5, 6, 7, 8], JPEG_QUALITIES = [2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 75];
const MULTIPLE = 32;

interface Row {
  photograph: string;
  codec: string;
  quality: number;
  bpp: number;
  psnr_db: number;
  ssim: number;
}

async function measure(
  photograph: string,
  codec: "codeclib" | "jpeg",
  quality: number,
  stateDir: string,
): Promise<Row> {
  const own = codec === "codeclib";
  const params = own
    ? { model: "svc_tiny_hyperprior", quality, pad_to_multiple: MULTIPLE }
    : { quality, optimize: true, progressive: true };
  const recipe = {
    name: `rate_distortion_${codec}`,
    metadata: { seed: 23 },
    steps: [
      { id: "data", op: "source.image_dataset", params: { dataset: "svc_sample_images", image_ids: photograph } },
      { id: "sender", op: `model.${codec}_encode`, inputs: { images: "data.images" }, params },
      { id: "receiver", op: `model.${codec}_decode`, inputs: { bits: "sender.bits" } },
      {
        id: "score",
        op: "metrics.image_reconstruction",
        inputs: { reference: "data.images", reconstruction: "receiver.images" },
      },
    ],
  };
  const { status, summary } = await run(recipe, { stateDir });
  if (status !== "completed") throw new Error(`${photograph} by ${codec} of quality ${quality}: ${summary.error}`);
  const steps = summary.steps as { id: string; metrics: Record<string, number> }[];
  const value = (step: string, id: string) => toNumber(steps.find((row) => row.id === step)!.metrics[id]);
  return {
    photograph,
    codec: own ? "svc_tiny_hyperprior" : "jpeg",
    quality,
    bpp: value("sender", "rate.native_codec_bpp"),
    psnr_db: value("score", "quality.psnr_db"),
    ssim: value("score", "quality.ssim"),
  };
}

const stateDir = await Deno.makeTempDir({ prefix: "svc-rate-" });
const rows: Row[] = [];
for (const photograph of PHOTOGRAPHS) {
  for (const quality of QUALITIES) rows.push(await measure(photograph, "codeclib", quality, stateDir));
  for (const quality of JPEG_QUALITIES) rows.push(await measure(photograph, "jpeg", quality, stateDir));
}
await Deno.remove(stateDir, { recursive: true });
await closeOnnxSessions();

const lines = rows.map(({ photograph, codec, quality, bpp, psnr_db, ssim }) =>
  [photograph, codec, quality, bpp.toFixed(4), psnr_db.toFixed(3), ssim.toFixed(4)].join(",")
);
const csv = ["photograph,codec,quality,bpp,psnr_db,ssim", ...lines, ""].join("\n");
await Deno.writeTextFile(new URL("rate_distortion.csv", import.meta.url), csv);

const curve = (codec: string) =>
  rows.filter((row) => row.photograph === "chelsea" && row.codec === codec)
    .map(({ bpp, psnr_db }) => ({ x: bpp, y: psnr_db, low: null, high: null }));
const figure: Figure = {
  type: "rate-distortion",
  title: "A photograph that training never saw",
  subtitle: "chelsea, 451 x 300 pixels",
  source: { script: "training/rate_distortion.ts" },
  form: "curves",
  x: { title: "Rate", unit: "bit/pixel", scale: "linear", domain: null },
  y: { title: "PSNR", unit: "dB", scale: "linear", domain: null },
  series: [
    { label: "svc_tiny_hyperprior", kind: "measured", points: curve("svc_tiny_hyperprior") },
    { label: "JPEG, optimised and progressive", kind: "baseline", points: curve("jpeg") },
  ],
  step: false,
  front: null,
};
const style = STYLES.svc;
await Deno.writeTextFile(
  new URL("../rate_distortion.svg", import.meta.url),
  await renderSvg(figureSpec(figure, style), style),
);
