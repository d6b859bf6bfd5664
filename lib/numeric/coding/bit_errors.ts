/** Errors of received bits, one bit per byte. */

/** 1 where two streams differ, over the shorter one. */
export function differingBits(a: Uint8Array, b: Uint8Array): Uint8Array {
  const differing = new Uint8Array(Math.min(a.length, b.length));
  // Four bits at a time, where both streams lie so.
  const words = ((a.byteOffset | b.byteOffset) & 3) === 0 ? differing.length >>> 2 : 0;
  if (words > 0) {
    const [x, y, out] = [a, b, differing].map((bits) => new Uint32Array(bits.buffer, bits.byteOffset, words));
    for (let i = 0; i < words; i++) out[i] = x[i] ^ y[i];
  }
  for (let i = 4 * words; i < differing.length; i++) differing[i] = a[i] ^ b[i];
  return differing;
}

/** 1 for each block of the reference that the candidate lacks or has with an error; the last block may be shorter. */
export function failedBlocks(candidate: Uint8Array, reference: Uint8Array, size: number): Uint8Array {
  return Uint8Array.from({ length: Math.ceil(reference.length / size) }, (_, block) => {
    const end = Math.min((block + 1) * size, reference.length);
    let at = block * size;
    while (at < end && candidate[at] === reference[at]) at++;
    return at < end ? 1 : 0;
  });
}
