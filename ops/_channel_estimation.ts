/**
 * Artifacts of the channel estimation operations. A realisation and a truth hold the channel complex64 [example, rx,
 * tx, subcarrier]; a pattern holds pilots complex64 [tx, subcarrier], 0 where an antenna is silent. A problem and an
 * observation hold received values, complex64 [example, rx, subcarrier], and the companion `pilots`; a problem also has
 * the true `channel`, hidden from estimators. Metadata noise_variance is N0 per receive antenna and subcarrier. An estimate may
 * have the companion `error_variance` float32 [example, rx, tx, subcarrier].
 */
import { arraysOf, type NamedArrays } from "../lib/artifact/arrays.ts";
import { metadataOf } from "../lib/artifact/values.ts";
import {
  float,
  type InputArtifact,
  isNumber,
  type JsonObject,
  type ParameterProblem,
  SvcError,
  toNumber,
} from "./api.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import {
  applyMmse,
  interpolatePilots,
  mmseFilter,
  pilotLeastSquares,
  pilotPositions,
} from "../lib/numeric/channel/channel_estimation.ts";
import { exponentialProfile, frequencyResponse, staticTaps } from "../lib/numeric/channel/delay_profile.ts";
import { mean } from "../lib/numeric/scores/statistics.ts";
import { modulate } from "../lib/numeric/link/modulation.ts";
import { type NdArray, ndarray } from "../lib/numeric/array/ndarray.ts";
import type { Generator } from "../lib/numeric/random/random.ts";

const RECEIVED = { noise_variance: "number", example_count: "count" } as const;
const OBSERVED = { ...RECEIVED, pilot_density: "number" } as const;
export const CHANNEL_REALIZATION = artifactKind("ai_phy.channel_realization.numpy", {
  example_count: "count",
  rx_antennas: "count",
  tx_antennas: "count",
  subcarriers: "count",
});
export const PILOT_PATTERN = artifactKind("ai_phy.pilot_pattern.numpy", {
  pilot_pattern: "text",
  tx_antennas: "count",
  subcarriers: "count",
});
export const CHANNEL_PROBLEM = artifactKind("ai_phy.channel_estimation_problem.numpy", RECEIVED);
export const CHANNEL_OBSERVATION = artifactKind("ai_phy.channel_estimation_observation.numpy", OBSERVED);
export const CHANNEL_TRUTH = artifactKind("ai_phy.channel_estimation_truth.numpy", OBSERVED);
export const CHANNEL_ESTIMATE = artifactKind("ai_phy.channel_estimate.numpy", {
  example_count: "count",
  estimator: "text",
});

export interface ChannelSizes {
  examples: number;
  rx: number;
  tx: number;
  subcarriers: number;
}

/** Input of an estimator, from a problem or an observation. */
export interface PilotProblem extends ChannelSizes {
  /** [example, rx, subcarrier], interleaved */
  received: Float32Array;
  /** [tx, subcarrier], interleaved */
  pilots: Float32Array;
  /** Subcarriers of the pilots of each antenna. */
  positions: number[][];
  noiseVariance: number;
  /** OFDM symbols of an example, one after another on the axis of the subcarriers. */
  ofdmSymbols: number;
}

/** @throws SvcError with a boundary code for an artifact of another form */
export function pilotProblemOf(input: InputArtifact): PilotProblem {
  const arrays = arraysOf(input), received = arrays.read("complex64", ["example", "rx", "subcarrier"]);
  const pilots = arrays.read("complex64", ["tx", "subcarrier"], "pilots");
  const { noise_variance: noiseVariance } = metadataOf(input, CHANNEL_PROBLEM, ["noise_variance"]);
  if (noiseVariance < 0) {
    throw new SvcError("boundary_value_invalid", `Cannot estimate a channel at a noise variance of ${noiseVariance}`);
  }
  const tx = arrays.size("tx"), subcarriers = arrays.size("subcarrier");
  const positions = separatePilots(pilots, tx, subcarriers);
  return {
    examples: arrays.size("example"),
    rx: arrays.size("rx"),
    tx,
    subcarriers,
    received,
    pilots,
    positions,
    noiseVariance,
    ofdmSymbols: isNumber(input.metadata.ofdm_symbols) ? toNumber(input.metadata.ofdm_symbols) : 1,
  };
}

