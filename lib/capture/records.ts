/**
 * Records in the arrays of taps. A record is a row along axis 0 of an array of two and more dimensions. An
 * array of one dimension is one record, unless its metadata says that it holds several (`record_axis`, `sample_axis` or
 * `capture_record_axis` of 0, `capture_record_count`, `capture_record_shape`), or it has a value for each record of the other
 * taps, or all taps are streams of as many equal source items: then a record is a source item. With `record: run` an
 * array of any shape is one record.
 *
 * An artifact may hold more arrays than its main one. They come along: by rows where they have a row for each record, else
 * whole in every record, as the pilots of a grid do.
 */
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { isInteger, type JsonObject, type Value } from "../contract/value.ts";
import { bytesOf, DTYPES, elementCount, type NdArray, type TypedData } from "../numeric/array/ndarray.ts";

const AXIS_KEYS = ["record_axis", "sample_axis", "capture_record_axis"];

/** Consecutive records. */
export interface Records {
  count: number;
  /** Shape of one record. */
  shape: number[];
  array: NdArray;
  /** Whether every record holds the whole array. */
  whole?: true;
  /** Elements of a stream that was cut into its source items. */
  stream?: number;
}

/** The array of a tap before it is cut. */
export interface TapArray {
  array: NdArray;
  metadata: JsonObject;
  from: string;
  /** Whether it is one record, for any shape. */
  perRun: boolean;
}

/** Cuts the main arrays of all taps; the records of one-dimensional arrays follow from the others. */
export function cutTaps(taps: readonly TapArray[]): Records[] {
  const rows = new Set(
    taps.filter(({ array, perRun, metadata }) => !perRun && array.shape.length >= 2 && !isDeclared(metadata))
      .map(({ array }) => array.shape[0]),
  );
  const [count] = rows.size === 1 ? rows : [];
  const items = itemsOf(taps);
  if (items > 1) {
    return taps.map(({ array }) => {
      const [size] = array.shape;
      return { count: items, shape: [size / items], array: { ...array, shape: [items, size / items] }, stream: size };
    });
  }
  return taps.map(({ array, metadata, from, perRun }) => {
    if (perRun) return { count: 1, shape: [...array.shape], array };
    const scalars = array.shape.length === 1 && array.shape[0] === count && !isDeclared(metadata);
    return scalars ? { count, shape: [], array } : recordsOf(array, metadata, from);
  });
}

/** The keys of a stream's items: elements of each, or bits of each before modulation. */
const ITEM_KEYS = ["source_item_counts", "modulated_item_bit_counts"];

/** Equal source items that all taps consist of; 1 where one of them is no such stream. */
function itemsOf(taps: readonly TapArray[]): number {
  const counts = taps.map(({ array: { shape }, metadata, perRun }) => {
    if (perRun || shape.length !== 1 || isDeclared(metadata)) return 1;
    const declared = ITEM_KEYS.map((key) => metadata[key]).find(Array.isArray) ?? [];
    const equal = declared.every((count) => isCount(count) && Number(count) === Number(declared[0]));
    return equal && declared.length > 0 && shape[0] % declared.length === 0 ? declared.length : 1;
  });
  return counts.every((count) => count === counts[0]) ? counts[0] : 1;
}

/** Cuts a further array of an artifact whose main array was cut. */
export function cutCompanion(array: NdArray, main: Records): Records {
  if (main.stream !== undefined && array.shape[0] === main.stream) {
    const { count } = main, shape = [main.stream / count, ...array.shape.slice(1)];
    return { count, shape, array: { ...array, shape: [count, ...shape] }, stream: main.stream };
  }
  const byRows = main.array.shape.length > 0 && main.shape.length < main.array.shape.length;
  if (byRows && array.shape.length > 0 && array.shape[0] === main.count) {
    return { count: main.count, shape: array.shape.slice(1), array };
  }
  return { count: main.count, shape: [...array.shape], array, whole: true };
}

