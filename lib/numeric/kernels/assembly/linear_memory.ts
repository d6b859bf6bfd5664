/** Memory and lanes of the kernels of ./linear.ts. A complex number is one vector of two binary64 lanes. */

export const BASE: usize = 1024;

/** Makes room for a number of bytes, and returns their address; 0 where there is no memory. What stood there may stay. */
export function reserve(bytes: usize): usize {
  const pages = <i32>((BASE + bytes + 0xffff) >>> 16);
  if (pages > memory.size() && memory.grow(pages - memory.size()) < 0) return 0;
  return BASE;
}

/** Bytes of a cache line. */
const LINE: usize = 64;

/** The next address at which a cache line starts. */
export function aligned(at: usize): usize {
  return (at + LINE - 1) & ~(LINE - 1);
}

/**
 * Bytes from column to column of n complex values: an odd number of cache lines, at most 16n + 112. With a power of two, equal
 * rows of the columns would share few sets of the cache.
 */
export function columnStride(n: i32): usize {
  return aligned(16 * <usize>n) | LINE;
}

// @ts-ignore: decorator of AssemblyScript
@inline
export function swapped(x: v128): v128 {
  return v128.shuffle<f64>(x, x, 1, 0);
}

/** (x, -x) */
// @ts-ignore: decorator of AssemblyScript
@inline
export function opposed(x: f64): v128 {
  return f64x2.replace_lane(f64x2.splat(x), 1, -x);
}
