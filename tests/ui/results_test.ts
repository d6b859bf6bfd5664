/** Views of what runs leave, in a browser: channels, powers, beams, confusion, constellations, meaning, boxes, answers. */
import assert from "node:assert/strict";
import { canonicalJson, parseJson } from "../../lib/contract/json.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { browserTest, eventually, type Scene } from "./browser.ts";

const recipeFile = (name: string) => Deno.readTextFileSync(new URL(`../../recipes/${name}.yaml`, import.meta.url));
const filesOf = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [`recipes/${name.split("/").at(-1)}.yaml`, recipeFile(name)]));

/** Asks with typed numbers both ways: 6.0 stays 6.0. */
async function ask<T>({ url }: Scene, path: string, body?: JsonObject): Promise<T> {
  const response = await fetch(
    url + path,
    body === undefined ? {} : {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: canonicalJson(body),
    },
  );
  const text = await response.text();
  assert.ok(response.ok, text);
  return parseJson(text) as T;
}

/** Runs a recipe of the project, or one point of its matrix. */
async function run(scene: Scene, name: string, point?: number): Promise<string> {
  const path = `recipes/${name}.yaml`;
  if (point === undefined) return (await ask<{ run_id: string }>(scene, "/api/recipe/run", { path })).run_id;
  const { recipe } = await ask<{ recipe: JsonObject }>(scene, `/api/recipe?path=${path}`);
  const { recipes } = await ask<{ recipes: JsonObject[] }>(scene, "/api/recipe/matrix/expand", { recipe });
  return (await ask<{ run_id: string }>(scene, "/api/recipe/run-payload", { recipe: recipes.at(point)! })).run_id;
}

/** A report of a run, by the operation that wrote it. */
async function reportOf(scene: Scene, id: string, operation: string): Promise<JsonObject> {
  interface Step {
    op: string;
    outputs: Record<string, { path: string }>;
  }
  const { summary } = await ask<{ summary: { steps: Step[] } }>(scene, `/api/runs/${id}`);
  const { report } = summary.steps.find(({ op }) => op === operation)!.outputs;
  return await ask(scene, `/api/artifact?download=1&path=${encodeURIComponent(report.path)}`);
}

async function saved(scene: Scene, tools: string, file: "SVG" | "CSV"): Promise<string> {
  const [download] = await Promise.all([
    scene.page.waitForEvent("download"),
    scene.page.getByRole("group", { name: tools }).getByRole("button", { name: file }).click(),
  ]);
  return await Deno.readTextFile((await download.path())!);
}

