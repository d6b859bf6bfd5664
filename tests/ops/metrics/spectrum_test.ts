/** Moments of a spectrum: tones, white noise, a sum of two tones, and refusals. */
import assert from "node:assert/strict";
import spectrum from "../../../ops/metrics/spectrum.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { symbolsInput } from "../inputs.ts";
import { refuses, runOperation } from "../harness.ts";

async function measure(samples: Float32Array, params: JsonObject = {}, metadata: JsonObject = {}) {
  const inputs = { signal: symbolsInput(samples, metadata) };
  const { outputs } = await runOperation(spectrum, { inputs, params: { sample_rate_hz: 1000.0, ...params } });
  const { metrics } = outputs.report.json() as { metrics: Record<string, unknown> };
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name.slice(9), Number(value)]));
}

/** Sum of tones of amplitude and frequency in cycles a sample. */
const tones = (count: number, parts: [number, number][]) =>
  Float32Array.from({ length: 2 * count }, (_, at) => {
    const part = at % 2 === 0 ? Math.cos : Math.sin;
    return parts.reduce((sum, [amplitude, f]) => sum + amplitude * part(2 * Math.PI * f * (at >> 1)), 0);
  });
const near = (value: number, expected: number, error: number) =>
  assert.ok(Math.abs(value - expected) < error, `${value} is not ${expected}`);

Deno.test("a tone has its power, its frequency, and the bandwidth of the window", async () => {
  for (const f of [-0.1873, 0.25]) {
    const found = await measure(tones(4096, [[0.5, f]]), { segment_samples: 128 });
    near(found.power_db, 20 * Math.log10(0.5), 1e-3);
    near(found.peak_hz, 1000 * f, 1000 / 128);
    near(found.mean_hz, 1000 * f, 0.01);
    near(found.rms_bandwidth_hz, 1000 / (Math.sqrt(3) * 128), 0.02);
  }
});

Deno.test("two tones have the mean of their powers, and a bandwidth by their distance", async () => {
  const found = await measure(tones(8192, [[1, 0.25], [0.5, -0.125]]), { segment_samples: 512 });
  near(found.power_db, 10 * Math.log10(1.25), 1e-3);
  near(found.peak_hz, 250, 1e-9);
  near(found.mean_hz, (250 - 0.25 * 125) / 1.25, 0.01);
  const window = 1000 / (Math.sqrt(3) * 512);
  near(found.rms_bandwidth_hz, Math.sqrt(0.8 * 0.2 * 375 ** 2 + window ** 2), 0.02);
});

Deno.test("the rate is that of the recording unless it is set; zeros have no spectrum", async () => {
  const recorded = { recording: { sample_rate_hz: 8000.5 } }, tone = tones(256, [[1, 0.25]]);
  near((await measure(tone, { sample_rate_hz: 0.0 }, recorded)).peak_hz, 2000.125, 1e-9);
  near((await measure(tone, {}, recorded)).peak_hz, 250, 1e-9);
  await refuses("params_conflict", () => measure(tone, { sample_rate_hz: 0.0 }));
  await refuses("params_conflict", () => measure(tone, { segment_samples: 257 }));
  assert.deepEqual(await measure(new Float32Array(512)), {});
});
