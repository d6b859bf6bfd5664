/** The number of ones among bytes that are 0 or 1, from index `from` to before `to`. */
export function countOnes(bits: Uint8Array, from: number, to: number): number {
  let ones = 0, i = from;
  for (; i < to && ((bits.byteOffset + i) & 3) !== 0; i++) ones += bits[i];
  const count = (to - i) >>> 2, words = new Uint32Array(bits.buffer, count > 0 ? bits.byteOffset + i : 0, count);
  for (let at = 0; at < count;) {
    // Each byte of the sum counts up to 255.
    const end = Math.min(count, at + 255);
    let sum = 0;
    for (; at < end; at++) sum = sum + words[at] | 0;
    ones += (sum & 255) + (sum >>> 8 & 255) + (sum >>> 16 & 255) + (sum >>> 24);
  }
  for (i += 4 * count; i < to; i++) ones += bits[i];
  return ones;
}