browserTest("channels, powers, beams and confusion matrices are drawn from what runs hold", async (scene) => {
  const { page, open } = scene;
  const shown = async (id: string) => {
    await open(`#/runs/${id}/signals`);
    await page.locator(".chart-svg svg").first().waitFor();
  };

  await shown(await run(scene, "mimo_ofdm_adapter_channel_estimation", 4));
  const channels = page.getByRole("region", { name: "Channels" });
  await channels.getByRole("img", { name: /^Channel response\. 2 series, 128 points: Gain .* dB/ }).waitFor();
  await channels.getByRole("img", { name: /^Delay profile\. .* over Delay from 0 to [\d.]+ ns/ }).waitFor();
  await channels.getByRole("combobox", { name: "Against" }).selectOption({ label: "nothing" });
  await channels.getByRole("combobox", { name: "Lines" }).selectOption({ label: "all" });
  await channels.getByRole("button", { name: "rx 1, tx 1" }).first().waitFor();
  await channels.getByRole("checkbox", { name: "Mean of all" }).check();
  await channels.getByText(/^Mean of 64 examples/).first().waitFor();
  await scene.checkAccessibility();
  await scene.shot("channels");

  const waterId = await run(scene, "resource_water_filling_baseline", 0);
  await shown(waterId);
  const powers = page.getByRole("region", { name: "Power allocation" });
  await powers.getByRole("img", { name: /^Power over subcarriers\. A power of 16 over 32 channels/ }).waitFor();
  await powers.getByRole("textbox", { name: "State, number" }).fill("7");
  await page.keyboard.press("Enter");
  await powers.getByText(/^State 7 · water filling · N0 = 0\.1/).first().waitFor();
  const svg = await saved(scene, "Tools of Power over subcarriers", "SVG");
  const { summary } = await ask<{ summary: JsonObject }>(scene, `/api/runs/${waterId}`);
  assert.ok(svg.includes(String(summary.recipe_sha256)) && svg.includes(waterId), "a file says where it is from");
  assert.match(svg, /Water level of this budget/, "a file has its legend");
  const rows = (await saved(scene, "Tools of Power over subcarriers", "CSV")).trim().split("\n").slice(1);
  // Water-filling: floor and power add up to the level wherever there is power.
  for (const [floor, power, level] of rows.map((row) => row.split(",").slice(1).map(Number))) {
    if (power > 0) assert.ok(Math.abs(floor + power - level) < 1e-6 * level);
    else assert.ok(floor >= level * (1 - 1e-6));
  }
  await scene.shot("powers");

  await shown(await run(scene, "beamforming_mrt_baseline"));
  const beams = page.getByRole("region", { name: "Beams" });
  await beams.getByRole("img", { name: /^Beam pattern\. .* to 9\.03\d? dB over Angle from broadside from −90 to 90 °/ })
    .waitFor();

  await shown(await run(scene, "beampattern_mrt", 1));
  const pattern = page.getByRole("region", { name: "Radiation pattern" });
  await pattern.getByRole("img", { name: /^Radiation pattern\. Pattern, 361 points: .* to 9\.0\d* dB over Angle/ })
    .waitFor();
  await pattern.getByText("half power").first().waitFor();
  await scene.shot("pattern");

  await shown(await run(scene, "leo_link_budget"));
  const budget = page.getByRole("region", { name: "Link budget" });
  await budget.getByRole("img", { name: /^Carrier-to-noise ratio over elevation\. .* 9 points/ }).waitFor();
  await budget.getByRole("combobox", { name: "Quantity" }).selectOption({ label: "Doppler" });
  await budget.getByRole("img", { name: /^Doppler over elevation\. .* to 45\.4 kHz over Elevation from 10 to 90/ })
    .waitFor();

  await shown(await run(scene, "ris_gain", 6));
  await page.getByRole("region", { name: "Reflecting surface" }).getByRole("img", {
    name: /^Reflected beam\. 2 series/,
  })
    .waitFor();

  await shown(await run(scene, "mu_mimo_scheduling", 3));
  await page.getByRole("region", { name: "Users" }).getByRole("img", { name: /^Rate per user\. 8 bars/ }).waitFor();
  await page.getByRole("region", { name: "Schedule" }).getByRole("img", {
    name: /^Users of each slot\. .* User from 0 to 7/,
  })
    .waitFor();
  await scene.shot("schedule");

  const recognised = await run(scene, "modulation_recognition_awgn");
  await shown(recognised);
  const confusion = page.getByRole("region", { name: "Confusion" });
  const { confusion_matrix: matrix } = await reportOf(scene, recognised, "metrics.modulation_classification");
  const table = async () => {
    const text = await saved(scene, "Tools of Confusion matrix of evaluation", "CSV");
    return text.trim().split("\n").slice(1).map((row) => row.split(",").slice(1));
  };
  assert.deepEqual((await table()).map((row) => row.map(Number)), matrix);
  await confusion.getByRole("button", { name: "row %" }).click();
  for (const row of await table()) {
    assert.ok(Math.abs(row.reduce((sum, cell) => sum + parseFloat(cell), 0) - 100) < 0.1, "rows are whole");
  }
  await confusion.getByRole("button", { name: "column %" }).click();
  const columns = await table();
  for (const at of columns.keys()) {
    assert.ok(Math.abs(columns.reduce((sum, row) => sum + parseFloat(row[at]), 0) - 100) < 0.1, "columns are whole");
  }
  await scene.shot("confusion");
}, {
  files: filesOf(
    "recipe_starters/mimo_ofdm_adapter_channel_estimation",
    "resource_water_filling_baseline",
    "beamforming_mrt_baseline",
    "beampattern_mrt",
    "leo_link_budget",
    "ris_gain",
    "mu_mimo_scheduling",
    "recipe_starters/modulation_recognition_awgn",
  ),
});

