/**
 * Lexical similarity of paired texts, means over the pairs: token F1, unigram precision with brevity penalty, edit
 * similarity and exact match. Deterministic proxies without a language model. Formulas: lib/numeric/
 * text_similarity.ts.
 */
import { TEXTS } from "../../lib/contract/kinds.ts";
import { float, SvcError } from "../api.ts";
import { rateCounts, successes } from "../../lib/artifact/statistical_unit.ts";
import { checkPairedIds, textsOf } from "../../lib/artifact/values.ts";
import { editSimilarity, tokenF1, unigramBleu } from "../../lib/numeric/scores/text_similarity.ts";
import { defineReport } from "../_report.ts";

const SCORES = {
  "semantic.lexical_similarity": tokenF1,
  "text.unigram_bleu_proxy": unigramBleu,
  "text.edit_similarity": editSimilarity,
  "text.exact_match": (candidate: string, reference: string) => Number(candidate === reference),
};

export default defineReport({
  id: "metrics.text_semantic_similarity",
  name: "Text similarity scores",
  description: "Scores lexical similarity of paired texts",
  inputs: { candidate: [TEXTS], reference: [TEXTS] },
  run({ inputs }) {
    const candidates = textsOf(inputs.candidate), references = textsOf(inputs.reference);
    checkPairedIds(candidates, references);
    if (references.length === 0) throw new SvcError("boundary_empty", "Cannot score an empty batch of texts");
    const rows = references.map((reference, index) =>
      Object.entries(SCORES).map(([metric, score]) => [metric, score(candidates[index].text, reference.text)] as const)
    );
    const metrics = Object.fromEntries(
      Object.keys(SCORES).map((metric, at) => [metric, rows.reduce((sum, row) => sum + row[at][1], 0) / rows.length]),
    );
    const items = rows.map((row, index) => ({
      id: references[index].id,
      metrics: Object.fromEntries(row.map(([metric, value]) => [metric, float(value)])),
    }));
    const wrong = references.map(({ text }, index) => Number(candidates[index].text !== text));
    const exact = successes(rateCounts(wrong, inputs.candidate.metadata, "source_item"));
    return { metrics, rates: { "text.exact_match": exact }, items };
  },
});
