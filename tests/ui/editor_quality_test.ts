/** The editor for everybody: by keys alone, magnified, on a phone, without colours of its own; and what it costs. */
import assert from "node:assert/strict";
import { isSampled } from "../support/sample.ts";
import { browserTest, eventually, type Scene } from "./browser.ts";
import { bundles, drafted, field, FILES, openFile, runOnce, runState } from "./editor_scene.ts";

const press = ({ page }: Scene, ...keys: string[]) =>
  keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());

/** Finds something with the palette and takes the first that it finds. */
async function find({ page }: Scene, words: string, option: RegExp): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find" }).waitFor();
  await page.keyboard.type(words);
  await page.getByRole("option", { name: option, selected: true }).waitFor();
  await page.keyboard.press("Enter");
}

/** Whether nothing stands beyond the right edge of the page. */
async function checkWidth({ page }: Scene, where: string): Promise<void> {
  await eventually(async () => {
    const wide = await page.evaluate(`(() => {
      const edge = document.documentElement.clientWidth;
      if (document.documentElement.scrollWidth <= edge && document.getElementById("main").scrollWidth <= edge) return "";
      const beyond = (one) => one.getBoundingClientRect().right > edge + 1;
      return [...document.querySelectorAll("#main *")].filter((one) => beyond(one) && ![...one.children].some(beyond))
        .slice(0, 4).map((one) => one.tagName + "." + one.className + " " + one.textContent.slice(0, 30)).join("; ");
    })()`);
    assert.equal(wide, "", `${where} is too wide`);
  });
}

browserTest("edit, run and compare by keys alone; then at 200 % zoom, on a phone and on a small one", async (scene) => {
  const { page, open, shot } = scene;
  await open();
  await page.locator(".graph .block").first().waitFor();
  // Open a file, select a block, change a field, run: twice.
  await press(scene, "Control+o");
  await page.getByRole("button", { name: /recipes\/link\.yaml/ }).waitFor();
  await page.keyboard.type("link");
  await press(scene, "Enter");
  await page.getByRole("tab", { name: "link", selected: true }).waitFor();
  for (const snr of ["2", "8"]) {
    await find(scene, "snr_db chan", /^Parameter snr_db chan/);
    await page.locator("#param-chan-snr_db:focus").waitFor();
    await press(scene, "Control+a");
    await page.keyboard.type(snr);
    await drafted(scene, new RegExp(`"snr_db":${snr}\\.0`));
    await page.getByRole("button", { name: "Run", exact: true, disabled: false }).waitFor();
    const before = await bundleCount(scene);
    await press(scene, "Control+Enter");
    while (await bundleCount(scene) === before) await page.waitForTimeout(50);
    await page.getByRole("button", { name: "Run", exact: true }).waitFor();
    await runState(scene, "completed").waitFor();
  }
  // Among the blocks with the arrows, and into the parameters.
  await page.locator(".graph .block[tabindex='0']").focus();
  await press(scene, "Home", "ArrowRight");
  await page.locator('.block[data-step="modulator"]:focus').waitFor();
  await press(scene, "Enter");
  await page.locator(".inspector input:focus, .inspector select:focus").waitFor();
  // The panels below and their tabs.
  await press(scene, "Control+j");
  await page.getByRole("tabpanel", { name: "Results" }).getByText("Bit error rate").first().waitFor();
  await find(scene, "Runs", /^View Runs/);
  await page.getByRole("table", { name: "Runs" }).getByRole("link", { name: "link" }).nth(1).waitFor();
  const chooser = page.getByRole("checkbox", { name: /^Choose \d/ });
  for (const at of [0, 1]) {
    await chooser.nth(at).focus();
    await press(scene, "Space");
  }
  await page.getByRole("button", { name: "Compare", exact: true }).focus();
  await press(scene, "Enter");
  await page.getByRole("rowheader", { name: "chan.snr_db" }).waitFor();
  await scene.checkAccessibility();

  // What is too wide is so in the smallest window, which stands for the others every day.
  const windows = [["phone_320", 320, 640], ["zoom_200", 720, 450], ["phone", 390, 844]] as const;
  for (const [name, width, height] of windows.filter((_, index) => isSampled(index, windows.length))) {
    await page.setViewportSize({ width, height });
    await checkWidth(scene, `compare at ${width}`);
    await open("#/editor");
    await page.getByRole("navigation", { name: "Blocks" }).getByRole("button", { name: /chan/ }).first().click();
    await field(scene, "chan", "snr_db").fill(String(width / 10));
    await drafted(scene, new RegExp(`"snr_db":${width / 10}\\.`));
    await checkWidth(scene, `the editor at ${width}`);
    for (const view of ["Matrix", "Raw JSON", "Specs"]) {
      await page.getByRole("tab", { name: view }).click();
      if (view === "Raw JSON") await page.locator(".cm-content").waitFor();
      await checkWidth(scene, `${view} at ${width}`);
    }
    await page.getByRole("tab", { name: "Graph" }).click();
    for (const panel of ["Results", "Plan", "Log"]) {
      await page.getByRole("tab", { name: panel }).click();
      await page.getByRole("tabpanel", { name: panel }).waitFor();
      await checkWidth(scene, `${panel} at ${width}`);
    }
    await scene.checkAccessibility();
    await shot(`editor_${name}`);
    if (width === 320) {
      await page.getByRole("button", { name: "Run", exact: true, disabled: false }).click();
      await runState(scene, "completed").waitFor();
    }
    await open(page.url().includes("compare") ? "" : "#/runs");
    await page.getByRole("table", { name: "Runs" }).waitFor();
  }
}, { files: FILES });

