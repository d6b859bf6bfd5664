/**
 * Downlink of a satellite on a circular orbit of height h, at an elevation e:
 *
 *     γ = arccos(R·cos e/(R+h)) - e                    angle at the centre of the Earth, R = 6371 km
 *     d = sqrt(R² + (R+h)² - 2R(R+h)·cos γ)            slant range
 *     FSPL = 32.45 + 20·log10(f_GHz) + 20·log10(d_m)   free-space loss in dB
 *     CNR = EIRP + G/T - FSPL - losses + 228.6 - 10·log10(B_Hz), EIRP = density + 10·log10(B_MHz)
 *     f_D = (f_c/c)·ω(R+h)R·sin γ/d, ω = sqrt(μ/(R+h)³)   Doppler of a pass through the zenith, approaching
 *
 * The atmosphere costs A/sin e, A its loss at the zenith. The Earth does not rotate (lib/numeric/channel/leo_pass.ts).
 *
 * Source: 3GPP TR 38.821 V16.2.0, section 6.1.3.1; TR 38.811 V15.4.0, section 6.6.
 */
import { EARTH_RADIUS, GRAVITY } from "./leo_pass.ts";
import { SPEED_OF_LIGHT } from "../antenna/near_field.ts";

/** -10·log10 of Boltzmann's constant, dBW/(K·Hz), as TR 38.821 rounds it. */
const BOLTZMANN_DB = 228.6;

export interface SatelliteLink {
  altitudeKm: number;
  carrierGhz: number;
  /** dBW/MHz */
  eirpDensity: number;
  /** dB/K */
  gainOverTemperature: number;
  bandwidthMhz: number;
  /** dB at the zenith */
  atmosphericLoss: number;
  /** dB, at any elevation: shadowing margin, scintillation, polarisation. */
  otherLosses: number;
}

export interface LinkBudget {
  slantRangeKm: number;
  freeSpaceLossDb: number;
  atmosphericLossDb: number;
  cnrDb: number;
  delayMs: number;
  dopplerKhz: number;
}

/** The link at an elevation above 0°, at most 90°. */
export function linkBudget(link: SatelliteLink, elevationDeg: number): LinkBudget {
  const elevation = elevationDeg * Math.PI / 180, orbit = EARTH_RADIUS + link.altitudeKm * 1e3;
  const central = Math.acos(EARTH_RADIUS * Math.cos(elevation) / orbit) - elevation;
  const range = Math.sqrt(EARTH_RADIUS ** 2 + orbit ** 2 - 2 * EARTH_RADIUS * orbit * Math.cos(central));
  const freeSpaceLossDb = 32.45 + 20 * Math.log10(link.carrierGhz) + 20 * Math.log10(range);
  const atmosphericLossDb = link.atmosphericLoss / Math.sin(elevation);
  const eirp = link.eirpDensity + 10 * Math.log10(link.bandwidthMhz);
  const losses = freeSpaceLossDb + atmosphericLossDb + link.otherLosses;
  const closing = Math.sqrt(GRAVITY / orbit ** 3) * orbit * EARTH_RADIUS * Math.sin(central) / range;
  return {
    slantRangeKm: range / 1e3,
    freeSpaceLossDb,
    atmosphericLossDb,
    cnrDb: eirp + link.gainOverTemperature - losses + BOLTZMANN_DB - 10 * Math.log10(link.bandwidthMhz * 1e6),
    delayMs: range / SPEED_OF_LIGHT * 1e3,
    dopplerKhz: link.carrierGhz * 1e6 * closing / SPEED_OF_LIGHT,
  };
}
