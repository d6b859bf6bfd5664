/**
 * Scores reconstructed images against their originals: PSNR, MSE, MAE, SSIM, MS-SSIM and GMSD, means over the images.
 *
 * MSE and MAE are in units of the samples. The range is that of the type (255 for uint8, 1 for float32) unless
 * `data_range` is set. An exact image scores `psnr_cap_db`, or more if an inexact image of that type and shape could
 * exceed it; their number stands beside the mean. SSIM needs 11 pixels on the shorter side, MS-SSIM five scales of them; undefined values are omitted and
 * counted as skipped. With importance maps of the reference, MSE and PSNR are also weighted, sum(w e^2) / sum(w). Formulas and sources: lib/numeric/scores/image_quality.ts.
 */
import { IMAGES } from "../../lib/contract/kinds.ts";
import { diagnostic, SvcError } from "../../lib/contract/error.ts";
import type { InputArtifact } from "../../lib/contract/operation.ts";
import { float, type JsonObject } from "../../lib/contract/value.ts";
import { z } from "../../lib/contract/zod.ts";
import { type ImportanceMaps, importanceOf } from "../../lib/artifact/importance.ts";
import { imageAt, type ImageBatch, imagesOf, typedMetrics } from "../../lib/artifact/values.ts";
import {
  exactPsnrDb,
  gradientDeviation,
  isGmsdDefined,
  psnrDb,
  sampleErrors,
  structuralSimilarity,
} from "../../lib/numeric/scores/image_quality.ts";
import { idsOfImages } from "../_image_ids.ts";
import { IMPORTANCE_MAP } from "../_importance.ts";
import { defineReport } from "../_report.ts";

/** Canonical range, and the smallest difference two samples can have (binary32: the smallest subnormal number). */
const SAMPLE_TYPES = { uint8: { range: 255, step: 1 }, float32: { range: 1, step: 2 ** -149 } };