function bundleCount(scene: Scene): number {
  try {
    return bundles(scene).length;
  } catch {
    return 0;
  }
}

browserTest("the editor says all it says with forced colours and without motion", async (scene) => {
  const { page, open, shot } = scene;
  await open();
  await openFile(scene, "link");
  await page.locator('.block[data-step="chan"]').click();
  await field(scene, "chan", "snr_db").fill("2");
  await page.getByRole("button", { name: "Run", exact: true, disabled: false }).click();
  await runState(scene, "completed").waitFor();
  await page.locator('.block[data-state="completed"]').nth(4).waitFor();
  // State is said by a glyph and a word, the plane by a letter, the selection by a width: not by colours alone.
  const told = () =>
    page.evaluate(`(() => {
    const block = document.querySelector('.block[data-step="chan"]');
    const width = (id) => parseFloat(getComputedStyle(document.querySelector(id + " rect.body")).strokeWidth);
    return {
      glyph: block.querySelector('.step-state [data-sign="✓"]') !== null,
      wider: width('.block[data-step="chan"]') > width('.block[data-step="data"]'),
      visible: getComputedStyle(block.querySelector("rect.body")).stroke !== getComputedStyle(block.querySelector("rect.body")).fill,
      moving: document.getAnimations().length,
    };
  })()`);
  await eventually(async () => assert.deepEqual(await told(), { glyph: true, wider: true, visible: true, moving: 0 }));
  await shot("editor_forced");
}, { files: FILES, forcedColors: "active", reducedMotion: "reduce" });

