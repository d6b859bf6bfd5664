/** What a run looks like in small and in full: previews, thumbnails, notes, parallel coordinates, and views of arrays. */
import assert from "node:assert/strict";
import { endedJob } from "../support/ended_job.ts";
import { browserTest, eventually, type Scene } from "./browser.ts";
import { field, LINK, openFile, openLink, runState } from "./editor_scene.ts";

const recipeFile = (name: string) => Deno.readTextFileSync(new URL(`../../recipes/${name}.yaml`, import.meta.url));

async function ask({ url }: Scene, path: string, body?: unknown): Promise<Record<string, never>> {
  const reply = await fetch(url + path, {
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    headers: { "content-type": "application/json" },
  });
  const answer = await reply.json();
  assert.ok(reply.ok, JSON.stringify(answer));
  return answer;
}

/** Runs all variants of a recipe file, and answers with the names of its runs. */
async function runAll(scene: Scene, name: string): Promise<string[]> {
  const { recipe } = await ask(scene, `/api/recipe?path=recipes%2F${name}.yaml`);
  const swept = "matrix" in (recipe as { metadata: object }).metadata;
  const { job_id } = await ask(scene, swept ? "/api/matrix-jobs" : "/api/run-jobs", { recipe });
  const { state } = await endedJob(scene.url, `run-jobs/${job_id}`);
  assert.equal(state, "completed");
  const { runs } = await ask(scene, "/api/runs") as unknown as { runs: { run_id: string }[] };
  return runs.map(({ run_id }) => run_id);
}

browserTest("templates have the drawing of their link; blocks have small images of what a run gave", async (scene) => {
  const { page, open, shot } = scene;
  await open("#/templates");
  await page.getByRole("button", { name: /^Details of/ }).first().click();
  const card = page.getByRole("dialog");
  await card.locator("svg.graph-preview rect.body").nth(2).waitFor();
  await card.locator("svg.graph-preview polyline.wire").nth(1).waitFor({ state: "attached" });
  await page.keyboard.press("Escape");
  await openLink(scene);
  assert.equal(await page.locator(".graph .block image").count(), 0);
  await page.getByRole("button", { name: "Run", exact: true, disabled: false }).click();
  await runState(scene, "completed").waitFor();
  // The constellation at the receiver, with pixels of its own.
  const image = page.locator('.block[data-step="chan"] image');
  await image.waitFor();
  await eventually(async () => {
    // An address that was replaced meanwhile has no pixels.
    const pixels = await page.evaluate(`(async () => {
      const href = document.querySelector('.block[data-step="chan"] image')?.getAttribute("href") ?? "";
      const drawn = Object.assign(new Image(), { src: href });
      return await drawn.decode().then(() => drawn.naturalWidth * drawn.naturalHeight, () => 0);
    })()`);
    assert.ok(Number(pixels) > 100, String(pixels));
  });
  await shot("thumbnails");
}, { files: { "recipes/link.yaml": LINK.replace("bit_count: 100", "bit_count: 1000") } });

browserTest(
  "the inspector has modified parameters first, then those that studies turn; those without effect are folded",
  async (scene) => {
    const { page } = scene;
    await openLink(scene);
    await page.locator('.block[data-step="chan"]').click();
    await field(scene, "chan", "snr_db").waitFor();
    const order = (inside: string) =>
      page.locator(`.inspector > ${inside} :is(label, .label) > .mono:first-child`).allTextContents();
    const folded = page.locator(".inspector details", { hasText: "without effect under the chosen values" });
    await eventually(async () => {
      const shown = await order(".field"), idle = await order("details > .field");
      assert.deepEqual(shown.slice(0, 2).sort(), ["channel", "snr_db"], String(shown));
      assert.equal(await folded.getAttribute("open"), null);
      assert.ok(idle.length > 0 && !idle.includes("snr_db"), String(idle));
      assert.equal(idle.filter((name) => shown.includes(name)).length, 0, "a parameter stands in one place");
    });
    // A value that is the default is not modified, and can be left out.
    const modified = (name: string) =>
      page.locator(".field", { has: field(scene, "chan", name) }).getAttribute("data-modified");
    assert.deepEqual([await modified("channel"), await modified("snr_db")], ["false", "true"]);
    assert.equal(await page.getByRole("button", { name: "Reset channel to its default" }).isEnabled(), true);
    // The others stand with the parameter that gives them an effect.
    await field(scene, "chan", "noise_mode").selectOption("fixed_variance");
    const own = page.locator(".inspector > h4 + .field", { hasText: "noise_variance" });
    await own.waitFor();
    await eventually(async () => {
      const heading = await own.evaluate((field) => field.previousElementSibling!.textContent);
      assert.equal(heading, "With noise_mode");
    });
    // No box scrolls within the inspector, which scrolls itself.
    await eventually(async () => {
      const nested = await page.evaluate(`[...document.querySelectorAll(".inspector *")].filter((one) =>
        one.scrollHeight > one.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(one).overflowY)).length`);
      assert.equal(nested, 0);
    });
  },
  { files: { "recipes/link.yaml": LINK } },
);

