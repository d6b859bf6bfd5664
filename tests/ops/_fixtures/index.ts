/** What the conformance suite runs every operation with. An operation without an entry fails it; a skip says why. */
import { crc32 } from "node:zlib";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { packBits, unpackBits } from "../../../lib/numeric/array/bit_packing.ts";
import { arrayInput, bitsInput, payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { ALLOCATION_FIXTURES } from "./allocation.ts";
import { AOA_FIXTURES } from "./aoa.ts";
import { CODECLIB_FIXTURES } from "./codeclib.ts";
import { CHANNEL_ESTIMATION_FIXTURES } from "./channel_estimation.ts";
import { CSI_FEEDBACK_FIXTURES } from "./csi_feedback.ts";
import { DEEPJSCC_FIXTURES } from "./deepjscc.ts";
import { IMPORTANCE_FIXTURES } from "./importance.ts";
import { ISAC_FIXTURES } from "./isac.ts";
import { JPEG_FIXTURES } from "./jpeg.ts";
import { LEO_FIXTURES } from "./leo.ts";
import { LINEAR_ANALOG_FIXTURES } from "./linear_analog.ts";
import { LOCALIZATION_FIXTURES } from "./localization.ts";
import { MEANING_FIXTURES } from "./meaning.ts";
import { MEDIA_FIXTURES } from "./media.ts";
import { NEAR_FIELD_FIXTURES } from "./near_field.ts";
import { MODULATION_FIXTURES } from "./modulation.ts";
import { NR_LDPC_FIXTURES } from "./nr_ldpc.ts";
import { MU_MIMO_FIXTURES } from "./mu_mimo.ts";
import { NR_POLAR_FIXTURES } from "./nr_polar.ts";
import { OFDM_PILOT_FIXTURES } from "./ofdm_pilots.ts";
import { PHYSICAL_FIXTURES } from "./physical.ts";
import { POWER_FIXTURES } from "./power.ts";
import { RIS_FIXTURES } from "./ris.ts";
import { SEMANTIC_FIXTURES } from "./semantic.ts";
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { VISION_FIXTURES } from "./vision.ts";

const ITEMS = { source_item_counts: [24, 40] };
const bits = () => ({ bits: payloadInput(someBits(64), ITEMS) });
const coded = (metadata: JsonObject = {}) => ({ coded_bits: bitsInput(someBits(63), metadata) });
const QPSK = { modulation: "qpsk", bits_per_symbol: 2, modulation_padding_bits: 0 };
const symbols = () => ({ symbols: symbolsInput(32, { ...QPSK, source_item_counts: [12, 20] }) });
const received = (metadata: JsonObject) => ({ rx_symbols: symbolsInput(32, { noise_variance: 0.1, ...metadata }) });
const pair = () => ({ candidate: bitsInput(someBits(64, 2)), reference: bitsInput(someBits(64)) });
const plain: ConformanceCase[] = [{ inputs: bits }];
const symbolCases: ConformanceCase[] = [{ inputs: symbols }];

function link(framedKind: string) {
  return {
    payload_bits: payloadInput(someBits(40)),
    framed_bits: bitsInput(someBits(64), {}, framedKind),
    coded_bits: bitsInput(someBits(64), {}, "channel.coded_bits.numpy"),
    symbols: symbolsInput(32, QPSK),
  };
}

/** One packet of one payload byte, as channel.packetize_crc32 lays it out. */
function packet() {
  const bytes = Uint8Array.fromHex("04010000000000000000000800" + "00000000");
  bytes[12] = 0x5a;
  new DataView(bytes.buffer).setUint32(13, crc32(bytes.subarray(0, 13)));
  return payloadInput(unpackBits(bytes), {
    packet_protocol: "svc.source_item_crc32.v4",
    packet_total_bits: 136,
    packet_source_item_counts: [1],
    packet_crc_reference: "received_crc_only",
  });
}

function manifest() {
  const packed = packBits(someBits(12));
  const item = { id: "a", bit_count: 12, bits_hex: packed.toHex(), sha256: sha256Hex(packed) };
  return canonicalJson({ schema_version: 1, kind: "svc.bit_payload_manifest", items: [item], selections: {} });
}

const CHANNEL_PATH: Record<string, ConformanceCase[]> = {
  "channel.bit_boundary": plain,
  "channel.bit_count_match": [{ inputs: pair }],
  "channel.bits_to_indices": [{
    inputs: () => ({ bits: payloadInput(someBits(64), { codebook_size: 9, index_shape: [4, 4] }) }),
  }],
  "channel.bits_to_latents": [{
    inputs: () => ({ bits: payloadInput(someBits(64), { latent_dtype: "float16", latent_shape: [2, 2] }) }),
  }],
  "channel.capacity_oracle_digital_link": [{ inputs: bits }, { name: "outage", inputs: bits, params: { snr_db: -10 } }],
  "channel.communication_resource_accounting": [{ inputs: () => link("channel.payload_bits.numpy") }],
  "channel.communication_resource_accounting.v2": [{ inputs: () => link("channel.framed_bits.numpy") }],
  "channel.communication_resource_accounting.v3": [{
    inputs: () => ({
      ...link("channel.payload_bits.numpy"),
      delivered_bits: payloadInput(someBits(40), { failed_item_indices: [] }),
    }),
  }],
  "channel.crc32_check": [{ inputs: () => ({ bits: packet() }) }],
  "channel.identity_decoder": [{ inputs: coded }],
  "channel.identity_encoder": plain,
  "channel.identity_link": plain,
  "channel.identity_symbol_link": symbolCases,
  "channel.indices_to_bits": [{
    inputs: () => ({
      indices: arrayInput("semantic.indices.numpy", "int64", BigInt64Array.of(1n, 8n, 0n), [3], { codebook_size: 9 }),
    }),
  }],
  "channel.latents_to_bits": [{
    inputs: () => ({ latents: arrayInput("semantic.latents.numpy", "float32", Float32Array.of(1, -0.5), [1, 2]) }),
  }],
  "channel.packetize_crc32": plain,
  "channel.packetize_crc32.v2": plain,
  "channel.payload_passthrough_decoder": plain,
  "channel.payload_passthrough_encoder": plain,
  "channel.repetition_decoder": [{ inputs: () => coded({ repetition_factor: 3 }) }, {
    inputs: coded,
    params: { factor: 7 },
  }],
  "channel.repetition_encoder": plain,
  "channel.symbol_boundary": symbolCases,
  "channel.symbol_count_match": [{ inputs: () => ({ candidate: symbolsInput(4), reference: symbolsInput(5) }) }],
  "channel.symbol_power_identity": symbolCases,
  "channel.symbol_power_normalize": ["source_item", "global"].map((normalization_scope) => ({
    inputs: symbols,
    params: { normalization_scope, target_power: 2 },
  })),
  "demodulation.digital_demodulate": [
    { inputs: () => received(QPSK) },
    ...["bpsk", "qpsk", "qam16", "qam64", "qam256"].map((modulation) => ({
      inputs: () => received({}),
      params: { modulation },
    })),
    { name: "exact", inputs: () => received({}), params: { modulation: "qam256", llr_method: "exact" } },
    {
      name: "with an allocation",
      inputs: () => ({
        ...received(QPSK),
        allocation: arrayInput(
          "channel.power_allocation.numpy",
          "float32",
          Float32Array.from({ length: 32 }, (_, i) => i % 3),
          [2, 16],
        ),
      }),
    },
  ],
  "demodulation.identity_demodulate": [{ inputs: () => received({}) }],
  "metrics.bit_error_rate": [{ inputs: pair }],
  "metrics.block_error_rate": [{ inputs: pair, params: { block_size: 10 } }],
  "modulation.digital_modulate": [
    ...["bpsk", "qpsk", "qam16", "qam64", "qam256"].map((modulation) => ({ inputs: bits, params: { modulation } })),
    {
      name: "auto",
      inputs: () => ({ bits: payloadInput(someBits(64), { nr_ldpc: { num_bits_per_symbol: 4 } }) }),
      params: { modulation: "auto" },
    },
  ],
  "modulation.identity_modulate": plain,
  "source.bit_manifest": [{
    params: { manifest_path: "bits.json", manifest_sha256: sha256Hex(manifest()) },
    files: () => ({ "bits.json": manifest() }),
  }],
  "source.random_bits": [{ params: { bit_count: 100, batch_size: 3 } }],
};

/** Contracts that adapters wrap; what wraps them is run by the tests of the scaffolds. */
const WRAPPED = Object.fromEntries(
  [
    ...["bits", "indices", "latents"].flatMap((
      form,
    ) => [`model.external_encode_${form}`, `model.external_decode_${form}`]),
    "model.external_read_texts",
    "source.external_classification_dataset",
    "metrics.external_classification",
    "source.external_texts",
    "metrics.external_text",
  ].map((id) => [id, { skip: "a contract that adapters wrap runs no code itself" }]),
);

export const FIXTURES: Record<string, readonly ConformanceCase[] | { skip: string }> = {
  ...CHANNEL_PATH,
  ...ALLOCATION_FIXTURES,
  ...AOA_FIXTURES,
  ...IMPORTANCE_FIXTURES,
  ...ISAC_FIXTURES,
  ...CHANNEL_ESTIMATION_FIXTURES,
  ...CODECLIB_FIXTURES,
  ...NEAR_FIELD_FIXTURES,
  ...LEO_FIXTURES,
  ...CSI_FEEDBACK_FIXTURES,
  ...DEEPJSCC_FIXTURES,
  ...JPEG_FIXTURES,
  ...MEANING_FIXTURES,
  ...MEDIA_FIXTURES,
  ...MODULATION_FIXTURES,
  ...MU_MIMO_FIXTURES,
  ...NR_LDPC_FIXTURES,
  ...NR_POLAR_FIXTURES,
  ...OFDM_PILOT_FIXTURES,
  ...PHYSICAL_FIXTURES,
  ...LINEAR_ANALOG_FIXTURES,
  ...LOCALIZATION_FIXTURES,
  ...POWER_FIXTURES,
  ...RIS_FIXTURES,
  ...SEMANTIC_FIXTURES,
  ...VISION_FIXTURES,
  ...WRAPPED,
};
