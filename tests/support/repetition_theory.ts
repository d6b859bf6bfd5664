/**
 * Bit error rates of a repetition code whose copies follow each other and are decided by majority, exactly: copies that
 * fall into one symbol share its amplitude, its noise where they share a component, and its gain. All data words of one
 * period are enumerated; over Rayleigh fading, whose gains are new at every symbol, a symbol's outcome is averaged over
 * its gain by Simpson's rule.
 *
 * Source: decision regions of Gray-mapped PAM as in Cho and Yoon, IEEE Trans. Commun. 50, 2002.
 */
import { gaussianTail } from "../../lib/numeric/linalg/error_function.ts";
import { BITS_PER_SYMBOL } from "../../lib/numeric/link/modulations.ts";

export type TheoryModulation = "bpsk" | "qpsk" | "qam16";
export type TheoryChannel = "awgn" | "flat_rayleigh";

/** Amplitude of a component for its bits, in units where a symbol has the mean power 1. */
function level(modulation: TheoryModulation, bits: readonly number[]): number {
  if (modulation === "bpsk") return 1 - 2 * bits[0];
  if (modulation === "qpsk") return (1 - 2 * bits[0]) * Math.SQRT1_2;
  return (1 - 2 * bits[0]) * (bits[1] === 0 ? 1 : 3) / Math.sqrt(10);
}

/** P(decided bits | level) of a component, over all decisions: [bits, probability]. */
function decisions(modulation: TheoryModulation, sent: number, sigma: number): [number[], number][] {
  const below = (threshold: number) => gaussianTail((sent - threshold) / sigma);
  if (modulation !== "qam16") return [[[1], below(0)], [[0], 1 - below(0)]];
  const edge = 2 / Math.sqrt(10);
  const [low, middle, high] = [below(-edge), below(0), below(edge)];
  return [[[1, 1], low], [[1, 0], middle - low], [[0, 0], high - middle], [[0, 1], 1 - high]];
}

/** P(k wrong bits) among the wanted bits of a symbol, at one signal-to-noise ratio. */
function wrongAt(
  modulation: TheoryModulation,
  bits: readonly number[],
  wanted: readonly number[],
  esN0: number,
): number[] {
  const sigma = Math.sqrt(1 / (2 * esN0));
  const components = modulation === "bpsk" ? [[0]] : modulation === "qpsk" ? [[0], [1]] : [[0, 2], [1, 3]];
  let distribution = [1];
  for (const positions of components) {
    const sent = positions.map((position) => bits[position]);
    const outcome = new Array<number>(positions.length + 1).fill(0);
    for (const [decided, probability] of decisions(modulation, level(modulation, sent), sigma)) {
      const wrong = positions.filter((position, at) => wanted.includes(position) && decided[at] !== sent[at]).length;
      outcome[wrong] += probability;
    }
    distribution = convolve(distribution, outcome);
  }
  return distribution;
}

function convolve(a: readonly number[], b: readonly number[]): number[] {
  const out = new Array<number>(a.length + b.length - 1).fill(0);
  a.forEach((x, i) => b.forEach((y, j) => out[i + j] += x * y));
  return out;
}

/** The same averaged over an exponential gain: integral of 2u exp(-u²) f(u²) du. */
function wrongOver(
  channel: TheoryChannel,
  modulation: TheoryModulation,
  bits: readonly number[],
  wanted: readonly number[],
  esN0: number,
): number[] {
  if (channel === "awgn") return wrongAt(modulation, bits, wanted, esN0);
  const steps = 2000, end = 7, width = end / steps;
  let sum: number[] = [];
  for (let i = 1; i <= steps; i++) {
    const u = i * width;
    const weight = (i === steps ? 1 : i % 2 === 1 ? 4 : 2) * width / 3 * 2 * u * Math.exp(-u * u);
    sum = wrongAt(modulation, bits, wanted, esN0 * u * u).map((value, k) => (sum[k] ?? 0) + weight * value);
  }
  return sum;
}

/**
 * The error rate behind the majority decision.
 *
 * @param factor odd number of copies; 1 is no code
 * @param esN0 mean signal-to-noise ratio of a symbol, linear
 */
export function majorityErrorRate(
  channel: TheoryChannel,
  modulation: TheoryModulation,
  factor: number,
  esN0: number,
): number {
  const perSymbol = BITS_PER_SYMBOL[modulation];
  let period = factor;
  while (period % perSymbol !== 0) period += factor;
  const groups = period / factor;
  let total = 0;
  for (let word = 0; word < 2 ** groups; word++) {
    const bit = (position: number) => (word >> Math.floor(position / factor)) & 1;
    for (let group = 0; group < groups; group++) {
      let distribution = [1];
      for (let symbol = 0; symbol < period / perSymbol; symbol++) {
        const positions = Array.from({ length: perSymbol }, (_, at) => symbol * perSymbol + at);
        const wanted = positions.flatMap((position, at) => Math.floor(position / factor) === group ? [at] : []);
        if (wanted.length === 0) continue;
        distribution = convolve(distribution, wrongOver(channel, modulation, positions.map(bit), wanted, esN0));
      }
      total += distribution.slice((factor + 1) / 2).reduce((sum, value) => sum + value, 0);
    }
  }
  return total / (groups * 2 ** groups);
}
