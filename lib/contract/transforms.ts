/**
 * What the operations of a link do to its content. A stream is a content source with layers: packets, a channel code, a
 * modulation. Encoders put a layer, decoders take one, boundaries and links keep it.
 */

export type LayerKind =
  | "packets"
  | "repetition"
  | "ldpc"
  | "polar"
  | "convolutional"
  | "turbo"
  | "table_ldpc"
  | "small_block"
  | "reed_solomon"
  | "bch"
  | "interleaved"
  | "scrambled"
  | "unequal"
  | "distribution"
  | "symbols"
  | "pilots";

export interface Transform {
  /** The input of the content. */
  from: string;
  puts?: LayerKind;
  takes?: LayerKind;
  /** Outputs that carry it; default all. */
  outputs?: readonly string[];
  /** Optional inputs that an edit wires, because a parameter stands in their place. */
  wired?: readonly string[];
}

/** Effect of channel-path operations on a stream; outputs of other operations are sources. */
export const TRANSFORMS: ReadonlyMap<string, Transform> = new Map(Object.entries({
  "channel.bit_boundary": { from: "bits" },
  "channel.payload_passthrough_encoder": { from: "bits" },
  "channel.payload_passthrough_decoder": { from: "bits" },
  "channel.identity_encoder": { from: "bits" },
  "channel.identity_decoder": { from: "coded_bits" },
  "channel.identity_link": { from: "bits" },
  "channel.capacity_oracle_digital_link": { from: "bits" },
  "wireless.digital_link": { from: "bits" },
  "channel.symbol_boundary": { from: "symbols" },
  "channel.symbol_power_identity": { from: "symbols" },
  "channel.symbol_power_normalize": { from: "symbols" },
  "model.symbol_power_allocator": { from: "symbols", outputs: ["symbols"] },
  "model.causal_csi_power_allocator": { from: "symbols", outputs: ["symbols"] },
  "channel.identity_symbol_link": { from: "symbols" },
  "wireless.ofdm_channel_state": { from: "symbols", outputs: ["symbols"] },
  "wireless.channel": { from: "symbols" },
  "modulation.ofdm_pilot_insert": { from: "symbols", puts: "pilots", outputs: ["symbols"] },
  "wireless.mimo_ofdm_channel": { from: "symbols", outputs: ["rx_grid"] },
  "modulation.ofdm_waveform": { from: "symbols" },
  "wireless.multipath_waveform": { from: "waveform", outputs: ["waveform"] },
  "demodulation.ofdm_receive": { from: "waveform" },
  "demodulation.ofdm_equalize": { from: "rx_symbols", takes: "pilots" },
  "demodulation.mimo_detect": { from: "rx_grid", takes: "pilots", outputs: ["symbols"] },
  "hardware.receiver_iq_imbalance": { from: "rx_symbols" },
  "hardware.power_amplifier": { from: "signal" },
  "hardware.quantizer": { from: "signal" },
  "hardware.envelope_clip": { from: "signal" },
  "hardware.phase_noise": { from: "signal" },
  "wireless.carrier_phase_impairment": { from: "rx_symbols", outputs: ["rx_symbols"] },
  "channel.packetize_crc32": { from: "bits", puts: "packets" },
  "channel.packetize_crc32.v2": { from: "bits", puts: "packets" },
  "channel.crc32_check": { from: "bits", takes: "packets" },
  "channel.repetition_encoder": { from: "bits", puts: "repetition" },
  "channel.repetition_decoder": { from: "coded_bits", takes: "repetition" },
  "channel.nr_ldpc_encoder": { from: "bits", puts: "ldpc" },
  "channel.nr_harq_combine": { from: "llr" },
  "channel.nr_ldpc_decoder": { from: "llr", takes: "ldpc", outputs: ["bits"] },
  "channel.nr_polar_encoder": { from: "bits", puts: "polar" },
  "channel.nr_polar_decoder": { from: "llr", takes: "polar", outputs: ["bits"] },
  "channel.convolutional_encoder": { from: "bits", puts: "convolutional" },
  "channel.convolutional_decoder": { from: "llr", takes: "convolutional", outputs: ["bits", "payload_llr"] },
  "channel.turbo_encoder": { from: "bits", puts: "turbo" },
  "channel.turbo_decoder": { from: "llr", takes: "turbo", outputs: ["bits", "payload_llr"] },
  "channel.ldpc_encoder": { from: "bits", puts: "table_ldpc" },
  "channel.ldpc_decoder": { from: "llr", takes: "table_ldpc", outputs: ["bits", "payload_llr"] },
  "channel.nr_small_block_encoder": { from: "bits", puts: "small_block" },
  "channel.nr_small_block_decoder": { from: "llr", takes: "small_block", outputs: ["bits", "payload_llr"] },
  "channel.reed_solomon_encoder": { from: "bits", puts: "reed_solomon" },
  "channel.reed_solomon_decoder": { from: "llr", takes: "reed_solomon", outputs: ["bits"] },
  "channel.bch_encoder": { from: "bits", puts: "bch" },
  "channel.bch_decoder": { from: "llr", takes: "bch", outputs: ["bits"] },
  "modulation.distribution_match": { from: "bits", puts: "distribution" },
  "demodulation.distribution_dematch": { from: "llr", takes: "distribution", outputs: ["bits"] },
  "channel.block_interleaver": { from: "bits", puts: "interleaved" },
  "channel.block_deinterleaver": { from: "llr", takes: "interleaved" },
  "channel.scrambler": { from: "bits", puts: "scrambled" },
  "channel.descrambler": { from: "llr", takes: "scrambled" },
  "channel.unequal_error_protection": {
    from: "bits",
    puts: "unequal",
    outputs: ["coded_bits"],
    wired: ["importance_map"],
  },
  "channel.unequal_error_protection_decoder": { from: "received", takes: "unequal" },
  "modulation.digital_modulate": { from: "bits", puts: "symbols" },
  "modulation.identity_modulate": { from: "bits", puts: "symbols" },
  "modulation.learned_constellation": { from: "bits", puts: "symbols", outputs: ["symbols"] },
  "modulation.qpsk_pilot_modulate": { from: "bits", puts: "symbols", outputs: ["symbols"] },
  "demodulation.digital_demodulate": { from: "rx_symbols", takes: "symbols" },
  "demodulation.identity_demodulate": { from: "rx_symbols", takes: "symbols" },
  "demodulation.constellation_demapper": { from: "rx_symbols", takes: "symbols" },
  "demodulation.neural_receiver_adapter": { from: "rx_symbols", takes: "symbols" },
  "demodulation.phase_tracking_receiver_adapter": {
    from: "rx_symbols",
    takes: "symbols",
    outputs: ["bits", "llr"],
  },
}));

