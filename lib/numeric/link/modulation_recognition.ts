/**
 * Recognises the modulation of a frame of N symbols y, y_n = x_n·e^{jφ} + noise of variance N0, among constellations
 * that are products of two amplitude sets (BPSK: ±1 and 0; QPSK: ±1/√2 twice; 16QAM: ±1, ±3 over √10 twice; 64QAM and 256QAM
 * alike):
 *
 *     cumulants    |C40| and C42 over the squared signal power max(P - N0, P/100), nearest to those of a constellation:
 *                  C40 = E[y⁴] - 3E[y²]²,  C42 = E|y|⁴ - |E[y²]|² - 2E[|y|²]²
 *     likelihood   log of the mean over 64 equal phases of Π_n mean_s exp(-|y_n·e^{-jφ} - s|²/N0), the maximum-likelihood
 *                  classifier for an unknown phase: for equally likely classes it has the least error probability
 *     evm          mean squared distance to the nearest point after the M-th power phase estimate (M = 2 for BPSK, else 4);
 *                  it favours dense constellations where noise is strong
 *
 * Scores are larger for likelier classes. A frame of zeros has zero cumulants.
 *
 * Sources: Swami and Sadler, "Hierarchical digital modulation classification using cumulants", IEEE Trans. Commun. 48, 2000;
 * Wei and Mendel, "Maximum-likelihood classification for digital amplitude-phase modulations", IEEE Trans. Commun. 48, 2000.
 */
import { partLevels } from "./modulation.ts";
import { type Modulation, MODULATIONS } from "./modulations.ts";

/** Classes where none are named. */
export const MODULATION_CLASSES: readonly Modulation[] = ["bpsk", "qpsk", "qam16"];

/** Phases of the mean likelihood. */
const PHASES = 64;
/** Lower limit of the noise variance. */
const LEAST_NOISE_VARIANCE = 1e-12;

interface Constellation {
  real: readonly number[];
  imaginary: readonly number[];
  /** The constellation repeats after a full turn divided by this. */
  symmetry: number;
  /** arg E[x^symmetry] of the constellation without rotation. */
  powerPhase: number;
  c40: number;
  c42: number;
}

const CONSTELLATIONS = Object.fromEntries(
  MODULATIONS.map((modulation) => [modulation, modulation === "bpsk" ? BPSK() : squareQam(modulation)]),
) as Record<Modulation, Constellation>;

function BPSK(): Constellation {
  return { real: [-1, 1], imaginary: [0], symmetry: 2, powerPhase: 0, c40: 2, c42: -2 };
}

/** |E x⁴| = 3/2 - 2 E a⁴ for a part a of power 1/2, without fourth cumulants of a Gaussian. */
function squareQam(modulation: Modulation): Constellation {
  const levels = [...partLevels(modulation)].sort((a, b) => a - b);
  const fourth = levels.reduce((sum, level) => sum + level ** 4, 0) / levels.length;
  const c40 = Number((1.5 - 2 * fourth).toPrecision(12));
  return { real: levels, imaginary: levels, symmetry: 4, powerPhase: Math.PI, c40, c42: -c40 };
}

type Classifier = (frame: Float32Array, noiseVariance: number, classes?: readonly Modulation[]) => number[];

const eachClass = (classes: readonly Modulation[], score: (constellation: Constellation) => number) =>
  classes.map((name) => score(CONSTELLATIONS[name]));

/** Minus the distance of (|C40|, C42) from each constellation's. */
export const cumulantScores: Classifier = (frame, noiseVariance, classes = MODULATION_CLASSES) => {
  const count = frame.length / 2;
  let sr = 0, si = 0, fr = 0, fi = 0, power = 0, fourth = 0;
  for (let i = 0; i < frame.length; i += 2) {
    const a = frame[i], b = frame[i + 1], p = a * a + b * b, r = a * a - b * b, q = 2 * a * b;
    sr += r / count;
    si += q / count;
    fr += (r * r - q * q) / count;
    fi += 2 * r * q / count;
    power += p / count;
    fourth += p * p / count;
  }
  const scale = Math.max(power - noiseVariance, 0.01 * power) ** 2;
  const real = fr - 3 * (sr * sr - si * si), imaginary = fi - 6 * sr * si;
  const c40 = scale > 0 ? Math.hypot(real, imaginary) / scale : 0;
  const c42 = scale > 0 ? (fourth - (sr * sr + si * si) - 2 * power * power) / scale : 0;
  return eachClass(classes, (constellation) => -Math.hypot(c40 - constellation.c40, c42 - constellation.c42));
};

/** Log-likelihood of each class, up to a common term. */
export const likelihoodScores: Classifier = (frame, noiseVariance, classes = MODULATION_CLASSES) => {
  const noise = Math.max(noiseVariance, LEAST_NOISE_VARIANCE);
  return eachClass(classes, ({ real, imaginary, symmetry }) => {
    // The likelihood repeats with the symmetry of the constellation.
    const own = Array.from({ length: PHASES / symmetry }, (_, p) => {
      const cosine = Math.cos(2 * Math.PI * p / PHASES), sine = Math.sin(2 * Math.PI * p / PHASES);
      let sum = 0;
      for (let i = 0; i < frame.length; i += 2) {
        const a = frame[i] * cosine + frame[i + 1] * sine, b = frame[i + 1] * cosine - frame[i] * sine;
        sum += logMeanGauss(a, real, noise) + logMeanGauss(b, imaginary, noise);
      }
      return sum;
    });
    const largest = Math.max(...own);
    return largest + Math.log(own.reduce((sum, value) => sum + Math.exp(value - largest), 0) / own.length);
  });
};

/** log of the mean over the levels of exp(-(t - level)²/N0) */
function logMeanGauss(t: number, levels: readonly number[], noise: number): number {
  let least = Infinity, sum = 0;
  for (const level of levels) least = Math.min(least, (t - level) ** 2);
  for (const level of levels) sum += Math.exp((least - (t - level) ** 2) / noise);
  return Math.log(sum / levels.length) - least / noise;
}

/** Minus the mean squared distance to the nearest point of each constellation. */
export const evmScores: Classifier = (frame, _noiseVariance, classes = MODULATION_CLASSES) =>
  eachClass(classes, ({ real, imaginary, symmetry, powerPhase }) => {
    let pr = 0, pi = 0;
    for (let i = 0; i < frame.length; i += 2) {
      const modulus = Math.hypot(frame[i], frame[i + 1]) ** symmetry;
      const angle = symmetry * Math.atan2(frame[i + 1], frame[i]);
      pr += modulus * Math.cos(angle);
      pi += modulus * Math.sin(angle);
    }
    const phase = (Math.atan2(pi, pr) - powerPhase) / symmetry, cosine = Math.cos(phase), sine = Math.sin(phase);
    let sum = 0;
    for (let i = 0; i < frame.length; i += 2) {
      sum += nearest(frame[i] * cosine + frame[i + 1] * sine, real);
      sum += nearest(frame[i + 1] * cosine - frame[i] * sine, imaginary);
    }
    return -sum / (frame.length / 2);
  });

function nearest(t: number, levels: readonly number[]): number {
  let least = Infinity;
  for (const level of levels) least = Math.min(least, (t - level) ** 2);
  return least;
}

/** Index of the largest score, the lowest of equal ones. */
export function bestClass(scores: ArrayLike<number>): number {
  let best = 0;
  for (let i = 1; i < scores.length; i++) if (scores[i] > scores[best]) best = i;
  return best;
}
