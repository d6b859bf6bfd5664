/** The editor with recipes of other shapes: sixty blocks, values of any depth, broken topologies, other templates, refused files. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { browserTest, type Scene } from "./browser.ts";
import { drafted, draftIs, field, LINK, openFile, openLink, REFUSED, replaceText, runOnce } from "./editor_scene.ts";

/** Sixty blocks: bits, and the same link over and over. */
const SIXTY = `schema_version: 1
name: sixty
metadata: {seed: 7}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 64}}
  - {id: boundary, op: channel.bit_boundary, inputs: {bits: data.bits}}
  - {id: modulator, op: modulation.digital_modulate, inputs: {bits: boundary.bits}}
  - {id: last, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: boundary.bits}}
${
  Array.from({ length: 14 }, (_, at) =>
    `  - {id: mapper_${at}, op: modulation.digital_modulate, inputs: {bits: boundary.bits}}
  - {id: link_number_${at}, op: wireless.channel, inputs: {symbols: mapper_${at}.symbols}}
  - {id: demapper_${at}, op: demodulation.digital_demodulate, inputs: {rx_symbols: link_number_${at}.rx_symbols}}
  - {id: rate_${at}, op: metrics.bit_error_rate, inputs: {reference: boundary.bits, candidate: demapper_${at}.bits}}`)
    .join(
      "\n",
    )
}
`;
/** Ten blocks in a row. */
const CHAIN = `schema_version: 1
name: chain
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 64}}
  - {id: payload, op: channel.bit_boundary, inputs: {bits: data.bits}}
  - {id: encoder, op: channel.repetition_encoder, inputs: {bits: payload.bits}}
  - {id: sent, op: channel.bit_boundary, inputs: {bits: encoder.coded_bits}}
  - {id: modulator, op: modulation.digital_modulate, inputs: {bits: sent.bits}}
  - {id: chan, op: wireless.channel, inputs: {symbols: modulator.symbols}}
  - {id: demodulator, op: demodulation.digital_demodulate, inputs: {rx_symbols: chan.rx_symbols}}
  - {id: received, op: channel.bit_boundary, inputs: {bits: demodulator.bits}}
  - {id: decoder, op: channel.repetition_decoder, inputs: {coded_bits: received.bits}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: decoder.bits}}
`;

interface Picture {
  scale: number;
  /** Of the letters of the block's name, on the screen. */
  letters: number;
  blocks: { id: string; x: number; y: number; width: number; height: number }[];
  wires: { ends: [string, string]; points: [number, number][] }[];
}

/** What the graph draws, in its own coordinates. */
const pictureOf = ({ page }: Scene) =>
  page.evaluate(`(() => {
    const numbers = (text) => text.match(/-?[\\d.]+(e-?\\d+)?/g).map(Number);
    const graph = document.querySelector(".graph-canvas > svg"), [, , scale] = numbers(graph.querySelector("g").getAttribute("transform"));
    const blocks = [...graph.querySelectorAll(".block")].map((block) => {
      const [x, y] = numbers(block.getAttribute("transform")), body = block.querySelector("rect.body");
      return { id: block.dataset.step, x, y, width: +body.getAttribute("width"), height: +body.getAttribute("height") };
    });
    const wires = [...graph.querySelectorAll(".wire")].map((wire) => {
      const flat = numbers(wire.getAttribute("points"));
      const title = wire.parentElement.querySelector("title").textContent;
      return {
        ends: title.match(/^(\\w+)\\.\\w+ to (\\w+)\\./).slice(1),
        points: Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at], flat[2 * at + 1]]),
      };
    });
    const name = graph.querySelector(".block g text");
    return { scale, letters: parseFloat(getComputedStyle(name).fontSize) * scale, blocks, wires };
  })()`) as Promise<Picture>;

