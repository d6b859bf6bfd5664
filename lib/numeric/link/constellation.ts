/**
 * Constellations of any points: 2^K complex points by label (first bit highest), unit mean power for equally likely labels,
 *
 *     c_m = p_m / sqrt(mean |p|²)
 *
 * and their log-likelihood ratios, ln P(0|y)/P(1|y) from ln P(y|c_m) = -|y - c_m|²/N0: `exact` sums over all points of a bit
 * value, `max_log` takes the nearest one. Points that are not equally likely add ln P(c_m).
 *
 * The tables: 8PSK, 16APSK and 32APSK of DVB-S2, whose ring ratios depend on the code rate; 16PSK with Gray labels from the angle 0 on;
 * PAM with the levels and labels of one part of 16QAM and 64QAM. BPSK of TS 38.211 is turned by pi/4, pi/2-BPSK by pi/2 more at odd
 * symbols.
 *
 * Sources: ETSI EN 302 307-1 V1.4.1, 5.4 (figures 10 to 12, tables 9 and 10); TS 38.211 V16.2.0, 5.1.1 and 5.1.2.
 *
 * Shapes: points interleaved [2·2^K]; bits uint8 [n] -> symbols complex64 [ceil(n / K)] interleaved -> llr float32 [K·n].
 */
import { LEAST_NOISE_VARIANCE, type LlrMethod, logSum, modulate, partLevels } from "./modulation.ts";
import { BITS_PER_SYMBOL, type Modulation } from "./modulations.ts";

/** Most bits that a symbol carries. */
export const MAXIMUM_WIDTH = 8;

/** All labels of a width as bits, the first bit highest. */
export function labelBits(width: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: width << width }, (_, i) => (Math.floor(i / width) >> (width - 1 - i % width)) & 1);
}

/** The points of a Gray mapping of TS 38.211. */
export const grayPoints = (modulation: Modulation): Float32Array =>
  modulate(labelBits(BITS_PER_SYMBOL[modulation]), modulation);

export const TABLE_MODULATIONS = ["psk8", "psk16", "pam4", "pam8", "apsk16", "apsk32"] as const;
export type TableModulation = typeof TABLE_MODULATIONS[number];

/** Ring radii by code rate, the inner one 1. */
const APSK_RADII = {
  apsk16: { "2_3": [1, 3.15], "3_4": [1, 2.85], "4_5": [1, 2.75], "5_6": [1, 2.7], "8_9": [1, 2.6], "9_10": [1, 2.57] },
  apsk32: {
    "3_4": [1, 2.84, 5.27],
    "4_5": [1, 2.72, 4.87],
    "5_6": [1, 2.64, 4.64],
    "8_9": [1, 2.54, 4.33],
    "9_10": [1, 2.53, 4.3],
  },
} as const;
export const APSK_RATES = ["2_3", "3_4", "4_5", "5_6", "8_9", "9_10"] as const;
export type ApskRate = typeof APSK_RATES[number];

/** Ring and angle in units of pi/24 by label. */
const ANGLES = {
  psk8: "0:6 0:0 0:24 0:30 0:12 0:42 0:18 0:36",
  psk16: Array.from({ length: 16 }, (_, label) => `0:${3 * (label ^ label >> 1 ^ label >> 2 ^ label >> 3)}`).join(" "),
  apsk16: "1:6 1:-6 1:18 1:-18 1:2 1:-2 1:22 1:-22 1:10 1:-10 1:14 1:-14 0:6 0:-6 0:18 0:-18",
  apsk32: "1:6 1:10 1:-6 1:-10 1:18 1:14 1:-18 1:-14 2:3 2:9 2:-6 2:-12 2:18 2:12 2:-21 2:-15 " +
    "1:2 0:6 1:-2 0:-6 1:22 0:18 1:-22 0:-18 2:0 2:6 2:-3 2:-9 2:21 2:15 2:24 2:-18",
};

/** The points of a table. @throws RangeError for a code rate that the standard does not use with it */
export function tablePoints(name: TableModulation, rate: ApskRate = "3_4"): Float32Array<ArrayBuffer> {
  if (name === "pam4" || name === "pam8") {
    return normalizedPoints([...partLevels(name === "pam4" ? "qam16" : "qam64")].flatMap((level) => [level, 0]));
  }
  const radii = name === "psk8" || name === "psk16"
    ? [1]
    : (APSK_RADII[name] as Partial<Record<ApskRate, readonly number[]>>)[rate];
  if (radii === undefined) {
    throw new RangeError(`Cannot use ${name} at the code rate ${rate.replace("_", "/")}: DVB-S2 does not`);
  }
  return normalizedPoints(
    ANGLES[name].split(" ").flatMap((point) => {
      const [ring, angle] = point.split(":").map(Number);
      return [radii[ring] * Math.cos(angle * Math.PI / 24), radii[ring] * Math.sin(angle * Math.PI / 24)];
    }),
  );
}

