/**
 * The extractor `local_rules`: concepts and entities of a sentence by rules of form, without a model.
 *
 * - Concepts are the lower-case words that are neither stop words nor numbers, each once, by first appearance.
 * - Entities are spans as written. A name is a run of capitalised words with the numbers after it (`Robot
 *   Unit 7`); a single capitalised word at the start of a sentence is not a name. A quantity is
 *   a number with its noun, a following capitalised word, and `per` with its word (`18.6 degrees Celsius`,
 *   `45 kilometres per hour`).
 */
import { isStopWord, type Word, wordsOf } from "../_words.ts";

const NUMBER_WORDS = new Set(
  "two three four five six seven eight nine ten eleven twelve twenty thirty hundred thousand".split(" "),
);

const isCapitalised = (word: string) => /^\p{Lu}/u.test(word);
export const isNumber = (word: string) => /^[-+\u2212]?\p{N}/u.test(word) || NUMBER_WORDS.has(word.toLowerCase());

/** The concepts of a text, at most `limit`. */
export function conceptsOf(text: string, limit: number): string[] {
  const words = wordsOf(text).map((word) => word.text).filter((word) =>
    !isStopWord(word) && !/^(?:[-+\u2212]?\p{N}|[%‰]$)/u.test(word)
  );
  return [...new Set(words.map((word) => word.toLowerCase()))].slice(0, limit);
}

/** The entities of a text, each once, by first appearance. */
export function entitiesOf(text: string): string[] {
  const words = wordsOf(text);
  const found = new Set<string>();
  for (let at = 0; at < words.length;) {
    const length = nameLength(text, words, at) || quantityLength(text, words, at);
    if (length > 0) found.add(text.slice(words[at].start, words[at + length - 1].end));
    at += length || 1;
  }
  return [...found];
}

/** Whether only blanks are between a word and the previous one. */
const follows = (text: string, words: readonly Word[], at: number) =>
  at > 0 && at < words.length && /^\s+$/.test(text.slice(words[at - 1].end, words[at].start));

/** Whether only blanks and opening marks are between a word and the end of a sentence, or the start of the text. */
function startsSentence(text: string, { start }: Word): boolean {
  // A bounded look back, so that the time per word does not grow with the text.
  const before = text.slice(Math.max(0, start - 64), start).replace(/["'“‘(\s]+$/u, "");
  return before === "" || /[.!?]$/.test(before);
}

/** Number of words of the name that starts here; 0 for none. */
function nameLength(text: string, words: readonly Word[], at: number): number {
  const named = (place: number) => isCapitalised(words[place].text) && !isStopWord(words[place].text);
  if (!named(at)) return 0;
  let end = at + 1;
  while (follows(text, words, end) && named(end)) end++;
  while (follows(text, words, end) && /^\p{N}/u.test(words[end].text)) end++;
  return end - at === 1 && startsSentence(text, words[at]) ? 0 : end - at;
}

/** Number of words of the quantity that starts here; 0 for none. */
function quantityLength(text: string, words: readonly Word[], at: number): number {
  if (!isNumber(words[at].text)) return 0;
  let end = at + 1;
  const counts = (place: number) => follows(text, words, place) && !isStopWord(words[place].text);
  while (counts(end) && isNumber(words[end].text)) end++;
  if (counts(end)) end++;
  if (counts(end) && isCapitalised(words[end].text)) end++;
  if (follows(text, words, end) && words[end].text.toLowerCase() === "per" && counts(end + 1)) end += 2;
  return end - at;
}
