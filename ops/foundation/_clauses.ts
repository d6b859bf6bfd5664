/**
 * Facts of the extractor `local_rules`: the clauses of English sentences, by rules of form and without a model.
 *
 *     Robot Unit 7 | must carry | the red toolbox to Bay 12 | within 90 seconds
 *
 * The verb is the first auxiliary with its negation and the next word, or the first word in the form of a verb: a common
 * irregular past, `-ed`, or `-s` after a word without it; without these the word after a plural. A word before a word of time, place or manner is a verb only
 * where no other one is. The subject is the text before the verb, which takes its adverb (`never`). The object ends at a
 * word of time, place or manner, at a conjunction, or at the end of the clause; each such word begins a qualifier. A verb
 * without an object takes the first of these (`opens at 7`), an auxiliary its participle (`is not | locked`); otherwise
 * the object is empty. After `and`, a further verb of the same subject or a further object of the same verb gives
 * another fact; after a comma, a further clause does.
 *
 * A clause with a mask gives no fact. A sentence without such a verb gives no fact. Otherwise all words of the sentence
 * are in its facts, in their order and as written, without the words that join two clauses.
 */
import { type Fact, factKey, phraseOf } from "../_semantic_state.ts";
import { isStopWord, MASK, WORD } from "../_words.ts";
import { isNumber } from "./_local_rules.ts";

const list = (words: string) => new Set(words.split(" "));

const ARTICLES = list("a an the this that these those its his her their our my your");
const MODALS = list("will must can cannot may might shall should would could");
const DO = list("do does did");
const AUXILIARIES = list("is are was were has have had does did do be been being");
const NEGATIONS = list("not never");
/** Adverbs between a subject and its verb, and those after which any word is a verb. */
const ADVERBS = list("not never seldom rarely hardly scarcely barely always often also only");
const FREQUENCIES = list("never seldom rarely always often");
const IRREGULAR = list(
  "began bought broke brought built came cut drove fell flew found gave got grew held hit kept knew led lost made met " +
    "paid ran reads read rose said sang sat saw sent shut sold spent stood swam taught told took thought threw went " +
    "won wore wrote",
);
/** Words that begin another clause. */
const SUBORDINATORS = list("before after while until because since although if when where who which but then so");
/** Words that end an object. */
const BREAKS = list(
  "before after with without within inside outside at during while until because since although if when where who which " +
    "except under over near behind beside and or but then so",
);
/** Words before a plural. */
const QUANTIFIERS = list("all both many few several most some any no");
const PREPOSITIONS = list("of to in on by from for as into onto");

/** `a.m.`; its last point ends the sentence before a capital letter. */
const ABBREVIATION = /(?<![\p{L}\p{M}\p{N}])\p{L}(?:\.\p{L})+(?![\p{L}\p{M}\p{N}])(?:\.(?=\s+\p{Ll}))?/u;
const PIECE = new RegExp(`\\[MASK\\]|${ABBREVIATION.source}|${WORD.source}|[.!?](?=\\s|$)|[,;:]`, "gu");
/** Sentences do not get longer by joining facts. In characters. */
const LONGEST_JOINED = 500;

interface Piece {
  text: string;
  /** In lower case without a contracted negation; empty for a mask or a mark. */
  word: string;
  start: number;
  end: number;
}