browserTest("directions, places, meaning, boxes and answers are marked as the reports say", async (scene) => {
  const { page, open } = scene;
  const aoa = await run(scene, "aoa_music_ula_baseline", -1);
  await open(`#/runs/${aoa}/signals`);
  await page.getByRole("img", { name: /^Angle spectrum\. 2 series/ }).waitFor();
  const errors = page.getByRole("region", { name: "Errors" });
  await errors.getByRole("img", { name: /^Angle error: .* from 0 to 1 over Angle error/ }).waitFor();
  await scene.shot("directions");

  const several = await run(scene, "aoa_source_order", 2);
  await open(`#/runs/${several}/signals`);
  const spectrum = page.getByRole("region", { name: "Directions" });
  await spectrum.getByRole("img", { name: /^Angle spectrum\. 2 series/ }).waitFor();
  for (const name of ["true", "estimate"]) {
    const marked = spectrum.locator("svg text").filter({ hasText: new RegExp(`^${name} −?[\\d.]+°$`) });
    await eventually(async () => assert.equal(await marked.count(), 6));
  }
  await scene.shot("several directions");

  const stated = await run(scene, "text_semantic_state_kb_unchecked_awgn", 2);
  await open(`#/runs/${stated}/signals`);
  const meaning = page.getByRole("region", { name: "Meaning" });
  const { items } = await reportOf(scene, stated, "metrics.semantic_state_faithfulness");
  const all = (key: string) => (items as JsonObject[]).flatMap((item) => item[key] as unknown as JsonObject[]);
  const phrase = ({ subject, predicate, object, qualifiers }: JsonObject) =>
    [subject, predicate, object, ...Array.isArray(qualifiers) ? qualifiers : []].join(" ");
  const omitted = all("omitted_facts"), unsupported = all("unsupported_facts");
  assert.ok(omitted.length > 0, "the example loses something");
  await meaning.locator(`[data-facts="${omitted.length} ${unsupported.length}"]`).waitFor();
  // The list begins with its summary and is in pages of ten.
  const lost: string[] = [], made: string[] = [], next = meaning.getByRole("button", { name: "Next" });
  for (let page = 0;; page++) {
    await meaning.getByText(`Examples ${10 * page + 1} to `).waitFor();
    assert.ok(await meaning.locator(".text-diffs > li").count() <= 10);
    for (const [fate, into] of [["omitted", lost], ["unsupported", made]] as const) {
      const texts = await meaning.locator(`[data-fate="${fate}"]`).allTextContents();
      into.push(...texts.map((text) => text.replace(/^.*?: /, "")));
    }
    if (await next.isDisabled()) break;
    await next.click();
  }
  for (const fact of omitted) assert.ok(lost.includes(phrase(fact)), phrase(fact));
  const added = (fact: JsonObject) => phrase(fact) + (fact.origin === "knowledge" ? " (from the knowledge base)" : "");
  for (const fact of unsupported) assert.ok(made.includes(added(fact)), added(fact));
  await scene.checkAccessibility();
  await scene.shot("meaning");

  const seen = await run(scene, "detection_scenes_default");
  await open(`#/runs/${seen}/signals`);
  const found = page.getByRole("region", { name: "Detections in images" });
  await found.getByRole("img", { name: "scene_0000 with 1 reference boxes and 1 detections" }).waitFor();
  await found.getByRole("slider", { name: "Image" }).press("ArrowRight");
  await found.getByRole("img", { name: "scene_0001 with 2 reference boxes and 2 detections" }).waitFor();
  await eventually(async () => assert.equal(await found.locator(".scene-picture .found").count(), 2));
  await found.getByRole("combobox", { name: "Mask" }).selectOption({ index: 1 });
  await scene.checkAccessibility();
  await scene.shot("boxes");

  const answered = await run(scene, "vqa_goal_oriented");
  await open(`#/runs/${answered}/signals`);
  const answers = page.getByRole("region", { name: "Questions and answers" });
  const report = await reportOf(scene, answered, "metrics.vqa");
  const total = (report.items as unknown[]).length;
  await answers.getByText(`${report.correct_count} of ${total} answers are right.`).waitFor();
  await answers.getByText("How many objects are there?").first().waitFor();
}, {
  files: filesOf(
    "aoa_music_ula_baseline",
    "aoa_source_order",
    "text_semantic_state_kb_unchecked_awgn",
    "recipe_starters/detection_scenes_default",
    "recipe_starters/vqa_goal_oriented",
  ),
});

