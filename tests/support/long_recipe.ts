/** Recipes for tests that stop what runs: their steps take long on any machine. */

/** A third of a second of work for each decoder, on any fast machine: decoders of noise never stop early. */
export const decoding = (name: string, decoders: number) => ({
  name,
  metadata: { seed: 7 },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 322_720 } },
    {
      id: "encoder",
      op: "channel.nr_ldpc_encoder",
      params: { transport_block_size_bits: 16_136, target_coderate: 0.5, num_bits_per_symbol: 2, num_bp_iter: 1000 },
      inputs: { bits: "data.bits" },
    },
    { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "encoder.coded_bits" } },
    { id: "channel", op: "wireless.channel", params: { snr_db: -20 }, inputs: { symbols: "modulator.symbols" } },
    { id: "demodulator", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "channel.rx_symbols" } },
    ...Array.from({ length: decoders }, (_, i) => ({
      id: `decoder_${i}`,
      op: "channel.nr_ldpc_decoder",
      inputs: { llr: "demodulator.llr" },
    })),
  ],
});

/** A recipe that works until it is cancelled. */
export const LONG = decoding("long", 400);
