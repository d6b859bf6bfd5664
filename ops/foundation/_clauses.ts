/**
 * Facts of the extractor `local_rules`: the clauses of English sentences, by rules of form and without a model.
 *
 *     Robot Unit 7 | must carry | the red toolbox to Bay 12
 *
 * The verb is the first auxiliary with the next word, or the first word in the form of a verb: a common irregular past,
 * `-ed`, or `-s` after a word without it. The subject is the words before it without article; the object ends at a
 * preposition of time or place, a conjunction, a comma or the end of the sentence. After `and`, a further verb of the
 * same subject or a further object of the same verb gives another fact. A clause with a mask gives no fact. A sentence
 * without such a verb gives no fact. All words of a fact are in the sentence, in this order.
 */
import type { Fact } from "../_semantic_state.ts";
import { MASK, WORD } from "../_words.ts";
import { isNumber } from "./_local_rules.ts";

const list = (words: string) => new Set(words.split(" "));

const ARTICLES = list("a an the this that these those its his her their our my your");
const MODALS = list("will must can may might shall should would could");
const AUXILIARIES = list("is are was were has have had does did do be been");
const IRREGULAR = list(
  "began bought broke brought built came cut drove fell flew found gave got grew held hit kept knew led lost made met " +
    "paid ran reads read rose said sang sat saw sent shut sold spent stood swam taught told took thought threw went " +
    "won wore wrote",
);
/** Words that end an object. */
const BREAKS = list(
  "before after with without within inside outside at during while until because since although if when where who which " +
    "under over near behind beside and or but then so",
);
const PREPOSITIONS = list("of to in on by from for as into onto");

const PIECE = new RegExp(`\\[MASK\\]|${WORD.source}|[.!?](?=\\s|$)|[,;:]`, "gu");

/** The facts of a text, in their order. */
export function clauseFacts(text: string): Fact[] {
  const facts: Fact[] = [];
  let sentence: string[] = [];
  for (const piece of [...text.match(PIECE) ?? [], "."]) {
    if (!/^[.!?]$/.test(piece)) sentence.push(piece);
    else {
      facts.push(...sentenceFacts(sentence));
      sentence = [];
    }
  }
  return facts;
}

const isWord = (piece: string | undefined): piece is string =>
  piece !== undefined && /^(?:[-+\u2212°]?[\p{L}\p{N}]|[%‰]$)/u.test(piece);
const lower = (piece: string | undefined) => isWord(piece) ? piece.toLowerCase() : "";

/** Number of words of the verb at a position; 0 for none. */
function verbLength(words: readonly string[], at: number, continued = false): number {
  const word = lower(words[at]), before = lower(words[at - 1]), after = lower(words[at + 1]);
  if (MODALS.has(word)) return isWord(words[at + 1]) ? 2 : 0;
  if (AUXILIARIES.has(word)) return /(?:ed|ing|en)$/.test(after) ? 2 : 1;
  if (
    ARTICLES.has(before) || PREPOSITIONS.has(before) || (isNumber(before) && !/^\p{Lu}/u.test(words[at - 2] ?? "")) ||
    BREAKS.has(after)
  ) return 0;
  if (IRREGULAR.has(word) || /^\p{L}{2,}ed$/u.test(word)) return 1;
  const singular = continued || (before !== "" && !/s$/.test(before));
  return singular && isWord(words[at + 1]) && /^\p{Ll}{2,}[^\P{L}su]s$/u.test(words[at]) ? 1 : 0;
}

function sentenceFacts(words: readonly string[]): Fact[] {
  let verb = 1;
  while (verb < words.length && verbLength(words, verb) === 0) verb++;
  let length = verbLength(words, verb);
  if (verb >= words.length || length === 0) return [];
  const start = words.slice(0, verb).findLastIndex((piece) => !isWord(piece) && piece !== MASK) + 1;
  const subject = words.slice(start, verb);
  if (subject.length > 1 && ARTICLES.has(lower(subject[0]))) subject.shift();
  const facts: Fact[] = [];
  let predicate = words.slice(verb, verb + length);
  for (let at = verb + length; at < words.length;) {
    let end = at;
    while (end < words.length && (isWord(words[end]) || words[end] === MASK) && !BREAKS.has(lower(words[end]))) end++;
    const parts = [subject, predicate, words.slice(at, end)];
    if (parts.every((part) => part.length > 0 && !part.includes(MASK))) {
      const [subject, predicate, object] = parts.map((part) => part.join(" "));
      facts.push({ subject, predicate, object });
    }
    const next = words.findIndex((piece, index) => index >= end && lower(piece) === "and") + 1;
    if (next === 0) break;
    length = verbLength(words, next, true);
    // "… and at dawn": neither a verb nor an object of this one.
    if (length === 0 && (next - 1 !== end || PREPOSITIONS.has(lower(words[next])) || BREAKS.has(lower(words[next])))) {
      break;
    }
    if (length > 0) predicate = words.slice(next, next + length);
    at = next + length;
  }
  return facts;
}
