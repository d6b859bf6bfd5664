/** The layout of all pages: nothing wider than the window, and nothing that moves once it is painted. */
import assert from "node:assert/strict";
import { endedJob } from "../support/ended_job.ts";
import { isSampled } from "../support/sample.ts";
import { browserTest, COUNT_SHIFTS, eventually, type Scene } from "./browser.ts";
import { FILES, LINK } from "./editor_scene.ts";

const MOST_SHIFT = 0.02;
/** Width and height; a zoom of 200 % halves both in CSS pixels. */
const SIZES = {
  "1440 wide": [1440, 900],
  "1024 wide": [1024, 768],
  "390 wide": [390, 844],
  "1440 wide at 200 %": [720, 450],
  "1024 wide at 200 %": [512, 384],
} as const;

/**
 * Sizes at which pages are loaded anew, and resized to the others: the pages take turns, and each is loaded at both at full size.
 */
const LOADED: readonly string[] = ["1440 wide", "390 wide"];
const loadedAt = (index: number) => LOADED.filter((_, at) => isSampled(index + at, LOADED.length));

/** Addresses of all pages; `RUN` and `RUNS` stand for runs of the project. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  "the first pages and the list of runs": [
    "#/start",
    "#/editor",
    "#/templates",
    "#/runs",
    "#/runs?columns=state,changed,metric,task,duration,time,tags,note,digest",
  ],
  "a project with runs, the parts of one, and the forms of a comparison": [
    "#/start",
    "#/templates",
    "#/editor",
    "#/sweeps?recipe=swept",
    "#/benchmarks/result/RESULT",
    "#/catalog/operations/wireless.channel",
    ...["summary", "graph", "signals", "artifacts", "timeline", "recipe", "plan", "provenance", "log"]
      .map((tab) => `#/runs/RUN/${tab}`),
    ...["table", "curves", "pivot", "parallel"].map((view) => `#/compare?runs=RUNS&view=${view}`),
  ],
  "benchmarks, validation, data, catalog, training and system": [
    "#/benchmarks",
    "#/benchmarks/pack/bit_transport%2Fber_theory_v1",
    "#/validation",
    "#/validation/qam16_awgn",
    "#/data",
    "#/catalog",
    "#/catalog/operations/wireless.channel",
    ...["tasks", "datasets", "metrics", "kinds"].map((part) => `#/catalog/${part}`),
    "#/training",
    "#/system",
  ],
};

/** What stands beyond the right edge, innermost; nothing where the page fits. */
const TOO_WIDE = `(() => {
  const edge = document.documentElement.clientWidth, main = document.getElementById("main");
  if (document.documentElement.scrollWidth <= edge && main.scrollWidth <= main.clientWidth) return "";
  const scrolls = (one) => one !== null && one !== main && (getComputedStyle(one).overflowX !== "visible" || scrolls(one.parentElement));
  const beyond = (one) => one.getBoundingClientRect().right > edge + 1 && !scrolls(one.parentElement);
  return [...document.querySelectorAll("body *")].filter((one) => beyond(one) && ![...one.children].some(beyond))
    .slice(-4).map((one) => one.tagName + "." + one.className + " " + one.textContent.slice(0, 30)).join("; ") || "?";
})()`;

/** Whether nothing is read any more; own recipes come beside the shipped ones, and what a run needs comes after the check. */
const QUIET = `document.querySelector("#main [aria-busy=true]") === null &&
  !/Reading recipes|^Checking$/m.test(document.getElementById("main").innerText)`;

/** Chosen views and tabs beyond an edge. */
const CUT = `[...document.querySelectorAll(".rail [aria-current], [role=tab][aria-selected=true]")]
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 || one.getBoundingClientRect().left < -1).map((one) => one.textContent).join()`;

/** Sweeps a recipe of the project and runs its pack, and answers with the names of the runs and of the result. */
async function sweep({ url }: Scene): Promise<{ runs: string[]; result: string }> {
  const ask = async (path: string, body?: unknown) =>
    await (await fetch(url + path, {
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      headers: { "content-type": "application/json" },
    })).json();
  const { recipe } = await ask("/api/recipe?path=recipes%2Fswept.yaml");
  const { job_id, ...refusal } = await ask("/api/matrix-jobs", { recipe });
  assert.ok(job_id, JSON.stringify(refusal));
  const job = await endedJob(url, `run-jobs/${job_id}`);
  assert.equal(job.state, "completed", JSON.stringify(job));
  const { runs } = await ask("/api/runs");
  const pack = await ask("/api/benchmark-jobs", { path: "benchmarks/two.yaml" });
  assert.equal((await endedJob(url, `benchmark-jobs/${pack.job_id}`)).state, "completed", JSON.stringify(pack));
  const [{ result_id }] = (await ask("/api/benchmarks/results")).results;
  return { runs: runs.map(({ run_id }: { run_id: string }) => run_id), result: result_id };
}

/** The accounting gives the rates of the methods, which the page tells below the figure. */
const SWEPT = `${LINK}  - {id: coder, op: channel.identity_encoder, inputs: {bits: data.bits}}
  - id: accounting
    op: channel.communication_resource_accounting
    inputs: {payload_bits: data.bits, framed_bits: data.bits, coded_bits: coder.coded_bits, symbols: modulator.symbols}
`.replace("name: link", "name: swept").replace(
  "ui_configured: true}",
  `matrix: {
    dimensions: {snr_db: [0.0, 4.0, 8.0], scheme: [qpsk, qam16], bits: [400, 4000]},
    step_params: {chan: {snr_db: {matrix: snr_db}}, modulator: {modulation: {matrix: scheme}}, data: {bit_count: {matrix: bits}}}}}`,
);

