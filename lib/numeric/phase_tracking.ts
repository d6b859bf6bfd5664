/**
 * Carrier phase of a frame from known pilots: phases at the pilots are arg(y·conj(pilot)), unwrapped in time order.
 *
 *     interpolate   linear between pilots, the nearest pilot's outside
 *     smooth        at every symbol the least-squares line through the pilots around it
 *     track         a decision-directed loop of second order
 *
 * Phases are radians, binary64; symbols interleaved.
 *
 * Source: Meyr, Moeneclaey and Fechtel, Digital Communication Receivers, 1998, ch. 5 and 8.
 */

type Complex = Float32Array | Float64Array;

/** Known symbols of a frame: positions ascend, values are interleaved. */
export interface Pilots {
  readonly positions: ArrayLike<number>;
  readonly values: Complex;
}

/** Moves each phase by whole turns so that no step exceeds half a turn. Exported for tests. */
export function unwrap(phases: ArrayLike<number>): Float64Array<ArrayBuffer> {
  const out = Float64Array.from(phases);
  for (let i = 1; i < out.length; i++) {
    out[i] -= 2 * Math.PI * Math.round((out[i] - out[i - 1]) / (2 * Math.PI));
  }
  return out;
}

/** Unwrapped phases at the pilots. */
export function pilotPhases(symbols: Complex, { positions, values }: Pilots): Float64Array<ArrayBuffer> {
  return unwrap(Float64Array.from({ length: positions.length }, (_, i) => {
    const at = 2 * positions[i];
    const real = symbols[at] * values[2 * i] + symbols[at + 1] * values[2 * i + 1];
    return Math.atan2(symbols[at + 1] * values[2 * i] - symbols[at] * values[2 * i + 1], real);
  }));
}

/**
 * Phases at every symbol, linear between pilots.
 * @param phases at the pilots, at least one
 * @param length symbols of the frame
 */
export function interpolatePhase(
  positions: ArrayLike<number>,
  phases: Float64Array,
  length: number,
): Float64Array<ArrayBuffer> {
  const out = new Float64Array(length), last = positions.length - 1;
  for (let k = 0, next = 0; k < length; k++) {
    while (next <= last && positions[next] < k) next++;
    if (next === 0 || next > last) {
      out[k] = phases[Math.min(next, last)];
    } else {
      const share = (k - positions[next - 1]) / (positions[next] - positions[next - 1]);
      out[k] = phases[next - 1] + share * (phases[next] - phases[next - 1]);
    }
  }
  return out;
}

/**
 * Phases at every symbol from a line fitted to the nearest pilots; of two equally near ones the earlier is taken.
 * @param positions rising
 * @param count pilots per fit
 */
export function smoothPhase(
  positions: ArrayLike<number>,
  phases: Float64Array,
  length: number,
  count: number,
): Float64Array<ArrayBuffer> {
  const out = new Float64Array(length), total = positions.length, used = Math.min(count, total);
  for (let k = 0, first = 0; k < length; k++) {
    while (first + used < total && positions[first + used] - k < k - positions[first]) first++;
    out[k] = lineAt(k, positions, phases, first, used);
  }
  return out;
}

/** The least-squares line through some points, at a place. */
function lineAt(at: number, positions: ArrayLike<number>, phases: Float64Array, first: number, count: number): number {
  let x = 0, y = 0;
  for (let i = first; i < first + count; i++) {
    x += positions[i] / count;
    y += phases[i] / count;
  }
  let covariance = 0, spread = 0;
  for (let i = first; i < first + count; i++) {
    covariance += (positions[i] - x) * (phases[i] - y);
    spread += (positions[i] - x) ** 2;
  }
  return spread === 0 ? y : y + covariance / spread * (at - x);
}

/**
 * Phases at every symbol from a loop that starts at the mean phase of the preamble and compares each rotated symbol
 * with its pilot, or with the QPSK decision on it: e = Im(y·exp(-jθ)·conj(decision)), I += beta·e, θ += alpha·e + I.
 * @param preamble number of leading pilots for the initial phase
 */
export function trackPhase(
  symbols: Complex,
  { positions, values }: Pilots,
  { alpha, beta, preamble }: { alpha: number; beta: number; preamble: number },
): Float64Array<ArrayBuffer> {
  const out = new Float64Array(symbols.length / 2);
  let real = 0, imaginary = 0;
  for (let i = 0; i < preamble; i++) {
    const at = 2 * positions[i];
    real += symbols[at] * values[2 * i] + symbols[at + 1] * values[2 * i + 1];
    imaginary += symbols[at + 1] * values[2 * i] - symbols[at] * values[2 * i + 1];
  }
  let phase = Math.atan2(imaginary, real), integrator = 0;
  for (let k = 0, next = 0; k < out.length; k++) {
    out[k] = phase;
    const turnReal = Math.cos(phase), turnImaginary = Math.sin(phase);
    const i = symbols[2 * k] * turnReal + symbols[2 * k + 1] * turnImaginary;
    const q = symbols[2 * k + 1] * turnReal - symbols[2 * k] * turnImaginary;
    let decidedReal = i < 0 ? -Math.SQRT1_2 : Math.SQRT1_2, decidedImaginary = q < 0 ? -Math.SQRT1_2 : Math.SQRT1_2;
    if (next < positions.length && positions[next] === k) {
      decidedReal = values[2 * next];
      decidedImaginary = values[2 * next + 1];
      next++;
    }
    const error = q * decidedReal - i * decidedImaginary;
    integrator += beta * error;
    phase += alpha * error + integrator;
  }
  return out;
}
