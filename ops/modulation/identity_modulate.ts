/** Pass-through mapper: bit b becomes the symbol b + 0j. */
import { BITS, CODED_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, z } from "../api.ts";
import { bitsOf, symbolMetadata, symbolsArtifact } from "../../lib/artifact/values.ts";
import { blockMemory } from "../../lib/numeric/array/shared_array.ts";
import { mapToPoints } from "../../lib/numeric/link/modulation.ts";
import { executed, exported } from "../_backends.ts";
import { dataPlane, portableOnly } from "../_data_plane.ts";
import { MODULATED, modulatedMetadata } from "../_symbol_items.ts";

/** Of bit 0 and of bit 1. */
const POINTS = Float32Array.of(0, 0, 1, 0);

export default defineOperation({
  id: "modulation.identity_modulate",
  name: "Pass-through bit-to-symbol mapper",
  description: "Maps each bit to one complex symbol with real part 0 or 1",
  inputs: { bits: [PAYLOAD_BITS, CODED_BITS, BITS] },
  outputs: { symbols: MODULATED },
  params: z.strictObject({
    label: z.string().default("identity_phy_modulator").describe("name of the stage in the step row"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: { framework: "torch", gradient: "surrogate", trainable_params: false, exportable: true },
  equivalence: { type: "exact" },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: [...executed("numpy", "default"), exported("torch", "default")],
  outputMetadataGuarantees: { symbols: { from: "bits" } },
  estimate: (_, { bits: { bytes, shape } }) => ({
    symbols: shape === undefined ? 8 * bytes : [["complex64", shape[0]]],
  }),
  twin: true,
  nativeKernels: true,
  streaming: {
    allows: portableOnly,
    open({ inputs: { bits: { metadata: before, length } }, params: { label } }) {
      const metadata = symbolMetadata(length, modulatedMetadata(before, length, "identity", 1));
      const memory = blockMemory(Float32Array);
      return {
        arrays: { symbols: { dtype: "complex64", length, metadata } },
        next: ({ bits: { data } }) => ({ symbols: mapToPoints(data as Uint8Array, POINTS, memory(2 * data.length)) }),
        end: () => ({ metadata: { label } }),
      };
    },
  },
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const bits = bitsOf(inputs.bits, kernels), symbols = kernels.mapToPoints(bits, POINTS);
    const metadata = modulatedMetadata(inputs.bits.metadata, bits.length, "identity", 1);
    return { outputs: { symbols: symbolsArtifact(symbols, metadata) }, metadata: { label: params.label } };
  },
});
