/** Convolutional codes with any generators, puncturing and termination. */
import { defineOperation, isNumber, isObject, type JsonObject, SvcError, toNumber, z } from "../api.ts";
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
import { BITS, CODED_BITS, FRAMED_BITS, LLR, PAYLOAD_BITS, REPORT } from "../../lib/contract/kinds.ts";
import {
  CONVOLUTIONAL_DECODERS,
  convolutionalCode,
  decodeConvolutional,
  encodeConvolutional,
  isSmallEnough,
  LONGEST_REGISTER,
  MOST_OUTPUTS,
  PUNCTURINGS,
  sentPlaces,
  stepsOf,
  TERMINATIONS,
} from "../../lib/numeric/coding/convolutional.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { notExported } from "../_backends.ts";
import { valuesOf } from "./_nr_ldpc.ts";
import { itemsInBlocks } from "./_serial.ts";

const KEY = "convolutional_code";
const LARGEST_BLOCK = 65_536;
const NAMED = Object.keys(PUNCTURINGS) as (keyof typeof PUNCTURINGS)[];

const PARAMS = z.strictObject({
  generators: z.array(z.string().regex(/^[0-7]+$/, "be an octal number")).min(1).max(MOST_OUTPUTS).default([
    "133",
    "171",
  ])
    .describe(`octal generators of at most ${LONGEST_REGISTER} bits, newest bit first; default those of IEEE 802.11`),
  termination: z.enum(TERMINATIONS).default("zero_tail")
    .describe("zero_tail adds a tail of zeros, tail_biting starts in the state of the end, truncated ends anywhere"),
  block_bits: z.int().min(1).max(LARGEST_BLOCK).default(1024).describe(
    "bits of a code word before coding; the last is padded",
  ),
  puncturing: z.enum(NAMED).default("none")
    .describe("pattern of IEEE 802.11 (generators 133, 171) or of DVB (171, 133, EN 300 421)"),
  puncture_pattern: z.array(z.string().regex(/^[01]+$/, "have zeros and ones")).min(1).max(MOST_OUTPUTS).optional()
    .describe("own pattern in place of puncturing: for each generator a row of 1 for sent and 0 for punctured bits"),
});
type Params = z.output<typeof PARAMS>;

/** The code of a stream from parameters or metadata. @throws RangeError for one that does not exist */
function codeOf({ generators, termination, block_bits: size, pattern }: Description) {
  const code = convolutionalCode(generators), n = generators.length;
  if (pattern !== null && (pattern.length !== n || pattern.some((row) => row.length !== pattern[0].length))) {
    throw new RangeError(
      `Cannot puncture ${n} outputs with the rows ${pattern.join(", ")}: each output has one, of one length`,
    );
  }
  if (termination === "tail_biting" && size < code.memory) {
    throw new RangeError(`Cannot bite the tail of ${size} bits: the register has ${code.memory}`);
  }
  const steps = stepsOf(size, code, termination), places = sentPlaces(steps, n, pattern);
  if (places.length === 0) throw new RangeError("Cannot send a code word: every bit is punctured");
  return { code, places, mother: steps * n };
}

interface Description {
  generators: readonly string[];
  termination: typeof TERMINATIONS[number];
  block_bits: number;
  pattern: readonly string[] | null;
}

const descriptionOf = ({ puncturing, puncture_pattern, ...rest }: Params): Description => ({
  ...rest,
  pattern: puncture_pattern ?? PUNCTURINGS[puncturing],
});

