/**
 * Bits to latents: the inverse of channel.latents_to_bits, as float32. A bit error can make a value infinite or NaN;
 * `sanitize` replaces such values by 0.
 */
import { LATENTS, PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, SvcError, z } from "../api.ts";
import { bitsOf, companionsOf, metadataText, travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { dataPlane } from "../_data_plane.ts";
import { recordedShape, recountedItems } from "./_serial.ts";

export default defineOperation({
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
  threadSafe: true,
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
