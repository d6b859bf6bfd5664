/**
 * Errors of reconstructed images, weighted by the importance of their pixels: MSE = sum(w e^2) / sum(w) over the samples of an
 * image, and the PSNR of it; means over the images. Equal weights give the plain scores.
 *
 * Shapes: images [n, height, width, channels], importance_map float32 [n, height, width], at least 0; or items of several sizes.
 */
import { type ImportanceMap, importanceMapsOf } from "../../lib/artifact/importance.ts";
import { imageAt, type ImageBatch, sizeAt, typedMetrics } from "../../lib/artifact/values.ts";
import { type InputArtifact, type JsonObject, SvcError, z } from "../api.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import { psnrDb } from "../../lib/numeric/scores/image_quality.ts";
import { IMPORTANCE_MAP } from "../_importance.ts";
import { defineReport } from "../_report.ts";
import { comparedImages, DATA_RANGE, PSNR_CAP, psnrScale } from "./_compared_images.ts";

export default defineReport({
  id: "metrics.importance_weighted_error",
  name: "Image errors weighted by importance",
  description: "Scores reconstructions by MSE and PSNR that count each pixel by its importance",
  inputs: { reconstruction: [IMAGES], reference: [IMAGES], importance_map: [IMPORTANCE_MAP] },
  params: z.strictObject({ data_range: DATA_RANGE, psnr_cap_db: PSNR_CAP }),
  run({ inputs, params }) {
    const { reference, reconstruction, ids } = comparedImages(inputs.reconstruction, inputs.reference);
    const maps = mapsOf(inputs.importance_map, reference), { range, exact } = psnrScale(reference, params);
    const scores = ids.map((_, index) => {
      const mse = weightedError(imageAt(reconstruction, index), imageAt(reference, index), maps[index].data);
      return {
        "quality.importance_weighted_mse": mse,
        "quality.importance_weighted_psnr_db": mse === 0 ? exact : psnrDb(mse, range),
      };
    });
    const mean = (key: keyof (typeof scores)[number]) => scores.reduce((sum, row) => sum + row[key], 0) / scores.length;
    const metrics = {
      "quality.importance_weighted_mse": mean("quality.importance_weighted_mse"),
      "quality.importance_weighted_psnr_db": mean("quality.importance_weighted_psnr_db"),
    };
    return { metrics, items: scores.map((row, index): JsonObject => ({ id: ids[index], metrics: typedMetrics(row) })) };
  },
});

/** @throws SvcError `boundary_shape_invalid` for maps of other images */
function mapsOf(input: InputArtifact, images: ImageBatch): ImportanceMap[] {
  const maps = importanceMapsOf(input);
  if (maps.length !== images.count) {
    throw new SvcError("boundary_shape_invalid", `Cannot weight ${images.count} images by ${maps.length} maps`);
  }
  maps.forEach((map, index) => {
    const { height, width } = sizeAt(images, index);
    if (map.height === height && map.width === width) return;
    throw new SvcError(
      "boundary_shape_invalid",
      `Cannot weight image ${index} of ${width} x ${height} pixels by a map of ${map.width} x ${map.height}`,
    );
  });
  return maps;
}

/** @throws SvcError `boundary_value_invalid` for a map of zeros */
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
