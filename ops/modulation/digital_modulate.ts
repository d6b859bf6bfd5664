/**
 * Bit-to-symbol mapper: BPSK x = 1 - 2b, QPSK and 16QAM with the Gray mapping of TS 38.211 section 5.1, unit mean
 * power. Bits are zero-padded to a whole symbol; the demodulator removes the padding by the metadata.
 *
 * Shapes: bits uint8 [n] -> symbols complex64 [ceil(n / bits per symbol)].
 */
import { BITS, CODED_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { dataPlaneParameter } from "../../lib/contract/schema.ts";
import { z } from "../../lib/contract/zod.ts";
import { bitsOf, symbolsArtifact } from "../../lib/artifact/values.ts";
import { BITS_PER_SYMBOL } from "../../lib/numeric/modulation.ts";
import type { NativeModulation } from "../../lib/numeric/native/kernels.ts";
import { modulateParallel } from "../../lib/numeric/parallel/modulation.ts";
import { executed, native } from "../_backends.ts";
import { nativeKernels } from "../_native.ts";
import { MODULATED, modulatedMetadata } from "../_symbol_items.ts";

const MODULATIONS = ["bpsk", "qpsk", "qam16"] as const;

export default defineOperation({
  id: "modulation.digital_modulate",
  name: "Hard bit-to-symbol mapper",
  description: "Maps bits onto constellation points of unit mean power",
  inputs: { bits: [PAYLOAD_BITS, CODED_BITS, BITS] },
  outputs: { symbols: MODULATED },
  params: z.strictObject({
    modulation: z.enum(MODULATIONS).default("qpsk").describe("Gray mapping of TS 38.211: 1, 2 or 4 bits per symbol"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: { framework: "numpy", gradient: "stop", trainable_params: false, exportable: false },
  backends: { benchmark_run: ["numpy", "cpp"], dataset_capture: ["numpy", "cpp"] },
  equivalence: { type: "numerical", tolerance: { atol: 1e-7, rtol: 1e-6 } },
  formats: { artifact: "npz", tensor: "none" },
  materializations: [
    ...MODULATIONS.flatMap((modulation) => executed("numpy", `numpy_${modulation}_modulator`, { modulation })),
    ...["bpsk", "qpsk"].flatMap((modulation) => native(`cpp_${modulation}_modulator`, { modulation })),
  ],
  outputMetadataGuarantees: { symbols: { from: "bits" } },
  estimate({ modulation }, { bits: { bytes, shape } }) {
    const width = BITS_PER_SYMBOL[modulation];
    return { symbols: shape === undefined ? 8 * bytes / width : [["complex64", Math.ceil(shape[0] / width)]] };
  },
  threadSafe: true,
  async run({ inputs, params: { modulation }, backend, threads }) {
    const bits = bitsOf(inputs.bits);
    const metadata = modulatedMetadata(inputs.bits.metadata, bits.length, modulation, BITS_PER_SYMBOL[modulation]);
    const symbols = backend === "cpp"
      ? (await nativeKernels()).modulate(bits, modulation as NativeModulation)
      : modulateParallel(bits, modulation, { threads });
    return { outputs: { symbols: symbolsArtifact(symbols, metadata) } };
  },
});
