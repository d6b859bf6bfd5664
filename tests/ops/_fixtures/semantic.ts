/** Conformance cases of semantic states, knowledge bases and generic tasks. */
import { canonicalJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import { unpackBits } from "../../../lib/numeric/array/bit_packing.ts";
import { knowledgeArtifact, type SemanticState, statesArtifact, statesDocument } from "../../../ops/_semantic_state.ts";
import { tinyMaskedLm } from "../../support/tiny_models.ts";
import { payloadInput, symbolsInput, textsInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

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

export const SEMANTIC_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    texts: () => ({
      texts: textsInput({ a: "Doctor Okafor saw 7 patients.", b: "" }),
    }),
    "state and knowledge": () => ({ state: state(), kb: kb() }),
    state: () => ({ state: state() }),
    payload: () => ({ bits: payload() }),
    "payload, one lost": () => ({ bits: payload({ failed_item_indices: [0] }) }),
    "masked texts": () => ({ texts: masked() }),
    images: () => ({ images: pictures() }),
    shapes: () => ({ state: state([shapes, STATES[1]]) }),
    labels: () => ({
      reference: labels("task.labels"),
      candidate: labels("task.predictions"),
    }),
    "equal texts": () => ({ reference: masked(), candidate: masked() }),
    "equal texts and symbols": () => ({
      reference: masked(),
      candidate: masked(),
      symbols: symbolsInput([1, 0, 0, 1]),
    }),
    "equal states": () => ({ candidate: state(), reference: state(), kb: kb() }),
  },
  models: {
    language,
  },
});
