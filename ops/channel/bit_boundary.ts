/**
 * Bit checkpoint: one uint8 per bit, values 0 and 1, one dimension, and the expected number of bits if given. The
 * stream, its companion arrays and its metadata pass unchanged.
 */
import { BITS, BITS_ANY } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, z } from "../api.ts";
import { checkExpectedCount } from "../../lib/artifact/accounting.ts";
import { executed, native } from "../_backends.ts";
import { dataPlane } from "../_data_plane.ts";
import { relayBits } from "./_relay.ts";
import { sizeOfInput } from "../_same_shape.ts";

export default defineOperation({
  id: "channel.bit_boundary",
  name: "Bit checkpoint",
  description: "Validates and re-emits an unpacked bit vector unchanged at a named checkpoint",
  inputs: { bits: BITS_ANY },
  outputs: { bits: BITS },
  params: z.strictObject({
    expected_bit_count: z.int().nonnegative().default(0).describe("bits that must arrive; 0 accepts any number"),
    label: z.string().default("boundary").describe("name of the checkpoint in the step row"),
    role: z.string().default("channel_boundary").describe("role of the checkpoint, such as channel_input"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: { framework: "numpy", gradient: "stop", trainable_params: false, exportable: false },
  equivalence: { type: "exact", reason: "Unpacked uint8 bits are preserved exactly" },
  formats: { artifact: "npz", tensor: "none" },
  materializations: [...executed("numpy", "default"), ...native("default")],
  outputMetadataGuarantees: { bits: { from: "bits", keys: ["boundary_contract", "bit_count"] } },
  estimate: (_params, { bits }) => ({ bits: sizeOfInput(bits, "uint8") }),
  twin: true,
  threadSafe: true,
  async run(context) {
    const { inputs, params } = context;
    const bits = relayBits(inputs.bits, "channel.bits", await dataPlane(context));
    const expected = params.expected_bit_count;
    if (expected > 0) checkExpectedCount(bits.array!.data.length, expected, "bits");
    return { outputs: { bits }, metadata: { label: params.label, role: params.role } };
  },
});