/** BPSK of TS 38.211 (`fixed`) and pi/2-BPSK (`alternating`). */
export type BpskRotation = "none" | "fixed" | "alternating";

/** Turns symbols in place, those from the index `from` on; `back` undoes it. */
export function rotateBpsk(
  symbols: Float32Array,
  rotation: BpskRotation,
  { from = 0, back = false } = {},
): Float32Array {
  if (rotation === "none") return symbols;
  for (let i = 0; i < symbols.length; i += 2) {
    const odd = rotation === "alternating" && (from + i / 2) % 2 === 1;
    const cos = odd ? -Math.SQRT1_2 : Math.SQRT1_2, sin = back ? -Math.SQRT1_2 : Math.SQRT1_2;
    const re = symbols[i], im = symbols[i + 1];
    symbols[i] = cos * re - sin * im;
    symbols[i + 1] = sin * re + cos * im;
  }
  return symbols;
}

/** Points scaled to unit mean power. @throws RangeError for points without power */
export function normalizedPoints(points: ArrayLike<number>): Float32Array<ArrayBuffer> {
  let energy = 0;
  for (let i = 0; i < points.length; i++) energy += points[i] ** 2;
  const scale = Math.sqrt(points.length / 2 / energy);
  if (!Number.isFinite(scale)) throw new RangeError("Cannot normalise a constellation without power");
  return Float32Array.from(points, (part) => part * scale);
}

/** Least probability of a point in ratios, so that one that never occurs leaves them finite. */
const LEAST_PROBABILITY = 1e-12;

/**
 * Points of a square QAM whose amplitudes have probabilities by label, of unit mean power, and the probability of each point. Both
 * parts of a symbol are drawn alike, their signs are equally likely.
 */
export function shapedPoints(modulation: Modulation, shares: readonly number[]) {
  const points = grayPoints(modulation), bits = BITS_PER_SYMBOL[modulation], labels = labelBits(bits);
  const probabilities = Array.from({ length: 2 ** bits }, (_, m) => {
    const part = [0, 0];
    for (let bit = 2; bit < bits; bit++) part[bit % 2] = 2 * part[bit % 2] + labels[m * bits + bit];
    return shares[part[0]] * shares[part[1]] / 4;
  });
  const power = probabilities.reduce((sum, p, m) => sum + p * (points[2 * m] ** 2 + points[2 * m + 1] ** 2), 0);
  return { points: points.map((part) => part / Math.sqrt(power)), probabilities };
}

/** LLRs of received symbols; N0 is one for all symbols, or one per symbol; points are equally likely without probabilities. */
export function constellationLlr(
  symbols: Float32Array,
  points: Float32Array,
  noiseVariance: number | Float32Array,
  method: LlrMethod,
  probabilities?: readonly number[],
): Float32Array<ArrayBuffer> {
  const size = points.length / 2, width = Math.log2(size), count = symbols.length / 2;
  const surprise = Float64Array.from(
    { length: size },
    (_, m) => probabilities === undefined ? 0 : -Math.log(Math.max(probabilities[m], LEAST_PROBABILITY)),
  );
  const llr = new Float32Array(count * width), distances = new Float64Array(size);
  const side = method === "exact" ? logSum : nearest;
  for (let i = 0; i < count; i++) {
    const variance = typeof noiseVariance === "number" ? noiseVariance : noiseVariance[i];
    const precision = 1 / Math.max(variance, LEAST_NOISE_VARIANCE);
    for (let m = 0; m < size; m++) {
      distances[m] = ((symbols[2 * i] - points[2 * m]) ** 2 + (symbols[2 * i + 1] - points[2 * m + 1]) ** 2) *
          precision + surprise[m];
    }
    for (let bit = 0; bit < width; bit++) {
      const mask = size >> (bit + 1);
      llr[i * width + bit] = side(distances, mask, 0) - side(distances, mask, mask);
    }
  }
  return llr;
}

/** The negative least distance of the labels whose bit `mask` has the value `wanted`. */
function nearest(distances: Float64Array, mask: number, wanted: number): number {
  let least = Infinity;
  for (let m = 0; m < distances.length; m++) if ((m & mask) === wanted) least = Math.min(least, distances[m]);
  return -least;
}
