/** Code of a user on the page: the place of its error, its recipe, its colour, and its use in the open recipe. */
import { scaffoldFiles } from "../../lib/adapter/scaffold.ts";
import { svc } from "../support/cli.ts";
import assert from "node:assert/strict";
import { join } from "node:path";
import { browserTest, eventually } from "./browser.ts";

const { files } = await scaffoldFiles("operation", "my-amp");
files["amplifier.ts"] = files["amplifier.ts"].replace("symbols.data as Float32Array", "(symbols as any).none.data");
const line = files["amplifier.ts"].split("\n").findIndex((row) => row.includes(".none.data")) + 1;

const project = Object.fromEntries(Object.entries(files).map(([path, text]) => [`my-amp/${path}`, text]));

browserTest("the page of a failed run names the place in the code of an adapter", async ({ page, open, folder }) => {
  const ran = await svc(["--adapter", "my-amp", "recipe", "run", "my-amp/recipe.yaml", "--json"], { cwd: folder });
  assert.equal(ran.code, 1, ran.stdout);
  await open(`#/runs/${ran.json.run_id}`);
  await page.getByText(new RegExp(`\\(my-amp/amplifier\\.ts:${line}:\\d+\\)`)).first().waitFor();
}, { files: project });

const own = await Deno.makeTempDir();
await Deno.mkdir(join(own, "my-amp"));
for (const [path, text] of Object.entries((await scaffoldFiles("operation", "my-amp")).files)) {
  await Deno.writeTextFile(join(own, "my-amp", path), text);
}
Deno.test.afterAll(() => Deno.remove(own, { recursive: true }));

browserTest(
  "an own operation has its recipe in Open file and palette, its colour, and a place in the open recipe",
  async ({
    page,
    open,
  }) => {
    await open("#/templates?q=recipes/qam_awgn.yaml");
    await page.getByRole("article").first().getByRole("button").first().click();
    await page.locator('.block[data-step="wireless_channel"]').waitFor();
    assert.equal(await page.locator(".block .plane-own, .outline .plane-own").count(), 0);

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find" }).fill("my_amp.clip");
    const found = page.getByRole("option", { name: /^Own operation my_amp\.clip/ });
    assert.equal(await found.locator('.tag[data-tone="own"]').count(), 1);
    await found.click();

    await page.getByRole("button", { name: "Use in qam_awgn …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Insert after" }).waitFor();
    await dialog.getByRole("button", { name: /^modulator / }).last().click();
    const block = page.locator(".graph .block", { hasText: "Example amplifier" });
    assert.match((await block.locator(".words").textContent())!, /own operation/);
    assert.equal(await block.locator("rect.plane-own").count(), 1);
    await page.locator(".outline .plane-own", { hasText: "O" }).waitFor();
    await page.locator(".graph-legend", { hasText: "own" }).waitFor();

    // The list of adapters has the same way into the open recipe.
    await open("#/system");
    const adapter = page.getByRole("group", { name: "Adapters" }).getByRole("row", { name: /my_amp\.clip/ });
    await adapter.getByRole("link", { name: "my_amp.clip" }).waitFor();
    await adapter.getByRole("button", { name: "Use in qam_awgn …" }).click();
    await page.getByRole("dialog", { name: "Use my_amp.clip in qam_awgn" }).getByRole("button", { name: /^modulator / })
      .last().click();
    const blocks = page.locator(".graph .block", { hasText: "Example amplifier" });
    await eventually(async () => assert.equal(await blocks.count(), 2));

    await page.getByRole("button", { name: "Open file" }).click();
    // The files of an adapter are its digest: Save leaves them alone.
    const file = page.getByRole("dialog").getByRole("button", { name: /^my-amp\/recipe\.yaml/ });
    await file.getByText("Save makes a copy in recipes/").waitFor();
    await file.click();
    await page.locator(".graph .block rect.plane-own").first().waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find" }).fill("my-amp/recipe.yaml");
    await page.getByRole("option", { name: /^Recipe / }).first().waitFor();
  },
  { serve: { globals: ["--adapter", join(own, "my-amp")] } },
);

browserTest("the page of an operation puts it in place of a block of the open recipe", async ({ page, open }) => {
  await open("#/templates?q=recipes/qam_awgn.yaml");
  await page.getByRole("article").first().getByRole("button").first().click();
  await page.locator('.block[data-step="wireless_channel"]').waitFor();
  await open("#/catalog/operations/metrics.block_error_rate");
  await page.getByRole("button", { name: "Use in qam_awgn …" }).click();
  await page.getByRole("dialog").getByRole("button", { name: /^evaluation / }).first().click();
  await page.locator('.graph .block[data-step="evaluation"]', { hasText: "BLER" }).waitFor();
});

browserTest(
  "a trained artifact takes a place in the open recipe, from System and from its operation",
  async (scene) => {
    const { page, open, shot } = scene;
    await open("#/templates?q=recipes/aoa_music_ula_baseline.yaml");
    await page.getByRole("article").first().getByRole("button").first().click();
    await page.locator(".block").first().waitFor();
    await open("#/system");
    await page.getByText(/^\d+ trained artifacts$/).click();
    const row = page.getByRole("group", { name: "Trained artifacts" }).getByRole("row", {
      name: /ula-aoa-estimator-v1/,
    });
    await row.getByRole("button", { name: "Use in aoa_music_ula_baseline …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Replace" }).waitFor();
    await shot("system_use_artifact");
    await dialog.getByRole("button", { name: /^\w+ .* runs / }).first().click();
    await page.getByText(/ runs (ula-aoa-estimator-v1|Bearing estimator)/).first().waitFor();
    const learned = page.locator(".graph .block", { hasText: /estimator/i });
    await learned.first().waitFor();
    await open("#/catalog/operations/model.aoa_estimator_adapter");
    await page.getByRole("group", { name: "Trained artifacts" }).getByRole("button", { name: /^Use in/ }).click();
    await dialog.getByRole("heading", { name: "Blocks that run it" }).waitFor();
    await page.keyboard.press("Escape");
  },
);
