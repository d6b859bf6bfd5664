/** Semantic states as payload bits, and back. */
import { PAYLOAD_BITS, PAYLOAD_OR_BITS, SEMANTIC_STATE } from "../../lib/contract/kinds.ts";
import {
  canonicalJson,
  defineOperation,
  isNumber,
  isObject,
  type JsonObject,
  messageOf,
  parseJson,
  SvcError,
  toNumber,
  type Value,
  z,
} from "../api.ts";
import { bitsOf, metadataText, travel } from "../../lib/artifact/values.ts";
import {
  emptyState,
  modalityOf,
  readState,
  type SemanticState,
  stateDocument,
  statesArtifact,
  statesDocument,
  statesOf,
} from "../_semantic_state.ts";
import { decodeUtf8, isUnreadable, payloadBytes, payloadOutput, trustedIds, unreadable } from "../_utf8_payload.ts";

/**
 * Semantic states as payload bits: canonical JSON of the artifact, {kind, modality, schema_version, states}, as UTF-8,
 * eight bits per byte, most significant first. The whole payload is one source item.
 *
 * The trusted metadata contain the ids, the modality and the position of each state (`state_spans`, first byte and byte
 * count): only the layout, as for packets and images. A receiver without checksums splits the payload by it, so that
 * damage affects single states only.
 */
const semanticStatePayloadEncode = defineOperation({
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

/** The trusted metadata of a payload. */
interface Layout {
  ids: string[] | undefined;
  /** First byte and byte count of each state. */
  spans: [number, number][] | undefined;
  modality: string | undefined;
}

/** The states; undefined for unreadable ones. */
interface Payload {
  states: (SemanticState | undefined)[];
  modality?: string;
}

/**
 * Payload bits back to semantic states. Ids and modality come from the trusted metadata, the content from the payload.
 *
 * on_error = replace splits the payload at the trusted positions of the states, puts U+FFFD for every bad UTF-8
 * sequence, and reads each part separately: an unreadable or truncated one gives an empty state, the others are kept. A
 * bit error inside a word gives a readable state with a wrong word, which is not detected here. A payload that the link
 * reported as failed gives empty states only. on_error = fail refuses all of these.
 */
const semanticStatePayloadDecode = defineOperation({
  id: "foundation.semantic_state_payload_decode",
  name: "State from payload bits",
  description: "Turns payload bits back into semantic states, substituting or failing on damage",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { state: SEMANTIC_STATE },
  params: z.strictObject({
    on_error: z.enum(["replace", "fail"]).default("replace").describe(
      "replace: U+FFFD for bad bytes, empty states for unreadable ones; fail: refuse the payload",
    ),
  }),
  outputMetadataGuarantees: { state: { from: "bits", keys: ["state_ids", "delivered", "failed_item_indices"] } },
  timingMetric: "decoder.payload_decode",
  run({ inputs, params }) {
    const { metadata } = inputs.bits;
    const layout = layoutOf(metadata), { ids } = layout;
    const strict = params.on_error === "fail";
    let payload: Payload;
    try {
      const bytes = payloadBytes(bitsOf(inputs.bits), metadata, strict);
      payload = strict ? readWhole(decodeUtf8(bytes, true), layout) : readWhatIsThere(bytes, layout);
    } catch (error) {
      // Without trusted ids the number of empty states is unknown.
      if (strict || ids === undefined || !isUnreadable(error)) throw error;
      payload = { states: ids.map(() => undefined) };
    }
    const states = payload.states.map((state, index) => state ?? emptyState(ids![index]));
    const delivered = payload.states.map((state) => state !== undefined);
    const kept = travel(metadata, {
      delivered,
      failed_item_indices: delivered.flatMap((there, index) => there ? [] : [index]),
    }, ["source_item_counts", "item_bit_counts", "state_spans", "state_modality"]);
    const modality = layout.modality ?? payload.modality ?? "unknown";
    return { outputs: { state: statesArtifact(states, modality, kept) } };
  },
});

function layoutOf(metadata: JsonObject): Layout {
  const ids = trustedIds(metadata, "state_ids");
  const { state_spans } = metadata;
  const count = (value: Value) => isNumber(value) ? toNumber(value) : -1;
  const spans = Array.isArray(state_spans)
    ? state_spans.map((span): [number, number] => Array.isArray(span) ? [count(span[0]), count(span[1])] : [-1, -1])
    : undefined;
  const sound = spans?.length === ids?.length &&
    spans?.every((span) => span.every((n) => Number.isSafeInteger(n) && n >= 0));
  if (spans !== undefined && !sound) {
    throw new SvcError("boundary_value_invalid", "Cannot read the metadata state_spans as one span per state");
  }
  return { ids, spans, modality: metadataText(metadata, "state_modality") };
}

/** Each state separately if the layout is known, else the document as a whole. */
function readWhatIsThere(bytes: Uint8Array, layout: Layout): Payload {
  const { ids, spans } = layout;
  if (ids === undefined || spans === undefined) return readWhole(decodeUtf8(bytes, false), layout);
  const states = spans.map(([start, count], index) => {
    if (start + count > bytes.length) return undefined;
    try {
      return { ...stateOf(parsed(decodeUtf8(bytes.subarray(start, start + count), false))), id: ids[index] };
    } catch (error) {
      if (isUnreadable(error)) return undefined;
      throw error;
    }
  });
  return { states };
}

/** The document of all states. With trusted ids it must contain one state for each; without them its own ids count. */
function readWhole(text: string, { ids }: Layout): Payload {
  const document = parsed(text);
  if (!isObject(document) || document.kind !== "semantic.state" || !Array.isArray(document.states)) {
    throw unreadable("it is not a document of semantic states");
  }
  const modality = typeof document.modality === "string" ? document.modality.toWellFormed() : undefined;
  const states = document.states.map(stateOf);
  if (ids !== undefined && (ids.length !== states.length || ids.some((id, index) => id !== states[index].id))) {
    throw unreadable("its ids differ from the trusted ids");
  }
  if (states.some(({ id }) => id === "") || new Set(states.map(({ id }) => id)).size !== states.length) {
    throw unreadable("its states have empty or repeated ids");
  }
  return { states, modality };
}

function stateOf(value: Value): SemanticState {
  const state = readState(value);
  if (state === undefined) throw unreadable("a state lacks id, concepts, entities or facts");
  return state;
}

/** The document of a text, possibly with damaged escapes. */
function parsed(text: string): Value {
  try {
    return parseJson(text, { repair: true });
  } catch (error) {
    throw unreadable(messageOf(error));
  }
}

export default [semanticStatePayloadEncode, semanticStatePayloadDecode];
