/** Runs in a browser: the list, one run with all that it left, and runs beside each other. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { LONG } from "../support/long_recipe.ts";
import { browserTest, eventually, type Scene } from "./browser.ts";
import { post } from "./requests.ts";

const recipeFile = (name: string) => Deno.readTextFileSync(new URL(`../../recipes/${name}.yaml`, import.meta.url));

/** Random bits over a noisy channel: a second of work at most. */
const link = (snrDb: number, name = `link_${snrDb}`) => ({
  name,
  metadata: { seed: 5 },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 40_000 } },
    { id: "modulator", op: "modulation.digital_modulate", inputs: { bits: "data.bits" } },
    {
      id: "link",
      op: "wireless.channel",
      inputs: { symbols: "modulator.symbols" },
      params: { channel: "awgn", snr_db: snrDb },
    },
    { id: "demodulator", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "link.rx_symbols" } },
    {
      id: "evaluation",
      op: "metrics.bit_error_rate",
      inputs: { reference: "data.bits", candidate: "demodulator.bits" },
    },
  ],
});

const run = async ({ url }: Scene, recipe: unknown, execution = {}) =>
  (await post(url, "/api/recipe/run-payload", { recipe, execution })).run_id;

browserTest("runs behind a long sweep, whose variants are one row, are read too", async (scene) => {
  const { page, open, url } = scene;
  await run(scene, link(3, "older"));
  const { runs: [older] } = await (await fetch(`${url}/api/runs`)).json();
  const variants = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => {
      const name = `long__snr_db_${from + at}`;
      return { ...older, run_id: `20260101T000000Z_${name}`, recipe_name: name, matrix_recipe: "long" };
    });
  await scene.route("**/api/runs?*", async (route) => {
    const cursor = new URL(route.request().url()).searchParams.get("cursor");
    const pages: Record<string, unknown> = {
      first: { runs: variants(0, 100), next_cursor: "second" },
      second: { runs: variants(100, 500), next_cursor: "third" },
      third: { runs: [older], next_cursor: null },
    };
    await route.fulfill({ json: pages[cursor ?? "first"] });
  });
  await open("#/runs");
  await page.getByRole("link", { name: "Sweep of 500 runs" }).waitFor();
  await page.getByRole("link", { name: "older" }).waitFor();
}, { axe: false });

