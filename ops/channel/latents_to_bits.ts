/** Latents to bits: IEEE 754 values in C order, little-endian bytes, each byte most significant bit first. */
import { LATENTS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, SvcError, z } from "../api.ts";
import { bitsArtifact, companionsOf, travel } from "../../lib/artifact/values.ts";
import { dataPlane, madeOn } from "../_data_plane.ts";
import { recountedItems } from "./_serial.ts";

export default defineOperation({
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
  threadSafe: true,
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
        {
          hint: params.dtype === "float16" ? "Use float32, which has a greater range" : null,
        },
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
