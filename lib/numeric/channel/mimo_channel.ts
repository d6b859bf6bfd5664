/**
 * Channel matrices of antenna arrays over a tapped delay line or clusters, at one time or at several.
 *
 *     correlation   H_l = L_rx A_l L_txᵀ, L the Cholesky factor of R; exponential R_ij = ρ^|i-j|; TS 36.101 B.2.3 with
 *                   (α, β) = (0, 0), (0.3, 0.9), (0.9, 0.9): 2 antennas [[1, ρ], [ρ, 1]], 4 antennas ρ^((|i-j|/3)²)
 *     cdl           Σ sqrt(P_c / 20) e^{jφ} a_rx(AoA, ZoA) a_tx(AoD, ZoD)ᵀ over 20 rays of each cluster, with the ray offsets
 *                   of TR 38.901 table 7.5-3, half-wavelength arrays along y, a_n = e^{jπ n sin(zenith) sin(azimuth)};
 *                   departures are coupled to arrivals by a permutation per cluster. A line of sight is one ray.
 *                   In motion a ray has the Doppler shift f_d·sin(ZoA)·cos(AoA - φ_v), φ_v the azimuth of travel
 *     polarised     h± = (A ± B/√κ)/√(1 + 1/κ): A and B two such draws with the same angles for one vertical receive antenna and the
 *                   pairs of transmit antennas at ±45°, κ the cross-polarisation ratio of the profile (equation 7.5-22)
 *
 * Sources: TR 38.901 V17, 7.5 and 7.7.1; TS 36.101, B.2.3; Kermoal et al., IEEE JSAC 20, 2002 (Kronecker model).
 */
import cdl from "../data/cdl_models.json" with { type: "json" };
import { type DelayProfile, frequencyResponse, type Motion, movingTaps, type ProfileModel } from "./delay_profile.ts";
import { cholesky, zeros } from "../linalg/linear_algebra.ts";
import type { Generator } from "../random/random.ts";

export const CORRELATIONS = ["exponential", "ts36101_low", "ts36101_medium", "ts36101_high"] as const;
export type CorrelationModel = typeof CORRELATIONS[number];

const TS36101: Readonly<Record<string, readonly [tx: number, rx: number]>> = {
  ts36101_low: [0, 0],
  ts36101_medium: [0.3, 0.9],
  ts36101_high: [0.9, 0.9],
};
/** Offsets of the rays of a cluster in units of its spread, TR 38.901 table 7.5-3. */
const RAY_OFFSETS = [0.0447, 0.1413, 0.2492, 0.3715, 0.5129, 0.6797, 0.8844, 1.1481, 1.5195, 2.1551]
  .flatMap((offset) => [offset, -offset]);

export interface Antennas {
  readonly tx: number;
  readonly rx: number;
}

/** Correlation matrix of an array. @throws RangeError for an array without a table in TS 36.101 */
function correlationMatrix(model: CorrelationModel, count: number, side: 0 | 1, rho: number): Float64Array {
  const own = model === "exponential" ? rho : TS36101[model][side];
  if (model !== "exponential" && ![1, 2, 4].includes(count)) {
    throw new RangeError(`Cannot correlate ${count} antennas by TS 36.101: it has tables for 1, 2 and 4`);
  }
  const matrix = zeros(count, count);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < count; j++) {
      const distance = Math.abs(i - j);
      const exponent = model === "exponential" || count === 2 ? distance : (distance / 3) ** 2;
      matrix[2 * (i * count + j)] = distance === 0 ? 1 : own === 0 ? 0 : own ** exponent;
    }
  }
  return matrix;
}

/** Cholesky factors of both sides; real matrices. @throws RangeError for an array without a table */
export function correlationFactors(
  model: CorrelationModel,
  { tx, rx }: Antennas,
  { txCorrelation, rxCorrelation }: { txCorrelation: number; rxCorrelation: number },
) {
  return {
    tx: cholesky(correlationMatrix(model, tx, 0, txCorrelation), tx),
    rx: cholesky(correlationMatrix(model, rx, 1, rxCorrelation), rx),
  };
}