function checkPicture({ blocks, wires }: Picture): void {
  for (const [at, a] of blocks.entries()) {
    for (const b of blocks.slice(at + 1)) {
      const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
      assert.ok(apart, `${a.id} and ${b.id} overlap`);
    }
  }
  for (const { ends, points } of wires) {
    for (let at = 1; at < points.length; at++) {
      const [[x1, y1], [x2, y2]] = [points[at - 1], points[at]];
      const low = [Math.min(x1, x2), Math.min(y1, y2)], high = [Math.max(x1, x2), Math.max(y1, y2)];
      const crossed = blocks.find(({ id, x, y, width, height }) =>
        !ends.includes(id) && high[0] > x + 1 && low[0] < x + width - 1 && high[1] > y + 1 && low[1] < y + height - 1
      );
      assert.equal(crossed, undefined, `The wire from ${ends[0]} to ${ends[1]} runs through ${crossed?.id}`);
    }
  }
}

browserTest("sixty blocks are drawn apart and can be read; a chain of ten folds", async (scene) => {
  const { page, open, until, shot } = scene;
  await open();
  await openFile(scene, "sixty");
  await page.getByRole("button", { name: "All blocks", pressed: false }).click();
  await until(`document.querySelectorAll(".graph .block").length === 60`);
  const sixty = await pictureOf(scene);
  checkPicture(sixty);
  assert.ok(sixty.letters >= 8, `Letters of ${sixty.letters} pixels`);
  await shot("editor_sixty");
  // Closer, a part is shown with all it has, and a small picture tells where it lies.
  for (let turn = 0; turn < 7; turn++) await page.getByRole("button", { name: "Zoom in" }).click();
  await page.locator(".minimap").waitFor();
  await shot("editor_sixty_close");
  await page.getByRole("button", { name: "Fit" }).click();
  await page.locator(".minimap").waitFor({ state: "detached" });

  await openFile(scene, "chain");
  await page.getByRole("button", { name: "All blocks", pressed: true }).waitFor();
  await until(`document.querySelectorAll(".graph .block").length === 10`);
  const chain = await pictureOf(scene);
  checkPicture(chain);
  assert.ok(new Set(chain.blocks.map(({ y }) => y)).size > 1, "Ten blocks in one row");
  assert.ok(chain.letters >= 8, `Letters of ${chain.letters} pixels`);
  await shot("editor_chain");
}, { files: { "recipes/sixty.yaml": SIXTY, "recipes/chain.yaml": CHAIN } });

browserTest("checkpoints are dots on their wires that are walked, opened and marked like blocks", async (scene) => {
  const { page, open, until, shot } = scene;
  await open();
  await openFile(scene, "chain");
  await until(`document.querySelectorAll(".graph .block:not(.dot)").length === 7`);
  const names = await page.locator(".graph .dot .words").allTextContents();
  assert.deepEqual(names.map((name) => name.split(", ").slice(0, 3).join(", ")), [
    "Bit checkpoint, payload, 2 of 10",
    "Bit checkpoint, sent, 4 of 10",
    "Bit checkpoint, received, 8 of 10",
  ]);
  const titles = await page.locator(".wire-hit title").allTextContents();
  assert.ok(titles.some((title) => title === "data.bits to encoder.bits through payload"), titles.join("\n"));
  // A dot is on the way of the keys, and Enter opens its parameters.
  await page.locator('.block[data-step="encoder"]').click();
  await page.keyboard.press("ArrowRight");
  await page.locator('.dot[data-step="sent"][aria-pressed="true"]:focus').waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".inspector :focus").waitFor();
  await page.locator('.dot[data-step="sent"]').focus();
  await page.keyboard.press("ArrowRight");
  await page.locator('.block[data-step="modulator"][aria-pressed="true"]').waitFor();
  await page.locator('.dot[data-step="received"]').click();
  await page.locator('.dot[data-step="received"][aria-pressed="true"]').waitFor();
  // It is large enough to be pressed.
  const { width, height } = (await page.locator('.dot[data-step="received"] .dot-hit').boundingBox())!;
  assert.ok(width >= 24 && height >= 24, `${width} x ${height}`);
  await runOnce(scene);
  await page.locator('.dot[data-state="completed"]').nth(2).waitFor();
  await shot("editor_dots");
  // The finding of a folded block is on its dot.
  await page.locator('.dot[data-step="sent"]').click();
  await field(scene, "sent", "expected_bit_count").fill("many");
  await page.locator('.dot[data-step="sent"][data-problems="true"]').waitFor();
  await page.locator(".dot .words", { hasText: /sent.*1 problems/ }).waitFor({ state: "attached" });
  // The choice stays for the next visit.
  await page.getByRole("button", { name: "All blocks" }).click();
  await until(`document.querySelectorAll(".graph .block:not(.dot)").length === 10`);
  await page.reload();
  await until(`document.querySelectorAll(".graph .block:not(.dot)").length === 10`);
}, { files: { "recipes/chain.yaml": CHAIN } });

