/**
 * Reading and making artifacts in operations: bits, symbols, images, texts and reports with the metadata their
 * boundary contracts ask for.
 *
 * Metadata travels: an operation of the channel path copies the metadata of its main input and sets or removes its own
 * keys, so packet layout, code parameters, padding, image shapes and text ids reach the receiver. Keys that describe
 * the array are always rewritten.
 */
import { elementCount, type NdArray, ndarray } from "../numeric/ndarray.ts";
import { SvcError } from "../contract/error.ts";
import type { InputArtifact, Metrics, OperationResult, OutputArtifact } from "../contract/operation.ts";
import { float, isNumber, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import { checkBits, checkImages, checkSymbols } from "./boundary.ts";

/** Keys that describe the array of an artifact, not its content or origin. */
const ARRAY_KEYS = [
  "array",
  "dtype",
  "shape",
  "boundary_contract",
  "bit_count",
  "byte_count",
  "storage",
  "bits_per_element",
  "representation",
  "symbol_count",
  "channel_use_count",
  "data_plane_backend",
];

/** Metadata of a main input for an output: array keys dropped, `changes` set, `removed` keys left out. */
export function travel(metadata: JsonObject, changes: JsonObject = {}, removed: readonly string[] = []): JsonObject {
  const kept = Object.entries(metadata).filter(([key]) => !ARRAY_KEYS.includes(key) && !removed.includes(key));
  return { ...Object.fromEntries(kept), ...changes };
}

/** A number from metadata, or undefined when the key is absent. @throws SvcError when it is not a number */
export function metadataNumber(metadata: JsonObject, key: string): number | undefined {
  const value = metadata[key];
  if (value === undefined || value === null) return undefined;
  if (!isNumber(value)) throw new SvcError("boundary_value_invalid", `Cannot read the metadata ${key} as a number`);
  return toNumber(value);
}

/** A list of non-negative integers from metadata, or undefined when the key is absent. */
export function metadataCounts(metadata: JsonObject, key: string): number[] | undefined {
  const value = metadata[key];
  if (value === undefined || value === null) return undefined;
  const counts = Array.isArray(value) ? value.map((item) => (isNumber(item) ? toNumber(item) : NaN)) : [NaN];
  if (!counts.every((count) => Number.isSafeInteger(count) && count >= 0)) {
    throw new SvcError("boundary_count_not_integer", `Cannot read the metadata ${key} as counts`);
  }
  return counts;
}

/** A text from metadata, or undefined when the key is absent. */
export function metadataText(metadata: JsonObject, key: string): string | undefined {
  const value = metadata[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") {
    throw new SvcError("boundary_value_invalid", `Cannot read the metadata ${key} as a text`);
  }
  return value;
}

/**
 * Elements per source item, when the artifact declares item boundaries.
 *
 * @throws SvcError `boundary_count_mismatch` when they do not sum to the length
 */
export function sourceItemCounts(metadata: JsonObject, length: number): number[] | undefined {
  const counts = metadataCounts(metadata, "source_item_counts");
  if (counts === undefined) return undefined;
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total !== length) {
    throw new SvcError("boundary_count_mismatch", `Cannot cut ${length} elements into items of ${total} elements`);
  }
  return counts;
}

/** The bits of an artifact, one uint8 per bit, checked. */
export function bitsOf(input: InputArtifact): Uint8Array {
  return checkBits(input.array());
}

/** A bit stream with the metadata of the bit boundary contracts. */
export function bitsArtifact(
  bits: Uint8Array,
  metadata: JsonObject = {},
  contract: "channel.bits" | "payload.bits" = "channel.bits",
): OutputArtifact {
  return {
    array: ndarray("uint8", bits),
    metadata: {
      ...metadata,
      boundary_contract: contract,
      bit_count: bits.length,
      byte_count: Math.ceil(bits.length / 8),
      storage: "unpacked_uint8",
      bits_per_element: 1,
      data_plane_backend: "python_numpy",
    },
  };
}

/** Complex symbols of an artifact, interleaved (real, imaginary), checked; length is twice the symbol count. */
export function symbolsOf(input: InputArtifact): Float32Array {
  return checkSymbols(input.array());
}

/** Complex baseband symbols, complex64 [n]. */
export function symbolsArtifact(
  symbols: Float32Array,
  metadata: JsonObject = {},
  companions: Record<string, NdArray> = {},
): OutputArtifact {
  const count = symbols.length / 2;
  return {
    array: ndarray("complex64", symbols),
    companions,
    metadata: {
      ...metadata,
      boundary_contract: "channel.symbols",
      representation: "complex_baseband",
      symbol_count: count,
      channel_use_count: count,
    },
  };
}

