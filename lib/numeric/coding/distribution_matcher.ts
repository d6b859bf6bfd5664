/**
 * Constant-composition distribution matching: k uniform bits choose one of the M = n! / (n_0! … n_{A-1}!) sequences of n amplitudes
 * in which amplitude a occurs n_a times, k = floor(log2 M). The bits are the point u / 2^k of [0, 1), in which arithmetic coding gives
 * each sequence an interval of the length 1/M: symbol a, with n_a left of N, takes the share n_a / N of the interval before it. The
 * integers are exact, so that all M intervals have a length and the inverse is u = ceil(rank · 2^k / M).
 *
 * The composition nearest to a distribution P has the least divergence Σ n_a/n log2 (n_a / (n P_a)): its growth with n_a increases, so
 * that n single steps, each at the amplitude that adds least, find it.
 *
 *     rate k/n, entropy H = -Σ n_a/n log2 (n_a/n), divergence per amplitude from independent draws of n_a/n: H - k/n
 *
 * Sources: Schulte and Böcherer, IEEE Trans. Inf. Theory 62, 2016; Böcherer, Steiner and Schulte, IEEE Trans. Commun. 63, 2015 (PAS);
 * Böcherer and Geiger, IEEE Trans. Inf. Theory 62, 2016 (composition).
 */
export interface DistributionMatcher {
  /** n_a by label. */
  readonly counts: readonly number[];
  /** n */
  readonly length: number;
  /** k */
  readonly bits: number;
  /** M */
  readonly sequences: bigint;
}

/** Probabilities of amplitudes, exp(-ν a²) over their sum. */
export function maxwellBoltzmann(amplitudes: readonly number[], factor: number): number[] {
  const weights = amplitudes.map((amplitude) => Math.exp(-factor * (amplitude ** 2 - 1)));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** The composition of a length that is nearest to a distribution. */
export function compositionOf(probabilities: readonly number[], length: number): number[] {
  const counts = probabilities.map(() => 0);
  const growth = (a: number) => {
    const count = counts[a];
    return (count + 1) * Math.log(count + 1) - (count === 0 ? 0 : count * Math.log(count)) - Math.log(probabilities[a]);
  };
  for (let i = 0; i < length; i++) {
    let best = 0;
    for (let a = 1; a < counts.length; a++) if (growth(a) < growth(best)) best = a;
    counts[best]++;
  }
  return counts;
}

/** The matcher of a composition. */
export function distributionMatcher(counts: readonly number[]): DistributionMatcher {
  let length = 0, sequences = 1n;
  for (const count of counts) {
    for (let i = 1; i <= count; i++) sequences = sequences * BigInt(++length) / BigInt(i);
  }
  return { counts, length, bits: sequences.toString(2).length - 1, sequences };
}

/** H of a composition in bits. */
export const compositionEntropy = ({ counts, length }: DistributionMatcher): number =>
  counts.reduce((sum, count) => sum - (count === 0 ? 0 : count / length * Math.log2(count / length)), 0);

/** Labels of the amplitudes that k bits choose. */
export function matchDistribution(bits: Uint8Array, { counts, length, sequences }: DistributionMatcher): Uint8Array {
  const left = counts.slice(), labels = new Uint8Array(length);
  let size = sequences, rank = BigInt(`0b0${bits.join("")}`) * sequences >> BigInt(bits.length);
  for (let i = 0; i < length; i++) {
    const total = BigInt(length - i);
    for (let a = 0;; a++) {
      const share = size * BigInt(left[a]) / total;
      if (rank < share) {
        labels[i] = a;
        left[a]--;
        size = share;
        break;
      }
      rank -= share;
    }
  }
  return labels;
}

/** The k bits of labels, or undefined for labels of another composition or of a sequence that no bits choose. */
export function dematchDistribution(
  labels: Uint8Array,
  { counts, length, bits, sequences }: DistributionMatcher,
): Uint8Array<ArrayBuffer> | undefined {
  const left = counts.slice();
  let size = sequences, rank = 0n;
  for (let i = 0; i < length; i++) {
    const total = BigInt(length - i);
    for (let a = 0; a < labels[i]; a++) rank += size * BigInt(left[a]) / total;
    if (left[labels[i]]-- === 0) return undefined;
    size = size * BigInt(left[labels[i]] + 1) / total;
  }
  const point = ((rank << BigInt(bits)) + sequences - 1n) / sequences;
  if (point >> BigInt(bits) !== 0n || point * sequences >> BigInt(bits) !== rank) return undefined;
  return Uint8Array.from(bits === 0 ? "" : point.toString(2).padStart(bits, "0"), Number);
}
