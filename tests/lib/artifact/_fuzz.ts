/** Damage to files that a seed repeats. */

/** Whole numbers below a bound, by the mulberry32 generator. */
export function seeded(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

const EDGES = [0, 1, 0x7f, 0x80, 0xff];

/** A damaged copy: bytes changed, removed, inserted or repeated, or the end cut off. */
export function damage(bytes: Uint8Array, random: (bound: number) => number): Uint8Array {
  let copy = bytes.slice();
  for (let change = random(4); change >= 0; change--) {
    const at = random(copy.length || 1), kind = random(8);
    if (kind < 4) { for (let i = random(4); i >= 0; i--) copy[at + i] = random(2) ? EDGES[random(5)] : random(256); }
    else if (kind === 4) copy = copy.slice(0, at);
    else {
      const length = random(16), insert = kind === 5 ? 0 : length;
      const next = new Uint8Array(Math.max(0, copy.length + insert - (kind === 6 ? 0 : length)));
      next.set(copy.subarray(0, Math.min(at, next.length)));
      const rest = copy.subarray(kind === 6 ? at : Math.min(copy.length, at + length));
      next.set(rest.subarray(0, Math.max(0, next.length - at - insert)), Math.min(next.length, at + insert));
      copy = next;
    }
  }
  return copy;
}

/** Bytes of a base64 text. */
export function bytesFrom(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(text);
}