const PACK = `schema_version: 1
id: two
version: "1"
name: Two modulations
dataset: {id: synthetic_random_bits, modality: bits, version: synthetic_random_bits-v1}
task: {id: bit_transport, kind: transport_integrity, modality: bits}
metrics: [channel.ber]
baselines: [qpsk]
replication: {base_seed: 23, replicates: 2, confidence_level: 0.95}
metadata: {benchmark_tier: smoke, default_plot: {plot: error-rate, x: channel.snr_db, y: channel.ber}}
recipes:
  - {id: qpsk, label: QPSK, role: baseline, path: ../recipes/swept.yaml, matrix: inherit, params: {method_id: qpsk, matrix_selection: {scheme: qpsk, bits: 4000}}}
  - {id: qam16, label: 16QAM, role: candidate, path: ../recipes/swept.yaml, matrix: inherit, params: {method_id: qam16, matrix_selection: {scheme: qam16, bits: 4000}}}
`;

/** More recipes than stand beside each other. */
const OWN = Object.fromEntries(
  Array.from({ length: 6 }, (_, at) => [`recipes/own_${at}.yaml`, LINK.replace("name: link", `name: own_${at}`)]),
);

for (const [pages, patterns] of Object.entries(PAGES)) {
  browserTest(`no page is wider than its window, or moves once it is painted: ${pages}`, async (scene) => {
    const { page, open, until, shot } = scene, wrong: string[] = [];
    const { runs, result } = patterns.some((pattern) => /RUN|RESULT/.test(pattern))
      ? await sweep(scene)
      : { runs: [""], result: "" };
    await page.addInitScript(COUNT_SHIFTS);
    await open("#/start");
    const views = await page.evaluate("[...document.querySelectorAll('.rail a')].map(({ hash }) => hash)") as string[];
    const checked = Object.values(PAGES).flat().map((address) => /^#\/\w+/.exec(address)![0]);
    assert.deepEqual(views.filter((view) => !checked.includes(view)), [], "views without a check");
    assert.ok(views.length > 10);
    for (const [index, pattern] of patterns.entries()) {
      const address = pattern.replace("RUNS", runs.join(",")).replace("RUN", runs[0]).replace("RESULT", result);
      const loaded = loadedAt(index);
      for (const name of new Set([...loaded, ...Object.keys(SIZES)])) {
        const [width, height] = SIZES[name as keyof typeof SIZES];
        await page.setViewportSize({ width, height });
        if (loaded.includes(name)) {
          // From a blank page, each address loads the page, and once.
          await page.goto("about:blank");
          await page.goto(`${scene.url}/${address}`);
          await page.locator("#main h1").first().waitFor({ state: "attached" });
          await until(QUIET);
          // Figures and fonts come last.
          await page.waitForTimeout(400);
          const [shift, moved] = await page.evaluate("[globalThis.shift, globalThis.moved.join('; ')]") as [
            number,
            string,
          ];
          if (shift >= MOST_SHIFT) wrong.push(`${pattern} moved by ${shift.toFixed(3)} at ${name}: ${moved}`);
        }
        // What follows a new size, such as a figure, takes a moment.
        await eventually(async () => {
          assert.equal(await page.evaluate(TOO_WIDE), "", `${pattern} is too wide at ${name}`);
          assert.equal(await page.evaluate(CUT), "", `${pattern} at ${name}: what is chosen is out of sight`);
        });
        await shot(`layout_${width}_${pattern.replaceAll(/\W+/g, "_")}`);
      }
    }
    assert.deepEqual(wrong, []);
  }, { files: { ...FILES, ...OWN, "recipes/swept.yaml": SWEPT, "benchmarks/two.yaml": PACK } });
}

const IMAGES = Deno.readTextFileSync(
  new URL("../../recipes/recipe_starters/image_codec_default.yaml", import.meta.url),
);

browserTest("images of a run come into places that are kept for them", async (scene) => {
  const { page, until, url } = scene;
  const ask = async (path: string, body?: unknown) =>
    await (await fetch(url + path, {
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      headers: { "content-type": "application/json" },
    })).json();
  const { recipe } = await ask("/api/recipe?path=recipes%2Fimages.yaml");
  const { job_id } = await ask("/api/run-jobs", { recipe });
  const { run_id, state } = await endedJob(url, `run-jobs/${job_id}`);
  assert.equal(state, "completed");
  await page.addInitScript(COUNT_SHIFTS);
  // The images come after the metrics are painted.
  const { promise: painted, resolve: release } = Promise.withResolvers<void>();
  await scene.route(/\/api\/image/, async (route) => {
    await painted;
    await route.continue();
  });
  await page.goto(`${url}/#/runs/${run_id}`);
  await page.locator(".strip canvas").first().waitFor();
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  assert.equal(await page.getByRole("img", { name: /, received$/ }).count(), 0);
  release();
  await page.getByRole("img", { name: /, received$/ }).nth(3).waitFor();
  await until(`document.querySelector("#main [aria-busy=true]") === null`);
  assert.ok(
    await page.evaluate("globalThis.shift") as number < 0.02,
    String(await page.evaluate("globalThis.moved.join('; ')")),
  );
}, { files: { "recipes/images.yaml": IMAGES }, axe: false });
