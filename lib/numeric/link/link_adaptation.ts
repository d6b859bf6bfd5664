/**
 * What a coded link over a constellation can carry, without running it.
 *
 *     information density   i = sum over the bits of a symbol of 1 - log2(1 + exp(-(1 - 2b) L)), L the exact LLR of bit b
 *     I, V                  mean and variance of i over points and noise, in bits and bits² per symbol (48-point
 *                           Gauss-Hermite per axis; the axes of square QAM are independent and alike)
 *     block error rate      1 - (1 - p)^C, p = Q((n·I - k + log2(n)/2) / sqrt(n·V)) of each of C code blocks of k bits on n
 *                           symbols (normal approximation)
 *     effective Es/N0       the Es/N0 at which I equals its mean over the resource elements
 *
 * Sources: Caire, Taricco and Biglieri, "Bit-interleaved coded modulation", IEEE Trans. Inf. Theory 44, 1998; Polyanskiy,
 * Poor and Verdu, IEEE Trans. Inf. Theory 56, 2010; Brueninghaus et al., "Link performance models for system level
 * simulations of broadband radio access systems", PIMRC 2005 (effective Es/N0 by mutual information).
 */
import { linearToDb } from "./decibel.ts";
import { type ChannelStatistics, normalApproximationErrorRate } from "./finite_blocklength.ts";
import { gaussHermite } from "../linalg/gauss_hermite.ts";
import { partLevels } from "./modulation.ts";
import { type Modulation, MODULATION_BY_BITS } from "./modulations.ts";

const NODES = gaussHermite(48);

/** Mutual information and dispersion of bit-interleaved coded modulation per symbol; snr = Es/N0, linear. */
export function bitInterleavedStatistics(modulation: Modulation, snr: number): ChannelStatistics {
  const levels = partLevels(modulation), deviation = Math.sqrt(1 / snr);
  const precision = snr, bits = Math.log2(levels.length), axes = modulation === "bpsk" ? 1 : 2;
  const distances = new Float64Array(levels.length);
  let first = 0, second = 0;
  levels.forEach((level, label) => {
    NODES.nodes.forEach((node, i) => {
      const y = level + deviation * node;
      let least = Infinity;
      for (let j = 0; j < levels.length; j++) {
        distances[j] = (y - levels[j]) ** 2 * precision;
        least = Math.min(least, distances[j]);
      }
      for (let j = 0; j < levels.length; j++) distances[j] = Math.exp(least - distances[j]);
      let density = bits;
      for (let bit = 0; bit < bits; bit++) {
        const mask = levels.length >> (bit + 1);
        let same = 0, other = 0;
        for (let j = 0; j < levels.length; j++) if (((j ^ label) & mask) === 0) same += distances[j];
        for (let j = 0; j < levels.length; j++) if (((j ^ label) & mask) !== 0) other += distances[j];
        density -= Math.log1p(other / Math.max(same, Number.MIN_VALUE)) * Math.LOG2E;
      }
      const weight = NODES.weights[i] / Math.sqrt(Math.PI) / levels.length;
      first += weight * density;
      second += weight * density * density;
    });
  });
  return { capacity: axes * first, dispersion: axes * Math.max(second - first * first, 0) };
}

/**
 * Es/N0 in dB at which the constellation has the mean mutual information of the elements, by bisection to 1e-6 dB.
 * @param snrs Es/N0 of each resource element, linear
 */
export function effectiveSnrDb(modulation: Modulation, snrs: ArrayLike<number>): number {
  // Block-static states repeat their rows.
  const counts = new Map<number, number>();
  for (let i = 0; i < snrs.length; i++) counts.set(snrs[i], (counts.get(snrs[i]) ?? 0) + 1);
  const distinct = [...counts.keys()];
  if (distinct.length === 1) return linearToDb(distinct[0]);
  const capacity = (snr: number) => snr > 0 ? bitInterleavedStatistics(modulation, snr).capacity : 0;
  let mean = 0;
  for (const [snr, count] of counts) mean += count / snrs.length * capacity(snr);
  let low = linearToDb(Math.max(Math.min(...distinct), 1e-10)), high = linearToDb(Math.max(...distinct));
  while (high - low > 1e-6) {
    const middle = (low + high) / 2;
    if (capacity(10 ** (middle / 10)) < mean) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Code blocks of a transport block. */
export interface BlockLayout {
  readonly bitsPerSymbol: number;
  readonly codedBits: number;
  readonly layers: number;
  readonly codeBlockCount: number;
  /** Information bits of a code block with its CRC. */
  readonly usedBits: number;
}

/** Block error rate of a transport block by the normal approximation; a channel use is a resource element, all layers. */
export function predictedBlockErrorRate(layout: BlockLayout, snrDb: number): number {
  const { bitsPerSymbol, codedBits, layers, codeBlockCount, usedBits } = layout;
  const blocklength = codedBits / (bitsPerSymbol * layers * codeBlockCount);
  const { capacity, dispersion } = bitInterleavedStatistics(MODULATION_BY_BITS[bitsPerSymbol], 10 ** (snrDb / 10));
  const perUse = { capacity: layers * capacity, dispersion: layers * dispersion };
  const one = normalApproximationErrorRate(perUse, usedBits / blocklength, { blocklength, thirdOrder: true });
  return -Math.expm1(codeBlockCount * Math.log1p(-one));
}
