/** Ways through several views: every template, an adapter, edit and run by keys alone. */
import assert from "node:assert/strict";
import { ROOT_PATH } from "../support/paths.ts";
import { isSampled } from "../support/sample.ts";
import { browserTest, watchFor } from "./browser.ts";
import { drafted } from "./editor_scene.ts";

interface Row {
  id: string;
  label: string;
  available: boolean;
  recipe: { name: string; step_count: number };
  run_readiness: { ready: boolean };
}

browserTest(
  "every valid template opens with all its steps and is valid as it stands",
  async ({ page, open, until, url, checkAccessibility }) => {
    const { templates } = await (await fetch(`${url}/api/recipe-templates`)).json() as { templates: Row[] };
    const usable = templates.filter(({ available }) => available);
    // The first visit shows starting points, each with its tour; no recipe opens by itself.
    await page.goto(url);
    await page.getByRole("article", { name: "Bits over AWGN" }).waitFor();
    await checkAccessibility();
    await page.getByRole("button", { name: "Skip the tour" }).click();
    await page.getByRole("button", { name: "Show the tour" }).waitFor();
    assert.ok(usable.length >= 10, String(usable.length));
    // That all are valid, the tests of templates say: here a third of them opens, and all under soak.
    const opened = usable.filter((_, index) => isSampled(index, 3));
    for (const { id, label, recipe, run_readiness } of opened) {
      await open(`#/templates?q=${id}`);
      await page.getByRole("article", { name: label, exact: true }).getByRole("button", { name: label, exact: true })
        .click();
      await until(`document.querySelectorAll(".graph .block").length === ${recipe.step_count}`);
      await page.getByRole("tab", { name: new RegExp(`^${recipe.name}`), selected: true }).waitFor();
      // What waits for a model says which one.
      const said = run_readiness.ready ? "No problems: the recipe is valid" : /^Cannot run \w+ with the model /;
      await page.getByText(said).first().waitFor();
    }
    assert.equal(await page.getByRole("tablist", { name: "Open recipes" }).getByRole("tab").count(), opened.length);
  },
  // The plan of a template that waits for a model is refused.
  { axe: false, allow: [/400 \(Bad Request\).*\/api\/recipe\/plan$/] },
);

browserTest("a loaded adapter shows its operations, its grants and that they run alone", async ({ page, open }) => {
  await open("#/system");
  await page.getByRole("row", { name: /dct_slices/ }).waitFor();
  await open("#/catalog?q=dct_slices");
  const found = page.getByRole("main").getByRole("table").getByRole("link");
  await found.first().waitFor();
  const id = await found.first().innerText();
  await found.first().click();
  const contract = page.locator(`[data-contract="${id}"]`);
  await contract.waitFor();
  assert.equal(JSON.parse(await contract.innerText()).execution_safety.thread_safe, false);
}, { serve: { globals: ["--adapter", `${ROOT_PATH}/adapters/dct_slices`] } });

browserTest("a run by keys alone, found again in the list of runs", async (scene) => {
  const { page, open, shot } = scene;
  await open();
  await page.getByText("No problems: the recipe is valid").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find" }).fill("quality");
  await page.getByRole("option", { name: /^Parameter quality sender/, selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator('[id="param-sender-quality"]:focus').waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("40");
  await page.keyboard.press("Tab");
  await drafted(scene, /"quality":40[,}]/, "image_codec_default");
  await page.getByText("No problems: the recipe is valid").waitFor();
  const running = await watchFor(page, ".topbar", /1 running/);
  await page.keyboard.press("Control+Enter");
  await running();
  await page.getByRole("banner").getByText("No jobs").waitFor();
  await shot("after_run");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find" }).fill("Runs");
  await page.getByRole("option", { name: /^View Runs/, selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("main").getByRole("link", { name: /image_codec_default/ }).first().waitFor();
}, { axe: false });

browserTest("each step of the tour marks the part of the editor that it speaks of", async ({ page, url, until }) => {
  for (
    const [step, marked] of [
      ["Change", `matches(".graph .block")`],
      ["Run", `textContent === "Run"`],
      ["Sweep", `ariaLabel.startsWith("Sweep ")`],
    ]
  ) {
    await page.goto(`${url}/#/start`);
    await page.locator(".tour").getByRole("link", { name: step, exact: true }).click();
    await until(`document.querySelector("[data-pointed]")?.${marked} === true`);
    assert.match(page.url(), /#\/editor$/);
    // The next input ends the mark.
    await page.keyboard.press("Shift");
    assert.equal(await page.locator("[data-pointed]").count(), 0);
  }
});
