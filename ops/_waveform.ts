/** OFDM waveforms: samples complex64 [n]; the companion grid holds the transmitted elements complex64 [OFDM symbol, subcarrier]. */
import { type InputArtifact, type JsonObject, SvcError } from "./api.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import { metadataNumber, symbolsOf } from "../lib/artifact/values.ts";

export const WAVEFORM = artifactKind("channel.waveform.complex_numpy", {
  fft_size: "count",
  cp_length: "count",
  oversampling: "count",
  active_subcarriers: "count",
  ofdm_symbol_count: "count",
  symbol_count: "count",
});

/** Least bytes of chains of waveforms: shorter ones need no more memory than the chain that a plan counts. */
export const LEAST_WAVEFORM_BYTES = 2 ** 24;

/** A waveform with its layout. @throws SvcError for metadata or a number of samples that do not fit */
export function readWaveform(input: InputArtifact) {
  const samples = symbolsOf(input);
  return { samples, layout: waveformLayout(input.metadata, samples.length / 2) };
}

/** The layout of a waveform of `count` samples. @throws SvcError for metadata that do not fit */
export function waveformLayout(metadata: JsonObject, count: number) {
  const read = (key: keyof typeof WAVEFORM.metadata): number => {
    const value = metadataNumber(metadata, key);
    if (value !== undefined && Number.isSafeInteger(value) && value >= 0) return value;
    throw new SvcError("boundary_value_invalid", `Cannot read the waveform: the metadata ${key} is not a count`);
  };
  const layout = {
    fftSize: read("fft_size"),
    cpLength: read("cp_length"),
    oversampling: read("oversampling"),
    active: read("active_subcarriers"),
    rows: read("ofdm_symbol_count"),
    symbolCount: read("symbol_count"),
  };
  const samplesPerRow = (layout.fftSize + layout.cpLength) * layout.oversampling,
    expected = layout.rows * samplesPerRow;
  if (count !== expected) {
    throw new SvcError(
      "boundary_count_mismatch",
      `Cannot read a waveform of ${count} samples: ${expected} are expected`,
    );
  }
  return { ...layout, samplesPerRow };
}
