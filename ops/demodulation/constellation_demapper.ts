/**
 * Demapper for any constellation as a trainable component:
 *
 *     exact, max_log      LLRs of the wired points in Gaussian noise of variance N0; lib/numeric/link/constellation.ts has the formulas
 *     learned_artifact    rx_symbols_ri [symbol, 2] -> bit_llr [symbol, K], from the received symbols only
 *
 * LLR = ln P(0|y)/P(1|y), positive for bit 0; bits are (LLR < 0). N0 as in _noise_variance.ts. Padding bits are removed.
 *
 * Shapes: rx_symbols complex64 [n], constellation complex64 [2^K] -> bits uint8 [K·n - padding], llr float32 likewise.
 */
import { CONSTELLATION, SYMBOLS_ANY } from "../../lib/contract/kinds.ts";
import { defineSlot, SvcError } from "../api.ts";
import { symbolsOf } from "../../lib/artifact/values.ts";
import { constellationLlr, MAXIMUM_WIDTH } from "../../lib/numeric/link/constellation.ts";
import type { LlrMethod } from "../../lib/numeric/link/modulation.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { unpaddedBitCount } from "../_symbol_items.ts";
import { noiseVarianceOf } from "../_noise_variance.ts";
import { demodulated, demodulatedOutputs, INHERITED } from "./_outputs.ts";

interface Problem {
  symbols: Float32Array;
  points: Float32Array;
  noise(): ReturnType<typeof noiseVarianceOf>;
}

const demap = (method: LlrMethod) => ({
  implementation: `${method}_constellation_demapper`,
  importance: "symbol",
  run({ symbols, points, noise }: Problem) {
    const { variance, ...known } = noise();
    return { llr: constellationLlr(symbols, points, variance, method), ...known };
  },
});

export default defineSlot({
  id: "demodulation.constellation_demapper",
  name: "Constellation demapper slot",
  description: "Demaps symbols of any constellation by its points or by a trained artifact",
  inputs: { rx_symbols: SYMBOLS_ANY, constellation: [CONSTELLATION] },
  outputs: demodulatedOutputs({}),
  equivalence: { type: "behavioral", reason: "Compared by bit and block error rates" },
  formats: { artifact: "npz", tensor: "torch.Tensor", checkpoint: "onnx" },
  outputMetadataGuarantees: INHERITED,
  gradient: "full",
  exports: { torch: "trainable_demapper" },
  twin: true,
  mode: { default: "exact" },
  read({ inputs: { rx_symbols, constellation } }): Problem {
    const symbols = symbolsOf(rx_symbols), points = symbolsOf(constellation), size = points.length / 2;
    if (size < 2 || size > 2 ** MAXIMUM_WIDTH || !Number.isInteger(Math.log2(size))) {
      throw new SvcError("boundary_shape_invalid", `Cannot demap with a constellation of ${size} points`);
    }
    return { symbols, points, noise: () => noiseVarianceOf(rx_symbols, symbols.length / 2) };
  },
  modes: { exact: demap("exact"), max_log: demap("max_log") },
  learned: {
    component: { id: "demapper", role: "demapper", entrypoint: "demapper" },
    inputs: { rx_symbols_ri: ["symbol", 2] },
    outputs: { bit_llr: ["symbol", "bits_per_symbol"] },
    meaning: {
      rx_symbols_ri: "received symbols, real and imaginary part",
      bit_llr: "LLR of the bits of a symbol, ln P(0|y)/P(1|y): positive for bit 0, negative for bit 1",
    },
    rows: 65536,
    async run({ symbols, points }, call) {
      const { bit_llr } = await call({ rx_symbols_ri: ndarray("float32", symbols, [symbols.length / 2, 2]) });
      if (2 ** bit_llr.shape[1] !== points.length / 2) {
        throw new SvcError(
          "artifact_output_invalid",
          `Cannot use ${bit_llr.shape[1]} LLRs per symbol of ${points.length / 2} points`,
        );
      }
      return { llr: bit_llr.data, source: "not_used", facts: {} };
    },
  },
  result({ llr, source, facts }, _, { inputs: { rx_symbols }, mode }) {
    const outputs = demodulated(rx_symbols, llr.slice(0, unpaddedBitCount(rx_symbols.metadata, llr.length)), {
      modulation: "constellation",
      llr_method: mode,
      noise_variance_source: source,
    });
    return { outputs, metadata: facts };
  },
});
