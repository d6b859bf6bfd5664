/**
 * Samplers of diffusion models: from noise to a sample in a few steps, each with one call of a model.
 *
 * A model was trained on x_t = sqrt(a_t)·x_0 + sqrt(1 - a_t)·e for t = 0 … N - 1, with a_t the product of 1 - b_0 … 1 -
 * b_t. It predicts the noise e, x_0 itself, or v = sqrt(a_t)·e - sqrt(1 - a_t)·x_0. The samplers differ in the step
 * from one t to the next smaller one:
 *
 *     DDIM      x_0 from the prediction, then noise of the new level is added (eta = 0)
 *     PNDM      the same transfer with the noise of up to four steps extrapolated (linear multistep)
 *     Euler     steps of the probability-flow equation in sigma = sqrt((1 - a)/a)
 *     DPM++     second-order multistep of the same equation in log(1/sigma)
 *
 * All are deterministic after the first noise is drawn, and computed in binary64 on float32 samples. Names, defaults
 * and the choice of steps are those of scheduler_config.json in the diffusers format.
 *
 * Sources: Song, Meng, Ermon, ICLR 2021 (DDIM); Liu et al., ICLR 2022 (PNDM); Karras et al., NeurIPS 2022 (Euler);
 * Lu et al., arXiv 2211.01095 (DPM-Solver++).
 */

export interface SchedulerConfig {
  sampler: "ddim" | "pndm" | "euler" | "dpm++";
  /** N. */
  trainTimesteps: number;
  betaSchedule: "linear" | "scaled_linear" | "squaredcos_cap_v2";
  betaStart: number;
  betaEnd: number;
  prediction: "epsilon" | "sample" | "v_prediction";
  spacing: "leading" | "linspace" | "trailing";
  stepsOffset: number;
  /** Whether the level after the last step is noiseless, instead of that of t = 0. */
  setAlphaToOne: boolean;
  /** Bound of predicted samples, if they are clipped (DDIM). */
  clipSample: number | null;
}

export interface DiffusionScheduler {
  /** Conditioning value of the model, one number per call. */
  readonly timesteps: readonly number[];
  /** Factor of unit noise at the start. */
  readonly initialScale: number;
  /** The scaled sample as model input at a step. */
  scaleInput(sample: Float32Array, step: number): Float32Array;
  /** The sample after a step; steps are taken in order, each once. */
  step(prediction: Float32Array, step: number, sample: Float32Array): Float32Array;
}

/** a_0 … a_{N-1}. Exported for tests. */
export function alphaProducts({ trainTimesteps: n, betaSchedule, betaStart, betaEnd }: SchedulerConfig): Float64Array {
  const bar = (t: number) => Math.cos((t + 0.008) / 1.008 * Math.PI / 2) ** 2;
  const beta = (i: number) => {
    const along = n === 1 ? 0 : i / (n - 1);
    if (betaSchedule === "linear") return betaStart + (betaEnd - betaStart) * along;
    if (betaSchedule === "squaredcos_cap_v2") return Math.min(1 - bar((i + 1) / n) / bar(i / n), 0.999);
    return (Math.sqrt(betaStart) + (Math.sqrt(betaEnd) - Math.sqrt(betaStart)) * along) ** 2;
  };
  const products = new Float64Array(n);
  for (let i = 0, product = 1; i < n; i++) products[i] = product *= 1 - beta(i);
  return products;
}

/** A sampler for a number of steps. @throws RangeError for more steps than the model was trained with */
export function diffusionScheduler(config: SchedulerConfig, steps: number): DiffusionScheduler {
  if (!Number.isInteger(steps) || steps < 1 || steps > config.trainTimesteps) {
    throw new RangeError(`Cannot take ${steps} steps of ${config.trainTimesteps}`);
  }
  const alphas = alphaProducts(config);
  switch (config.sampler) {
    case "ddim":
      return ddim(config, alphas, steps);
    case "pndm":
      return pndm(config, alphas, steps);
    case "euler":
      return euler(config, alphas, steps);
    case "dpm++":
      return dpmSolver(config, alphas, steps);
  }
}

/** Rounds halves to even, as NumPy. */
function rint(value: number): number {
  const floor = Math.floor(value), rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
}

/** The times of `count` calls, the latest first; `ends` more are computed and dropped (DPM++). */
function timesOf({ spacing, trainTimesteps: n, stepsOffset }: SchedulerConfig, count: number, ends = 0): number[] {
  const points = count + ends;
  if (spacing === "trailing") return Array.from({ length: count }, (_, i) => rint(n - i * n / count) - 1);
  const at = spacing === "leading"
    ? (i: number) => i * Math.floor(n / points) + stepsOffset
    : (i: number) => points === 1 ? 0 : i * (n - 1) / (points - 1);
  return Array.from({ length: points }, (_, i) => at(points - 1 - i)).slice(0, count);
}

const mix = (length: number, value: (i: number) => number) => Float32Array.from({ length }, (_, i) => value(i));

/** Coefficients of x_0 and e for a sample (first) and a prediction (second) at level a. */
function readings(
  prediction: SchedulerConfig["prediction"],
  a: number,
): { x0: [number, number]; noise: [number, number] } {
  const s = Math.sqrt(a), n = Math.sqrt(1 - a);
  if (prediction === "epsilon") return { x0: [1 / s, -n / s], noise: [0, 1] };
  if (prediction === "sample") return { x0: [0, 1], noise: [1 / n, -s / n] };
  return { x0: [s, -n], noise: [n, s] };
}

