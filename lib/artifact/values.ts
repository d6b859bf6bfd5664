/**
 * Reads and creates artifacts in operations: bits, symbols, images, texts and reports with the metadata of their
 * boundary contracts.
 *
 * An operation of the channel path copies the metadata of its main input and sets or removes its own keys, so that
 * packet layout, code parameters, padding, image shapes and text ids reach the receiver. Keys that describe the array
 * are always rewritten.
 */
import { type NdArray, ndarray } from "../numeric/array/ndarray.ts";
import { SvcError } from "../contract/error.ts";
import { canonicalJson } from "../contract/json.ts";
import type { Kind, MetadataFields, ReadMetadata } from "../contract/kinds.ts";
import type { InputArtifact, OperationResult, OutputArtifact } from "../contract/operation.ts";
import { float, isNumber, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import { checkBits, checkImages, checkSymbols } from "./boundary.ts";
import { holdsItems, itemName } from "./array_items.ts";

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
  "item_shapes",
];

/**
 * Metadata of a main input for an output: without array keys and `removed` keys, with `changes` set.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { travel } from "./values.ts";
 *
 * const sent = { bit_count: 64, shape: [64], packet_id: "p1", padding_bit_count: 3 };
 * const received = travel(sent, { code_rate: 0.5 }, ["padding_bit_count"]);
 * assert.deepEqual(received, { packet_id: "p1", code_rate: 0.5 });
 * ```
 */
export function travel<Changes extends JsonObject>(
  metadata: JsonObject,
  changes?: Changes,
  removed: readonly string[] = [],
): JsonObject & Changes {
  const kept = Object.entries(metadata).filter(([key]) => !ARRAY_KEYS.includes(key) && !removed.includes(key));
  return { ...Object.fromEntries(kept), ...changes } as JsonObject & Changes;
}

/**
 * Metadata that a kind declares.
 * @param keys keys to read; default all declared ones
 * @throws SvcError `input_metadata_missing` for an absent key, `boundary_value_invalid` for a value of another type
 */
export function metadataOf<F extends MetadataFields, Key extends keyof F & string = keyof F & string>(
  input: InputArtifact,
  kind: Kind<F>,
  keys: readonly Key[] = Object.keys(kind.metadata) as Key[],
): Pick<ReadMetadata<F>, Key> {
  const read = (key: Key): [Key, Value] => {
    const value = input.metadata[key], { name, fits } = METADATA_TYPES[kind.metadata[key]];
    const plain = isNumber(value) ? toNumber(value) : value;
    if (plain === undefined || plain === null) {
      throw new SvcError("input_metadata_missing", `Cannot use a ${input.kind} artifact without the metadata ${key}`);
    }
    if (fits(plain)) return [key, plain];
    throw new SvcError(
      "boundary_value_invalid",
      `Cannot use ${canonicalJson(value)} as the metadata ${key} of a ${input.kind} artifact`,
      {
        hint: `It is ${name}`,
      },
    );
  };
  return Object.fromEntries(keys.map(read)) as Pick<ReadMetadata<F>, Key>;
}

/** Metadata that {@link bitsArtifact}, {@link symbolsArtifact} and {@link imagesArtifact} write, for kinds that declare them. */
export const BIT_METADATA = { boundary_contract: "text", bit_count: "count" } as const;
export const SYMBOL_METADATA = { boundary_contract: "text", symbol_count: "count" } as const;
export const IMAGE_METADATA = { boundary_contract: "text", image_count: "count" } as const;

const METADATA_TYPES: Record<MetadataFields[string], { name: string; fits(value: Value): boolean }> = {
  count: {
    name: "an integer of at least 1",
    fits: (value) => typeof value === "number" && Number.isInteger(value) && value > 0,
  },
  number: { name: "a number", fits: (value) => typeof value === "number" },
  positive: { name: "a number above 0", fits: (value) => typeof value === "number" && value > 0 },
  text: { name: "a text", fits: (value) => typeof value === "string" },
  list: { name: "a list", fits: Array.isArray },
};

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
 * Elements per source item, if the artifact declares item boundaries.
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

/**
 * The bits of an artifact, one uint8 per bit, checked; to be read only, since they may lie in shared memory.
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_value_invalid`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ndarray } from "../numeric/array/ndarray.ts";
 * import { bitsOf } from "./values.ts";
 *
 * const array = ndarray("uint8", Uint8Array.of(1, 0, 1, 1));
 * const kind = "channel.bits.numpy";
 * const input = { kind, metadata: {}, arrayNames: ["bits"], array: () => array, json: () => ({}) };
 * assert.deepEqual(bitsOf(input), Uint8Array.of(1, 0, 1, 1));
 * ```
 */
export function bitsOf(input: InputArtifact, kernels?: { areBits(bits: Uint8Array): boolean }): Uint8Array {
  return checkBits(input.array(undefined, true), kernels?.areBits);
}

