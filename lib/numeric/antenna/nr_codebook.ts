/**
 * Type I single-panel codebook of NR with codebookMode 1, for P = 2·N1·N2 ports: N1·N2 of one polarisation, then those of the other.
 *
 *     u_m     = [1, e^{j2πm/(O2·N2)}, …] of N2, v_lm = [u_m, e^{j2πl/(O1·N1)} u_m, …] of N1·N2, φ_n = e^{jπn/2}
 *     1 layer   [v_lm; φ_n v_lm] / √P
 *     2 layers  [v_lm v_l'm'; φ_n v_lm -φ_n v_l'm'] / √(2P)
 *     3 layers  [v_lm v_l'm' v_lm; φ_n v_lm φ_n v_l'm' -φ_n v_lm] / √(3P)
 *     4 layers  [v_lm v_l'm' v_lm v_l'm'; φ_n v_lm φ_n v_l'm' -φ_n v_lm -φ_n v_l'm'] / √(4P)
 *
 * with l = i11, m = i12, (l', m') = (l + k1, m + k2), i13 the row of (k1, k2), n = i2 in 0 … 3 for one layer, else 0 and 1. Two ports
 * have one i2 alone: [1; φ_n]/√2, and [1 1; φ_n -φ_n]/2. Columns are orthogonal, of squared norm 1/layers.
 *
 * 3 and 4 layers of 16 ports and more have one beam ṽ_lm = [u_m, e^{j4πl/(O1·N1)} u_m, …] of half of a polarisation, N1·N2/2, l below
 * O1·N1/2, and θ_p = e^{jπp/4} between the halves, p = i13 in 0 … 3. Columns are [ṽ; s·θ_p ṽ; t·φ_n ṽ; s·t·φ_n θ_p ṽ] / √(layers·P) with the
 * signs (s, t) = (+, +), (-, +), (+, -) and, of four layers, (-, -).
 *
 * Source: TS 38.214 V17, 5.2.2.2.1, tables 5.2.2.2.1-1 to 5.2.2.2.1-8.
 */

/** Supported N1, N2 of table 5.2.2.2.1-2. */
const PANELS = [
  [2, 1],
  ...[[2, 2], [4, 1]],
  ...[[3, 2], [6, 1]],
  ...[[4, 2], [8, 1]],
  ...[[4, 3], [6, 2], [12, 1]],
  ...[[4, 4], [8, 2], [16, 1]],
];

/** The panel of a codebook; [1, 1] has two ports and no beams. */
export interface Panel {
  readonly n1: number;
  readonly n2: number;
}

const portsOf = ({ n1, n2 }: Panel): number => 2 * n1 * n2;
const oversampling = ({ n1, n2 }: Panel) => ({ o1: n1 > 1 ? 4 : 1, o2: n2 > 1 ? 4 : 1 });

/** What keeps a codebook from being built, or undefined. */
export function codebookProblem(panel: Panel, layers: number): string | undefined {
  const { n1, n2 } = panel;
  if (!(n1 === 1 && n2 === 1) && !PANELS.some(([a, b]) => a === n1 && b === n2)) {
    return `N1 = ${n1} and N2 = ${n2} are not in table 5.2.2.2.1-2 of TS 38.214`;
  }
  if (layers > portsOf(panel)) return `${portsOf(panel)} ports carry at most ${portsOf(panel)} layers`;
  return undefined;
}

/** Whether beams are those of half of a polarisation. */
const isHalved = (panel: Panel, layers: number): boolean => layers > 2 && portsOf(panel) >= 16;
/** Values of i13 and i11 of halved beams. */
const TURNS = 4;
const halvedBeams = ({ n1, n2 }: Panel): number => n1 * oversampling({ n1, n2 }).o1 / 2;

/** Offsets (k1, k2) of the second beam by i13, in beams. */
function offsets({ n1, n2 }: Panel, layers: number): (readonly [number, number])[] {
  const { o1, o2 } = oversampling({ n1, n2 });
  if (layers === 1 || n1 === 1) return [[0, 0]];
  if (layers === 2) {
    if (n2 === 1) return n1 === 2 ? [[0, 0], [o1, 0]] : [[0, 0], [o1, 0], [2 * o1, 0], [3 * o1, 0]];
    return [[0, 0], [o1, 0], [0, o2], n1 === n2 ? [o1, o2] : [2 * o1, 0]];
  }
  if (n2 === 1) return Array.from({ length: Math.min(n1 - 1, 4) }, (_, i) => [(i + 1) * o1, 0] as const);
  return [[o1, 0], [0, o2], [o1, o2], ...n1 === 3 ? [[2 * o1, 0] as const] : []];
}

