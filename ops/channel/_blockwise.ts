/** Operations that make one array of another in the order of its elements: `run` makes all of it, a chain block by block. */
import { bitMetadata, bitsOf, companionsOf, sourceItemCounts, travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { blockMemory } from "../../lib/numeric/array/shared_array.ts";
import type {
  FileAccess,
  InputArtifact,
  JsonObject,
  Metrics,
  OperationStream,
  OutputArtifact,
  Progress,
} from "../api.ts";
import { type DataPlane, dataPlane, madeOn, portableOnly } from "../_data_plane.ts";
import { valuesOf } from "./_nr_ldpc.ts";
import { itemsInBlocks } from "./_serial.ts";

const ARRAYS = { uint8: Uint8Array, float32: Float32Array };
/** Least outputs of links that work in blocks with these operations; shorter ones keep the files of whole arrays that they had. */
export const LEAST_BYTES = 2 ** 25;

/** Bits, or log-likelihood ratios. */
type Dtypes = { uint8: Uint8Array; float32: Float32Array };

/** What is made of a stream. */
interface Making<Data> {
  /** Number of elements made. */
  length: number;
  metadata: JsonObject;
  /** Given elements that belong together; default 1. */
  unit?: number;
  metrics?: Metrics;
  /**
   * What the next elements give: a whole number of units, except at the end.
   * @param memory for what is made, with any contents
   */
  next(given: Data, memory: (length: number) => Data, progress: Progress): Data;
}

interface Context<Port extends string, Params> {
  readonly inputs: Readonly<Record<Port, InputArtifact>>;
  readonly params: Params;
  readonly backend: string;
}

interface Way<Data, Params> {
  /** As in the declaration of an operation; native kernels never work in blocks. */
  least?: number;
  allows?(params: Params): boolean;
  /** Begins a stream. Chains have no files, and no other inputs. */
  begin(
    stream: Stream,
    params: Params,
    tools: { kernels: DataPlane; files?: FileAccess; inputs: Readonly<Record<string, InputArtifact | undefined>> },
  ): Making<Data> | Promise<Making<Data>>;
}

/** A stream of `length` elements. */
interface Stream {
  metadata: JsonObject;
  length: number;
}

/** How an operation with these ports works, as a whole and in blocks. */
export function blockwise<Port extends string, Out extends string, Dtype extends keyof Dtypes, Params>(
  port: Port,
  output: Out,
  dtype: Dtype,
  { least = LEAST_BYTES, allows, begin }: Way<Dtypes[Dtype], Params>,
) {
  type Data = Dtypes[Dtype];
  const Elements = ARRAYS[dtype] as unknown as new (length: number) => Data;
  const planeOf = (context: Context<Port, Params>) => dataPlane(context as unknown as Parameters<typeof dataPlane>[0]);
  return {
    streaming: {
      least,
      allows: (params: Params) =>
        portableOnly(params as Parameters<typeof portableOnly>[0]) && (allows?.(params) ?? true),
      async open(
        context: Omit<Context<Port, Params>, "inputs"> & {
          readonly inputs: Readonly<Record<Port, InputArtifact & { readonly length: number }>>;
        },
      ): Promise<OperationStream<Port>> {
        const { inputs, params } = context, kernels = await planeOf(context);
        const { unit = 1, metrics, next, ...form } = await begin(inputs[port], params, { kernels, inputs });
        const memory = blockMemory(Elements);
        return {
          arrays: { [output]: { dtype, ...form } },
          unit: { [port]: unit },
          next: (blocks) => ({ [output]: next(blocks[port].data as Data, memory, () => {}) }),
          end: () => ({ metrics }),
        };
      },
    },
    async run(context: Context<Port, Params> & { readonly files: FileAccess; readonly progress: Progress }) {
      const { params, files, progress, inputs } = context, input = inputs[port], kernels = await planeOf(context);
      const given = dtype === "uint8" ? bitsOf(input, kernels) : valuesOf(input, input.array().data.length);
      const { length } = given, { metadata } = input;
      const { metrics, next, ...making } = await begin({ metadata, length }, params, { kernels, files, inputs });
      const array = ndarray(dtype, next(given as Data, (size) => new Elements(size), progress));
      const whole = { array, metadata: making.metadata, companions: companionsOf(input) };
      return {
        outputs: { [output]: dtype === "uint8" ? madeOn(kernels, whole) : whole } as Record<Out, OutputArtifact>,
        metrics,
      };
    },
  };
}

/**
 * Makes code words of `sent` bits of messages of `size` bits, of which the last may be shorter: zeros fill each to `filled` bits.
 * @param code `describe` gives what the decoder reads from the metadata
 */
export function encoding(
  { metadata: before, length: bitCount }: Stream,
  { size, filled = size, sent, describe, encode }: {
    size: number;
    filled?: number;
    sent: number;
    describe(blockCount: number, itemCounts: readonly number[] | undefined): JsonObject;
    /** Writes a code word into zeros. */
    encode(message: Uint8Array, word: Uint8Array<ArrayBuffer>): void;
  },
): Making<Uint8Array> {
  const blockCount = Math.ceil(bitCount / size), itemCounts = sourceItemCounts(before, bitCount);
  const length = blockCount * sent, message = new Uint8Array(filled);
  const described = { ...describe(blockCount, itemCounts), ...itemsInBlocks(itemCounts, size, sent) };
  return {
    length,
    unit: size,
    metadata: bitMetadata(length, travel(before, described, ["source_item_counts"])),
    next(bits, memory, progress) {
      const count = Math.ceil(bits.length / size), coded = memory(count * sent).fill(0) as Uint8Array<ArrayBuffer>;
      for (let index = 0; index < count; index++) {
        message.fill(0).set(bits.subarray(index * size, (index + 1) * size));
        encode(message, coded.subarray(index * sent, (index + 1) * sent));
        progress(index + 1, count, { phase: "encode", unit: "blocks" });
      }
      return coded;
    },
  };
}