const SWEPT = LINK.replace("name: link", "name: swept").replace(
  "ui_configured: true}",
  `matrix: {
    dimensions: {snr_db: [0.0, 4.0, 8.0], scheme: [qpsk, qam16], bits: [2000, 4000]},
    step_params: {chan: {snr_db: {matrix: snr_db}}, modulator: {modulation: {matrix: scheme}}, data: {bit_count: {matrix: bits}}}}}`,
);

browserTest(
  "three parameters are compared by parallel coordinates, with the share of the variance that each explains",
  async (scene) => {
    const { page, open, shot } = scene, runs = await runAll(scene, "swept");
    assert.equal(runs.length, 12);
    await open(`#/compare?runs=${runs.join(",")}&view=parallel`);
    const drawing = page.getByRole("img", { name: /^12 runs over 3 parameters/ });
    await drawing.locator("polyline").nth(11).waitFor();
    await eventually(async () =>
      assert.equal(await drawing.locator(".axis-line").count(), 4, "three parameters and the metric")
    );
    await drawing.locator("polyline").first().dispatchEvent("pointerenter");
    await page.locator("figcaption a", { hasText: /bit_count .*modulation .*snr_db/ }).waitFor();
    await page.getByRole("group", { name: /^Tools of Share/ }).getByRole("button", { name: "Table" }).click();
    await eventually(async () => {
      const rows = await page.getByRole("table").locator("tbody tr").allInnerTexts();
      assert.match(rows[0] ?? "", /^(chan\.snr_db|modulator\.modulation)/, String(rows));
    });
    await scene.checkAccessibility();
    await shot("parallel");
  },
  { files: { "recipes/swept.yaml": SWEPT } },
);

browserTest("a note and tags stay with a run, are found in the list, and go again", async (scene) => {
  const { page, open, allow } = scene, [run] = await runAll(scene, "link"), marks = "**/api/runs/marks";
  const note = page.getByRole("textbox", { name: "Note" });
  const noteIs = (text: string) => eventually(async () => assert.equal(await note.inputValue(), text));
  await open(`#/runs/${run}`);
  await note.fill("first light of the link");
  await page.keyboard.press("Tab");
  await page.getByRole("textbox", { name: "Tag" }).fill("thesis figure");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Remove the tag thesis" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Remove the tag figure" }).waitFor();
  await noteIs("first light of the link");
  // What is typed while the marks are on their way stays, and so does a note that is refused.
  const late = Promise.withResolvers<void>();
  await scene.route(marks, (route) => late.promise.then(() => route.continue()));
  await page.reload();
  await note.fill("second light");
  late.resolve();
  await page.getByRole("button", { name: "Remove the tag figure" }).waitFor();
  await noteIs("second light");
  await page.unroute(marks);
  allow(/503 \(Service Unavailable\)/);
  await scene.route(
    marks,
    (route) => route.fulfill({ status: 503, json: { code: "busy", detail: "The disk is full" } }),
  );
  await page.keyboard.press("Tab");
  await page.getByRole("group", { name: "Marks of the run" }).getByRole("alert").waitFor();
  await noteIs("second light");
  await page.unroute(marks);
  await open("#/runs?columns=note,tags");
  await page.getByText("first light of the link").waitFor();
  await page.getByRole("searchbox", { name: "Filter" }).fill("first light");
  await page.getByText("1 run", { exact: true }).waitFor();
  await page.getByRole("searchbox", { name: "Filter" }).fill("tag:thesis");
  await page.getByText("1 run", { exact: true }).waitFor();
  await open(`#/runs/${run}`);
  await page.getByRole("button", { name: "Remove the tag thesis" }).click();
  await page.getByRole("button", { name: "Remove the tag thesis" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Remove the tag figure" }).waitFor();
}, { files: { "recipes/link.yaml": LINK } });

/** The first variant of each is enough to see its views. */
const VIEWED = ["localization_trilateration_baseline", "beampattern_mrt", "ofdm_time_domain"];