/**
 * Pilot positions of the antennas.
 * @throws SvcError `boundary_value_invalid` for an antenna without pilots, or two antennas on one subcarrier
 */
export function separatePilots(pilots: Float32Array, tx: number, subcarriers: number): number[][] {
  const positions = pilotPositions(pilots, tx, subcarriers), taken = new Map<number, number>();
  positions.forEach((own, antenna) => {
    if (own.length === 0) throw invalid(`antenna ${antenna} has no pilots`);
    for (const k of own) {
      if (taken.has(k)) throw invalid(`antennas ${taken.get(k)} and ${antenna} both send on subcarrier ${k}`);
      taken.set(k, antenna);
    }
  });
  return positions;
}

function invalid(reason: string): SvcError {
  return new SvcError("boundary_value_invalid", `Cannot separate the antennas by their pilots: ${reason}`);
}

/** The true channel of a problem or of a truth artifact, [example, rx, tx, subcarrier]. */
export function trueChannel(arrays: NamedArrays): Float32Array {
  const companion = arrays.input.kind === CHANNEL_PROBLEM.id ? "channel" : undefined;
  return arrays.read("complex64", ["example", "rx", "tx", "subcarrier"], companion);
}

/** @throws SvcError `params_conflict` for whole grids: a line over their resource elements has no meaning */
export function ofOneSymbol(problem: PilotProblem): PilotProblem {
  if (problem.ofdmSymbols === 1) return problem;
  throw new SvcError("params_conflict", `Cannot interpolate over the ${problem.ofdmSymbols} OFDM symbols of a grid`, {
    hint: "Set example of demodulation.ofdm_pilot_observation to ofdm_symbol, or estimate by a trained artifact",
  });
}

/** Least-squares estimates of a problem: at the pilots, and interpolated; [example, rx, tx, subcarrier]. */
export function leastSquaresOf(
  { received, pilots, positions, subcarriers }: Omit<PilotProblem, "noiseVariance" | "ofdmSymbols">,
) {
  const sparse = pilotLeastSquares(received, pilots, positions, subcarriers);
  return { sparse, full: interpolatePilots(sparse, positions, subcarriers) };
}

/** Linear MMSE estimate with the profile e^{-l} of the given taps, and its error variance [tx, subcarrier] under this prior. */
export function linearMmseOf(problem: PilotProblem, taps: number) {
  const { positions, subcarriers, noiseVariance } = problem, { sparse } = leastSquaresOf(problem);
  const filters = positions.map((own) => mmseFilter(own, { subcarriers, taps }, noiseVariance));
  return {
    estimate: applyMmse(sparse, positions, filters, subcarriers),
    errors: filters.flatMap(({ errors }) => [...errors]),
  };
}

/** A channel estimate; with the variance of its error [example, rx, tx, subcarrier], where that is known. */
export function channelArtifact<Facts extends JsonObject>(
  estimate: Float32Array | Float64Array,
  { examples, rx, tx, subcarriers }: ChannelSizes,
  facts: Facts,
  errors?: Float32Array,
) {
  const shape = [examples, rx, tx, subcarriers];
  return {
    array: ndarray("complex64", Float32Array.from(estimate), shape),
    ...(errors === undefined ? {} : { companions: { error_variance: ndarray("float32", errors, shape) } }),
    metadata: { example_count: examples, rx_antennas: rx, tx_antennas: tx, subcarriers, ...facts },
  };
}

/** Synthetic channels of taps e^{-l}, [example, rx, tx, subcarrier]. Draws complex taps [example, rx, tx, tap]. */
export function syntheticChannel(
  { examples, rx, tx, subcarriers }: ChannelSizes,
  taps: number,
  generator: Generator,
): Float32Array {
  const profile = exponentialProfile(taps, 1), drawn = staticTaps(profile, examples * rx * tx, generator);
  return Float32Array.from(
    frequencyResponse(drawn, profile, { count: subcarriers, spacing: 1 / subcarriers, first: 0 }),
  );
}

