/** Indices and latents to bits, and back. */
import { dataPlaneParameter, defineOperation, type JsonObject, SvcError, z } from "../api.ts";
import { bitsArtifact, bitsOf, companionsOf, metadataNumber, metadataText, travel } from "../../lib/artifact/values.ts";
import { INDICES, LATENTS, PAYLOAD_BITS, PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { dataPlane, madeOn } from "../_data_plane.ts";
import { recordedShape, recountedItems } from "./_serial.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";

/**
 * Size of the codebook and bits per index, ceil(log2(max(size, 2))).
 * @throws SvcError `boundary_value_invalid` for metadata without a size in 1 … 2^31
 */
function codebookOf(metadata: JsonObject): { size: number; width: number } {
  const size = metadataNumber(metadata, "codebook_size");
  if (size === undefined || !Number.isInteger(size) || size < 1 || size > 2 ** 31) {
    throw new SvcError("boundary_value_invalid", `Cannot use ${size} as the codebook size of indices`);
  }
  return { size, width: 32 - Math.clz32(Math.max(size, 2) - 1) };
}

/** Indices to bits: each index most significant bit first in ceil(log2(max(codebook_size, 2))) bits, in C order. */
const indicesToBits = defineOperation({
  id: "channel.indices_to_bits",
  name: "Indices to bits",
  description: "Packs integer codes into payload bits",
  inputs: { indices: [INDICES] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({ data_plane_backend: dataPlaneParameter() }),
  inputMetadataRequirements: { indices: { all_of: ["codebook_size"] } },
  outputMetadataGuarantees: {
    bits: { from: "indices", keys: ["boundary_contract", "bit_count", "codebook_size", "index_shape"] },
  },
  nativeKernels: true,
  async run(context) {
    const { inputs } = context, kernels = await dataPlane(context);
    const { metadata } = inputs.indices;
    const { size, width } = codebookOf(metadata);
    const { dtype, shape, data } = inputs.indices.array();
    if (!/^u?int/.test(dtype)) throw new SvcError("boundary_dtype_invalid", `Cannot use ${dtype} data as indices`);
    const indices = Int32Array.from(data as Int32Array, (entry: number | bigint) => {
      const index = Number(entry);
      if (index >= 0 && index < size) return index;
      throw new SvcError("boundary_value_invalid", `Cannot find the index ${index} in a codebook of ${size}`);
    });
    const payload = madeOn(
      kernels,
      bitsArtifact(
        kernels.indexBits(indices, width),
        travel(metadata, { index_shape: [...shape], ...recountedItems(metadata, data.length, width) }),
        "payload.bits",
      ),
    );
    return { outputs: { bits: { ...payload, companions: companionsOf(inputs.indices) } } };
  },
});

/**
 * Bits to indices: the inverse of channel.indices_to_bits. Bit errors can produce an index beyond the codebook; it is
 * wrapped (`mod`) or replaced by the last one (`clamp`).
 */
const bitsToIndices = defineOperation({
  id: "channel.bits_to_indices",
  name: "Bits to indices",
  description: "Rebuilds index codes from bits",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { indices: INDICES },
  params: z.strictObject({
    invalid_policy: z.enum(["mod", "clamp"]).default("mod")
      .describe("wraps an index beyond the codebook, or uses the last one"),
    data_plane_backend: dataPlaneParameter(),
  }),
  inputMetadataRequirements: { bits: { all_of: ["codebook_size", "index_shape"] } },
  outputMetadataGuarantees: { indices: { from: "bits", keys: ["codebook_size"] } },
  nativeKernels: true,
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const bits = bitsOf(inputs.bits, kernels);
    const { metadata } = inputs.bits;
    const { size, width } = codebookOf(metadata);
    const shape = recordedShape(metadata, "index_shape", bits.length, width);
    const { indices, beyond } = kernels.bitsIndex(bits, width, size, params.invalid_policy === "clamp");
    const kept = travel(metadata, recountedItems(metadata, bits.length, 1 / width), ["index_shape"]);
    return {
      outputs: {
        indices: {
          array: ndarray("int32", indices, shape),
          companions: companionsOf(inputs.bits),
          metadata: { ...kept, invalid_index_count: beyond },
        },
      },
    };
  },
});

/** Latents to bits: IEEE 754 values in C order, little-endian bytes, each byte most significant bit first. */
const latentsToBits = defineOperation({
  id: "channel.latents_to_bits",
  name: "Latents to bits",
  description: "Serialises latent values into payload bits at the chosen float width",
  inputs: { latents: [LATENTS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    dtype: z.enum(["float16", "float32"]).default("float32").describe("width of a value on the wire"),
    data_plane_backend: dataPlaneParameter(),
  }),
  outputMetadataGuarantees: {
    bits: { from: "latents", keys: ["boundary_contract", "bit_count", "latent_dtype", "latent_shape"] },
  },
  nativeKernels: true,
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const { metadata } = inputs.latents;
    const { dtype, shape, data } = inputs.latents.array();
    if (!dtype.startsWith("float")) throw new SvcError("boundary_dtype_invalid", `Cannot use ${dtype} data as latents`);
    const latents = data as Float32Array;
    const values = params.dtype === "float16" ? Float16Array.from(latents) : Float32Array.from(latents);
    const lost = values.findIndex((value) => !Number.isFinite(value));
    if (lost >= 0) {
      throw new SvcError(
        "boundary_non_finite",
        `Cannot write the latent ${latents[lost]} as a finite ${params.dtype}`,
        { hint: params.dtype === "float16" ? "Use float32, which has a greater range" : null },
      );
    }
    const kept = travel(metadata, {
      latent_dtype: params.dtype,
      latent_shape: [...shape],
      ...recountedItems(metadata, data.length, 8 * values.BYTES_PER_ELEMENT),
    });
    const bits = kernels.unpackBits(new Uint8Array(values.buffer));
    const payload = madeOn(kernels, bitsArtifact(bits, kept, "payload.bits"));
    return { outputs: { bits: { ...payload, companions: companionsOf(inputs.latents) } } };
  },
});