/**
 * A bit stream with the metadata of the bit boundary contracts.
 * @param bits one uint8 per bit
 * @param metadata metadata to keep
 * @param contract `payload.bits` before channel coding
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { bitsArtifact } from "./values.ts";
 *
 * const { array, metadata } = bitsArtifact(Uint8Array.of(1, 0, 1, 1, 0, 0, 1, 0, 1), { packet_id: "p1" });
 * assert.deepEqual(array?.shape, [9]);
 * assert.deepEqual([metadata?.bit_count, metadata?.byte_count, metadata?.packet_id], [9, 2, "p1"]);
 * ```
 */
export function bitsArtifact<Metadata extends JsonObject>(
  bits: Uint8Array,
  metadata?: Metadata,
  contract: "channel.bits" | "payload.bits" = "channel.bits",
): OutputArtifact & { metadata: Metadata & { boundary_contract: string; bit_count: number } } {
  return { array: ndarray("uint8", bits), metadata: bitMetadata(bits.length, metadata, contract) };
}

/** The metadata of {@link bitsArtifact} for `count` bits. */
export function bitMetadata<Metadata extends JsonObject>(
  count: number,
  metadata?: Metadata,
  contract: "channel.bits" | "payload.bits" = "channel.bits",
): Metadata & { boundary_contract: string; bit_count: number } {
  return {
    ...metadata as Metadata,
    boundary_contract: contract,
    bit_count: count,
    byte_count: Math.ceil(count / 8),
    storage: "unpacked_uint8",
    bits_per_element: 1,
    data_plane_backend: "python_numpy",
  };
}

/**
 * Complex symbols of an artifact, interleaved (real, imaginary), checked; length is twice the symbol count. They are to be
 * read only, since they may lie in shared memory.
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_non_finite`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ndarray } from "../numeric/array/ndarray.ts";
 * import { symbolsOf } from "./values.ts";
 *
 * const array = ndarray("complex64", Float32Array.of(1, 1, 1, -1));
 * const kind = "channel.symbols.complex_numpy";
 * const input = { kind, metadata: {}, arrayNames: ["symbols"], array: () => array, json: () => ({}) };
 * const energy = symbolsOf(input).reduce((sum, part) => sum + part ** 2, 0);
 * assert.equal(energy / 2, 2);
 * ```
 */
export function symbolsOf(input: InputArtifact): Float32Array {
  return checkSymbols(input.array(undefined, true));
}

/**
 * Complex baseband symbols, complex64 [n].
 * @param symbols interleaved (real, imaginary)
 * @param metadata metadata to keep
 * @param companions further arrays by name, such as the gains of a channel
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { symbolsArtifact } from "./values.ts";
 *
 * const { array, metadata } = symbolsArtifact(Float32Array.of(0.6, 0.8, -0.6, 0.8, 1, 0));
 * assert.deepEqual([array?.dtype, array?.shape], ["complex64", [3]]);
 * assert.equal(metadata?.channel_use_count, 3);
 * ```
 */
export function symbolsArtifact<Metadata extends JsonObject>(
  symbols: Float32Array,
  metadata?: Metadata,
  companions: Record<string, NdArray> = {},
): OutputArtifact & { metadata: Metadata & { boundary_contract: string; symbol_count: number } } {
  return {
    array: ndarray("complex64", symbols),
    companions,
    metadata: symbolMetadata(symbols.length / 2, metadata),
  };
}

/** The metadata of {@link symbolsArtifact} for `count` symbols. */
export function symbolMetadata<Metadata extends JsonObject>(
  count: number,
  metadata?: Metadata,
): Metadata & { boundary_contract: string; symbol_count: number } {
  return {
    ...metadata as Metadata,
    boundary_contract: "channel.symbols",
    representation: "complex_baseband",
    symbol_count: count,
    channel_use_count: count,
  };
}

/** All arrays of an input except the main one, to pass on unchanged. */
export function companionsOf(input: InputArtifact): Record<string, NdArray> {
  const [main, ...others] = input.arrayNames;
  return Object.fromEntries(others.filter((name) => name !== main).map((name) => [name, input.array(name)]));
}

export interface ImageSize {
  readonly height: number;
  readonly width: number;
}
interface ImageSamples {
  readonly count: number;
  readonly channels: number;
  readonly dtype: "uint8" | "float32";
  /** Samples of all images, one image after the other; uint8 0-255 or float32 0-1. */
  readonly data: Uint8Array | Float32Array;
}
/** Images of one size, [count, height, width, channels]. */
export interface UniformImages extends ImageSamples, ImageSize {
  readonly sizes?: undefined;
}
/** Images of several sizes, each [height, width, channels]. */
interface MixedImages extends ImageSamples {
  readonly sizes: readonly ImageSize[];
}
export type ImageBatch = UniformImages | MixedImages;
/** Number, sizes, channels and type of images. */
export type ImageForm = Omit<UniformImages, "data"> | Omit<MixedImages, "data">;
/** {@link ImageForm} without the type of the samples. */
export type ImageShapes = Omit<UniformImages, "data" | "dtype"> | Omit<MixedImages, "data" | "dtype">;

