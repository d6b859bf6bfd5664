/**
 * Decoder of the NR polar codes: rate recovery and CRC-aided list decoding. Of the list_size paths of smallest metric, the
 * best whose CRC holds is delivered; list_size 1 is successive cancellation. The code parameters are the metadata that
 * channel.nr_polar_encoder wrote; its RNTI is removed from the CRC.
 *
 * f = sign(a) sign(b) min(|a|, |b|) for min_sum, 2 atanh(tanh(a/2) tanh(b/2)) for exact; g = b + (1-2u) a. A decision u
 * against the sign of λ adds |λ| to the path metric, for exact any decision adds ln(1 + e^(-(1-2u) λ)). Repeated values add
 * up, punctured bits have the value 0, shortened bits 10⁴. A message of two segments is delivered if both CRCs hold.
 *
 * Shapes: llr float32 [blocks · E], positive for bit 0 -> bits uint8 [n].
 *
 * Source: Tal and Vardy, IEEE Transactions on Information Theory 61, 2015; Balatsoukas-Stimming, Parizi and Burg, IEEE
 * Transactions on Signal Processing 63, 2015; 3GPP TS 38.212.
 */
import { LLR, PAYLOAD_BITS, REPORT } from "../../lib/contract/kinds.ts";
import { defineOperation, float, SvcError, z } from "../api.ts";
import { bitsArtifact, companionsOf, reportResult, travel } from "../../lib/artifact/values.ts";
import { declareUnit, rateCounts } from "../../lib/artifact/statistical_unit.ts";
import { rateMetadata } from "../../lib/contract/metric_metadata.ts";
import { CHECK_NODES } from "../../lib/numeric/coding/polar/list_reference.ts";
import { notExported } from "../_backends.ts";
import { valuesOf } from "./_nr_ldpc.ts";
import { NR_POLAR_KEY, readStream } from "./_nr_polar.ts";

const BLER = "channel.payload_delivery_block_error_rate";

export default defineOperation({
  id: "channel.nr_polar_decoder",
  name: "NR polar list decode",
  description: "Decodes 5G NR polar codes by CRC-aided successive-cancellation lists and reports the CRCs",
  inputs: { llr: [LLR] },
  outputs: { bits: PAYLOAD_BITS, report: REPORT },
  params: z.strictObject({
    list_size: z.literal([1, 2, 4, 8, 16, 32]).default(8).describe("paths; 1 is successive cancellation"),
    check_node: z.enum(CHECK_NODES).default("min_sum").describe("check node rule; exact is slower by two orders"),
    on_crc_failure: z.enum(["zero_fill", "keep_estimate", "raise"]).default("zero_fill")
      .describe("payload of a block whose CRC fails: zeros, or the path of smallest metric; raise fails the step"),
  }),
  differentiability: notExported("torch", "stop", "Hard bits and CRC decisions"),
  inputMetadataRequirements: { llr: { all_of: [NR_POLAR_KEY] } },
  outputMetadataGuarantees: {
    bits: {
      from: "llr",
      keys: ["boundary_contract", "bit_count", "decoder_implementation", "failed_block_indices"],
    },
    report: { keys: ["decoder_implementation"] },
  },
  // At most a payload bit for each log-likelihood ratio.
  estimate: (_params, { llr: { bytes } }) => ({ bits: bytes / 4 }),
  threadSafe: true,
  async run({ inputs, params, progress }) {
    const { decodePolar, POLAR_DECODER } = await import("../../lib/numeric/coding/polar/decoder.ts");
    const { metadata } = inputs.llr, { code, rnti, blockCount, paddingBits, itemCounts } = readStream(metadata);
    const { payloadBits: size, codedBits: sent } = code, llr = valuesOf(inputs.llr, blockCount * sent);
    if (!llr.every(Number.isFinite)) {
      throw new SvcError("boundary_non_finite", "Cannot decode log-likelihood ratios that are infinite");
    }
    const bits = new Uint8Array(blockCount * size), passed: boolean[] = [];
    const options = { listSize: params.list_size, checkNode: params.check_node, rnti };
    let ranks = 0;
    for (let index = 0; index < blockCount; index++) {
      const block = decodePolar(llr.subarray(index * sent, (index + 1) * sent), code, options);
      passed.push(block.crcPassed);
      if (!block.crcPassed && params.on_crc_failure === "raise") {
        throw new SvcError("tb_crc_failed", `Cannot deliver message ${index} of ${blockCount}: its CRC fails`, {
          hint: "Raise snr_db, coded_bits or list_size, or set on_crc_failure to zero_fill or keep_estimate",
        });
      }
      if (block.crcPassed || params.on_crc_failure === "keep_estimate") bits.set(block.bits, index * size);
      ranks += block.rank;
      progress(index + 1, blockCount, { phase: "decode", unit: "blocks" });
    }
    const payloadBits = bits.length - paddingBits, decoder_implementation = POLAR_DECODER;
    const failed = passed.flatMap((crcPassed, index) => (crcPassed ? [] : [index]));
    const decoded = travel(metadata, {
      decoder_implementation,
      failed_block_indices: failed,
      ...(itemCounts === undefined ? {} : { source_item_counts: [...itemCounts] }),
      ...declareUnit(metadata, "transport_block", { size, total: payloadBits }),
    }, [NR_POLAR_KEY, "source_item_counts"]);
    const { outputs: { report }, metrics } = reportResult(
      "channel.nr_polar_decoder",
      blockCount === 0 ? {} : { [BLER]: failed.length / blockCount },
      {
        facts: {
          block_count: blockCount,
          crc_pass_count: blockCount - failed.length,
          crc_passed: passed,
          on_crc_failure: params.on_crc_failure,
          payload_bits: payloadBits,
          ...(blockCount === 0 ? {} : { mean_list_rank: float(ranks / blockCount) }),
        },
        metadata: { decoder_implementation },
      },
    );
    const payload = bitsArtifact(bits.subarray(0, payloadBits), decoded, "payload.bits");
    const lost = rateCounts(passed.map((crcPassed) => crcPassed ? 0 : 1), metadata, "transport_block");
    return {
      outputs: { bits: { ...payload, companions: companionsOf(inputs.llr) }, report },
      metrics,
      metadata: { decoder_implementation, ...rateMetadata({ [BLER]: lost }) },
    };
  },
});
