/**
 * The encoder and the decoder of a block code. The encoder cuts the bits into messages, the last padded with zeros; its parameters travel
 * in the metadata, from which the decoder makes the same code.
 *
 * Shapes: bits uint8 [n] -> coded_bits uint8 [blocks · bits of a code word]; llr float32, positive for bit 0, of as many -> bits [n],
 * and payload_llr float32 [n] of a decoder with soft values.
 */
import {
  defineOperation,
  type FileAccess,
  type InputArtifact,
  isNumber,
  isObject,
  type JsonObject,
  type Metrics,
  type Operation,
  type OutputArtifact,
  type ParameterProblem,
  type Requirement,
  SvcError,
  toNumber,
  type Value,
  z,
} from "../api.ts";
import { isAllFinite } from "../../lib/artifact/boundary.ts";
import { declareUnit } from "../../lib/artifact/statistical_unit.ts";
import {
  bitMetadata,
  bitsArtifact,
  companionsOf,
  metadataCounts,
  reportResult,
  travel,
} from "../../lib/artifact/values.ts";
import { lostBlocks } from "../../lib/artifact/weighted_rate.ts";
import { BITS, CODED_BITS, FRAMED_BITS, LLR, PAYLOAD_BITS, REPORT } from "../../lib/contract/kinds.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { notExported } from "../_backends.ts";
import { checkDigest } from "../_file_digest.ts";
import { blockwise, encoding, LEAST_BYTES } from "./_blockwise.ts";
import { valuesOf } from "./_nr_ldpc.ts";

/** A code of one size. */
export interface BlockCode {
  /** Bits of a message, and of its code word. */
  readonly size: number;
  readonly sent: number;
  encode(message: Uint8Array): Uint8Array;
  /** What the encoder reports of the code. */
  readonly metrics?: Metrics;
  /** What the symbols of its bits need to know of the code. */
  readonly facts?: JsonObject;
}

/** A decoded message. */
export interface DecodedMessage {
  bits: Uint8Array;
  /** Log-likelihood ratios, of a decoder that gives them. */
  llr?: Float32Array;
  /** Whether it is a code word for certain, of a decoder that tells. */
  passed?: boolean;
  /** What the decoder counts in its report. */
  counted?: number;
}

interface Family<Params extends z.ZodObject, Code extends BlockCode, Choices extends z.ZodObject> {
  /** Of the operations: `channel.<id>_encoder`, unless `ids` has those of encoder and decoder. */
  id: string;
  ids?: readonly [string, string];
  name: string;
  /** Key of the metadata with the parameters. */
  key: string;
  params: Params;
  /** The file of the project that holds the code of these parameters, if one does, and its SHA-256. */
  file?(params: z.output<Params>): { path: string; sha256: string } | undefined;
  /** @throws RangeError for parameters without a code, or a file without one */
  code(params: z.output<Params>, file?: Uint8Array): Code;
  /** Problems of parameters beside those of `code`. */
  check?(params: z.output<Params>): ParameterProblem[];
  /** The parameter that a RangeError is about. */
  placeOf(message: string): string;
  encoderDescription: string;
  decoderDescription: string;
  /** Parameters of the decoder. */
  choices: Choices;
  /** Name in the report for the sum of what messages count. */
  counts?: string;
  /** Whether the decoder gives soft values of the bits. */
  soft: boolean;
  /** Whether the decoder tells wrong code words. */
  detects: boolean;
  /** Infinite values are refused where paths are compared. */
  decode(llr: Float32Array, code: Code, choices: z.output<Choices>): DecodedMessage;
  /** @throws SvcError for a code that this choice cannot decode */
  accept?(code: Code, choices: z.output<Choices>): void;
}

