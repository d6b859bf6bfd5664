/**
 * List decoder of polar codes with exact check nodes: the decisions of ./list_reference.ts, but for metrics that differ by rounding.
 *
 * A node at stage s has 2^s values. Every path has buffers for the values and bits of each stage, and a row of the buffers that it uses:
 * a fork copies its row. All paths write a stage at the same time, after which no path uses the old contents.
 *
 * Nodes decided at once: the exact probability of a node's bits is the product over its values, so that a node without information adds
 * Σ ln(1 + e^-λ) to the metric, and one with information in its last bit forks between that and Σ ln(1 + e^λ).
 *
 * Shapes: llr float64 [N] -> bits uint8 [N] before the polar transform, by path metric.
 */
import { type PolarCode, polarTransform } from "./code.ts";
import { FROZEN, PARITY, REPETITION } from "./node_kinds.ts";

/** exp(-x) is below half the precision of 1. */
const NEGLIGIBLE = 37.5;
/** Factors up to 2 that a product of binary64 holds. */
const FACTORS = 512;

/** @param nodes kinds of the nodes of the decoding tree */
export function exactList(llr: Float64Array, code: PolarCode, listSize: number, nodes: Uint8Array): Uint8Array[] {
  const { stages, motherBits } = code, width = stages + 1;
  const values = Array.from({ length: width }, (_, stage) => new Float64Array(listSize << stage));
  // Bits of nodes that are left (0) and right (1) children.
  const bits = [0, 1].map(() => Array.from({ length: width }, (_, stage) => new Uint8Array(listSize << stage)));
  let rows = new Uint8Array(3 * width * listSize), spare = rows.slice();
  let metrics = new Float64Array(listSize), spareMetrics = metrics.slice();
  let registers = new Uint8Array(listSize), spareRegisters = registers.slice();
  let count = 1;
  values[stages].set(llr);

  /** Offset of the values of a path, and of the bits of its left and right children. */
  const at = (path: number, kind: number, stage: number) => rows[(3 * path + kind) * width + stage] << stage;
  const own = (path: number, kind: number, stage: number) => {
    rows[(3 * path + kind) * width + stage] = path;
    return path << stage;
  };

  /** Decides all bits of a node alike, by the metrics of both decisions. */
  function decide(
    stage: number,
    side: number,
    index: number,
    fork: boolean,
    decisions?: (path: number) => number,
  ): void {
    const length = 1 << stage, own_ = values[stage], costs = new Float64Array(2 * count);
    for (let path = 0; path < count; path++) {
      const from = at(path, 0, stage);
      let zero = 0, one = 0;
      for (let start = 0; start < length; start += FACTORS) {
        let product = 1;
        for (let i = from + start, end = from + Math.min(length, start + FACTORS); i < end; i++) {
          const value = own_[i];
          if (value < 0) zero -= value;
          else one += value;
          product *= 1 + Math.exp(-Math.abs(value));
        }
        const both = Math.log(product);
        zero += both;
        one += both;
      }
      costs[2 * path] = metrics[path] + zero;
      costs[2 * path + 1] = metrics[path] + one;
    }
    // The costs up to the limit stay; of those equal to it the first, until the list is full.
    const limit = fork && 2 * count > listSize ? costs.slice().sort()[listSize - 1] : Infinity;
    let equal = listSize;
    for (let which = 0; which < 2 * count; which++) if (costs[which] < limit) equal--;
    const forks = 2 * count;
    let next = 0;
    for (let which = 0; which < forks; which++) {
      const path = which >> 1, bit = which & 1;
      if (fork ? costs[which] > limit || costs[which] === limit && equal-- <= 0 : bit !== (decisions?.(path) ?? 0)) {
        continue;
      }
      spare.set(rows.subarray(3 * width * path, 3 * width * (path + 1)), 3 * width * next);
      spareMetrics[next] = costs[which];
      spareRegisters[next] = registers[path] ^ (fork ? bit << index % 5 : 0);
      spare[(3 * next + 1 + side) * width + stage] = next;
      bits[side][stage].fill(bit, next << stage, (next + 1) << stage);
      next++;
    }
    count = next;
    [rows, spare] = [spare, rows];
    [metrics, spareMetrics] = [spareMetrics, metrics];
    [registers, spareRegisters] = [spareRegisters, registers];
  }

  function node(stage: number, number: number, side: number): void {
    const kind = nodes[number], index = number - (motherBits >> stage);
    if (kind === FROZEN) return decide(stage, side, index, false);
    if (kind === REPETITION) return decide(stage, side, index, true);
    if (kind === PARITY) return decide(stage, side, index, false, (path) => registers[path] >> index % 5 & 1);
    const half = 1 << stage - 1,
      above = values[stage],
      below = values[stage - 1],
      [left, right] = bits.map((all) => all[stage - 1]);
    for (let path = 0; path < count; path++) {
      const from = at(path, 0, stage), to = own(path, 0, stage - 1);
      for (let i = 0; i < half; i++) {
        const a = above[from + i], b = above[from + half + i], least = Math.min(Math.abs(a), Math.abs(b));
        const sum = Math.abs(a + b), difference = Math.abs(a - b), signed = a < 0 !== b < 0 ? -least : least;
        below[to + i] = sum > NEGLIGIBLE && difference > NEGLIGIBLE
          ? signed
          : signed + Math.log((1 + Math.exp(-sum)) / (1 + Math.exp(-difference)));
      }
    }
    node(stage - 1, 2 * number, 0);
    for (let path = 0; path < count; path++) {
      const from = at(path, 0, stage), known = at(path, 1, stage - 1), to = own(path, 0, stage - 1);
      for (let i = 0; i < half; i++) {
        const a = above[from + i];
        below[to + i] = above[from + half + i] + (left[known + i] === 0 ? a : -a);
      }
    }
    node(stage - 1, 2 * number + 1, 1);
    const result = bits[side][stage];
    for (let path = 0; path < count; path++) {
      const first = at(path, 1, stage - 1), second = at(path, 2, stage - 1), to = own(path, 1 + side, stage);
      for (let i = 0; i < half; i++) {
        result[to + i] = left[first + i] ^ right[second + i];
        result[to + half + i] = right[second + i];
      }
    }
  }

  node(stages, 1, 1);
  return Array.from({ length: count }, (_, path) => path).sort((a, b) => metrics[a] - metrics[b]).map((path) => {
    const from = at(path, 2, stages);
    return polarTransform(bits[1][stages].slice(from, from + motherBits));
  });
}
