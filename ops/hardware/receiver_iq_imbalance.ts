/**
 * An imperfect receiver front end with fixed settings. lib/numeric/link/iq_imbalance.ts has its formula and inverse; the
 * settings are metadata, for receivers that may know them.
 *
 * Shapes: rx_symbols complex64 [n] -> rx_symbols complex64 [n].
 */
import { RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation, float, type JsonObject, shownIn, z } from "../api.ts";
import { companionsOf, symbolMetadata, symbolsArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";
import { impairIq, type IqImbalance } from "../../lib/numeric/link/iq_imbalance.ts";
import { alteredInBlocks, SIGNAL_COMPANIONS } from "../_altered_blocks.ts";
import { executed, exported } from "../_backends.ts";
import { sizeOfInput } from "../_same_shape.ts";

const IMPLEMENTATION = "fixed_affine_receiver_iq_impairment";

export default defineOperation({
  id: "hardware.receiver_iq_imbalance",
  name: "Receiver I/Q impairment",
  description: "Applies gain and phase imbalance, quadrature error and DC offset to received symbols",
  inputs: { rx_symbols: [RX_SYMBOLS] },
  outputs: { rx_symbols: RX_SYMBOLS },
  params: z.strictObject({
    gain_imbalance_db: z.number().default(5).describe("amplitude gain of I over Q")
      .meta(shownIn("dB")),
    quadrature_error_deg: z.number().default(12).describe("deviation from 90 degrees between I and Q, in degrees"),
    phase_offset_deg: z.number().default(20).describe("common phase rotation in degrees"),
    dc_offset_i: z.number().default(0.18)
      .describe("offset of the real part, in units of the root of the symbol energy"),
    dc_offset_q: z.number().default(-0.12)
      .describe("offset of the imaginary part, in units of the root of the symbol energy"),
  }),
  differentiability: {
    framework: "torch",
    gradient: "full",
    trainable_params: false,
    exportable: true,
    reason: "A fixed affine transform; its parameters belong to the scenario",
  },
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-6 } },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: [...executed("numpy", IMPLEMENTATION), exported("torch", IMPLEMENTATION)],
  outputMetadataGuarantees: {
    rx_symbols: { from: "rx_symbols", keys: ["boundary_contract", "symbol_count", "receiver_iq_imbalance"] },
  },
  estimate: (_params, { rx_symbols }) => ({ rx_symbols: sizeOfInput(rx_symbols, "complex64") }),
  twin: true,
  streaming: {
    companions: SIGNAL_COMPANIONS,
    open: ({ inputs: { rx_symbols: input }, params }) =>
      alteredInBlocks("rx_symbols", input, {
        metadata: symbolMetadata(input.length, impairedMetadata(input.metadata, params)),
        alter: (symbols) => impairIq(symbols, params),
      }),
  },
  run({ inputs: { rx_symbols: input }, params }) {
    const impaired = impairIq(symbolsOf(input), params);
    const metadata = impairedMetadata(input.metadata, params);
    return { outputs: { rx_symbols: symbolsArtifact(impaired, metadata, companionsOf(input)) } };
  },
});

function impairedMetadata(metadata: JsonObject, params: IqImbalance): JsonObject {
  const settings = Object.fromEntries(Object.entries(params).map(([key, value]) => [key, float(value)]));
  return travel(metadata, { receiver_iq_imbalance: settings });
}
