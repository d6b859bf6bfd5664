/**
 * Reed-Solomon and BCH codes: encoders cut the bits into messages, the last padded with zeros, and put the parity behind each;
 * decoders decide each bit by the sign of its soft value and correct up to t symbols of a code word.
 *
 * Shapes: bits uint8 [n] -> coded_bits uint8 [blocks · bits of a code word]; llr float32, positive for bit 0, of as many -> bits [n].
 *
 * Source: lib/numeric/coding/algebraic.ts.
 */
import {
  defineOperation,
  isNumber,
  isObject,
  type JsonObject,
  type Operation,
  type ParameterProblem,
  SvcError,
  toNumber,
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
import {
  type AlgebraicCode,
  bchCode,
  correctAlgebraic,
  encodeAlgebraic,
  LEAST_DEGREE,
  MOST_DEGREE,
  reedSolomonCode,
} from "../../lib/numeric/coding/algebraic.ts";
import { notExported } from "../_backends.ts";
import { valuesOf } from "./_nr_ldpc.ts";
import { itemsInBlocks } from "./_serial.ts";

/** A family of codes: its parameters, which stand in the metadata too, and its codes. */
interface Family<Params extends z.ZodObject> {
  id: string;
  name: string;
  /** Key of the metadata. */
  key: string;
  params: Params;
  code(params: z.output<Params>): AlgebraicCode;
  /** Bits of a symbol. */
  width(params: z.output<Params>): number;
}

const FIELD = {
  field_degree: z.int().min(LEAST_DEGREE).max(MOST_DEGREE),
  primitive_polynomial: z.int().min(7).max(2 ** (MOST_DEGREE + 1) - 1).optional()
    .describe("polynomial of the field as a number, the highest power as the highest bit; default of Lin and Costello"),
};

const REED_SOLOMON: Family<z.ZodObject> = {
  id: "reed_solomon",
  name: "Reed-Solomon",
  key: "reed_solomon_code",
  params: z.strictObject({
    ...FIELD,
    field_degree: FIELD.field_degree.default(8).describe(
      "bits of a symbol, m; code words have at most 2^m - 1 symbols",
    ),
    codeword_symbols: z.int().min(2).max(2 ** MOST_DEGREE - 1).default(204).describe("symbols of a code word, n"),
    message_symbols: z.int().min(1).max(2 ** MOST_DEGREE - 2).default(188)
      .describe("symbols of a message, k; floor((n - k) / 2) symbols are corrected; default of DVB"),
    first_root: z.int().min(0).max(2 ** MOST_DEGREE - 2).default(0).describe(
      "power of the first root of the generator",
    ),
  }),
  code: (params) =>
    reedSolomonCode({
      degree: Number(params.field_degree),
      length: Number(params.codeword_symbols),
      message: Number(params.message_symbols),
      firstRoot: Number(params.first_root),
      polynomial: params.primitive_polynomial as number | undefined,
    }),
  width: ({ field_degree }) => Number(field_degree),
};

const BCH: Family<z.ZodObject> = {
  id: "bch",
  name: "BCH",
  key: "bch_code",
  params: z.strictObject({
    ...FIELD,
    field_degree: FIELD.field_degree.default(6).describe("m: code words have 2^m - 1 bits without shortening"),
    correctable_errors: z.int().min(1).max(2 ** (MOST_DEGREE - 1) - 1).default(3).describe(
      "wrong bits that are corrected, t",
    ),
    shortened_bits: z.int().min(0).max(2 ** MOST_DEGREE - 3).default(0).describe(
      "bits of the message that are left out",
    ),
  }),
  code: (params) =>
    bchCode({
      degree: Number(params.field_degree),
      errors: Number(params.correctable_errors),
      shortened: Number(params.shortened_bits),
      polynomial: params.primitive_polynomial as number | undefined,
    }),
  width: () => 1,
};

/** Codes of the last parameters: a field of 4,095 elements takes longer than a code word. */
const made = new Map<string, AlgebraicCode>();
function codeOf({ id, code }: Family<z.ZodObject>, params: JsonObject): AlgebraicCode {
  const key = JSON.stringify([id, ...Object.entries(params).sort().map(([name, value]) => [name, Number(value)])]);
  let found = made.get(key);
  if (found === undefined) {
    if (made.size > 8) made.clear();
    made.set(key, found = code(params));
  }
  return found;
}

function operationsOf(family: Family<z.ZodObject>): [Operation, Operation] {
  const { id, name, key, params, width } = family, names = Object.keys(params.shape);
  const encoder = defineOperation({
    id: `channel.${id}_encoder`,
    name: `${name} encode`,
    description: `Encodes messages with a ${name} code and puts the parity behind them`,
    inputs: { bits: [PAYLOAD_BITS, FRAMED_BITS, BITS, CODED_BITS] },
    outputs: { coded_bits: CODED_BITS },
    params,
    differentiability: { framework: "torch", gradient: "stop", trainable_params: false, exportable: false },
    outputMetadataGuarantees: { coded_bits: { from: "bits", keys: ["boundary_contract", "bit_count", key] } },
    check(given): ParameterProblem[] {
      try {
        codeOf(family, given as JsonObject);
        return [];
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        const place = /polynomial/.test(error.message) ? "primitive_polynomial" : names[names.length - 2];
        return [{ place: [place], message: error.message, hint: "Change the sizes of the code" }];
      }
    },
    estimate: (given, { bits: { bytes, shape = [bytes] } }) => {
      const code = codeOf(family, given as JsonObject), bits = width(given);
      return { coded_bits: [["uint8", Math.ceil(shape[0] / (code.message * bits)) * code.length * bits]] };
    },
    run({ inputs, params: given, progress }) {
      const code = codeOf(family, given as JsonObject), bits = bitsOf(inputs.bits), symbol = width(given);
      const size = code.message * symbol, sent = code.length * symbol, blockCount = Math.ceil(bits.length / size);
      const itemCounts = sourceItemCounts(inputs.bits.metadata, bits.length);
      const coded = new Uint8Array(blockCount * sent), word = new Int32Array(code.length), block = new Uint8Array(sent);
      for (let index = 0; index < blockCount; index++) {
        block.fill(0).set(bits.subarray(index * size, (index + 1) * size));
        readSymbols(block, symbol, word);
        encodeAlgebraic(word, code);
        writeSymbols(word, symbol, coded.subarray(index * sent, (index + 1) * sent));
        progress(index + 1, blockCount, { phase: "encode", unit: "blocks" });
      }
      const record: JsonObject = {
        ...Object.fromEntries(names.flatMap((one) => given[one] === undefined ? [] : [[one, Number(given[one])]])),
        message_bits: size,
        coded_bits_per_block: sent,
        block_count: blockCount,
        padding_bits: blockCount * size - bits.length,
        ...(itemCounts === undefined ? {} : { source_item_counts: [...itemCounts] }),
      };
      const metadata = travel(inputs.bits.metadata, { [key]: record, ...itemsInBlocks(itemCounts, size, sent) }, [
        "source_item_counts",
      ]);
      return { outputs: { coded_bits: { ...bitsArtifact(coded, metadata), companions: companionsOf(inputs.bits) } } };
    },
  });

  const decoder = defineOperation({
    id: `channel.${id}_decoder`,
    name: `${name} decode`,
    description: `Corrects hard decisions by a ${name} code and reports the code words that it cannot correct`,
    inputs: { llr: [LLR] },
    outputs: { bits: PAYLOAD_BITS, report: REPORT },
    params: z.strictObject({
      on_failure: z.enum(["keep_estimate", "zero_fill"]).default("keep_estimate")
        .describe("message of a code word with too many errors: as received, or zeros"),
    }),
    differentiability: notExported("torch", "stop", "Hard decisions"),
    inputMetadataRequirements: { llr: { all_of: [key] } },
    outputMetadataGuarantees: {
      bits: { from: "llr", keys: ["boundary_contract", "bit_count", "failed_block_indices"] },
    },
    // At most a payload bit for each log-likelihood ratio.
    estimate: (_params, { llr: { bytes } }) => ({ bits: bytes / 4 }),
    importance: "block",
    run({ inputs, params: { on_failure }, progress }) {
      const { metadata } = inputs.llr, { given, blockCount, paddingBits, itemCounts } = readStream(family, metadata);
      const code = recordedCode(family, given), symbol = width(given), size = code.message * symbol;
      if (paddingBits >= size && blockCount > 0 || paddingBits > blockCount * size) {
        throw unreadable(key, "padding_bits");
      }
      const sent = code.length * symbol, llr = valuesOf(inputs.llr, blockCount * sent);
      const bits = new Uint8Array(blockCount * size), passed: boolean[] = [];
      const word = new Int32Array(code.length), block = new Uint8Array(sent);
      let corrected = 0;
      for (let index = 0; index < blockCount; index++) {
        for (let i = 0; i < sent; i++) block[i] = llr[index * sent + i] < 0 ? 1 : 0;
        readSymbols(block, symbol, word);
        const errors = correctAlgebraic(word, code);
        passed.push(errors >= 0);
        corrected += Math.max(errors, 0);
        if (errors >= 0 || on_failure === "keep_estimate") {
          writeSymbols(word, symbol, block);
          bits.set(block.subarray(0, size), index * size);
        }
        progress(index + 1, blockCount, { phase: "decode", unit: "blocks" });
      }
      const payloadBits = bits.length - paddingBits;
      const decoded = travel(metadata, {
        failed_block_indices: passed.flatMap((one, index) => one ? [] : [index]),
        ...(itemCounts === undefined ? {} : { source_item_counts: [...itemCounts] }),
        ...declareUnit(metadata, "transport_block", { size, total: payloadBits }),
      }, [key, "source_item_counts"]);
      const lost = lostBlocks("channel.payload_delivery_block_error_rate", passed, inputs.llr);
      const { outputs: { report }, metrics } = reportResult(`channel.${id}_decoder`, lost.metrics, {
        facts: { block_count: blockCount, corrected_symbols: corrected, payload_bits: payloadBits, on_failure },
      });
      const payload = bitsArtifact(bits.subarray(0, payloadBits), decoded, "payload.bits");
      return {
        outputs: { bits: { ...payload, companions: companionsOf(inputs.llr) }, report },
        metrics,
        metadata: lost.metadata,
      };
    },
  });
  return [encoder, decoder];
}

/** Symbols of bits, the highest first. */
function readSymbols(bits: Uint8Array, width: number, into: Int32Array): void {
  for (let i = 0; i < into.length; i++) {
    let value = 0;
    for (let j = 0; j < width; j++) value = value << 1 | bits[i * width + j];
    into[i] = value;
  }
}

function writeSymbols(symbols: Int32Array, width: number, into: Uint8Array): void {
  for (let i = 0; i < symbols.length; i++) {
    for (let j = 0; j < width; j++) into[i * width + j] = symbols[i] >> (width - 1 - j) & 1;
  }
}

const unreadable = (key: string, part: string) =>
  new SvcError("boundary_value_invalid", `Cannot decode: the metadata ${key}.${part} is invalid`);

/** Reads what the encoder wrote. @throws SvcError `input_metadata_missing`, `boundary_value_invalid` */
function readStream({ id, key, params }: Family<z.ZodObject>, metadata: JsonObject) {
  const record = metadata[key];
  if (!isObject(record)) {
    throw new SvcError("input_metadata_missing", `Cannot decode: the metadata ${key} is missing`, {
      hint: `Put a channel.${id}_encoder step before the channel`,
    });
  }
  const count = (part: string): number => {
    const value = record[part], number = isNumber(value) ? toNumber(value) : NaN;
    if (!(Number.isSafeInteger(number) && number >= 0)) throw unreadable(key, part);
    return number;
  };
  const own = Object.keys(params.shape).filter((name) => record[name] !== undefined);
  const given = params.safeParse(Object.fromEntries(own.map((name) => [name, count(name)])));
  if (!given.success) throw unreadable(key, own[0] ?? "field_degree");
  return {
    given: given.data as JsonObject,
    blockCount: count("block_count"),
    /** Zeros after the payload in the last message. */
    paddingBits: count("padding_bits"),
    itemCounts: metadataCounts(record, "source_item_counts") as readonly number[] | undefined,
  };
}

function recordedCode(family: Family<z.ZodObject>, given: JsonObject): AlgebraicCode {
  try {
    return codeOf(family, given);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SvcError("boundary_value_invalid", error.message);
  }
}

export default [...operationsOf(REED_SOLOMON), ...operationsOf(BCH)];