browserTest("twenty mixed edits, of values of any depth, are taken back to the byte and made again", async (scene) => {
  const { page } = scene;
  await openLink(scene);
  const original = await drafted(scene, /"name":"link"/);
  const show = (step: string) => page.locator(`.block[data-step="${step}"]`).click();
  const texts = [original];
  const edited = async (wanted: RegExp) => {
    texts.push(await drafted(scene, wanted));
  };
  await show("data");
  for (const [name, value] of [["bit_count", "11"], ["batch_size", "3"], ["seed", "5"]]) {
    await field(scene, "data", name).fill(value);
    await edited(new RegExp(`"${name}":${value}[,}]`));
  }
  await page.getByRole("button", { name: "Reset seed to its default" }).click();
  await edited(/"batch_size":3,"bit_count":11\}/);
  await show("chan");
  // The channel awgn does not use the last of them.
  await page.getByText(/^\d+ without effect under the chosen values/).click();
  for (
    const [name, value, written] of [["snr_db", "1e-12", "1e-12"], ["snr_db", "-3", "-3.0"], ["rx_antennas", "2", "2"]]
  ) {
    await field(scene, "chan", name).fill(value);
    await edited(new RegExp(`"${name}":${written}[,}]`));
    // A pause ends a step of the history.
    await page.waitForTimeout(1050);
  }
  for (const [name, value] of [["channel", "flat_rayleigh"], ["channel", "awgn"]]) {
    await field(scene, "chan", name).selectOption({ label: value });
    await edited(new RegExp(`"${name}":"${value}"`));
    await page.waitForTimeout(1050);
  }
  await show("modulator");
  await field(scene, "modulator", "modulation").selectOption({ label: "qam16" });
  await edited(/"modulation":"qam16"/);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Sweep modulation", exact: true }).click();
  const form = page.getByRole("form", { name: "Sweep modulation" });
  await form.getByLabel(/^Values/).fill("qpsk, qam16");
  await form.getByRole("button", { name: "Sweep modulation" }).click();
  await edited(/"dimensions":\{"modulation":\["qpsk","qam16"\]\}/);
  await page.getByRole("button", { name: "Release modulation from modulation" }).click();
  await edited(/^(?!.*"matrix":)/);
  const undo = page.getByRole("button", { name: "Undo" }), redo = page.getByRole("button", { name: "Redo" });
  let back = 0;
  while (await undo.isEnabled()) {
    await undo.click();
    back++;
  }
  assert.ok(back >= 12, `${back} steps`);
  await draftIs(scene, original);
  for (let step = 0; step < back; step++) await redo.click();
  await draftIs(scene, texts.at(-1)!);
}, { files: { "recipes/link.yaml": LINK } });

const MANIFEST = `schema_version: 1
name: listed
steps:
  - {id: data, op: source.bit_manifest, params: {manifest_path: list.json, manifest_sha256: "${"0".repeat(64)}"}}
`;

