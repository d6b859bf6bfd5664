import assert from "node:assert/strict";
import iqRecording from "../../../ops/source/iq_recording.ts";
import { sha256Hex, sha512Hex } from "../../../lib/contract/hash.ts";
import type { JsonObject, Value } from "../../../lib/contract/value.ts";
import { damage, seeded } from "../../lib/artifact/_fuzz.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { refuses, runOperation } from "../harness.ts";

type Files = Record<string, Uint8Array>;
const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const bytesOfView = (view: ArrayBufferView) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

async function read(files: Files, params: JsonObject) {
  const { outputs } = await runOperation(iqRecording, { params, files });
  const samples = Array.from(outputs.waveform.array().data as Float32Array);
  return { samples, metadata: outputs.waveform.metadata, labels: outputs.labels.json().items as JsonObject[] };
}

/** A SigMF pair. */
function pair(data: Uint8Array, global: JsonObject, more: { [key: string]: Value } = {}): Files {
  const document = { global: { "core:version": "1.2.0", ...global }, captures: [], annotations: [], ...more };
  return { "a.sigmf-meta": text(document), "a.sigmf-data": data };
}
const META = { recording_path: "a.sigmf-meta" };

Deno.test("raw samples of every type are scaled to -1 … 1", async () => {
  const raw = async (suffix: string, bytes: Uint8Array) =>
    (await read({ [`r.${suffix}`]: bytes }, { recording_path: `r.${suffix}` })).samples;
  assert.deepEqual(await raw("ci16", bytesOfView(Int16Array.of(-32768, 0, 16384, 32767))), [-1, 0, 0.5, 32767 / 32768]);
  assert.deepEqual(await raw("cu8", Uint8Array.of(0, 128, 192, 64)), [-1, 0, 0.5, -0.5]);
  assert.deepEqual(await raw("ci8", bytesOfView(Int8Array.of(-128, 0, 64, -64))), [-1, 0, 0.5, -0.5]);
  assert.deepEqual(await raw("cf32", bytesOfView(Float32Array.of(3, -0.25))), [3, -0.25]);
  const other = { "r.iq": Uint8Array.of(0x40, 0, 0xc0, 0) };
  const { samples } = await read(other, { recording_path: "r.iq", datatype: "ci16_be" });
  assert.deepEqual(samples, [0.5, -0.5]);
});

Deno.test("a SigMF pair gives window, channel, captures and labels", async () => {
  // Two channels of six samples; indices count from 100.
  const data = Int16Array.from({ length: 24 }, (_, at) => 1024 * at);
  const files = pair(bytesOfView(data), {
    "core:datatype": "ci16_le",
    "core:num_channels": 2,
    "core:sample_rate": 1000,
    "core:offset": 100,
    "core:sha512": sha512Hex(bytesOfView(data)),
  }, {
    captures: [{ "core:sample_start": 100, "core:frequency": 2.4e9 }, {
      "core:sample_start": 103,
      "core:frequency": 2.5e9,
    }],
    annotations: [
      { "core:sample_start": 101, "core:sample_count": 3, "core:label": "burst", "core:freq_lower_edge": -100 },
      { "core:sample_start": 105, "core:label": "tail", "core:uuid": "u1" },
      { "core:sample_start": 102, "core:sample_count": 1 },
    ],
  });
  const { samples, metadata, labels } = await read(files, { ...META, channel: 1, first_sample: 2, sample_count: 4 });
  const expected = [2, 3, 4, 5].flatMap((n) => [4 * n + 2, 4 * n + 3]).map((value) => 1024 * value / 32768);
  assert.deepEqual(samples, expected);
  const recording = metadata.recording as JsonObject;
  const captures = recording.captures as JsonObject[];
  assert.deepEqual(captures.map((capture) => [capture.sample_start, Number(capture.frequency_hz)]), [[0, 2.4e9], [
    1,
    2.5e9,
  ]]);
  assert.deepEqual(labels.map(({ id, label, sample_start, sample_count }) => [id, label, sample_start, sample_count]), [
    ["annotation_0", "burst", 0, 2],
    ["u1", "tail", 3, 1],
  ]);
  const both = sha256Hex(Uint8Array.of(...files["a.sigmf-meta"], ...files["a.sigmf-data"]));
  assert.equal(recording.sha256, both);
  await read(files, { ...META, recording_sha256: both });
  await refuses("boundary_hash_mismatch", () => read(files, { ...META, recording_sha256: "0".repeat(64) }));
});

