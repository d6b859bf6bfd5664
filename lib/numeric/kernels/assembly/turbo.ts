/**
 * BCJR of one encoder of the turbo code of ../../coding/turbo.ts, by max-log or on probabilities: the same operations in binary64 for two
 * states at once, so that values are those of the reference to the bit. Compiled to ../turbo.wasm by `deno task build:wasm`.
 *
 * States 2u and 2u + 1 lead to u with a fed bit of 0, and to u + 4 with 1. From state 2u + o with a fed bit f the bit is
 * f ^ u0 ^ o and the parity f ^ u1 ^ o, for u = (u1 u0): both lanes have opposite signs, which u and f turn over.
 */

/** Metrics of the states after the block. */
const END = memory.data(64, 16);

let input: usize = 0, parity: usize = 0, weights: usize = 0, forward: usize = 0, output: usize = 0;

/** Room for blocks of so many bits; false without memory. */
export function prepare(steps: i32): bool {
  const size = (8 * <usize>steps + 15) & ~15;
  input = (__heap_base + 15) & ~15;
  parity = input + size;
  weights = parity + size;
  output = weights + 4 * size;
  forward = output + 2 * size;
  const pages = <i32>((forward + 8 * size + 64 + 0xffff) >>> 16);
  return pages <= memory.size() || memory.grow(pages - memory.size()) >= 0;
}
export function inputOffset(): usize {
  return input;
}
export function parityOffset(): usize {
  return parity;
}
/** Likelihoods of [step][bit, parity]. */
export function weightsOffset(): usize {
  return weights;
}
/** After max-log the posterior values, after `likelihoods` the sums of both bits, [step][bit]. */
export function outputOffset(): usize {
  return output;
}
export function endOffset(): usize {
  return END;
}

// @ts-ignore: decorator of AssemblyScript
@inline
function largest(x: v128): f64 {
  return max(f64x2.extract_lane(x, 0), f64x2.extract_lane(x, 1));
}
/** (x, -x) and (-x, x) */
// @ts-ignore: decorator of AssemblyScript
@inline
function opposed(x: f64): v128 {
  return f64x2.replace_lane(f64x2.splat(x), 1, -x);
}
// @ts-ignore: decorator of AssemblyScript
@inline
function branch(x: v128, half: v128, check: v128): v128 {
  return f64x2.add(f64x2.add(x, half), check);
}
/** The larger values of two pairs. */
// @ts-ignore: decorator of AssemblyScript
@inline
function larger(first: v128, second: v128): v128 {
  return f64x2.pmax(v128.shuffle<i64>(first, second, 0, 2), v128.shuffle<i64>(first, second, 1, 3));
}
// @ts-ignore: decorator of AssemblyScript
@inline
function sums(first: v128, second: v128): v128 {
  return f64x2.add(v128.shuffle<i64>(first, second, 0, 2), v128.shuffle<i64>(first, second, 1, 3));
}
// @ts-ignore: decorator of AssemblyScript
@inline
function most(a: v128, b: v128, c: v128, d: v128): v128 {
  return f64x2.splat(largest(f64x2.pmax(f64x2.pmax(a, b), f64x2.pmax(c, d))));
}

