import assert from "node:assert/strict";
import { join } from "node:path";
import { run } from "../../../mod.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { verifyRun } from "../../../lib/run/verify.ts";
import { asObject, parseJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { decodeArtifact } from "../../../lib/artifact/codec.ts";
import { decodeImage } from "../../../lib/artifact/image_file.ts";
import { imagesOf } from "../../../lib/artifact/values.ts";
import { IMAGES } from "../../../lib/contract/kinds.ts";
import { writePictures } from "../../../lib/run/pictures.ts";
import { withFolder, writeFolder } from "./support.ts";

/** Codes every sample as one bit, and turns bits back into samples; packed, the order is told by `bit_order`. */
const codec = (storage: string, order: string, style = "dict") => ({
  "svc_adapter.yaml": `
schema_version: 1
name: threshold
version: "1.0"
operations:
  - id: threshold.encode
    name: One bit a sample
    wraps: model.external_encode_bits
    adapter: { path: codec.ts, callable: encode, call_style: ${style}, bit_storage: ${storage}, bit_order: ${order} }
  - id: threshold.decode
    name: A sample of every bit
    wraps: model.external_decode_bits
    adapter: { path: codec.ts, callable: decode, call_style: dict, bit_storage: ${storage}, bit_order: ${order} }
`,
  "codec.ts": `
const PACKED: boolean = ${storage === "packed_bytes"};
const place = (index: number) => ${order === "big" ? "7 - index % 8" : "index % 8"};
export function encode({ array, params }: { array: any; params: object }) {
  const bits = Uint8Array.from(array.data, (value: number) => value > 127 ? 1 : 0);
  if (!PACKED) return { dtype: "uint8", shape: [bits.length], data: bits };
  const data = new Uint8Array(Math.ceil(bits.length / 8)).fill(0);
  bits.forEach((bit, index) => { data[index >> 3] |= bit << place(index); });
  return { array: { dtype: "uint8", shape: [data.length], data }, metadata: { bit_count: bits.length } };
}
export async function decode({ array, metadata }: { array: any; metadata: any }) {
  const { image_count: n, image_height: h, image_width: w, image_channels: c, bit_count } = metadata;
  if (array.data.length !== (PACKED ? Math.ceil(bit_count / 8) : bit_count)) throw new Error("wrong length");
  const data = new Uint8Array(n * h * w * c);
  for (let i = 0; i < data.length; i++) data[i] = 255 * (PACKED ? array.data[i >> 3] >> place(i) & 1 : array.data[i]);
  return { dtype: "uint8", shape: [n, h, w, c], data };
}
`,
});

const recipe = (size: number, snr: number) => ({
  name: "adapter_link",
  metadata: { seed: 7 },
  steps: [
    {
      id: "images",
      op: "source.image_dataset",
      params: { dataset: "svc_sample_images", image_ids: "camera", crop_size: size },
    },
    { id: "encode", op: "threshold.encode", inputs: { images: "images.images" } },
    { id: "link", op: "wireless.digital_link", params: { snr_db: snr + 0.5 }, inputs: { bits: "encode.bits" } },
    { id: "decode", op: "threshold.decode", inputs: { bits: "link.bits" } },
  ],
});

Deno.test("images of several sizes are one call each, and come back at their sizes", () =>
  withFolder(async (project) => {
    const folder = writeFolder(join(project, "threshold"), codec("packed_bytes", "little"));
    const link = recipe(13, 12), [source, ...others] = link.steps;
    const params = { dataset: "svc_sample_images", image_ids: "coffee,camera,chelsea", resize_shorter_side: 7 };
    const mixed = { ...link, steps: [{ ...source, params }, ...others] };
    const result = await run(mixed, { projectRoot: project, adapters: [{ folder }] });
    assert.equal(result.status, "completed", JSON.stringify(result.summary.error));
    const workspace = openWorkspace({ projectRoot: project });
    assert.equal((await verifyRun(workspace, result.run_id)).status, "valid");
    const images = (step: string) => {
      const { path } = result.summary.steps.find(({ id }) => id === step)!.outputs.images;
      return imagesOf(decodeArtifact(IMAGES, Deno.readFileSync(join(result.directory, path))));
    };
    const sent = images("images"), received = images("decode");
    // 600 x 400, 512 x 512 and 451 x 300 pixels, rounded down.
    const sizes = [10, 7, 10].map((width) => ({ height: 7, width }));
    assert.deepEqual([sent.sizes, received.sizes], [sizes, sizes]);
    // Without errors every sample is the threshold of the sent one.
    assert.deepEqual(Array.from(received.data), Array.from(sent.data, (value) => value > 127 ? 255 : 0));
    const { files } = writePictures(workspace, result.run_id, join(project, "pictures"));
    assert.equal(files.length, 6);
    const wide = decodeImage(Deno.readFileSync(join(project, "pictures", "chelsea.decode.png")));
    assert.deepEqual([wide.width, wide.height], [10, 7]);
  }));

Deno.test("an adapter's operations run in a recipe", () =>
  withFolder(async (project) => {
    const folder = writeFolder(join(project, "threshold"), codec("packed_bytes", "little"));
    const result = await run(recipe(13, 3), { projectRoot: project, adapters: [{ folder }] });
    assert.equal(result.status, "completed", JSON.stringify(result.summary.error));
    const manifest = asObject(parseJson(Deno.readTextFileSync(join(result.directory, "manifest.json"))));
    const step = (manifest.steps as JsonObject[])[1];
    const record = step.external_adapter_sdk as JsonObject;
    assert.deepEqual(record.limits, { timeout_s: 60, memory_mb: 512 });
    assert.equal(record.grant_source, "none");
    for (const digest of ["folder_sha256", "manifest_sha256", "module_sha256"]) {
      assert.match(record[digest] as string, /^[0-9a-f]{64}$/);
    }
    const planned = (step.execution_binding as JsonObject).implementation_metadata as JsonObject;
    assert.deepEqual(planned.external_adapter_sdk, record);
    const metrics = step.metrics as JsonObject;
    assert.ok("encoder.external_call" in metrics && "rate.payload_bpp" in metrics);
    const report = await verifyRun(openWorkspace({ projectRoot: project }), result.run_id);
    assert.equal(report.status, "valid", JSON.stringify(report));

    // A folder that changed under a loaded adapter is refused before anything is written.
    writeFolder(folder, { "codec.ts": "export const encode = 1;\n" });
    await assert.rejects(run(recipe(13, 3), { projectRoot: project, adapters: [{ folder }] }), {
      code: "adapter_callable_missing",
    });
  }));