/** Height and width of one image. */
export function sizeAt(batch: ImageShapes, index: number): ImageSize {
  const { height, width } = batch.sizes === undefined ? batch : batch.sizes[index];
  return { height, width };
}

/** Size, channels and type of one image. */
export function formAt(batch: ImageForm, index: number) {
  return { ...sizeAt(batch, index), channels: batch.channels, dtype: batch.dtype };
}

/** Pixels of the first `count` images. */
export function pixelsOf(batch: ImageShapes, count = batch.count): number {
  if (batch.sizes === undefined) return count * batch.height * batch.width;
  let pixels = 0;
  for (let index = 0; index < count; index++) pixels += batch.sizes[index].height * batch.sizes[index].width;
  return pixels;
}

/** The form of a number of images; of equal sizes it is that of a uniform batch. */
export function imageForm<Form extends { channels: number }>(
  sizes: readonly ImageSize[],
  form: Form,
): Form & ({ count: number; height: number; width: number } | { count: number; sizes: readonly ImageSize[] }) {
  const [{ height, width }] = sizes, count = sizes.length;
  const equal = sizes.every((size) => size.height === height && size.width === width);
  if (equal) return { ...form, count, height, width };
  return { ...form, count, sizes: sizes.map(({ height, width }) => ({ height, width })) };
}

/** A batch with zeros as samples. */
export function emptyImages(form: ImageForm): ImageBatch {
  const samples = pixelsOf(form) * form.channels;
  return { ...form, data: form.dtype === "uint8" ? new Uint8Array(samples) : new Float32Array(samples) };
}

/**
 * The images of an artifact, checked.
 * @throws SvcError `boundary_dtype_invalid`, `boundary_rank_invalid`, `boundary_shape_invalid`, `boundary_empty`,
 *   `boundary_value_invalid`
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ndarray } from "../numeric/array/ndarray.ts";
 * import { imagesOf, sizeAt } from "./values.ts";
 *
 * const array = ndarray("uint8", new Uint8Array(2 * 32 * 48 * 3), [2, 32, 48, 3]);
 * const kind = "image.batch.numpy";
 * const input = { kind, metadata: {}, arrayNames: ["images"], array: () => array, json: () => ({}) };
 * const batch = imagesOf(input);
 * assert.deepEqual([batch.count, sizeAt(batch, 1), batch.channels], [2, { height: 32, width: 48 }, 3]);
 * ```
 */
export function imagesOf(input: InputArtifact): ImageBatch {
  if (holdsItems(input.arrayNames.slice(0, 1))) return mixedImagesOf(input);
  const array = checkImages(input.array());
  const [count, height, width, channels] = array.shape;
  return { count, height, width, channels, dtype: array.dtype as "uint8", data: array.data as Uint8Array };
}

function mixedImagesOf(input: InputArtifact): ImageBatch {
  const items = input.arrayNames.map((name, index) => {
    const array = input.array(name);
    if (name !== itemName(index) || array.shape.length !== 3) {
      throw new SvcError("boundary_shape_invalid", `Cannot read the array ${name} as image ${index} of a batch`, {
        hint: "Images of several sizes are the arrays item_000000, item_000001, … of [height, width, channels]",
      });
    }
    return checkImages({ ...array, shape: [1, ...array.shape] });
  });
  const [{ dtype, shape: [, , , channels] }] = items;
  if (items.some((item) => item.dtype !== dtype || item.shape[3] !== channels)) {
    throw new SvcError("boundary_shape_invalid", "Cannot read images of several types or channels as one batch");
  }
  const sizes = items.map(({ shape: [, height, width] }) => ({ height, width }));
  const batch = emptyImages(imageForm(sizes, { channels, dtype: dtype as "uint8" }));
  items.forEach(({ data }, index) => imageAt(batch, index).set(data as Uint8Array));
  return batch;
}

/** The samples of one image of a batch, not copied. */
export function imageAt<T extends ImageBatch>(batch: T, index: number): T["data"] {
  const start = pixelsOf(batch, index) * batch.channels, { height, width } = sizeAt(batch, index);
  return batch.data.subarray(start, start + height * width * batch.channels);
}

/** One image as a batch of its own, not copied. */
export function oneImage(batch: ImageBatch, index: number): UniformImages {
  return { count: 1, ...formAt(batch, index), data: imageAt(batch, index) };
}