function isDeclared(metadata: JsonObject): boolean {
  const keys = [...AXIS_KEYS, "capture_record_count", "capture_record_shape"];
  return keys.some((key) => (metadata[key] ?? null) !== null);
}

/** Exported for tests. @throws SvcError `dataset_capture_invalid` where the metadata does not fit the array */
export function recordsOf(array: NdArray, metadata: JsonObject, from: string): Records {
  const axis = AXIS_KEYS.map((key) => [key, metadata[key]] as const).find(([, value]) => (value ?? null) !== null);
  if (axis !== undefined && axis[1] !== 0) {
    throw unfit(from, `its ${axis[0]} is ${String(axis[1])}, and records lie along axis 0`);
  }
  if (array.shape.length >= 2) return { count: array.shape[0], shape: array.shape.slice(1), array };
  if (array.shape.length === 0) return { count: 1, shape: [], array };
  const [size] = array.shape;
  const count = metadata.capture_record_count, shape = metadata.capture_record_shape;
  if (isCount(count)) {
    if (Number(count) < 1 || size % Number(count) !== 0) throw unfit(from, `${size} elements are not ${count} records`);
    return { count: Number(count), shape: [size / Number(count)], array };
  }
  if (Array.isArray(shape) && shape.every(isCount)) {
    const sizes = shape.map(Number), each = elementCount(sizes);
    if (each < 1 || size % each !== 0) throw unfit(from, `${size} elements are no records of [${sizes.join(", ")}]`);
    return { count: size / each, shape: sizes, array };
  }
  return axis === undefined ? { count: 1, shape: [size], array } : { count: size, shape: [], array };
}

const isCount = (value: Value | undefined): value is number | bigint => isInteger(value) && value >= 0;

const unfit = (from: string, why: string) =>
  new SvcError("dataset_capture_invalid", `Cannot cut ${from} into records: ${why}`);

/** The elements of some records. */
export function sliceRecords({ array, shape, whole }: Records, start: number, end: number): TypedData {
  const slots = elementCount(shape) * DTYPES[array.dtype].slots;
  if (!whole) return array.data.subarray(start * slots, end * slots) as TypedData;
  const { itemSize, make } = DTYPES[array.dtype];
  const repeated = make(new ArrayBuffer((end - start) * elementCount(shape) * itemSize), 0, (end - start) * slots);
  for (let at = 0; at < end - start; at++) (repeated as Uint8Array).set(array.data as Uint8Array, at * slots);
  return repeated;
}

/** SHA-256 of the content of a record over all arrays: their names, types, shapes and bytes. */
export function recordSha256(arrays: readonly (readonly [string, Records])[], index: number): string {
  const parts = arrays.map(([id, { array, shape, whole }]) => {
    const size = elementCount(shape) * DTYPES[array.dtype].itemSize;
    const bytes = whole ? bytesOf(array) : bytesOf(array).subarray(index * size, (index + 1) * size);
    return `${id} ${array.dtype} [${shape.join(",")}] ${sha256Hex(bytes)}`;
  });
  return sha256Hex(parts.join("\n"));
}

/** Collects records of one tap until a shard is full. */
export class RecordBuffer {
  readonly #parts: TypedData[] = [];
  #count = 0;

  constructor(readonly dtype: NdArray["dtype"], readonly shape: readonly number[]) {}

  get count(): number {
    return this.#count;
  }

  /** Takes a copy. */
  add(data: TypedData, count: number): void {
    this.#parts.push(data.slice() as TypedData);
    this.#count += count;
  }

  /** All that was collected as one array, records along axis 0; the buffer is empty afterwards. */
  take(): NdArray {
    const { slots, itemSize, make } = DTYPES[this.dtype];
    const elements = this.#count * elementCount(this.shape);
    const data = make(new ArrayBuffer(elements * itemSize), 0, elements * slots);
    let at = 0;
    for (const part of this.#parts.splice(0)) {
      (data as Uint8Array).set(part as Uint8Array, at);
      at += part.length;
    }
    const array = { dtype: this.dtype, shape: [this.#count, ...this.shape], data };
    this.#count = 0;
    return array;
  }
}