export function maxLog(steps: i32): void {
  let a = f64x2.replace_lane(f64x2.splat(-Infinity), 0, 0), b = f64x2.splat(-Infinity), c = b, d = b, to = forward;
  for (let step = 0; step < steps; step++, to += 64) {
    v128.store(to, a);
    v128.store(to, b, 16);
    v128.store(to, c, 32);
    v128.store(to, d, 48);
    const at = <usize>step << 3, h = opposed(load<f64>(input + at) / 2), k = opposed(load<f64>(parity + at) / 2);
    const g = f64x2.neg(h), l = f64x2.neg(k);
    const low = larger(branch(a, h, k), branch(b, g, k)), next = larger(branch(c, h, l), branch(d, g, l));
    const high = larger(branch(a, g, l), branch(b, h, l)), last = larger(branch(c, g, k), branch(d, h, k));
    const scale = most(low, next, high, last);
    a = f64x2.sub(low, scale);
    b = f64x2.sub(next, scale);
    c = f64x2.sub(high, scale);
    d = f64x2.sub(last, scale);
  }
  a = v128.load(END);
  b = v128.load(END, 16);
  c = v128.load(END, 32);
  d = v128.load(END, 48);
  for (let step = steps - 1; step >= 0; step--) {
    to -= 64;
    const at = <usize>step << 3, h = opposed(load<f64>(input + at) / 2), k = opposed(load<f64>(parity + at) / 2);
    const g = f64x2.neg(h), l = f64x2.neg(k);
    const p0 = branch(v128.shuffle<i64>(a, a, 0, 0), h, k), q0 = branch(v128.shuffle<i64>(c, c, 0, 0), g, l);
    const p1 = branch(v128.shuffle<i64>(a, a, 1, 1), g, k), q1 = branch(v128.shuffle<i64>(c, c, 1, 1), h, l);
    const p2 = branch(v128.shuffle<i64>(b, b, 0, 0), h, l), q2 = branch(v128.shuffle<i64>(d, d, 0, 0), g, k);
    const p3 = branch(v128.shuffle<i64>(b, b, 1, 1), g, l), q3 = branch(v128.shuffle<i64>(d, d, 1, 1), h, k);
    const f0 = v128.load(to), f1 = v128.load(to, 16), f2 = v128.load(to, 32), f3 = v128.load(to, 48);
    const u0 = f64x2.add(f0, p0), v0 = f64x2.add(f0, q0), u1 = f64x2.add(f1, p1), v1 = f64x2.add(f1, q1);
    const u2 = f64x2.add(f2, p2), v2 = f64x2.add(f2, q2), u3 = f64x2.add(f3, p3), v3 = f64x2.add(f3, q3);
    const zero = f64x2.pmax(
      f64x2.pmax(v128.shuffle<i64>(u0, v0, 0, 3), v128.shuffle<i64>(u1, v1, 1, 2)),
      f64x2.pmax(v128.shuffle<i64>(u2, v2, 0, 3), v128.shuffle<i64>(u3, v3, 1, 2)),
    );
    const one = f64x2.pmax(
      f64x2.pmax(v128.shuffle<i64>(u0, v0, 1, 2), v128.shuffle<i64>(u1, v1, 0, 3)),
      f64x2.pmax(v128.shuffle<i64>(u2, v2, 1, 2), v128.shuffle<i64>(u3, v3, 0, 3)),
    );
    store<f64>(output + at, largest(zero) - largest(one));
    a = f64x2.pmax(p0, q0);
    b = f64x2.pmax(p1, q1);
    c = f64x2.pmax(p2, q2);
    d = f64x2.pmax(p3, q3);
    const scale = most(a, b, c, d);
    a = f64x2.sub(a, scale);
    b = f64x2.sub(b, scale);
    c = f64x2.sub(c, scale);
    d = f64x2.sub(d, scale);
  }
}

/** Sums in the order of the states, as the reference adds them. */
// @ts-ignore: decorator of AssemblyScript
@inline
function ordered(a: v128, b: v128, c: v128, d: v128): f64 {
  return f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1) + f64x2.extract_lane(b, 0) + f64x2.extract_lane(b, 1) +
    f64x2.extract_lane(c, 0) + f64x2.extract_lane(c, 1) + f64x2.extract_lane(d, 0) + f64x2.extract_lane(d, 1);
}

