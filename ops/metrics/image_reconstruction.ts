/**
 * Scores reconstructed images against their originals: PSNR, MSE, MAE, SSIM, MS-SSIM and GMSD, means over the images.
 *
 * MSE and MAE are in units of the samples. The range is that of the type (255 for uint8, 1 for float32) unless
 * `data_range` is set. An exact image scores `psnr_cap_db`, or more if an inexact image of that type and shape could
 * exceed it; their number stands beside the mean. SSIM needs 11 pixels on the shorter side, MS-SSIM five scales of them; undefined values are omitted and
 * counted as skipped. MS-SSIM in dB is the mean over the images of -10 log10(1 - MS-SSIM), at most 99 for each. Formulas and sources: lib/numeric/scores/image_quality.ts.
 */
import { IMAGES } from "../../lib/contract/kinds.ts";
import { diagnostic, float, type JsonObject, z } from "../api.ts";
import { imageAt, type ImageBatch, oneImage, typedMetrics } from "../../lib/artifact/values.ts";
import {
  gradientDeviation,
  isGmsdDefined,
  psnrDb,
  sampleErrors,
  similarityDb,
  structuralSimilarity,
} from "../../lib/numeric/scores/image_quality.ts";
import { defineReport } from "../_report.ts";
import { comparedImages, DATA_RANGE, PSNR_CAP, psnrScale } from "./_compared_images.ts";

export default defineReport({
  id: "metrics.image_reconstruction",
  name: "Image reconstruction scores",
  description: "Scores reconstructions by PSNR, MSE, MAE, SSIM, MS-SSIM and GMSD",
  inputs: { reconstruction: [IMAGES], reference: [IMAGES] },
  params: z.strictObject({
    data_range: DATA_RANGE,
    preview_count: z.int().min(0).max(4).default(0).describe("number of images with a thumbnail in the report"),
    preview_size: z.int().min(8).max(1024).default(128).describe("largest width and height of a thumbnail in pixels"),
    psnr_cap_db: PSNR_CAP,
  }),
  twin: true,
  async run({ inputs, params, progress }) {
    // The PNG writer is needed for thumbnails only.
    const { previewOf } = await import("./_preview.ts");
    const { reference, reconstruction, ids } = comparedImages(inputs.reconstruction, inputs.reference);
    const { range, exact } = psnrScale(reference, params);

    const scores = ids.map((_, index) => {
      const original = oneImage(reference, index), x = imageAt(reconstruction, index), y = original.data;
      const { mse, mae } = sampleErrors(x, y);
      const { ssim, msSsim } = structuralSimilarity(x, y, original, range);
      progress(index + 1, ids.length, { phase: "scoring", unit: "images" });
      return {
        psnr_db: mse === 0 ? exact : psnrDb(mse, range),
        mse,
        mae,
        exact: Number(mse === 0),
        ssim,
        ms_ssim: msSsim,
        ms_ssim_db: msSsim === null ? null : similarityDb(msSsim),
        gmsd: isGmsdDefined(original) ? gradientDeviation(x, y, original, range) : null,
      };
    });
    type Measure = keyof (typeof scores)[number];
    // A measure may be undefined for the small images of a batch.
    const defined = (key: Measure) => scores.flatMap((row) => row[key] === null ? [] : [row[key]]);
    const mean = (key: Measure) => {
      const values = defined(key);
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    };
    const covered = defined("ms_ssim").length;
    const metrics = {
      "quality.psnr_db": mean("psnr_db"),
      "quality.mse": mean("mse"),
      "quality.mae": mean("mae"),
      "quality.perfect_reconstruction_fraction": mean("exact"),
      "quality.exact_items": BigInt(scores.reduce((sum, { exact }) => sum + exact, 0)),
      ...(defined("ssim").length === 0 ? {} : { "quality.ssim": mean("ssim") }),
      ...(covered === 0 ? {} : {
        "quality.ms_ssim": mean("ms_ssim"),
        "quality.ms_ssim_db": mean("ms_ssim_db"),
      }),
      ...(defined("gmsd").length === 0 ? {} : { "quality.gmsd": mean("gmsd") }),
      "quality.ms_ssim_item_count": BigInt(covered),
      "quality.ms_ssim_skipped_count": BigInt(scores.length - covered),
    };
    const items = scores.map(({ exact: isExact, ...row }, index): JsonObject => ({
      id: ids[index],
      exact: isExact === 1,
      metrics: typedMetrics(Object.fromEntries(
        Object.entries(row).flatMap(([name, value]) => value === null ? [] : [[`quality.${name}`, value]]),
      )),
      ...(index >= params.preview_count ? {} : {
        preview: {
          reference: previewOf(reference, index, params.preview_size),
          reconstruction: previewOf(reconstruction, index, params.preview_size),
        },
      }),
    }));
    const facts = { data_range: float(range), exact_psnr_db: float(exact) };
    const metadata = rangeWarning(range, reference);
    return { metrics, items, facts, metadata };
  },
});

/** The warning of a `data_range` that is not the range of the samples: PSNR would be off by the ratio of the two. */
function rangeWarning(range: number, { data, dtype }: ImageBatch): JsonObject {
  // Whatever samples of 8 bits are, such a range fits them.
  if (dtype === "uint8" && range <= 2 * 255 && 2 * range >= 255) return {};
  let largest = 0;
  for (let i = 0; i < data.length; i++) {
    const magnitude = Math.abs(data[i]);
    if (magnitude > largest) largest = magnitude;
  }
  const actual = dtype === "uint8" ? 255 : largest > 1 ? largest : 1;
  if (largest === 0 || (range <= 2 * actual && 2 * range >= largest)) return {};
  const message = `The data range ${range} does not fit ${dtype} samples up to ${Number(largest.toPrecision(3))}: ` +
    `PSNR is off by ${(20 * Math.log10(range / actual)).toFixed(1)} dB`;
  const hint = "Leave data_range at 0, the range of the type";
  return { warnings: [diagnostic("data_range_mismatch", [], message, { severity: "warning", hint })] } as JsonObject;
}
