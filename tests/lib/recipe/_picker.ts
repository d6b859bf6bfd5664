/** Mulberry32: small, seeded, good enough to pick cases. */
export function picker(seed: number) {
  const next = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), seed | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { next, below, of: <T>(list: readonly T[]): T => list[below(list.length)] };
}
export type Picker = ReturnType<typeof picker>;
