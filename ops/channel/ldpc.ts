/**
 * LDPC codes of IEEE 802.11 and DVB-S2, a code block of 5G NR by its message and coded bits, and codes of files: an alist, or a QC table
 * where the name ends with .qc. The message is the part of the code word that the checks leave free, the first bits of all shipped codes.
 *
 * Source: lib/numeric/coding/ldpc/.
 */
import { z } from "../api.ts";
import { LIFTING_SIZES } from "../../lib/numeric/coding/nr_ldpc/base_graph.ts";
import { codeBlock } from "../../lib/numeric/coding/nr_ldpc/code_block.ts";
import { codeOf, LDPC_CODES, type LdpcCode, shippedCode, shippedSizes } from "../../lib/numeric/coding/ldpc/code.ts";
import { decodeLdpc } from "../../lib/numeric/coding/ldpc/decoder.ts";
import { readAlist, readQcTable } from "../../lib/numeric/coding/ldpc/files.ts";
import { type BlockCode, blockCode } from "./_block_code.ts";
import { LDPC_CHOICES, ldpcOptions } from "./_ldpc_decoder.ts";

interface Coded extends BlockCode {
  readonly ldpc: LdpcCode & { order?: Int32Array };
}

/** A code that is made at its first use: sizes are asked for more often. */
function made(size: number, sent: number, make: () => Coded["ldpc"]): Coded {
  let ldpc: Coded["ldpc"] | undefined;
  return {
    size,
    sent,
    get ldpc() {
      return ldpc ??= make();
    },
    encode(message) {
      const word = this.ldpc.encode(message), { order } = this.ldpc;
      return order === undefined ? word : Uint8Array.from(order, (bit) => word[bit]);
    },
  };
}

const NR = "nr";
const ofNr = { "x-svc-effective-when": { code: NR } };

/** Values of the bits of a code word from those of its sent bits: sums over repetitions, 0 where nothing is sent. */
function collected(llr: Float32Array, order: Int32Array, length: number): Float32Array {
  const values = new Float32Array(length);
  order.forEach((bit, e) => values[bit] += llr[e]);
  return values;
}

export default blockCode({
  id: "ldpc",
  name: "LDPC",
  key: "ldpc_code",
  params: z.strictObject({
    code: z.enum([...LDPC_CODES, NR]).default("ieee80211n_648_1_2").meta({ "x-svc-used-when": { code_path: "" } })
      .describe(
        "shipped code: standard, length or frame, and the rate by which the standard names it; nr: a code block",
      ),
    code_path: z.string().default("")
      .describe("file of a parity-check matrix, instead of code: an alist, or a QC table where the name ends with .qc"),
    code_sha256: z.string().regex(/^([0-9a-f]{64})?$/).default("").describe("SHA-256 of the file"),
    message_bits: z.int().min(1).max(8448).default(1024).meta(ofNr).describe("message bits of a code block"),
    coded_bits: z.int().min(1).max(1_000_000).default(2048).meta(ofNr).describe("sent bits of a code block"),
    base_graph: z.literal([0, 1, 2]).default(0).meta(ofNr)
      .describe("base graph of TS 38.212; 0: by its rules, for a transport block of the message bits"),
    lifting_size: z.literal([0, ...LIFTING_SIZES]).default(0).meta(ofNr)
      .describe("lifting size of TS 38.212; 0: the least that holds the message"),
    num_bits_per_symbol: z.literal([1, 2, 4, 6, 8]).default(1).meta(ofNr)
      .describe("rows of the bit interleaver of TS 38.212; 1: no interleaver"),
  }),
  file: ({ code_path: path, code_sha256: sha256 }) => path === "" ? undefined : { path, sha256 },
  code(params, file): Coded {
    const { code, code_path, message_bits: messageBits, coded_bits: codedBits } = params;
    if (file === undefined && code === NR) {
      const block = codeBlock({
        messageBits,
        codedBits,
        baseGraph: params.base_graph || undefined,
        liftingSize: params.lifting_size || undefined,
        bitsPerSymbol: params.num_bits_per_symbol,
      });
      return made(messageBits, codedBits, () => block);
    }
    if (file === undefined) {
      const { length, dimension } = shippedSizes(code);
      return made(dimension, length, () => shippedCode(code));
    }
    const ldpc = codeOf((code_path.endsWith(".qc") ? readQcTable : readAlist)(file));
    return made(ldpc.places.length, ldpc.length, () => ldpc);
  },
  check: ({ code_path, code_sha256 }) =>
    (code_path === "") === (code_sha256 === "") ? [] : [{
      place: [code_path === "" ? "code_path" : "code_sha256"],
      message: `Cannot use ${
        code_path === "" ? "code_sha256 without code_path" : "a file of a code without code_sha256"
      }`,
      hint: "Set code_path and code_sha256, or neither",
    }],
  placeOf: (message) =>
    ["base_graph", "lifting_size", "num_bits_per_symbol"].find((name) => message.includes(`: ${name}`)) ?? "coded_bits",
  encoderDescription: "Encodes messages with an LDPC code of IEEE 802.11, DVB-S2, 5G NR or a file",
  decoderDescription: "Decodes an LDPC code by belief propagation and reports the words that fail a check",
  choices: z.strictObject({
    ...LDPC_CHOICES,
    iterations: z.int().min(1).max(1000).default(20).describe("iterations at most"),
    early_stop: z.boolean().default(true).describe("end when all checks hold"),
  }),
  counts: "iterations_in_all",
  soft: true,
  detects: true,
  decode(llr, { ldpc }, { iterations, early_stop: earlyStop, ...choices }) {
    const found = decodeLdpc(ldpc.order === undefined ? llr : collected(llr, ldpc.order, ldpc.length), ldpc, {
      ...ldpcOptions(choices),
      iterations,
      earlyStop,
    });
    const values = Float32Array.from(ldpc.places, (place) => found.values[place]);
    const bits = Uint8Array.from(values, (value) => value < 0 ? 1 : 0);
    return { bits, llr: values, passed: found.passed, counted: found.iterations };
  },
});
