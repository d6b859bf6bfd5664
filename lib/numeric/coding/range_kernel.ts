/** Memory of the kernel of the range coder (lib/numeric/kernels/assembly/range_coder.ts), and how integers of any number pass through it. */
import * as kernels from "../kernels/range_coder.wasm";

const memory = kernels.memory as WebAssembly.Memory;
/** Most integers of a block, and most 255s that a coder may hold back at its start. */
export const BLOCK = kernels.block() as number;
/** Most bytes that a block takes from a message. */
const BLOCK_BYTES = 2 * BLOCK;
/** Words of the head of a table, and room for its buckets. */
const HEAD = 4, BUCKETS = 129;

/** A distribution over integers in counts. */
export interface FrequencyTable {
  readonly smallest: number;
  /** Counts below each entry, the escape last, and 2^16 at the end. */
  readonly cumulative: Uint32Array;
}

/** The tables in the memory of the kernel. */
let loaded: readonly FrequencyTable[] | undefined;

function load(tables: readonly FrequencyTable[]): void {
  if (tables === loaded) return;
  const counts = tables.reduce((sum, { cumulative }) => sum + cumulative.length, 0), start = kernels.tablesOffset();
  const all = (HEAD + BUCKETS) * tables.length + counts;
  loaded = undefined;
  if (!kernels.reserve(start + 4 * all)) {
    throw new RangeError(`Cannot keep ${tables.length} frequency tables: no memory is left`);
  }
  const words = new Uint32Array(memory.buffer, start, all);
  let at = HEAD * tables.length;
  tables.forEach(({ smallest, cumulative }, index) => {
    const buckets = at + cumulative.length;
    words.set([smallest, cumulative.length - 2, start + 4 * at, start + 4 * buckets], HEAD * index);
    words.set(cumulative, at);
    at = buckets + BUCKETS;
  });
  kernels.prepare(tables.length);
  loaded = tables;
}

/** Integers that are copied at once. */
export type Integers = Int32Array | Int16Array | Int8Array | Uint32Array | Uint16Array | Uint8Array;

/** Integers as a typed array. */
export const integersOf = (values: ArrayLike<number>): Integers =>
  isIntegers(values) ? values : Int32Array.from(values);

const isIntegers = (values: ArrayLike<number>): values is Integers =>
  [Int32Array, Int16Array, Int8Array, Uint32Array, Uint16Array, Uint8Array].some((kind) => values instanceof kind);

/** A block of integers in the memory of the kernel. */
export class Block {
  readonly values = new Int32Array(memory.buffer, kernels.valuesOffset(), BLOCK);
  readonly #state = new Float64Array(memory.buffer, kernels.stateOffset(), 5);
  readonly #bytes = new Uint8Array(memory.buffer, kernels.bytesOffset(), 4 * BLOCK);

  private constructor() {}

  /** @param indexes of the tables, at most BLOCK */
  static of(indexes: Integers, tables: readonly FrequencyTable[]): Block {
    load(tables);
    const kept = new Int32Array(memory.buffer, kernels.indexesOffset(), indexes.length);
    kept.set(indexes);
    for (let at = 0; at < kept.length; at++) {
      if (kept[at] < 0 || kept[at] >= tables.length) {
        throw new RangeError(`Cannot find the frequency table ${kept[at]}`);
      }
    }
    return new Block();
  }

  /**
   * Encodes values up to an escape.
   * @param state low, range, held byte, count of 255s (at most BLOCK); changed
   * @returns the number of the first value that is not encoded, and the bytes
   */
  encode(from: number, to: number, state: number[]): { at: number; bytes: Uint8Array } {
    this.#state.set(state);
    const at = kernels.encode(from, to);
    for (let i = 0; i < 4; i++) state[i] = this.#state[i];
    return { at, bytes: this.#bytes.subarray(0, this.#state[4]) };
  }

  /**
   * Decodes values up to an escape.
   * @param state offset, range; changed
   * @param message the bytes that follow
   * @returns the number of the first value that is not decoded, and the number of used bytes
   */
  decode(from: number, to: number, state: number[], message: Uint8Array): { at: number; used: number } {
    const part = message.subarray(0, BLOCK_BYTES);
    this.#bytes.set(part);
    this.#state.set(state);
    const at = kernels.decode(from, to, part.length);
    for (let i = 0; i < 2; i++) state[i] = this.#state[i];
    return { at, used: this.#state[2] };
  }
}
