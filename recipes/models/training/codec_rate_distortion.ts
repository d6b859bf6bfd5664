/**
 * Rate against distortion of a bundled image codec and of JPEG at the same bits. Writes into the folder of the codec:
 * `training/rate_distortion.csv` of two whole photographs, `training/unseen.csv` of the twelve photographs of
 * `svc_test_photographs`, which no network was trained on, and the figure `rate_distortion.svg`. The mean differences over
 * the twelve are printed with 95 % t intervals over photographs.
 *
 *     deno run -A recipes/models/training/codec_rate_distortion.ts svc_tiny_hyperprior_high [--check]
 *
 * With --check nothing is written: the stored networks code one photograph at four qualities again, and rate, PSNR and SSIM
 * must be the stored ones.
 *
 * JPEG has its strong setting (no header and tables, full or half size) and the largest quality that fits the bits that
 * the learned codec takes for the same photograph. Rates count the coded image alone.
 */
import { type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { figureSpec } from "../../../lib/figure/spec.ts";
import { STYLES } from "../../../lib/figure/style.ts";
import { renderSvg } from "../../../lib/figure/svg.ts";
import type { Figure } from "../../../lib/figure/types.ts";
import { studentT } from "../../../lib/numeric/scores/inference.ts";
import { closeOnnxSessions } from "../../../lib/onnx/session.ts";
import { open } from "../../../mod.ts";

/** Folder, multiple of the sides, and qualities at which --check codes again. */
const CODECS: Record<string, { folder: string; multiple: number }> = {
  svc_tiny_hyperprior: { folder: "svc-tiny-hyperprior-v1", multiple: 32 },
  svc_tiny_hyperprior_high: { folder: "svc-tiny-hyperprior-high-v1", multiple: 16 },
};
const QUALITIES = [1, 2, 3, 4, 5, 6, 7, 8], CHECKED = [1, 3, 5, 8];
/** Bytes of the container of one image, which rates leave out. */
const CONTAINER_BYTES = 17;
const UNSEEN = "bridge,brushes,dandelion,dogs,dragonfly,drum,fig,mountain,nuthatch,path,stream,sunset".split(",");
const HEAD = "photograph,codec,quality,bpp,psnr_db,ssim";

interface Row {
  id: string;
  codec: string;
  quality: number;
  bpp: number;
  psnr_db: number;
  ssim: number;
}

const [codec, option] = Deno.args;
if (!Object.hasOwn(CODECS, codec ?? "") || (option !== undefined && option !== "--check")) {
  throw new Error(`Name one of ${Object.keys(CODECS).join(", ")}, and --check or nothing`);
}
const { folder: name, multiple } = CODECS[codec], folder = new URL(`../${name}/`, import.meta.url);
const projectRoot = new URL("../../../", import.meta.url).pathname;
const stateDir = await Deno.makeTempDir({ prefix: "svc-rate-" });
const svc = await open({ projectRoot, stateDir });

async function measure(
  operation: "codeclib" | "jpeg",
  source: JsonObject,
  params: JsonObject,
): Promise<Omit<Row, "quality">> {
  const { status, summary } = await svc.recipes.run({
    name: `rate_distortion_${operation}`,
    metadata: { seed: 23 },
    steps: [
      { id: "data", op: "source.image_dataset", params: source },
      { id: "sender", op: `model.${operation}_encode`, inputs: { images: "data.images" }, params },
      {
        id: "receiver",
        op: `model.${operation}_decode`,
        inputs: { bits: "sender.bits" },
        params: operation === "jpeg" ? { on_error: "gray_image" } : {},
      },
      {
        id: "score",
        op: "metrics.image_reconstruction",
        inputs: { reference: "data.images", reconstruction: "receiver.images" },
      },
    ],
  });
  if (status !== "completed") throw new Error(`${source.image_ids} by ${operation}: ${summary.error}`);
  const steps = summary.steps as { id: string; metrics: Record<string, number> }[];
  const value = (step: string, id: string) => toNumber(steps.find((row) => row.id === step)!.metrics[id]);
  return {
    id: source.image_ids as string,
    codec: operation === "jpeg" ? "jpeg" : codec,
    bpp: value("sender", "rate.native_codec_bpp"),
    psnr_db: value("score", "quality.psnr_db"),
    ssim: value("score", "quality.ssim"),
  };
}

const coded = async (source: JsonObject, quality: number): Promise<Row> => ({
  ...await measure("codeclib", source, { model: codec, quality, pad_to_multiple: multiple }),
  quality,
});

/** Both codecs at the bits of the learned one. */
async function atEqualBits(source: JsonObject, pixels: number, quality: number): Promise<[Row, Row]> {
  const own = await coded(source, quality);
  const jpeg = await measure("jpeg", source, {
    stream: "abbreviated",
    half_size: true,
    wire_format: "compact_binary_v1",
    target_bpp: own.bpp + CONTAINER_BYTES * 8 / pixels,
  });
  return [own, { ...jpeg, quality }];
}

const line = ({ id, codec, quality, bpp, psnr_db, ssim }: Row) =>
  [id, codec, quality, bpp.toFixed(4), psnr_db.toFixed(3), ssim.toFixed(4)].join(",");
const write = (file: string, rows: readonly Row[]) =>
  Deno.writeTextFile(new URL(`training/${file}`, folder), [HEAD, ...rows.map(line), ""].join("\n"));

async function check(): Promise<void> {
  const stored = (await Deno.readTextFile(new URL("training/rate_distortion.csv", folder))).split("\n");
  for (const quality of CHECKED) {
    const found = line(await coded({ dataset: "svc_sample_images", image_ids: "chelsea" }, quality));
    if (!stored.includes(found)) {
      throw new Error(`The stored networks give ${found}, which is not in rate_distortion.csv`);
    }
    console.log(found);
  }
}

async function wholePhotographs(): Promise<void> {
  const rows: Row[] = [];
  for (const [photograph, pixels] of [["chelsea", 451 * 300], ["camera", 512 * 512]] as const) {
    for (const quality of QUALITIES) {
      rows.push(...await atEqualBits({ dataset: "svc_sample_images", image_ids: photograph }, pixels, quality));
    }
  }
  await write("rate_distortion.csv", rows);
  const curve = (codec: string) =>
    rows.filter((row) => row.id === "chelsea" && row.codec === codec)
      .map(({ bpp, psnr_db }) => ({ x: bpp, y: psnr_db, low: null, high: null }));
  const figure: Figure = {
    type: "rate-distortion",
    title: "A photograph that training never saw",
    subtitle: "chelsea, 451 x 300 pixels",
    source: { script: "training/codec_rate_distortion.ts" },
    form: "curves",
    x: { title: "Rate", unit: "bit/pixel", scale: "linear", domain: null },
    y: { title: "PSNR", unit: "dB", scale: "linear", domain: null },
    series: [
      { label: codec, kind: "measured", points: curve(codec) },
      { label: "JPEG without header and tables, full or half size", kind: "baseline", points: curve("jpeg") },
    ],
    step: false,
    front: null,
  };
  const style = STYLES.svc;
  await Deno.writeTextFile(new URL("rate_distortion.svg", folder), await renderSvg(figureSpec(figure, style), style));
}

async function unseenPhotographs(): Promise<void> {
  const rows: Row[] = [];
  const shown = (values: number[], digits: number) => {
    const { mean, high } = studentT(values);
    return `${mean.toFixed(digits)} ± ${(high! - mean).toFixed(digits)}`;
  };
  for (const quality of QUALITIES) {
    const pairs: [Row, Row][] = [];
    for (const image_ids of UNSEEN) {
      pairs.push(await atEqualBits({ dataset: "svc_test_photographs", image_ids }, 256 * 256, quality));
    }
    rows.push(...pairs.flat());
    console.log(
      `quality ${quality}: ${shown(pairs.map(([own]) => own.bpp), 3)} bit/pixel,`,
      `codec ${shown(pairs.map(([own]) => own.psnr_db), 2)} dB,`,
      `JPEG ${shown(pairs.map(([, jpeg]) => jpeg.psnr_db), 2)} dB,`,
      `difference ${shown(pairs.map(([own, jpeg]) => own.psnr_db - jpeg.psnr_db), 2)} dB,`,
      `SSIM ${shown(pairs.map(([own, jpeg]) => own.ssim - jpeg.ssim), 3)}`,
    );
  }
  await write("unseen.csv", rows);
}

if (option === "--check") await check();
else {
  await wholePhotographs();
  await unseenPhotographs();
}
await svc.close();
await Deno.remove(stateDir, { recursive: true });
await closeOnnxSessions();