/**
 * Bits to latents: the inverse of channel.latents_to_bits, as float32. A bit error can make a value infinite or NaN;
 * `sanitize` replaces such values by 0.
 */
const bitsToLatents = defineOperation({
  id: "channel.bits_to_latents",
  name: "Bits to latents",
  description: "Rebuilds latent values from payload bits",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { latents: LATENTS },
  params: z.strictObject({
    sanitize: z.boolean().default(true).describe("replace values that are not finite by 0"),
    data_plane_backend: dataPlaneParameter(),
  }),
  inputMetadataRequirements: { bits: { all_of: ["latent_dtype", "latent_shape"] } },
  outputMetadataGuarantees: { latents: { from: "bits", keys: ["sanitized_value_count"] } },
  nativeKernels: true,
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const bits = bitsOf(inputs.bits, kernels);
    const { metadata } = inputs.bits;
    const dtype = metadataText(metadata, "latent_dtype");
    if (dtype !== "float16" && dtype !== "float32") {
      throw new SvcError("boundary_dtype_invalid", `Cannot read latents of the type ${dtype}`);
    }
    const width = dtype === "float16" ? 16 : 32;
    const shape = recordedShape(metadata, "latent_shape", bits.length, width);
    const { buffer } = kernels.packBits(bits);
    const latents = Float32Array.from(dtype === "float16" ? new Float16Array(buffer) : new Float32Array(buffer));
    let sanitized = 0;
    for (let i = 0; params.sanitize && i < latents.length; i++) {
      if (Number.isFinite(latents[i])) continue;
      latents[i] = 0;
      sanitized++;
    }
    const kept = travel(metadata, recountedItems(metadata, bits.length, 1 / width), ["latent_shape", "latent_dtype"]);
    return {
      outputs: {
        latents: {
          array: ndarray("float32", latents, shape),
          companions: companionsOf(inputs.bits),
          metadata: { ...kept, sanitized_value_count: sanitized },
        },
      },
    };
  },
});

export default [indicesToBits, bitsToIndices, latentsToBits, bitsToLatents];
