/** The gallery: one list of templates and recipes, its filters and search, its stored results, and what it costs. */
import assert from "node:assert/strict";
import { decodeJpeg } from "../../lib/artifact/jpeg/decoder.ts";
import { cardsOf, matching, type Wanted, wordsOf } from "../../ui/gallery/cards.ts";
import { figureOf, type GalleryResult, pictureNameOf, resultOf } from "../../ui/gallery/results.ts";
import results from "../../ui/pages/gallery_results.json" with { type: "json" };
import { browserTest, eventually } from "./browser.ts";
import type { Locator } from "./playwright.ts";

const ALL: Wanted = { text: "", task: "", channel: "", code: "", learned: "" };
const titles = (wanted: Partial<Wanted>) => matching(cardsOf(null), { ...ALL, ...wanted }).map(({ title }) => title);

Deno.test("a search knows the words of the field, those of operations, and the words of no recipe", () => {
  const first: Record<string, RegExp> = {
    "turbo": /turbo code/i,
    "polar": /polar codes/,
    "deep jscc": /^Joint source-channel coding/,
    "convolutional": /convolutional code/i,
    "HARQ": /HARQ/,
  };
  for (const [text, expected] of Object.entries(first)) assert.match(titles({ text })[0] ?? "nothing", expected, text);
  assert.ok(titles({ text: "BER" }).length >= 20);
  // "ber" stands in "number" and "Kalenberg", which is no match.
  for (const card of matching(cardsOf(null), { ...ALL, text: "ber" })) {
    assert.ok(/bit.error|\bber/i.test(JSON.stringify(card)), card.path);
  }
  assert.deepEqual(titles({ text: "xylophone" }), []);
  // The palette names a template by its id.
  const [{ template }] = matching(cardsOf(null), { ...ALL, text: "semantic_comm.image_reconstruction.default" });
  assert.equal(template, "semantic_comm.image_reconstruction.default");
});

Deno.test("a card without a description has its name in words, with the abbreviations of the field", () => {
  assert.equal(wordsOf("neural_receiver_qpsk_awgn_adapter"), "Neural receiver QPSK AWGN adapter");
  assert.equal(wordsOf("bit_transport_nr_ldpc_tdl"), "Bit transport NR LDPC TDL");
  assert.deepEqual(cardsOf(null).filter(({ title }) => /\b(awgn|ldpc|qpsk|nr|ofdm|mimo|tdl)\b/.test(title)), []);
});

Deno.test("filters narrow the list together, and each has cards", () => {
  const cards = cardsOf(null), whole = cards.length;
  const learned = titles({ learned: "learned" }).length, without = titles({ learned: "plain" }).length;
  assert.ok(learned > 20 && without > 20);
  assert.equal(learned + without, whole);
  const ldpc = matching(cards, { ...ALL, code: "5G NR LDPC", channel: "AWGN" });
  assert.ok(ldpc.length > 3 && ldpc.every(({ operations }) => operations.includes("channel.nr_ldpc_encoder")));
  assert.ok(matching(cards, { ...ALL, code: "none" }).every(({ codes }) => codes.length === 0));
});

Deno.test("each stored result of a shipped recipe is of its present digest; deno task gallery makes them again", () => {
  const cards = new Map(cardsOf(null).map((card) => [card.path, card]));
  const stale = Object.entries(results).filter(([path, { sha256 }]) => cards.get(path)?.recipeSha256 !== sha256);
  assert.deepEqual(stale.map(([path]) => path), [], "cards without a result of their recipe");
  assert.ok(JSON.stringify(results).length < 60_000);
});

Deno.test("each card has a result of its recipe, or a reason why there is none", () => {
  const reasons = /^(needs the (dataset|model) \S+( and the (dataset|model) \S+)*|it runs for more than \d+ minutes)$/;
  for (const card of cardsOf(null)) {
    const result = resultOf(card);
    assert.ok(result !== null, `${card.path}: run deno task gallery`);
    const given = [result.series, result.numbers].filter((one) => one !== undefined && one.length > 0);
    if (result.none === undefined) assert.equal(given.length, 1, card.path);
    else {
      assert.match(result.none, reasons, card.path);
      assert.equal(given.length, 0, card.path);
    }
  }
});

Deno.test("each link that gives images with a quality has images, and labels are words", () => {
  for (const [path, result] of Object.entries(results) as unknown as [string, GalleryResult][]) {
    if (result.y?.[0] === "PSNR" || result.metric?.[0] === "PSNR") assert.ok(result.film, `${path} has no images`);
    const labels = [...result.series ?? [], ...result.numbers ?? []].map(([label]) => label);
    for (const label of labels) assert.doesNotMatch(label, /_|\b(true|false)\b|\bqam\d/, path);
  }
});

Deno.test("the stored images are those of the results, in the stated sizes, and below 400 kB together", () => {
  const folder = new URL("../../ui/pictures/", import.meta.url);
  const files = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.startsWith("gallery_"));
  const filmed = (Object.entries(results) as unknown as [string, GalleryResult][]).filter(([, { film }]) => film);
  assert.deepEqual(files.sort(), filmed.map(([path]) => `${pictureNameOf(path)}.jpg`).sort());
  let total = 0;
  for (const [path, { film, series }] of filmed) {
    const bytes = Deno.readFileSync(new URL(`${pictureNameOf(path)}.jpg`, folder)), [width, height, ...at] = film!;
    const frame = decodeJpeg(bytes);
    assert.deepEqual([frame.width, frame.height], [width, height], path);
    // An image for each value of the sweep, also beyond the first point without an event.
    const points = series?.[0][1].map(([x]) => x) ?? [];
    assert.deepEqual(at.slice(0, points.length), points, path);
    total += bytes.length;
  }
  assert.ok(filmed.length >= 24 && total < 400_000, `${total} bytes`);
});

