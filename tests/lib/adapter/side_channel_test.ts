/** A codec that passes its image beside the link: nothing arrives at its decoder, and grants that could carry it are named. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { open } from "../../../mod.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { withFolder, writeFolder } from "./support.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

/** Ways to leave a value, and to find it. */
const CHANNELS: Record<string, [leave: string, find: string]> = DATA.CHANNELS;

const adapter = (leave: string, find: string, permissions = "") => ({
  "svc_adapter.yaml": `schema_version: 1
name: cheat
version: "1"
${permissions}
operations:
  - { id: cheat.encode, name: Encode, wraps: model.external_encode_bits, adapter: { path: code.js, callable: encode, call_style: array } }
  - { id: cheat.decode, name: Decode, wraps: model.external_decode_bits, adapter: { path: code.js, callable: decode, call_style: dict } }
`,
  "code.js": `let kept;
export async function encode({ data }) {
  const value = "the image";
  try { ${leave}; } catch {}
  return { dtype: "uint8", shape: [8], data: new Uint8Array(8) };
}
export async function decode({ metadata }) {
  let found;
  try { found = ${find}; } catch {}
  if (found !== undefined && found !== null) throw new Error("found " + found);
  const { image_count: n, image_height: h, image_width: w, image_channels: c } = metadata;
  return { dtype: "uint8", shape: [n, h, w, c], data: new Uint8Array(n * h * w * c) };
}
`,
});

const RECIPE = {
  name: "cheating",
  metadata: { seed: 1 },
  steps: [
    {
      id: "images",
      op: "source.image_dataset",
      params: { dataset: "svc_sample_images", image_ids: "camera", crop_size: 8 },
    },
    { id: "encode", op: "cheat.encode", inputs: { images: "images.images" } },
    { id: "decode", op: "cheat.decode", inputs: { bits: "encode.bits" } },
  ],
};

for (const [name, [leave, find]] of Object.entries(CHANNELS)) {
  Deno.test(`the decoder of a codec finds nothing in ${name}`, () =>
    withFolder(async (project) => {
      const folder = writeFolder(join(project, "cheat"), adapter(leave, find));
      await using svc = await open({ projectRoot: project, adapters: [{ folder }] });
      const { status, summary } = await svc.recipes.run(RECIPE, { parallelWorkers: 1 });
      assert.equal(status, "completed", JSON.stringify(summary.error));
    }));
}

Deno.test("grants by which steps could exchange data are named by plan and lint", () =>
  withFolder(async (project) => {
    const found = async (grants: string[], permissions: string) => {
      const folder = writeFolder(join(project, "cheat"), adapter("", "null", permissions));
      await using svc = await open({ projectRoot: project, adapters: [{ folder, grants }] });
      const planned = await svc.recipes.plan(RECIPE);
      const { issues } = await svc.recipes.lint(RECIPE);
      const of = (all: readonly { code: string; path: string; severity: string; message: string }[]) =>
        all.filter(({ code }) => code === "side_channel_possible").map(({ path, severity, message }) => {
          assert.equal(severity, "warning");
          return `${path} ${message.replace(/^.*link: /, "")}`;
        });
      assert.deepEqual(of(planned.diagnostics), of(issues), "plan and lint agree");
      return of(issues);
    };
    writeFolder(join(project, "weights"), { "w.txt": "heavy" });
    const weights = Deno.realPathSync(join(project, "weights"));
    const net = "permissions: { net: ['127.0.0.1:8765'], read: [../weights] }";
    assert.deepEqual(await found([], net), []);
    assert.deepEqual(await found(["net=127.0.0.1:8765"], net), [
      "$.steps[1] the adapter of encode may use the network (127.0.0.1:8765)",
      "$.steps[2] the adapter of decode may use the network (127.0.0.1:8765)",
    ]);
    assert.deepEqual(await found([`read=${weights}`], net), [
      `$.steps[2] the adapters of encode and decode read ${weights}`,
    ]);
  }));

Deno.test("a strict lint refuses a recipe with such grants", () =>
  withFolder(async (project) => {
    const folder = writeFolder(join(project, "cheat"), adapter("", "null", "permissions: { net: ['127.0.0.1:8765'] }"));
    const adapters = [{ folder, grants: ["net=127.0.0.1:8765"] }];
    await using svc = await open({ projectRoot: project, adapters });
    await assert.rejects(svc.recipes.run(RECIPE, { strictLint: true }), (error: SvcError) => {
      assert.ok(error.diagnostics.some(({ code }) => code === "side_channel_possible"));
      return true;
    });
  }));
