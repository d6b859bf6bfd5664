/**
 * Payload bits back to semantic states. Ids and modality come from the trusted metadata, the content from the payload.
 *
 * on_error = replace splits the payload at the trusted positions of the states, puts U+FFFD for every bad UTF-8
 * sequence, and reads each part separately: an unreadable or truncated one gives an empty state, the others are kept. A
 * bit error inside a word gives a readable state with a wrong word, which is not detected here. A payload that the link
 * reported as failed gives empty states only. on_error = fail refuses all of these.
 */
import { PAYLOAD_OR_BITS, SEMANTIC_STATE } from "../../lib/contract/kinds.ts";
import {
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
import { emptyState, readState, type SemanticState, statesArtifact } from "../_semantic_state.ts";
import { decodeUtf8, isUnreadable, payloadBytes, trustedIds, unreadable } from "../_utf8_payload.ts";

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

export default defineOperation({
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
