/** Folders that are dropped, and an upload that is watched and cancelled. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { browserTest, type Scene } from "./browser.ts";

const SAMPLES = new URL("../../recipes/samples/", import.meta.url);
const IMAGES = ["camera.png", "coffee.png"];

/** Drops a file or folder of this machine as the desktop does. */
async function dropPath({ page, context }: Scene, path: string): Promise<void> {
  const { x, y } = await page.locator(".drop").evaluate((zone) => {
    const { x, y, width } = zone.getBoundingClientRect();
    return { x: x + width / 2, y: y + 8 };
  });
  const session = await context.newCDPSession(page), data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const) {
    await session.send("Input.dispatchDragEvent", { type, x, y, data });
  }
  await session.detach();
}

const storedIn = async (folder: string) =>
  (await Array.fromAsync(Deno.readDir(join(folder, "uploads/photographs")))).map(({ name }) => name).sort();

browserTest("a dropped folder becomes a folder of uploads with a manifest in one click", async (scene) => {
  const { page, open, folder, shot } = scene, source = await Deno.makeTempDir();
  try {
    const given = join(source, "photographs");
    await Deno.mkdir(join(given, "inner"), { recursive: true });
    await Deno.copyFile(new URL(IMAGES[0], SAMPLES), join(given, "first.png"));
    await Deno.copyFile(new URL(IMAGES[1], SAMPLES), join(given, "inner/second.png"));
    await Deno.writeTextFile(join(given, ".hidden"), "left out");
    await open("#/data");
    await page.getByRole("button", { name: "Choose a folder" }).waitFor();
    await dropPath(scene, given);
    await page.getByRole("region", { name: "Message" }).getByText("2 of 2 files stored in uploads/photographs")
      .waitFor();
    await page.getByRole("list", { name: "Images" }).locator("img").nth(1).waitFor();
    assert.deepEqual(await storedIn(folder), ["first.png", "inner_second.png"]);
    let clicks = 0;
    await page.getByRole("button", { name: "Make the manifest" }).click();
    clicks++;
    await page.getByRole("link", { name: "manifest.json" }).waitFor();
    assert.equal(clicks, 1);
    const manifest = JSON.parse(await Deno.readTextFile(join(folder, "uploads/photographs/manifest.json")));
    assert.equal(manifest.samples.length, 2);
    await shot("data_folder");
  } finally {
    await Deno.remove(source, { recursive: true });
  }
});

browserTest("an upload shows its progress, and a click cancels what is not stored", async (scene) => {
  const { page, open, folder, shot, route, allow } = scene, source = await Deno.makeTempDir();
  const held = Promise.withResolvers<void>();
  try {
    const given = join(source, "photographs");
    await Deno.mkdir(given);
    for (const name of ["a.png", "b.png", "c.png"]) await Deno.copyFile(new URL(IMAGES[0], SAMPLES), join(given, name));
    const names: string[] = [];
    await route(/\/api\/data\/uploads\?/, async (request) => {
      const name = new URL(request.request().url()).searchParams.get("name")!;
      names.push(name);
      if (names.length === 2) await held.promise;
      // A request that the page ended has no answer.
      await request.continue().catch(() => {});
    });
    allow(/net::ERR_ABORTED/);
    await open("#/data");
    await page.getByRole("button", { name: "Choose a folder" }).waitFor();
    await dropPath(scene, given);
    await page.getByText(/^File 2 of 3, /).waitFor();
    const size = (await Deno.stat(join(given, "a.png"))).size;
    const bar = page.getByRole("progressbar", { name: "Progress of the upload" });
    assert.deepEqual(
      await bar.evaluate((element) => {
        const { value, max } = element as unknown as { value: number; max: number };
        return [value, max];
      }),
      [size, 3 * size],
    );
    assert.ok(await page.getByRole("button", { name: "Choose files" }).isDisabled());
    await shot("data_upload_progress");
    let clicks = 0;
    await page.getByRole("button", { name: "Cancel the upload" }).click();
    clicks++;
    await page.getByRole("region", { name: "Message" }).getByText("1 of 3 files stored in uploads/photographs")
      .waitFor();
    assert.equal(clicks, 1);
    await bar.waitFor({ state: "detached" });
    assert.ok(await page.getByRole("button", { name: "Choose files" }).isEnabled());
    const [first] = names;
    assert.deepEqual([names.length, await storedIn(folder)], [2, [first]]);
  } finally {
    held.resolve();
    await Deno.remove(source, { recursive: true });
  }
});
