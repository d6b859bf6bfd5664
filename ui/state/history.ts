/** A history of documents: undo and redo are steps in a list, and any edit ends what could be redone. */

export interface History<T> {
  present: T;
  past: readonly T[];
  future: readonly T[];
}

/** Steps that can be taken back. Exported for tests. */
export const MOST_STEPS_BACK = 200;

export const record = <T>({ present, past }: History<T>, next: T): History<T> => ({
  present: next,
  past: [...past, present].slice(-MOST_STEPS_BACK),
  future: [],
});

/** One step back; null where there is none. */
export const stepBack = <T>({ present, past, future }: History<T>): History<T> | null =>
  past.length === 0 ? null : { present: past.at(-1)!, past: past.slice(0, -1), future: [present, ...future] };

/** One step forth; null where there is none. */
export const stepForth = <T>({ present, past, future }: History<T>): History<T> | null =>
  future.length === 0 ? null : { present: future[0], past: [...past, present], future: future.slice(1) };

/** Letters of the steps back, and of those forth, that a draft keeps. */
const MOST_LETTERS = 250_000;

/** The steps nearest to the present as texts, in their order, up to a total length. */
export function nearSteps(back: readonly string[], forth: readonly string[]): { past: string[]; future: string[] } {
  const within = (texts: readonly string[]) => {
    let left = MOST_LETTERS;
    const end = texts.findIndex((text) => (left -= text.length) < 0);
    return end < 0 ? [...texts] : texts.slice(0, end);
  };
  return { past: within(back.toReversed()).reverse(), future: within(forth) };
}
