/** Quantities of a satellite link over its elevation. */
import type { CurveFigure } from "../../lib/figure/types.ts";

interface Quantity {
  title: string;
  unit: string;
}

/** By column of the series. */
const QUANTITIES: Readonly<Record<string, Quantity>> = {
  cnr_db: { title: "Carrier-to-noise ratio", unit: "dB" },
  free_space_loss_db: { title: "Free-space loss", unit: "dB" },
  atmospheric_loss_db: { title: "Atmospheric loss", unit: "dB" },
  slant_range_km: { title: "Slant range", unit: "km" },
  one_way_delay_ms: { title: "One-way delay", unit: "ms" },
  doppler_khz: { title: "Doppler", unit: "kHz" },
};
const ELEVATION = "elevation_deg";

/** The columns that can be drawn over the elevation, the carrier-to-noise ratio first, with their titles. */
export function budgetQuantities(columns: readonly string[]): (readonly [column: string, title: string])[] {
  if (!columns.includes(ELEVATION)) return [];
  return Object.entries(QUANTITIES).filter(([column]) => columns.includes(column)).map((
    [id, { title }],
  ) => [id, title]);
}

/**
 * One quantity over the elevation.
 * @param values [elevation, column]
 */
export function budgetFigure(
  values: Float64Array,
  columns: readonly string[],
  column: string,
  facts: { subtitle: string; source: Record<string, string> },
): CurveFigure {
  const { title, unit } = QUANTITIES[column], at = columns.indexOf(ELEVATION), of = columns.indexOf(column);
  const rows = Array.from({ length: values.length / columns.length }, (_, i) => i * columns.length);
  const points = rows.map((row) => ({ x: values[row + at], y: values[row + of], low: null, high: null }));
  return {
    ...facts,
    title: `${title} over elevation`,
    form: "curves",
    type: "link-budget",
    x: { title: "Elevation", unit: "°", scale: "linear", domain: [0, 90] },
    y: { title, unit, scale: "linear", domain: null },
    series: [{ label: title, kind: "measured", points: points.sort((a, b) => a.x - b.x) }],
    step: false,
    front: null,
  };
}
