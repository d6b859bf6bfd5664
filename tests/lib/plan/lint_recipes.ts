/** Recipes that lint clean, to be spoilt one way each. */

export type Step = {
  op: string;
  params?: Record<string, unknown>;
  inputs?: Record<string, string>;
};
export type Steps = Record<string, Step>;
export type Recipe = {
  name: string;
  execution_profile: unknown;
  metadata: Record<string, unknown>;
  steps: ({ id: string } & Step)[];
};

const METADATA = { seed: 23, rate_count_fixed_point: "payload_bit_boundary.bits" };

/** Changes to steps: null leaves one out, members replace those of the step, unknown ids come last. */
export type Patch = Record<string, Partial<Step> | null>;

/** Moves or inserts: step id to the id it stands behind. */
export type Places = Record<string, string>;

function build(
  steps: Steps,
  profile: unknown,
  metadata: Record<string, unknown>,
  patch: Patch,
  places: Places,
): Recipe {
  const entries = Object.entries(steps).filter(([id]) => patch[id] !== null)
    .map(([id, step]): [string, Step] => [id, { ...step, ...patch[id] }]);
  for (const [id, step] of Object.entries(patch)) {
    if (step !== null && !Object.hasOwn(steps, id)) entries.push([id, step as Step]);
  }
  for (const [id, behind] of Object.entries(places)) {
    const [moved] = entries.splice(entries.findIndex(([name]) => name === id), 1);
    entries.splice(entries.findIndex(([name]) => name === behind) + 1, 0, moved);
  }
  return {
    name: "spoilt",
    execution_profile: profile,
    metadata: { ...METADATA, ...metadata },
    steps: entries.map(([id, step]) => ({ id, ...step })),
  };
}

const FRONT: Steps = {
  data: { op: "source.random_bits", params: { bit_count: 64, batch_size: 2 } },
  payload_bit_boundary: { op: "channel.bit_boundary", inputs: { bits: "data.bits" } },
};
const BACK: Steps = {
  channel_bit_count_match: {
    op: "channel.bit_count_match",
    inputs: { reference: "tx_bit_boundary.bits", candidate: "rx_bit_boundary.bits" },
  },
};

/** Packets, repetition, QPSK, AWGN and back. */
const LAYERED: Steps = {
  ...FRONT,
  packetizer: {
    op: "channel.packetize_crc32",
    params: { packet_payload_bits: 64 },
    inputs: { bits: "payload_bit_boundary.bits" },
  },
  channel_encoder: {
    op: "channel.repetition_encoder",
    params: { factor: 3 },
    inputs: { bits: "packetizer.bits" },
  },
  tx_bit_boundary: { op: "channel.bit_boundary", inputs: { bits: "channel_encoder.coded_bits" } },
  modulator: { op: "modulation.digital_modulate", inputs: { bits: "tx_bit_boundary.bits" } },
  tx_power: { op: "channel.symbol_power_normalize", inputs: { symbols: "modulator.symbols" } },
  wireless_channel: { op: "wireless.channel", params: { snr_db: 6.5 }, inputs: { symbols: "tx_power.symbols" } },
  demodulator: { op: "demodulation.digital_demodulate", inputs: { rx_symbols: "wireless_channel.rx_symbols" } },
  rx_bit_boundary: { op: "channel.bit_boundary", inputs: { bits: "demodulator.bits" } },
  ...BACK,
  channel_decoder: { op: "channel.repetition_decoder", inputs: { coded_bits: "rx_bit_boundary.bits" } },
  crc_check: { op: "channel.crc32_check", inputs: { bits: "channel_decoder.bits" } },
  evaluation: {
    op: "metrics.bit_error_rate",
    inputs: { reference: "data.bits", candidate: "crc_check.bits" },
  },
  resources: {
    op: "channel.communication_resource_accounting",
    inputs: {
      payload_bits: "payload_bit_boundary.bits",
      framed_bits: "packetizer.bits",
      coded_bits: "tx_bit_boundary.bits",
      symbols: "tx_power.symbols",
    },
  },
};

/** A protected digital link. */
export const layered = (patch: Patch = {}, places: Places = {}, metadata: Record<string, unknown> = {}): Recipe =>
  build(LAYERED, "layered_digital", metadata, patch, places);

/** The same steps without a claim. */
export const custom = (patch: Patch = {}, places: Places = {}, metadata: Record<string, unknown> = {}): Recipe =>
  build(LAYERED, "custom", metadata, patch, places);

