/** A sweep in a browser: its figure, its strip, its values, and the ways to it. */
import assert from "node:assert/strict";
import { endedJob } from "../support/ended_job.ts";
import { browserTest } from "./browser.ts";
import { LINK, openFile } from "./editor_scene.ts";
import { post } from "./requests.ts";

const swept = (steps: unknown[], snrDb: number[], name: string) => ({
  name,
  metadata: {
    seed: 3,
    research: { task: { id: "image_reconstruction" } },
    matrix: { dimensions: { snr_db: snrDb }, step_params: { link: { snr_db: { matrix: "snr_db" } } } },
  },
  steps,
});

/** A photograph over a digital link whose decoder fails where the file is damaged. */
const photographs = (snrDb: number[]) =>
  swept(
    [
      {
        id: "source",
        op: "source.image_dataset",
        params: { dataset: "svc_sample_images", image_ids: "coffee,chelsea", crop_size: 64 },
      },
      { id: "sender", op: "model.jpeg_encode", inputs: { images: "source.images" } },
      { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "sender.bits" } },
      { id: "link", op: "wireless.channel", inputs: { symbols: "modulator.symbols" } },
      { id: "demodulator", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "link.rx_symbols" } },
      { id: "decoder", op: "channel.identity_decoder", inputs: { coded_bits: "demodulator.bits" } },
      { id: "receiver", op: "model.jpeg_decode", inputs: { bits: "decoder.bits" }, params: { on_error: "fail" } },
      {
        id: "evaluation",
        op: "metrics.image_reconstruction",
        inputs: { reference: "source.images", reconstruction: "receiver.images" },
      },
    ],
    snrDb,
    "photographs",
  );

browserTest("a sweep has a page: curve, received images, values, and the reason of a failure", async (scene) => {
  const { page, open, url } = scene;
  const { job_id } = await post(url, "/api/matrix-jobs", {
    recipe: photographs([0, 20, 24]),
    continue_on_error: true,
  });
  await endedJob(url, `run-jobs/${job_id}`);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await open(`#/sweeps/${job_id}`);
  await page.getByText("2 of 3 variants completed, 1 failed").waitFor();
  await page.getByRole("link", { name: "Variant 0 failed" }).waitFor();
  await page.getByRole("alert").getByRole("button", { name: "Open as recipe at receiver" }).waitFor();
  await page.getByRole("img", { name: /^PSNR over Es\/N0/ }).waitFor();
  assert.equal(asked.filter((path) => path === "/api/runs/documents").length, 1, "one request for all runs");
  assert.equal(asked.filter((path) => /^\/api\/runs\/\d/.test(path)).length, 1, "one for the failed run");

  const strip = page.getByRole("list", { name: "Received over Es/N0" });
  await strip.getByRole("img", { name: "Received at Es/N0 24 dB" }).waitFor();
  assert.equal(await strip.getByRole("img").count(), 2);
  const first = await strip.getByRole("img").first().getAttribute("src");
  await page.getByRole("combobox", { name: "Image" }).selectOption("chelsea");
  await scene.until(`document.querySelector(".filmstrip img").src !== ${JSON.stringify(first)}`);

  const values = page.getByRole("region", { name: "Values" });
  await values.getByText("receiver", { exact: true }).waitFor();
  await values.getByRole("button", { name: "Verify all" }).click();
  await values.getByText("2 of 2 runs are valid").waitFor();
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    values.getByRole("button", { name: "Save as CSV" }).click(),
  ]);
  assert.equal(saved.suggestedFilename(), "photographs.csv");
  const rows = (await Deno.readTextFile(await saved.path())).trim().split(/\r?\n/);
  assert.match(rows[0], /^run_id,status,snr_db,quality\.psnr_db,/);
  assert.equal(rows.length, 4);
  await scene.shot("sweep");
  await scene.checkAccessibility();

  await page.getByRole("button", { name: "Open as recipe", exact: true }).click();
  await page.getByRole("tab", { name: "Matrix" }).click();
  await page.getByRole("button", { name: "Run matrix (3)" }).waitFor();
});

