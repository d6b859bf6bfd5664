/**
 * Viterbi's algorithm of ../../coding/convolutional.ts, the same operations in binary64 for two states at once, so that bits and
 * metrics are those of the reference to the bit. Compiled to ../viterbi.wasm by `deno task build:wasm`.
 *
 * States s and s + S/2 of S have the same two states before them, 2s and 2s + 1. Codes have a memory of at least two bits.
 */
/** Label metrics, metrics of two steps, and for each register the address of its label metric. */
const LABELS = memory.data(64 * 8, 16);
const METRICS = memory.data(2 * 2048 * 8, 16);
const BRANCHES = memory.data(4096 * 4, 16);

let received: usize = 0;
let decisions: usize = 0;
let bits: usize = 0;

/** Room for the values of a block; returns the address of its values float32 [step, output], or 0 without memory. */
export function prepare(steps: i32, states: i32, outputs: i32): usize {
  const values = (4 * <usize>(steps * outputs) + 15) & ~15, words = <usize>((states + 31) >> 5);
  const bytes = values + 4 * words * <usize>steps + <usize>steps;
  received = (__heap_base + 15) & ~15;
  const pages = <i32>((received + bytes + 0xffff) >>> 16);
  if (pages > memory.size() && memory.grow(pages - memory.size()) < 0) return 0;
  decisions = received + values;
  bits = decisions + 4 * words * <usize>steps;
  return received;
}

/** Names the coded bits of a register. */
export function setLabel(register: i32, label: i32): void {
  store<u32>(BRANCHES + (<usize>register << 2), <u32>(LABELS + (<usize>label << 3)));
}

// @ts-ignore: decorator of AssemblyScript
@inline
function labelMetrics(at: usize, outputs: i32): void {
  let sum: f64 = 0;
  for (let j = 0; j < outputs; j++) sum += <f64>load<f32>(at + (<usize>j << 2)) / 2;
  store<f64>(LABELS, sum);
  for (let j = outputs - 1; j >= 0; j--) {
    // Labels whose lowest bit is j: without it, a label has a metric already.
    const value = <f64>load<f32>(at + (<usize>j << 2)), low = 1 << j;
    for (let label = low; label < 1 << outputs; label += low << 1) {
      const from = LABELS + (<usize>(label ^ low) << 3);
      store<f64>(LABELS + (<usize>label << 3), load<f64>(from) - value);
    }
  }
}

/** Metrics of the labels of two registers. */
// @ts-ignore: decorator of AssemblyScript
@inline
function pair(first: usize, second: usize): v128 {
  return v128.load64_lane(load<u32>(second), v128.load64_zero(load<u32>(first)), 1);
}

/** Decodes; start and end are states, or -1 for any. Returns the address of the bits uint8 [step]. */
export function decode(steps: i32, memory: i32, outputs: i32, start: i32, end: i32): usize {
  const states = 1 << memory, half = states >> 1, words = (states + 31) >> 5;
  let from = METRICS, to = METRICS + 2048 * 8;
  for (let state = 0; state < states; state++) {
    store<f64>(from + (<usize>state << 3), start < 0 || state == start ? 0 : -Infinity);
  }
  let highest = f64x2.splat(0), at = received, word = decisions;
  for (let step = 0; step < steps; step++) {
    labelMetrics(at, outputs);
    let most = f64x2.splat(-Infinity), low: u32 = 0, high: u32 = 0;
    for (let state = 0; state < half; state += 2) {
      const before = from + (<usize>state << 4), register = BRANCHES + (<usize>state << 3);
      const upper = register + (<usize>states << 2);
      // Differences count; the largest of a step becomes 0, so that no sum loses its last bits in a long block.
      const a = f64x2.sub(v128.load(before), highest), b = f64x2.sub(v128.load(before, 16), highest);
      const even = v128.shuffle<i64>(a, b, 0, 2), odd = v128.shuffle<i64>(a, b, 1, 3);
      const zero = f64x2.add(even, pair(register, register + 8)), one = f64x2.add(odd, pair(register + 4, register + 12));
      const left = f64x2.lt(zero, one), metric = v128.bitselect(one, zero, left);
      const zeroUp = f64x2.add(even, pair(upper, upper + 8)), oneUp = f64x2.add(odd, pair(upper + 4, upper + 12));
      const leftUp = f64x2.lt(zeroUp, oneUp), metricUp = v128.bitselect(oneUp, zeroUp, leftUp);
      v128.store(to + (<usize>state << 3), metric);
      v128.store(to + (<usize>(state + half) << 3), metricUp);
      most = f64x2.pmax(most, f64x2.pmax(metric, metricUp));
      low |= i64x2.bitmask(left) << (state & 31);
      high |= i64x2.bitmask(leftUp) << (state & 31);
      if ((state & 31) == 30) {
        store<u32>(word + (<usize>(state >> 5) << 2), low);
        store<u32>(word + (<usize>((state + half) >> 5) << 2), high);
        low = 0;
        high = 0;
      }
    }
    if (half < 32) store<u32>(word, low | high << half);
    highest = f64x2.splat(max(f64x2.extract_lane(most, 0), f64x2.extract_lane(most, 1)));
    const next = to;
    to = from;
    from = next;
    at += <usize>outputs << 2;
    word += <usize>words << 2;
  }
  let state = end < 0 ? 0 : end;
  if (end < 0) {
    const shift = f64x2.extract_lane(highest, 0);
    for (let other = 1; other < states; other++) {
      if (load<f64>(from + (<usize>other << 3)) - shift > load<f64>(from + (<usize>state << 3)) - shift) state = other;
    }
  }
  for (let step = steps - 1; step >= 0; step--) {
    word -= <usize>words << 2;
    const left = load<u32>(word + (<usize>(state >> 5) << 2)) >> (state & 31) & 1, register = state << 1 | left;
    store<u8>(bits + <usize>step, register >> memory);
    state = register & (states - 1);
  }
  return bits;
}