browserTest(
  "arrays have the view that fits: a map with its errors, a polar pattern, time and frequency, an eye, columns, a grid",
  async (scene) => {
    const { page, open, shot } = scene, view = (name: string) => page.getByRole("region", { name });
    const started = async (name: string) => {
      const run = (await runAll(scene, name)).find((id) => id.includes(name))!;
      await open(`#/runs/${run}/signals`);
    };
    await started("localization_trilateration_baseline");
    const map = view("Map").locator(".chart-svg svg");
    await map.waitFor();
    await eventually(async () => {
      const plot = await map.locator("path.background").first().boundingBox();
      assert.ok(Math.abs(plot!.width - plot!.height) < 2, "a metre is a metre on both axes");
      assert.ok(await map.locator(".mark-rule.role-mark line").count() >= 24, "an error for each example");
    });
    const arrays = view("Arrays");
    await arrays.getByRole("combobox", { name: "Form" }).selectOption("columns");
    await arrays.getByRole("button", { name: "Column 1" }).waitFor();
    await shot("view_map");

    await started("beampattern_mrt");
    await view("Radiation pattern").getByRole("combobox", { name: "Form" }).selectOption("polar");
    const polar = view("Radiation pattern").getByRole("img", { name: /angle from broadside, peak/ });
    await polar.locator("polyline").waitFor();
    await eventually(async () => assert.ok(await polar.locator("path").count() >= 3, "rings of equal gain"));
    const saved = async (file: string) => {
      const coming = page.waitForEvent("download");
      await view("Radiation pattern").getByRole("group", { name: /^Tools of/ }).getByRole("button", { name: file })
        .click();
      return await Deno.readTextFile(await (await coming).path());
    };
    assert.equal((await saved("CSV")).trim().split("\n").length, 362);
    // Files are light on every page, with the paint that the style sheet gives on the screen.
    await page.emulateMedia({ colorScheme: "dark" });
    assert.match(await saved("SVG"), /<text [^>]*fill="rgb\(77, 89, 107\)"/);
    await page.emulateMedia({ colorScheme: "light" });
    // A PNG has the fonts of the page: the drawing that the browser paints has them inside, and they change its letters.
    await page.evaluate(`(() => {
      const make = URL.createObjectURL;
      globalThis.painted = [];
      URL.createObjectURL = (blob) => {
        if (blob.type === "image/svg+xml") painted.push(blob);
        return make.call(URL, blob);
      };
    })()`);
    assert.match(await saved("PNG"), /^.PNG/);
    const letters = await page.evaluate(`(async () => {
      const svg = await painted[0].text();
      const paint = async (text) => {
        const picture = new Image();
        picture.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
        await picture.decode();
        const canvas = new OffscreenCanvas(picture.naturalWidth, picture.naturalHeight);
        canvas.getContext("2d").drawImage(picture, 0, 0);
        return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      };
      const [own, other] = [await paint(svg), await paint(svg.replace(/<style>@font-face.*?<\\/style>/s, ""))];
      return own.filter((value, at) => value !== other[at]).length;
    })()`);
    assert.ok(Number(letters) > 500, `${letters} samples differ from those of another font`);
    await scene.checkAccessibility();
    await shot("view_polar");

    await started("ofdm_time_domain");
    for (const [panel, name] of [["Channels", "Gain over time and frequency"], ["Waveforms", "Eye diagram"]]) {
      const canvas = view(panel).getByRole("img", { name: new RegExp(`^${name}`) });
      await canvas.waitFor();
      await eventually(async () => {
        const colours = await page.evaluate(`(() => {
          const canvas = document.querySelector('canvas[aria-label^="${name}"]');
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return new Set(new Uint32Array(data.buffer).map((pixel) => pixel & 0xffffff)).size;
        })()`);
        assert.ok(Number(colours) > 20, `${name} has ${colours} colours`);
      });
    }
    await view("Waveforms").getByRole("img", { name: /^Spectrum/ }).waitFor();
    await shot("view_waveforms");
  },
  { files: Object.fromEntries(VIEWED.map((name) => [`recipes/${name}.yaml`, recipeFile(name)])) },
);

browserTest("several values in the field of one are a sweep: typed, entered, run to a curve", async (scene) => {
  const { page, open } = scene;
  await open();
  await openFile(scene, "link");
  const short = page.locator("#short-chan-snr_db");
  await short.fill("0:2:6");
  await page.getByText("Enter sweeps 4 values").waitFor();
  await page.getByRole("button", { name: "Run", exact: true, disabled: false }).waitFor();
  await short.press("Enter");
  await page.getByText("swept by snr_db").first().waitFor();
  await page.getByRole("tab", { name: "Matrix (4)" }).waitFor();
  await page.locator('.block[data-step="chan"]').getByText("0 … 6 dB").waitFor();
  // The swept values are typed in the same place.
  assert.equal(await short.inputValue(), "0.0, 2.0, 4.0, 6.0");
  await short.fill("0:4:8");
  await short.press("Enter");
  await page.getByRole("tab", { name: "Matrix (3)" }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("tab", { name: "Matrix (4)" }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await short.waitFor();
  // Leaving the field does the same, so that Run runs the sweep.
  await short.fill("1, 3");
  await page.getByRole("button", { name: "Run", exact: true, disabled: false }).click();
  await page.getByText("2 of 2 variants completed").waitFor();
  await page.locator(".sweep-curve .chart-svg svg").waitFor();
  // Half a range is no value and no sweep.
  await page.getByRole("tab", { name: "Graph" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await short.fill("0:");
  await page.getByText("1 problem to fix first").waitFor();
}, { files: { "recipes/link.yaml": LINK } });
