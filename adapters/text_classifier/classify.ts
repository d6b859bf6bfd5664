/**
 * Classifies short reports: health, logistics, measurement, traffic or weather.
 *
 * Each word of a report is lost with probability `lost_words`, and the classifier labels the remaining text. Features
 * are hashed words and character trigrams, as in training/train.py: FNV-1a (32 bit) of the UTF-8 modulo 1024, square
 * roots of counts, unit length.
 */
import type { Context, Dataset } from "./svc_types.ts";

interface Report {
  id: string;
  label: string;
  text: string;
}

export interface Settings {
  /** Probability that a word is lost. */
  lost_words?: number;
  /** Number of reports, from the first on; default all. */
  example_count?: number;
}

const BINS = 1024;
export const LABELS = ["health", "logistics", "measurement", "traffic", "weather"];

export async function reports(settings: Settings, context: Context): Promise<Dataset> {
  const { lost_words: lost = 0, example_count } = settings;
  const all: Report[] = JSON.parse(await Deno.readTextFile(new URL("reports.json", import.meta.url)));
  const chosen = all.slice(0, example_count ?? all.length);
  const draw = uniform(Number(context.seed ?? 0));
  const kept = chosen.map(({ text }) => tokens(text).filter(() => draw() >= lost));
  const features = new Float32Array(BINS * chosen.length);
  kept.forEach((words, i) => features.set(hashed(words), BINS * i));
  const { scores } = await context.infer("classifier", {
    features: { dtype: "float32", shape: [chosen.length, BINS], data: features },
  });
  const examples = chosen.map(({ id, label }, i) => {
    const own = (scores.data as Float32Array).subarray(LABELS.length * i, LABELS.length * (i + 1));
    return { id, label, prediction: LABELS[own.indexOf(Math.max(...own))] };
  });
  return { examples, metadata: { labels: LABELS, lost_words: lost } };
}

/** Lower-cased maximal runs of letters and digits. */
export function tokens(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Features of a text, unit length; all zero without any word. */
export function hashed(words: readonly string[]): Float32Array {
  const counts = new Float64Array(BINS);
  for (const word of words) {
    counts[binOf(word)]++;
    const framed = [..."^", ...word, "$"];
    for (let i = 0; i + 2 < framed.length; i++) counts[binOf(framed.slice(i, i + 3).join(""))]++;
  }
  const length = Math.sqrt(counts.reduce((sum, count) => sum + count, 0));
  return Float32Array.from(counts, (count) => Math.sqrt(count) / Math.max(length, 1e-12));
}

function binOf(piece: string): number {
  let value = 0x811C9DC5;
  for (const byte of new TextEncoder().encode(piece)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value % BINS;
}

/** Uniform numbers in [0, 1) of a seed (mulberry32): the same run loses the same words. */
function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6D2B79F5) >>> 0;
    let t = Math.imul(state ^ state >>> 15, state | 1);
    t = (t + Math.imul(t ^ t >>> 7, t | 61)) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 2 ** 32;
  };
}
