/**
 * Reed-Solomon and BCH codes with the parity behind each message; decoders decide each bit by the sign of its soft value and correct up
 * to t symbols of a code word.
 *
 * Source: lib/numeric/coding/algebraic.ts.
 */
import { z } from "../api.ts";
import {
  type AlgebraicCode,
  bchCode,
  correctAlgebraic,
  encodeAlgebraic,
  LEAST_DEGREE,
  MOST_DEGREE,
  reedSolomonCode,
} from "../../lib/numeric/coding/algebraic.ts";
import { type BlockCode, blockCode } from "./_block_code.ts";

const DEGREE = z.int().min(LEAST_DEGREE).max(MOST_DEGREE);
const POLYNOMIAL = z.int().min(7).max(2 ** (MOST_DEGREE + 1) - 1).optional()
  .describe("polynomial of the field as a number, the highest power as the highest bit; default of Lin and Costello");

interface Words extends BlockCode {
  /** The message of received bits, and the number of corrected symbols; -1 for too many errors. */
  correct(bits: Uint8Array): { message: Uint8Array; errors: number };
}

/** A code over symbols of `width` bits, the highest first. */
function ofBits(code: AlgebraicCode, width: number): Words {
  const size = code.message * width, sent = code.length * width;
  const read = (bits: Uint8Array) =>
    Int32Array.from({ length: code.length }, (_, i) => {
      let value = 0;
      for (let j = 0; j < width; j++) value = value << 1 | (bits[i * width + j] ?? 0);
      return value;
    });
  const written = (word: Int32Array) =>
    Uint8Array.from({ length: sent }, (_, i) => word[Math.floor(i / width)] >> (width - 1 - i % width) & 1);
  return {
    size,
    sent,
    encode(message) {
      const word = read(message);
      encodeAlgebraic(word, code);
      return written(word);
    },
    correct(bits) {
      const word = read(bits), errors = correctAlgebraic(word, code);
      return { message: written(word).subarray(0, size), errors };
    },
  };
}

const HARD = {
  choices: z.strictObject({
    on_failure: z.enum(["keep_estimate", "zero_fill"]).default("keep_estimate")
      .describe("message of a code word with too many errors: as received, or zeros"),
  }),
  counts: "corrected_symbols",
  soft: false,
  detects: true,
  decode(llr: Float32Array, code: Words, { on_failure }: { on_failure: "keep_estimate" | "zero_fill" }) {
    const { message, errors } = code.correct(Uint8Array.from(llr, (value) => value < 0 ? 1 : 0)), passed = errors >= 0;
    const bits = passed || on_failure === "keep_estimate" ? message : new Uint8Array(code.size);
    return { bits, passed, counted: Math.max(errors, 0) };
  },
};
const descriptions = (name: string) => ({
  encoderDescription: `Encodes messages with a ${name} code and puts the parity behind them`,
  decoderDescription: `Corrects hard decisions by a ${name} code and reports the code words that it cannot correct`,
});
const placeOf = (size: string) => (message: string) => /polynomial/.test(message) ? "primitive_polynomial" : size;

const reedSolomon = blockCode({
  id: "reed_solomon",
  name: "Reed-Solomon",
  key: "reed_solomon_code",
  params: z.strictObject({
    field_degree: DEGREE.default(8).describe("bits of a symbol, m; code words have at most 2^m - 1 symbols"),
    primitive_polynomial: POLYNOMIAL,
    codeword_symbols: z.int().min(2).max(2 ** MOST_DEGREE - 1).default(204).describe("symbols of a code word, n"),
    message_symbols: z.int().min(1).max(2 ** MOST_DEGREE - 2).default(188)
      .describe("symbols of a message, k; floor((n - k) / 2) symbols are corrected; default of DVB"),
    first_root: z.int().min(0).max(2 ** MOST_DEGREE - 2).default(0).describe(
      "power of the first root of the generator",
    ),
  }),
  code: (
    { field_degree: degree, codeword_symbols: length, message_symbols: message, first_root: firstRoot, ...rest },
  ) => ofBits(reedSolomonCode({ degree, length, message, firstRoot, polynomial: rest.primitive_polynomial }), degree),
  placeOf: placeOf("message_symbols"),
  ...descriptions("Reed-Solomon"),
  ...HARD,
});

const bch = blockCode({
  id: "bch",
  name: "BCH",
  key: "bch_code",
  params: z.strictObject({
    field_degree: DEGREE.default(6).describe("m: code words have 2^m - 1 bits without shortening"),
    primitive_polynomial: POLYNOMIAL,
    correctable_errors: z.int().min(1).max(2 ** (MOST_DEGREE - 1) - 1).default(3).describe(
      "wrong bits that are corrected, t",
    ),
    shortened_bits: z.int().min(0).max(2 ** MOST_DEGREE - 3).default(0).describe(
      "bits of the message that are left out",
    ),
  }),
  code: ({ field_degree: degree, correctable_errors: errors, shortened_bits: shortened, primitive_polynomial }) =>
    ofBits(bchCode({ degree, errors, shortened, polynomial: primitive_polynomial }), 1),
  placeOf: placeOf("correctable_errors"),
  ...descriptions("BCH"),
  ...HARD,
});

export default [...reedSolomon, ...bch];
