/** Phase-tracking pilots between the symbols of transform precoding: the record of a waveform, its places and values. */
import { metadataText } from "../lib/artifact/values.ts";
import {
  type PrecodedPtrs,
  precodedPtrsPlaces,
  precodedPtrsValues,
  ptrsSymbols,
} from "../lib/numeric/channel/pilot_grid.ts";
import { isNumber, isObject, type JsonObject, SvcError, toNumber } from "./api.ts";

export const PTRS_KEY = "phase_tracking";

/** Largest amplitude of a part over that of BPSK turned by 45 degrees, TS 38.214 table 6.2.3.2-1; 1 for other constellations. */
const OUTERMOST: Readonly<Record<string, number>> = {
  qam16: 3 / Math.sqrt(5),
  qam64: 7 / Math.sqrt(21),
  qam256: 15 / Math.sqrt(85),
};

export const scaleOf = (symbols: JsonObject): number => OUTERMOST[metadataText(symbols, "modulation") ?? ""] ?? 1;

/** The layout of a record. @throws SvcError `boundary_value_invalid` for an unreadable one */
export function readPtrs(metadata: JsonObject): (PrecodedPtrs & { scale: number; perSlot: number }) | undefined {
  const record = metadata[PTRS_KEY];
  if (record === undefined) return undefined;
  const read = (from: unknown, key: string): number => {
    const value = isObject(from as JsonObject) ? (from as JsonObject)[key] : undefined;
    if (isNumber(value) && toNumber(value) >= 0 && toNumber(value) < 2 ** 31) return toNumber(value);
    throw new SvcError("boundary_value_invalid", `Cannot read the pilots: the metadata ${PTRS_KEY}.${key} is invalid`);
  };
  const [groups, samples, step] = ["groups", "group_samples", "time_density"].map((key) => read(record, key));
  const found = { groups, samples, step, nId: read(record, "n_id"), rnti: read(record, "rnti") };
  const perSlot = read(metadata, "symbols_per_grid");
  if (!fits(found) || ![1, 2].includes(step) || perSlot < 1) {
    throw new SvcError("boundary_value_invalid", `Cannot read the pilots: the metadata ${PTRS_KEY} is invalid`);
  }
  return { ...found, scale: read(record, "scale"), perSlot };
}

const fits = ({ groups, samples }: PrecodedPtrs) =>
  [2, 4].includes(samples) && [2, 4, 8].includes(groups) && groups / samples <= 2;

/** Whether the groups lie apart on the active subcarriers, with room for data. */
export function hasRoom(active: number, settings: PrecodedPtrs): boolean {
  const places = precodedPtrsPlaces(active, settings);
  return fits(settings) && active > places.length && places.every((m, i) => m >= 0 && m > (places[i - 1] ?? -1));
}

/** Places of PT-RS among the symbols of an OFDM symbol, none for those without, and the values of its slot. */
export function ptrsOf(active: number, settings: PrecodedPtrs & { perSlot: number }) {
  const places = precodedPtrsPlaces(active, settings), times = ptrsSymbols(settings.perSlot, [], settings.step);
  return {
    places,
    at: (row: number): readonly number[] => times.includes(row % settings.perSlot) ? places : [],
    values: (row: number) => precodedPtrsValues(places, settings, Math.floor(row / settings.perSlot), times[0]),
  };
}
