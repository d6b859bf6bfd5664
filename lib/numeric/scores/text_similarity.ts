/**
 * Tokens of texts, and lexical similarity of two texts, each in 0 … 1.
 *
 * F1 and precision count tokens as multisets with clipped counts. Two texts without tokens score 1, one of them 0.
 *
 * Source of the tokens of machine translation: NIST mteval-v13a.pl, 2009.
 */

/** Scripts that write words without blanks between them. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
/**
 * A number with its sign, points and commas; a run of letters, marks and digits; or an operator between blanks. A sign
 * belongs to a number that does not follow a word.
 */
const TOKEN =
  /(?:(?<![\p{L}\p{M}\p{N}])[+-](?=\p{N}))?(?:[\p{L}\p{M}\p{N}]|(?<=\p{N})[.,](?=\p{N}))+|(?<=^|\s)(?:!=|[\p{Sm}*/%^&-]+)(?=\s|$)/gu;
const WORDS = new Intl.Segmenter("und", { granularity: "word" });
const GRAPHEMES = new Intl.Segmenter("und", { granularity: "grapheme" });

/**
 * The tokens of a text in order, in lower case and Unicode form NFC: words with their combining marks, numbers with sign
 * and decimals (U+2212 is a minus sign), and operators between blanks. Scripts without blanks are split by the runtime's
 * dictionary. A text without a word has its characters as tokens, blanks left out.
 */
export function tokens(text: string): string[] {
  const normal = text.normalize("NFC").toLowerCase().replaceAll("\u2212", "-");
  const found = (normal.match(TOKEN) ?? []).flatMap((token) =>
    UNSPACED.test(token)
      ? [...WORDS.segment(token)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment)
      : [token]
  );
  return found.length > 0
    ? found
    : [...GRAPHEMES.segment(normal)].map(({ segment }) => segment).filter((segment) => segment.trim() !== "");
}

/** The tokens of NIST mteval-v13a, as sacreBLEU's `13a`: case and form as written, punctuation apart from words. */
export function mtevalTokens(text: string): string[] {
  const entities: Record<string, string> = { quot: '"', amp: "&", lt: "<", gt: ">" };
  const line = text.replaceAll("<skipped>", "").replaceAll("-\n", "").replaceAll("\n", " ");
  // One entity after the other, as in the program: &amp;lt; becomes <.
  const plain = Object.entries(entities).reduce((done, [name, sign]) => done.replaceAll(`&${name};`, sign), line);
  return ` ${plain} `
    .replace(/[{-~[-` -&(-+:-@/]/g, " $& ")
    .replace(/([^0-9])([.,])/g, "$1 $2 ")
    .replace(/([.,])([^0-9])/g, " $1 $2")
    .replace(/([0-9])(-)/g, "$1 $2 ")
    .split(/\s+/u).filter(Boolean);
}

/** Number of common tokens of two lists, each counted at most as often as in the other. */
function sharedCount(candidate: readonly string[], reference: readonly string[]): number {
  const left = new Map<string, number>();
  for (const token of reference) left.set(token, (left.get(token) ?? 0) + 1);
  let shared = 0;
  for (const token of candidate) {
    const count = left.get(token) ?? 0;
    if (count === 0) continue;
    left.set(token, count - 1);
    shared++;
  }
  return shared;
}

/** Token F1: 2·shared / (candidate tokens + reference tokens). */
export function tokenF1(candidate: string, reference: string): number {
  const c = tokens(candidate), r = tokens(reference);
  if (c.length === 0 && r.length === 0) return 1;
  return (2 * sharedCount(c, r)) / (c.length + r.length);
}

/**
 * Unigram precision with the brevity penalty min(1, exp(1 - r/c)), the one-gram case of BLEU.
 *
 * Source: Papineni, Roukos, Ward, Zhu, "BLEU: a method for automatic evaluation of machine translation", ACL 2002.
 */
export function unigramBleu(candidate: string, reference: string): number {
  const c = tokens(candidate), r = tokens(reference);
  if (c.length === 0 || r.length === 0) return c.length === r.length ? 1 : 0;
  return (Math.min(1, Math.exp(1 - r.length / c.length)) * sharedCount(c, r)) / c.length;
}

/**
 * ROUGE-L with equal weights: 2·L / (candidate tokens + reference tokens), L the longest common subsequence of tokens.
 *
 * Source: Lin, "ROUGE: a package for automatic evaluation of summaries", 2004, section 3.
 */
export function rougeL(candidate: string, reference: string): number {
  const c = tokens(candidate), r = tokens(reference);
  if (c.length === 0 && r.length === 0) return 1;
  return (2 * commonSubsequence(c, r)) / (c.length + r.length);
}

/** Length of the longest common subsequence. */
export function commonSubsequence(a: readonly string[], b: readonly string[]): number {
  const row = new Uint32Array(b.length + 1);
  for (const token of a) {
    let diagonal = 0;
    for (let j = 0; j < b.length; j++) {
      const above = row[j + 1];
      row[j + 1] = token === b[j] ? diagonal + 1 : Math.max(above, row[j]);
      diagonal = above;
    }
  }
  return row[b.length];
}

/** 1 - Levenshtein distance / length of the longer text, over code points. */
export function editSimilarity(candidate: string, reference: string): number {
  const c = codePoints(candidate), r = codePoints(reference);
  const longer = Math.max(c.length, r.length);
  return longer === 0 ? 1 : 1 - levenshtein(c, r) / longer;
}

export function codePoints(text: string): Uint32Array {
  return Uint32Array.from(text, (character) => character.codePointAt(0)!);
}

/**
 * Minimum number of insertions, deletions and substitutions that turn one sequence into the other.
 */
export function levenshtein(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const row = Uint32Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 0; i < a.length; i++) {
    let diagonal = row[0];
    row[0] = i + 1;
    for (let j = 0; j < b.length; j++) {
      const substitution = diagonal + (a[i] === b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = Math.min(substitution, diagonal + 1, row[j] + 1);
    }
  }
  return row[b.length];
}
