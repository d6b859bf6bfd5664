/** A result of an earlier version of a recipe is marked, and each way to agree again removes the mark. */
import assert from "node:assert/strict";
import { float } from "../../lib/contract/value.ts";
import { changesText, resultForm } from "../../ui/form/result_form.ts";
import { browserTest } from "./browser.ts";
import { draft, drafted, draftIs, field, FILES, openLink, press, runOnce } from "./editor_scene.ts";

Deno.test("a description and values of a dimension keep results; steps, names, seeds and bindings do not", () => {
  const recipe = (snr_db: number[], more = {}) => ({
    name: "link",
    metadata: { seed: 1, matrix: { dimensions: { snr_db }, step_params: { chan: { snr_db: { matrix: "snr_db" } } } } },
    steps: [{ id: "chan", op: "wireless.channel" }],
    ...more,
  });
  const form = resultForm(recipe([1, 2]));
  for (const same of [recipe([1, 2, 3]), recipe([1, 2], { description: "other" })]) {
    assert.equal(resultForm(same), form);
  }
  const others = [{ name: "other" }, { steps: [] }, { metadata: { seed: 1 } }, { metadata: { seed: 2 } }];
  for (const other of others) assert.notEqual(resultForm(recipe([1, 2], other)), form);
  assert.equal(resultForm({ name: "a", metadata: {} }), resultForm({ name: "a" }));
});

Deno.test("a change names its step and parameter, and the value before", () => {
  const at = { path: "$.steps[2].params.snr_db", step_id: "chan" };
  const changed = { kind: "changed", ...at, a: float(6), b: float(3) };
  assert.equal(changesText([changed]), ": chan.snr_db was 6.0");
  assert.equal(
    changesText([{ kind: "added", ...at, b: float(3) }, changed]),
    ": chan.snr_db was not present, and 1 more change",
  );
  assert.equal(changesText([{ kind: "changed", path: "$.metadata.seed", a: 1, b: 2 }]), ": metadata.seed was 1");
  assert.equal(changesText([]), "");
});

browserTest(
  "an edit marks the result of the version before; taking it back or running again removes the mark",
  async (scene) => {
    const { page, open, shot } = scene;
    await openLink(scene);
    const before = await draft(scene);
    await runOnce(scene);
    const line = page.locator(".stale-line"), marked = page.locator(".editor[data-stale]");
    assert.equal(await line.count(), 0);
    await page.locator('.block[data-step="chan"]').click();
    await field(scene, "chan", "snr_db").fill("3");
    await line.getByText("Result of an earlier version: chan.snr_db was 6.0").waitFor();
    await marked.waitFor();
    await drafted(scene, /"snr_db":3\.0/);
    // The mark stays after a reload.
    await page.reload();
    await open();
    await line.getByText("chan.snr_db was 6.0").waitFor();
    await shot("editor_stale");
    await press(scene, "Show changes");
    await page.getByRole("dialog").getByText("$.steps[2].params.snr_db").waitFor();
    await page.keyboard.press("Escape");
    await press(scene, "Take that version back");
    await line.waitFor({ state: "detached" });
    assert.equal(await marked.count(), 0);
    await draftIs(scene, before);
    await press(scene, "Undo");
    await line.waitFor();
    await page.getByRole("button", { name: "Run again", disabled: false }).click();
    await line.waitFor({ state: "detached" });
  },
  { files: FILES },
);

browserTest("on a small phone, the change that is known late moves nothing", async (scene) => {
  const { page } = scene;
  await openLink(scene);
  await runOnce(scene);
  await page.setViewportSize({ width: 320, height: 640 });
  const asked = Promise.withResolvers<void>(), answer = Promise.withResolvers<void>();
  await page.route("**/api/recipe/diff", async (route) => {
    asked.resolve();
    await answer.promise;
    await route.continue();
  });
  await page.getByRole("navigation", { name: "Blocks" }).getByRole("button", { name: /chan/ }).first().click();
  await field(scene, "chan", "snr_db").fill("3");
  await asked.promise;
  const line = page.locator(".stale-line"), height = async () => (await line.boundingBox())?.height;
  await line.getByText("Result of an earlier version").waitFor();
  const before = await height();
  answer.resolve();
  await line.getByText("chan.snr_db was 6.0").waitFor();
  assert.equal(await height(), before);
}, { files: FILES });
