/**
 * Successive-cancellation list decoder of polar codes, one bit at a time (Tal and Vardy, IEEE Transactions on Information Theory
 * 61, 2015; path metrics on log-likelihood ratios: Balatsoukas-Stimming, Parizi and Burg, IEEE Transactions on Signal Processing
 * 63, 2015). The kernel of ./decoder.ts equals it for min-sum; for exact check nodes its values have the
 * rounding of binary32, which decides nothing but near ties.
 *
 * f = sign(a) sign(b) min(|a|, |b|), for exact check nodes plus ln(1 + e^-|a+b|) - ln(1 + e^-|a-b|); g = b + (1-2u) a. A
 * decision u against the sign of λ adds |λ| to the path metric, exact: any decision adds ln(1 + e^(-(1-2u) λ)). The paths of
 * smallest metric stay, in the order (path, bit); in a tie the first.
 *
 * Shapes: llr float64 [N] -> bits uint8 [N] before the polar transform, by path metric.
 */
import { type PolarCode, polarTransform } from "./code.ts";

export const CHECK_NODES = ["min_sum", "exact"] as const;
export type CheckNode = typeof CHECK_NODES[number];

/** Arrays are shared between paths and never changed. */
interface Path {
  readonly metric: number;
  /** Log-likelihood ratios of the current node at every stage. */
  readonly llr: readonly Float64Array[];
  /** Bits of the last left child at every stage. */
  readonly left: readonly Uint8Array[];
  /** Bits of the last decoded node. */
  readonly bits: Uint8Array;
  /** Sums of message bits for parity checks, by position modulo 5. */
  readonly register: number;
}

/** Exported for tests. @returns the bits of the paths before the polar transform, smallest metric first */
export function decodeList(
  llr: Float64Array,
  { stages, positions, parityChecks }: PolarCode,
  listSize: number,
  checkNode: CheckNode = "min_sum",
): Uint8Array[] {
  const message = new Set(positions);
  const combine = checkNode === "min_sum" ? minSum : exactCheck;
  const penalty = checkNode === "min_sum"
    ? (value: number) => Math.max(0, -value)
    : (value: number) => Math.max(0, -value) + Math.log1p(Math.exp(-Math.abs(value)));

  function decide(path: Path, bit: number): Path {
    const value = path.llr[0][0];
    return { ...path, metric: path.metric + penalty(bit === 0 ? value : -value), bits: Uint8Array.of(bit) };
  }
  function leaf(paths: Path[], index: number): Path[] {
    if (parityChecks.has(index)) return paths.map((path) => decide(path, path.register >> index % 5 & 1));
    if (!message.has(index)) return paths.map((path) => decide(path, 0));
    const forks = paths.flatMap((path) => [
      decide(path, 0),
      { ...decide(path, 1), register: path.register ^ 1 << index % 5 },
    ]);
    const kept = new Set(forks.toSorted((a, b) => a.metric - b.metric).slice(0, listSize));
    return forks.filter((path) => kept.has(path));
  }
  function node(paths: Path[], stage: number, index: number): Path[] {
    if (stage === 0) return leaf(paths, index);
    const half = 2 ** (stage - 1);
    let current = paths.map((path) => {
      const own = path.llr[stage];
      const checks = Float64Array.from({ length: half }, (_, i) => combine(own[i], own[half + i]));
      return { ...path, llr: path.llr.with(stage - 1, checks) };
    });
    current = node(current, stage - 1, index).map((path) => {
      const own = path.llr[stage], { bits } = path;
      const sums = Float64Array.from({ length: half }, (_, i) => own[half + i] + (bits[i] === 0 ? own[i] : -own[i]));
      return { ...path, llr: path.llr.with(stage - 1, sums), left: path.left.with(stage - 1, bits) };
    });
    return node(current, stage - 1, index + half).map((path) => {
      const bits = new Uint8Array(2 * half), left = path.left[stage - 1];
      for (let i = 0; i < half; i++) bits[i] = left[i] ^ path.bits[i];
      bits.set(path.bits, half);
      return { ...path, bits };
    });
  }

  const empty = Array.from({ length: stages }, () => llr),
    none = Array.from({ length: stages }, () => new Uint8Array(0));
  const start = { metric: 0, llr: [...empty, llr], left: none, bits: new Uint8Array(0), register: 0 };
  return node([start], stages, 0).toSorted((a, b) => a.metric - b.metric).map(({ bits }) =>
    polarTransform(bits.slice())
  );
}

const minSum = (a: number, b: number) => Math.sign(a) * Math.sign(b) * Math.min(Math.abs(a), Math.abs(b));
const exactCheck = (a: number, b: number) =>
  minSum(a, b) + Math.log1p(Math.exp(-Math.abs(a + b))) - Math.log1p(Math.exp(-Math.abs(a - b)));