function ddim(config: SchedulerConfig, alphas: Float64Array, steps: number): DiffusionScheduler {
  const timesteps = timesOf(config, steps).map(rint), stride = Math.floor(config.trainTimesteps / steps);
  const { clipSample: bound } = config;
  return {
    timesteps,
    initialScale: 1,
    scaleInput: (sample) => sample,
    step(prediction, step, sample) {
      const t = timesteps[step], before = t - stride;
      const last = config.setAlphaToOne ? 1 : alphas[0];
      const a = alphas[t], next = before >= 0 ? alphas[before] : last;
      const { x0, noise } = readings(config.prediction, a);
      return mix(sample.length, (i) => {
        let clean = x0[0] * sample[i] + x0[1] * prediction[i];
        if (bound !== null) clean = Math.max(-bound, Math.min(bound, clean));
        return Math.sqrt(next) * clean + Math.sqrt(1 - next) * (noise[0] * sample[i] + noise[1] * prediction[i]);
      });
    },
  };
}

/** Weights of the newest predictions, newest first, by their number: Adams-Bashforth. */
const MULTISTEP = [[1], [3 / 2, -1 / 2], [23 / 12, -16 / 12, 5 / 12], [55 / 24, -59 / 24, 37 / 24, -9 / 24]];

function pndm(config: SchedulerConfig, alphas: Float64Array, steps: number): DiffusionScheduler {
  const stride = Math.floor(config.trainTimesteps / steps);
  const times = timesOf(config, steps).map(rint);
  // The second time is visited twice: the first step is taken again with the mean of both predictions.
  const timesteps = times.length === 1 ? times : [times[0], times[1], ...times.slice(1)];
  const predictions: Float32Array[] = [];
  let first: Float32Array;
  return {
    timesteps,
    initialScale: 1,
    scaleInput: (sample) => sample,
    step(prediction, step, sample) {
      let from = timesteps[step], to = from - stride, origin = sample, combined: (i: number) => number;
      if (step === 1) {
        [from, to] = [from + stride, from];
        origin = first;
        const [earlier] = predictions;
        combined = (i) => (prediction[i] + earlier[i]) / 2;
      } else {
        predictions.unshift(prediction);
        predictions.length = Math.min(4, predictions.length);
        if (step === 0) first = sample;
        const weights = MULTISTEP[predictions.length - 1];
        combined = (i) => weights.reduce((sum, weight, back) => sum + weight * predictions[back][i], 0);
      }
      const a = alphas[from], next = to >= 0 ? alphas[to] : config.setAlphaToOne ? 1 : alphas[0];
      const denominator = a * Math.sqrt(1 - next) + Math.sqrt(a * (1 - a) * next);
      const { noise } = readings(config.prediction, a);
      return mix(origin.length, (i) => {
        const predicted = noise[0] * origin[i] + noise[1] * combined(i);
        return Math.sqrt(next / a) * origin[i] - (next - a) * predicted / denominator;
      });
    },
  };
}

/** sqrt((1 - a)/a) at a time between two integers, by linear interpolation. */
function sigmaAt(alphas: Float64Array, t: number): number {
  const sigma = (i: number) => Math.sqrt((1 - alphas[i]) / alphas[i]);
  const below = Math.max(0, Math.min(alphas.length - 1, Math.floor(t))), above = Math.min(alphas.length - 1, below + 1);
  return sigma(below) + (t - below) * (sigma(above) - sigma(below));
}

function euler(config: SchedulerConfig, alphas: Float64Array, steps: number): DiffusionScheduler {
  const timesteps = timesOf(config, steps);
  const sigmas = [...timesteps.map((t) => sigmaAt(alphas, t)), 0];
  const greatest = Math.max(...sigmas);
  return {
    timesteps,
    initialScale: config.spacing === "leading" ? Math.hypot(greatest, 1) : greatest,
    scaleInput: (sample, step) => mix(sample.length, (i) => sample[i] / Math.hypot(sigmas[step], 1)),
    step(prediction, step, sample) {
      const sigma = sigmas[step], ahead = sigmas[step + 1] - sigma;
      // The sample is x_t / sqrt(a): x_0 + sigma·e.
      const { x0 } = readings(config.prediction, 1 / (1 + sigma * sigma));
      const scale = 1 / Math.hypot(sigma, 1);
      return mix(sample.length, (i) => {
        const clean = x0[0] * sample[i] * scale + x0[1] * prediction[i];
        return sample[i] + (sample[i] - clean) / sigma * ahead;
      });
    },
  };
}

function dpmSolver(config: SchedulerConfig, alphas: Float64Array, steps: number): DiffusionScheduler {
  const timesteps = timesOf(config, steps, config.spacing === "trailing" ? 0 : 1).map(rint);
  const levels = [...timesteps.map((t) => sigmaAt(alphas, t)), 0].map((sigma) => {
    const alpha = 1 / Math.hypot(sigma, 1);
    return { alpha, noise: sigma * alpha, lambda: -Math.log(sigma) };
  });
  let earlier: Float64Array | undefined;
  return {
    timesteps,
    initialScale: 1,
    scaleInput: (sample) => sample,
    step(prediction, step, sample) {
      const from = levels[step], to = levels[step + 1];
      const { x0 } = readings(config.prediction, from.alpha ** 2);
      const clean = Float64Array.from(sample, (value, i) => x0[0] * value + x0[1] * prediction[i]);
      const h = to.lambda - from.lambda, decay = -Math.expm1(-h);
      // The last step ends at zero noise, where the second order is undefined.
      const before = step === timesteps.length - 1 ? undefined : earlier;
      const ratio = step > 0 ? (from.lambda - levels[step - 1].lambda) / h : 0;
      earlier = clean;
      return mix(sample.length, (i) => {
        const slope = before === undefined ? 0 : (clean[i] - before[i]) / ratio;
        return to.noise / from.noise * sample[i] + to.alpha * decay * (clean[i] + slope / 2);
      });
    },
  };
}