browserTest("the list says what to do when there is nothing, sieves, and leads to a comparison", async (scene) => {
  const { page, open } = scene;
  await open("#/runs");
  await page.getByText("No runs yet").waitFor();
  await scene.checkAccessibility();
  for (const snr of [1, 4, 7]) await run(scene, link(snr + 0.5));
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByRole("link", { name: "link_4.5" }).waitFor();

  await page.keyboard.press("/");
  await page.keyboard.type("link_7 state:completed");
  await page.getByText("1 of 3 runs").waitFor();
  assert.match(page.url(), /q=link_7/);
  await page.getByRole("searchbox", { name: "Filter" }).fill("mode:sequential cache:miss");
  await page.getByText(/^[1-3] of 3 runs|^3 runs/).waitFor();
  const filter = page.getByRole("searchbox", { name: "Filter" });
  for (const text of ["snr_db=7.5", "param.link.snr_db=7.5 link.channel=awgn"]) {
    await filter.fill(text);
    await page.getByText("1 run", { exact: true }).waitFor();
    await page.getByRole("link", { name: "link_7.5" }).waitFor();
    await filter.fill("state:completed");
    await page.getByText("3 runs", { exact: true }).waitFor();
  }
  await filter.fill("snr_db=9");
  await page.getByText("No run with snr_db=9 is stored.").waitFor();
  await filter.fill("snr_db<9");
  await page.getByText("a parameter is compared with = only").waitFor();
  await filter.fill("metric.ber>2");
  await page.getByText("No run matches the filter").waitFor();
  await page.getByRole("button", { name: "Show all runs" }).click();

  // Stars, tags, columns and views are kept beside the bundles and in the address.
  await page.getByRole("button", { name: /^Star .*link_4/ }).click();
  await page.getByRole("button", { name: /^Star .*link_4/, pressed: true }).waitFor();
  await page.getByRole("checkbox", { name: /Choose .*link_4/ }).check();
  await page.getByRole("textbox", { name: "Tag" }).fill("paper");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("button", { name: "Clear" }).click();
  await page.locator("summary", { hasText: "Columns" }).click();
  await page.getByRole("checkbox", { name: "Size" }).check();
  await page.getByRole("columnheader", { name: "Size" }).waitFor();
  await page.waitForURL(/columns=.*size/);
  // A menu closes by Escape, which leaves the focus at it, and when something else is pressed.
  const size = page.getByRole("checkbox", { name: "Size" });
  await page.keyboard.press("Escape");
  await size.waitFor({ state: "hidden" });
  await page.keyboard.press("Enter");
  await size.waitFor();
  await page.getByRole("heading", { level: 1, name: "Runs" }).click();
  await size.waitFor({ state: "hidden" });
  await page.getByRole("searchbox", { name: "Filter" }).fill("is:starred tag:paper");
  await page.getByText("1 of 3 runs").waitFor();
  await page.getByText("Save view").click();
  await page.getByRole("textbox", { name: "Name" }).fill("for the paper");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("link", { name: "All runs" }).click();
  await page.getByText("3 runs", { exact: true }).waitFor();
  await page.getByRole("link", { name: "for the paper" }).click();
  await page.getByText("1 of 3 runs").waitFor();
  await page.getByRole("columnheader", { name: "Size" }).waitFor();
  const kept = JSON.parse(await Deno.readTextFile(join(scene.folder, ".svc/run_marks.json")));
  assert.deepEqual(Object.values(kept.runs), [{ starred: true, tags: ["paper"], note: "" }]);
  await page.getByRole("link", { name: "All runs" }).click();

  // The variants of a sweep are one row that unfolds; chosen runs can be removed.
  await run(scene, link(2, "swept__snr_db_2.0"));
  await run(scene, link(8, "swept__snr_db_8.0"));
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByRole("img", { name: /^Bit error rate: .* to / }).waitFor();
  await page.getByRole("button", { name: "swept", exact: true }).click();
  await page.getByRole("link", { name: "snr_db 8.0" }).waitFor();
  await page.waitForURL(/open=swept/);
  await scene.checkAccessibility();
  await scene.shot("runs_sweep");
  const message = page.getByRole("region", { name: "Message" }),
    sweep = page.getByRole("button", {
      name: "swept",
      exact: true,
    });
  for (const verb of ["Prune", "Remove", "Remove"]) {
    await page.getByRole("checkbox", { name: "Choose all runs of swept" }).check();
    await page.getByRole("button", { name: verb, exact: true }).click();
    await message.getByText(new RegExp(`^${verb}d 2 runs, .+B$`)).waitFor();
    if (verb === "Remove") await sweep.waitFor({ state: "hidden" });
    await scene.checkAccessibility();
    await message.getByRole("button", { name: "Undo" }).click();
    await message.getByText("Put back 2 runs").waitFor();
    await sweep.waitFor();
  }
  const runsOf = async () => (await (await fetch(`${scene.url}/api/runs?fields=artifacts`)).json()).runs;
  assert.deepEqual(
    (await runsOf()).map(({ artifacts }: { artifacts: string }) => artifacts),
    Array(5).fill("complete"),
  );
  await page.getByRole("checkbox", { name: "Choose all runs of swept" }).check();
  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await sweep.waitFor({ state: "hidden" });
  await page.getByText("3 runs", { exact: true }).waitFor();

  await page.getByRole("checkbox", { name: /Choose .*link_1/ }).check();
  await page.getByRole("button", { name: "Compare", exact: true, disabled: true }).waitFor();
  await page.getByRole("checkbox", { name: /Choose .*link_7/ }).check();
  await scene.shot("runs_list");
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Compare" }).waitFor();
  await page.getByRole("rowheader", { name: "link.snr_db" }).waitFor();
});