browserTest(
  "lists grow and shrink in the form, and what is not known is refused or kept as it is checked",
  async (scene) => {
    const { page, open, allow } = scene;
    allow(REFUSED);
    await open();
    await openFile(scene, "listed");
    await page.locator('.block[data-step="data"]').click();
    const items = page.getByRole("group", { name: "item_ids" });
    await items.getByRole("button", { name: /^Add an item/ }).click();
    await items.getByRole("textbox").first().fill("one");
    await items.getByRole("button", { name: /^Add an item/ }).click();
    await items.getByRole("textbox").nth(1).fill("two");
    await drafted(scene, /"item_ids":\["one","two"\]/, "listed");
    await scene.checkAccessibility();
    await items.getByRole("button", { name: "Remove item 0 of item_ids" }).click();
    await drafted(scene, /"item_ids":\["two"\]/, "listed");
    await page.getByRole("button", { name: "Reset item_ids to its default" }).click();
    await drafted(scene, /^(?!.*item_ids)/, "listed");

    // What strict checking refuses, compat lets pass with a warning; runs are strict.
    await page.getByRole("tab", { name: /^Raw JSON/ }).click();
    await replaceText(scene, "list.json", "other.json");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("Applied; no file was written").waitFor();
    await replaceText(scene, "schema_version", "schema_versoin");
    await page.getByRole("list", { name: "Problems of the text" }).getByText(/schema_versoin/).first().waitFor();
    await page.locator(".raw").getByRole("combobox", { name: "Check" }).selectOption("compat");
    await page.getByRole("list", { name: "Problems of the text" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Discard" }).click();
  },
  { files: { "recipes/listed.yaml": MANIFEST } },
);

const STARTER = await Deno.readTextFile(
  new URL("../../recipes/recipe_starters/image_codec_default.yaml", import.meta.url),
);
/** The default template under another name, with the id of a stage that its profile does not know. */
const REWIRED = STARTER.replace("name: image_codec_default", "name: rewired").replaceAll("tx_bit_boundary", "sent");

browserTest(
  "a template that is wired otherwise gets a notice and is made custom; a code and a codec are replaced on both sides",
  async (scene) => {
    const { page, open, allow, shot } = scene;
    allow(REFUSED);
    await open();
    await page.getByText("No problems: the recipe is valid").waitFor();
    await page.getByRole("tab", { name: /^Raw JSON/ }).click();
    const original = await drafted(scene, /tx_bit_boundary/, "image_codec_default");
    // The id of a stage, and the two inputs that take from it.
    for (let turn = 0; turn < 3; turn++) await replaceText(scene, "tx_bit_boundary", "sent");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("Not applied: fix the problems first; the text stays").waitFor();
    const problems = page.getByRole("list", { name: "Problems of the text" });
    await problems.getByText(/Cannot find the tx_bit_boundary step of layered_digital/).waitFor();
    assert.equal(await drafted(scene, /tx_bit_boundary/, "image_codec_default"), original);
    await page.getByText("not applied", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Discard" }).click();

    await openFile(scene, "rewired");
    await page.getByText("execution_profile_mismatch").first().waitFor();
    await page.getByRole("button", { name: "Run", exact: true, disabled: true }).waitFor();
    await page.getByText(/problems? to fix first/).waitFor();
    await shot("editor_profile");
    await page.getByRole("button", { name: "Make it custom" }).first().click();
    await page.getByText("No problems: the recipe is valid").waitFor();
    await drafted(
      scene,
      /"execution_profile":\{"based_on":\{"id":"layered_digital","version":1\},"id":"custom","version":1\}/,
      "rewired",
    );
    await page.getByRole("button", { name: "Run", exact: true, disabled: false }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("execution_profile_mismatch").first().waitFor();

    await page.getByRole("tab", { name: /^image_codec_default/ }).click();
    await page.getByText("No problems: the recipe is valid").waitFor();
    await page.getByRole("tab", { name: "Graph" }).click();
    await page.locator('.block[data-step="channel_encoder"]').click();
    await page.getByRole("button", { name: "Code …" }).click();
    const dialog = page.getByRole("dialog", { name: "Code of the link" });
    await dialog.getByText(/^Now: no code\./).waitFor();
    await dialog.getByText(/^unequal error protection: not here\. .* needs the input importance_map/).waitFor();
    await dialog.getByRole("button", { name: /^repetition code/ }).focus();
    await dialog.getByRole("figure", { name: "Graph with repetition code" }).getByText(/channel\.repetition_decoder/)
      .waitFor();
    await scene.checkAccessibility();
    await shot("editor_replace");
    await dialog.getByRole("button", { name: /^repetition code/ }).click();
    // Both sides changed in this recipe, as one edit.
    await drafted(
      scene,
      /"op":"channel\.repetition_encoder".*"op":"channel\.repetition_decoder"/,
      "image_codec_default",
    );
    await page.locator('.block[data-step="channel_encoder"][aria-pressed="true"]').waitFor();
    await page.getByRole("status").getByText(/channel\.repetition_encoder in place of channel\.identity_encoder/)
      .waitFor();
    await page.getByText("No problems: the recipe is valid").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await drafted(scene, /"op":"channel\.identity_encoder".*"op":"channel\.identity_decoder"/, "image_codec_default");
    await page.locator('.block[data-step="sender"]').click();
    await page.getByRole("button", { name: "Replace …" }).click();
    await page.getByRole("dialog", { name: "Replace sender" }).getByRole("button", { name: /^model\.webp_encode/ })
      .click();
    await drafted(scene, /"op":"model\.webp_encode".*"op":"model\.webp_decode"/, "image_codec_default");
  },
  { files: { "recipes/rewired.yaml": REWIRED } },
);

browserTest(
  "a refused recipe leaves its file as it is; a page that was killed comes back with its drafts",
  async (scene) => {
    const { page, folder, allow, newPage, open } = scene, path = join(folder, "recipes/link.yaml");
    allow(REFUSED);
    await openLink(scene);
    const before = await Deno.readFile(path);
    await page.locator('.block[data-step="data"]').click();
    await field(scene, "data", "bit_count").fill("-5");
    const edited = await drafted(scene, /"bit_count":-5/);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("alert").getByText(/Cannot accept the recipe.*data\.bit_count: Cannot use -5/).waitFor();
    assert.deepEqual(await Deno.readFile(path), before);
    await scene.checkAccessibility();
    // A page that goes without a word leaves its drafts to the next one.
    const next = await newPage();
    await page.close();
    await open("", next);
    await next.getByRole("tab", { name: /^link.*not saved/ }).click();
    assert.equal(await drafted({ ...scene, page: next }, /"bit_count":-5/), edited);
  },
  { files: { "recipes/link.yaml": LINK }, axe: false },
);

browserTest(
  "another template keeps name, description, seed and protocol of the author, and undo takes it back",
  async (scene) => {
    const { page, open } = scene;
    await open();
    await page.locator('.block[data-step="sender"]').waitFor();
    const fill = (name: string, value: string) => page.getByRole("textbox", { name, exact: true }).fill(value);
    await fill("Name", "mine");
    await fill("Description", "what I measure");
    await page.locator("#recipe-seed").fill("77");
    await drafted(scene, /"seed":77/, "mine");
    await page.getByRole("link", { name: "New from template" }).click();
    await page.getByRole("searchbox", { name: "Find" }).fill("text over");
    await page.getByRole("button", { name: "Details of Text over an ideal link" }).click();
    await page.getByRole("button", { name: /^Replace mine/ }).click();
    const dialog = page.getByRole("dialog", { name: /^Replace mine/ });
    for (const kept of ["mine", "what I measure", "77"]) await dialog.getByText(kept, { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Replace", exact: true }).click();
    const replaced = JSON.parse(await drafted(scene, /^(?!.*jpeg)/, "mine"));
    assert.deepEqual([replaced.name, replaced.description, replaced.metadata.seed], ["mine", "what I measure", 77]);
    await page.getByRole("button", { name: "Undo" }).click();
    await drafted(scene, /jpeg_encode/, "mine");
  },
  { axe: false },
);