/** Reads what the encoder wrote. @throws SvcError `input_metadata_missing`, `boundary_value_invalid` */
function readStream(metadata: JsonObject) {
  const record = metadata[KEY];
  if (!isObject(record)) {
    throw new SvcError("input_metadata_missing", `Cannot decode a convolutional code: the metadata ${KEY} is missing`, {
      hint: "Put a channel.convolutional_encoder step before the channel",
    });
  }
  const unreadable = (key: string) =>
    new SvcError("boundary_value_invalid", `Cannot decode a convolutional code: the metadata ${KEY}.${key} is invalid`);
  const count = (key: string, most: number): number => {
    const value = record[key], number = isNumber(value) ? toNumber(value) : NaN;
    if (!(Number.isSafeInteger(number) && number >= 0 && number <= most)) throw unreadable(key);
    return number;
  };
  const texts = (key: string): string[] => {
    const value = record[key];
    if (!Array.isArray(value) || !value.every((one) => typeof one === "string" && /^[0-7]+$/.test(one))) {
      throw unreadable(key);
    }
    return value as string[];
  };
  const termination = TERMINATIONS.find((one) => one === record.termination);
  if (termination === undefined) throw unreadable("termination");
  const size = count("block_bits", LARGEST_BLOCK), blockCount = count("block_count", Number.MAX_SAFE_INTEGER);
  const description: Description = {
    generators: texts("generators"),
    termination,
    block_bits: size,
    pattern: record.puncture_pattern === undefined ? null : texts("puncture_pattern"),
  };
  try {
    return {
      ...codeOf(description),
      termination,
      size,
      blockCount,
      paddingBits: count("padding_bits", blockCount === 0 ? 0 : size - 1),
      itemCounts: metadataCounts(record, "source_item_counts") as readonly number[] | undefined,
    };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SvcError("boundary_value_invalid", error.message);
  }
}

/**
 * Encoder: bits are cut into code words of block_bits, the last padded with zeros. Coded bits stand output by output of each step,
 * without the punctured ones.
 *
 * Shapes: bits uint8 [n] -> coded_bits uint8 [blocks · sent bits of a code word].
 *
 * Source: IEEE 802.11-2020, 17.3.5.6 and 19.3.11.6; ETSI EN 300 421, 4.4.3; TS 36.212, 5.1.3.1 (tail-biting, 133, 171, 165).
 */
const convolutionalEncoder = defineOperation({
  id: "channel.convolutional_encoder",
  name: "Convolutional encode",
  description: "Encodes code words with a convolutional code, with puncturing and a tail of zeros or tail-biting",
  inputs: { bits: [PAYLOAD_BITS, FRAMED_BITS, BITS, CODED_BITS] },
  outputs: { coded_bits: CODED_BITS },
  params: PARAMS,
  differentiability: { framework: "torch", gradient: "stop", trainable_params: false, exportable: false },
  outputMetadataGuarantees: { coded_bits: { from: "bits", keys: ["boundary_contract", "bit_count", KEY] } },
  check(params) {
    try {
      codeOf(descriptionOf(params));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const place = /puncture/.test(error.message)
        ? "puncture_pattern"
        : /tail/.test(error.message)
        ? "block_bits"
        : "generators";
      return [{ place: [place], message: error.message, hint: "See the description of the parameter" }];
    }
    return [];
  },
  estimate: (params, { bits: { bytes, shape = [bytes] } }) => ({
    coded_bits: [["uint8", Math.ceil(shape[0] / params.block_bits) * codeOf(descriptionOf(params)).places.length]],
  }),
  run({ inputs, params, progress }) {
    const bits = bitsOf(inputs.bits), description = descriptionOf(params), { code, places } = codeOf(description);
    const size = params.block_bits, sent = places.length, blockCount = Math.ceil(bits.length / size);
    const itemCounts = sourceItemCounts(inputs.bits.metadata, bits.length);
    const coded = new Uint8Array(blockCount * sent), block = new Uint8Array(size);
    for (let index = 0; index < blockCount; index++) {
      block.fill(0).set(bits.subarray(index * size, (index + 1) * size));
      const mother = encodeConvolutional(block, code, params.termination);
      for (let i = 0; i < sent; i++) coded[index * sent + i] = mother[places[i]];
      progress(index + 1, blockCount, { phase: "encode", unit: "blocks" });
    }
    const record: JsonObject = {
      generators: [...params.generators],
      termination: params.termination,
      block_bits: size,
      ...(description.pattern === null ? {} : { puncture_pattern: [...description.pattern] }),
      block_count: blockCount,
      padding_bits: blockCount * size - bits.length,
      coded_bits_per_block: sent,
      ...(itemCounts === undefined ? {} : { source_item_counts: [...itemCounts] }),
    };
    const metadata = travel(inputs.bits.metadata, { [KEY]: record, ...itemsInBlocks(itemCounts, size, sent) }, [
      "source_item_counts",
    ]);
    return { outputs: { coded_bits: { ...bitsArtifact(coded, metadata), companions: companionsOf(inputs.bits) } } };
  },
});

