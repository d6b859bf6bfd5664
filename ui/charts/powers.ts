/** Powers over parallel channels, above their noise floors, compared with water-filling. */
import type { LevelFigure } from "../../lib/figure/types.ts";
import { noiseFloors, waterLevel } from "../../lib/numeric/link/water_filling.ts";

/** Range of the y axis, in water levels. */
const CEILING = 1.6, LEAST_CEILING = 1.15;

/**
 * The figure of one snapshot.
 *
 * @param gains |h|² of each channel
 */
export function powerFigure(
  powers: Float64Array,
  gains: Float64Array,
  noiseVariance: number,
  facts: { title: string; subtitle: string; source: Record<string, string> },
): LevelFigure {
  const floors = noiseFloors(gains, noiseVariance), budget = powers.reduce((sum, power) => sum + power, 0);
  const level = waterLevel(floors, budget);
  // The y axis covers all channels with power; the noise floor of the poorest may exceed it.
  const wet = Array.from(powers, (power, k) => power > 0 ? floors[k] + power : 0).filter(Number.isFinite);
  const highest = Math.max(0, ...wet);
  const ceiling = Number.isFinite(level)
    ? Math.min(Math.max(level * CEILING, highest * LEAST_CEILING), level * 3)
    : highest * LEAST_CEILING || 1;
  return {
    ...facts,
    form: "levels",
    type: "power-allocation",
    x: { title: "Subcarrier", unit: "", scale: "linear", domain: null },
    y: { title: "Power on N0/|H|²", unit: "", scale: "linear", domain: null },
    floor: {
      label: "Noise over gain N0/|H|²",
      values: Array.from(floors, (floor) => Number.isFinite(floor) ? floor : null),
    },
    amount: { label: "Power", values: Array.from(powers) },
    level: Number.isFinite(level) ? { label: "Water level of this budget", value: level } : null,
    ceiling,
  };
}
