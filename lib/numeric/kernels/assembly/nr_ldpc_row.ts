/**
 * Rows of the layered min-sum decoder, 16 checks at a time. Part of ./nr_ldpc.ts.
 *
 * V8 checks the bounds of every access outside its own stack, so values that a row needs twice stay in locals: `row` is
 * compiled once for each common number of entries, and `longRow` handles the others in a loop.
 */

/** Offset by which a message is below the least magnitude: half a unit of log-likelihood ratio, in steps of 1/4. */
export const OFFSET: i8 = 2;
/**
 * Saturation of magnitudes. It lies far enough below the 127 where bit values saturate: a known bit stays known when a
 * message is subtracted from its saturated value.
 */
export const CAP: i8 = 41;

/** Addresses of the bits of a row's entries. */
export const ADDRESSES = memory.data(32 * 4, 16);
const SCRATCH = memory.data(32 * 16, 64);

// @ts-ignore: decorator of AssemblyScript
@inline
function address(entry: i32): usize {
  return load<usize>(ADDRESSES + <usize>(entry << 2));
}

/** The value of a bit without the message of this row. */
// @ts-ignore: decorator of AssemblyScript
@inline
function extrinsic(bits: usize, message: usize): v128 {
  return i8x16.sub_sat_s(v128.load(bits), v128.load(message));
}

// @ts-ignore: decorator of AssemblyScript
@inline
function lower(least: v128, q: v128): v128 {
  return i8x16.min_u(least, i8x16.abs(q));
}

/** The second least magnitude, from the least and second least so far. */
// @ts-ignore: decorator of AssemblyScript
@inline
function second(least: v128, next: v128, q: v128): v128 {
  return i8x16.min_u(next, i8x16.max_u(least, i8x16.abs(q)));
}

/**
 * Writes the new message of an entry and the new value of its bit.
 * @param size magnitude of a message by the least q of the row
 * @param change difference between that and the magnitude by the second least
 * @param signs sum of the signs of the row
 */
// @ts-ignore: decorator of AssemblyScript
@inline
function update(bits: usize, to: usize, q: v128, least: v128, size: v128, change: v128, signs: v128): void {
  // The entry with the least magnitude receives the second least.
  const magnitude = v128.xor(size, v128.and(i8x16.eq(i8x16.abs(q), least), change));
  const negative = i8x16.lt_s(v128.xor(q, signs), i8x16.splat(0));
  const message = i8x16.sub(v128.xor(magnitude, negative), negative);
  v128.store(to, message);
  v128.store(bits, i8x16.add_sat_s(q, message));
}

/**
 * A row of 1 to 19 entries; `degree` and whether there is an `own` are constants of each copy.
 * @param own address of the parity bits that only this row checks, 0 if none: their value is the received one
 * @param messages 16 of each entry, by groups of 16 checks
 */
