/**
 * Signals of front ends: a waveform or symbols, complex64 [n]. A step keeps the kind, the companion arrays and the metadata of its
 * input; received symbols keep their noise variance.
 */
import { type PooledMetric, rootOfUnit } from "../../lib/numeric/scores/pooled_ratio.ts";
import { RX_SYMBOLS, SYMBOLS } from "../../lib/contract/kinds.ts";
import type { InputArtifact, JsonObject, OutputArtifact } from "../api.ts";
import { companionsOf, symbolMetadata, symbolsOf, travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import type { StreamInput } from "../../lib/contract/operation.ts";
import { alteredInBlocks } from "../_altered_blocks.ts";
import { readWaveform, WAVEFORM, waveformLayout } from "../_waveform.ts";

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
  const array = ndarray("complex64", Float32Array.from(samples));
  return { array, companions: companionsOf(signal), metadata: metadataWith(signal, samples.length / 2, facts) };
}

const metadataWith = ({ kind, metadata }: InputArtifact, count: number, facts: JsonObject): JsonObject =>
  kind === WAVEFORM.id ? { ...metadata, ...facts } : symbolMetadata(count, travel(metadata, facts));

/** As {@link signalWith}, in blocks of whole OFDM symbols. */
export function signalInBlocks(signal: StreamInput, facts: JsonObject, alter: (samples: Float32Array) => Float64Array) {
  const { kind, metadata, length } = signal;
  return alteredInBlocks("signal", signal, {
    unit: kind === WAVEFORM.id ? waveformLayout(metadata, length).samplesPerRow : 1,
    metadata: metadataWith(signal, length, facts),
    alter: (samples) => Float32Array.from(alter(samples)),
  });
}

/** The error vector magnitude in percent: error energy over the energy of the signal. A signal is one unit. */
export const vectorError = (error: number, power: number, samples: number): Record<string, PooledMetric> => ({
  "hardware.evm_percent": rootOfUnit(1e4 * error * samples / power, samples),
});
