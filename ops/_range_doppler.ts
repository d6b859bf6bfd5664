/**
 * Artifacts of OFDM radar. An echo holds Y complex64 [example, subcarrier, symbol] with the companion `reference` X of the same
 * shape; a truth and an estimate hold range in m and velocity in m/s (positive: approaching), float64 [example, target, 2],
 * with the companion `power` float64 [example, target]. A row of an estimate with the power 0 is no detection. Truths list
 * targets in any order, estimates by falling power. Formulas: lib/numeric/antenna/range_doppler.ts.
 */
import { metadataNumber, metadataOf } from "../lib/artifact/values.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import { float, type InputArtifact, type JsonObject, type OutputArtifact } from "./api.ts";
import { ndarray } from "../lib/numeric/array/ndarray.ts";
import type { EchoFrame } from "../lib/numeric/antenna/range_doppler.ts";

export const OFDM_ECHO = artifactKind("isac.ofdm_echo.numpy", {
  example_count: "count",
  subcarrier_spacing_hz: "positive",
  symbol_duration_s: "positive",
  carrier_frequency_hz: "positive",
  noise_variance: "number",
});
export const ECHO_TRUTH = artifactKind("isac.range_velocity_truth.numpy", { example_count: "count" });
export const ECHO_ESTIMATE = artifactKind("isac.range_velocity_estimate.numpy", { example_count: "count" });
export const RANGE_DOPPLER_MAP = artifactKind("isac.range_doppler_map.numpy", {
  example_count: "count",
  range_step_m: "positive",
  velocity_step_mps: "positive",
});

/** Metadata of frame and noise. */
export const FRAME_KEYS = [
  "subcarrier_count",
  "ofdm_symbol_count",
  "subcarrier_spacing_hz",
  "symbol_duration_s",
  "carrier_frequency_hz",
  "noise_variance",
] as const;

export function frameMetadata({ subcarriers, symbols, spacingHz, symbolSeconds, carrierHz }: EchoFrame, noise: number) {
  return {
    subcarrier_count: subcarriers,
    ofdm_symbol_count: symbols,
    subcarrier_spacing_hz: float(spacingHz),
    symbol_duration_s: float(symbolSeconds),
    carrier_frequency_hz: float(carrierHz),
    noise_variance: float(noise),
  };
}

/** The frame of an echo, whose sizes are those of its array. @throws SvcError for missing metadata */
export function echoFrame(input: InputArtifact, subcarriers: number, symbols: number) {
  const facts = metadataOf(input, OFDM_ECHO);
  const frame: EchoFrame = {
    subcarriers,
    symbols,
    spacingHz: facts.subcarrier_spacing_hz,
    symbolSeconds: facts.symbol_duration_s,
    carrierHz: facts.carrier_frequency_hz,
  };
  return { frame, noise: facts.noise_variance };
}

/** The frame in the metadata of a truth or an estimate, and the noise; undefined when a key is missing. */
export function recordedFrame({ metadata }: InputArtifact): { frame: EchoFrame; noise: number } | undefined {
  const found = FRAME_KEYS.map((key) => metadataNumber(metadata, key));
  if (!found.every((value): value is number => value !== undefined)) return undefined;
  const [subcarriers, symbols, spacingHz, symbolSeconds, carrierHz, noise] = found;
  return { frame: { subcarriers, symbols, spacingHz, symbolSeconds, carrierHz }, noise };
}

/** Ranges, velocities and powers of the targets of all examples. */
export function targetsArtifact<M extends JsonObject>(
  places: Float64Array,
  power: Float64Array,
  examples: number,
  metadata: M,
): OutputArtifact & { metadata: M & { example_count: number } } {
  const targets = power.length / examples;
  return {
    array: ndarray("float64", places, [examples, targets, 2]),
    companions: { power: ndarray("float64", power, [examples, targets]) },
    metadata: { ...metadata, example_count: examples },
  };
}