browserTest(
  "three runs: only differences, deltas by direction, a curve, a pivot; the address holds the view",
  async (scene) => {
    const { page, open } = scene;
    const ids = [
      await run(scene, link(2.5)),
      await run(scene, link(5.5)),
      await run(scene, link(8.5), { parallel_workers: 2 }),
    ];
    await open(`#/compare?runs=${ids.join(",")}&view=table`);
    await page.getByText("their worker counts differ").waitFor();
    await page.getByRole("rowheader", { name: "link.snr_db" }).waitFor();
    assert.equal(await page.getByRole("rowheader", { name: "data.bit_count" }).count(), 0);
    const ber = page.getByRole("row", { name: /^Bit error rate/ });
    await eventually(async () => assert.match(await ber.innerText(), /better/));
    await page.getByRole("button", { name: new RegExp(`Baseline\\s*${ids[2]}`) }).click();
    await page.waitForURL(/base=/);
    await eventually(async () => assert.match(await ber.innerText(), /worse/));
    await page.getByRole("checkbox", { name: "Only differences" }).uncheck();
    await page.getByRole("rowheader", { name: "data.bit_count" }).waitFor();
    await scene.checkAccessibility();
    await scene.shot("compare_table");

    await page.getByRole("button", { name: "Curves" }).click();
    await page.locator(".chart-svg svg").waitFor();
    const sentence = /3 points: Bit error rate from .* over Es\/N0 from 2.5 to 8.5 dB; 1 theory curve/;
    await page.locator("figcaption", { hasText: sentence }).waitFor();
    const crosshair = page.getByRole("slider", { name: /^Crosshair of Bit error rate/ });
    await crosshair.press("Home");
    await crosshair.press("ArrowRight");
    await eventually(async () =>
      assert.match(
        await crosshair.getAttribute("aria-valuetext") ?? "",
        /^Es\/N0 5\.5 dB: Bit error rate 0\.0\d+, Theory: QPSK, AWGN 0\.0298\d?$/,
      )
    );
    await page.locator(".chart-value", { hasText: /^0\.0\d+$/ }).first().waitFor();
    const theory = page.getByRole("button", { name: "Theory: QPSK, AWGN" });
    await theory.click();
    await page.getByRole("button", { name: "Theory: QPSK, AWGN", pressed: false }).waitFor();
    await scene.until("!document.querySelector('figcaption').textContent.includes('theory')");
    await page.getByRole("button", { name: "Show all" }).click();
    const box = (await page.locator(".plot-tools").boundingBox())!;
    await page.mouse.move(box.x + 0.4 * box.width, box.y + 0.2 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.7 * box.width, box.y + 0.6 * box.height, { steps: 3 });
    await page.mouse.up();
    await page.getByRole("button", { name: "Reset zoom" }).click();
    await page.getByRole("button", { name: "Reset zoom" }).waitFor({ state: "hidden" });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "SVG" }).click(),
    ]);
    // The palette saves the figure too.
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find" }).fill("Save figure as PDF");
    await page.getByRole("option", { name: /^Action Save figure as PDF/, selected: true }).waitFor();
    const [printed] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
    assert.match(printed.suggestedFilename(), /\.pdf$/);
    const pdf = new TextDecoder("latin1").decode(await Deno.readFile((await printed.path())!));
    assert.match(pdf, /^%PDF-1\.[^]*\/FontFile2[^]*%%EOF\s*$/);
    const svg = await Deno.readTextFile((await download.path())!);
    assert.match(svg, /^<svg/);
    assert.match(svg, /Theory: QPSK, AWGN/);
    for (const id of ids) assert.ok(svg.includes(id), "the file names its runs");
    await page.getByRole("button", { name: "Table", exact: true }).last().click();
    const rows = page.getByRole("group", { name: /Table of/ }).getByRole("row");
    await eventually(async () => assert.equal(await rows.count(), 4));
    await scene.checkAccessibility();

    await page.getByRole("button", { name: "Pivot" }).click();
    await page.getByRole("rowheader", { name: "5.5" }).waitFor();
    const [latex] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save LaTeX" }).click(),
    ]);
    const text = await Deno.readTextFile((await latex.path())!);
    assert.match(text, /\\toprule[^]*\\midrule[^]*\\bottomrule/);
    // What is shared is seen by who opens the address, and Back leads to where it came from.
    const shared = await scene.newPage();
    await shared.goto(page.url());
    await shared.getByRole("rowheader", { name: "5.5" }).waitFor();
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    await page.goBack();
    await page.getByRole("rowheader", { name: "5.5" }).waitFor();
  },
);

