import assert from "node:assert/strict";
import {
  alphaProducts,
  diffusionScheduler,
  type SchedulerConfig,
} from "../../../lib/numeric/image/diffusion_schedulers.ts";

type Case = [Omit<SchedulerConfig, "trainTimesteps">, steps: number, first: number[], calls: number, result: number[]];

/** Configuration, steps, first times, calls of the model and the final sample: the same samplers stated in NumPy. */
const STORED: Case[] = [
  [
    {
      "sampler": "ddim",
      "betaSchedule": "scaled_linear",
      "betaStart": 0.00085,
      "betaEnd": 0.012,
      "prediction": "epsilon",
      "spacing": "leading",
      "stepsOffset": 1,
      "setAlphaToOne": false,
      "clipSample": null,
    },
    20,
    [951.0, 901.0, 851.0],
    20,
    [0.90959097765, -5.31469437258, 12.8654669765, -0.263021149926, -0.323345265433],
  ],
  [
    {
      "sampler": "ddim",
      "betaSchedule": "linear",
      "betaStart": 0.0001,
      "betaEnd": 0.02,
      "prediction": "sample",
      "spacing": "trailing",
      "stepsOffset": 0,
      "setAlphaToOne": true,
      "clipSample": 1.0,
    },
    7,
    [999.0, 856.0, 713.0],
    7,
    [0.426165520514, -0.710641388417, 0.772320282713, 0.120604344512, 0.0118450313308],
  ],
  [
    {
      "sampler": "ddim",
      "betaSchedule": "squaredcos_cap_v2",
      "betaStart": 0.0001,
      "betaEnd": 0.02,
      "prediction": "v_prediction",
      "spacing": "linspace",
      "stepsOffset": 0,
      "setAlphaToOne": true,
      "clipSample": null,
    },
    10,
    [999.0, 888.0, 777.0],
    10,
    [0.0948792556473, -0.362615221121, 0.850666083798, -0.0730655021209, -0.0964650623092],
  ],
  [
    {
      "sampler": "pndm",
      "betaSchedule": "scaled_linear",
      "betaStart": 0.00085,
      "betaEnd": 0.012,
      "prediction": "epsilon",
      "spacing": "leading",
      "stepsOffset": 1,
      "setAlphaToOne": false,
      "clipSample": null,
    },
    20,
    [951.0, 901.0, 901.0],
    21,
    [0.883344051118, -5.41459211509, 12.9379918851, -0.235074266435, -0.297149354871],
  ],
  [
    {
      "sampler": "pndm",
      "betaSchedule": "scaled_linear",
      "betaStart": 0.00085,
      "betaEnd": 0.012,
      "prediction": "v_prediction",
      "spacing": "leading",
      "stepsOffset": 1,
      "setAlphaToOne": false,
      "clipSample": null,
    },
    3,
    [667.0, 334.0, 334.0],
    4,
    [0.0818438690778, -0.293602920039, 0.688081641583, -0.0203011375448, -0.044690529806],
  ],
  [
    {
      "sampler": "pndm",
      "betaSchedule": "scaled_linear",
      "betaStart": 0.00085,
      "betaEnd": 0.012,
      "prediction": "epsilon",
      "spacing": "leading",
      "stepsOffset": 0,
      "setAlphaToOne": true,
      "clipSample": null,
    },
    2,
    [500.0, 0.0, 0.0],
    3,
    [0.427813508139, -1.23124897686, 2.46791963391, 0.0214070548047, -0.0654321240894],
  ],
  [
    {
      "sampler": "euler",
      "betaSchedule": "scaled_linear",
      "betaStart": 0.00085,
      "betaEnd": 0.012,
      "prediction": "epsilon",
      "spacing": "leading",
      "stepsOffset": 1,
      "setAlphaToOne": false,
      "clipSample": null,
    },
    20,
    [951.0, 901.0, 851.0],
    20,
    [0.893087019264, -5.29361630482, 12.8476009811, -0.257085180284, -0.316132139599],
  ],
  [
    {
      "sampler": "euler",
      "betaSchedule": "scaled_linear",
      "betaStart": 0.00085,
      "betaEnd": 0.012,
      "prediction": "v_prediction",
      "spacing": "linspace",
      "stepsOffset": 0,
      "setAlphaToOne": false,
      "clipSample": null,
    },
    6,
    [999.0, 799.2, 599.4000000000001],
    6,
    [0.0553689885407, -0.248775735323, 0.628337599424, -0.0555540634068, -0.0706308098713],
  ],
  [
    {
      "sampler": "euler",
      "betaSchedule": "scaled_linear",
      "betaStart": 0.00085,
      "betaEnd": 0.012,
      "prediction": "sample",
      "spacing": "trailing",
      "stepsOffset": 0,
      "setAlphaToOne": false,
      "clipSample": null,
    },
    5,
    [999.0, 799.0, 599.0],
    5,
    [0.414238018931, -0.712534202493, 0.769217104662, 0.147910279651, 0.0468559900984],
  ],
  [
    {
      "sampler": "dpm++",
      "betaSchedule": "scaled_linear",
      "betaStart": 0.00085,
      "betaEnd": 0.012,
      "prediction": "epsilon",
      "spacing": "linspace",
      "stepsOffset": 1,
      "setAlphaToOne": false,
      "clipSample": null,
    },
    20,
    [999.0, 949.0, 899.0],
    20,
    [1.08359485257, -7.04887787569, 17.1107991758, -0.264258543473, -0.32220659847],
  ],
  [
    {
      "sampler": "dpm++",
      "betaSchedule": "scaled_linear",
      "betaStart": 0.00085,
      "betaEnd": 0.012,
      "prediction": "v_prediction",
      "spacing": "leading",
      "stepsOffset": 1,
      "setAlphaToOne": false,
      "clipSample": null,
    },
    8,
    [889.0, 778.0, 667.0],
    8,
    [0.119585789302, -0.395807489926, 0.893253492823, -0.0440976139439, -0.0705705363367],
  ],
  [
    {
      "sampler": "dpm++",
      "betaSchedule": "scaled_linear",
      "betaStart": 0.00085,
      "betaEnd": 0.012,
      "prediction": "epsilon",
      "spacing": "trailing",
      "stepsOffset": 0,
      "setAlphaToOne": false,
      "clipSample": null,
    },
    4,
    [999.0, 749.0, 499.0],
    4,
    [1.16727976311, -6.86541998482, 15.9366365348, -0.246244953186, -0.299008166849],
  ],
];

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
