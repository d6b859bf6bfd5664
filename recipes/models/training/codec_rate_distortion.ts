/**
 * Rate against distortion of svc_tiny_hyperprior and of JPEG, whole photographs: writes `rate_distortion.csv` beside this
 * script, and the figure of the test photograph beside the package. With a manifest of other photographs and its digest it
 * prints the mean differences over them, with 95 % t intervals, and writes nothing:
 *
 *     deno run -A recipes/models/svc-tiny-hyperprior-v1/training/rate_distortion.ts [manifest.json sha256]
 *
 * JPEG has its strong setting (no header and tables, full or half size) and the largest quality that fits the bits that
 * the learned codec takes for the same photograph. Rates count the coded image alone.
 */
import { dirname, join } from "node:path";
import { decodeImage } from "../../../../lib/artifact/image_file.ts";
import { figureSpec } from "../../../../lib/figure/spec.ts";
import { STYLES } from "../../../../lib/figure/style.ts";
import { renderSvg } from "../../../../lib/figure/svg.ts";
import type { Figure } from "../../../../lib/figure/types.ts";
import { closeOnnxSessions } from "../../../../lib/onnx/session.ts";
import { type JsonObject, toNumber } from "../../../../lib/contract/value.ts";
import { studentQuantile } from "../../../../lib/numeric/student_t.ts";
import { run } from "../../../../mod.ts";

const QUALITIES = [1, 2, 3, 4, 5, 6, 7, 8];
const MULTIPLE = 32;
/** Bytes of the container of one image, which rates leave out. */
const CONTAINER_BYTES = 17;

interface Score {
  id: string;
  bpp: number;
  psnr_db: number;
  ssim: number;
}

interface Row extends Score {
  codec: string;
  quality: number;
}

const stateDir = await Deno.makeTempDir({ prefix: "svc-rate-" });

async function measure(codec: "codeclib" | "jpeg", source: JsonObject, params: JsonObject): Promise<Score> {
  const recipe = {
    name: `rate_distortion_${codec}`,
    metadata: { seed: 23 },
    steps: [
      { id: "data", op: "source.image_dataset", params: source },
      { id: "sender", op: `model.${codec}_encode`, inputs: { images: "data.images" }, params },
      {
        id: "receiver",
        op: `model.${codec}_decode`,
        inputs: { bits: "sender.bits" },
        params: codec === "jpeg" ? { on_error: "gray_image" } : {},
      },
      {
        id: "score",
        op: "metrics.image_reconstruction",
        inputs: { reference: "data.images", reconstruction: "receiver.images" },
      },
    ],
  };
  const { status, summary } = await run(recipe, { stateDir });
  if (status !== "completed") throw new Error(`${source.image_ids} by ${codec}: ${summary.error}`);
  const steps = summary.steps as { id: string; metrics: Record<string, number> }[];
  const value = (step: string, id: string) => toNumber(steps.find((row) => row.id === step)!.metrics[id]);
  return {
    id: source.image_ids as string,
    bpp: value("sender", "rate.native_codec_bpp"),
    psnr_db: value("score", "quality.psnr_db"),
    ssim: value("score", "quality.ssim"),
  };
}

/** Both codecs at the bits of the learned one. */
async function atEqualBits(source: JsonObject, pixels: number, quality: number): Promise<[Row, Row]> {
  const own = await measure("codeclib", source, { model: "svc_tiny_hyperprior", quality, pad_to_multiple: MULTIPLE });
  const jpeg = await measure("jpeg", source, {
    stream: "abbreviated",
    half_size: true,
    wire_format: "compact_binary_v1",
    target_bpp: own.bpp + CONTAINER_BYTES * 8 / pixels,
  });
  return [{ ...own, codec: "svc_tiny_hyperprior", quality }, { ...jpeg, codec: "jpeg", quality }];
}

const [manifestPath, manifestSha256] = Deno.args;
if (manifestPath !== undefined) {
  const { id, samples } = JSON.parse(await Deno.readTextFile(manifestPath)) as {
    id: string;
    samples: { sample_id: string; path: string }[];
  };
  const t = studentQuantile(0.975, samples.length - 1);
  for (const quality of QUALITIES) {
    const pairs: [Row, Row][] = [];
    for (const { sample_id, path } of samples) {
      const { width, height } = decodeImage(await Deno.readFile(join(dirname(manifestPath), path)));
      const source = {
        dataset: id,
        manifest_path: manifestPath,
        manifest_sha256: manifestSha256,
        image_ids: sample_id,
      };
      pairs.push(await atEqualBits(source, width * height, quality));
    }
    const shown = (values: number[], digits: number) => {
      const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
      const variance = values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (values.length - 1);
      return `${mean.toFixed(digits)} ± ${(t * Math.sqrt(variance / values.length)).toFixed(digits)}`;
    };
    console.log(
      `quality ${quality}: ${shown(pairs.map(([own]) => own.bpp), 3)} bit/pixel,`,
      `codec ${shown(pairs.map(([own]) => own.psnr_db), 2)} dB,`,
      `JPEG ${shown(pairs.map(([, jpeg]) => jpeg.psnr_db), 2)} dB,`,
      `difference ${shown(pairs.map(([own, jpeg]) => own.psnr_db - jpeg.psnr_db), 2)} dB,`,
      `SSIM ${shown(pairs.map(([own, jpeg]) => own.ssim - jpeg.ssim), 3)}`,
    );
  }
  await Deno.remove(stateDir, { recursive: true });
  await closeOnnxSessions();
  Deno.exit(0);
}

const rows: Row[] = [];
for (const [photograph, pixels] of [["chelsea", 451 * 300], ["camera", 512 * 512]] as const) {
  for (const quality of QUALITIES) {
    rows.push(...await atEqualBits({ dataset: "svc_sample_images", image_ids: photograph }, pixels, quality));
  }
}
await Deno.remove(stateDir, { recursive: true });
await closeOnnxSessions();

const lines = rows.map(({ id, codec, quality, bpp, psnr_db, ssim }) =>
  [id, codec, quality, bpp.toFixed(4), psnr_db.toFixed(3), ssim.toFixed(4)].join(",")
);
const csv = ["photograph,codec,quality,bpp,psnr_db,ssim", ...lines, ""].join("\n");
await Deno.writeTextFile(new URL("rate_distortion.csv", import.meta.url), csv);

const curve = (codec: string) =>
  rows.filter((row) => row.id === "chelsea" && row.codec === codec)
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
    { label: "JPEG without header and tables, full or half size", kind: "baseline", points: curve("jpeg") },
  ],
  step: false,
  front: null,
};
const style = STYLES.svc;
await Deno.writeTextFile(
  new URL("../rate_distortion.svg", import.meta.url),
  await renderSvg(figureSpec(figure, style), style),
);