/** All arrays of an input but the main one, to hand on unchanged. */
export function companionsOf(input: InputArtifact): Record<string, NdArray> {
  const [main, ...others] = input.arrayNames;
  return Object.fromEntries(others.filter((name) => name !== main).map((name) => [name, input.array(name)]));
}

/** A batch of images [count, height, width, channels], uint8 0-255 or float32 0-1. */
export interface ImageBatch {
  readonly count: number;
  readonly height: number;
  readonly width: number;
  readonly channels: number;
  readonly dtype: "uint8" | "float32";
  readonly data: Uint8Array | Float32Array;
}

/** The images of an artifact, checked. */
export function imagesOf(input: InputArtifact): ImageBatch {
  const array = checkImages(input.array());
  const [count, height, width, channels] = array.shape;
  return { count, height, width, channels, dtype: array.dtype as "uint8", data: array.data as Uint8Array };
}

/** The samples of one image of a batch, without a copy. */
export function imageAt<T extends ImageBatch>(batch: T, index: number): T["data"] {
  const size = batch.height * batch.width * batch.channels;
  return batch.data.subarray(index * size, (index + 1) * size);
}

export function imagesArtifact(batch: ImageBatch, metadata: JsonObject = {}): OutputArtifact {
  const shape = [batch.count, batch.height, batch.width, batch.channels];
  if (elementCount(shape) !== batch.data.length) throw new RangeError("The image batch does not fill its shape");
  return {
    array: { dtype: batch.dtype, shape, data: batch.data },
    metadata: { ...metadata, boundary_contract: "image.tensor", image_count: batch.count },
  };
}

export interface TextItem {
  id: string;
  text: string;
}

/** The items of a JSON artifact. @throws SvcError `boundary_shape_invalid` when it has none */
export function itemsOf(input: InputArtifact): JsonObject[] {
  const { items } = input.json();
  if (!Array.isArray(items) || !items.every(isObject)) {
    throw new SvcError("boundary_shape_invalid", `Cannot find the items of a ${input.kind} artifact`);
  }
  return items as JsonObject[];
}

export function textsOf(input: InputArtifact): TextItem[] {
  return itemsOf(input).map(({ id, text }) => {
    if (typeof id !== "string" || typeof text !== "string") {
      throw new SvcError("boundary_value_invalid", "Cannot read a text item without an id and a text");
    }
    return { id, text };
  });
}

export function textsArtifact(items: readonly TextItem[], metadata: JsonObject = {}): OutputArtifact {
  const rows = items.map(({ id, text }): JsonObject => ({ id, text }));
  return { json: { kind: "text.batch", schema_version: 1, items: rows }, metadata };
}

/** Checks that paired artifacts hold the same ids in the same order. @throws SvcError `pair_ids_mismatch` */
export function checkPairedIds(candidate: readonly { id: string }[], reference: readonly { id: string }[]): void {
  const same = candidate.length === reference.length &&
    candidate.every((item, index) => item.id !== "" && item.id === reference[index].id);
  if (!same || new Set(candidate.map((item) => item.id)).size !== candidate.length) {
    throw new SvcError("pair_ids_mismatch", "Cannot compare items whose ids are empty, repeated or unequal");
  }
}

/**
 * The result of a metrics operation: one `metrics.report` whose metrics are also the step's.
 *
 * @param operation id of the reporting operation
 * @param metrics numbers are real-valued, bigints are counts
 */
export function reportResult(
  operation: string,
  metrics: Metrics,
  more: { label?: string; items?: Value[]; facts?: JsonObject; metadata?: JsonObject } = {},
): OperationResult<"report"> {
  const json: JsonObject = {
    kind: "metrics.report",
    schema_version: 1,
    operation,
    ...(more.label === undefined ? {} : { label: more.label }),
    metrics: typedMetrics(metrics),
    ...(more.facts ?? {}),
    ...(more.items === undefined ? {} : { items: more.items }),
  };
  return { outputs: { report: { json, metadata: more.metadata ?? {} } }, metrics };
}

/** Metrics as typed values: numbers become floats, bigints integers. */
export function typedMetrics(metrics: Metrics): JsonObject {
  return Object.fromEntries(
    Object.entries(metrics).map(([id, value]) => [id, typeof value === "bigint" ? value : float(value)]),
  );
}
