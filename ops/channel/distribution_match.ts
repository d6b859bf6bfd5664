/**
 * Distribution matching of amplitudes by constant composition (CCDM). The bits of a block are those that choose n amplitudes, and
 * `uniform_bits` behind them that stay as they are, for signs; out come the labels of the amplitudes, then those bits. A systematic code
 * whose word has a sign bit for each amplitude in all, channel.block_interleaver of kind shaped, and the modulation shaped complete
 * probabilistic amplitude shaping. A block is delivered if its amplitudes have the composition.
 *
 * Source: lib/numeric/coding/distribution_matcher.ts.
 */
import { float, z } from "../api.ts";
import {
  compositionEntropy,
  compositionOf,
  dematchDistribution,
  type DistributionMatcher,
  distributionMatcher,
  matchDistribution,
  maxwellBoltzmann,
} from "../../lib/numeric/coding/distribution_matcher.ts";
import { amplitudesOf } from "../../lib/numeric/link/modulation.ts";
import { BITS_PER_SYMBOL } from "../../lib/numeric/link/modulations.ts";
import { type BlockCode, blockCode } from "./_block_code.ts";

export default blockCode({
  id: "distribution_match",
  ids: ["modulation.distribution_match", "demodulation.distribution_dematch"],
  name: "Distribution",
  key: "distribution_match",
  params: z.strictObject({
    modulation: z.enum(["qam16", "qam64", "qam256"]).default("qam64").describe("square QAM of the amplitudes"),
    amplitude_count: z.int().min(2).max(32_400).default(648).describe("amplitudes of a block, two a symbol"),
    boltzmann_factor: z.number().min(0).max(1).default(0.04)
      .describe("ν of the probabilities exp(-ν·a²) of the amplitudes 1, 3, 5 …; 0 is uniform"),
    amplitude_probabilities: z.array(z.number().positive().max(1)).max(8).optional()
      .describe("probabilities of the amplitudes 1, 3, 5 … in place of boltzmann_factor"),
    uniform_bits: z.int().min(0).max(32_400).default(0)
      .describe("bits of a block that stay as they are, for signs that carry no parity bit"),
  }),
  code(params): BlockCode & { matcher: DistributionMatcher; width: number } {
    const { amplitude_count, boltzmann_factor, amplitude_probabilities: own, uniform_bits } = params;
    const width = BITS_PER_SYMBOL[params.modulation] / 2 - 1, amplitudes = amplitudesOf(width);
    if (own !== undefined) {
      const sum = own.reduce((total, one) => total + one, 0);
      if (own.length !== amplitudes.length || Math.abs(sum - 1) > 1e-6) {
        throw new RangeError(
          `Cannot use ${own.length} amplitude_probabilities with the sum ${sum}: ${amplitudes.length} of them make 1`,
        );
      }
    }
    if (uniform_bits > amplitude_count) {
      throw new RangeError(`Cannot put ${uniform_bits} uniform_bits on the signs of ${amplitude_count} amplitudes`);
    }
    const wanted = own === undefined
      ? maxwellBoltzmann(amplitudes, boltzmann_factor)
      : amplitudes.map((amplitude) => own[(amplitude - 1) / 2]);
    const matcher = distributionMatcher(compositionOf(wanted, amplitude_count)), { bits, counts } = matcher;
    if (bits === 0) {
      throw new RangeError(`Cannot choose among the sequences of ${amplitude_count} amplitudes: there is 1`);
    }
    const entropy = compositionEntropy(matcher), rate = bits / amplitude_count;
    return {
      size: bits + uniform_bits,
      sent: amplitude_count * width + uniform_bits,
      matcher,
      width,
      encode(message) {
        const labels = matchDistribution(message.subarray(0, bits), matcher);
        const sent = new Uint8Array(amplitude_count * width + uniform_bits);
        for (let i = 0; i < amplitude_count * width; i++) {
          sent[i] = labels[Math.floor(i / width)] >> (width - 1 - i % width) & 1;
        }
        sent.set(message.subarray(bits), amplitude_count * width);
        return sent;
      },
      metrics: {
        "channel.shaping_rate_bits": rate,
        "channel.shaping_entropy_bits": entropy,
        "channel.shaping_divergence_bits": entropy - rate,
      },
      facts: { amplitude_shares: counts.map((count) => float(count / amplitude_count)) },
    };
  },
  placeOf: (message) =>
    ["amplitude_probabilities", "uniform_bits"].find((name) => message.includes(name)) ?? "boltzmann_factor",
  encoderDescription: "Turns uniform bits into amplitudes of a given distribution, as their label bits",
  decoderDescription: "Turns label bits of amplitudes back into uniform bits and reports blocks of a wrong composition",
  choices: z.strictObject({}),
  soft: false,
  detects: true,
  decode(llr, { size, matcher, width }) {
    const { length, bits } = matcher, labels = new Uint8Array(length), found = new Uint8Array(size);
    for (let i = 0; i < length * width; i++) {
      labels[Math.floor(i / width)] |= (llr[i] < 0 ? 1 : 0) << (width - 1 - i % width);
    }
    const message = dematchDistribution(labels, matcher);
    if (message !== undefined) found.set(message);
    for (let i = bits; i < size; i++) found[i] = llr[length * width + i - bits] < 0 ? 1 : 0;
    return { bits: found, passed: message !== undefined };
  },
});
