/**
 * End-to-end digital link: modulation.digital_modulate, wireless.channel and demodulation.digital_demodulate in one
 * step, bits in and hard bits out. Draws as wireless.channel with the same preset; one fading gain per symbol.
 */
import { BITS, CODED_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation, z } from "../api.ts";
import { bitsArtifact, bitsOf, companionsOf, sourceItemCounts, travel } from "../../lib/artifact/values.ts";
import { BITS_PER_SYMBOL, MODULATIONS } from "../../lib/numeric/link/modulations.ts";
import { executed } from "../_backends.ts";
import { dataPlane, madeOn } from "../_data_plane.ts";
import { modulatedMetadata } from "../_symbol_items.ts";
import { checkBackend, PHYLIB_PRESETS } from "./_materializations.ts";
import {
  CHANNEL_DEFAULTS,
  checkCommon,
  noiseMetrics,
  PRESET_PARAMS,
  PRESETS,
  type PresetSettings,
  presetSettings,
} from "./_params.ts";
import { transmit } from "./_presets.ts";
import { channelRecord, fadingUnit } from "./_record.ts";

export default defineOperation({
  id: "wireless.digital_link",
  name: "End-to-end digital link",
  description: "Modulates, transmits over a channel preset and demodulates in one step",
  inputs: { bits: [PAYLOAD_BITS, CODED_BITS, BITS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    ...PRESET_PARAMS,
    modulation: z.enum(MODULATIONS).default("qpsk")
      .describe("Gray mapping of TS 38.211: 1, 2, 4, 6 or 8 bits per symbol"),
  }),
  materializations: [
    ...PRESETS.flatMap((channel) => executed("numpy", `numpy_${channel}`, { channel })),
    ...PHYLIB_PRESETS.flatMap((channel) => executed("phylib", `phylib_${channel}`, { channel })),
  ],
  outputMetadataGuarantees: {
    bits: { from: "bits", keys: ["boundary_contract", "bit_count", "noise_variance", "wireless_channel"] },
  },
  check: (params) => checkCommon(params),
  nativeKernels: ({ channel }) => channel === "awgn",
  async run(context) {
    const { inputs, params, generator, backend, threads } = context, kernels = await dataPlane(context);
    checkBackend(params.channel, backend);
    const sent = bitsOf(inputs.bits, kernels);
    const settings: PresetSettings = presetSettings({ ...params, ...CHANNEL_DEFAULTS }, threads);
    const modulated = kernels.modulate(sent, params.modulation, { threads });
    const layout = modulatedMetadata(
      inputs.bits.metadata,
      sent.length,
      params.modulation,
      BITS_PER_SYMBOL[params.modulation],
    );
    settings.sourceItems = sourceItemCounts(layout, modulated.length / 2);
    const { symbols, effectiveVariance, noiseVariance: variance } = transmit(modulated, settings, generator, kernels);
    const { bits } = kernels.demodulate(symbols, params.modulation, effectiveVariance ?? variance, { threads });
    const record = channelRecord({ ...params, ...CHANNEL_DEFAULTS }, backend, variance);
    const unit = fadingUnit(inputs.bits.metadata, modulated.length / 2, settings);
    const metadata = travel(inputs.bits.metadata, { ...record, ...unit, modulation: params.modulation });
    const received = madeOn(kernels, bitsArtifact(bits.slice(0, sent.length), metadata, "payload.bits"));
    return {
      outputs: { bits: { ...received, companions: companionsOf(inputs.bits) } },
      metrics: noiseMetrics(params, variance),
    };
  },
});
