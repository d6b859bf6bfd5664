/**
 * A look at a data file: the first lines of a text, the spectrum of a recording, the power-delay profile of channels.
 *
 * Spectrum: the mean over blocks of N = 512 samples of |DFT(w x)|² with the Hann window w, at most 128 blocks from the start, in
 * dB beside its largest value; frequencies in Hz, of a recording without a sample rate in cycles a sample.
 *
 * Power-delay profile of the first sample, of the first antennas: of a frequency response h the mean over OFDM symbols of
 * |IDFT(h)|² over the delay in units of 1 / (F Δf); of paths the mean of |a|² over tau in ns, without paths of no power. In dB beside the largest value.
 *
 * Source: Welch, "The Use of Fast Fourier Transform for the Estimation of Power Spectra", IEEE Trans. Audio Electroacoust., 1967.
 */
import { extname } from "node:path";
import { float, type JsonObject } from "../contract/value.ts";
import type { NdArray } from "../numeric/array/ndarray.ts";
import { fft, ifft } from "../numeric/linalg/fft.ts";
import { type ArrayFile } from "./array_access.ts";
import { ARRAY_SUFFIXES, openArrays } from "./array_file.ts";
import type { ByteSource } from "./byte_source.ts";
import {
  MAX_META_BYTES,
  parseSigmf,
  RAW_SUFFIXES,
  rawForm,
  recordedSamples,
  recordingFiles,
  sampleBytes,
} from "./sigmf.ts";

const BLOCK = 512, MAX_BLOCKS = 128;
const MAX_LINES = 12, MAX_LINE_LENGTH = 240, TEXT_BYTES = 2 ** 14;
/** The lowest level of a curve: also that of a power of zero. */
const FLOOR_DB = -120;

/** Suffixes of texts. */
export const TEXT_SUFFIXES = [".txt", ".jsonl", ".ndjson", ".csv"];

/** A curve, or lines of text. */
export type DataPreview =
  | { kind: "lines"; lines: string[] }
  | { kind: "spectrum" | "delay_profile"; x: number[]; x_unit: string; level_db: number[] };

/**
 * Looks into a file.
 * @param open opens a file; the caller closes it
 * @returns null for a file without a known content
 * @throws SvcError those of the format
 */
export async function previewData(path: string, open: (path: string) => ByteSource): Promise<DataPreview | null> {
  const suffix = extname(path).toLowerCase();
  if (TEXT_SUFFIXES.includes(suffix)) return { kind: "lines", lines: firstLines(open(path)) };
  if (ARRAY_SUFFIXES.includes(suffix)) {
    using file = await openArrays(open(path), path, ["h", "a", "tau"]);
    return delayProfile(file);
  }
  const files = recordingFiles(path);
  if (files.length === 1 && !Object.hasOwn(RAW_SUFFIXES, suffix)) return null;
  const sources = files.map(open), data = sources.at(-1)!;
  const form = files.length === 2
    ? parseSigmf(sources[0].at(0, MAX_META_BYTES + 1), path)
    : rawForm(RAW_SUFFIXES[suffix]);
  const step = sampleBytes(form), count = Math.min(Math.floor(data.size / step), BLOCK * MAX_BLOCKS);
  if (count < BLOCK) return null;
  // The digest of the form is that of the whole file.
  return spectrum(
    recordedSamples(data.at(0, count * step), { ...form, sha512: null }, { name: path }),
    form.sampleRateHz,
  );
}

function firstLines(source: ByteSource): string[] {
  return new TextDecoder().decode(source.at(0, TEXT_BYTES)).split(/\r?\n/).slice(0, MAX_LINES)
    .map((line) => line.slice(0, MAX_LINE_LENGTH));
}