/** QPSK pilots on a comb, antenna t on the subcarriers k = t mod spacing. Draws a label for every cell [tx, subcarrier]. */
export function combPilots(tx: number, subcarriers: number, spacing: number, generator: Generator): Float32Array {
  const labels = generator.integers(0, 4, tx * subcarriers);
  const bits = new Uint8Array(2 * labels.length);
  labels.forEach((label, i) => bits.set([Number(label) >> 1, Number(label) & 1], 2 * i));
  const pilots = modulate(bits, "qpsk");
  for (let cell = 0; cell < tx * subcarriers; cell++) {
    if (cell % subcarriers % spacing !== Math.floor(cell / subcarriers)) pilots.fill(0, 2 * cell, 2 * cell + 2);
  }
  return pilots;
}

/** Reports a comb that is too small for the antennas. */
export function combProblems(
  { tx_antennas: tx, subcarriers }: { tx_antennas: number; subcarriers: number },
  spacing: number,
): ParameterProblem[] {
  const most = Math.min(spacing, subcarriers);
  if (tx <= most) return [];
  return [{
    code: "params_conflict",
    message: `Cannot place combs of ${tx} antennas with pilot spacing ${spacing} on ${subcarriers} subcarriers`,
    place: ["tx_antennas"],
    hint: `At most ${most} antennas fit`,
  }];
}

/** Pilots through channels in noise: y_rk = Σ_t h_rtk·x_tk + n, drawn complex [example, rx, subcarrier]. */
export function receivePilots(
  channel: Float32Array,
  pilots: Float32Array,
  { examples, rx, tx, subcarriers }: ChannelSizes,
  noiseVariance: number,
  generator: Generator,
): Float32Array {
  const sum = generator.complexNormal64(examples * rx * subcarriers, noiseVariance);
  for (let row = 0, h = 0; row < examples * rx; row++) {
    for (let x = 0; x < 2 * tx * subcarriers; x += 2, h += 2) {
      const into = 2 * row * subcarriers + x % (2 * subcarriers);
      sum[into] += channel[h] * pilots[x] - channel[h + 1] * pilots[x + 1];
      sum[into + 1] += channel[h] * pilots[x + 1] + channel[h + 1] * pilots[x];
    }
  }
  return Float32Array.from(sum);
}

/** The received values, as a problem (with the truth) and as an observation (without). */
export function pilotArtifacts(
  received: Float32Array,
  channel: Float32Array,
  pilots: Float32Array,
  sizes: ChannelSizes,
  facts: { noise_variance: number; snr_db: number },
) {
  const { examples, rx, tx, subcarriers } = sizes;
  const density = mean(pilotPositions(pilots, tx, subcarriers).map((own) => own.length)) / subcarriers;
  const metadata = {
    example_count: examples,
    rx_antennas: rx,
    tx_antennas: tx,
    subcarriers,
    pilot_density: float(density),
    noise_variance: float(facts.noise_variance),
    snr_db: float(facts.snr_db),
  };
  const array = ndarray("complex64", received, [examples, rx, subcarriers]);
  const pattern = ndarray("complex64", pilots, [tx, subcarriers]);
  const truth = ndarray("complex64", channel, [examples, rx, tx, subcarriers]);
  return {
    observation: { array, companions: { pilots: pattern }, metadata },
    problem: { array, companions: { pilots: pattern, channel: truth }, metadata },
    truth: { array: truth, metadata },
  };
}

/** 1 at the pilots, float32 [example, tx, subcarrier]. */
export function pilotMask(
  positions: readonly (readonly number[])[],
  { examples, tx, subcarriers }: ChannelSizes,
): NdArray {
  const one = new Float32Array(tx * subcarriers), mask = new Float32Array(examples * one.length);
  positions.forEach((own, antenna) => own.forEach((k) => one[antenna * subcarriers + k] = 1));
  for (let example = 0; example < examples; example++) mask.set(one, example * one.length);
  return ndarray("float32", mask, [examples, tx, subcarriers]);
}

/** N0, float32 [example, 1]. */
export function noisePerExample(noiseVariance: number, examples: number): NdArray {
  return ndarray("float32", new Float32Array(examples).fill(noiseVariance), [examples, 1]);
}
