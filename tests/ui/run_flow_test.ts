/** Runs from the editor: the plan cache, workers, cancelling, a lost server, several recipes in sequence, failures beside each other. */
import assert from "node:assert/strict";
import { browserTest, ENDED_SERVER, eventually, watchFor } from "./browser.ts";
import {
  bundles,
  drafted,
  field,
  LINK,
  openFile,
  press,
  REFUSED,
  runOnce,
  runState,
  summaryOf,
} from "./editor_scene.ts";
import { decoding } from "../support/long_recipe.ts";

/** Decoders that work for some seconds, one after another. */
const SLOW = JSON.stringify(decoding("slow", 40));

/** A chain that fails at its check, and other ways that are worked on meanwhile. */
const FAILING = `schema_version: 1
name: failing
metadata: {seed: 7}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 300000}}
  - {id: modulator, op: modulation.digital_modulate, inputs: {bits: data.bits}}
${
  Array.from(
    { length: 6 },
    (_, at) => `  - {id: chan_${at}, op: wireless.channel, inputs: {symbols: modulator.symbols}}`,
  ).join("\n")
}
  - {id: check, op: channel.bit_boundary, params: {expected_bit_count: 3}, inputs: {bits: data.bits}}
  - {id: behind, op: modulation.digital_modulate, inputs: {bits: check.bits}}
`;

browserTest(
  "the plan cache says miss, hit and bypass with the reason; workers overlap and leave the digest; cancel stops",
  async (scene) => {
    const { page, open, until, shot } = scene;
    await open();
    const dock = page.getByRole("tabpanel", { name: "Plan" });
    const outcome = async (pattern: RegExp) => {
      await page.getByRole("tab", { name: "Plan", exact: true }).click();
      await dock.getByText(pattern).waitFor();
    };
    // A preview of the plan puts it into the cache: without one, the run plans.
    const unplanned = { plan: { steps: [] }, cache: {}, diagnostics: [] };
    await scene.route(
      "**/api/recipe/check",
      (route) => route.continue({ postData: route.request().postData()!.replace(/}$/, ',"plan":false}') }),
    );
    await scene.route("**/api/recipe/plan", (route) => route.fulfill({ json: unplanned }));
    await openFile(scene, "link");
    await page.getByRole("tab", { name: "Plan" }).click();
    await runOnce(scene);
    await outcome(/Plan cache: miss, no plan of a recipe of this name was kept/);
    await runOnce(scene);
    await outcome(/Plan cache: hit/);
    await page.locator('.block[data-step="chan"]').click();
    await field(scene, "chan", "snr_db").fill("3");
    await drafted(scene, /"snr_db":3\.0/);
    await page.getByRole("button", { name: "Run", exact: true, disabled: false }).waitFor();
    await runOnce(scene);
    await outcome(/Plan cache: miss, the recipe changed/);
    await page.unroute("**/api/recipe/plan");
    await page.unroute("**/api/recipe/check");
    await field(scene, "chan", "snr_db").fill("4");
    await dock.getByRole("row", { name: /chan/ }).waitFor();
    await runOnce(scene);
    await outcome(/Plan cache: hit/);
    await page.getByRole("checkbox", { name: "Plan cache" }).uncheck();
    const bypassed = await runOnce(scene);
    await outcome(/Plan cache: bypass, it was off for this run/);
    assert.equal(bypassed.execution_plan.cache.outcome, "bypass");
    await page.getByRole("checkbox", { name: "Plan cache" }).check();

    await openFile(scene, "wide");
    const alone = await runOnce(scene);
    await page.getByRole("combobox", { name: "Workers" }).selectOption("4");
    await page.evaluate(`globalThis.most = 0;
      globalThis.watcher = new MutationObserver(() => {
        const running = document.querySelectorAll('.block[data-state="running"]').length;
        globalThis.most = Math.max(globalThis.most, running);
      });
      globalThis.watcher.observe(document.querySelector(".graph"), { subtree: true, attributes: true, childList: true });`);
    const together = await runOnce(scene);
    await until("globalThis.most > 1");
    assert.deepEqual(together.execution, { mode: "parallel", parallel_workers: 4 });
    assert.equal(together.effective_recipe_sha256, alone.effective_recipe_sha256);
    assert.equal(together.recipe_sha256, alone.recipe_sha256);
    await page.getByRole("combobox", { name: "Workers" }).selectOption("1");

    await openFile(scene, "slow");
    await press(scene, "Run");
    await page.locator('.block[data-step^="decoder"][data-state="running"]').first().waitFor();
    await shot("editor_running");
    await press(scene, "Cancel");
    await runState(scene, "canceled").waitFor();
    await page.locator('.block[data-step="decoder_39"][data-state="not started"]').waitFor();
    await page.getByRole("tab", { name: "Results" }).click();
    await page.getByRole("tabpanel", { name: "Results" }).getByText("canceled").first().waitFor();
    const summaries = await Promise.all(bundles(scene).map((run) => summaryOf(scene, run)));
    assert.equal(summaries.filter(({ status }) => status === "canceled").length, 1);
    assert.ok(summaries.find(({ status }) => status === "canceled").steps.length < 45);
  },
  {
    files: {
      "recipes/link.yaml": LINK,
      "recipes/wide.yaml": JSON.stringify(decoding("wide", 4)),
      "recipes/slow.yaml": SLOW,
    },
  },
);

