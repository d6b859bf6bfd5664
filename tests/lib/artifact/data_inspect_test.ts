import assert from "node:assert/strict";
import { inspectData } from "../../../lib/artifact/data_inspect.ts";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";

const reader = (files: Record<string, Uint8Array>) => (path: string) => {
  if (files[path] !== undefined) return Promise.resolve(files[path]);
  return Promise.reject(new Error(`unexpected read of ${path}`));
};

Deno.test("recordings and arrays are described with the digest that pins them", async () => {
  const meta = new TextEncoder().encode(JSON.stringify({
    global: { "core:datatype": "ci16_le", "core:version": "1.2.0", "core:sample_rate": 2.5e6, "core:num_channels": 2 },
    captures: [{ "core:sample_start": 0 }],
    annotations: ["b", "a", "b"].map((label) => ({ "core:sample_start": 0, "core:label": label })),
  }));
  const data = new Uint8Array(24), read = reader({ "x.sigmf-meta": meta, "x.sigmf-data": data, "r.cu8": data });
  const both = sha256Hex(Uint8Array.of(...meta, ...data));
  for (const path of ["x.sigmf-meta", "x.sigmf-data"]) {
    const { sha256, sample_count, channel_count, labels } = await inspectData(path, read);
    assert.deepEqual([sha256, sample_count, channel_count, labels], [both, 3, 2, ["a", "b"]]);
  }
  const raw = await inspectData("r.cu8", read);
  assert.deepEqual([raw.sha256, raw.datatype, raw.sample_count, raw.sample_rate_hz], [
    sha256Hex(data),
    "cu8",
    12,
    null,
  ]);
  const npz = writeNpz({ a: { dtype: "complex64", shape: [2, 3], data: new Float32Array(12) } });
  const { arrays } = await inspectData("c.npz", reader({ "c.npz": npz }));
  assert.deepEqual(arrays, [{ name: "a", dtype: "complex64", shape: [2, 3] }]);
  await assert.rejects(inspectData("c.exe", read), { code: "usage_invalid" });
});
