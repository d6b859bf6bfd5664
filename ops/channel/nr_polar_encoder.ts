/**
 * Polar encoder of the NR control channels (TS 38.212 sections 7.1, 7.3, 6.3.1): payload bits are cut into blocks of
 * payload_bits, the last padded with zeros. Every block gets its CRC, is encoded and rate-matched to coded_bits. Nothing is
 * scrambled.
 *
 * Shapes: bits uint8 [n] -> coded_bits uint8 [blocks · coded_bits].
 */
import { BITS, CODED_BITS, FRAMED_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation, z } from "../api.ts";
import { bitsArtifact, bitsOf, companionsOf, sourceItemCounts, travel } from "../../lib/artifact/values.ts";
import {
  LEAST_PAYLOAD,
  MESSAGE_TYPES,
  type MessageType,
  MOST_PAYLOAD,
  MOST_SENT,
  polarCode,
} from "../../lib/numeric/coding/polar/code.ts";
import { describeStream, NR_POLAR_KEY, type PolarStream } from "./_nr_polar.ts";
import { itemsInBlocks } from "./_serial.ts";

export default defineOperation({
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
  threadSafe: true,
  async run({ inputs, params, progress }) {
    const { encodePolar } = await import("../../lib/numeric/coding/polar/encoder.ts");
    const bits = bitsOf(inputs.bits), { payload_bits: size, coded_bits: sent, rnti } = params;
    const code = polarCode(params.message_type, size, sent);
    const blockCount = Math.ceil(bits.length / size), itemCounts = sourceItemCounts(inputs.bits.metadata, bits.length);
    const stream: PolarStream = { code, rnti, blockCount, paddingBits: blockCount * size - bits.length, itemCounts };
    const coded = new Uint8Array(blockCount * sent), block = new Uint8Array(size);
    for (let index = 0; index < blockCount; index++) {
      block.fill(0).set(bits.subarray(index * size, (index + 1) * size));
      coded.set(encodePolar(block, code, rnti), index * sent);
      progress(index + 1, blockCount, { phase: "encode", unit: "blocks" });
    }
    const metadata = travel(inputs.bits.metadata, {
      [NR_POLAR_KEY]: describeStream(stream),
      ...itemsInBlocks(itemCounts, size, sent),
    }, ["source_item_counts"]);
    return { outputs: { coded_bits: { ...bitsArtifact(coded, metadata), companions: companionsOf(inputs.bits) } } };
  },
});