browserTest(
  "the list of runs and the editor lead to a sweep; a sweep of the command line has the same page",
  async (scene) => {
    const { page, open, url } = scene;
    const { job_id } = await post(url, "/api/matrix-jobs", { recipe: photographs([20, 24]) });
    await endedJob(url, `run-jobs/${job_id}`);
    await open("#/runs");
    await page.getByRole("link", { name: "Sweep of 2 runs" }).click();
    await page.getByText("2 of 2 variants completed").waitFor();
    await page.getByText("the newest run of each variant").waitFor();
    await page.getByRole("img", { name: "Received at Es/N0 20 dB" }).waitFor();
    await open("#/sweeps?recipe=unknown");
    await page.getByText("No sweep of this recipe has run here.").waitFor();
    scene.allow(/run-jobs\/20000101T000000Z_none/);
    await open("#/sweeps/20000101T000000Z_none");
    await page.getByText(/Cannot find .*job/).waitFor();
  },
);

browserTest("the first page leads to the last sweep and to open recipes", async (scene) => {
  const { page, open, url } = scene;
  const { job_id } = await post(url, "/api/matrix-jobs", { recipe: photographs([20, 24]) });
  await endedJob(url, `run-jobs/${job_id}`);
  await open("#/start");
  const work = page.getByRole("region", { name: "Last work" });
  await work.getByRole("img", { name: /^PSNR: / }).waitFor();
  await work.getByRole("img", { name: "Received in photographs" }).waitFor();
  await scene.shot("start");
  await work.getByRole("link", { name: "photographs" }).click();
  await page.getByText("2 of 2 variants completed").waitFor();
  await page.getByRole("img", { name: "Received at Es/N0 20 dB" }).waitFor();
});

/** The link over eight values. */
const SWEPT = LINK.replace("seed: 23", "seed: 3").replace(
  "ui_configured: true}",
  "ui_configured: true, matrix: {dimensions: {snr_db: [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]}, step_params: {chan: {snr_db: {matrix: snr_db}}}}}",
);

browserTest("the matrix keeps its results and their place while variants are chosen and edited", async (scene) => {
  const { page, open, until } = scene;
  await open();
  await openFile(scene, "link");
  await page.getByRole("tab", { name: "Matrix (8)" }).click();
  // A reply that takes longer than a variant is waited for: variants that end meanwhile do not stop its request.
  const stopped: string[] = [];
  page.on("requestfailed", (request) => /runs.documents/.test(request.url()) && stopped.push(request.url()));
  await scene.route("**/api/runs/documents?*", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    await route.continue();
  });
  await page.getByRole("button", { name: "Run matrix (8)", disabled: false }).click();
  await page.getByText("8 of 8 variants completed").waitFor();
  const picture = page.locator(".sweep-curve .chart-svg svg");
  await picture.waitFor();
  assert.deepEqual(stopped, []);
  // The figure has the height: the panels below stay folded, and the page itself has nothing to scroll.
  await page.locator(".dock[data-quiet]").waitFor();
  await until(`document.querySelector(".sweep-curve .chart-svg svg").clientWidth > 550`);
  assert.equal(await page.evaluate("document.documentElement.scrollHeight - innerHeight"), 0);

  // A run of one variant leaves the others as they are.
  await page.getByRole("checkbox", { name: "Choose variant 2" }).check();
  await page.getByRole("button", { name: "Run selected (1)" }).click();
  await page.getByText("8 of 8 variants completed, 1 of them before").waitFor();
  assert.equal(await page.getByText("not run", { exact: true }).count(), 0);

  // An edit of a block leaves the curve in its place while the variants are asked for again.
  await page.evaluate(`globalThis.lost = false;
    new MutationObserver(() => globalThis.lost ||= document.querySelector(".sweep-curve") === null)
      .observe(document.body, { subtree: true, childList: true })`);
  const expanded = page.waitForResponse(/recipe.matrix.expand/);
  await page.getByLabel("seed", { exact: true }).fill("4");
  await expanded;
  await page.getByText("Result of an earlier version: metadata.seed was 3").waitFor();
  assert.equal(await page.evaluate("globalThis.lost"), false);
  // The next recipe begins with its blocks, not with variants that have not run.
  await openFile(scene, "other");
  await page.locator('.block[data-step="chan"]').waitFor();
}, {
  files: { "recipes/link.yaml": SWEPT, "recipes/other.yaml": SWEPT.replace("name: link", "name: other") },
  axe: false,
});
