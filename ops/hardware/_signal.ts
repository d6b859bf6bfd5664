/**
 * Signals of front ends: a waveform or symbols, complex64 [n]. A step keeps the kind, the companion arrays and the metadata of its
 * input; received symbols keep their noise variance.
 */
import { type PooledMetric, rootOfUnit } from "../../lib/numeric/scores/pooled_ratio.ts";
import { RX_SYMBOLS, SYMBOLS } from "../../lib/contract/kinds.ts";
import type { InputArtifact, JsonObject, OutputArtifact } from "../api.ts";
import { companionsOf, symbolsArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { readWaveform, WAVEFORM } from "../_waveform.ts";

/** Ports of an operation on a signal of any of these kinds. */
export const SIGNAL_PORTS = {
  inputs: { signal: [SYMBOLS, RX_SYMBOLS, WAVEFORM] },
  outputs: { signal: { sameKindAs: "signal" } },
} as const;

/** The samples of a signal, interleaved (real, imaginary). @throws SvcError for an invalid signal */
export function samplesOf(signal: InputArtifact): Float32Array {
  return signal.kind === WAVEFORM.id ? readWaveform(signal).samples : symbolsOf(signal);
}

/** A signal with other samples. */
export function signalWith(signal: InputArtifact, samples: Float64Array, facts: JsonObject): OutputArtifact {
  const companions = companionsOf(signal), stored = Float32Array.from(samples);
  if (signal.kind !== WAVEFORM.id) return symbolsArtifact(stored, travel(signal.metadata, facts), companions);
  return { array: ndarray("complex64", stored), companions, metadata: { ...signal.metadata, ...facts } };
}

/** The error vector magnitude in percent: error energy over the energy of the signal. A signal is one unit. */
export const vectorError = (error: number, power: number, samples: number): Record<string, PooledMetric> => ({
  "hardware.evm_percent": rootOfUnit(1e4 * error * samples / power, samples),
});
