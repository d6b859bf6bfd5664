/**
 * Images from one array of a local NPZ file, [image, height, width, channel] with 1, 3 or 4 channels.
 *
 * strict_uint8 accepts uint8 only. clip_round_uint8 accepts any real numbers in the units of 8-bit samples, rounds them
 * to the nearest integer (halves to even) and clips them to 0 … 255; the metadata record these changes.
 */
import { IMAGES } from "../../lib/contract/kinds.ts";
import { defineOperation, sha256Hex, SvcError, z } from "../api.ts";
import { roundSamples } from "../../lib/artifact/image_resize.ts";
import { imagesArtifact } from "../../lib/artifact/values.ts";
import type { NdArray } from "../../lib/numeric/array/ndarray.ts";

export default defineOperation({
  id: "source.local_npz_images",
  name: "Local NPZ image batch",
  description: "Reads a named array of a local NPZ file as images",
  outputs: { images: IMAGES },
  params: z.strictObject({
    path: z.string().min(1).describe("NPZ file, relative to the project"),
    array: z.string().min(1).default("images").describe("name of the array in the file"),
    dtype_policy: z.enum(["strict_uint8", "clip_round_uint8"]).default("strict_uint8")
      .describe("strict_uint8 refuses other types; clip_round_uint8 rounds and clips them and records it"),
  }),
  outputMetadataGuarantees: { images: { keys: ["boundary_contract", "dataset", "image_ids"] } },
  requires: ({ path }) => [{ kind: "file", id: path }],
  estimate: () => ({ images: null }),
  async run({ params, files }) {
    const bytes = await files.read(params.path);
    const { openNpz } = await import("../../lib/artifact/npz.ts");
    const array = openNpz(bytes, params.path).array(params.array);
    if (array.shape.length !== 4) {
      const shape = array.shape.join(", ");
      throw new SvcError("boundary_rank_invalid", `Cannot read an array of shape [${shape}] as a batch of images`, {
        hint: "Store it as [image, height, width, channel]",
      });
    }
    const { data, alteredCount } = samplesOf(array, params.dtype_policy === "clip_round_uint8");
    const [count, height, width, channels] = array.shape;
    const metadata = {
      dataset: { id: "local_npz_images", version: "local_npz_images-v1" },
      image_ids: Array.from({ length: count }, (_, index) => `${params.array}_${index}`),
      source_file: { array: params.array, sha256: sha256Hex(bytes) },
      dtype_conversion: { policy: params.dtype_policy, source_dtype: array.dtype, altered_sample_count: alteredCount },
    };
    return { outputs: { images: imagesArtifact({ count, height, width, channels, dtype: "uint8", data }, metadata) } };
  },
});

function samplesOf(array: NdArray, mayRound: boolean): { data: Uint8Array; alteredCount: number } {
  const { dtype, data } = array;
  if (dtype === "uint8") return { data: data as Uint8Array, alteredCount: 0 };
  if (!mayRound || dtype.startsWith("complex")) {
    throw new SvcError("boundary_dtype_invalid", `Cannot use ${dtype} data as 8-bit samples`, {
      hint: mayRound ? null : "Store uint8, or accept rounding with dtype_policy: clip_round_uint8",
    });
  }
  const values = Float64Array.from(data as ArrayLike<number | bigint>, Number);
  if (!values.every(Number.isFinite)) {
    throw new SvcError("boundary_non_finite", "Cannot round samples that are not finite");
  }
  const rounded = roundSamples(values);
  return { data: rounded, alteredCount: values.reduce((sum, value, i) => sum + Number(value !== rounded[i]), 0) };
}
