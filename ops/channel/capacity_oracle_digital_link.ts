/**
 * Capacity-bound digital link: an ideal code at AWGN capacity. n source bits take ceil(n / (ldpc_rate · 2)) complex
 * channel uses (QPSK carries 2 bits) and arrive without error if and only if n <= uses · log2(1 + snr); otherwise all
 * are lost: zeros of the same length, every source item failed. No decoder runs.
 *
 * Source: C. E. Shannon, A Mathematical Theory of Communication, 1948.
 */
import { BITS, BITS_ANY } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, float, z } from "../api.ts";
import { bitsArtifact, bitsOf, companionsOf, sourceItemCounts, travel } from "../../lib/artifact/values.ts";
import { declareUnit } from "../../lib/artifact/statistical_unit.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { notExported } from "../_backends.ts";
import { dataPlane, madeOn } from "../_data_plane.ts";

const QPSK_BITS_PER_SYMBOL = 2;

export default defineOperation({
  id: "channel.capacity_oracle_digital_link",
  name: "Capacity-bound digital link",
  description: "Theoretical reference that passes or loses all bits by comparing the rate with AWGN capacity",
  inputs: { bits: BITS_ANY },
  outputs: { bits: BITS },
  params: z.strictObject({
    channel: z.enum(["awgn"]).default("awgn").describe("channel of the bound: complex additive white Gaussian noise"),
    snr_db: z.number().default(12).describe("Es/N0 in dB, per complex channel use"),
    modulation: z.enum(["qpsk"]).default("qpsk").describe("two coded bits per channel use"),
    ldpc_rate: z.number().positive().max(1).default(0.5).describe("rate of the ideal code"),
    on_decode_failure: z.enum(["gray_image", "erasure", "report_outage"]).default("gray_image")
      .describe("record of an outage; the bits are zeros in any case"),
    label: z.string().default("capacity_oracle_awgn").describe("name of the link in the step row"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: notExported(
    "none",
    "none",
    "Theoretical reference for coded digital AWGN links; not differentiable",
  ),
  outputMetadataGuarantees: {
    bits: { from: "bits", keys: ["boundary_contract", "bit_count", "failed_item_indices", "link_outage"] },
  },
  nativeKernels: true,
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const sent = bitsOf(inputs.bits, kernels);
    const { metadata } = inputs.bits;
    // The subtraction prevents an additional channel use by rounding of the rate.
    const uses = Math.max(0, Math.ceil(sent.length / (params.ldpc_rate * QPSK_BITS_PER_SYMBOL) - 1e-9));
    const capacity = Math.log2(1 + dbToLinear(params.snr_db));
    const delivered = sent.length <= uses * capacity;
    const itemCount = sourceItemCounts(metadata, sent.length)?.length ?? 1;
    const kept = travel(metadata, {
      failed_item_indices: delivered ? [] : Array.from({ length: itemCount }, (_, item) => item),
      link_outage: !delivered,
      on_decode_failure: params.on_decode_failure,
      capacity_bits_per_channel_use: float(capacity),
      ...declareUnit(metadata, "source_item", { size: sent.length, total: sent.length }),
    });
    const received = madeOn(kernels, bitsArtifact(delivered ? sent : new Uint8Array(sent.length), kept));
    return {
      outputs: { bits: { ...received, companions: companionsOf(inputs.bits) } },
      metrics: {
        "channel.outage_rate": delivered ? 0 : 1,
        "channel.channel_use_count": BigInt(uses),
        "channel.snr_db": params.snr_db,
      },
      metadata: { label: params.label },
    };
  },
});
