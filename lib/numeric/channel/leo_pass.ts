/**
 * The pass of a satellite on a circular orbit of height h over a spherical Earth that does not rotate:
 *
 *     ω = sqrt(μ/(R+h)³)                               angular speed, h = 600 km, R = 6371 km
 *     ψ = ω·t                                          along the track, 0 where the satellite is highest
 *     χ = arccos(R·cos e₀/(R+h)) - e₀                  across the track, for a peak elevation e₀
 *     cos γ = cos ψ·cos χ                              angle at the centre of the Earth
 *     d = sqrt(R² + (R+h)² - 2R(R+h)·cos γ)            slant range
 *     sin e = ((R+h)·cos γ - R)/d                      elevation
 *     f = -f_max·(dd/dt)/(ωR) = -f_max·(R+h)·sin ψ·cos χ/d
 *
 * so a pass through the zenith has the Doppler ±f_max at the horizon. The pass is |ψ| <= ψ_max = 15.836°, where a pass
 * through the zenith has an elevation of 10°; the beams of the satellite's footprint divide it evenly, and the position
 * b = (ψ + ψ_max)/(2ψ_max)·B - 1/2 is the index of a beam at its middle.
 *
 * Sources: Maral and Bousquet, Satellite Communications Systems, 5th ed., 2009, 2.3; Ali, Al-Dhahir and Hershey, "Doppler
 * characterization for LEO satellites", IEEE Trans. Commun. 46, 1998; 3GPP TR 38.811, section 5.3.4 (600 km, 10°).
 */

/** Metres. */
export const EARTH_RADIUS = 6_371_000;
/** Exported for tests. */
export const ORBIT_HEIGHT = 600_000;
const ORBIT_RADIUS = EARTH_RADIUS + ORBIT_HEIGHT;
/** m³/s² */
export const GRAVITY = 3.986004418e14;

/** ω, radians per second. */
export const ANGULAR_SPEED = Math.sqrt(GRAVITY / ORBIT_RADIUS ** 3);

/** The angle at the centre of the Earth for an elevation of the satellite, radians. */
export function centralAngle(elevationDeg: number): number {
  const elevation = elevationDeg * Math.PI / 180;
  return Math.acos(EARTH_RADIUS * Math.cos(elevation) / ORBIT_RADIUS) - elevation;
}

/** ψ_max, radians. Exported for tests. */
export const HALF_PASS = centralAngle(10);
/** Seconds from one end of the pass to the other. */
export const PASS_SECONDS = 2 * HALF_PASS / ANGULAR_SPEED;

/** Geometry of the satellite at a terminal. */
export interface SatelliteState {
  /** Metres. */
  slantRange: number;
  elevationDeg: number;
  /** Relative to the largest, -1 … 1; positive while the satellite approaches. */
  doppler: number;
}

/** @param psi along the track; @param chi across it; radians */
export function satelliteState(psi: number, chi: number): SatelliteState {
  const cosine = Math.cos(psi) * Math.cos(chi);
  const slantRange = Math.sqrt(EARTH_RADIUS ** 2 + ORBIT_RADIUS ** 2 - 2 * EARTH_RADIUS * ORBIT_RADIUS * cosine);
  const sine = Math.min(1, Math.max(-1, (ORBIT_RADIUS * cosine - EARTH_RADIUS) / slantRange));
  return {
    slantRange,
    elevationDeg: Math.asin(sine) * 180 / Math.PI,
    // Adding 0 turns -0, the value at the highest point, into 0.
    doppler: -ORBIT_RADIUS * Math.sin(psi) * Math.cos(chi) / slantRange + 0,
  };
}

/** b along the track. */
export function beamPosition(psi: number, beamCount: number): number {
  return (psi + HALF_PASS) / (2 * HALF_PASS) * beamCount - 0.5;
}

/** The beam nearest to a position, 0 … beamCount - 1; the next one at a midpoint. */
export function servingBeam(position: number, beamCount: number): number {
  return Math.min(beamCount - 1, Math.max(0, Math.floor(position + 0.5)));
}

/** Seconds from ψ to the start of the next beam; Infinity in the last one. */
export function secondsToHandover(psi: number, beamCount: number): number {
  const position = beamPosition(psi, beamCount), serving = servingBeam(position, beamCount);
  if (serving === beamCount - 1) return Infinity;
  return (serving + 0.5 - position) / beamCount * PASS_SECONDS;
}