function piece({ 0: text, index: start }: RegExpExecArray): Piece {
  const isWord = /^(?:[-+\u2212°]?[\p{L}\p{N}]|[%‰]$)/u.test(text);
  const contracted: Record<string, string> = { wo: "will", ca: "can", sha: "shall" };
  const word = isWord ? text.toLowerCase().replace(/^(.+)n['’]t$/, (_, stem) => contracted[stem] ?? stem) : "";
  return { text, word, start, end: start + text.length };
}

/** Place and number of the pieces of a verb; a loose one stands before a break or ends its clause. */
interface Verb {
  at: number;
  length: number;
  loose?: boolean;
}

/** Whether a piece is a comma, a colon or a semicolon. */
const isStop = (piece: Piece | undefined) => piece !== undefined && piece.word === "" && piece.text !== MASK;

/** The facts of a text, in their order. */
export function clauseFacts(text: string): Fact[] {
  const facts: Fact[] = [];
  let sentence: Piece[] = [];
  for (const next of [...text.matchAll(PIECE)].map(piece)) {
    if (!/^[.!?]$/.test(next.text)) sentence.push(next);
    else {
      for (const fact of sentenceFacts(text, sentence)) facts.push(fact);
      sentence = [];
    }
  }
  for (const fact of sentenceFacts(text, sentence)) facts.push(fact);
  return facts;
}

/**
 * The sentences of facts. Facts of one subject and origin are joined to one sentence where the same facts are extracted
 * from it again; others are sentences of their own.
 */
export function factSentences(facts: readonly Fact[]): string[] {
  const sentences: { said: Fact[]; text: string }[] = [];
  const keys = (facts: readonly Fact[]) => facts.map(factKey).join();
  for (const fact of facts) {
    const { said, text } = sentences.at(-1) ?? { said: [], text: "" };
    const before = said.at(-1);
    const joined = `${text} and ${
      phraseOf({ ...fact, subject: "", predicate: fact.predicate === before?.predicate ? "" : fact.predicate })
    }`;
    const together = before?.subject === fact.subject && before.origin === fact.origin &&
      joined.length <= LONGEST_JOINED &&
      keys(clauseFacts(joined)) === keys([...said, fact]);
    if (together) sentences[sentences.length - 1] = { said: [...said, fact], text: joined };
    else sentences.push({ said: [fact], text: phraseOf(fact) });
  }
  return sentences.map(({ text }) => text);
}

/** Number of pieces of a verb that begins with an auxiliary: helpers, negations, and the main verb; 0 for none. */
function helpedLength(pieces: readonly Piece[], at: number): number {
  const wordAt = (place: number) => pieces[place]?.word ?? "";
  let end = at + 1, helper = wordAt(at);
  for (; NEGATIONS.has(wordAt(end)) || AUXILIARIES.has(wordAt(end)); end++) {
    if (AUXILIARIES.has(wordAt(end))) helper = wordAt(end);
  }
  const main = wordAt(end);
  if (main === "") return MODALS.has(helper) && end === at + 1 ? 0 : end - at;
  const isMain = MODALS.has(helper) || (DO.has(helper) && !ARTICLES.has(main) && !isNumber(main)) ||
    (/(?:ed|ing|en)$/.test(main) && !isNumber(main));
  return end - at + Number(isMain);
}

/** Number of pieces of the verb at a position; 0 for none. A loose one may stand before a break or end its clause. */
function verbLength(
  pieces: readonly Piece[],
  at: number,
  { from, loose = false, continued = false }: { from: number; loose?: boolean; continued?: boolean },
): number {
  const { word, text } = pieces[at], before = pieces[at - 1]?.word ?? "", after = pieces[at + 1]?.word ?? "";
  const isNoun = /^\p{Lu}/u.test(text) || /^(?:the|an?)$/.test(before);
  if (AUXILIARIES.has(word) || (MODALS.has(word) && !isNoun)) return helpedLength(pieces, at);
  if (
    word === "" || ARTICLES.has(before) || PREPOSITIONS.has(before) || (BREAKS.has(after) && !loose) ||
    (isNumber(before) && !/^\p{Lu}/u.test(pieces[at - 2]?.text ?? ""))
  ) return 0;
  if (IRREGULAR.has(word) || /^\p{L}{2,}ed$/u.test(word)) return 1;
  if (FREQUENCIES.has(before) && !BREAKS.has(word) && !PREPOSITIONS.has(word)) return 1;
  const singular = continued ||
    (before !== "" && !/s$/.test(before) && !QUANTIFIERS.has(before) && !BREAKS.has(before));
  const ends = loose && ARTICLES.has(pieces[from].word) && (at === pieces.length - 1 || isStop(pieces[at + 1]));
  return singular && (after !== "" || ends) && /^\p{Ll}{2,}[^\P{L}su]s$/u.test(text) ? 1 : 0;
}

/** The verb of the clause from a position: the first strict one, or a loose one before the end of its clause. */
function verbOf(pieces: readonly Piece[], from: number): Verb | undefined {
  let found: Verb | undefined;
  for (let at = from + 1; at < pieces.length; at++) {
    const length = verbLength(pieces, at, { from });
    if (length > 0) return { at, length };
    const looseLength = verbLength(pieces, at, { from, loose: true });
    if (looseLength > 0) found ??= { at, length: looseLength, loose: true };
    if (found === undefined) continue;
    const { word } = pieces[at], first = pieces[found.at].word;
    const isFurther = word === "and" && at + 1 < pieces.length && furtherVerb(pieces, at + 1, { from, first }) > 0;
    if (SUBORDINATORS.has(word) || isStop(pieces[at]) || isFurther) break;
  }
  return found;
}

/** The verb after a plural or a pronoun: `winds move clouds`. */
function pluralVerb(pieces: readonly Piece[]): Verb | undefined {
  const at = pieces.findIndex(({ text, word }, at) => {
    const before = pieces[at - 1]?.word ?? "", after = pieces[at + 1]?.word ?? "";
    const plural = /^\p{L}{2,}[^\P{L}su]s$/u.test(before) && !ARTICLES.has(before);
    return (plural || /^(?:i|we|you|they)$/.test(before)) && /^\p{Ll}{2,}$/u.test(text) && !isStopWord(word) &&
      !isNumber(word) && !ADVERBS.has(word) && !BREAKS.has(word) && (after !== "" || ARTICLES.has(pieces[0].word));
  });
  return at < 0 ? undefined : { at, length: 1 };
}

function sentenceFacts(text: string, pieces: readonly Piece[]): Fact[] {
  const facts: Fact[] = [], first = verbOf(pieces, 0);
  const plural = first === undefined || first.loose ? pluralVerb(pieces) : undefined;
  for (
    let from = 0, verb = plural !== undefined && plural.at < (first?.at ?? Infinity) ? plural : first;
    verb !== undefined;
  ) {
    const clause = clauseFrom(text, pieces, from, verb);
    for (const fact of clause.facts) facts.push(fact);
    ({ from, verb } = clause.next);
  }
  return facts;
}

/** The facts of the clause from a position with its verb, and the next clause. */
function clauseFrom(
  text: string,
  pieces: readonly Piece[],
  from: number,
  verb: Verb,
) {
  const slice = (start: number, end: number) => start < end ? text.slice(pieces[start].start, pieces[end - 1].end) : "";
  const wordAt = (place: number) => pieces[place]?.word ?? "";
  const isMark = (place: number) => isStop(pieces[place]);
  const facts: Fact[] = [];
  let start = verb.at;
  while (start > from + 1 && ADVERBS.has(wordAt(start - 1))) start--;
  const subject = slice(from, start);
  let verbEnd = verb.at + verb.length;
  /** First pieces of the object and of the qualifiers after it. */
  let at = verbEnd, qualifiers: number[] = [];
  const close = (end: number) => {
    const parts = [at, ...qualifiers, end];
    // An auxiliary without an object has its participle as object.
    const helped = pieces.slice(start, verbEnd - 1).some(({ word }) => MODALS.has(word) || AUXILIARIES.has(word));
    const shared = Number(at >= end && helped && !NEGATIONS.has(wordAt(verbEnd - 1)));
    if (shared > 0) [parts[0], parts[1]] = [verbEnd - 1, verbEnd];
    const [object, ...rest] = parts.slice(1).map((part, index) => slice(parts[index], part));
    const predicate = slice(start, verbEnd - shared);
    const fact: Fact = { subject, predicate, object, ...(rest.length > 0 ? { qualifiers: rest } : {}) };
    if (!phraseOf(fact).includes(MASK)) facts.push(fact);
    qualifiers = [];
  };
  let isLast = false; // No clause follows.
  for (let here = at; here < pieces.length; here++) {
    const joint = isMark(here) && /^(?:and|but|so)$/.test(wordAt(here + 1)) ? here + 1 : here, next = joint + 1;
    const and = wordAt(joint) === "and" && next < pieces.length;
    const listed = and || (isMark(here) && (ADVERBS.has(wordAt(next)) || AUXILIARIES.has(wordAt(next))));
    const further = listed ? furtherVerb(pieces, next, { from, first: wordAt(verb.at) }) : 0;
    if (isMark(here) && further === 0 && !isLast) {
      const following = verbOf(pieces, next);
      if (following !== undefined) {
        close(here);
        return { facts, next: { from: next, verb: following } };
      }
      isLast = true;
    }
    if (further > 0) {
      close(here);
      [start, verbEnd] = [next, next + further];
      at = verbEnd;
      here = at - 1;
    } else if (isMark(here)) {
      if (here === at) at++;
    } else if (and && here > at && isObject(wordAt(next))) {
      if (qualifiers.length > 0) continue;
      close(here);
      at = next;
    } else if (BREAKS.has(wordAt(here)) && here > at && wordAt(here - 1) !== "and") {
      // "opens at 7": the object of a verb without one. "and at dawn" is one qualifier.
      qualifiers.push(here);
    }
  }
  close(pieces.length);
  return { facts, next: { from: pieces.length, verb: undefined } };
}

const isObject = (word: string) => word !== "" && !PREPOSITIONS.has(word) && !BREAKS.has(word);

/** Number of pieces of a further verb of the same subject; before a break it has the form of the first. */
function furtherVerb(pieces: readonly Piece[], at: number, { from, first }: { from: number; first: string }): number {
  const adverbs = ADVERBS.has(pieces[at].word) && at + 1 < pieces.length ? 1 : 0;
  const loose = /s$/.test(first) || !/s$/.test(pieces[at + adverbs].word);
  const length = verbLength(pieces, at + adverbs, { from, loose, continued: true });
  return length > 0 ? adverbs + length : 0;
}
