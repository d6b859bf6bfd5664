/** Polar codes of the NR control channels. */
import { isAllFinite } from "../../lib/artifact/boundary.ts";
import {
  defineOperation,
  float,
  type InputArtifact,
  isNumber,
  isObject,
  type JsonObject,
  SvcError,
  toNumber,
  z,
} from "../api.ts";
import { bitsArtifact, companionsOf, metadataCounts, reportResult, travel } from "../../lib/artifact/values.ts";
import {
  LEAST_PAYLOAD,
  MESSAGE_TYPES,
  type MessageType,
  MOST_PAYLOAD,
  MOST_SENT,
  type PolarCode,
  polarCode,
} from "../../lib/numeric/coding/polar/code.ts";
import { BITS, CODED_BITS, FRAMED_BITS, LLR, PAYLOAD_BITS, REPORT } from "../../lib/contract/kinds.ts";
import { blockwise, encoding, LEAST_BYTES } from "./_blockwise.ts";
import { declareUnit } from "../../lib/artifact/statistical_unit.ts";
import { lostBlocks } from "../../lib/artifact/weighted_rate.ts";
import { CHECK_NODES } from "../../lib/numeric/coding/polar/list_reference.ts";
import { notExported } from "../_backends.ts";
import { valuesOf } from "./_nr_ldpc.ts";

const NR_POLAR_KEY = "nr_polar";

const describeStream = ({ code, rnti, blockCount, paddingBits, itemCounts }: PolarStream): JsonObject => ({
  message_type: code.messageType,
  payload_bits: code.payloadBits,
  coded_bits: code.codedBits,
  segments: code.segments,
  crc_bits: code.crcBits,
  K: code.messageBits,
  N: code.motherBits,
  rate_matching: code.rateMatching,
  rnti,
  block_count: blockCount,
  padding_bits: paddingBits,
  ...(itemCounts === undefined ? {} : { source_item_counts: [...itemCounts] }),
});

/**
 * Reads what {@link describeStream} wrote.
 * @throws SvcError `input_metadata_missing` without it, `boundary_value_invalid` for an invalid description
 */
function readStream(metadata: JsonObject) {
  const record = metadata[NR_POLAR_KEY];
  if (!isObject(record)) {
    throw new SvcError("input_metadata_missing", `Cannot decode NR polar: the metadata ${NR_POLAR_KEY} is missing`, {
      hint: "Put a channel.nr_polar_encoder step before the channel",
    });
  }
  const unreadable = (key: string) =>
    new SvcError("boundary_value_invalid", `Cannot decode NR polar: the metadata ${NR_POLAR_KEY}.${key} is invalid`);
  const count = (key: string, most = Number.MAX_SAFE_INTEGER): number => {
    const value = record[key], number = isNumber(value) ? toNumber(value) : NaN;
    if (!(Number.isSafeInteger(number) && number >= 0 && number <= most)) throw unreadable(key);
    return number;
  };
  const messageType = MESSAGE_TYPES.find((type) => type === record.message_type);
  if (messageType === undefined) throw unreadable("message_type");
  let code: PolarCode;
  try {
    code = polarCode(messageType, count("payload_bits"), count("coded_bits"));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SvcError("boundary_value_invalid", error.message);
  }
  const blockCount = count("block_count");
  return {
    code,
    rnti: count("rnti", 65535),
    blockCount,
    /** Zeros after the payload in the last block. */
    paddingBits: count("padding_bits", blockCount === 0 ? 0 : code.payloadBits - 1),
    /** Payload bits per source item. */
    itemCounts: metadataCounts(record, "source_item_counts") as readonly number[] | undefined,
  };
}

type PolarStream = ReturnType<typeof readStream>;

/**
 * Polar encoder of the NR control channels (TS 38.212 sections 7.1, 7.3, 6.3.1): payload bits are cut into blocks of
 * payload_bits, the last padded with zeros. Every block gets its CRC, is encoded and rate-matched to coded_bits. Nothing is
 * scrambled.
 *
 * Shapes: bits uint8 [n] -> coded_bits uint8 [blocks · coded_bits].
 */