// @ts-ignore: decorator of AssemblyScript
@inline
export function row(degree: i32, own: usize, messages: usize, z: i32): void {
  const a0 = address(0);
  const a1 = degree > 1 ? address(1) : 0;
  const a2 = degree > 2 ? address(2) : 0;
  const a3 = degree > 3 ? address(3) : 0;
  const a4 = degree > 4 ? address(4) : 0;
  const a5 = degree > 5 ? address(5) : 0;
  const a6 = degree > 6 ? address(6) : 0;
  const a7 = degree > 7 ? address(7) : 0;
  const a8 = degree > 8 ? address(8) : 0;
  const a9 = degree > 9 ? address(9) : 0;
  const a10 = degree > 10 ? address(10) : 0;
  const a11 = degree > 11 ? address(11) : 0;
  const a12 = degree > 12 ? address(12) : 0;
  const a13 = degree > 13 ? address(13) : 0;
  const a14 = degree > 14 ? address(14) : 0;
  const a15 = degree > 15 ? address(15) : 0;
  const a16 = degree > 16 ? address(16) : 0;
  const a17 = degree > 17 ? address(17) : 0;
  const a18 = degree > 18 ? address(18) : 0;
  const cap = i8x16.splat(CAP), offset = i8x16.splat(OFFSET);
  for (let j: usize = 0; j < <usize>z; j += 16) {
    let least = cap, next = cap, signs = i8x16.splat(0);
    if (own) least = lower(least, signs = v128.load(own + j));
    let q0 = cap, q1 = cap, q2 = cap, q3 = cap, q4 = cap, q5 = cap, q6 = cap, q7 = cap, q8 = cap, q9 = cap;
    let q10 = cap, q11 = cap, q12 = cap, q13 = cap, q14 = cap, q15 = cap, q16 = cap, q17 = cap, q18 = cap;
    { q0 = extrinsic(a0 + j, messages + 0); next = second(least, next, q0); least = lower(least, q0); signs = v128.xor(signs, q0); }
    if (degree > 1) { q1 = extrinsic(a1 + j, messages + 16); next = second(least, next, q1); least = lower(least, q1); signs = v128.xor(signs, q1); }
    if (degree > 2) { q2 = extrinsic(a2 + j, messages + 32); next = second(least, next, q2); least = lower(least, q2); signs = v128.xor(signs, q2); }
    if (degree > 3) { q3 = extrinsic(a3 + j, messages + 48); next = second(least, next, q3); least = lower(least, q3); signs = v128.xor(signs, q3); }
    if (degree > 4) { q4 = extrinsic(a4 + j, messages + 64); next = second(least, next, q4); least = lower(least, q4); signs = v128.xor(signs, q4); }
    if (degree > 5) { q5 = extrinsic(a5 + j, messages + 80); next = second(least, next, q5); least = lower(least, q5); signs = v128.xor(signs, q5); }
    if (degree > 6) { q6 = extrinsic(a6 + j, messages + 96); next = second(least, next, q6); least = lower(least, q6); signs = v128.xor(signs, q6); }
    if (degree > 7) { q7 = extrinsic(a7 + j, messages + 112); next = second(least, next, q7); least = lower(least, q7); signs = v128.xor(signs, q7); }
    if (degree > 8) { q8 = extrinsic(a8 + j, messages + 128); next = second(least, next, q8); least = lower(least, q8); signs = v128.xor(signs, q8); }
    if (degree > 9) { q9 = extrinsic(a9 + j, messages + 144); next = second(least, next, q9); least = lower(least, q9); signs = v128.xor(signs, q9); }
    if (degree > 10) { q10 = extrinsic(a10 + j, messages + 160); next = second(least, next, q10); least = lower(least, q10); signs = v128.xor(signs, q10); }
    if (degree > 11) { q11 = extrinsic(a11 + j, messages + 176); next = second(least, next, q11); least = lower(least, q11); signs = v128.xor(signs, q11); }
    if (degree > 12) { q12 = extrinsic(a12 + j, messages + 192); next = second(least, next, q12); least = lower(least, q12); signs = v128.xor(signs, q12); }
    if (degree > 13) { q13 = extrinsic(a13 + j, messages + 208); next = second(least, next, q13); least = lower(least, q13); signs = v128.xor(signs, q13); }
    if (degree > 14) { q14 = extrinsic(a14 + j, messages + 224); next = second(least, next, q14); least = lower(least, q14); signs = v128.xor(signs, q14); }
    if (degree > 15) { q15 = extrinsic(a15 + j, messages + 240); next = second(least, next, q15); least = lower(least, q15); signs = v128.xor(signs, q15); }
    if (degree > 16) { q16 = extrinsic(a16 + j, messages + 256); next = second(least, next, q16); least = lower(least, q16); signs = v128.xor(signs, q16); }
    if (degree > 17) { q17 = extrinsic(a17 + j, messages + 272); next = second(least, next, q17); least = lower(least, q17); signs = v128.xor(signs, q17); }
    if (degree > 18) { q18 = extrinsic(a18 + j, messages + 288); next = second(least, next, q18); least = lower(least, q18); signs = v128.xor(signs, q18); }
    const size = i8x16.sub_sat_u(least, offset), change = v128.xor(size, i8x16.sub_sat_u(next, offset));
    update(a0 + j, messages + 0, q0, least, size, change, signs);
    if (degree > 1) update(a1 + j, messages + 16, q1, least, size, change, signs);
    if (degree > 2) update(a2 + j, messages + 32, q2, least, size, change, signs);
    if (degree > 3) update(a3 + j, messages + 48, q3, least, size, change, signs);
    if (degree > 4) update(a4 + j, messages + 64, q4, least, size, change, signs);
    if (degree > 5) update(a5 + j, messages + 80, q5, least, size, change, signs);
    if (degree > 6) update(a6 + j, messages + 96, q6, least, size, change, signs);
    if (degree > 7) update(a7 + j, messages + 112, q7, least, size, change, signs);
    if (degree > 8) update(a8 + j, messages + 128, q8, least, size, change, signs);
    if (degree > 9) update(a9 + j, messages + 144, q9, least, size, change, signs);
    if (degree > 10) update(a10 + j, messages + 160, q10, least, size, change, signs);
    if (degree > 11) update(a11 + j, messages + 176, q11, least, size, change, signs);
    if (degree > 12) update(a12 + j, messages + 192, q12, least, size, change, signs);
    if (degree > 13) update(a13 + j, messages + 208, q13, least, size, change, signs);
    if (degree > 14) update(a14 + j, messages + 224, q14, least, size, change, signs);
    if (degree > 15) update(a15 + j, messages + 240, q15, least, size, change, signs);
    if (degree > 16) update(a16 + j, messages + 256, q16, least, size, change, signs);
    if (degree > 17) update(a17 + j, messages + 272, q17, least, size, change, signs);
    if (degree > 18) update(a18 + j, messages + 288, q18, least, size, change, signs);
    messages += 16 * degree;
  }
}

/** A row of any number of entries up to 32. */
export function longRow(degree: i32, own: usize, messages: usize, z: i32): void {
  const last = ADDRESSES + <usize>(degree << 2), cap = i8x16.splat(CAP), offset = i8x16.splat(OFFSET);
  for (let j: usize = 0; j < <usize>z; j += 16) {
    let least = cap, next = cap, signs = i8x16.splat(0);
    if (own) least = lower(least, signs = v128.load(own + j));
    let from = messages, kept = SCRATCH;
    for (let a = ADDRESSES; a < last; a += 4, from += 16, kept += 16) {
      const q = extrinsic(load<usize>(a) + j, from);
      v128.store(kept, q);
      next = second(least, next, q);
      least = lower(least, q);
      signs = v128.xor(signs, q);
    }
    const size = i8x16.sub_sat_u(least, offset), change = v128.xor(size, i8x16.sub_sat_u(next, offset));
    kept = SCRATCH;
    for (let a = ADDRESSES; a < last; a += 4, messages += 16, kept += 16) {
      update(load<usize>(a) + j, messages, v128.load(kept), least, size, change, signs);
    }
  }
}