/** On probabilities; false where a sum is below `least`. */
export function likelihoods(steps: i32, least: f64): bool {
  let a = f64x2.replace_lane(f64x2.splat(0), 0, 1), b = f64x2.splat(0), c = b, d = b, to = forward, w = weights;
  for (let step = 0; step < steps; step++, to += 64, w += 32) {
    v128.store(to, a);
    v128.store(to, b, 16);
    v128.store(to, c, 32);
    v128.store(to, d, 48);
    // Weights of (bit, parity) and their opposites: [00, 11], [10, 01] and turned.
    const x = v128.load(w), y = v128.load(w, 16);
    const s = v128.shuffle<i64>(x, y, 0, 3), t = v128.shuffle<i64>(x, y, 2, 1);
    const r = v128.shuffle<i64>(s, s, 1, 0), q = v128.shuffle<i64>(t, t, 1, 0);
    const low = sums(f64x2.mul(a, s), f64x2.mul(b, t)), next = sums(f64x2.mul(c, q), f64x2.mul(d, r));
    const high = sums(f64x2.mul(a, r), f64x2.mul(b, q)), last = sums(f64x2.mul(c, t), f64x2.mul(d, s));
    const scale = most(low, next, high, last);
    a = f64x2.div(low, scale);
    b = f64x2.div(next, scale);
    c = f64x2.div(high, scale);
    d = f64x2.div(last, scale);
  }
  a = v128.load(END);
  b = v128.load(END, 16);
  c = v128.load(END, 32);
  d = v128.load(END, 48);
  for (let step = steps - 1; step >= 0; step--) {
    to -= 64;
    w -= 32;
    const x = v128.load(w), y = v128.load(w, 16);
    const s = v128.shuffle<i64>(x, y, 0, 3), t = v128.shuffle<i64>(x, y, 2, 1);
    const r = v128.shuffle<i64>(s, s, 1, 0), q = v128.shuffle<i64>(t, t, 1, 0);
    const p0 = f64x2.mul(v128.shuffle<i64>(a, a, 0, 0), s), q0 = f64x2.mul(v128.shuffle<i64>(c, c, 0, 0), r);
    const p1 = f64x2.mul(v128.shuffle<i64>(a, a, 1, 1), t), q1 = f64x2.mul(v128.shuffle<i64>(c, c, 1, 1), q);
    const p2 = f64x2.mul(v128.shuffle<i64>(b, b, 0, 0), q), q2 = f64x2.mul(v128.shuffle<i64>(d, d, 0, 0), t);
    const p3 = f64x2.mul(v128.shuffle<i64>(b, b, 1, 1), r), q3 = f64x2.mul(v128.shuffle<i64>(d, d, 1, 1), s);
    const f0 = v128.load(to), f1 = v128.load(to, 16), f2 = v128.load(to, 32), f3 = v128.load(to, 48);
    const u0 = f64x2.mul(f0, p0), v0 = f64x2.mul(f0, q0), u1 = f64x2.mul(f1, p1), v1 = f64x2.mul(f1, q1);
    const u2 = f64x2.mul(f2, p2), v2 = f64x2.mul(f2, q2), u3 = f64x2.mul(f3, p3), v3 = f64x2.mul(f3, q3);
    const zero = ordered(
      v128.shuffle<i64>(u0, v0, 0, 3),
      v128.shuffle<i64>(v1, u1, 0, 3),
      v128.shuffle<i64>(u2, v2, 0, 3),
      v128.shuffle<i64>(v3, u3, 0, 3),
    );
    const one = ordered(
      v128.shuffle<i64>(v0, u0, 0, 3),
      v128.shuffle<i64>(u1, v1, 0, 3),
      v128.shuffle<i64>(v2, u2, 0, 3),
      v128.shuffle<i64>(u3, v3, 0, 3),
    );
    if (!(zero > least && one > least)) return false;
    store<f64>(output + (<usize>step << 4), zero);
    store<f64>(output + (<usize>step << 4), one, 8);
    a = f64x2.add(p0, q0);
    b = f64x2.add(p1, q1);
    c = f64x2.add(p2, q2);
    d = f64x2.add(p3, q3);
    const scale = most(a, b, c, d);
    a = f64x2.div(a, scale);
    b = f64x2.div(b, scale);
    c = f64x2.div(c, scale);
    d = f64x2.div(d, scale);
  }
  return true;
}