browserTest("a constellation of many symbols, one of them far away, keeps its picture", async (scene) => {
  const { page, open } = scene;
  const steps: JsonObject[] = [
    { id: "data", op: "source.random_bits", params: { bit_count: 200_000 } },
    { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
    {
      id: "link",
      op: "wireless.channel",
      inputs: { symbols: "modulator.symbols" },
      params: { channel: "flat_rayleigh", snr_db: 12.5 },
    },
  ];
  const recipe = { name: "cloud", metadata: { seed: 5 }, steps };
  const { run_id: id } = await ask<{ run_id: string }>(scene, "/api/recipe/run-payload", { recipe });
  await open(`#/runs/${id}/signals`);
  const canvas = page.locator("canvas[data-paint-ms]");
  await canvas.waitFor();
  const symbols = page.getByRole("region", { name: "Symbols" });
  const sentence = await eventually(async () => {
    const text = await symbols.locator("figcaption").innerText();
    assert.match(text, /^100\s000 symbols between .* lie far outside and are left out/);
    return text;
  });
  // Equalised Rayleigh fading has symbols in the hundreds; what is shown is where they are.
  const reach = Number(/and ([\d.]+) on both axes/.exec(sentence)![1]);
  assert.ok(reach < 10, sentence);
  const cells = (await saved(scene, "Tools of link.rx_symbols", "CSV")).trim().split("\n").slice(1);
  const outside = Number(/; ([\d,]+) lie/.exec(sentence)![1].replaceAll(",", ""));
  assert.equal(cells.reduce((sum, row) => sum + Number(row.split(",")[2]), 0) + outside, 100_000);
  const svg = await saved(scene, "Tools of link.rx_symbols", "SVG");
  assert.match(svg, /^<svg[^]*data:image\/png;base64,/);
  assert.ok(svg.includes(id));
  await scene.shot("constellation");
});

browserTest(
  "an importance map lies over the sender's image, stronger where it is more important",
  async (scene) => {
    const { page, open } = scene;
    await open(`#/runs/${await run(scene, "image_importance_unequal_awgn", 5)}/signals`);
    const panel = page.getByRole("region", { name: "Importance of pixels" });
    const canvas = panel.getByRole("img", { name: "Importance map of coffee over data.images" });
    await canvas.waitFor();
    await eventually(async () => assert.equal(await canvas.getAttribute("width"), "256"));
    await panel.getByRole("textbox", { name: "Image, number" }).fill("2");
    await page.keyboard.press("Enter");
    await panel.getByRole("img", { name: /^Importance map of (?!coffee)\w+ over data.images/ }).waitFor();
    await scene.shot("importance");
  },
  { files: filesOf("recipe_starters/image_importance_unequal_awgn") },
);

browserTest(
  "a range-Doppler map has axes in metres and metres per second, with true and estimated targets",
  async (scene) => {
    const { page, open } = scene;
    await open(`#/runs/${await run(scene, "range_doppler_cfar")}/signals`);
    const panel = page.getByRole("region", { name: "Range-Doppler map" });
    const picture = panel.getByRole("img", { name: /^Range-Doppler map\. 3 true targets \(circles\) and 3 estimates/ });
    await picture.waitFor();
    await eventually(async () => assert.equal(await panel.locator("svg circle").count(), 3));
    for (const title of ["Velocity (m/s)", "Range (m)"]) await panel.getByText(title).waitFor();
    await scene.shot("range_doppler");
    const farthest = async () => Number(/and ([\d.]+) m,/.exec((await picture.getAttribute("aria-label"))!)![1]);
    const near = await farthest();
    await panel.getByRole("combobox", { name: "Show" }).selectOption("whole");
    await eventually(async () => {
      // c/(2Δf) at 120 kHz.
      const far = await farthest();
      assert.ok(near < 250 && Math.abs(far - 1249) < 5, `${near} ${far}`);
    });
    await panel.getByRole("combobox", { name: "Show" }).selectOption("table");
    await eventually(async () => assert.equal(await panel.getByRole("row").count(), 7));
  },
  { files: filesOf("range_doppler_cfar") },
);

browserTest(
  "links with pilots, layers and retransmissions have a grid, a constellation for each layer and a bar for each transmission",
  async (scene) => {
    const { page, open } = scene;
    await open(`#/runs/${await run(scene, "mimo_ofdm_link", 10)}/signals`);
    const grid = page.getByRole("region", { name: "Resource grid" });
    await grid.getByRole("img", {
      name:
        "Data and pilots: subcarriers 0 to 23 of 24, 14 OFDM symbols, 12 pilots of ports 0, 1, 12 pilots of ports 2, 3.",
    }).waitFor();
    await eventually(async () => assert.equal(await grid.locator("g path").count(), 3));
    const symbols = page.getByRole("region", { name: "Symbols" });
    await symbols.getByRole("combobox", { name: "Artifact" }).selectOption({ label: "detector.symbols" });
    for (let layer = 0; layer < 4; layer++) {
      await symbols.getByRole("img", { name: new RegExp(`^detector\\.symbols, layer ${layer}\\. 3\\s900 symbols`) })
        .waitFor();
    }
    await symbols.scrollIntoViewIfNeeded();
    await scene.shot("mimo_layers");
    await grid.getByRole("combobox", { name: "Content" }).selectOption({ label: "estimator.estimate, rx 1, port 2" });
    await grid.getByRole("img", { name: /^Power of estimator\.estimate, rx 1, port 2:/ }).waitFor();
    await eventually(async () => assert.equal(await grid.locator("svg circle").count(), 12));
    await grid.scrollIntoViewIfNeeded();
    await scene.shot("resource_grid");

    await open(`#/runs/${await run(scene, "nr_harq_link", 1)}/signals`);
    const bars = page.getByRole("region", { name: "Retransmissions" });
    await bars.getByRole("img", { name: /^Blocks by delivering transmission\. 5 bars/ }).waitFor();
    await scene.shot("harq");
  },
  { files: filesOf("recipe_starters/mimo_ofdm_link", "recipe_starters/nr_harq_link") },
);
