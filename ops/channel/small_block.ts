/**
 * Codes of 5G NR for 1 to 11 bits of uplink control information.
 *
 * Source: TS 38.212 V16.2.0, 5.3.3 and 5.4.3; lib/numeric/coding/small_block.ts.
 */
import { z } from "../api.ts";
import {
  decodeSmallBlock,
  encodeSmallBlock,
  MOST_SMALL_BITS,
  type SmallBlockCode,
  smallBlockCode,
} from "../../lib/numeric/coding/small_block.ts";
import { type BlockCode, blockCode } from "./_block_code.ts";

export default blockCode({
  id: "nr_small_block",
  name: "NR small block",
  key: "nr_small_block",
  params: z.strictObject({
    message_bits: z.int().min(1).max(MOST_SMALL_BITS).default(MOST_SMALL_BITS).describe("control bits of a code word"),
    coded_bits: z.int().min(1).max(100_000).default(32)
      .describe("sent bits of a code word; fewer than those of the code lose distance"),
    num_bits_per_symbol: z.literal([1, 2, 4, 6, 8]).default(2)
      .describe("bits per symbol, which place 1 and 2 control bits in a symbol; set the modulation to match"),
  }),
  code({ message_bits, coded_bits, num_bits_per_symbol }): BlockCode & { small: SmallBlockCode } {
    const small = smallBlockCode(message_bits, num_bits_per_symbol);
    return {
      size: message_bits,
      sent: coded_bits,
      small,
      encode: (message) => encodeSmallBlock(message, small, coded_bits),
    };
  },
  placeOf: () => "message_bits",
  encoderDescription: "Encodes 1 to 11 bits of uplink control information as 5G NR does without a CRC",
  decoderDescription: "Finds the most likely code word of the 5G NR code for 1 to 11 bits",
  choices: z.strictObject({}),
  soft: true,
  detects: false,
  decode: (llr, { small }) => decodeSmallBlock(llr, small),
});