/** NR LDPC with allocated power over delayed channel knowledge. */
const ALLOCATED: Steps = {
  ...FRONT,
  channel_encoder: { op: "channel.nr_ldpc_encoder", inputs: { bits: "payload_bit_boundary.bits" } },
  tx_bit_boundary: { op: "channel.bit_boundary", inputs: { bits: "channel_encoder.coded_bits" } },
  modulator: { op: "modulation.digital_modulate", inputs: { bits: "tx_bit_boundary.bits" } },
  channel_state: { op: "wireless.ofdm_channel_state", inputs: { symbols: "modulator.symbols" } },
  csi_observation: { op: "wireless.ofdm_delayed_csi", inputs: { state: "channel_state.state" } },
  tx_power: {
    op: "model.causal_csi_power_allocator",
    params: { policy: "causal_ar_water_filling" },
    inputs: { symbols: "channel_state.symbols", channel_state: "csi_observation.transmitter_csi" },
  },
  wireless_channel: {
    op: "wireless.channel",
    params: { channel: "ofdm_tdl", channel_state_mode: "explicit", snr_db: 6.5 },
    inputs: { symbols: "tx_power.symbols", channel_state: "csi_observation.actual_state" },
  },
  demodulator: {
    op: "demodulation.digital_demodulate",
    inputs: {
      rx_symbols: "wireless_channel.rx_symbols",
      allocation: "tx_power.allocation",
      channel_state: "csi_observation.actual_state",
    },
  },
  rx_bit_boundary: { op: "channel.bit_boundary", inputs: { bits: "demodulator.bits" } },
  ...BACK,
  channel_decoder: { op: "channel.nr_ldpc_decoder", inputs: { llr: "demodulator.llr" } },
  evaluation: {
    op: "metrics.bit_error_rate",
    inputs: { reference: "data.bits", candidate: "channel_decoder.bits" },
  },
  delivery: {
    op: "metrics.nr_ldpc_ofdm_delivery",
    inputs: {
      actual_state: "csi_observation.actual_state",
      allocation: "tx_power.allocation",
      decoded_payload: "channel_decoder.bits",
      decoder_report: "channel_decoder.report",
      reference_payload: "payload_bit_boundary.bits",
      tx_symbols: "tx_power.symbols",
    },
  },
};
export const allocated = (patch: Patch = {}, places: Places = {}): Recipe =>
  build(ALLOCATED, "layered_digital", {}, patch, places);

/** A bit link: nothing between the boundaries but the channel. */
const BITS_ONLY: Steps = {
  ...FRONT,
  channel_encoder: { op: "channel.identity_encoder", inputs: { bits: "payload_bit_boundary.bits" } },
  tx_bit_boundary: { op: "channel.bit_boundary", inputs: { bits: "channel_encoder.coded_bits" } },
  wireless_channel: { op: "channel.identity_link", inputs: { bits: "tx_bit_boundary.bits" } },
  rx_bit_boundary: { op: "channel.bit_boundary", inputs: { bits: "wireless_channel.bits" } },
  ...BACK,
  channel_decoder: { op: "channel.identity_decoder", inputs: { coded_bits: "rx_bit_boundary.bits" } },
  evaluation: {
    op: "metrics.bit_error_rate",
    inputs: { reference: "data.bits", candidate: "channel_decoder.bits" },
  },
};
export const bitLink = (patch: Patch = {}, places: Places = {}, metadata: Record<string, unknown> = {}): Recipe =>
  build(BITS_ONLY, "layered_digital", metadata, patch, places);

/** A joint code on symbols. */
const JOINT: Steps = {
  data: { op: "source.image_dataset", params: { dataset: "svc_sample_images", image_ids: "coffee" } },
  sender: { op: "model.deepjscc_external_encode", inputs: { images: "data.images" } },
  tx_power: { op: "channel.symbol_power_normalize", inputs: { symbols: "sender.symbols" } },
  tx_symbol_boundary: { op: "channel.symbol_boundary", inputs: { symbols: "tx_power.symbols" } },
  wireless_channel: {
    op: "wireless.channel",
    params: { snr_db: 6.5 },
    inputs: { symbols: "tx_symbol_boundary.symbols" },
  },
  rx_symbol_boundary: { op: "channel.symbol_boundary", inputs: { symbols: "wireless_channel.rx_symbols" } },
  channel_symbol_count_match: {
    op: "channel.symbol_count_match",
    inputs: { reference: "tx_symbol_boundary.symbols", candidate: "rx_symbol_boundary.symbols" },
  },
  receiver: { op: "model.deepjscc_external_decode", inputs: { symbols: "rx_symbol_boundary.symbols" } },
  evaluation: {
    op: "metrics.image_reconstruction",
    inputs: { reference: "data.images", reconstruction: "receiver.images" },
  },
};
export const joint = (patch: Patch = {}, places: Places = {}): Recipe =>
  build(
    JOINT,
    "joint_source_channel_symbols",
    { rate_count_fixed_point: "tx_symbol_boundary.symbols" },
    patch,
    places,
  );

/** Pictures and nothing else, for models. */
export const pictures = (patch: Patch, metadata: Record<string, unknown> = {}): Recipe =>
  build({ data: JOINT.data }, "custom", { rate_count_fixed_point: "data.images", ...metadata }, patch, {});