const nrPolarEncoder = defineOperation({
  id: "channel.nr_polar_encoder",
  name: "NR polar encode",
  description: "Encodes control messages with the polar codes of 5G NR: CRC, parity-check bits and rate matching",
  inputs: { bits: [PAYLOAD_BITS, FRAMED_BITS, BITS] },
  outputs: { coded_bits: CODED_BITS },
  params: z.strictObject({
    message_type: z.enum(MESSAGE_TYPES).default("dci")
      .describe("broadcast channel, downlink control with an RNTI, or uplink control"),
    payload_bits: z.int().min(LEAST_PAYLOAD).max(MOST_PAYLOAD.uci).default(40)
      .describe(`payload bits per message: ${LEAST_PAYLOAD} to ${MOST_PAYLOAD.dci}, for uci to ${MOST_PAYLOAD.uci}`),
    coded_bits: z.int().min(18).max(2 * MOST_SENT + 1).default(216).describe("transmitted bits per message"),
    rnti: z.int().min(0).max(65535).default(0).describe("radio network temporary identifier in the CRC of dci"),
  }),
  differentiability: { framework: "torch", gradient: "stop", trainable_params: false, exportable: false },
  outputMetadataGuarantees: {
    coded_bits: { from: "bits", keys: ["boundary_contract", "bit_count", NR_POLAR_KEY] },
  },
  check: ({ message_type, payload_bits, coded_bits, rnti }) => {
    const problems = [];
    const most = MOST_PAYLOAD[message_type as MessageType];
    if (payload_bits > most) {
      const message = `Cannot encode ${payload_bits} payload bits: ${message_type} takes ${LEAST_PAYLOAD} to ${most}`;
      problems.push({ place: ["payload_bits"], message, hint: `Set at most ${most}, or message_type to uci` });
    } else {
      try {
        polarCode(message_type as MessageType, payload_bits, coded_bits);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        problems.push({ place: ["coded_bits"], message: error.message, hint: "Change coded_bits or payload_bits" });
      }
    }
    if (rnti !== 0 && message_type !== "dci") {
      const message = `Cannot mask the CRC of ${message_type} with an RNTI`;
      problems.push({ place: ["rnti"], message, hint: "Remove rnti, or set message_type to dci" });
    }
    return problems;
  },
  estimate: ({ payload_bits, coded_bits }, { bits: { bytes, shape = [bytes] } }) => ({
    coded_bits: [["uint8", Math.ceil(shape[0] / payload_bits) * coded_bits]],
  }),
  ...blockwise("bits", "coded_bits", "uint8", {
    async begin(stream, { message_type, payload_bits: size, coded_bits: sent, rnti }: EncoderParams) {
      const { encodePolar } = await import("../../lib/numeric/coding/polar/encoder.ts");
      const code = polarCode(message_type, size, sent);
      return encoding(stream, {
        size,
        sent,
        describe: (blockCount, itemCounts) => ({
          [NR_POLAR_KEY]: describeStream({
            ...{ code, rnti, blockCount, itemCounts },
            paddingBits: blockCount * size - stream.length,
          }),
        }),
        encode: (message, word) => encodePolar(message, code, rnti, word),
      });
    },
  }),
});

interface EncoderParams {
  message_type: MessageType;
  payload_bits: number;
  coded_bits: number;
  rnti: number;
}

const BLER = "channel.payload_delivery_block_error_rate";

/** Source items with a bit in a block whose CRC fails. */
function lostItems(counts: readonly number[], size: number, passed: readonly boolean[]): number[] {
  let end = 0;
  return counts.flatMap((count, item) => {
    const first = Math.floor(end / size);
    end += count;
    return count > 0 && passed.slice(first, Math.ceil(end / size)).includes(false) ? [item] : [];
  });
}

const DECODER_PARAMS = z.strictObject({
  list_size: z.literal([1, 2, 4, 8, 16, 32]).default(8).describe("paths; 1 is successive cancellation"),
  check_node: z.enum(CHECK_NODES).default("min_sum").describe("check node rule; exact takes 10 to 25 times as long"),
  on_crc_failure: z.enum(["zero_fill", "keep_estimate", "raise"]).default("zero_fill")
    .describe("payload of a block whose CRC fails: zeros, or the path of smallest metric; raise fails the step"),
});

/**
 * Decoder of the NR polar codes: rate recovery and CRC-aided list decoding. Of the list_size paths of smallest metric, the
 * best whose CRC holds is delivered; list_size 1 is successive cancellation. The code parameters are the metadata that
 * channel.nr_polar_encoder wrote; its RNTI is removed from the CRC.
 *
 * f = sign(a) sign(b) min(|a|, |b|) for min_sum, 2 atanh(tanh(a/2) tanh(b/2)) for exact; g = b + (1-2u) a. A decision u
 * against the sign of λ adds |λ| to the path metric, for exact any decision adds ln(1 + e^(-(1-2u) λ)). Repeated values add
 * up, punctured bits have the value 0, shortened bits 10⁴. A message of two segments is delivered if both CRCs hold.
 *
 * Shapes: llr float32 [blocks · E], positive for bit 0 -> bits uint8 [n].
 *
 * Source: Tal and Vardy, IEEE Transactions on Information Theory 61, 2015; Balatsoukas-Stimming, Parizi and Burg, IEEE
 * Transactions on Signal Processing 63, 2015; 3GPP TS 38.212.
 */