/** A matrix of the codebook, interleaved [port, layer], with its indices. */
export interface Codeword {
  readonly i2: number;
  readonly matrix: Float64Array;
}

/** The matrices of one i1, over i2. */
export interface BeamGroup {
  readonly i11: number;
  readonly i12: number;
  readonly i13: number;
  readonly words: readonly Codeword[];
}

/** All matrices of a number of layers. */
export function typeOneCodebook(panel: Panel, layers: number): BeamGroup[] {
  if (isHalved(panel, layers)) return halvedCodebook(panel, layers);
  const { n1, n2 } = panel, { o1, o2 } = oversampling(panel), half = n1 * n2;
  const beam = (l: number, m: number): [number, number][] =>
    Array.from({ length: half }, (_, i) => {
      const turn = 2 * Math.PI * (l * Math.floor(i / n2) / (o1 * n1) + m * (i % n2) / (o2 * n2));
      return [Math.cos(turn), Math.sin(turn)];
    });
  const groups: BeamGroup[] = [], scale = 1 / Math.sqrt(2 * half * layers);
  for (let i11 = 0; i11 < n1 * o1; i11++) {
    for (let i12 = 0; i12 < n2 * o2; i12++) {
      offsets(panel, layers).forEach(([k1, k2], i13) => {
        const beams = [beam(i11, i12), beam(i11 + k1, i12 + k2)];
        const words = Array.from({ length: layers === 1 ? 4 : 2 }, (_, i2): Codeword => {
          const matrix = new Float64Array(4 * half * layers);
          for (let port = 0; port < 2 * half; port++) {
            for (let layer = 0; layer < layers; layer++) {
              // Of three layers the third one has the beam of the first; half of the layers have the other sign.
              const [real, imaginary] = beams[layer % 2][port % half], second = port >= half;
              const sign = second && layer >= Math.max(layers / 2, 1) ? -1 : 1;
              const quarter = second ? i2 : 0, at = 2 * (port * layers + layer);
              matrix[at] = sign * scale * [real, -imaginary, -real, imaginary][quarter];
              matrix[at + 1] = sign * scale * [imaginary, real, -imaginary, -real][quarter];
            }
          }
          return { i2, matrix };
        });
        groups.push({ i11, i12, i13, words });
      });
    }
  }
  return groups;
}

function halvedCodebook(panel: Panel, layers: number): BeamGroup[] {
  const { n1, n2 } = panel, { o1, o2 } = oversampling(panel), quarter = n1 * n2 / 2, groups: BeamGroup[] = [];
  for (let i11 = 0; i11 < halvedBeams(panel); i11++) {
    for (let i12 = 0; i12 < n2 * o2; i12++) {
      for (let i13 = 0; i13 < TURNS; i13++) {
        const words = [0, 1].map((i2): Codeword => {
          const matrix = new Float64Array(8 * quarter * layers), scale = 1 / Math.sqrt(4 * quarter * layers);
          for (let port = 0; port < 4 * quarter; port++) {
            const place = port % quarter, isSecond = port % (2 * quarter) >= quarter, isCross = port >= 2 * quarter;
            const beam = 2 * i11 * Math.floor(place / n2) / (o1 * n1) + i12 * (place % n2) / (o2 * n2);
            const turn = 2 * Math.PI * (beam + (isSecond ? i13 / 8 : 0) + (isCross ? i2 / 4 : 0));
            for (let layer = 0; layer < layers; layer++) {
              const sign = (isSecond && layer % 2 === 1 ? -1 : 1) * (isCross && layer >= 2 ? -1 : 1);
              matrix[2 * (port * layers + layer)] = sign * scale * Math.cos(turn);
              matrix[2 * (port * layers + layer) + 1] = sign * scale * Math.sin(turn);
            }
          }
          return { i2, matrix };
        });
        groups.push({ i11, i12, i13, words });
      }
    }
  }
  return groups;
}

/** Bits of the indices of a report: once for the band, and for each subband. */
export function reportBits(panel: Panel, layers: number): { band: number; subband: number } {
  const { n1, n2 } = panel, { o1, o2 } = oversampling(panel), bits = (count: number) => Math.ceil(Math.log2(count));
  if (isHalved(panel, layers)) return { band: bits(halvedBeams(panel)) + bits(n2 * o2) + bits(TURNS), subband: 1 };
  return { band: bits(n1 * o1) + bits(n2 * o2) + bits(offsets(panel, layers).length), subband: layers === 1 ? 2 : 1 };
}
