/** Metrics of the link: errors, resources, and delivered payload. */
import { CONSTANT, family, higher, lower, neutral, RATE, TOTAL } from "./metric_rows.ts";

/** Places of bit comparison: anywhere, at the payload, or after the channel decoder's input. */
const PLACES = [["", ""], ["payload.", "Payload "], ["coded.", "Coded "]] as const;

const titled = (text: string) => text[0].toUpperCase() + text.slice(1);

const ERROR_RATES = PLACES.flatMap(([place, name]) => [
  lower(`${place}ber`, "fraction", titled(`${name}bit error rate`), {
    ...RATE,
    counts: { events: `channel.${place}error_count`, trials: `channel.${place}compare_bit_count` },
  }),
  lower(`${place}bler`, "fraction", titled(`${name}block error rate`), {
    ...RATE,
    counts: { events: `channel.${place}block_error_count`, trials: `channel.${place}block_count` },
  }),
]);

const ERROR_COUNTS = PLACES.flatMap(([place, name]) => [
  neutral(`${place}error_count`, "bits", titled(`${name}bits in error`), TOTAL),
  neutral(`${place}compare_bit_count`, "bits", titled(`${name}bits compared`), TOTAL),
  neutral(`${place}block_error_count`, "blocks", titled(`${name}blocks in error`), TOTAL),
  neutral(`${place}block_count`, "blocks", titled(`${name}blocks compared`), TOTAL),
]);

const PER_ELEMENT = "bit/resource_element";

export const CHANNEL_METRICS = family("channel", [
  ...ERROR_RATES,
  ...ERROR_COUNTS,
  neutral("snr_db", "dB", "Es/N0", CONSTANT),
  neutral("ebn0_db", "dB", "Eb/N0", CONSTANT),
  neutral("tx_effective_snr_db", "dB", "Es/N0 at the transmitted power"),
  neutral("tx_gain_db", "dB", "Gain of the transmit power stage"),
  neutral("noise_variance", "normalized_power", "Noise variance of a complex symbol"),
  higher("packet_success_rate", "fraction", "Packets that passed their checksum", RATE),
  lower("outage_rate", "fraction", "Source items lost", RATE),
  neutral("uses_per_pixel", "channel_uses/pixel", "Channel uses of a pixel"),
  neutral("code_rate", "ratio", "Code rate"),
  neutral("bits_per_symbol", "bit/symbol", "Bits of a symbol"),
  neutral("payload_bit_count", "bits", "Payload bits", TOTAL),
  neutral("transmitted_bit_count", "bits", "Bits transmitted", TOTAL),
  neutral("channel_use_count", "symbols", "Channel uses", TOTAL),
  lower("pilot_overhead_fraction", "fraction", "Share of channel uses spent on pilots"),
  higher("effective_payload_bits_per_channel_use", "bit/channel_use", "Payload bits of a channel use"),
  lower("carrier.cfo_abs_mean_cycles_per_symbol", "cycles/symbol", "Mean modulus of the carrier frequency offset"),
  lower("carrier.phase_rmse_rad", "rad", "Carrier phase RMSE"),
  higher("offered_payload_goodput_bits_per_resource_element", PER_ELEMENT, "Payload offered"),
  higher("achieved_payload_goodput_bits_per_resource_element", PER_ELEMENT, "Payload delivered"),
  higher("goodput_to_theoretical_shannon_efficiency_ratio", "ratio", "Payload delivered over Shannon efficiency"),
  higher("payload_energy_efficiency_bits_per_normalized_energy", "bit/normalized_energy", "Payload bits of an energy"),
  lower("tx_energy_per_delivered_payload_bit", "normalized_energy/bit", "Energy of a delivered payload bit"),
  lower("payload_delivery_block_error_rate", "fraction", "Payload blocks lost", RATE),
  higher("payload_delivery_success", "fraction", "Payloads delivered whole", RATE),
  neutral("scheduled_resource_element_count", "resource_elements", "Resource elements scheduled", TOTAL),
  neutral("data_bearing_resource_element_count", "resource_elements", "Resource elements that carry data", TOTAL),
  higher("resource_element_utilization", "fraction", "Share of scheduled elements that carry data"),
  neutral("awgn.capacity_bpp", "bit/pixel", "AWGN capacity of the channel uses of a pixel", CONSTANT),
  neutral("nr_ldpc_ofdm.transport_block_count", "blocks", "Transport blocks", TOTAL),
  neutral("nr_ldpc_ofdm.delivered_block_count", "blocks", "Transport blocks delivered", TOTAL),
  neutral("nr_ldpc_ofdm.crc_failure_count", "blocks", "Transport blocks that failed their CRC", TOTAL),
  lower("nr_ldpc_ofdm.block_error_rate", "fraction", "Transport block error rate", {
    ...RATE,
    counts: {
      events: "channel.nr_ldpc_ofdm.crc_failure_count",
      trials: "channel.nr_ldpc_ofdm.transport_block_count",
    },
  }),
  neutral("nr_ldpc_ofdm.offered_payload_bit_count", "bits", "Payload bits offered", TOTAL),
  neutral("nr_ldpc_ofdm.delivered_payload_bit_count", "bits", "Payload bits delivered", TOTAL),
  neutral("nr_ldpc_ofdm.occupied_data_resource_element_count", "resource_elements", "Data elements occupied", TOTAL),
  higher("nr_ldpc_ofdm.data_resource_element_utilization", "fraction", "Share of data elements occupied"),
  higher("nr_ldpc_ofdm.goodput_bits_per_resource_element", PER_ELEMENT, "Payload delivered by transport blocks"),
  lower("nr_ldpc_ofdm.energy_per_delivered_bit", "normalized_energy/bit", "Energy of a delivered bit"),
]);
