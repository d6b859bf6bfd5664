/**
 * Enhanced Type II codebook of NR, for one or two layers and N3 subbands (R = 1, N3 <= 19).
 *
 *     w(t)   Σ_i Σ_f p1·p2·φ·b_i·e^{j2π·t·n_f/N3} over i of 2L beams (L orthogonal DFT beams of one rotation, for both polarisations)
 *            and f of M = ceil(p·N3) of N3 delays, n_0 = 0; scaled to unit norm in each subband
 *     p1     amplitude of a polarisation, 1 for that of the strongest coefficient, else 2^{-k/4}, k = 0 … 14
 *     p2     2^{-k/2}, k = 0 … 7;  φ = e^{j2πk/16};  at most K0 = ceil(2·β·L·M) coefficients of a layer are not 0
 *
 * A report is chosen from vectors of unit norm: the phase of a subband is that of the beam of most power, the beams are those of most power over
 * all layers, the delays those of most power beside that of the strongest coefficient, the coefficients the largest ones, rounded.
 *
 * Source: TS 38.214 V17, 5.2.2.2.5, tables 5.2.2.2.5-1 to 5.2.2.2.5-3.
 */
import { matrixProduct } from "../linalg/linear_algebra.ts";
import type { Panel } from "./nr_codebook.ts";

/** L, p and β of paramCombination-r16 1 to 6, for one and two layers. */
const COMBINATIONS = [
  [2, 1 / 4, 1 / 4],
  [2, 1 / 4, 1 / 2],
  [4, 1 / 4, 1 / 4],
  [4, 1 / 4, 1 / 2],
  [4, 1 / 4, 3 / 4],
  [4, 1 / 2, 1 / 2],
] as const;
export const MOST_SUBBANDS = 19;

/** What keeps a codebook from being built, or undefined. */
export function typeTwoProblem({ n1, n2 }: Panel, layers: number, combination: number): string | undefined {
  const [beams] = COMBINATIONS[combination - 1];
  if (n1 * n2 < beams) {
    return `paramCombination ${combination} has ${beams} beams, and a polarisation ${n1 * n2} antennas`;
  }
  return layers > 2 ? "the enhanced Type II codebook has one or two layers here" : undefined;
}

const choose = (n: number, k: number): number => k === 0 ? 1 : choose(n - 1, k - 1) * n / k;
const bitsOf = (count: number): number => Math.ceil(Math.log2(count));

/** The exponent of the amplitude 2^{-k·step} nearest to a value, 0 … most. */
const exponent = (value: number, step: number, most: number): number =>
  Math.min(Math.max(Math.round(-Math.log2(Math.max(value, Number.MIN_VALUE)) / step), 0), most);

/** Orthogonal beams of the rotation with most power, interleaved [beam, antenna] of squared norm 1. */
function beamsOf({ n1, n2 }: Panel, layers: readonly Float64Array[][], count: number): Float64Array[] {
  const half = n1 * n2, [o1, o2] = [n1 > 1 ? 4 : 1, n2 > 1 ? 4 : 1];
  let best = { power: -1, beams: [] as Float64Array[] };
  for (let q = 0; q < o1 * o2; q++) {
    const ranked = Array.from({ length: half }, (_, n) => {
      const m1 = o1 * Math.floor(n / n2) + Math.floor(q / o2), m2 = o2 * (n % n2) + q % o2;
      const beam = new Float64Array(2 * half);
      for (let i = 0; i < half; i++) {
        const turn = 2 * Math.PI * (m1 * Math.floor(i / n2) / (o1 * n1) + m2 * (i % n2) / (o2 * n2));
        beam[2 * i] = Math.cos(turn) / Math.sqrt(half);
        beam[2 * i + 1] = Math.sin(turn) / Math.sqrt(half);
      }
      const power = layers.flat().reduce((sum, vector) => {
        const [a, b] = [0, 1].map((side) => inner(beam, vector.subarray(2 * half * side, 2 * half * (side + 1))));
        return sum + a[0] ** 2 + a[1] ** 2 + b[0] ** 2 + b[1] ** 2;
      }, 0);
      return { beam, power };
    }).sort((a, b) => b.power - a.power).slice(0, count);
    const power = ranked.reduce((sum, one) => sum + one.power, 0);
    if (power > best.power * (1 + 1e-9)) best = { power, beams: ranked.map(({ beam }) => beam) };
  }
  return best.beams;
}

const powerOf = (values: readonly (readonly [number, number])[]): number =>
  values.reduce((sum, [real, imaginary]) => sum + real * real + imaginary * imaginary, 0);

