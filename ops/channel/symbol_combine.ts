/**
 * Maximum ratio combining of repeated transmissions of the same symbols after equalisation: HARQ by Chase combining, for joint codes
 * whose symbols carry no bits, and for bits before their demodulator.
 *
 *     x̂ = Σ y_k/σ_k² / Σ 1/σ_k²        σ² = 1 / Σ 1/σ_k²
 *
 * σ_k² is the noise variance of each symbol of transmission k: the companion noise_variance, N0/|h|² after a fade, else that in the metadata. The
 * noises are independent. Where every transmission has one variance, the result has one in its metadata; else one a symbol.
 *
 * Shapes: rx_symbols complex64 [n] each -> rx_symbols complex64 [n].
 *
 * Sources: Chase, Code combining, IEEE Trans. Commun. 33(5), 1985; Brennan, Linear diversity combining techniques, Proc. IRE 47(6), 1959.
 */
import { RX_SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation, float, type InputArtifact, SvcError, z } from "../api.ts";
import { companionsOf, metadataNumber, symbolsArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { notExported } from "../_backends.ts";
import { noiseVarianceOf } from "../_noise_variance.ts";
import { SYMBOL_KEYS } from "./_relay.ts";

const PORTS = ["rx_symbols", "rx_symbols_2", "rx_symbols_3", "rx_symbols_4"] as const;

export default defineOperation({
  id: "channel.symbol_combine",
  name: "Combine repeated symbols",
  description: "Adds repeated transmissions of the same symbols by their noise variances, as HARQ does",
  inputs: { rx_symbols: [RX_SYMBOLS], rx_symbols_2: [RX_SYMBOLS] },
  optionalInputs: { rx_symbols_3: [RX_SYMBOLS], rx_symbols_4: [RX_SYMBOLS] },
  outputs: { rx_symbols: RX_SYMBOLS },
  params: z.strictObject({}),
  differentiability: notExported("torch", "full", "A weighted sum of inputs"),
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
  outputMetadataGuarantees: { rx_symbols: { from: "rx_symbols", keys: SYMBOL_KEYS } },
  run({ inputs }) {
    const received = PORTS.flatMap((port) => {
      const input = inputs[port];
      return input === undefined ? [] : [{ port, input, symbols: symbolsOf(input), variance: varianceOf(input, port) }];
    });
    const [first, ...others] = received, count = first.symbols.length / 2;
    const odd = others.find(({ symbols }) => symbols.length !== first.symbols.length);
    if (odd !== undefined) {
      throw new SvcError(
        "boundary_count_mismatch",
        `Cannot combine ${odd.symbols.length / 2} symbols of ${odd.port} with ${count} of rx_symbols`,
        { hint: "Wire transmissions of the same symbols" },
      );
    }
    const symbols = new Float32Array(2 * count), variances = new Float32Array(count);
    for (let i = 0; i < count; i++) {
      let real = 0, imaginary = 0, weights = 0;
      for (const { symbols: own, variance } of received) {
        const weight = 1 / (typeof variance === "number" ? variance : variance[i]);
        real += weight * own[2 * i];
        imaginary += weight * own[2 * i + 1];
        weights += weight;
      }
      symbols[2 * i] = real / weights;
      symbols[2 * i + 1] = imaginary / weights;
      variances[i] = 1 / weights;
    }
    // The metadata have N0 of all transmissions together, that of a gain of 1.
    const densities = received.map(({ input }) => metadataNumber(input.metadata, "noise_variance"));
    const density = densities.every((own) => own !== undefined) ? parallel(densities) : undefined;
    const common = received.every(({ variance }) => typeof variance === "number");
    const metadata = travel(first.input.metadata, {
      combined_transmissions: received.length,
      ...(density === undefined ? {} : { noise_variance: float(density) }),
    }, density === undefined ? ["noise_variance"] : []);
    const companions = common ? undefined : { noise_variance: ndarray("float32", variances) };
    return { outputs: { rx_symbols: symbolsArtifact(symbols, metadata, companions) } };
  },
});

const parallel = (variances: readonly number[]) => 1 / variances.reduce((sum, own) => sum + 1 / own, 0);

/** @throws SvcError `input_metadata_missing`, `boundary_value_invalid`, or `boundary_shape_invalid` before equalisation */
function varianceOf(input: InputArtifact, port: string): number | Float32Array {
  const others = Object.keys(companionsOf(input)).filter((name) => name !== "noise_variance");
  if (others.length > 0) {
    throw new SvcError("boundary_shape_invalid", `Cannot combine the symbols of ${port} with their ${others[0]}`, {
      hint: "Equalise the symbols before channel.symbol_combine",
    });
  }
  const { variance, source } = noiseVarianceOf(input, symbolsOf(input).length / 2);
  if (source === "assumed") {
    throw new SvcError("input_metadata_missing", `Cannot weigh the symbols of ${port}: they have no noise_variance`, {
      hint: "Wire symbols of wireless.channel or of an equaliser",
    });
  }
  if (typeof variance === "number" ? variance > 0 : variance.every((own) => own > 0)) return variance;
  throw new SvcError("boundary_value_invalid", `Cannot weigh the symbols of ${port} by a noise variance of 0`, {
    hint: "Set a finite Es/N0",
  });
}