/** Taps of unit variance for each pair of antennas: value = drawn[pair·pairs + sample·times + tap·delays]. */
interface DrawnTaps {
  drawn: Float64Array;
  samples: number;
  pairs: number;
  times: number;
  delays: number;
}

/**
 * Frequency responses of a drawn tapped delay line. Draws one complex normal [tap, rx, tx]; in motion random() as
 * {@link movingTaps} does for rx·tx realisations.
 * @param motion several samples in time; one without it
 * @returns interleaved [sample, rx, tx, subcarrier]
 */
export function tdlResponse(
  profile: DelayProfile,
  antennas: Antennas,
  factors: ReturnType<typeof correlationFactors>,
  { count, spacing }: { count: number; spacing: number },
  generator: Generator,
  motion?: Motion,
): Float64Array {
  const { tx, rx } = antennas, taps = profile.powers.length, size = rx * tx;
  let values: DrawnTaps;
  if (motion === undefined) {
    const drawn = generator.complexNormal64(taps * size, 1);
    values = { drawn, samples: 1, pairs: 1, times: 0, delays: size };
  } else {
    const { samples } = motion,
      drawn = movingTaps({ ...profile, powers: UNIT.slice(0, taps) }, size, motion, generator);
    values = { drawn, samples, pairs: samples * taps, times: taps, delays: 1 };
  }
  return frequencyResponse(correlated(profile, antennas, factors, values), profile, { count, spacing });
}

/** More than the taps of any profile. */
const UNIT = new Float64Array(64).fill(1);

/** Correlated taps of all pairs of antennas, with their powers, interleaved [sample, rx, tx, tap]. */
function correlated(
  profile: DelayProfile,
  { tx, rx }: Antennas,
  factors: ReturnType<typeof correlationFactors>,
  { drawn, samples, pairs, times, delays }: DrawnTaps,
): Float64Array {
  const taps = profile.powers.length, size = rx * tx, rows = new Float64Array(2 * samples * size * taps);
  for (let sample = 0; sample < samples; sample++) {
    for (let tap = 0; tap < taps; tap++) {
      const first = sample * times + tap * delays;
      const scale = Math.sqrt(profile.powers[tap]), sight = profile.lineOfSight && tap === 0;
      const modulus = sight ? Math.hypot(drawn[2 * first], drawn[2 * first + 1]) : 1;
      for (let r = 0; r < rx; r++) {
        for (let t = 0; t < tx; t++) {
          let real = 0, imaginary = 0;
          if (sight) {
            real = drawn[2 * first] / modulus;
            imaginary = drawn[2 * first + 1] / modulus;
          } else {
            for (let i = 0; i <= r; i++) {
              for (let j = 0; j <= t; j++) {
                const weight = factors.rx[2 * (r * rx + i)] * factors.tx[2 * (t * tx + j)];
                const from = 2 * (first + (i * tx + j) * pairs);
                real += weight * drawn[from];
                imaginary += weight * drawn[from + 1];
              }
            }
          }
          const to = 2 * ((sample * size + r * tx + t) * taps + tap);
          rows[to] = scale * real;
          rows[to + 1] = scale * imaginary;
        }
      }
    }
  }
  return rows;
}

/**
 * Gains of drawn clusters, with their powers. Draws a permutation of the rays of each cluster, then uniform phases [cluster, ray]; in
 * motion then the azimuth of travel, uniform.
 * @param motion several samples in time, with the Doppler shifts of the rays; one without it
 * @param turnedDeg degrees by which all azimuths of departure are turned
 * @returns interleaved [sample, rx, tx, cluster]
 */
