/**
 * Semantic rate of a text link: the semantic units (suts) that arrive per second, with their fidelity. For K symbols a word, I/L
 * units a word and the similarity ξ of what arrives,
 *
 *     rate = bandwidth · (I/L) · ξ / K,    spectral efficiency = (I/L) · ξ / K.
 *
 * ξ is the mean cosine of the embeddings of received and sent texts, a negative cosine counted as 0. I/L is a property of the
 * source that no text tells: it is given, 1 by default, so that only ratios of rates at equal I/L mean something.
 *
 * Source: Yan, Qin, Zhang, Li, Li, "Resource allocation for text semantic communications", IEEE Wireless Communications Letters
 * 11(7), 2022.
 */
import { SYMBOLS_ANY, TEXTS } from "../../lib/contract/kinds.ts";
import { float, SvcError, z } from "../api.ts";
import { checkPairedIds, symbolsOf, textsOf } from "../../lib/artifact/values.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { tokens } from "../../lib/numeric/scores/text_similarity.ts";
import { checkSameSpace, EMBEDDINGS_ANY, embeddingsOf, similarity } from "../foundation/_embedding_space.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.semantic_rate",
  name: "Semantic rate",
  description: "Semantic units per second and hertz of a text link, from the similarity of what arrives",
  inputs: { candidate: EMBEDDINGS_ANY, reference: EMBEDDINGS_ANY, texts: [TEXTS], symbols: SYMBOLS_ANY },
  params: z.strictObject({
    units_per_word: z.number().positive().default(1).describe("semantic units of a word of the source, I/L"),
    bandwidth_hz: z.number().positive().default(1).describe("bandwidth in Hz, the symbols per second"),
  }),
  run({ inputs, params: { units_per_word, bandwidth_hz } }) {
    const candidate = embeddingsOf(inputs.candidate), reference = embeddingsOf(inputs.reference);
    checkSameSpace(candidate, reference);
    const named = ({ ids }: { ids: string[] }) => ids.map((id) => ({ id }));
    const texts = textsOf(inputs.texts);
    checkPairedIds(named(candidate), named(reference));
    checkPairedIds(texts, named(reference));
    const words = texts.reduce((sum, { text }) => sum + tokens(text).length, 0);
    const symbols = symbolsOf(inputs.symbols).length / 2;
    if (words === 0 || symbols === 0) {
      throw new SvcError("boundary_empty", `Cannot rate ${words} words in ${symbols} symbols`);
    }
    const fidelity = reference.rows.map((row, index) => Math.max(0, similarity(candidate.rows[index], row, true)));
    const efficiency = units_per_word * mean(fidelity) * words / symbols;
    return {
      metrics: {
        "semantic.spectral_efficiency_suts_s_hz": efficiency,
        "semantic.rate_suts_s": bandwidth_hz * efficiency,
        "semantic.similarity": mean(fidelity),
      },
      items: fidelity.map((value, index) => ({
        id: reference.ids[index],
        metrics: { "semantic.similarity": float(value) },
      })),
      facts: { word_count: words, symbol_count: symbols, embedding_space: reference.space },
    };
  },
});