/** @param samples interleaved, at least one block */
function spectrum(samples: Float32Array, sampleRateHz: number | null): DataPreview {
  const power = new Float64Array(BLOCK), blocks = Math.floor(samples.length / 2 / BLOCK);
  for (let block = 0; block < blocks; block++) {
    const windowed = Float64Array.from(
      { length: 2 * BLOCK },
      (_, i) => samples[2 * BLOCK * block + i] * (0.5 - 0.5 * Math.cos(2 * Math.PI * (i >> 1) / BLOCK)),
    );
    const bins = fft(windowed);
    for (let k = 0; k < BLOCK; k++) power[k] += bins[2 * k] ** 2 + bins[2 * k + 1] ** 2;
  }
  const shifted = Array.from({ length: BLOCK }, (_, i) => power[(i + BLOCK / 2) % BLOCK]), rate = sampleRateHz ?? 1;
  const x = shifted.map((_, i) => (i - BLOCK / 2) / BLOCK * rate);
  return { kind: "spectrum", x, x_unit: sampleRateHz === null ? "cycles a sample" : "Hz", level_db: levels(shifted) };
}

function delayProfile(file: ArrayFile): DataPreview | null {
  if (file.has("h")) {
    const { shape } = file.form("h");
    if (![2, 3, 5].includes(shape.length) || shape.includes(0)) return null;
    const [symbols, width] = shape.length === 2 ? [1, shape[1]] : [shape[1], shape[2]];
    const stride = shape.length === 5 ? shape[3] * shape[4] : 1, read = reader(file.array("h"));
    const power = new Float64Array(width);
    for (let symbol = 0; symbol < symbols; symbol++) {
      const row = Float64Array.from({ length: 2 * width }, (_, i) => read((symbol * width + (i >> 1)) * stride)[i & 1]);
      const taps = ifft(row);
      for (let k = 0; k < width; k++) power[k] += taps[2 * k] ** 2 + taps[2 * k + 1] ** 2;
    }
    const x = Array.from(power, (_, k) => k);
    return { kind: "delay_profile", x, x_unit: "1 / (F Δf)", level_db: levels([...power]) };
  }
  if (!file.has("a") || !file.has("tau")) return null;
  const { shape } = file.form("a"), wide = shape.length === 7;
  if (![2, 3, 7].includes(shape.length) || shape.includes(0)) return null;
  const paths = wide ? shape[5] : shape[1], symbols = (wide ? shape[6] : shape[2]) ?? 1;
  const read = reader(file.array("a")), { data } = file.array("tau");
  if (data.length < paths) return null;
  const rows = Array.from({ length: paths }, (_, path) => {
    let power = 0;
    for (let symbol = 0; symbol < symbols; symbol++) {
      const [real, imaginary] = read(path * symbols + symbol);
      power += real ** 2 + imaginary ** 2;
    }
    return { delay: Number(data[path]), power };
  }).filter(({ delay, power }) => delay >= 0 && power > 0).sort((a, b) => a.delay - b.delay);
  if (rows.length === 0) return null;
  return {
    kind: "delay_profile",
    x: rows.map(({ delay }) => 1e9 * delay),
    x_unit: "ns",
    level_db: levels(rows.map(({ power }) => power)),
  };
}

/** Real and imaginary part of an element. */
function reader({ dtype, data }: NdArray): (index: number) => [number, number] {
  return dtype.startsWith("complex")
    ? (at) => [Number(data[2 * at]), Number(data[2 * at + 1])]
    : (at) => [Number(data[at]), 0];
}

/** In dB beside the largest value, to a tenth. */
function levels(powers: readonly number[]): number[] {
  const most = powers.reduce((a, b) => Math.max(a, b), 0);
  return powers.map((power) =>
    most === 0 ? FLOOR_DB : Math.max(FLOOR_DB, Math.round(100 * Math.log10(power / most)) / 10)
  );
}

/** The document of a preview. */
export const previewDocument = (preview: DataPreview): JsonObject =>
  preview.kind === "lines"
    ? { ...preview }
    : { ...preview, x: preview.x.map(float), level_db: preview.level_db.map(float) };
