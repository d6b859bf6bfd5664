/** Names of matrix points: readable for short plain coordinates, otherwise the variant id. */
import { canonicalJson } from "../contract/json.ts";
import type { Value } from "../contract/value.ts";

const PIECE = /^[A-Za-z0-9._-]{1,48}$/;
const MAX_LENGTH = 160;

export interface NamedPoint {
  coordinates: readonly (readonly [dimension: string, value: Value])[];
  variant_id: string;
}

/**
 * The names of all points: `<name>__<dimension>_<value>__…`, or the variant id for a piece that is not a plain word of
 * at most 48 characters, a name beyond 160 characters, or equal names (1 and "1"). Random streams depend on the name.
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

/** A value in names and tables: texts unchanged, everything else as canonical JSON. */
export function valueText(value: Value): string {
  return typeof value === "string" ? value : canonicalJson(value);
}

/** Coordinates as text: `snr_db=6.0, channel=awgn`. */
export function coordinatesText(selection: { [dimension: string]: Value }): string {
  return Object.entries(selection).map(([dimension, value]) => `${dimension}=${valueText(value)}`).join(", ");
}
