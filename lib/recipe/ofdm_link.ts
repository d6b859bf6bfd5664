/**
 * Shares one OFDM scenario between a channel and its state. A `wireless.channel` with ofdm_tdl whose channel_state
 * comes from a `wireless.ofdm_channel_state`, directly or through `wireless.ofdm_delayed_csi`, takes unset values from
 * the state. After the defaults its values, with the noise variance, are copied to the state. Contradicting values are
 * `ofdm_scenario_conflict`.
 */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import { canonicalJson, sameValue } from "../contract/json.ts";
import { float, isNumber, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import { dbToLinear, linearToDb } from "../numeric/link/decibel.ts";
import type { StepDocument } from "./types.ts";

const SHARED = [
  "tdl_model",
  "ofdm_fft_size",
  "num_ofdm_symbols",
  "subcarrier_spacing_khz",
  "carrier_frequency_ghz",
  "delay_spread_ns",
  "mobility_kmh",
  "normalize_channel",
];

/** Relative tolerance between an authored noise variance and that of an Es/N0. */
const NOISE_TOLERANCE = 1e-9;

interface Link {
  /** Indices of the steps. */
  channel: number;
  state: number;
}

/** Channels that take their realisation from a state. */
export function ofdmLinks(steps: readonly StepDocument[]): Link[] {
  const producer = (step: StepDocument, port: string) => {
    const reference = step.inputs[port];
    const id = typeof reference === "string" ? reference.split(".")[0] : undefined;
    return id === undefined ? -1 : steps.findIndex((candidate) => candidate.id === id);
  };
  return steps.flatMap((step, channel) => {
    if (step.op !== "wireless.channel" || step.params.channel !== "ofdm_tdl") return [];
    let state = producer(step, "channel_state");
    if (steps[state]?.op === "wireless.ofdm_delayed_csi") state = producer(steps[state], "state");
    return steps[state]?.op === "wireless.ofdm_channel_state" ? [{ channel, state }] : [];
  });
}

const conflict = (steps: readonly StepDocument[], at: number, key: string, message: string, hint: string) =>
  diagnostic("ofdm_scenario_conflict", ["steps", at, "params", key], message, { hint, step_id: steps[at].id });

/**
 * Sets unset values of linked channels, before the defaults.
 * @param diagnostics receives contradictions between authored values
 * @returns the steps, with completed parameters of linked channels
 */
export function shareAuthored(
  steps: readonly StepDocument[],
  links: readonly Link[],
  diagnostics: Diagnostic[],
): readonly StepDocument[] {
  const shared = [...steps];
  for (const { channel, state } of links) {
    const params = { ...steps[channel].params };
    for (const key of SHARED) {
      const own = params[key], given = steps[state].params[key];
      if (given === undefined) continue;
      if (own === undefined) params[key] = given;
      else if (!sameValue(own, given)) {
        const message = `Cannot use ${key} ${show(given)} for the state of ${steps[channel].id}, which has ${
          show(own)
        }`;
        diagnostics.push(conflict(steps, state, key, message, "Set it in one of the two; the other takes it over"));
      }
    }
    shared[channel] = { ...steps[channel], params };
  }
  return shared;
}

const show = (value: Value) => (typeof value === "string" ? value : canonicalJson(value));

/**
 * Copies the scenario of each linked channel to its state, after the defaults.
 * @param authored the steps as authored
 * @param effective the steps with their defaults; the params of states are changed
 * @param diagnostics receives noise variances that contradict the channel, and states with two different channels
 * @returns the record `metadata.resolved_channel_scenario` of the first link; undefined without one
 */
export function settleScenario(
  authored: readonly StepDocument[],
  effective: readonly StepDocument[],
  links: readonly Link[],
  diagnostics: Diagnostic[],
): JsonObject | undefined {
  const records: JsonObject[] = [];
  const owners = new Map<number, number>();
  for (const { channel, state } of links) {
    // An unchanged step has no operation, which was reported.
    if (effective[state] === authored[state]) continue;
    const from = effective[channel].params, to = effective[state].params;
    const noise = noiseOf(from);
    const owner = owners.get(state);
    for (const key of SHARED) {
      if (owner !== undefined && !sameValue(from[key], to[key])) {
        const message = `Cannot share a state with ${authored[owner].id}, whose ${key} is ${show(to[key])}`;
        diagnostics.push(conflict(authored, channel, key, message, "Give both channels the same scenario"));
      } else if (from[key] !== undefined) to[key] = from[key];
    }
    if (noise === undefined) continue;
    const given = owner === undefined ? authored[state].params.noise_variance : to.noise_variance;
    if (isNumber(given) && Math.abs(toNumber(given) - noise.variance) > NOISE_TOLERANCE * noise.variance) {
      const message = `Cannot use noise variance ${show(given)} for the state of ${authored[channel].id}, which has ` +
        show(float(noise.variance));
      const at = authored[state].params.noise_variance === undefined ? channel : state;
      const hint = "Remove noise_variance of the state: it takes that of the channel";
      diagnostics.push(conflict(authored, at, at === state ? "noise_variance" : "snr_db", message, hint));
    } else to.noise_variance = float(noise.variance);
    owners.set(state, channel);
    records.push({
      authority: authored[channel].id,
      channel_state: authored[state].id,
      noise_mode: from.noise_mode,
      noise_variance: float(noise.variance),
      reference_snr_db: float(noise.snrDb),
    });
  }
  return records[0];
}

/** Noise variance of a channel, and its Es/N0 at unit symbol energy; undefined without these parameters. */
function noiseOf({ noise_mode, noise_variance, snr_db }: JsonObject): { variance: number; snrDb: number } | undefined {
  if (noise_mode === "fixed_variance") {
    if (!isNumber(noise_variance)) return undefined;
    const variance = toNumber(noise_variance);
    return variance > 0 ? { variance, snrDb: -linearToDb(variance) } : undefined;
  }
  if (!isNumber(snr_db)) return undefined;
  const snrDb = toNumber(snr_db), variance = dbToLinear(-snrDb);
  return variance > 0 && variance < Infinity ? { variance, snrDb } : undefined;
}
