/** Names of the points of a matrix: readable where their coordinates are short and plain, their variant id otherwise. */
import { canonicalJson } from "../contract/json.ts";
import type { Value } from "../contract/value.ts";

const PIECE = /^[A-Za-z0-9._-]{1,48}$/;
const MAX_LENGTH = 160;

export interface NamedPoint {
  /** Coordinates in the order of the dimensions. */
  coordinates: readonly (readonly [dimension: string, value: Value])[];
  variant_id: string;
}

/**
 * The names of all points: `<name>__<dimension>_<value>__…`, or the variant id where a piece is no plain word of at most
 * 48 characters, where the whole is longer than 160, and where two points would share a name (as 1 and "1" would): the
 * name is what parts their random streams.
 */
export function variantNames(name: string, points: readonly NamedPoint[]): string[] {
  const readable = points.map((point) => readableName(name, point));
  const uses = new Map<string | null, number>();
  for (const candidate of readable) uses.set(candidate, (uses.get(candidate) ?? 0) + 1);
  return readable.map((candidate, index) =>
    candidate === null || uses.get(candidate)! > 1 ? points[index].variant_id : candidate
  );
}

function readableName(name: string, { coordinates }: NamedPoint): string | null {
  const pieces = [name, ...coordinates.flatMap(([dimension, value]) => [dimension, valueText(value)])];
  if (!pieces.every((piece) => PIECE.test(piece))) return null;
  const whole = [name, ...coordinates.map(([dimension, value]) => `${dimension}_${valueText(value)}`)].join("__");
  return whole.length <= MAX_LENGTH ? whole : null;
}

/** A value in names and tables: texts as they are, everything else as canonical JSON. */
export function valueText(value: Value): string {
  return typeof value === "string" ? value : canonicalJson(value);
}

/** Coordinates for people: `snr_db=6.0, channel=awgn`. */
export function coordinatesText(selection: { [dimension: string]: Value }): string {
  return Object.entries(selection).map(([dimension, value]) => `${dimension}=${valueText(value)}`).join(", ");
}
