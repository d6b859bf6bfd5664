/**
 * Fills masked words without a model.
 *
 * `fillFromPhrases` takes the word at the position of the mask in a known phrase: between the same neighbours, or else
 * after or before the same word. `fillByTemplate` uses no phrases: it searches the words of the batch, and falls back
 * to a fixed word by position. Both leave all other words unchanged.
 */
import { folded } from "../../lib/numeric/scores/set_scores.ts";
import { isStopWord, MASK, WORD, wordsOf } from "../_words.ts";

/** A piece of a text: a mask, a word, or the characters between them. */
const PIECE = new RegExp(`\\[MASK\\]|${WORD.source}|[^\\p{L}\\p{M}\\p{N}[]+|\\[`, "gu");

const isWordPiece = (piece: string) => piece === MASK || /^[\p{L}\p{M}\p{N}]/u.test(piece);

/** Chooses a word for a mask; undefined leaves the mask. */
type Chooser = (left: string | undefined, right: string | undefined, place: { first: boolean; last: boolean }) =>
  | string
  | undefined;

/** Fills the masks of a text from left to right; a filled word counts as a neighbour of the next. */
function fill(text: string, choose: Chooser): string {
  const pieces = text.match(PIECE) ?? [];
  const places = pieces.flatMap((piece, index) => isWordPiece(piece) ? [index] : []);
  places.forEach((place, order) => {
    if (pieces[place] !== MASK) return;
    const neighbour = (at: number) => {
      const word = pieces[places[at]];
      return word === MASK ? undefined : word;
    };
    const position = { first: order === 0, last: order === places.length - 1 };
    const word = choose(neighbour(order - 1), neighbour(order + 1), position);
    if (word !== undefined) pieces[place] = word;
  });
  return pieces.join("");
}

/**
 * The word between two neighbours in phrases, or next to one content word: function words such as `of` do not count.
 * The best fit, and of equal ones the first; never a repetition of a neighbour.
 */
function between(
  phrases: readonly (readonly string[])[],
  left: string | undefined,
  right: string | undefined,
): string | undefined {
  const same = (a: string | undefined, b: string | undefined) =>
    a !== undefined && b !== undefined && folded(a) === folded(b);
  const telling = (word: string | undefined) => word !== undefined && !isStopWord(word);
  let best: { word: string; fit: number } | undefined;
  for (const phrase of phrases) {
    phrase.forEach((word, at) => {
      const behind = same(phrase[at - 1], left), before = same(phrase[at + 1], right);
      const fit = behind && before ? 2 : Number((behind && telling(left)) || (before && telling(right)));
      if (fit > (best?.fit ?? 0) && !same(word, left) && !same(word, right)) best = { word, fit };
    });
  }
  return best?.word;
}

const phraseWords = (phrase: string) => wordsOf(phrase).map(({ text }) => text);

/** Fills masks from known phrases; masks without a matching phrase stay. */
export function fillFromPhrases(text: string, phrases: readonly string[]): string {
  const known = phrases.map(phraseWords);
  return fill(text, (left, right, { first }) => capitalised(between(known, left, right), first));
}

const gap = (left: string, right: string) => JSON.stringify([folded(left), folded(right)]);

/** For each pair of words with one word between them that word, the first of the batch; a batch is indexed once. */
function wordsBetween(batch: readonly string[]): ReadonlyMap<string, string> {
  let found = LOOKED_THROUGH.get(batch);
  if (found === undefined) {
    found = new Map();
    for (const words of batch.flatMap((text) => text.split(MASK).map(phraseWords))) {
      for (let at = 1; at + 1 < words.length; at++) {
        const key = gap(words[at - 1], words[at + 1]);
        if (!found.has(key)) found.set(key, words[at]);
      }
    }
    LOOKED_THROUGH.set(batch, found);
  }
  return found;
}
const LOOKED_THROUGH = new WeakMap<readonly string[], Map<string, string>>();

/**
 * Fills every mask: with the word between the same neighbours in the batch, else by position.
 * @param batch texts of the batch, whose unmasked words are searched
 */
export function fillByTemplate(text: string, batch: readonly string[]): string {
  const seen = wordsBetween(batch);
  return fill(text, (left, right, { first, last }) => {
    const word = left === undefined || right === undefined ? undefined : seen.get(gap(left, right));
    if (word !== undefined) return word;
    if (left !== undefined && /^\p{N}/u.test(left)) return "units";
    // The commonest word of English before another word, a noun at the end.
    return last ? "it" : capitalised("the", first);
  });
}

function capitalised(word: string | undefined, first: boolean): string | undefined {
  return word === undefined || !first ? word : word.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}
