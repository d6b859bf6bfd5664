/** Bypassed bit channel: no bit errors. */
import { BITS, BITS_ANY } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, z } from "../api.ts";
import { notExported } from "../_backends.ts";
import { dataPlane } from "../_data_plane.ts";
import { relayBits } from "./_relay.ts";
import { sizeOfInput } from "../_same_shape.ts";

export default defineOperation({
  id: "channel.identity_link",
  name: "Bypassed bit channel",
  description: "Bit-exact bypass for a disabled channel",
  inputs: { bits: BITS_ANY },
  outputs: { bits: BITS },
  params: z.strictObject({
    label: z.string().default("identity_channel").describe("name of the link in the step row"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: notExported("numpy", "stop", "Discrete bypass; channel.identity_symbol_link keeps gradients"),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "exact" },
  formats: { artifact: "npz", tensor: "none" },
  outputMetadataGuarantees: { bits: { from: "bits", keys: ["boundary_contract", "bit_count"] } },
  estimate: (_params, { bits }) => ({ bits: sizeOfInput(bits, "uint8") }),
  twin: true,
  threadSafe: true,
  nativeKernels: true,
  async run(context) {
    const { inputs, params } = context;
    return {
      outputs: { bits: relayBits(inputs.bits, "channel.bits", await dataPlane(context)) },
      metadata: { label: params.label },
    };
  },
});
