/**
 * The quick set: cards whose quick subsets together prove every operation that a card with a quick subset proves, and find every wrong
 * constant that one is known to find. A greedy weighted set cover: the card with the least measured processor time for each of these
 * that is missing comes next; then, dearest first, each card that the others make superfluous is left out. A card without a measured
 * time is always in the set.
 *
 * Source: Chvátal, A greedy heuristic for the set-covering problem, Mathematics of Operations Research 4(3), 1979.
 */
import type { CardFile } from "./cards.ts";
import { type PublishedResult, readPublished } from "./published.ts";

/**
 * Chooses the quick set. Exported for tests.
 * @param published results with the processor times of quick subsets
 * @returns the cards of the set, in the order of `cards`
 */
export function quickSet(cards: readonly CardFile[], published: ReadonlyMap<string, PublishedResult>): CardFile[] {
  const costs = new Map<CardFile, number | undefined>(
    cards.filter(({ card }) => card.quick !== undefined).map((one) => [one, published.get(one.card.id)?.quick_cpu_s]),
  );
  const chosen = new Set([...costs].filter(([, cost]) => cost === undefined).map(([one]) => one));
  const costOf = (one: CardFile) => costs.get(one) ?? Infinity;
  const shownBy = ({ card: { id, operations } }: CardFile) => [
    ...operations,
    ...(published.get(id)?.quick_finds ?? []).map((fault) => `wrong ${fault}`),
  ];
  const missing = () => {
    const shown = new Set([...chosen].flatMap(shownBy));
    return (one: CardFile) => new Set(shownBy(one)).difference(shown).size;
  };
  for (;;) {
    const count = missing();
    const useful = [...costs.keys()].filter((one) => count(one) > 0).map((one) => ({
      one,
      price: costOf(one) / count(one),
    }));
    if (useful.length === 0) break;
    chosen.add(useful.reduce((a, b) => b.price < a.price ? b : a).one);
  }
  for (const one of [...chosen].filter((one) => costs.get(one) !== undefined).sort((a, b) => costOf(b) - costOf(a))) {
    chosen.delete(one);
    if (missing()(one) > 0) chosen.add(one);
  }
  return cards.filter((one) => chosen.has(one));
}

/** The cards of a quick run: those of an operation that have a quick subset, or the quick set. @throws SvcError `card_invalid` */
export const quickCards = (projectRoot: string, cards: readonly CardFile[], operation?: string): CardFile[] =>
  operation === undefined
    ? quickSet(cards, readPublished(projectRoot))
    : cards.filter(({ card }) => card.quick !== undefined);