/**
 * Decoder: the code is the metadata that the encoder wrote. `payload_llr` are the log-likelihood ratios of the decoded bits; with
 * viterbi they are +1 and -1, its decisions.
 *
 * Shapes: llr float32 [blocks · sent bits of a code word], positive for bit 0 -> bits uint8 [n], payload_llr float32 [n].
 *
 * Source: lib/numeric/coding/convolutional.ts.
 */
const convolutionalDecoder = defineOperation({
  id: "channel.convolutional_decoder",
  name: "Convolutional decode",
  description:
    "Decodes a convolutional code by Viterbi's algorithm or, with soft values of the bits, the BCJR algorithm",
  inputs: { llr: [LLR] },
  outputs: { bits: PAYLOAD_BITS, payload_llr: LLR, report: REPORT },
  params: z.strictObject({
    algorithm: z.enum(CONVOLUTIONAL_DECODERS).default("viterbi")
      .describe(
        "viterbi: most likely code word; bcjr: most likely bits, with soft values; max_log_bcjr: as bcjr, faster",
      ),
  }),
  differentiability: notExported("torch", "stop", "Compared paths"),
  inputMetadataRequirements: { llr: { all_of: [KEY] } },
  outputMetadataGuarantees: {
    bits: { from: "llr", keys: ["boundary_contract", "bit_count"] },
    payload_llr: { from: "llr" },
  },
  // At most a payload bit for each log-likelihood ratio and the bits of one more.
  estimate: (_params, { llr: { bytes } }) => ({ bits: bytes, payload_llr: 4 * bytes }),
  importance: "block",
  run({ inputs, params: { algorithm }, progress }) {
    const { metadata } = inputs.llr,
      { code, places, mother, termination, size, blockCount, paddingBits, itemCounts } = readStream(metadata);
    if (algorithm !== "viterbi" && !isSmallEnough(size, code)) {
      throw new SvcError(
        "params_conflict",
        `Cannot decode blocks of ${size} bits over ${2 ** code.memory} states by ${algorithm}`,
        {
          hint: "Set algorithm to viterbi, or block_bits lower",
        },
      );
    }
    const sent = places.length, llr = valuesOf(inputs.llr, blockCount * sent);
    if (!llr.every(Number.isFinite)) {
      throw new SvcError("boundary_non_finite", "Cannot decode log-likelihood ratios that are infinite");
    }
    const bits = new Uint8Array(blockCount * size), soft = new Float32Array(blockCount * size);
    const given = new Float32Array(mother);
    for (let index = 0; index < blockCount; index++) {
      for (let i = 0; i < sent; i++) given[places[i]] = llr[index * sent + i];
      const block = decodeConvolutional(given, size, code, termination, algorithm);
      bits.set(block.bits, index * size);
      soft.set(block.llr, index * size);
      progress(index + 1, blockCount, { phase: "decode", unit: "blocks" });
    }
    const payloadBits = bits.length - paddingBits;
    const decoded = travel(metadata, {
      ...(itemCounts === undefined ? {} : { source_item_counts: [...itemCounts] }),
      ...declareUnit(metadata, "transport_block", { size, total: payloadBits }),
    }, [KEY, "source_item_counts"]);
    const { outputs: { report } } = reportResult("channel.convolutional_decoder", {}, {
      facts: { block_count: blockCount, payload_bits: payloadBits, algorithm, code_states: 2 ** code.memory },
    });
    const payload = bitsArtifact(bits.subarray(0, payloadBits), decoded, "payload.bits");
    return {
      outputs: {
        bits: { ...payload, companions: companionsOf(inputs.llr) },
        payload_llr: { array: ndarray("float32", soft.subarray(0, payloadBits)), metadata: decoded },
        report,
      },
    };
  },
});

export default [convolutionalEncoder, convolutionalDecoder];
