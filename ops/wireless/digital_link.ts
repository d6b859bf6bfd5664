/**
 * End-to-end digital link: modulation.digital_modulate, wireless.channel and demodulation.digital_demodulate in one step,
 * bits in and hard bits out. Draws as wireless.channel with the same preset; a fading gain per symbol.
 */
import { BITS, CODED_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { bitsArtifact, bitsOf, companionsOf, travel } from "../../lib/artifact/values.ts";
import { demodulateLlr, hardBits, modulate } from "../../lib/numeric/modulation.ts";
import { executed } from "../_backends.ts";
import { AVAILABLE, PHYSICAL_LAYER_NOTE } from "./_materializations.ts";
import { checkCommon, COMMON_PARAMS, noiseVariance, PRESETS } from "./_params.ts";
import { transmit } from "./_presets.ts";
import { channelRecord } from "./_record.ts";

const planned = { status: "planned", notes: PHYSICAL_LAYER_NOTE } as const;

export default defineOperation({
  id: "wireless.digital_link",
  name: "End-to-end digital link",
  description: "Modulates, transmits over a channel preset and demodulates in one step",
  inputs: { bits: [PAYLOAD_BITS, CODED_BITS, BITS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    ...COMMON_PARAMS,
    modulation: z.enum(["bpsk", "qpsk", "qam16"]).default("qpsk"),
  }),
  backends: { benchmark_run: ["numpy", "phylib"], dataset_capture: ["numpy", "phylib"] },
  materializations: [
    ...PRESETS.flatMap((channel) =>
      executed("numpy", `numpy_${channel}`, { channel }, AVAILABLE.includes(channel) ? {} : planned)
    ),
    ...executed("phylib", "phylib_link", {}, planned),
  ],
  outputMetadataGuarantees: {
    bits: { from: "bits", keys: ["boundary_contract", "bit_count", "noise_variance", "wireless_channel"] },
  },
  check: checkCommon,
  threadSafe: true,
  run({ inputs, params, generator, backend }) {
    const sent = bitsOf(inputs.bits);
    const { symbols, effectiveVariance, noiseVariance: variance } = transmit(modulate(sent, params.modulation), {
      channel: params.channel,
      noiseVariance: noiseVariance(params),
      equalise: params.receiver_processing === "matched",
      interferers: params.interferers,
      interferenceSirDb: params.interference_sir_db,
    }, generator);
    const bits = hardBits(demodulateLlr(symbols, params.modulation, effectiveVariance ?? variance));
    const record = channelRecord({ ...params, fading_scope: "symbol" }, backend, variance);
    const metadata = travel(inputs.bits.metadata, { ...record, modulation: params.modulation });
    const received = bitsArtifact(bits.slice(0, sent.length), metadata, "payload.bits");
    return {
      outputs: { bits: { ...received, companions: companionsOf(inputs.bits) } },
      metrics: {
        "channel.noise_variance": variance,
        ...(params.noise_mode === "snr_at_unit_power" ? { "channel.snr_db": params.snr_db } : {}),
      },
    };
  },
});
