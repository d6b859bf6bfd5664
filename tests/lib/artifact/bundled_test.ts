import assert from "node:assert/strict";
import { join } from "node:path";
import {
  BUNDLED_DATASETS,
  fetchBundledDataset,
  isBundledDatasetPresent,
  readBundledFile,
} from "../../../lib/artifact/bundled.ts";
import { checkManifestFiles, parseImageManifest } from "../../../lib/artifact/dataset_manifest.ts";
import { SvcError } from "../../../lib/contract/error.ts";

const SAMPLES = new URL("../../../recipes/samples/", import.meta.url);
const ID = "svc_sample_images";

/** Serves the samples under the path they have in the program, and counts what was asked for. */
async function withOrigin(
  change: (path: string, bytes: Uint8Array) => Uint8Array | null,
  use: (places: { stateDir: string; origin: URL }) => Promise<void>,
) {
  const stateDir = await Deno.makeTempDir();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const path = new URL(request.url).pathname.replace("/recipes/samples/", "");
    const body = change(path, await Deno.readFile(new URL(path, SAMPLES)));
    return body === null ? new Response("gone", { status: 404 }) : new Response(body.slice());
  });
  try {
    await use({ stateDir, origin: new URL(`http://127.0.0.1:${server.addr.port}/`) });
  } finally {
    await server.shutdown();
    await Deno.remove(stateDir, { recursive: true });
  }
}

const hasCode = (code: string) => (error: unknown) => error instanceof SvcError && error.code === code;

Deno.test("the table lists the files of the folder, and the manifest describes them", async () => {
  const { files } = BUNDLED_DATASETS[ID];
  const present = [...Deno.readDirSync(SAMPLES)].map(({ name }) => name).filter((name) => name !== "README.md");
  assert.deepEqual(Object.keys(files).sort(), present.sort());
  for (const [path, { size_bytes }] of Object.entries(files)) {
    const bytes = await readBundledFile(ID, path, { stateDir: "/nonexistent" });
    assert.equal(bytes.length, size_bytes);
  }
  const manifest = parseImageManifest(await readBundledFile(ID, "manifest.json", { stateDir: "/nonexistent" }));
  assert.equal(manifest.id, ID);
  assert.equal(manifest.version, BUNDLED_DATASETS[ID].version);
  assert.deepEqual(manifest.splits, BUNDLED_DATASETS[ID].splits);
  assert.deepEqual(Object.keys(manifest.splits), ["train", "validation", "test"]);
  const samples = manifest.samples.map(({ sample_id }) => sample_id).sort();
  assert.deepEqual(samples, ["camera", "chelsea", "coffee", "rocket"]);
  assert.deepEqual(Object.values(manifest.splits).flat().sort(), samples);
  assert.deepEqual(await checkManifestFiles(manifest, SAMPLES.pathname, { decode: true }), []);
});

Deno.test("unknown data sets and files are refused with the nearest name", async () => {
  const places = { stateDir: "/nonexistent" };
  await assert.rejects(readBundledFile("svc_sample_image", "coffee.png", places), (error: SvcError) => {
    assert.equal(error.code, "dataset_unavailable");
    assert.match(error.hint!, /svc_sample_images/);
    return true;
  });
  await assert.rejects(readBundledFile(ID, "../../deno.json", places), hasCode("boundary_file_missing"));
  assert.equal(isBundledDatasetPresent("kodak", places), false);
  assert.equal(isBundledDatasetPresent(ID, places), true);
});

Deno.test("a program imported by URL fetches its pictures, and reads them by hash", async () => {
  await withOrigin((_, bytes) => bytes, async (places) => {
    assert.equal(isBundledDatasetPresent(ID, places), false);
    await assert.rejects(readBundledFile(ID, "coffee.png", places), (error: SvcError) => {
      assert.equal(error.code, "dataset_unavailable");
      assert.match(error.hint!, /svc data fetch svc_sample_images/);
      return true;
    });
    const folder = await fetchBundledDataset(ID, places);
    assert.equal(folder, join(places.stateDir, "datasets", ID));
    assert.equal(isBundledDatasetPresent(ID, places), true);
    const bytes = await readBundledFile(ID, "coffee.png", places);
    assert.equal(bytes.length, BUNDLED_DATASETS[ID].files["coffee.png"].size_bytes);
    const record = JSON.parse(await Deno.readTextFile(join(folder, "fetch.json")));
    assert.deepEqual(Object.keys(record), ["id", "version", "url", "sha256", "fetched_at_utc"]);
    assert.equal(record.url, `${places.origin}recipes/samples/`);
    assert.match(record.fetched_at_utc, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    // Fetching again replaces what is there.
    await Deno.writeTextFile(join(folder, "coffee.png"), "altered");
    await assert.rejects(readBundledFile(ID, "coffee.png", places), hasCode("boundary_hash_mismatch"));
    await fetchBundledDataset(ID, places);
    assert.equal((await readBundledFile(ID, "coffee.png", places)).length, bytes.length);
  });
});

Deno.test("a missing or altered file leaves nothing behind", async () => {
  const spoil = (bytes: Uint8Array) => bytes.map((byte, index) => index === 1000 ? byte ^ 1 : byte);
  const cases = [
    ["boundary_hash_mismatch", (path: string, bytes: Uint8Array) => path === "rocket.jpg" ? spoil(bytes) : bytes],
    ["dataset_unavailable", (path: string, bytes: Uint8Array) => path === "rocket.jpg" ? null : bytes],
  ] as const;
  for (const [code, change] of cases) {
    await withOrigin(change, async (places) => {
      await assert.rejects(fetchBundledDataset(ID, places), hasCode(code));
      assert.deepEqual([...Deno.readDirSync(join(places.stateDir, "datasets"))], []);
    });
  }
});
