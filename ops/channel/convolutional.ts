/**
 * Convolutional codes with any generators, puncturing and termination. Coded bits stand output by output of each step, without the
 * punctured ones; `payload_llr` are the log-likelihood ratios of the decoded bits, with viterbi +1 and -1 for its decisions.
 *
 * Source: IEEE 802.11-2020, 17.3.5.6 and 19.3.11.6; ETSI EN 300 421, 4.4.3; TS 36.212, 5.1.3.1 (tail-biting, 133, 171, 165);
 * lib/numeric/coding/convolutional.ts.
 */
import { SvcError, z } from "../api.ts";
import {
  CONVOLUTIONAL_DECODERS,
  type ConvolutionalCode,
  convolutionalCode,
  decodeConvolutional,
  encodeConvolutional,
  isSmallEnough,
  LONGEST_REGISTER,
  MOST_OUTPUTS,
  PUNCTURINGS,
  sentPlaces,
  stepsOf,
  type Termination,
  TERMINATIONS,
} from "../../lib/numeric/coding/convolutional.ts";
import { type BlockCode, blockCode } from "./_block_code.ts";

const LARGEST_BLOCK = 65_536;
const NAMED = Object.keys(PUNCTURINGS) as (keyof typeof PUNCTURINGS)[];

interface Words extends BlockCode {
  readonly code: ConvolutionalCode;
  readonly termination: Termination;
  /** Places of the sent bits among those of the code without puncturing, and the number of these. */
  readonly places: Int32Array;
  readonly mother: number;
}

export default blockCode({
  id: "convolutional",
  name: "Convolutional",
  key: "convolutional_code",
  params: z.strictObject({
    generators: z.array(z.string().regex(/^[0-7]+$/, "be an octal number")).min(1).max(MOST_OUTPUTS).default([
      "133",
      "171",
    ])
      .describe(`octal generators of at most ${LONGEST_REGISTER} bits, newest bit first; default those of IEEE 802.11`),
    termination: z.enum(TERMINATIONS).default("zero_tail")
      .describe("zero_tail adds a tail of zeros, tail_biting starts in the state of the end, truncated ends anywhere"),
    block_bits: z.int().min(1).max(LARGEST_BLOCK).default(1024)
      .describe("bits of a code word before coding; the last is padded"),
    puncturing: z.enum(NAMED).default("none")
      .describe("pattern of IEEE 802.11 (generators 133, 171) or of DVB (171, 133, EN 300 421)"),
    puncture_pattern: z.array(z.string().regex(/^[01]+$/, "have zeros and ones")).min(1).max(MOST_OUTPUTS).optional()
      .describe("own pattern in place of puncturing: for each generator a row of 1 for sent and 0 for punctured bits"),
  }),
  code({ generators, termination, block_bits: size, puncturing, puncture_pattern }): Words {
    const code = convolutionalCode(generators),
      n = generators.length,
      pattern = puncture_pattern ?? PUNCTURINGS[puncturing];
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
    return {
      size,
      sent: places.length,
      code,
      termination,
      places,
      mother: steps * n,
      encode(message) {
        const coded = encodeConvolutional(message, code, termination);
        return Uint8Array.from(places, (place) => coded[place]);
      },
    };
  },
  placeOf: (message) =>
    /punctur/.test(message) ? "puncture_pattern" : /tail/.test(message) ? "block_bits" : "generators",
  encoderDescription:
    "Encodes code words with a convolutional code, with puncturing and a tail of zeros or tail-biting",
  decoderDescription:
    "Decodes a convolutional code by Viterbi's algorithm or, with soft values of the bits, the BCJR algorithm",
  choices: z.strictObject({
    algorithm: z.enum(CONVOLUTIONAL_DECODERS).default("viterbi")
      .describe(
        "viterbi: most likely code word; bcjr: most likely bits, with soft values; max_log_bcjr: as bcjr, by maxima",
      ),
  }),
  soft: true,
  detects: false,
  accept({ code, size }, { algorithm }) {
    if (algorithm === "viterbi" || isSmallEnough(size, code)) return;
    throw new SvcError(
      "params_conflict",
      `Cannot decode blocks of ${size} bits over ${2 ** code.memory} states by ${algorithm}`,
      { hint: "Set algorithm to viterbi, or block_bits lower" },
    );
  },
  decode(llr, { code, size, termination, places, mother }, { algorithm }) {
    const given = new Float32Array(mother);
    for (let i = 0; i < places.length; i++) given[places[i]] = llr[i];
    return decodeConvolutional(given, size, code, termination, algorithm);
  },
});