export default defineReport({
  id: "metrics.image_reconstruction",
  name: "Image reconstruction scores",
  description: "Scores reconstructions by PSNR, MSE, MAE, SSIM, MS-SSIM and GMSD",
  inputs: { reconstruction: [IMAGES], reference: [IMAGES] },
  optionalInputs: { importance_map: [IMPORTANCE_MAP] },
  params: z.strictObject({
    data_range: z.number().nonnegative().default(0).describe(
      "largest minus smallest sample value; 0 uses 255 for uint8 and 1 for float32",
    ),
    preview_count: z.int().min(0).max(4).default(0).describe("number of images with a thumbnail in the report"),
    preview_size: z.int().min(8).max(1024).default(128).describe("largest width and height of a thumbnail in pixels"),
    psnr_cap_db: z.number().nonnegative().default(99).describe("score of an exact image in dB, raised when needed"),
  }),
  twin: true,
  async run({ inputs, params, progress }) {
    // The PNG writer is needed for thumbnails only.
    const { previewOf } = await import("./_preview.ts");
    const reference = imagesOf(inputs.reference), reconstruction = imagesOf(inputs.reconstruction);
    checkComparable(reconstruction, reference);
    const maps = inputs.importance_map === undefined ? undefined : mapsOf(inputs.importance_map, reference);
    const ids = pairedIds(inputs.reconstruction, inputs.reference, reference.count);
    const { step, range: canonicalRange } = SAMPLE_TYPES[reference.dtype];
    const range = params.data_range === 0 ? canonicalRange : params.data_range;
    const sampleCount = reference.height * reference.width * reference.channels;
    const exact = exactPsnrDb(params.psnr_cap_db, { range, sampleCount, step });

    const scores = ids.map((_, index) => {
      const x = imageAt(reconstruction, index), y = imageAt(reference, index);
      const { mse, mae } = sampleErrors(x, y);
      const weighted = maps === undefined ? null : weightedError(x, y, mapAt(maps, index));
      const { ssim, msSsim } = structuralSimilarity(x, y, reference, range);
      progress(index + 1, ids.length, { phase: "scoring", unit: "images" });
      return {
        psnr_db: mse === 0 ? exact : psnrDb(mse, range),
        mse,
        mae,
        exact: Number(mse === 0),
        ssim,
        ms_ssim: msSsim,
        gmsd: isGmsdDefined(reference) ? gradientDeviation(x, y, reference, range) : null,
        importance_weighted_mse: weighted,
        importance_weighted_psnr_db: weighted === null ? null : weighted === 0 ? exact : psnrDb(weighted, range),
      };
    });
    const mean = (key: keyof (typeof scores)[number]) =>
      scores.reduce((sum, row) => sum + row[key]!, 0) / scores.length;
    // All images of a batch have one size, so a measure is defined for each of them or for none.
    const covered = scores[0].ms_ssim === null ? 0 : scores.length;
    const metrics = {
      "quality.psnr_db": mean("psnr_db"),
      "quality.mse": mean("mse"),
      "quality.mae": mean("mae"),
      "quality.perfect_reconstruction_fraction": mean("exact"),
      "quality.exact_items": BigInt(scores.reduce((sum, { exact }) => sum + exact, 0)),
      ...(scores[0].ssim === null ? {} : { "quality.ssim": mean("ssim") }),
      ...(covered === 0 ? {} : { "quality.ms_ssim": mean("ms_ssim") }),
      ...(scores[0].gmsd === null ? {} : { "quality.gmsd": mean("gmsd") }),
      ...(maps === undefined ? {} : {
        "quality.importance_weighted_mse": mean("importance_weighted_mse"),
        "quality.importance_weighted_psnr_db": mean("importance_weighted_psnr_db"),
      }),
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

function mapsOf(input: InputArtifact, { count, height, width }: ImageBatch): ImportanceMaps {
  const maps = importanceOf(input);
  if (maps.count === count && maps.height === height && maps.width === width) return maps;
  throw new SvcError(
    "boundary_shape_invalid",
    `Cannot weight ${count} images of ${width} x ${height} pixels by ${maps.count} maps of ${maps.width} x ${maps.height}`,
  );
}

const mapAt = ({ data, height, width }: ImportanceMaps, index: number) =>
  data.subarray(index * height * width, (index + 1) * height * width);

/** Mean squared error weighted by the importance of the pixels. @throws SvcError `boundary_value_invalid` for a map of zeros */
function weightedError(x: ArrayLike<number>, y: ArrayLike<number>, weights: ArrayLike<number>): number {
  const channels = x.length / weights.length;
  let errors = 0, total = 0;
  for (let pixel = 0; pixel < weights.length; pixel++) {
    for (let at = pixel * channels; at < (pixel + 1) * channels; at++) errors += weights[pixel] * (x[at] - y[at]) ** 2;
    total += weights[pixel] * channels;
  }
  if (total > 0) return errors / total;
  throw new SvcError("boundary_value_invalid", "Cannot weight an image by an importance of 0 everywhere");
}

/** The warning of a `data_range` that is not the range of the samples: PSNR would be off by the ratio of the two. */
function rangeWarning(range: number, { data, dtype }: ImageBatch): JsonObject {
  let largest = 0;
  for (const sample of data) if (Math.abs(sample) > largest) largest = Math.abs(sample);
  const actual = dtype === "uint8" ? 255 : largest > 1 ? largest : 1;
  if (largest === 0 || (range <= 2 * actual && 2 * range >= largest)) return {};
  const message = `The data range ${range} does not fit ${dtype} samples up to ${Number(largest.toPrecision(3))}: ` +
    `PSNR is off by ${(20 * Math.log10(range / actual)).toFixed(1)} dB`;
  const hint = "Leave data_range at 0, the range of the type";
  return { warnings: [diagnostic("data_range_mismatch", [], message, { severity: "warning", hint })] } as JsonObject;
}

function checkComparable(candidate: ImageBatch, reference: ImageBatch): void {
  if (candidate.dtype !== reference.dtype) {
    throw new SvcError("boundary_dtype_invalid", `Cannot compare ${candidate.dtype} with ${reference.dtype} images`);
  }
  const shape = ({ count, height, width, channels }: ImageBatch) => `[${[count, height, width, channels].join(", ")}]`;
  if (shape(candidate) !== shape(reference)) {
    throw new SvcError("boundary_shape_invalid", `Cannot compare images ${shape(candidate)} with ${shape(reference)}`);
  }
}

/** The ids of the images; if both sides have ids, they must agree. */
function pairedIds(candidate: InputArtifact, reference: InputArtifact, count: number): string[] {
  const theirs = idsOfImages(candidate.metadata, count), ours = idsOfImages(reference.metadata, count);
  if (theirs !== undefined && ours !== undefined && theirs.some((id, index) => id !== ours[index])) {
    throw new SvcError("pair_ids_mismatch", "Cannot compare images whose ids differ");
  }
  return ours ?? theirs ?? Array.from({ length: count }, (_, index) => `image_${index}`);
}