/** Declares both operations of a family. */
export function blockCode<Params extends z.ZodObject, Code extends BlockCode, Choices extends z.ZodObject>(
  family: Family<Params, Code, Choices>,
): [Operation, Operation] {
  const { id, name, key, choices, soft, detects } = family;
  const [encoderId, decoderId] = family.ids ?? [`channel.${id}_encoder`, `channel.${id}_decoder`];
  const made = new Map<string, Code>();
  /** Codes of the last parameters: tables of a field or an interleaver take longer than a code word. */
  const codeOf = (params: z.output<Params>, file?: Uint8Array): Code => {
    const text = JSON.stringify(params, (_, value) => isNumber(value) ? toNumber(value) : value);
    let found = made.get(text);
    if (found === undefined) {
      if (made.size > 8) made.clear();
      made.set(text, found = family.code(params, file));
    }
    return found;
  };
  const fileOf = (params: z.output<Params>) => family.file?.(params);
  /** @throws SvcError `boundary_hash_mismatch`, `boundary_value_invalid`, and those of the file access */
  const readCode = async (params: z.output<Params>, files: FileAccess | undefined): Promise<Code> => {
    const file = fileOf(params), bytes = file === undefined ? undefined : await files!.read(file.path);
    if (file !== undefined) checkDigest(bytes!, file.sha256, file.path);
    try {
      return codeOf(params, bytes);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new SvcError("boundary_value_invalid", error.message);
    }
  };
  const encoder = defineOperation({
    id: encoderId,
    name: `${name} encode`,
    description: family.encoderDescription,
    inputs: { bits: [PAYLOAD_BITS, FRAMED_BITS, BITS, CODED_BITS] },
    outputs: { coded_bits: CODED_BITS },
    params: family.params as z.ZodObject,
    differentiability: { framework: "torch", gradient: "stop", trainable_params: false, exportable: false },
    outputMetadataGuarantees: { coded_bits: { from: "bits", keys: ["boundary_contract", "bit_count", key] } },
    requires(params): Requirement[] {
      const file = fileOf(params as z.output<Params>);
      return file === undefined ? [] : [{ kind: "file", id: file.path }];
    },
    check(given): ParameterProblem[] {
      const params = given as z.output<Params>, problems = family.check?.(params) ?? [];
      if (problems.length > 0 || fileOf(params) !== undefined) return problems;
      try {
        codeOf(params);
        return [];
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        return [{
          place: [family.placeOf(error.message)],
          message: error.message,
          hint: "See the descriptions of the parameters",
        }];
      }
    },
    estimate(params, { bits: { bytes, shape = [bytes] } }) {
      if (fileOf(params as z.output<Params>) !== undefined) return { coded_bits: null };
      const { size, sent } = codeOf(params as z.output<Params>);
      return { coded_bits: [["uint8", Math.ceil(shape[0] / size) * sent]] };
    },
    ...blockwise("bits", "coded_bits", "uint8", {
      allows: (params) => fileOf(params as z.output<Params>) === undefined,
      async begin(stream, params: object, { files }) {
        const code = await readCode(params as z.output<Params>, files), { size, sent, metrics } = code;
        const { metadata: { [key]: outer }, length } = stream;
        const describe = (blockCount: number, itemCounts: readonly number[] | undefined) => ({
          [key]: {
            parameters: params as JsonObject,
            message_bits: size,
            coded_bits_per_block: sent,
            block_count: blockCount,
            padding_bits: blockCount * size - length,
            ...code.facts,
            // Its bits may be those of another code of the family, which the decoder brings back.
            ...(isObject(outer) ? { outer } : {}),
            ...(itemCounts === undefined ? {} : { source_item_counts: [...itemCounts] }),
          },
        });
        const encode = (message: Uint8Array, word: Uint8Array) => word.set(code.encode(message));
        return { ...encoding(stream, { size, sent, describe, encode }), metrics };
      },
    }),
  });

  /** Reads what the encoder wrote; null for the code of a file without access to files. @throws SvcError `input_metadata_missing`, `boundary_value_invalid` */
  const readStream = async (metadata: JsonObject, files?: FileAccess) => {
    const record = metadata[key];
    if (!isObject(record)) {
      throw new SvcError("input_metadata_missing", `Cannot decode: the metadata ${key} is missing`, {
        hint: `Put a ${encoderId} step before the channel`,
      });
    }
    const unreadable = (part: string) =>
      new SvcError("boundary_value_invalid", `Cannot decode: the metadata ${key}.${part} is invalid`);
    const count = (part: string, most = Number.MAX_SAFE_INTEGER): number => {
      const value = record[part], number = isNumber(value) ? toNumber(value) : NaN;
      if (!(Number.isSafeInteger(number) && number >= 0 && number <= most)) throw unreadable(part);
      return number;
    };
    const given = family.params.safeParse(plain(record.parameters));
    if (!given.success) throw unreadable("parameters");
    if (files === undefined && fileOf(given.data) !== undefined) return null;
    const code = await readCode(given.data, files), blockCount = count("block_count");
    return {
      code,
      blockCount,
      /** The record of a code of this family around this one. */
      outer: isObject(record.outer) ? record.outer : undefined,
      /** Zeros after the payload in the last message. */
      paddingBits: count("padding_bits", blockCount === 0 ? 0 : code.size - 1),
      itemCounts: metadataCounts(record, "source_item_counts") as readonly number[] | undefined,
    };
  };

  const decoder = defineOperation({
    id: decoderId,
    name: `${name} decode`,
    description: family.decoderDescription,
    inputs: { llr: [LLR] },
    outputs: { bits: PAYLOAD_BITS, ...(soft ? { payload_llr: LLR } : {}), report: REPORT },
    params: choices as z.ZodObject,
    differentiability: notExported("torch", "stop", "Compared paths or hard decisions"),
    inputMetadataRequirements: { llr: { all_of: [key] } },
    outputMetadataGuarantees: {
      bits: {
        from: "llr",
        keys: ["boundary_contract", "bit_count", ...(detects ? ["failed_block_indices"] : [])],
      },
      ...(soft ? { payload_llr: { from: "llr" } } : {}),
    },
    // At most a payload bit for each log-likelihood ratio and the bits of one more.
    estimate: (_params, { llr: { bytes } }) => ({ bits: bytes, ...(soft ? { payload_llr: 4 * bytes } : {}) }),
    importance: "block",
    streaming: {
      least: LEAST_BYTES,
      late: detects ? ["bits", ...(soft ? ["payload_llr"] : []), "report"] : ["report"],
      async open({ inputs: { llr }, params }) {
        const stream = await readStream(llr.metadata), unit = { llr: stream?.code.sent ?? 1 };
        if (stream === null || llr.length !== stream.blockCount * unit.llr) return null;
        const { length, decode, describe, report, result } = decodingOf(llr, stream, params as z.output<Choices>);
        if (detects) {
          const bits = new Uint8Array(length), values = new Float32Array(soft ? length : 0);
          let at = 0;
          const next = (blocks: { llr: NdArray }) => {
            const found = decode(blocks.llr.data as Float32Array);
            bits.set(found.bits, at);
            if (soft) values.set(found.values, at);
            at += found.bits.length;
            return {};
          };
          return { arrays: {}, unit, next, end: () => result({ bits, values }) };
        }
        const metadata = describe();
        return {
          arrays: {
            bits: { dtype: "uint8", length, metadata: bitMetadata(length, metadata, "payload.bits") },
            ...(soft ? { payload_llr: { dtype: "float32", length, metadata } } : {}),
          },
          unit,
          next(blocks) {
            const { bits, values } = decode(blocks.llr.data as Float32Array);
            return { bits, ...(soft ? { payload_llr: values } : {}) };
          },
          end: report,
        };
      },
    },
    async run({ inputs: { llr: input }, params, progress, files }) {
      const stream = (await readStream(input.metadata, files))!;
      const { decode, result } = decodingOf(input, stream, params as z.output<Choices>);
      const llr = valuesOf(input, stream.blockCount * stream.code.sent);
      return result(decode(llr, (done) => progress(done, stream.blockCount, { phase: "decode", unit: "blocks" })));
    },
  });

  /** Decodes the code words of a stream in their order. @throws SvcError for a code that these choices cannot decode */
  function decodingOf(
    input: InputArtifact,
    { code, blockCount, outer, paddingBits, itemCounts }: NonNullable<Awaited<ReturnType<typeof readStream>>>,
    chosen: z.output<Choices>,
  ) {
    family.accept?.(code, chosen);
    const { metadata } = input, { size, sent } = code, length = blockCount * size - paddingBits;
    const passed: boolean[] = [];
    let counted = 0;
    /** The bits of the next code words, and their soft values. */
    const decode = (llr: Float32Array, progress?: (done: number) => void) => {
      if (soft && !isAllFinite(llr)) {
        throw new SvcError("boundary_non_finite", "Cannot decode log-likelihood ratios that are infinite");
      }
      const count = llr.length / sent, most = Math.min(count * size, length - passed.length * size);
      const bits = new Uint8Array(count * size), values = new Float32Array(soft ? count * size : 0);
      for (let index = 0; index < count; index++) {
        const block = family.decode(llr.subarray(index * sent, (index + 1) * sent), code, chosen);
        bits.set(block.bits, index * size);
        if (block.llr !== undefined) values.set(block.llr, index * size);
        counted += block.counted ?? 0;
        passed.push(block.passed ?? true);
        progress?.(passed.length);
      }
      return { bits: bits.subarray(0, most), values: values.subarray(0, most) };
    };
    /** Metadata of the decoded bits, which a decoder that detects errors knows at the end. */
    const describe = () =>
      travel(metadata, {
        ...(detects ? { failed_block_indices: passed.flatMap((one, index) => one ? [] : [index]) } : {}),
        ...(itemCounts === undefined ? {} : { source_item_counts: [...itemCounts] }),
        ...declareUnit(metadata, "transport_block", { size, total: length }),
        ...(outer === undefined ? {} : { [key]: outer }),
      }, [key, "source_item_counts"]);
    const report = () => {
      const lost = detects
        ? lostBlocks("channel.payload_delivery_block_error_rate", passed, input)
        : { metrics: {}, metadata: {} };
      const reported = reportResult(decoderId, lost.metrics, {
        facts: {
          block_count: blockCount,
          payload_bits: length,
          ...(family.counts === undefined ? {} : { [family.counts]: counted }),
          ...chosen as JsonObject,
        },
      });
      return { ...reported, metadata: lost.metadata };
    };
    const result = ({ bits, values }: ReturnType<typeof decode>) => {
      const { outputs, ...reported } = report(), described = describe();
      const payload = { ...bitsArtifact(bits, described, "payload.bits"), companions: companionsOf(input) };
      const soften: Record<string, OutputArtifact> = soft
        ? { payload_llr: { array: ndarray("float32", values), metadata: described } }
        : {};
      return { outputs: { bits: payload, ...soften, ...outputs }, ...reported };
    };
    return { length, decode, describe, report, result };
  }
  return [encoder, decoder];
}

/** A value of metadata with plain numbers. */
function plain(value: Value | undefined): unknown {
  if (isNumber(value)) return toNumber(value);
  if (Array.isArray(value)) return value.map(plain);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]))
    : value;
}