export function cdlTaps(
  model: ProfileModel,
  profile: DelayProfile,
  { tx, rx }: Antennas,
  generator: Generator,
  motion?: Motion,
  turnedDeg = 0,
): Float64Array {
  const { samples, interval, dopplerHz, start = 0 } = motion ?? { samples: 1, interval: 0, dopplerHz: 0 };
  const table = cdl.models[model], clusters = profile.powers.length, rays = RAY_OFFSETS.length;
  const coupling = Array.from({ length: clusters }, () => generator.permutation(rays));
  const phases = generator.uniform(0, 2 * Math.PI, clusters * rays);
  const travel = motion === undefined ? 0 : generator.uniform(0, 2 * Math.PI, 1)[0];
  const rows = new Float64Array(2 * samples * rx * tx * clusters), degree = Math.PI / 180;
  const spatial = (zenith: number, azimuth: number) => Math.PI * Math.sin(zenith * degree) * Math.sin(azimuth * degree);
  for (let c = 0; c < clusters; c++) {
    const sight = table.line_of_sight && c === 0, used = sight ? 1 : rays, scale = Math.sqrt(profile.powers[c] / used);
    for (let m = 0; m < used; m++) {
      const offset = sight ? 0 : RAY_OFFSETS[m], coupled = sight ? 0 : RAY_OFFSETS[coupling[c][m]];
      const zenith = table.arrival_zenith_deg[c] + table.arrival_zenith_spread_deg * offset;
      const azimuth = table.arrival_azimuth_deg[c] + table.arrival_azimuth_spread_deg * offset;
      const arrival = spatial(zenith, azimuth);
      const turn = 2 * Math.PI * dopplerHz * Math.sin(zenith * degree) * Math.cos(azimuth * degree - travel);
      const departure = spatial(
        table.departure_zenith_deg[c] + table.departure_zenith_spread_deg * coupled,
        table.departure_azimuth_deg[c] + table.departure_azimuth_spread_deg * coupled + turnedDeg,
      );
      for (let r = 0; r < rx; r++) {
        for (let t = 0; t < tx; t++) {
          for (let sample = 0; sample < samples; sample++) {
            const angle = phases[c * rays + m] + r * arrival + t * departure + turn * (start + sample * interval);
            const to = 2 * (((sample * rx + r) * tx + t) * clusters + c);
            rows[to] += scale * Math.cos(angle);
            rows[to + 1] += scale * Math.sin(angle);
          }
        }
      }
    }
  }
  return rows;
}

/** Frequency responses of {@link cdlTaps}. @returns interleaved [sample, rx, tx, subcarrier] */
export function cdlResponse(
  model: ProfileModel,
  profile: DelayProfile,
  antennas: Antennas,
  { count, spacing }: { count: number; spacing: number },
  generator: Generator,
  motion?: Motion,
  turnedDeg = 0,
): Float64Array {
  const taps = cdlTaps(model, profile, antennas, generator, motion, turnedDeg);
  return frequencyResponse(taps, profile, { count, spacing });
}

/**
 * Frequency responses from an array of antennas of two polarisations to one vertical antenna: those at +45°, then those at -45°. Draws
 * as {@link cdlResponse} twice. Profiles with a line of sight are not for it.
 * @param perPolarisation antennas of one polarisation
 * @returns interleaved [tx, subcarrier]
 */
export function polarisedResponse(
  model: ProfileModel,
  profile: DelayProfile,
  perPolarisation: number,
  subcarriers: { count: number; spacing: number },
  generator: Generator,
  turnedDeg: number,
): Float64Array {
  const antennas = { tx: perPolarisation, rx: 1 };
  const [along, across] = [0, 1].map(() =>
    cdlResponse(model, profile, antennas, subcarriers, generator, undefined, turnedDeg)
  );
  const ratio = 10 ** (-cdl.models[model].cross_polarisation_ratio_db / 20), scale = 1 / Math.hypot(1, ratio);
  const out = new Float64Array(2 * along.length);
  along.forEach((value, i) => {
    out[i] = scale * (value + ratio * across[i]);
    out[along.length + i] = scale * (value - ratio * across[i]);
  });
  return out;
}
