/**
 * Scores that machine translation, summarisation, captioning and speech recognition report: corpus BLEU-1 to BLEU-4, chrF,
 * ROUGE-1, -2 and -L, METEOR (exact and stem modules, no synonyms), CIDEr-D, word and character error rate. Definitions and
 * sources: lib/numeric/scores/corpus_scores.ts.
 *
 * With several references a text has its best score among them, BLEU and CIDEr-D combine them by definition. `text.chrf`
 * pools the n-grams of all texts, each with its best reference, and `text.chrf_sentence_mean` is the mean of the texts'
 * scores. ROUGE, METEOR and CIDEr-D are means over the texts; error rates divide all edits by all reference tokens or characters. CIDEr-D
 * needs at least two items, error rates a reference that is not empty; else they are omitted.
 *
 * A word is read if its characters stand in the candidate, blanks removed, behind those of the words before it:
 * `text.words_read` is the share of the words of the references, the first of several. With the transmitted symbols there is
 * `text.channel_uses_per_word`, and per word that is read; with the bits of the payload there are bits per word that is
 * read. Both are omitted where no word is read.
 */
import { CAPTIONS, PAYLOAD_OR_BITS, SYMBOLS, TEXTS } from "../../lib/contract/kinds.ts";
import { float, z } from "../api.ts";
import { bitsOf, symbolsOf } from "../../lib/artifact/values.ts";
import * as scores from "../../lib/numeric/scores/corpus_scores.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { mtevalTokens, tokens } from "../../lib/numeric/scores/text_similarity.ts";
import { captionPairs } from "../_captions.ts";
import { defineReport } from "../_report.ts";

const SPLITTERS = {
  words: tokens,
  whitespace: (text: string) => text.split(/\s+/u).filter(Boolean),
  "13a": mtevalTokens,
};

export default defineReport({
  id: "metrics.text_corpus_scores",
  name: "Corpus scores of texts",
  description: "Scores texts by BLEU, chrF, ROUGE, METEOR, CIDEr-D, word and character error rate",
  inputs: { candidate: [TEXTS, CAPTIONS], reference: [TEXTS, CAPTIONS] },
  optionalInputs: { symbols: [SYMBOLS], bits: PAYLOAD_OR_BITS },
  params: z.strictObject({
    tokenization: z.enum(["words", "whitespace", "13a"]).default("words").describe(
      "words: lower-case words, signed numbers and operators; whitespace: parts between blanks, as written; " +
        "13a: the tokens of NIST mteval-v13a, as sacreBLEU",
    ),
    bleu_smoothing: z.enum(["none", "exponential", "add_one"]).default("exponential")
      .describe("BLEU precision of an order without a match; exponential as in NIST mteval and sacreBLEU"),
  }),
  run({ inputs, params }) {
    const items = captionPairs(inputs.candidate, inputs.reference), split = SPLITTERS[params.tokenization];
    const pairs = items.map(({ candidate, references }) => ({
      candidate: split(candidate),
      references: references.map(split),
    }));
    const cider = pairs.length > 1 ? scores.ciderD(pairs) : undefined;
    const rows = pairs.map(({ candidate, references: wanted }, index) => {
      const { id, candidate: text, references: texts } = items[index];
      const best = (score: (reference: readonly string[]) => number) => Math.max(...wanted.map(score));
      const chrf = texts.map((reference) => scores.chrfCounts(text, reference))
        .reduce((best, other) => scores.chrF([other]) > scores.chrF([best]) ? other : best);
      const means: Record<string, number> = {
        "text.chrf_sentence_mean": scores.chrF([chrf]),
        "text.rouge_1": best((reference) => scores.rougeN(candidate, reference, 1)),
        "text.rouge_2": best((reference) => scores.rougeN(candidate, reference, 2)),
        "text.rouge_l": best((reference) => scores.rougeLcs(candidate, reference)),
        "text.meteor": best((reference) => scores.meteor(candidate, reference)),
        ...(cider === undefined ? {} : { "text.cider_d": cider[index] }),
      };
      const errors = {
        "task.wer": fewest(wanted.map((reference) => scores.wordErrors(candidate, reference))),
        "task.cer": fewest(texts.map((reference) => scores.characterErrors(text, reference))),
      };
      const read = { count: scores.wordsRead(candidate.join(""), wanted[0]), of: wanted[0].length };
      return { id, means, errors, read, chrf };
    });
    const [words, read] = (["of", "count"] as const).map((key) => rows.reduce((sum, row) => sum + row.read[key], 0));
    const bleu = scores.corpusBleu(pairs, params.bleu_smoothing);
    const pooled = (metric: "task.wer" | "task.cer") => {
      const length = rows.reduce((sum, { errors }) => sum + errors[metric].length, 0);
      return length === 0
        ? {}
        : { [metric]: rows.reduce((sum, { errors }) => sum + errors[metric].errors, 0) / length };
    };
    const metrics = {
      ...Object.fromEntries(bleu.map((value, at) => [`text.bleu_${at + 1}`, value])),
      "text.chrf": scores.chrF(rows.map(({ chrf }) => chrf)),
      ...Object.fromEntries(Object.keys(rows[0].means).map((id) => [id, mean(rows.map(({ means }) => means[id]))])),
      ...pooled("task.wer"),
      ...pooled("task.cer"),
      ...(words === 0 ? {} : { "text.words_read": read / words }),
      ...perWord("text.channel_uses_per_word", inputs.symbols && symbolsOf(inputs.symbols).length / 2, words),
      ...perWord("text.channel_uses_per_word_read", inputs.symbols && symbolsOf(inputs.symbols).length / 2, read),
      ...perWord("text.bits_per_word_read", inputs.bits && bitsOf(inputs.bits).length, read),
    };
    const scored = rows.map(({ id, means, errors, read }, index) => ({
      id,
      reference_count: items[index].references.length,
      metrics: Object.fromEntries([
        ...Object.entries(means),
        ...Object.entries(errors).flatMap(([metric, { errors, length }]) =>
          length === 0 ? [] : [[metric, errors / length] as const]
        ),
        ...(read.of === 0 ? [] : [["text.words_read", read.count / read.of] as const]),
      ].map(([metric, value]) => [metric, float(value)])),
    }));
    return { metrics, items: scored };
  },
});

/** A cost per word, if there are both. */
const perWord = (metric: string, cost: number | undefined, words: number): Record<string, number> =>
  cost === undefined || words === 0 ? {} : { [metric]: cost / words };

/** The counts of the reference with the lowest error rate. */
const fewest = (counts: scores.EditCounts[]) =>
  counts.reduce((best, other) => other.errors * best.length < best.errors * other.length ? other : best);