const nrPolarDecoder = defineOperation({
  id: "channel.nr_polar_decoder",
  name: "NR polar list decode",
  description: "Decodes 5G NR polar codes by CRC-aided successive-cancellation lists and reports the CRCs",
  inputs: { llr: [LLR] },
  outputs: { bits: PAYLOAD_BITS, report: REPORT },
  params: DECODER_PARAMS,
  differentiability: notExported("torch", "stop", "Hard bits and CRC decisions"),
  inputMetadataRequirements: { llr: { all_of: [NR_POLAR_KEY] } },
  outputMetadataGuarantees: {
    bits: {
      from: "llr",
      keys: ["boundary_contract", "bit_count", "decoder_implementation", "failed_block_indices"],
    },
    report: { keys: ["decoder_implementation"] },
  },
  // At most a payload bit for each log-likelihood ratio.
  estimate: (_params, { llr: { bytes } }) => ({ bits: bytes / 4 }),
  importance: "block",
  streaming: {
    least: LEAST_BYTES,
    late: ["bits", "report"],
    async open({ inputs: { llr }, params }) {
      const stream = readStream(llr.metadata), sent = stream.code.codedBits;
      if (llr.length !== stream.blockCount * sent) return null;
      const { decode, result } = await decoderOf(llr, stream, params);
      return {
        arrays: {},
        unit: { llr: sent },
        next(blocks) {
          decode(blocks.llr.data as Float32Array);
          return {};
        },
        end: result,
      };
    },
  },
  async run({ inputs, params, progress }) {
    const stream = readStream(inputs.llr.metadata), { blockCount } = stream;
    const llr = valuesOf(inputs.llr, blockCount * stream.code.codedBits);
    const { decode, result } = await decoderOf(inputs.llr, stream, params);
    decode(llr, (done) => progress(done, blockCount, { phase: "decode", unit: "blocks" }));
    return result();
  },
});

/** Decodes the blocks of a stream in their order, and makes the outputs of all. */
async function decoderOf(
  input: InputArtifact,
  { code, rnti, blockCount, paddingBits, itemCounts }: PolarStream,
  params: z.output<typeof DECODER_PARAMS>,
) {
  const { decodePolar, POLAR_DECODER } = await import("../../lib/numeric/coding/polar/decoder.ts");
  const { payloadBits: size, codedBits: sent } = code, { metadata } = input;
  const bits = new Uint8Array(blockCount * size), passed: boolean[] = [];
  const options = { listSize: params.list_size, checkNode: params.check_node, rnti };
  let ranks = 0;
  const decode = (llr: Float32Array, progress?: (done: number) => void) => {
    if (!isAllFinite(llr)) {
      throw new SvcError("boundary_non_finite", "Cannot decode log-likelihood ratios that are infinite");
    }
    for (let at = 0; at < llr.length; at += sent) {
      const block = decodePolar(llr.subarray(at, at + sent), code, options), index = passed.push(block.crcPassed) - 1;
      if (!block.crcPassed && params.on_crc_failure === "raise") {
        throw new SvcError("tb_crc_failed", `Cannot deliver message ${index} of ${blockCount}: its CRC fails`, {
          hint: "Raise snr_db, coded_bits or list_size, or set on_crc_failure to zero_fill or keep_estimate",
        });
      }
      if (block.crcPassed || params.on_crc_failure === "keep_estimate") bits.set(block.bits, index * size);
      ranks += block.rank;
      progress?.(index + 1);
    }
  };
  const result = () => {
    const payloadBits = bits.length - paddingBits, decoder_implementation = POLAR_DECODER;
    const failed = passed.flatMap((crcPassed, index) => (crcPassed ? [] : [index]));
    const decoded = travel(metadata, {
      decoder_implementation,
      failed_block_indices: failed,
      ...(itemCounts === undefined ? {} : { source_item_counts: [...itemCounts] }),
      ...(itemCounts === undefined || params.on_crc_failure !== "zero_fill"
        ? {}
        : { failed_item_indices: lostItems(itemCounts, size, passed) }),
      ...declareUnit(metadata, "transport_block", { size, total: payloadBits }),
    }, [NR_POLAR_KEY, "source_item_counts"]);
    const lost = lostBlocks(BLER, passed, input);
    const { outputs: { report }, metrics } = reportResult(
      "channel.nr_polar_decoder",
      lost.metrics,
      {
        facts: {
          block_count: blockCount,
          crc_pass_count: blockCount - failed.length,
          crc_passed: passed,
          on_crc_failure: params.on_crc_failure,
          payload_bits: payloadBits,
          ...(blockCount === 0 ? {} : { mean_list_rank: float(ranks / blockCount) }),
        },
        metadata: { decoder_implementation },
      },
    );
    const payload = bitsArtifact(bits.subarray(0, payloadBits), decoded, "payload.bits");
    return {
      outputs: { bits: { ...payload, companions: companionsOf(input) }, report },
      metrics,
      metadata: { decoder_implementation, ...lost.metadata },
    };
  };
  return { decode, result };
}

export default [nrPolarEncoder, nrPolarDecoder];
