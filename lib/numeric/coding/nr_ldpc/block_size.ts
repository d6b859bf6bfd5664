/**
 * Transport block sizes of TS 38.214 section 5.1.3.2, formed from an amount of information N:
 *
 *     N <= 3824   the sizes of table 5.1.3.2-1
 *     else        n = floor(log2(N - 24)) - 5, N' = max(3840, 2^n · round((N - 24) / 2^n)), and
 *                 8C · ceil((N' + 24) / 8C) - 24 with C = ceil((N' + 24) / 3816) at code rates up to 1/4,
 *                 C = ceil((N' + 24) / 8424) for N' > 8424 above, and C = 1 otherwise
 *
 * (N - 24) / 2^n lies in 32 … 64, so N' runs over m · 2^n with m = 32 … 64.
 */

/** Table 5.1.3.2-1 in runs [first, last, step]. */
const SMALL_SIZE_RUNS = [
  [24, 192, 8],
  [208, 384, 16],
  [408, 576, 24],
  [608, 768, 32],
  [808, 928, 40],
  [984, 1032, 48],
  [1064, 1064, 1],
  [1128, 1352, 32],
  [1416, 1928, 64],
  [2024, 2280, 64],
  [2408, 2856, 64],
  [2976, 2976, 1],
  [3104, 3104, 1],
  [3240, 3752, 128],
  [3824, 3824, 1],
];

/** Table 5.1.3.2-1: the 93 sizes up to 3824 bits. */
export const SMALL_BLOCK_SIZES: readonly number[] = SMALL_SIZE_RUNS.flatMap(([first, last, step]) =>
  Array.from({ length: (last - first) / step + 1 }, (_, i) => first + i * step)
);

/** Largest size of the small table, and of a transport block with the short CRC. */
export const LARGEST_SMALL_BLOCK = 3824;

/** Largest transport block that the resources of TS 38.214 can carry. */
export const LARGEST_BLOCK = 1_277_992;

const BLOCK_CRC_BITS = 24;

/** The size that the standard forms from a quantised amount of information N' above 3824 bits. */
export function largeBlockSize(quantised: number, codeRate: number): number {
  const bits = quantised + BLOCK_CRC_BITS;
  const blocks = codeRate <= 1 / 4 ? Math.ceil(bits / 3816) : quantised > 8424 ? Math.ceil(bits / 8424) : 1;
  return 8 * blocks * Math.ceil(bits / (8 * blocks)) - BLOCK_CRC_BITS;
}

/**
 * The smallest legal transport block size of at least a number of bits.
 * @param bits at least 1
 * @param codeRate target code rate; the sizes above 3824 bits depend on whether it exceeds 1/4
 * @throws RangeError when the number is not in 1 … 1 277 992
 */
export function legalBlockSize(bits: number, codeRate: number): number {
  if (!(bits >= 1 && bits <= LARGEST_BLOCK)) {
    throw new RangeError(`Cannot form a transport block of ${bits} bits: the largest has ${LARGEST_BLOCK}`);
  }
  if (bits <= LARGEST_SMALL_BLOCK) return SMALL_BLOCK_SIZES.find((size) => size >= bits)!;
  for (let step = 64;; step *= 2) {
    for (let quantised = Math.max(32 * step, 3840); quantised <= 64 * step; quantised += step) {
      const size = largeBlockSize(quantised, codeRate);
      if (size >= bits) return size;
    }
  }
}
