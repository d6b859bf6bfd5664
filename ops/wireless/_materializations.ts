/** Materialisations of wireless.channel. */
import { type Materialization, SvcError } from "../api.ts";
import { executed, exported } from "../_backends.ts";
import { OFDM_PRESETS, type Preset, PRESETS, UNPROCESSED } from "./_params.ts";

/** Presets of phylib without a channel state. */
export const PHYLIB_PRESETS = ["awgn", "flat_rayleigh", "mimo_flat"] as const;

const bindings = (channel: Preset, receiver_processing: string, channel_state_mode = "none") => ({
  channel,
  channel_state_mode,
  receiver_processing,
});

const NUMPY: Materialization[] = [
  ...PRESETS.flatMap((preset) => executed("numpy", `numpy_${preset}_matched`, bindings(preset, "matched"))),
  ...UNPROCESSED.flatMap((preset) => executed("numpy", `numpy_${preset}_unprocessed`, bindings(preset, "none"))),
];

const UNPROCESSED_OFDM: Materialization[] = OFDM_PRESETS.flatMap((preset) =>
  executed("numpy", `numpy_${preset}_unprocessed`, bindings(preset, "none"))
);

const PHYLIB: Materialization[] = [
  ...PHYLIB_PRESETS.flatMap((preset) =>
    executed("phylib", `phylib_${preset}_matched_artifact`, bindings(preset, "matched"))
  ),
  ...(["awgn", "flat_rayleigh"] as const).flatMap((preset) =>
    executed("phylib", `phylib_${preset}_unprocessed_artifact`, bindings(preset, "none"))
  ),
  ...executed("phylib", "phylib_explicit_tdl_ofdm_matched_artifact", bindings("ofdm_tdl", "matched", "explicit")),
];

const torch = (preset: Preset, processing: string, mode = "none") =>
  exported("torch", `torch_${mode === "none" ? "" : `${mode}_`}${preset}_${processing}_module`, {
    ...bindings(preset, processing, mode),
    wireless_backend: "auto",
  });
const EXPORT: Materialization[] = [
  ...PRESETS.map((preset) => torch(preset, "matched")),
  ...[...UNPROCESSED, ...OFDM_PRESETS].map((preset) => torch(preset, "none")),
  torch("ofdm_tdl", "matched", "explicit"),
  ...(["awgn", "flat_rayleigh"] as const).flatMap((preset) =>
    ["matched", "none"].map((processing) =>
      exported("phylib", `phylib_${preset}_${processing}_pytorch_module`, bindings(preset, processing))
    )
  ),
];

/**
 * Checks that a backend supports a channel. The planner has checked it before; there is no fallback.
 * @throws SvcError `channel_backend_unsupported`
 */
export function checkBackend(channel: Preset, backend: string, explicit = false): void {
  const there = backend !== "phylib"
    ? !explicit
    : explicit
    ? channel === "ofdm_tdl"
    : PHYLIB_PRESETS.some((preset) => preset === channel);
  if (there) return;
  const what = explicit ? `${channel} with an explicit channel state` : channel;
  throw new SvcError("channel_backend_unsupported", `Cannot run ${what} on ${backend}`, {
    hint: `phylib has ${PHYLIB_PRESETS.join(", ")}, and ofdm_tdl with an explicit state; numpy has every preset`,
  });
}

export const CHANNEL_MATERIALIZATIONS: readonly Materialization[] = [
  ...NUMPY,
  ...PHYLIB,
  ...EXPORT,
  ...UNPROCESSED_OFDM,
];
