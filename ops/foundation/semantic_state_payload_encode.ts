/**
 * Semantic states as payload bits: canonical JSON of the artifact, {kind, modality, schema_version, states}, as UTF-8,
 * eight bits per byte, most significant first. The whole payload is one source item.
 *
 * The trusted metadata contain the ids, the modality and the position of each state (`state_spans`, first byte and byte
 * count): only the layout, as for packets and images. A receiver without checksums splits the payload by it, so that
 * damage affects single states only.
 */
import { PAYLOAD_BITS, SEMANTIC_STATE } from "../../lib/contract/kinds.ts";
import { canonicalJson, defineOperation, z } from "../api.ts";
import { travel } from "../../lib/artifact/values.ts";
import { modalityOf, stateDocument, statesDocument, statesOf } from "../_semantic_state.ts";
import { payloadOutput } from "../_payload_output.ts";

export default defineOperation({
  id: "foundation.semantic_state_payload_encode",
  name: "State to payload bits",
  description: "Serialises semantic states as JSON in UTF-8 and emits payload bits",
  inputs: { state: [SEMANTIC_STATE] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    payload_format: z.enum(["semantic_state_json_utf8"]).default("semantic_state_json_utf8").describe(
      "canonical JSON of the states in UTF-8",
    ),
  }),
  outputMetadataGuarantees: {
    bits: {
      from: "state",
      keys: [
        "boundary_contract",
        "bit_count",
        "state_ids",
        "state_modality",
        "state_spans",
        "payload_format",
        "source_item_counts",
      ],
    },
  },
  timingMetric: "encoder.payload_encode",
  run({ inputs, params }) {
    const states = statesOf(inputs.state), modality = modalityOf(inputs.state);
    const utf8 = new TextEncoder();
    const bytes = utf8.encode(canonicalJson(statesDocument(states, modality)));
    const counts = states.map((state) => utf8.encode(canonicalJson(stateDocument(state))).length);
    // The states are the last field, separated by commas: the document ends in `]}`.
    let start = bytes.length - 2 - counts.reduce((sum, count) => sum + count, 0) - Math.max(0, counts.length - 1);
    const spans = counts.map((count) => {
      const span = [start, count];
      start += count + 1;
      return span;
    });
    const metadata = travel(inputs.state.metadata, {
      payload_format: params.payload_format,
      state_ids: states.map(({ id }) => id),
      state_modality: modality,
      state_spans: spans,
      source_item_counts: [8 * bytes.length],
    });
    return payloadOutput(bytes, metadata);
  },
});