browserTest(
  "budgets: the text editor's part, and memory that does not grow with tabs and runs",
  async (scene) => {
    const { page, open, until, context, url } = scene;
    const sizes = new Map<string, Promise<number>>();
    const gzipped = async (path: string) => {
      const body = (await fetch(url + path)).body!.pipeThrough(new CompressionStream("gzip"));
      return (await new Response(body).arrayBuffer()).byteLength;
    };
    context.on("response", (response) => {
      const path = new URL(response.url()).pathname;
      if (path.endsWith(".js") && !sizes.has(path)) sizes.set(path, gzipped(path));
    });
    const total = async () => (await Promise.all(sizes.values())).reduce((sum, size) => sum + size, 0);
    await open();
    await openFile(scene, "link");
    // The page loads its other views when it is idle: they are no part of the editor.
    await until(`performance.getEntriesByType("resource").some(({ name }) => /\\/system-\\d+\\.js$/.test(name))`);
    for (let count = -1; count !== sizes.size;) {
      count = sizes.size;
      await page.waitForTimeout(1000);
    }
    const first = await total();
    await page.getByRole("tab", { name: "Raw JSON" }).click();
    await page.locator(".cm-content").waitFor();
    const editor = await total() - first;
    console.log(
      `the text editor loads ${(editor / 1024).toFixed(1)} KiB of scripts (gzip) behind ${
        (first / 1024).toFixed(1)
      } KiB`,
    );
    assert.ok(editor > 0 && editor < 150 * 1024, `${editor} bytes of scripts`);

    const session = await context.newCDPSession(page);
    await session.send("HeapProfiler.enable");
    const heap = async () => {
      await session.send("HeapProfiler.collectGarbage");
      const { nodes } = await session.send("Memory.getDOMCounters");
      return { bytes: (await session.send("Runtime.getHeapUsage")).usedSize, nodes };
    };
    const round = async () => {
      for (const view of ["Graph", "Matrix", "Raw JSON", "Specs", "Graph"]) {
        await page.getByRole("tablist", { name: "Views of the recipe" }).getByRole("tab", { name: view }).click();
      }
    };
    const runs = async (count: number) => {
      for (let turn = 0; turn < count; turn++) await runOnce(scene);
    };
    // Whatever is kept on purpose is there after the first rounds.
    for (let turn = 0; turn < 3; turn++) await round();
    await runs(2);
    const before = await heap();
    for (let turn = 0; turn < 10; turn++) await round();
    await runs(10);
    const after = await heap();
    console.log(
      `heap ${(before.bytes / 1e6).toFixed(1)} MB, then ${
        (after.bytes / 1e6).toFixed(1)
      } MB; nodes ${before.nodes}, then ${after.nodes}`,
    );
    assert.ok(after.bytes < before.bytes + 4e6, `The heap grew from ${before.bytes} to ${after.bytes} bytes`);
    assert.ok(after.nodes < before.nodes + 2000, `${after.nodes - before.nodes} nodes of the document stayed`);
  },
  { files: FILES, axe: false, preload: true },
);

browserTest("the labels of wires are over no block", async (scene) => {
  const { page, open, until } = scene;
  await open();
  await openFile(scene, "link");
  for (const step of ["modulator", "chan", "demodulator"]) {
    await page.locator(`.block[data-step="${step}"]`).click();
    await page.locator(`.block[data-step="${step}"][aria-pressed="true"]`).waitFor();
    await until(`(() => {
      const boxes = (selector) => [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
      const bodies = boxes(".graph .block .body");
      return boxes(".graph .wire-label").every((a) => bodies.every((b) =>
        a.right <= b.left + 1 || a.left >= b.right - 1 || a.bottom <= b.top + 1 || a.top >= b.bottom - 1));
    })()`);
  }
}, { files: FILES, axe: false });

browserTest(
  "on a laptop the graph has the height of a closed dock and whole names; at 200 % it is in sight",
  async (scene) => {
    const { page, open } = scene;
    await open();
    await openFile(scene, "image_jpeg_nr_ldpc_awgn");
    await page.getByText("No problems: the recipe is valid").waitFor();
    const heightOf = (selector: string) => page.locator(selector).evaluate((one) => one.getBoundingClientRect().height);
    await eventually(async () => assert.ok(await heightOf(".dock") < 50, `${await heightOf(".dock")}`));
    // 14 blocks beside 6 dots.
    const names = await page.locator(".graph .block:not(.dot) text[font-size]:not(.sub)").allTextContents();
    assert.deepEqual(names.filter((text) => text.endsWith("…")), [], names.join());
    assert.ok(names.includes("block LDPC encode") || names.includes("LDPC encode"), names.join());
    // The chosen tab opens the dock, and closes it again.
    const problems = page.getByRole("tab", { name: "Problems", exact: true });
    await problems.click();
    await page.getByRole("combobox", { name: "Check", exact: true }).waitFor();
    await problems.click();
    await page.getByRole("combobox", { name: "Check", exact: true }).waitFor({ state: "hidden" });
    await page.setViewportSize({ width: 720, height: 450 });
    await eventually(async () => {
      const top = await page.locator(".graph-canvas").evaluate((one) => one.getBoundingClientRect().top);
      assert.ok(top < 300, `The graph begins at ${top} of 450`);
    });
    const run = (await page.getByRole("button", { name: "Run", exact: true }).boundingBox())!;
    assert.ok(run.x + run.width <= 720, `Run ends at ${run.x + run.width}`);
    await checkWidth(scene, "the editor with a long recipe");
    await scene.shot("editor_laptop");
  },
  { viewport: { width: 1366, height: 768 } },
);
