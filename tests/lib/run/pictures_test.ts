import assert from "node:assert/strict";
import { join } from "node:path";
import { decodePng, parsePng } from "../../../lib/artifact/png_decode.ts";
import { open } from "../../../mod.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const RECIPE = `
name: noisy
metadata: {seed: 23}
steps:
  - {id: data, op: source.image_dataset, params: {dataset: svc_sample_images, image_ids: "coffee,camera", crop_size: 64}}
  - id: noise
    op: noise.source_image_perturbation
    params: {mode: gaussian, sigma: 0.1}
    inputs: {images: data.images}
`;

Deno.test("images of a run: one PNG for each item and step, and a strip with the source above", async () => {
  const projectRoot = temporaryFolder("svc-pictures-");
  await using svc = await open({ projectRoot });
  const { run_id, directory } = await svc.recipes.run(RECIPE);
  const out = join(projectRoot, "out");
  const written = await svc.runs.pictures(run_id, { out });
  assert.deepEqual(written.files, ["coffee.data.png", "coffee.noise.png", "camera.data.png", "camera.noise.png"]);
  const read = (name: string) => decodePng(parsePng(Deno.readFileSync(join(out, name))));
  const [source, received] = [read("coffee.data.png"), read("coffee.noise.png")];
  assert.deepEqual([source.width, source.height], [64, 64]);
  assert.notDeepEqual(source.data, received.data);
  const strip = read(written.strip);
  assert.deepEqual([strip.width, strip.height], [2 * 128 + 6, 2 * 128 + 6]);

  const path = await svc.runs.strip(run_id);
  assert.equal(path, join(projectRoot, ".svc", "pictures", `${run_id}.png`));
  assert.deepEqual(Deno.readFileSync(path!), Deno.readFileSync(join(out, written.strip)));

  const file = join(directory, "artifacts/noise/images.npz");
  Deno.chmodSync(file, 0o644);
  const bytes = Deno.readFileSync(file);
  bytes[bytes.length >> 1] ^= 1;
  Deno.writeFileSync(file, bytes);
  await assert.rejects(svc.runs.pictures(run_id, { out }), { code: "artifact_hash_mismatch" });

  await svc.runs.prune({ ids: [run_id] });
  await assert.rejects(svc.runs.pictures(run_id, { out }), { code: "run_pruned" });

  const bits = await svc.recipes.run({ name: "bits", steps: [{ id: "data", op: "source.random_bits" }] });
  assert.equal(await svc.runs.strip(bits.run_id), null);
  await assert.rejects(svc.runs.pictures(bits.run_id, { out }), { code: "pictures_missing" });
});