/** aᴴb. */
function inner(a: Float64Array, b: Float64Array): [number, number] {
  const [real, imaginary] = matrixProduct(
    Float64Array.from(a, (value, i) => i % 2 ? -value : value),
    b,
    1,
    a.length / 2,
    1,
  );
  return [real, imaginary];
}

/**
 * The vectors that a report stands for, and its bits.
 * @param layers vectors of unit norm, interleaved [port], by layer and subband
 * @param combination paramCombination-r16, 1 to 6
 * @throws RangeError for more than 19 subbands
 */
export function reportTypeTwo(panel: Panel, layers: readonly Float64Array[][], combination: number) {
  const [count, share, beta] = COMBINATIONS[combination - 1], bands = layers[0].length, half = panel.n1 * panel.n2;
  if (bands > MOST_SUBBANDS) {
    throw new RangeError(`Cannot report ${bands} subbands: the codebook has at most ${MOST_SUBBANDS}`);
  }
  const beams = beamsOf(panel, layers, count),
    taps = Math.ceil(share * bands),
    most = Math.ceil(2 * beta * count * taps);
  let bits = bitsOf(panel.n2 > 1 ? 16 : 4) + bitsOf(choose(half, count));
  const vectors = layers.map((given) => {
    // c[i][t], turned in each subband so that the beam of most power is real, then transformed over t.
    const coefficients = Array.from({ length: 2 * count }, (_, i) => {
      const side = Math.floor(i / count);
      return given.map((vector) => inner(beams[i % count], vector.subarray(2 * half * side, 2 * half * (side + 1))));
    });
    const main = coefficients.reduce((a, b) => powerOf(b) > powerOf(a) ? b : a);
    const spectrum = coefficients.map((c, i) =>
      Array.from({ length: bands }, (_, f) => {
        let real = 0, imaginary = 0;
        c.forEach(([a, b], t) => {
          const turn = -2 * Math.PI * t * f / bands - Math.atan2(main[t][1], main[t][0]);
          real += (a * Math.cos(turn) - b * Math.sin(turn)) / bands;
          imaginary += (a * Math.sin(turn) + b * Math.cos(turn)) / bands;
        });
        return { i, f, real, imaginary, size: Math.hypot(real, imaginary) };
      })
    );
    const strongest = spectrum.flat().reduce((a, b) => b.size > a.size ? b : a);
    const power = (f: number) => spectrum.reduce((sum, row) => sum + row[f].size ** 2, 0);
    const others = Array.from({ length: bands }, (_, f) => f).filter((f) => f !== strongest.f).sort((a, b) =>
      power(b) - power(a)
    );
    const delays = [strongest.f, ...others.slice(0, taps - 1)];
    const kept = spectrum.flatMap((row) => delays.map((f) => row[f])).sort((a, b) => b.size - a.size).slice(0, most)
      .filter(({ size }) => size > 0);
    // The strongest coefficient is 1 at delay 0: a phase that all ports of a subband share drops out.
    const first = Math.floor(strongest.i / count),
      largest = [0, 1].map((side) =>
        Math.max(...kept.map(({ i, size }) => Math.floor(i / count) === side ? size / strongest.size : 0))
      );
    const references = largest.map((value, side) => side === first ? 1 : 2 ** (-exponent(value, 1 / 4, 14) / 4));
    const made = given.map(() => new Float64Array(4 * half));
    for (const { i, f, real, imaginary, size } of kept) {
      const side = Math.floor(i / count), reference = references[side];
      const amplitude = reference * 2 ** (-exponent(size / strongest.size / reference, 1 / 2, 7) / 2);
      const angle = Math.atan2(imaginary, real) - Math.atan2(strongest.imaginary, strongest.real);
      const phase = Math.round(angle * 16 / (2 * Math.PI)) * 2 * Math.PI / 16;
      made.forEach((vector, t) => {
        const turn = phase + 2 * Math.PI * t * (f - strongest.f) / bands, beam = beams[i % count];
        const cosine = amplitude * Math.cos(turn), sine = amplitude * Math.sin(turn);
        for (let p = 0; p < half; p++) {
          const to = 2 * (side * half + p);
          vector[to] += cosine * beam[2 * p] - sine * beam[2 * p + 1];
          vector[to + 1] += cosine * beam[2 * p + 1] + sine * beam[2 * p];
        }
      });
    }
    bits += bitsOf(choose(bands - 1, taps - 1)) + 2 * count * taps + 4 + 7 * (kept.length - 1) +
      bitsOf(layers.length === 1 ? kept.length : 2 * count);
    return made.map((vector) => {
      const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
      return vector.map((value) => value / norm);
    });
  });
  return { vectors, bits };
}