Deno.test("a card shows no result of another digest, and each stored curve has points", () => {
  const [path, { sha256 }] = Object.entries(results)[0];
  assert.equal(resultOf({ path, recipeSha256: sha256 })?.sha256, sha256);
  assert.equal(resultOf({ path, recipeSha256: "0".repeat(64) }), null);
  for (const [path, result] of Object.entries(results)) {
    const figure = figureOf(result as never);
    assert.ok(figure === null || figure.series.every(({ points }) => points.length > 0), path);
    for (const { y, low, high } of figure?.series.flatMap(({ points }) => points) ?? []) {
      assert.ok(y === null || low === null || high === null || (low <= y && y <= high), path);
    }
  }
});

browserTest("one gallery: few screens, found by word and filter, opened by one press", async (scene) => {
  const { page, open, until, shot } = scene;
  await open("#/templates");
  const cards = page.getByRole("article");
  await cards.nth(100).waitFor();
  await page.getByRole("status").filter({ hasText: /^(\d+) of \1$/ }).waitFor();
  await page.getByText("None. Save puts the open recipe into recipes/.").waitFor();
  const screens = await page.evaluate(`document.getElementById("main").scrollHeight / innerHeight`);
  assert.ok(Number(screens) <= 3, `${screens} screens`);
  // Long groups begin folded; a filter shows all that fit.
  const images = page.getByRole("region", { name: "Images" }), whole = titles({ task: "Images" }).length;
  assert.ok(await images.getByRole("article").count() < whole);
  await images.getByRole("button", { name: `Show all ${whole}` }).click();
  await eventually(async () => assert.equal(await images.getByRole("article").count(), whole));
  await shot("gallery");
  await page.getByRole("searchbox", { name: "Find" }).fill("deep jscc");
  await eventually(async () => assert.match(await cards.first().innerText(), /Joint source-channel/));
  await page.getByRole("searchbox", { name: "Find" }).fill("");
  await page.getByRole("combobox", { name: "Code" }).selectOption("Turbo");
  const turbo = page.getByRole("article", { name: /^The turbo code/ });
  await turbo.getByRole("img", { name: /^Bit error rate over Es\/N0, stored/ }).waitFor();
  assert.equal(await cards.count(), 2, "bits, and the text link of the papers");
  await turbo.getByRole("button", { name: /^Details/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.locator("svg.graph-preview rect.body").nth(2).waitFor();
  await dialog.getByText("recipes/bit_transport_turbo.yaml", { exact: true }).waitFor();
  await scene.checkAccessibility();
  await shot("gallery_details");
  await page.keyboard.press("Escape");
  await turbo.getByRole("button", { name: /^The turbo code/ }).first().click();
  await until(`document.querySelectorAll(".graph .block").length > 3`);
  await page.getByRole("tab", { name: /^bit_transport_turbo/, selected: true }).waitFor();
});

const loaded = (image: Locator) =>
  eventually(async () =>
    assert.ok(await image.evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth > 0))
  );

browserTest("the details of a link of images show an image as received at each value of its sweep", async (scene) => {
  const { page, open, shot } = scene;
  await open("#/templates");
  await page.getByRole("combobox", { name: "Task" }).selectOption("Vision behind a link");
  const card = page.getByRole("article", { name: /^Detection and segmentation behind joint/ });
  await loaded(card.getByRole("img", { name: "An image as received, stored" }));
  await shot("gallery_images");
  await card.getByRole("button", { name: /^Details/ }).click();
  const dialog = page.getByRole("dialog");
  await loaded(dialog.getByRole("img", { name: /^An image as received at Es\/N0 .4, 0, 4, 8, 12 dB, stored$/ }));
  await dialog.getByText("12 dB", { exact: true }).waitFor();
  await shot("gallery_film");
});

browserTest(
  "recipes of the project stand first, and shipped cards are there before the server answers",
  async (scene) => {
    const { page, open, route } = scene;
    const held = Promise.withResolvers<void>();
    await open("#/system");
    await route("**/api/recipes", async (asked) => {
      await held.promise;
      await asked.continue();
    });
    await open("#/templates");
    await page.getByRole("article").nth(100).waitFor();
    const own = page.getByRole("region", { name: "Recipes of this project" });
    await own.getByText("Reading recipes/").waitFor();
    held.resolve();
    await own.getByRole("article", { name: "A link of my own" }).waitFor();
  },
  {
    files: {
      "recipes/mine.yaml":
        "name: mine\ndescription: A link of my own\nsteps:\n  - { id: data, op: source.random_bits }\n",
    },
  },
);

browserTest(
  "the gallery on a phone has one column, and loads the images that are near",
  async ({ page, open, shot }) => {
    const asked: string[] = [];
    page.on("request", (request) => void (/\/gallery_/.test(request.url()) && asked.push(request.url())));
    await open("#/templates");
    await page.getByText("None. Save puts the open recipe into recipes/.").waitFor();
    await shot("gallery_phone");
    const images = page.getByRole("img", { name: "An image as received, stored" });
    assert.ok(asked.length < await images.count(), "images far below are left");
    await images.last().scrollIntoViewIfNeeded();
    await loaded(images.last());
  },
  { viewport: { width: 390, height: 844 } },
);
