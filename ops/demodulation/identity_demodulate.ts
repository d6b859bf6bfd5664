/**
 * Bypass demapper for symbols with real part 0 or 1: LLR = (1 - 2 Re y) / N0 (N0 at least 1e-12); a bit is 1 if Re y >
 * 0.5, which means a negative LLR.
 */
import { SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, z } from "../api.ts";
import { symbolsOf } from "../../lib/artifact/values.ts";
import { executed, exportable, exported } from "../_backends.ts";
import { demodulateIdentity } from "../../lib/numeric/link/modulation.ts";
import { dataPlane, portableOnly } from "../_data_plane.ts";
import { unpaddedBitCount } from "../_symbol_items.ts";
import { type NoiseVariance, noiseVarianceOf, SYMBOL_COMPANIONS } from "../_noise_variance.ts";
import { demapInBlocks, demodulated, demodulatedOutputs, INHERITED } from "./_outputs.ts";

/** What the outputs declare, and facts for the step row. */
const factsOf = ({ source, facts }: NoiseVariance, label: string) => ({
  outputs: { modulation: "identity", llr_method: "exact", noise_variance_source: source },
  row: { label, ...facts },
});

export default defineOperation({
  id: "demodulation.identity_demodulate",
  name: "Bypass demapper",
  description: "Decides bits from symbols with real part 0 or 1",
  inputs: { rx_symbols: SYMBOLS_ANY },
  outputs: demodulatedOutputs({}),
  params: z.strictObject({
    label: z.string().default("identity_phy_demodulator").describe("name of the stage in the step row"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: exportable("torch", "surrogate", "An export may stay soft; hard decisions are surrogate only"),
  equivalence: { type: "exact" },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  materializations: [...executed("numpy", "default"), exported("torch", "default")],
  outputMetadataGuarantees: INHERITED,
  twin: true,
  nativeKernels: true,
  importance: "symbol",
  streaming: {
    allows: portableOnly,
    companions: SYMBOL_COMPANIONS,
    open: ({ inputs, params }) =>
      demapInBlocks(inputs.rx_symbols, 1, (noise) => factsOf(noise, params.label), demodulateIdentity),
  },
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const symbols = symbolsOf(inputs.rx_symbols), noise = noiseVarianceOf(inputs.rx_symbols, symbols.length / 2);
    const { outputs, row: metadata } = factsOf(noise, params.label);
    const count = unpaddedBitCount(inputs.rx_symbols.metadata, symbols.length / 2);
    const { llr, bits } = kernels.demodulateIdentity(symbols, noise.variance);
    return {
      outputs: demodulated(inputs.rx_symbols, llr.slice(0, count), outputs, bits.slice(0, count), kernels),
      metadata,
    };
  },
});
