/** Content words of texts, without function words. */

/** Placeholder of a lost or hidden word; not a word itself. */
export const MASK = "[MASK]";

/**
 * A word: letters and digits with their marks, joined by hyphens and apostrophes, and numbers with their sign and decimals,
 * such as `-18.6` or `well-known`. Units are words as written: `km/h`, `°C`, `%`.
 */
export const WORD =
  /(?:(?<![\p{L}\p{M}\p{N}])[-+\u2212](?=\p{N})|°)?[\p{L}\p{M}\p{N}]+(?:(?:['’-]|(?<=\p{L})\/(?=\p{L})|(?<=\p{N})[.,](?=\p{N}))[\p{L}\p{M}\p{N}]+)*|[%‰]/gu;

/** Function words: articles, pronouns, prepositions, conjunctions, auxiliaries. English. */
const STOP_WORDS = new Set(
  (`a about above across after again all along also am an and any are around as at be been before behind being below ` +
    `between both but by can could did do does down during each every few for from had has have he her his how i if ` +
    `in inside into is it its just may might more most must near no nor not of off on once only onto or other our ` +
    `out outside over per she should since so some such than that the their them then there these they this those ` +
    `through to too toward towards under until up upon very was we were what when where which while who why will ` +
    `with within without would you your`).split(" "),
);

/** A word with its position. */
export interface Word {
  text: string;
  start: number;
  end: number;
}

/** The words of a text as written, without masks. */
export function wordsOf(text: string): Word[] {
  // Blanks of the same length keep the positions.
  const visible = text.replaceAll(MASK, " ".repeat(MASK.length));
  return [...visible.matchAll(WORD)].map(({ 0: word, index }) => ({
    text: word,
    start: index,
    end: index + word.length,
  }));
}

export const isStopWord = (word: string): boolean => STOP_WORDS.has(word.toLowerCase());

/** The lower-case content words of a text in order, with repetitions. */
export function contentWords(text: string): string[] {
  return wordsOf(text).map(({ text: word }) => word.toLowerCase()).filter((word) => !STOP_WORDS.has(word));
}

/** Number of {@link MASK} words in a text. */
export const maskCount = (text: string): number => text.split(MASK).length - 1;
