/**
 * NumPy's SeedSequence: spreads a non-negative integer of any size over the 256 bits that seed PCG64. The hash is that
 * of O'Neill, "Developing a seed_seq Alternative", 2015: 32-bit multiply and xor-shift, with a new constant for each
 * use.
 */

const POOL_WORDS = 4;
const STATE_WORDS = 8;

/** One hash step: the constant is multiplied by `factor` for each value. */
function hasher(constant: number, factor: number): (value: number) => number {
  return (value) => {
    const mixed = value ^ constant;
    constant = Math.imul(constant, factor);
    const product = Math.imul(mixed, constant);
    return product ^ (product >>> 16);
  };
}

function mix(x: number, y: number): number {
  const result = Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y) | 0;
  return result ^ (result >>> 16);
}

/**
 * The words of NumPy's `SeedSequence(seed).generate_state(4, uint64)`.
 * @param seed a non-negative integer
 * @returns four 64-bit words
 */
export function seedWords(seed: bigint): BigUint64Array {
  const entropy: number[] = [];
  for (let rest = seed; rest > 0n; rest >>= 32n) entropy.push(Number(rest & 0xffffffffn));
  const absorb = hasher(0x43b0d7e5, 0x931e8875);
  const pool = Array.from({ length: POOL_WORDS }, (_, i) => absorb(entropy[i] ?? 0));
  for (let source = 0; source < POOL_WORDS; source++) {
    for (let target = 0; target < POOL_WORDS; target++) {
      if (source !== target) pool[target] = mix(pool[target], absorb(pool[source]));
    }
  }
  for (const word of entropy.slice(POOL_WORDS)) {
    for (let target = 0; target < POOL_WORDS; target++) pool[target] = mix(pool[target], absorb(word));
  }
  const squeeze = hasher(0x8b51f9dd, 0x58f38ded);
  const words = Uint32Array.from({ length: STATE_WORDS }, (_, i) => squeeze(pool[i % POOL_WORDS]));
  return new BigUint64Array(words.buffer);
}