Deno.test("a tone is moved to zero and keeps its place at another sample rate", async () => {
  const rate = 8000, tone = new Float32Array(2 * 4000);
  for (let n = 0; n < 4000; n++) tone.set([Math.cos(2 * Math.PI * n / 8), Math.sin(2 * Math.PI * n / 8)], 2 * n);
  const files = pair(bytesOfView(tone), { "core:datatype": "cf32_le", "core:sample_rate": rate }, {
    annotations: [{ "core:sample_start": 400, "core:sample_count": 200, "core:label": "mark" }],
    captures: [{ "core:sample_start": 0, "core:frequency": 1e6 }],
  });
  const { samples, metadata, labels } = await read(files, {
    ...META,
    frequency_shift_hz: 1000,
    target_sample_rate_hz: 2000,
  });
  assert.equal(samples.length, 2 * 1000);
  for (let n = 50; n < 950; n++) assert.ok(Math.hypot(samples[2 * n] - 1, samples[2 * n + 1]) < 2e-3, String(n));
  const recording = metadata.recording as JsonObject;
  assert.deepEqual([recording.resampling, Number(recording.sample_rate_hz)], [[1, 4], 2000]);
  assert.equal(Number((recording.captures as JsonObject[])[0].frequency_hz), 1_001_000);
  assert.deepEqual([labels[0].sample_start, labels[0].sample_count], [100, 50]);
  const raw = { "r.cf32": bytesOfView(tone) };
  await refuses("params_conflict", () => read(raw, { recording_path: "r.cf32", target_sample_rate_hz: 2000 }));
  await refuses("params_conflict", () => read(files, { ...META, target_sample_rate_hz: 1999.999 }));
});

Deno.test("recordings that do not fit their metadata are refused", async () => {
  const data = bytesOfView(Float32Array.of(1, 2, 3, 4)), cf32 = { "core:datatype": "cf32_le" };
  const invalid = (files: Files, params: JsonObject = META) => refuses("recording_invalid", () => read(files, params));
  const unsupported = (files: Files) => refuses("recording_unsupported", () => read(files, META));
  await invalid(pair(data, { ...cf32, "core:sha512": "0".repeat(128) }));
  await invalid(pair(data.subarray(0, 12), cf32));
  await invalid(pair(data, cf32), { ...META, first_sample: 2 });
  await invalid(pair(data, cf32), { ...META, sample_count: 3 });
  await invalid(pair(data, cf32), { ...META, channel: 1 });
  await invalid(pair(data, cf32, { captures: [{ "core:sample_start": 1 }, { "core:sample_start": 0 }] }));
  await invalid(pair(data, { ...cf32, "core:offset": 5 }, { captures: [{ "core:sample_start": 1 }] }));
  await invalid(pair(data, { ...cf32, "core:num_channels": 1e9 }));
  await invalid({ ...pair(data, cf32), "a.sigmf-meta": new TextEncoder().encode("{") });
  await unsupported(pair(data, { "core:datatype": "rf32_le" }));
  await unsupported(pair(data, { ...cf32, "core:version": "2.0.0" }));
  await unsupported(pair(data, { ...cf32, "core:dataset": "../other" }));
  await unsupported(pair(data, cf32, { captures: [{ "core:sample_start": 0, "core:header_bytes": 4 }] }));
  await refuses("boundary_non_finite", () => read(pair(bytesOfView(Float32Array.of(1, NaN)), cf32), META));
});

Deno.test("damaged metadata and data end in samples or in a coded error", async () => {
  const files = pair(bytesOfView(Float32Array.of(1, 2, 3, 4)), { "core:datatype": "cf32_le", "core:sample_rate": 1 }, {
    captures: [{ "core:sample_start": 0, "core:frequency": 5 }],
    annotations: [{ "core:sample_start": 0, "core:label": "x" }],
  });
  const random = seeded(11);
  let refused = 0;
  for (let round = 0; round < 300; round++) {
    const changed = { ...files, "a.sigmf-meta": damage(files["a.sigmf-meta"], random) };
    try {
      await read(changed, META);
    } catch (error) {
      assert.ok(error instanceof SvcError, String(error));
      refused++;
    }
  }
  assert.ok(refused > 100, String(refused));
});
