/**
 * Similarity of captions to references, means over the pairs: token F1, unigram precision with brevity penalty,
 * ROUGE-L, edit similarity and exact match (lib/numeric/scores/text_similarity.ts). If a reference has several captions, each
 * score is that of the best match; a candidate has one caption.
 *
 * These are lexical measures, not semantic ones: no consensus over a corpus (CIDEr), no scene graphs (SPICE), no model.
 */
import { CAPTIONS, TEXTS } from "../../lib/contract/kinds.ts";
import { float } from "../api.ts";
import { rateCounts, successes } from "../../lib/artifact/statistical_unit.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { editSimilarity, rougeL, tokenF1, unigramBleu } from "../../lib/numeric/scores/text_similarity.ts";
import { captionPairs } from "../_captions.ts";
import { defineReport } from "../_report.ts";

const SCORES: Readonly<Record<string, (candidate: string, reference: string) => number>> = {
  "caption.token_f1": tokenF1,
  "caption.unigram_bleu_proxy": unigramBleu,
  "caption.rouge_l": rougeL,
  "caption.edit_similarity": editSimilarity,
  "caption.exact_match": (candidate, reference) => Number(candidate === reference),
};

export default defineReport({
  id: "metrics.captioning",
  name: "Caption scores",
  description: "Scores lexical similarity of captions to one or several references",
  inputs: { candidate: [TEXTS, CAPTIONS], reference: [TEXTS, CAPTIONS] },
  run({ inputs }) {
    const pairs = captionPairs(inputs.candidate, inputs.reference);
    const rows = pairs.map(({ candidate, references }) =>
      Object.entries(SCORES).map(([id, score]) => ({
        id,
        value: Math.max(...references.map((reference) => score(candidate, reference))),
      }))
    );
    const metrics = Object.fromEntries(
      Object.keys(SCORES).map((id, at) => [id, mean(rows.map((row) => row[at].value))]),
    );
    const items = rows.map((row, index) => ({
      id: pairs[index].id,
      reference_count: pairs[index].references.length,
      metrics: Object.fromEntries(row.map(({ id, value }) => [id, float(value)])),
    }));
    const exact = Object.keys(SCORES).indexOf("caption.exact_match");
    const wrong = rows.map((row) => 1 - row[exact].value);
    const counts = successes(rateCounts(wrong, inputs.candidate.metadata, "source_item"));
    return { metrics, rates: { "caption.exact_match": counts }, items };
  },
});