/**
 * A batch of images with the metadata of its boundary contract.
 * @param metadata metadata to keep
 * @throws RangeError for samples that do not match the shape (a defect of the caller)
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { imagesArtifact } from "./values.ts";
 *
 * const data = new Float32Array(2 * 8 * 8).fill(0.5);
 * const { array, metadata } = imagesArtifact({ count: 2, height: 8, width: 8, channels: 1, dtype: "float32", data });
 * assert.deepEqual(array?.shape, [2, 8, 8, 1]);
 * assert.equal(metadata?.image_count, 2);
 * ```
 */
export function imagesArtifact<Metadata extends JsonObject>(
  batch: ImageBatch,
  metadata?: Metadata,
): OutputArtifact & { metadata: Metadata & { boundary_contract: string; image_count: number } } {
  if (pixelsOf(batch) * batch.channels !== batch.data.length) {
    throw new RangeError("The image batch does not fill its shape");
  }
  const { count, channels, dtype } = batch;
  return {
    ...batch.sizes === undefined
      ? { array: { dtype, shape: [count, batch.height, batch.width, channels], data: batch.data } }
      : {
        items: batch.sizes.map(({ height, width }, index) => ({
          dtype,
          shape: [height, width, channels],
          data: imageAt(batch, index),
        })),
      },
    metadata: { ...metadata as Metadata, boundary_contract: "image.tensor", image_count: count },
  };
}

export interface TextItem {
  id: string;
  text: string;
}

/** The items of a JSON artifact. @throws SvcError `boundary_shape_invalid` without items */
export function itemsOf(input: InputArtifact): JsonObject[] {
  const { items } = input.json();
  if (!Array.isArray(items) || !items.every(isObject)) {
    throw new SvcError("boundary_shape_invalid", `Cannot find the items of a ${input.kind} artifact`);
  }
  return items;
}

/**
 * The texts of an artifact with their ids.
 * @throws SvcError `boundary_shape_invalid` without items, `boundary_value_invalid` for an item without an id or a text
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { textsOf } from "./values.ts";
 *
 * const json = { kind: "text.batch", schema_version: 1, items: [{ id: "t1", text: "a dog runs" }] };
 * const array = () => assert.fail("texts are no array");
 * const [sentence] = textsOf({ kind: "text.batch.json", metadata: {}, arrayNames: [], array, json: () => json });
 * assert.equal(sentence.text, "a dog runs");
 * ```
 */
export function textsOf(input: InputArtifact): TextItem[] {
  return itemsOf(input).map(({ id, text }) => {
    if (typeof id !== "string" || typeof text !== "string") {
      throw new SvcError("boundary_value_invalid", "Cannot read a text item without an id and a text");
    }
    return { id, text };
  });
}

/**
 * A batch of texts.
 * @param items texts with ids that pair sent and received ones
 * @param metadata metadata to keep
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { textsArtifact } from "./values.ts";
 *
 * const { json } = textsArtifact([{ id: "t1", text: "a dog runs" }]);
 * assert.deepEqual(json?.items, [{ id: "t1", text: "a dog runs" }]);
 * ```
 */
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
 * The result of a metrics operation: one `metrics.report` with the metrics of the step.
 * @param operation id of the reporting operation
 * @param metrics numbers are real-valued, bigints are counts; null (no defined value) stands in the report only
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { canonicalJson } from "../contract/json.ts";
 * import { reportResult } from "./values.ts";
 *
 * const { outputs } = reportResult("mine.error_rate", { "channel.ber": 0, "channel.bit_errors": 0n });
 * const { metrics } = outputs.report.json!;
 * assert.equal(canonicalJson(metrics), '{"channel.ber":0.0,"channel.bit_errors":0}');
 * ```
 */
export function reportResult(
  operation: string,
  metrics: Scores,
  more: { label?: string; items?: Value[]; facts?: JsonObject; metadata?: JsonObject } = {},
): OperationResult<{ report: string }> {
  const json: JsonObject = {
    kind: "metrics.report",
    schema_version: 1,
    operation,
    ...(more.label === undefined ? {} : { label: more.label }),
    metrics: typedMetrics(metrics),
    ...(more.facts ?? {}),
    ...(more.items === undefined ? {} : { items: more.items }),
  };
  const defined = Object.entries(metrics).filter((entry): entry is [string, number | bigint] => entry[1] !== null);
  return { outputs: { report: { json, metadata: more.metadata ?? {} } }, metrics: Object.fromEntries(defined) };
}

/** Metrics of a report; null where a metric has no defined value. */
export type Scores = Readonly<Record<string, number | bigint | null>>;

/** Metrics as typed values: numbers become floats, bigints integers. */
export function typedMetrics(metrics: Scores): JsonObject {
  return Object.fromEntries(
    Object.entries(metrics).map(([id, value]) => [id, typeof value === "number" ? float(value) : value]),
  );
}
