import assert from "node:assert/strict";
import {
  alphaProducts,
  diffusionScheduler,
  type SchedulerConfig,
} from "../../../lib/numeric/image/diffusion_schedulers.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

type Case = [Omit<SchedulerConfig, "trainTimesteps">, steps: number, first: number[], calls: number, result: number[]];

/** Configuration, steps, first times, calls of the model and the final sample: the same samplers stated in NumPy. */
const STORED: Case[] = DATA.CASES;

const START = [0.5, -1.25, 2, 0, -0.1];
/** Stands for a trained model. */
const model = (x: number, t: number) => 0.8 * Math.tanh(x) + 0.0002 * t * Math.cos(3 * x);

for (const [config, steps, first, calls, expected] of STORED) {
  const { sampler, prediction, spacing } = config;
  Deno.test(`${sampler} in ${steps} steps of ${prediction}, ${spacing}: the numbers of NumPy`, () => {
    const scheduler = diffusionScheduler({ ...config, trainTimesteps: 1000 } as SchedulerConfig, steps);
    first.forEach((t, step) => assert.ok(Math.abs(scheduler.timesteps[step] - t) < 1e-9));
    assert.equal(scheduler.timesteps.length, calls);
    let sample = Float32Array.from(START, (value) => value * scheduler.initialScale);
    scheduler.timesteps.forEach((t, step) => {
      const asked = scheduler.scaleInput(sample, step);
      sample = scheduler.step(asked.map((value) => model(value, t)), step, sample) as typeof sample;
    });
    expected.forEach((value, i) => {
      // Samples are float32 between the steps.
      assert.ok(Math.abs(sample[i] - value) < 2e-5 * Math.max(1, Math.abs(value)), `${sample[i]} instead of ${value}`);
    });
  });
}

Deno.test("a perfect model of one sample leads every sampler to it", () => {
  const clean = [0.8, -0.3];
  for (const sampler of ["ddim", "pndm", "euler", "dpm++"] as const) {
    const config: SchedulerConfig = {
      sampler,
      trainTimesteps: 1000,
      betaSchedule: "scaled_linear",
      betaStart: 0.00085,
      betaEnd: 0.012,
      prediction: "epsilon",
      spacing: "leading",
      stepsOffset: 1,
      setAlphaToOne: true,
      clipSample: null,
    };
    const alphas = alphaProducts(config), scheduler = diffusionScheduler(config, 25);
    let sample = Float32Array.of(1.1, -0.7).map((value) => value * scheduler.initialScale);
    scheduler.timesteps.forEach((t, step) => {
      const a = alphas[t], asked = scheduler.scaleInput(sample, step);
      const noise = asked.map((value, i) => (value - Math.sqrt(a) * clean[i]) / Math.sqrt(1 - a));
      sample = scheduler.step(noise, step, sample) as typeof sample;
    });
    clean.forEach((value, i) => assert.ok(Math.abs(sample[i] - value) < 1e-3, `${sampler}: ${sample[i]}`));
  }
});

Deno.test("more steps than the model was trained with are refused", () => {
  const [[config]] = STORED;
  assert.throws(() => diffusionScheduler({ ...config, trainTimesteps: 10 }, 11), RangeError);
});