browserTest(
  "a server that is killed in a run is told of; once it is back the page says honestly what became of the run",
  async (scene) => {
    const { page, open, kill, restart, shot } = scene;
    await open();
    await openFile(scene, "slow");
    await press(scene, "Run");
    await page.locator('.block[data-step^="decoder"][data-state="running"]').first().waitFor();
    await kill();
    await page.getByRole("alert").getByText("The server does not answer").waitFor();
    // The contents stay and can be edited.
    await page.locator('.block[data-step="data"]').click();
    await field(scene, "data", "bit_count").fill("16136");
    await drafted(scene, /"bit_count":16136/, "slow");
    await shot("editor_offline");
    assert.equal(await runState(scene, "failed").count(), 0, "Nobody knows yet that it failed");
    await page.getByRole("tab", { name: "Problems" }).click();
    await page.getByText("Not checked: the server does not answer").waitFor();
    // A view that was not open yet waits for the server, or was loaded before.
    await page.evaluate('location.hash = "#/system"');
    await page.getByText("The server is not reachable, retrying")
      .or(page.getByRole("heading", { level: 1, name: "System" })).first().waitFor();
    await page.evaluate('location.hash = "#/editor"');
    await page.getByRole("button", { name: "Cancel" }).waitFor();
    await restart();
    await page.getByRole("alert").getByText("The server does not answer").waitFor({ state: "hidden" });
    await runState(scene, "incomplete").waitFor();
    // The last word about a step may have been lost with the server: then it counts as interrupted as well.
    await page.locator('.block[data-state="interrupted"]').first().waitFor();
    await page.getByRole("tab", { name: "Results" }).click();
    await page.getByRole("tabpanel", { name: "Results" }).getByText("incomplete").first().waitFor();
    await page.getByRole("tab", { name: "Problems" }).click();
    await page.getByText("No problems: the recipe is valid").waitFor();
    // The job continues after the restart.
    await page.getByRole("button", { name: "Run", exact: true, disabled: false }).waitFor();
    await runOnce(scene);
  },
  {
    files: { "recipes/slow.yaml": SLOW },
    serve: {},
    preload: true,
    allow: [ENDED_SERVER, REFUSED],
  },
);

browserTest(
  "runs in sequence: three recipes and a matrix, one after another, stopped by a failure where that was chosen",
  async (scene) => {
    const { page, open, shot } = scene;
    await open();
    const closing = page.getByRole("button", { name: "Close image_codec_default" });
    await closing.click();
    await page.getByText("No recipe is open").waitFor();
    // A closed recipe is brought back with its history; then it is closed for good.
    const message = page.getByRole("region", { name: "Message" });
    await message.getByText("Closed image_codec_default, not saved").waitFor();
    await message.getByRole("button", { name: "Undo" }).click();
    await message.waitFor({ state: "detached" });
    await closing.click();
    await page.getByText("No recipe is open").waitFor();
    await scene.checkAccessibility();
    await page.getByRole("button", { name: "open a file" }).click();
    await page.getByRole("button", { name: /recipes\/link\.yaml/ }).click();
    await openFile(scene, "failing");
    await openFile(scene, "swept");
    await press(scene, "Run all");
    await page.getByText(/Sequence ended · 1 completed · failing failed · 1 not started/).waitFor();
    await page.getByRole("checkbox", { name: "Stop after failure" }).uncheck();
    const sequence = await watchFor(page, ".bar .notice", /^Run \d of 3: /);
    await press(scene, "Run all");
    await sequence();
    await page.getByText(/Sequence ended · 2 completed · failing failed/).waitFor();
    const summaries = await Promise.all(bundles(scene).map((run) => summaryOf(scene, run)));
    assert.equal(summaries.length, 6);
    const spans = summaries.map((one): [string, string] => [one.created_at_utc, one.completed_at_utc]).sort();
    for (const [at, [began]] of spans.entries()) {
      if (at > 0) assert.ok(spans[at - 1][1] <= began, "Two runs overlapped");
    }
    // Where steps overlap, the error that came first is the run's, and the others are marked as what they are.
    await page.getByRole("tab", { name: /^failing/ }).click();
    await page.getByRole("combobox", { name: "Workers" }).selectOption("4");
    const failed = await runOnce(scene, "failed");
    assert.match(failed.error, /3 expected/);
    await page.locator('.block[data-step="check"][data-state="failed"]').waitFor();
    await page.locator('.block[data-step="behind"][data-state="not started"]').waitFor();
    await eventually(async () =>
      assert.equal(await page.locator('.block[data-state="failed"]').count(), 1, "One step failed, not its peers")
    );
    await page.getByRole("tab", { name: "Results" }).click();
    await page.getByText(/Cannot accept .* bits: 3 expected/).first().waitFor();
    await shot("editor_failed_parallel");
  },
  {
    files: {
      "recipes/link.yaml": LINK,
      "recipes/failing.yaml": FAILING,
      "recipes/swept.yaml": LINK.replace("name: link", "name: swept").replace(
        "ui_configured: true}",
        "matrix: {dimensions: {snr_db: [0.0, 6.0]}, step_params: {chan: {snr_db: {matrix: snr_db}}}}}",
      ),
    },
  },
);
