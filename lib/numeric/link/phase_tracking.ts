/**
 * Carrier phase of a frame from known pilots: phases at the pilots are arg(y·conj(pilot)), unwrapped in time order.
 *
 *     interpolate   linear between pilots, the nearest pilot's outside
 *     smooth        at every symbol the least-squares line through the pilots around it
 *     track         a decision-directed loop of second order
 *     kalman        a Kalman smoother of phase and frequency over pilots and soft decisions
 *
 * Phases are radians, binary64; symbols interleaved.
 *
 * Sources: Meyr, Moeneclaey and Fechtel, Digital Communication Receivers, 1998, ch. 5 and 8; Rauch, Tung and Striebel, "Maximum
 * likelihood estimates of linear dynamic systems", AIAA J. 3(8), 1965; Noels et al., "A theoretical framework for soft-information-
 * based synchronization in iterative (turbo) receivers", EURASIP J. Wireless Commun. Netw., 2005 (soft decisions by EM).
 */

type Complex = Float32Array | Float64Array;

/** Known symbols of a frame: positions ascend, values are interleaved. */
export interface Pilots {
  readonly positions: ArrayLike<number>;
  readonly values: Complex;
}

/** Moves each phase by whole turns so that no step exceeds half a turn. */
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

/** Lower limit of the noise variance. */
const LEAST_NOISE = 1e-12;

/** Statistics that a smoother assumes. */
export interface KalmanModel {
  /** N0, one for all or one per symbol. */
  noise: number | Float32Array;
  /** Standard deviations: of the random walk per symbol, and of the frequency; radians per symbol. */
  walk: number;
  frequency: number;
  /** Passes over the frame; the first uses the pilots only, each further one soft decisions of the one before. */
  passes: number;
}

/**
 * Phases at every symbol from a Kalman smoother, θ_(k+1) = θ_k + ω + walk, ω constant. Symbol k with mean m_k has the observation
 * arg(y·conj(m)) of variance N0/(2|y||m|). m is the pilot, else 0 in the first pass (no observation) and then the mean of the
 * QPSK symbol given y and the phase of the pass before, tanh(√2·Re z/N0)/√2 + j·tanh(√2·Im z/N0)/√2 with z = y·exp(-jθ).
 */
export function kalmanPhase(
  symbols: Complex,
  { positions, values }: Pilots,
  { noise, walk, frequency, passes }: KalmanModel,
): Float64Array<ArrayBuffer> {
  const length = symbols.length / 2, means = new Float64Array(2 * length), isPilot = new Uint8Array(length);
  for (let i = 0; i < positions.length; i++) {
    means.set(values.subarray(2 * i, 2 * i + 2), 2 * positions[i]);
    isPilot[positions[i]] = 1;
  }
  let phases = new Float64Array(length);
  for (let pass = 0; pass < passes; pass++) {
    const observed = new Float64Array(length), variances = new Float64Array(length).fill(Infinity);
    for (let k = 0; k < length; k++) {
      const n0 = Math.max(typeof noise === "number" ? noise : noise[k], LEAST_NOISE),
        y = symbols[2 * k],
        yq = symbols[2 * k + 1];
      if (pass > 0 && isPilot[k] === 0) {
        const cosine = Math.cos(phases[k]), sine = Math.sin(phases[k]);
        means[2 * k] = Math.SQRT1_2 * Math.tanh(Math.SQRT2 * (y * cosine + yq * sine) / n0);
        means[2 * k + 1] = Math.SQRT1_2 * Math.tanh(Math.SQRT2 * (yq * cosine - y * sine) / n0);
      }
      const real = y * means[2 * k] + yq * means[2 * k + 1], imaginary = yq * means[2 * k] - y * means[2 * k + 1];
      observed[k] = Math.atan2(imaginary, real);
      if (real !== 0 || imaginary !== 0) variances[k] = n0 / (2 * Math.hypot(real, imaginary));
    }
    phases = smoothed(observed, variances, walk ** 2, frequency ** 2, pass === 0 ? undefined : phases);
  }
  return phases;
}

/**
 * Rauch-Tung-Striebel smoother of phase and frequency.
 * @param near phases from which an observation differs by less than half a turn; default the prediction
 */
function smoothed(
  observed: Float64Array,
  variances: Float64Array,
  walk: number,
  frequency: number,
  near?: Float64Array,
): Float64Array<ArrayBuffer> {
  const length = observed.length, phase = new Float64Array(length), slope = new Float64Array(length);
  // Covariance of phase and frequency after each observation: [θθ, θω, ωω].
  const filtered = new Float64Array(3 * length);
  let a = observed[variances.findIndex(Number.isFinite)] ?? 0, w = 0, aa = Math.PI ** 2, aw = 0, ww = frequency;
  for (let k = 0; k < length; k++) {
    if (k > 0) {
      a += w;
      aa += 2 * aw + ww + walk;
      aw += ww;
    }
    if (Number.isFinite(variances[k])) {
      const turns = Math.round((observed[k] - (near === undefined ? a : near[k])) / (2 * Math.PI));
      const innovation = observed[k] - 2 * Math.PI * turns - a;
      const gain = aa / (aa + variances[k]), gainOfSlope = aw / (aa + variances[k]);
      a += gain * innovation;
      w += gainOfSlope * innovation;
      ww -= gainOfSlope * aw;
      aw -= gain * aw;
      aa -= gain * aa;
    }
    phase[k] = a;
    slope[k] = w;
    filtered.set([aa, aw, ww], 3 * k);
  }
  for (let k = length - 2; k >= 0; k--) {
    const [aa, aw, ww] = filtered.subarray(3 * k);
    // Predicted covariance P, and covariance of the state with its prediction, C; the gain is C·P⁻¹.
    const pa = aa + 2 * aw + ww + walk, paw = aw + ww, determinant = pa * ww - paw * paw;
    const offset = phase[k + 1] - phase[k] - slope[k], drift = slope[k + 1] - slope[k];
    // P is singular for a known frequency; then only the phase has a gain.
    const x = determinant > 0 ? (ww * offset - paw * drift) / determinant : offset / pa;
    const y = determinant > 0 ? (pa * drift - paw * offset) / determinant : 0;
    phase[k] += pa > 0 ? (aa + aw) * x + aw * y : 0;
    slope[k] += pa > 0 ? (aw + ww) * x + ww * y : 0;
  }
  return phase;
}
