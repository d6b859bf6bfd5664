/**
 * BERTScore of texts by the token embeddings of a user's model, from a folder of its ONNX export: model.onnx or
 * onnx/model.onnx with the output last_hidden_state [1, token, feature] (or hidden_states), tokenizer.json and, if there,
 * tokenizer_config.json. The published scores use an inner layer of a model; export the graph up to that layer.
 *
 * The tokens that the tokenizer adds to every text weigh nothing, but may be matched. With `weighting: idf` a token weighs
 * log((N + 1) / (n + 1)), where n of the N references of the batch contain it. A rescaled score is (score - baseline) /
 * (1 - baseline). Of several references the one with the highest F1 counts. Formulas: lib/numeric/scores/bert_score.ts.
 */
import { CAPTIONS, TEXTS } from "../../lib/contract/kinds.ts";
import { float, type ModelSession, SvcError, z } from "../api.ts";
import { bertScore, type EmbeddedText, inverseDocumentFrequency } from "../../lib/numeric/scores/bert_score.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { captionPairs } from "../_captions.ts";
import {
  asInput,
  feedsOf,
  GRAPHS,
  openGraph,
  outputOf,
  realValues,
  tokenizerOf,
} from "../foundation/_named_tensors.ts";
import { checkDevice, pretrainedParams } from "../foundation/_pretrained.ts";
import { defineReport } from "../_report.ts";

const OUTPUTS = ["last_hidden_state", "hidden_states"];

const { device, model_revision } = pretrainedParams("");

export default defineReport({
  id: "metrics.bert_score",
  name: "BERTScore",
  description: "Scores texts by matching the token embeddings of a user's model",
  inputs: { candidate: [TEXTS, CAPTIONS], reference: [TEXTS, CAPTIONS] },
  params: z.strictObject({
    model_id: z.string().min(1).describe("local folder of the ONNX export of a language model"),
    model_revision,
    device,
    weighting: z.enum(["equal", "idf"]).default("equal")
      .describe("weights of tokens: equal, or by how rare they are in the references"),
    baseline: z.number().min(0).lt(1).default(0)
      .describe("score of unrelated texts that is mapped to 0; 0 leaves scores as they are"),
  }),
  check: checkDevice,
  models: ({ model_id, model_revision }) => [{
    role: "embedder",
    id: model_id,
    revision: model_revision,
    files: ["tokenizer.json"],
    optionalFiles: ["tokenizer_config.json", ...GRAPHS],
  }],
  async run({ inputs, params: { weighting, baseline }, model, progress }) {
    const pairs = captionPairs(inputs.candidate, inputs.reference);
    const network = model("embedder"), tokenizer = await tokenizerOf(network), session = await openGraph(network);
    const added = new Set(tokenizer.encode("").ids);
    const idf = inverseDocumentFrequency(
      pairs.flatMap(({ references }) => references.map((text) => tokenizer.encode(text).ids)),
    );
    const weightOf = (token: number) => added.has(token) ? 0 : weighting === "idf" ? idf(token) : 1;
    const embed = async (text: string): Promise<EmbeddedText> => {
      const { ids, types } = tokenizer.encode(text);
      return { vectors: await tokenVectors(session, ids, types), weights: ids.map(weightOf) };
    };
    const rows: { id: string; scores: (readonly [string, number])[] }[] = [];
    for (const [index, { id, candidate: text, references }] of pairs.entries()) {
      progress(index, pairs.length, { phase: "scoring", unit: "texts" });
      const candidate = await embed(text), scores = [];
      for (const reference of references) scores.push(bertScore(candidate, await embed(reference)));
      const best = scores.reduce((best, other) => other.f1 > best.f1 ? other : best);
      const rescaled = Object.entries(best).map(([name, score]) =>
        [
          name === "f1" ? "semantic.bert_score" : `semantic.bert_score_${name}`,
          (score - baseline) / (1 - baseline),
        ] as const
      );
      rows.push({ id, scores: rescaled });
    }
    const metrics = Object.fromEntries(
      rows[0].scores.map(([metric], at) => [metric, mean(rows.map(({ scores }) => scores[at][1]))]),
    );
    const items = rows.map(({ id, scores }) => ({
      id,
      metrics: Object.fromEntries(scores.map(([metric, value]) => [metric, float(value)])),
    }));
    return { metrics, items, metadata: { model: network.record } };
  },
});

/** The contextual embeddings of the tokens of one text. */
async function tokenVectors(session: ModelSession, ids: readonly number[], types: readonly number[]) {
  const shape = [1, ids.length];
  const results = await session.run(feedsOf(session, {
    input_ids: () => asInput(session, "input_ids", ids, shape),
    attention_mask: () => asInput(session, "attention_mask", ids.map(() => 1), shape),
    token_type_ids: () => asInput(session, "token_type_ids", types, shape),
    position_ids: () => asInput(session, "position_ids", ids.map((_, at) => at), shape),
  }));
  const output = outputOf(results, OUTPUTS), values = realValues(output), features = output.shape[2];
  if (output.shape.length !== 3 || output.shape[1] !== ids.length) {
    throw new SvcError("model_unavailable", `Cannot read token embeddings of shape [${output.shape.join(", ")}]`, {
      hint: "The graph must give one vector per token, [1, token, feature]",
    });
  }
  return ids.map((_, token) => values.subarray(token * features, (token + 1) * features));
}
