/**
 * Bit-to-symbol mapper: BPSK x = 1 - 2b, QPSK to 256QAM with the Gray mapping of TS 38.211 section 5.1, unit mean
 * power. `auto` takes the bits per symbol that the encoder recorded. Bits are zero-padded to a whole symbol; the demodulator removes the padding by the metadata.
 *
 * Shapes: bits uint8 [n] -> symbols complex64 [ceil(n / bits per symbol)].
 */
import { BITS, CODED_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, isObject, type JsonObject, SvcError, z } from "../api.ts";
import { checkBits } from "../../lib/artifact/boundary.ts";
import { bitsOf, symbolMetadata, symbolsArtifact } from "../../lib/artifact/values.ts";
import {
  BITS_PER_SYMBOL,
  type Modulation,
  MODULATION_BY_BITS,
  MODULATIONS,
} from "../../lib/numeric/link/modulations.ts";
import { modulate } from "../../lib/numeric/link/modulation.ts";
import { executed, native } from "../_backends.ts";
import { dataPlane, portableOnly } from "../_data_plane.ts";
import { MODULATED, modulatedMetadata } from "../_symbol_items.ts";

const CHOICES = [...MODULATIONS, "auto"] as const;

export default defineOperation({
  id: "modulation.digital_modulate",
  name: "Hard bit-to-symbol mapper",
  description: "Maps bits onto constellation points of unit mean power",
  inputs: { bits: [PAYLOAD_BITS, CODED_BITS, BITS] },
  outputs: { symbols: MODULATED },
  params: z.strictObject({
    modulation: z.enum(CHOICES).default("qpsk")
      .describe("Gray mapping of TS 38.211: 1, 2, 4, 6 or 8 bits per symbol; auto as the encoder of the bits recorded"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: { framework: "numpy", gradient: "stop", trainable_params: false, exportable: false },
  equivalence: { type: "numerical", tolerance: { atol: 1e-7, rtol: 1e-6 } },
  formats: { artifact: "npz", tensor: "none" },
  materializations: [
    ...CHOICES.flatMap((modulation) => executed("numpy", `numpy_${modulation}_modulator`, { modulation })),
    ...CHOICES.flatMap((modulation) => native(`cpp_${modulation}_modulator`, { modulation })),
  ],
  outputMetadataGuarantees: { symbols: { from: "bits" } },
  estimate({ modulation }, { bits: { bytes, shape } }) {
    // The width of auto is known in the run only: bytes for one bit per symbol are the upper limit.
    if (modulation === "auto") return { symbols: 8 * bytes };
    const width = BITS_PER_SYMBOL[modulation];
    return { symbols: shape === undefined ? 8 * bytes / width : [["complex64", Math.ceil(shape[0] / width)]] };
  },
  twin: true,
  streaming: {
    allows: portableOnly,
    open({ inputs: { bits: { metadata, length: bitCount } }, params }) {
      const { modulation, width, described } = mappingOf(metadata, bitCount, params.modulation);
      const length = Math.ceil(bitCount / width);
      return {
        arrays: { symbols: { dtype: "complex64", length, metadata: symbolMetadata(length, described) } },
        next: ({ bits }) => ({ symbols: modulate(checkBits(bits), modulation) }),
      };
    },
  },
  async run(context) {
    const { inputs, params, threads } = context, kernels = await dataPlane(context);
    const bits = bitsOf(inputs.bits, kernels);
    const { modulation, described } = mappingOf(inputs.bits.metadata, bits.length, params.modulation);
    return { outputs: { symbols: symbolsArtifact(kernels.modulate(bits, modulation, { threads }), described) } };
  },
});

/** The chosen modulation, its bits per symbol, and what the symbols of `bitCount` bits declare. */
function mappingOf(metadata: JsonObject, bitCount: number, chosen: typeof CHOICES[number]) {
  const modulation = chosen === "auto" ? encodedModulation(metadata) : chosen, width = BITS_PER_SYMBOL[modulation];
  return { modulation, width, described: modulatedMetadata(metadata, bitCount, modulation, width) };
}

/** Metadata of encoders. */
const CODE_RECORDS = [
  "nr_ldpc",
  "nr_polar",
  "convolutional_code",
  "turbo_code",
  "ldpc_code",
  "reed_solomon_code",
  "bch_code",
];

/** @throws SvcError `params_conflict` for bits without the record of an encoder */
function encodedModulation(metadata: JsonObject): Modulation {
  const code = CODE_RECORDS.map((key) => metadata[key]).find(isObject);
  const width = code !== undefined ? Number(code.num_bits_per_symbol ?? 2) : undefined;
  if (width !== undefined && MODULATION_BY_BITS[width] !== undefined) return MODULATION_BY_BITS[width];
  throw new SvcError("params_conflict", "Cannot choose a modulation: no encoder recorded its bits per symbol", {
    hint: "Set modulation, or wire the output of an encoder, such as channel.nr_ldpc_encoder",
  });
}