browserTest(
  "one run: metrics, rates, graph, constellation, recipe, plan, reproduction, and the tabs by keyboard",
  async (scene) => {
    const { page, open } = scene;
    const id = await run(scene, link(6.5));
    await open(`#/runs/${id}`);
    await page.locator(".headline").getByText(/ of 40.?000$/).waitFor();
    const row = page.getByRole("row", { name: /^Bit error rate/ });
    await eventually(async () => assert.match(await row.innerText(), /\[.*\]|±/, "an interval beside the value"));
    await scene.checkAccessibility();

    await page.getByRole("tab", { name: "Summary" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.locator(".graph .block").first().waitFor();
    await page.getByRole("tab", { name: "Graph", selected: true }).waitFor();

    await page.getByRole("tab", { name: "Signals" }).click();
    const canvas = page.locator(".density canvas");
    await canvas.waitFor();
    await page.waitForFunction(() => document.querySelector<HTMLElement>(".density canvas")?.dataset.paintMs);
    await page.locator(".chart-svg svg").first().waitFor();
    await scene.checkAccessibility();
    await scene.shot("run_media");

    await page.getByRole("tab", { name: "Recipe" }).click();
    await page.getByRole("button", { name: "difference" }).click();
    await page.getByRole("cell", { name: /params/ }).first().waitFor();
    await page.getByRole("tab", { name: "Plan" }).click();
    await page.getByRole("cell", { name: "metrics.bit_error_rate" }).waitFor();
    await page.getByRole("tab", { name: "Provenance" }).click();
    await page.getByRole("button", { name: "Reproduce" }).click();
    await page.getByText("identical", { exact: true }).waitFor();
    await scene.checkAccessibility();
    await page.getByRole("tab", { name: "Log" }).click();
    await page.waitForURL(/\/log$/);
    await page.getByRole("button", { name: "Re-run" }).click();
    await page.waitForURL((address) => !address.href.includes(id));
    await page.getByRole("button", { name: "Open as recipe" }).click();
    await page.waitForURL(/#\/editor/);
    await page.getByRole("heading", { level: 1, name: "Editor" }).first().waitFor({ state: "attached" });
  },
);

browserTest("artifacts: the file that is saved has its digest, and tampering is found", async (scene) => {
  const { page, open, folder } = scene;
  const id = await run(scene, link(6.5));
  await open(`#/runs/${id}/artifacts`);
  await page.getByRole("button", { name: /^Preview\s*of data\.bits/ }).click();
  await page.getByText("equal", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText("valid", { exact: true }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: /^Download\s*data\.bits/ }).click(),
  ]);
  const bytes = await Deno.readFile((await download.path())!);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  const { summary } = await (await fetch(`${scene.url}/api/runs/${id}`)).json();
  assert.equal(digest, summary.steps[0].outputs.bits.sha256);

  const file = join(folder, ".svc", summary.steps[0].outputs.bits.path);
  bytes[bytes.length - 1] ^= 1;
  await Deno.chmod(file, 0o644);
  await Deno.writeFile(file, bytes);
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText(/^invalid/).waitFor();
  const outside = await fetch(`${scene.url}/api/artifact?path=${encodeURIComponent("runs/../../secret")}`);
  assert.equal(outside.status, 403);
  await outside.body?.cancel();
});

browserTest("pictures: split by keyboard, difference with gain, and the PSNR of the report", async (scene) => {
  const { page, open } = scene;
  const { run_id: id } = await post(scene.url, "/api/recipe/run", { path: "recipes/pictures.yaml" });
  await open(`#/runs/${id}/signals`);
  const measured = page.locator("[data-psnr]");
  await measured.waitFor();
  const { summary } = await (await fetch(`${scene.url}/api/runs/${id}`)).json();
  const evaluation = summary.steps.find((step: { op: string }) => step.op === "metrics.image_reconstruction");
  const report = await (await fetch(
    `${scene.url}/api/artifact?download=1&path=${encodeURIComponent(evaluation.outputs.report.path)}`,
  )).json();
  await eventually(async () => {
    const shown = Number(await measured.getAttribute("data-psnr"));
    assert.ok(Math.abs(shown - report.items[0].metrics["quality.psnr_db"]) < 0.01, String(shown));
  });

  await page.getByRole("button", { name: "split" }).click();
  const split = page.getByRole("slider", { name: /^Split/ });
  await split.focus();
  await page.keyboard.press("ArrowRight");
  await page.locator('[role=slider][aria-label^="Split"][aria-valuenow="52"]').waitFor();
  await page.keyboard.press("End");
  await page.locator('[role=slider][aria-label^="Split"][aria-valuenow="100"]').waitFor();
  await page.getByRole("button", { name: "difference" }).click();
  await page.getByRole("slider", { name: /Gain/ }).press("ArrowRight");
  await page.getByText(/, 5 times/).waitFor();
  await scene.shot("run_pictures");
  await page.getByRole("tab", { name: "Summary" }).click();
  await page.getByText(/payload bits became/).waitFor();
  await scene.shot("run_summary");
}, { files: { "recipes/pictures.yaml": recipeFile("quickstart") } });

browserTest("texts: words that were lost and added are marked", async (scene) => {
  const { page, open } = scene;
  const { run_id: id } = await post(scene.url, "/api/recipe/run", { path: "recipes/text.yaml" });
  await open(`#/runs/${id}/signals`);
  await page.locator(".text-diffs ins", { hasText: "[MASK]" }).first().waitFor();
  await page.locator(".text-diffs del").first().waitFor();
  await scene.shot("run_texts");
}, { files: { "recipes/text.yaml": recipeFile("text_semantic_utf8_source_perturbation") } });

browserTest("more than a thousand runs: the first rows at once, only those in sight in the document", async (scene) => {
  const { page, open, folder } = scene;
  const id = await run(scene, link(6.5, "many"));
  const source = join(folder, ".svc", "runs", id);
  const [summary, manifest] = ["summary.json", "manifest.json"].map((name) =>
    Deno.readTextFileSync(join(source, name))
  );
  const time = (index: number) => new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString();
  for (let index = 0; index < 1100; index++) {
    const copy = `${time(index).slice(0, 19).replaceAll(/[-:]/g, "")}Z_many_${index}`;
    Deno.mkdirSync(join(folder, ".svc", "runs", copy));
    const made = (text: string) =>
      text.replaceAll(id, copy).replace(/"created_at_utc":\s*"[^"]*"/, `"created_at_utc": "${time(index)}"`);
    Deno.writeTextFileSync(join(folder, ".svc", "runs", copy, "summary.json"), made(summary));
    Deno.writeTextFileSync(join(folder, ".svc", "runs", copy, "manifest.json"), made(manifest));
  }
  await open("#/runs");
  await page.getByRole("table", { name: "Runs" }).waitFor();
  assert.ok(await page.locator(".virtual-body .virtual-row").count() < 80);
  await page.getByRole("searchbox", { name: "Filter" }).fill("many_10");
  // many_10, many_100 … many_109, many_1000 … many_1099.
  await page.getByText("111 of 1101 runs").waitFor();
  await page.getByRole("searchbox", { name: "Filter" }).fill("");
  await page.getByText(/^1101 runs/).waitFor();
  await page.locator(".virtual").evaluate((list) => list.scrollTop = list.scrollHeight);
  await page.locator(".virtual a", { hasText: "many" }).first().waitFor();
  assert.ok(await page.locator(".virtual-body .virtual-row").count() < 80);
});

browserTest("a running job is shown on top, is canceled, and its run says so", async (scene) => {
  const { page, open } = scene;
  await open("#/runs");
  await post(scene.url, "/api/run-jobs", { recipe: LONG });
  const running = page.getByRole("region", { name: "Running and queued" });
  await running.getByText("long", { exact: true }).waitFor();
  await running.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("table", { name: "Runs" }).getByText("canceled").waitFor();
});

browserTest("a phone's width and forced colours: everything can be reached", async (scene) => {
  const { page, open } = scene;
  const id = await run(scene, link(6.5));
  for (const part of ["", "/signals", "/artifacts", "/provenance"]) {
    await open(`#/runs/${id}${part}`);
    await page.getByRole("tabpanel").waitFor();
    await scene.until(`document.querySelector("#main [aria-busy=true]") === null`);
    await eventually(async () => {
      const overflow = await page.evaluate(() => {
        const main = document.getElementById("main")!;
        return main.scrollWidth - main.clientWidth;
      });
      assert.ok(overflow <= 1, `${part || "summary"} is ${overflow} px too wide`);
    });
    await scene.checkAccessibility();
  }
  await scene.shot("run_phone");
  await open("#/runs");
  const list = page.getByRole("table", { name: "Runs" });
  await list.getByText(/Bit error rate/).waitFor();
  // Name, state and value are whole.
  const cut = await list.evaluate((table) => ({
    over: table.scrollWidth - table.clientWidth,
    cells: [...table.querySelectorAll('.virtual-body [role="cell"]')].filter((cell) => {
      const { left, right } = cell.getBoundingClientRect();
      return right > innerWidth || left < 0;
    }).length,
    state: table.querySelector(".virtual-body .state")!.textContent,
  }));
  assert.deepEqual(cut, { over: 0, cells: 0, state: "completed" });
}, { viewport: { width: 390, height: 844 }, forcedColors: "active" });

browserTest("a rate is listed with its interval, and no error in 40,000 bits as a bound", async (scene) => {
  const { page, open, url } = scene;
  await run(scene, link(20, "quiet"));
  await run(scene, link(2, "noisy"));
  await open("#/runs");
  await page.getByRole("row", { name: /noisy/ }).getByText(/ 0\.1\d+ \[0\.10\d+, 0\.1\d+\]$/).waitFor();
  await page.getByRole("row", { name: /quiet/ }).getByText("at most 7.5×10⁻⁵").waitFor();
  const [plain] = (await (await fetch(`${url}/api/runs`)).json()).runs;
  assert.deepEqual([plain.metrics, plain.intervals], [undefined, undefined]);
});

browserTest("signals stand beside each other, and the list fits a phone that is turned", async (scene) => {
  const { page, open } = scene, id = await run(scene, link(6));
  await open(`#/runs/${id}/signals`);
  const boxOf = async (name: string) => (await page.getByRole("region", { name, exact: true }).boundingBox())!;
  await page.getByRole("region", { name: "Soft values", exact: true }).waitFor();
  await eventually(async () => {
    const [symbols, soft] = [await boxOf("Symbols"), await boxOf("Soft values")];
    assert.ok(soft.y === symbols.y && soft.x >= symbols.x + symbols.width, JSON.stringify([symbols, soft]));
  });
  await open("#/runs");
  const heads = () => page.getByRole("table", { name: "Runs" }).getByRole("columnheader").allTextContents();
  await eventually(async () => assert.ok((await heads()).includes("Duration")));
  await page.setViewportSize({ width: 390, height: 844 });
  await eventually(async () => assert.ok(!(await heads()).includes("Duration"), String(await heads())));
  await page.getByText("completed", { exact: true }).waitFor();
});
