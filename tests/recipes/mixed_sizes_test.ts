/** Every shipped recipe over images runs on a folder of photographs in portrait and landscape. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { parse } from "npm:yaml@^2.9.1";
import { open } from "../../mod.ts";
import type { Image } from "../../lib/artifact/image.ts";
import { decodeImage } from "../../lib/artifact/image_file.ts";
import { resizeShorterSide } from "../../lib/artifact/image_resize.ts";
import { writePng } from "../../lib/artifact/png_encode.ts";
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { coverOf, kindsOf } from "../support/kinds.ts";
import { fromFileUrl } from "../support/paths.ts";
import { FULL_SIZE } from "../support/reduced_sizes.ts";
import { tinyAutoencoder } from "../support/tiny_models.ts";
import { temporaryFolder } from "../support/temporary.ts";

const RECIPES = new URL("../../recipes/", import.meta.url);

/** The upper left part of a shipped photograph whose shorter side was reduced to 96 pixels. */
function photograph(file: string, height: number, width: number): Image {
  const { data, channels, ...whole } = resizeShorterSide(decodeImage(Deno.readFileSync(new URL(file, RECIPES))), 96);
  const cut = new Uint8Array(height * width * channels);
  for (let y = 0; y < height; y++) {
    const from = y * whole.width * channels;
    cut.set(data.subarray(from, from + width * channels), y * width * channels);
  }
  return { height, width, channels, data: cut };
}

/** Models that a user fetches, and stand-ins of a few kilobytes. */
function standIn(op: string, params: JsonObject): JsonObject {
  if (params.model === "bmshj2018_hyperprior") return { ...params, model: "svc_tiny_hyperprior", quality: 1 };
  return op.includes("_diffusers") || op.startsWith("model.diffusers") || op.startsWith("model.vq_")
    ? { ...params, model_id: "autoencoder" }
    : params;
}

type Step = JsonObject & { id: string; op: string; params?: JsonObject; inputs?: JsonObject };

Deno.test("all recipes over images run on photographs in portrait and landscape", async (test) => {
  const projectRoot = temporaryFolder();
  Deno.mkdirSync(join(projectRoot, "photographs"));
  const put = (name: string, bytes: Uint8Array) => {
    Deno.mkdirSync(join(projectRoot, name, ".."), { recursive: true });
    Deno.writeFileSync(join(projectRoot, name), bytes);
  };
  put("photographs/landscape.png", writePng(photograph("samples/coffee.png", 64, 128)));
  put("photographs/portrait.png", writePng(photograph("samples/chelsea.png", 96, 64)));
  for (const [name, bytes] of Object.entries(tinyAutoencoder())) put(`autoencoder/${name}`, bytes);
  await using session = await open({ projectRoot, idleMs: 60_000 });
  const { sha256 } = await session.data.makeManifest(join(projectRoot, "photographs"), { id: "photographs" });
  const source = { dataset: "photographs", image_ids: "", manifest_path: "photographs/manifest.json" };
  const recipes = new Map<string, JsonObject>();
  for (const folder of [RECIPES, new URL("recipe_starters/", RECIPES)]) {
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith(".yaml"))
      .sort();
    for (const name of names) {
      const text = Deno.readTextFileSync(fromFileUrl(new URL(name, folder)));
      // The network of this score is the user's.
      if (!text.includes("source.image_dataset") || name === "image_perceptual_distance.yaml") continue;
      const { metadata: { matrix: _, ...metadata }, ...raw } = parse(text) as JsonObject & { metadata: JsonObject };
      const steps = (raw.steps as Step[]).map(({ params, ...step }) => {
        // Without its matrix a recipe has the defaults of the parameters that it sweeps.
        const own = Object.entries(params ?? {}).filter(([, value]) => !(isObject(value) && "matrix" in value));
        const given = step.op === "source.image_dataset"
          ? { ...source, manifest_sha256: sha256 }
          : standIn(step.op, Object.fromEntries(own));
        return { ...step, params: given };
      });
      recipes.set(name, { ...raw, metadata, steps } as JsonObject);
    }
  }
  assert.equal(recipes.size, 42);
  // Each operation; `deno task soak whole` runs all recipes.
  const kinds = [...recipes].map(([name, { steps }]) => [name, kindsOf(steps as Step[])] as const);
  const chosen = FULL_SIZE ? new Set(recipes.keys()) : coverOf(new Map(kinds));
  for (const [name, recipe] of recipes) {
    if (!chosen.has(name)) continue;
    await test.step(name, async () => {
      const { run_id, status, summary } = await session.recipes.run(recipe);
      assert.equal(status, "completed", String(summary.error));
      const images = summary.steps.flatMap(({ outputs }) => Object.values(outputs))
        .filter(({ kind }) => kind === "image.batch.numpy");
      assert.ok(images.length >= 2, "no images were received");
      for (const { metadata } of images) assert.deepEqual(metadata.item_shapes, [[64, 128, 3], [96, 64, 3]]);
      assert.equal((await session.runs.verify(run_id)).status, "valid");
      await session.runs.remove({ ids: [run_id] });
    });
  }
});
