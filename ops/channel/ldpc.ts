/**
 * LDPC codes of IEEE 802.11 and DVB-S2, and those of files: an alist, or a QC table where the name ends with .qc. The message is the part
 * of the code word that the checks leave free, the first bits of all shipped codes.
 *
 * Source: lib/numeric/coding/ldpc/.
 */
import { z } from "../api.ts";
import { codeOf, LDPC_CODES, type LdpcCode, shippedCode, shippedSizes } from "../../lib/numeric/coding/ldpc/code.ts";
import { decodeLdpc } from "../../lib/numeric/coding/ldpc/decoder.ts";
import { readAlist, readQcTable } from "../../lib/numeric/coding/ldpc/files.ts";
import { type BlockCode, blockCode } from "./_block_code.ts";
import { LDPC_CHOICES, ldpcOptions } from "./_ldpc_decoder.ts";

interface Coded extends BlockCode {
  readonly ldpc: LdpcCode;
}

/** A code that is made at its first use: sizes are asked for more often. */
function made(size: number, sent: number, make: () => LdpcCode): Coded {
  let ldpc: LdpcCode | undefined;
  return {
    size,
    sent,
    get ldpc() {
      return ldpc ??= make();
    },
    encode(message) {
      return this.ldpc.encode(message);
    },
  };
}

export default blockCode({
  id: "ldpc",
  name: "LDPC",
  key: "ldpc_code",
  params: z.strictObject({
    code: z.enum(LDPC_CODES).default("ieee80211n_648_1_2").meta({ "x-svc-used-when": { code_path: "" } })
      .describe("shipped code: standard, length or frame, and the rate by which the standard names it"),
    code_path: z.string().default("")
      .describe("file of a parity-check matrix, instead of code: an alist, or a QC table where the name ends with .qc"),
    code_sha256: z.string().regex(/^([0-9a-f]{64})?$/).default("").describe("SHA-256 of the file"),
  }),
  file: ({ code_path: path, code_sha256: sha256 }) => path === "" ? undefined : { path, sha256 },
  code({ code, code_path }, file): Coded {
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
  placeOf: () => "code",
  encoderDescription: "Encodes messages with an LDPC code of IEEE 802.11, DVB-S2 or a file",
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
    const found = decodeLdpc(llr, ldpc, { ...ldpcOptions(choices), iterations, earlyStop });
    const values = Float32Array.from(ldpc.places, (place) => found.values[place]);
    const bits = Uint8Array.from(values, (value) => value < 0 ? 1 : 0);
    return { bits, llr: values, passed: found.passed, counted: found.iterations };
  },
});
