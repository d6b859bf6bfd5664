/**
 * The turbo code of LTE with its rate matching, one code block a code word.
 *
 * Source: TS 36.212, 5.1.3.2 and 5.1.4.1; lib/numeric/coding/turbo.ts.
 */
import { z } from "../api.ts";
import {
  decodeTurbo,
  encodeTurbo,
  TURBO_DECODERS,
  TURBO_SIZES,
  type TurboCode,
  turboCode,
} from "../../lib/numeric/coding/turbo.ts";
import { type BlockCode, blockCode } from "./_block_code.ts";

const LARGEST = TURBO_SIZES[TURBO_SIZES.length - 1];

export default blockCode({
  id: "turbo",
  name: "Turbo",
  key: "turbo_code",
  params: z.strictObject({
    block_bits: z.int().min(TURBO_SIZES[0]).max(LARGEST).default(1024)
      .describe(`bits of a code word before coding, one of the ${TURBO_SIZES.length} sizes of TS 36.212`),
    coded_bits: z.int().min(0).max(16 * LARGEST).default(0)
      .describe("bits of a code word behind rate matching; 0 sends each of the 3·K + 12 bits once"),
    redundancy_version: z.int().min(0).max(3).default(0).describe("start in the circular buffer"),
  }),
  code({ block_bits, coded_bits, redundancy_version }): BlockCode & { turbo: TurboCode } {
    const turbo = turboCode(block_bits, coded_bits, redundancy_version);
    return { size: block_bits, sent: turbo.places.length, turbo, encode: (message) => encodeTurbo(message, turbo) };
  },
  placeOf: () => "block_bits",
  encoderDescription: "Encodes code blocks with the turbo code of LTE and its rate matching",
  decoderDescription: "Decodes the turbo code of LTE by iterations between the decoders of its two encoders",
  choices: z.strictObject({
    algorithm: z.enum(TURBO_DECODERS).default("log_map").describe("log_map is exact, max_log_map compares paths"),
    iterations: z.int().min(1).max(100).default(8).describe("iterations at most, of both decoders each"),
    extrinsic_scale: z.number().positive().max(1).default(0.75).meta({
      "x-svc-used-when": { algorithm: "max_log_map" },
    })
      .describe("factor of the extrinsic values of max_log_map"),
    early_stop: z.boolean().default(true).describe("end when an iteration changes no decision"),
  }),
  counts: "iterations_in_all",
  soft: true,
  detects: false,
  decode(llr, { turbo }, { algorithm, iterations, extrinsic_scale: scale, early_stop: earlyStop }) {
    const found = decodeTurbo(llr, turbo, { algorithm, iterations, scale, earlyStop });
    return { bits: found.bits, llr: found.llr, counted: found.iterations };
  },
});
