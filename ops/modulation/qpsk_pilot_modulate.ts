/**
 * QPSK (TS 38.211 5.1.3) in frames with pilots, one frame per source item: preamble_symbols pilots, then one pilot after
 * every pilot_spacing_data_symbols data symbols. The bits of each frame are zero-padded to a whole symbol. Pilots are QPSK
 * labels, integers(0, 4, n, int64) of default_rng(pilot_seed) for all n pilots of all frames in order; label l carries the
 * bits l >> 1 and l & 1.
 *
 * Shapes: bits uint8 [n] -> symbols complex64 [m]; pilot_context: _pilot_frames.ts.
 */
import { BITS, CODED_BITS, PAYLOAD_BITS, SYMBOLS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, z } from "../api.ts";
import { bitsOf, sourceItemCounts, symbolsArtifact } from "../../lib/artifact/values.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { dataPlane } from "../_data_plane.ts";
import { framePositions, PILOT_CONTEXT, pilotContext } from "../_pilot_frames.ts";
import { modulatedMetadata } from "../_symbol_items.ts";

export default defineOperation({
  id: "modulation.qpsk_pilot_modulate",
  name: "QPSK framing with pilots",
  description: "Maps bits to QPSK frames with a preamble and regular pilots",
  inputs: { bits: [PAYLOAD_BITS, CODED_BITS, BITS] },
  outputs: { symbols: SYMBOLS, pilot_context: PILOT_CONTEXT },
  params: z.strictObject({
    preamble_symbols: z.int().positive().default(16).describe("number of pilots at the start of a frame"),
    pilot_spacing_data_symbols: z.int().positive().default(16).describe("number of data symbols between pilots"),
    pilot_seed: z.int().nonnegative().default(1701).describe("seed of the pilots, known to both ends"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: { framework: "numpy", gradient: "stop", trainable_params: false, exportable: false },
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  twin: true,
  equivalence: { type: "exact" },
  formats: { artifact: "npz", tensor: "none" },
  outputMetadataGuarantees: {
    symbols: {
      from: "bits",
      keys: ["boundary_contract", "symbol_count", "modulation", "bits_per_symbol", "bit_count", "pilot_symbol_count"],
    },
    pilot_context: { keys: ["frame_symbol_counts", "frame_bit_counts", "preamble_symbols"] },
  },
  nativeKernels: true,
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const bits = bitsOf(inputs.bits, kernels);
    const items = sourceItemCounts(inputs.bits.metadata, bits.length) ?? [bits.length];
    const layouts = items.map((count) =>
      framePositions(Math.ceil(count / 2), params.preamble_symbols, params.pilot_spacing_data_symbols)
    );
    const pilotCount = layouts.reduce((sum, { positions }) => sum + positions.length, 0);
    const labels = Generator.seeded(params.pilot_seed).integers(0, 4, pilotCount, "int64");
    const values = kernels.modulate(
      Uint8Array.from({ length: 2 * pilotCount }, (_, i) => labelBit(labels[i >> 1], i & 1)),
      "qpsk",
    );

    const symbols = new Float32Array(2 * layouts.reduce((sum, { length }) => sum + length, 0));
    const positions = new Int32Array(pilotCount);
    let start = 0, pilot = 0, bit = 0;
    layouts.forEach((frame, item) => {
      const data = kernels.modulate(bits.subarray(bit, bit + items[item]), "qpsk");
      bit += items[item];
      const known = new Set(frame.positions);
      for (let k = 0, at = 0; k < frame.length; k++) {
        if (known.has(k)) {
          symbols.set(values.subarray(2 * pilot, 2 * pilot + 2), 2 * (start + k));
          positions[pilot++] = start + k;
        } else {
          symbols.set(data.subarray(2 * at, 2 * at + 2), 2 * (start + k));
          at++;
        }
      }
      start += frame.length;
    });
    const frame_symbol_counts = layouts.map(({ length }) => length);
    const metadata = {
      ...modulatedMetadata(inputs.bits.metadata, bits.length, "qpsk", 2),
      modulation_padding_bits: items.reduce((sum, count) => sum + count % 2, 0),
      source_item_counts: frame_symbol_counts,
      pilot_symbol_count: pilotCount,
    };
    const frames = {
      frame_symbol_counts,
      frame_bit_counts: items,
      preamble_symbols: params.preamble_symbols,
      pilot_spacing_data_symbols: params.pilot_spacing_data_symbols,
      pilot_seed: params.pilot_seed,
    };
    return {
      outputs: { symbols: symbolsArtifact(symbols, metadata), pilot_context: pilotContext(positions, values, frames) },
      ...(start === 0 ? {} : { metrics: { "channel.pilot_overhead_fraction": pilotCount / start } }),
    };
  },
});

/** The two bits of a QPSK label. */
function labelBit(label: bigint, which: number): number {
  return which === 0 ? Number(label >> 1n) : Number(label & 1n);
}
