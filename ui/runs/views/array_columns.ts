/** What the last axis of an array holds. */
import type { Artifact } from "../documents.ts";

/** Columns that are quantities; more are one quantity over an axis. */
export const MOST_COLUMNS = 8;

/** The quantities of the last axis. */
export function columnsOf({ shape, metadata }: Pick<Artifact, "shape" | "metadata">): string[] | null {
  const count = shape?.at(-1) ?? 0;
  if (shape === null || shape.length < 2 || count < 2 || count > MOST_COLUMNS || count === size(shape)) return null;
  const named = Array.isArray(metadata.columns) && metadata.columns.length === count ? metadata.columns : null;
  return Array.from({ length: count }, (_, at) => named === null ? `Column ${at}` : words(String(named[at])));
}

export const size = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);
const UNITS: Readonly<Record<string, string>> = {
  m: "m",
  km: "km",
  deg: "°",
  db: "dB",
  mps: "m/s",
  hz: "Hz",
  ns: "ns",
};

/** `slant_range_km` as `Slant range (km)`. */
function words(name: string): string {
  const [, stem, unit] = /^(.+)_([a-z]+)$/.exec(name) ?? [], known = UNITS[unit];
  const text = (known === undefined ? name : stem).replaceAll("_", " ");
  return text[0].toUpperCase() + text.slice(1) + (known === undefined ? "" : ` (${known})`);
}
