/** Items in an order that a seed gives (mulberry32). */
export function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  let state = seed;
  const keyed = items.map((item) => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return { item, key: (bits ^ (bits >>> 14)) >>> 0 };
  });
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}
