/** Conformance cases of semantic states, knowledge bases and generic tasks. */
import { canonicalJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import { unpackBits } from "../../../lib/numeric/array/bit_packing.ts";
import { knowledgeArtifact, type SemanticState, statesArtifact, statesDocument } from "../../../ops/_semantic_state.ts";
import { tinyMaskedLm } from "../../support/tiny_models.ts";
import { payloadInput, symbolsInput, textsInput } from "../inputs.ts";

const language = { masked_lm: tinyMaskedLm() };

const RAIN = { subject: "heavy rain", predicate: "will reach", object: "Lisbon" };
const FLOOD = { subject: "floods", predicate: "follow", object: "heavy rain" };

const STATES: SemanticState[] = [
  {
    id: "a",
    concepts: ["heavy", "rain"],
    entities: ["Lisbon", "45 kilometres"],
    facts: [RAIN],
    source_text: "Heavy [MASK] will reach Lisbon.",
  },
  { id: "b", concepts: [], entities: [], facts: [] },
];

const state = (states: SemanticState[] = STATES) => ({
  kind: "semantic.state.json",
  ...statesArtifact(states, "text"),
});
const kb = () => ({
  kind: "foundation.kb.json",
  ...knowledgeArtifact({ id: "weather", version: "weather-v1", concepts: ["rain"], facts: [RAIN, FLOOD] }),
});
const masked = () => textsInput({ a: "one [MASK] three four", b: "[MASK] two three", c: "7 [MASK]" });

const shapes: SemanticState = {
  id: "a",
  concepts: ["red", "circle"],
  entities: [],
  facts: [{ subject: "red circle", predicate: "at", object: "top left" }],
};

function pictures() {
  const data = Uint8Array.from({ length: 2 * 9 * 11 * 3 }, (_, i) => (i * 37) % 256);
  return {
    kind: "image.batch.numpy",
    ...imagesArtifact({ count: 2, height: 9, width: 11, channels: 3, dtype: "uint8", data }),
  };
}

const labels = (kind: string) => ({
  kind: `${kind}.json`,
  json: { kind, schema_version: 1, items: [{ id: "a", label: "car" }, { id: "b", label: "lorry" }] },
});

function payload(metadata: JsonObject = {}) {
  const bits = unpackBits(new TextEncoder().encode(canonicalJson(statesDocument(STATES, "text"))));
  return payloadInput(bits, { state_ids: ["a", "b"], source_item_counts: [bits.length], ...metadata });
}

export const SEMANTIC_FIXTURES = {
  "foundation.knowledge_base": [
    {},
    { params: { kb_id: "inline_json", facts_json: '[["rain","falls from","clouds"]]' } },
    { params: { kb_id: "empty" } },
  ],
  "foundation.text_semantic_state_encode": [
    {
      inputs: () => ({ texts: textsInput({ a: "Doctor Okafor saw 7 patients.", b: "" }) }),
      params: { include_text: true },
    },
  ],
  "foundation.semantic_state_ground": [{ inputs: () => ({ state: state(), kb: kb() }) }],
  "foundation.semantic_state_payload_encode": [{ inputs: () => ({ state: state() }) }],
  "foundation.semantic_state_payload_decode": [
    { inputs: () => ({ bits: payload() }), params: { on_error: "fail" } },
    { name: "lost by the link", inputs: () => ({ bits: payload({ failed_item_indices: [0] }) }) },
  ],
  "foundation.semantic_state_to_text": [
    { inputs: () => ({ state: state(), kb: kb() }) },
    { inputs: () => ({ state: state(), kb: kb() }), params: { generator: "kb_reconstruct" } },
    {
      inputs: () => ({ state: state(), kb: kb() }),
      params: { generator: "kb_reconstruct", prefer_source_text: false },
    },
    {
      inputs: () => ({ state: state(), kb: kb() }),
      params: { generator: "masked_lm", model_id: "m" },
      models: language,
    },
  ],
  "foundation.text_mask_repair": [
    { inputs: () => ({ texts: masked() }), params: { generator: "local_template" } },
    { inputs: () => ({ texts: masked() }), params: { generator: "masked_lm", model_id: "m" }, models: language },
  ],
  "foundation.vlm_image_to_state": [{ inputs: () => ({ images: pictures() }) }],
  "foundation.sam_segment": [{ inputs: () => ({ images: pictures() }), params: { grid_size: 3 } }],
  "foundation.local_state_to_image": [{
    inputs: () => ({ state: state([shapes, STATES[1]]) }),
    params: { image_size: 64 },
  }],
  "source.task_labels_smoke": [{}],
  "source.semantic_artifacts_smoke": [{}],
  "metrics.classification": [
    { inputs: () => ({ reference: labels("task.labels"), candidate: labels("task.predictions") }) },
  ],
  "metrics.captioning": [{ inputs: () => ({ reference: masked(), candidate: masked() }) }],
  "metrics.text_corpus_scores": [
    { inputs: () => ({ reference: masked(), candidate: masked(), symbols: symbolsInput([1, 0, 0, 1]) }) },
    {
      inputs: () => ({ reference: masked(), candidate: masked() }),
      params: { tokenization: "whitespace", bleu_smoothing: "add_one" },
    },
  ],
  "metrics.semantic_state_faithfulness": [
    { inputs: () => ({ candidate: state(), reference: state(), kb: kb() }) },
  ],
};
