/** Conformance cases of bits, symbols and the operations between them. */
import { crc32 } from "node:zlib";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { packBits, unpackBits } from "../../../lib/numeric/array/bit_packing.ts";
import { arrayInput, bitsInput, payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

const ITEMS = { source_item_counts: [24, 40] };
const bits = () => ({ bits: payloadInput(someBits(64), ITEMS) });
const coded = (metadata: JsonObject = {}) => ({ coded_bits: bitsInput(someBits(63), metadata) });
const QPSK = { modulation: "qpsk", bits_per_symbol: 2, modulation_padding_bits: 0 };
const symbols = () => ({ symbols: symbolsInput(32, { ...QPSK, source_item_counts: [12, 20] }) });
const received = (metadata: JsonObject) => ({ rx_symbols: symbolsInput(32, { noise_variance: 0.1, ...metadata }) });
const pair = () => ({ candidate: bitsInput(someBits(64, 2)), reference: bitsInput(someBits(64)) });

function equalised() {
  const noise_variance = ndarray("float32", Float32Array.from({ length: 32 }, (_, i) => 0.1 + i));
  const channel_gain = ndarray("complex64", Float32Array.from({ length: 64 }, (_, i) => i));
  return symbolsInput(32, { modulation_padding_bits: 3 }, { companions: { noise_variance, channel_gain } });
}

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

export const CHANNEL_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    bits,
    pair,
    "shaped bits": () => ({
      bits: payloadInput(someBits(64), {
        ...ITEMS,
        distribution_match: { parameters: { modulation: "qam16" }, amplitude_shares: [0.25, 0.75] },
      }),
    }),
    "bits of indices": () => ({
      bits: payloadInput(someBits(64), { codebook_size: 9, index_shape: [4, 4] }),
    }),
    "bits of latents": () => ({
      bits: payloadInput(someBits(64), { latent_dtype: "float16", latent_shape: [2, 2] }),
    }),
    "payload link": () => link("channel.payload_bits.numpy"),
    "framed link": () => link("channel.framed_bits.numpy"),
    "delivered link": () => ({
      ...link("channel.payload_bits.numpy"),
      delivered_bits: payloadInput(someBits(40), { failed_item_indices: [] }),
    }),
    packet: () => ({ bits: packet() }),
    coded,
    symbols,
    indices: () => ({
      indices: arrayInput("semantic.indices.numpy", "int64", BigInt64Array.of(1n, 8n, 0n), [3], { codebook_size: 9 }),
    }),
    latents: () => ({
      latents: arrayInput("semantic.latents.numpy", "float32", Float32Array.of(1, -0.5), [1, 2]),
    }),
    repeated: () => coded({ repetition_factor: 3 }),
    "unequal counts": () => ({ candidate: symbolsInput(4), reference: symbolsInput(5) }),
    "pair in packets": () => {
      const unit = { statistical_unit: "source_item", statistical_unit_layout: { counts: [30, 4, 30] } };
      return { candidate: bitsInput(someBits(64, 2), unit), reference: bitsInput(someBits(64)) };
    },
    equalised: () => ({ rx_symbols: equalised() }),
    "equalised at the boundary": () => ({ symbols: equalised() }),
    "received QPSK": () => received(QPSK),
    received: () => received({}),
    "received with an allocation": () => ({
      ...received(QPSK),
      allocation: arrayInput(
        "channel.power_allocation.numpy",
        "float32",
        Float32Array.from({ length: 32 }, (_, i) => i % 3),
        [2, 16],
      ),
    }),
    "bits for 16QAM": () => ({
      bits: payloadInput(someBits(64), { nr_ldpc: { num_bits_per_symbol: 4 } }),
    }),
  },
  files: {
    "bits.json": () => ({ "bits.json": manifest() }),
  },
});