/** Layers that are channel codes. */
export const CODES: readonly LayerKind[] = [
  "repetition",
  "ldpc",
  "polar",
  "convolutional",
  "turbo",
  "table_ldpc",
  "small_block",
  "reed_solomon",
  "bch",
  "unequal",
];
/** Encoders and decoders of all families. */
export const [ENCODERS, DECODERS] = (["puts", "takes"] as const).map((effect) =>
  [...TRANSFORMS].flatMap(([op, transform]) =>
    transform[effect] !== undefined && CODES.includes(transform[effect]) ? [op] : []
  )
);

/** The transform of an operation, in which transmission without a code is a layer too: both its sides belong together. */
export const effectOf = (
  op: string,
): Omit<Transform, "puts" | "takes"> & { puts?: string; takes?: string } | undefined =>
  op === "channel.identity_encoder"
    ? { from: "bits", puts: "uncoded" }
    : op === "channel.identity_decoder"
    ? { from: "coded_bits", takes: "uncoded" }
    : TRANSFORMS.get(op);

/** Layers in words. */
export const WORDS: Record<LayerKind, string> = {
  packets: "packets",
  repetition: "repetition code",
  ldpc: "LDPC code",
  polar: "polar code",
  convolutional: "convolutional code",
  turbo: "turbo code",
  table_ldpc: "LDPC code of a table",
  small_block: "small block code",
  reed_solomon: "Reed-Solomon code",
  bch: "BCH code",
  interleaved: "interleaver",
  scrambled: "scrambler",
  unequal: "unequal error protection",
  distribution: "distribution of amplitudes",
  symbols: "modulation",
  pilots: "pilots",
};
