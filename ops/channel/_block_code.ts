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
  isNumber,
  isObject,
  type JsonObject,
  type Metrics,
  type Operation,
  type ParameterProblem,
  type Requirement,
  SvcError,
  toNumber,
  type Value,
  z,
} from "../api.ts";
import { declareUnit } from "../../lib/artifact/statistical_unit.ts";
import {
  bitsArtifact,
  bitsOf,
  companionsOf,
  metadataCounts,
  reportResult,
  sourceItemCounts,
  travel,
} from "../../lib/artifact/values.ts";
import { lostBlocks } from "../../lib/artifact/weighted_rate.ts";
import { BITS, CODED_BITS, FRAMED_BITS, LLR, PAYLOAD_BITS, REPORT } from "../../lib/contract/kinds.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { notExported } from "../_backends.ts";
import { checkDigest } from "../_file_digest.ts";
import { valuesOf } from "./_nr_ldpc.ts";
import { itemsInBlocks } from "./_serial.ts";

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
  const readCode = async (params: z.output<Params>, files: FileAccess): Promise<Code> => {
    const file = fileOf(params), bytes = file === undefined ? undefined : await files.read(file.path);
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
    async run({ inputs, params, progress, files }) {
      const code = await readCode(params as z.output<Params>, files), { size, sent } = code, bits = bitsOf(inputs.bits);
      const blockCount = Math.ceil(bits.length / size);
      const itemCounts = sourceItemCounts(inputs.bits.metadata, bits.length);
      const coded = new Uint8Array(blockCount * sent), message = new Uint8Array(size);
      for (let index = 0; index < blockCount; index++) {
        message.fill(0).set(bits.subarray(index * size, (index + 1) * size));
        coded.set(code.encode(message), index * sent);
        progress(index + 1, blockCount, { phase: "encode", unit: "blocks" });
      }
      const record: JsonObject = {
        parameters: params as JsonObject,
        message_bits: size,
        coded_bits_per_block: sent,
        block_count: blockCount,
        padding_bits: blockCount * size - bits.length,
        ...code.facts,
        // Its bits may be those of another code of the family, which the decoder brings back.
        ...(isObject(inputs.bits.metadata[key]) ? { outer: inputs.bits.metadata[key] } : {}),
        ...(itemCounts === undefined ? {} : { source_item_counts: [...itemCounts] }),
      };
      const metadata = travel(inputs.bits.metadata, { [key]: record, ...itemsInBlocks(itemCounts, size, sent) }, [
        "source_item_counts",
      ]);
      return {
        outputs: { coded_bits: { ...bitsArtifact(coded, metadata), companions: companionsOf(inputs.bits) } },
        ...(code.metrics === undefined ? {} : { metrics: code.metrics }),
      };
    },
  });

  /** Reads what the encoder wrote. @throws SvcError `input_metadata_missing`, `boundary_value_invalid` */
  const readStream = async (metadata: JsonObject, files: FileAccess) => {
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
    async run({ inputs, params, progress, files }) {
      const { metadata } = inputs.llr;
      const { code, blockCount, outer, paddingBits, itemCounts } = await readStream(metadata, files);
      const chosen = params as z.output<Choices>, { size, sent } = code;
      family.accept?.(code, chosen);
      const llr = valuesOf(inputs.llr, blockCount * sent);
      if (soft && !llr.every(Number.isFinite)) {
        throw new SvcError("boundary_non_finite", "Cannot decode log-likelihood ratios that are infinite");
      }
      const bits = new Uint8Array(blockCount * size), values = new Float32Array(soft ? blockCount * size : 0);
      const passed: boolean[] = [];
      let counted = 0;
      for (let index = 0; index < blockCount; index++) {
        const block = family.decode(llr.subarray(index * sent, (index + 1) * sent), code, chosen);
        bits.set(block.bits, index * size);
        if (block.llr !== undefined) values.set(block.llr, index * size);
        passed.push(block.passed ?? true);
        counted += block.counted ?? 0;
        progress(index + 1, blockCount, { phase: "decode", unit: "blocks" });
      }
      const payloadBits = bits.length - paddingBits;
      const decoded = travel(metadata, {
        ...(detects ? { failed_block_indices: passed.flatMap((one, index) => one ? [] : [index]) } : {}),
        ...(itemCounts === undefined ? {} : { source_item_counts: [...itemCounts] }),
        ...declareUnit(metadata, "transport_block", { size, total: payloadBits }),
        ...(outer === undefined ? {} : { [key]: outer }),
      }, [key, "source_item_counts"]);
      const lost = detects
        ? lostBlocks("channel.payload_delivery_block_error_rate", passed, inputs.llr)
        : { metrics: {}, metadata: {} };
      const { outputs: { report }, metrics } = reportResult(decoderId, lost.metrics, {
        facts: {
          block_count: blockCount,
          payload_bits: payloadBits,
          ...(family.counts === undefined ? {} : { [family.counts]: counted }),
          ...params as JsonObject,
        },
      });
      const payload = bitsArtifact(bits.subarray(0, payloadBits), decoded, "payload.bits");
      return {
        outputs: {
          bits: { ...payload, companions: companionsOf(inputs.llr) },
          ...(soft
            ? { payload_llr: { array: ndarray("float32", values.subarray(0, payloadBits)), metadata: decoded } }
            : {}),
          report,
        },
        metrics,
        metadata: lost.metadata,
      };
    },
  });
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
