/** The editor in a browser: selecting, editing, undoing, saving, the raw text, runs, the matrix. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { browserTest, eventually, watchFor } from "./browser.ts";
import {
  bundles,
  draft,
  drafted,
  draftIs,
  field,
  FILES,
  findText,
  LINK,
  openFile,
  openLink,
  press,
  REFUSED,
  replaceText,
  runState,
  summaryOf,
} from "./editor_scene.ts";

browserTest("blocks are selected by pointer, keys and outline, and all panels follow", async (scene) => {
  const { page, shot } = scene;
  await openLink(scene);
  const selected = (id: string) => page.locator(`.block[data-step="${id}"][aria-pressed="true"]`).waitFor();
  const heading = (name: string) =>
    page.getByRole("region", { name: "Inspector" }).getByRole("heading", { name }).waitFor();
  await page.locator('.block[data-step="modulator"]').click();
  await heading("Hard bit-to-symbol mapper");
  await page.locator('.block[data-step="modulator"]').focus();
  await page.keyboard.press("ArrowRight");
  await selected("chan");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Home");
  await selected("data");
  await page.keyboard.press("End");
  await selected("ber");
  await page.getByRole("navigation", { name: "Blocks" }).getByRole("button", { name: /\bdemodulator\b/ }).click();
  await selected("demodulator");
  // Edges are not drawn by hand: dragging from a block moves nothing and adds nothing.
  const wires = await page.locator(".wire").count(), before = await drafted(scene, /"name":"link"/);
  await page.locator('.block[data-step="data"]').hover();
  await page.mouse.down();
  await page.locator('.block[data-step="chan"]').hover();
  await page.mouse.up();
  await page.getByRole("navigation", { name: "Blocks" }).getByRole("button", { name: /\bber\b/ }).click();
  await selected("ber");
  assert.equal(await page.locator(".wire").count(), wires);
  assert.equal(await draft(scene), before);
  await shot("editor_selected");
}, { files: FILES });

browserTest("edits stay sparse and typed, are marked, and are taken back to the byte", async (scene) => {
  const { page } = scene;
  await openLink(scene);
  const original = await drafted(scene, /"name":"link"/);
  await page.locator('.block[data-step="chan"]').click();
  await field(scene, "chan", "snr_db").fill("1e-12");
  await drafted(scene, /"snr_db":1e-12/);
  // The channel awgn does not use it: it is folded away with others.
  await page.getByText(/^\d+ without effect under the chosen values/).click();
  await field(scene, "chan", "rx_antennas").fill("2");
  await drafted(scene, /"rx_antennas":2[,}]/);
  await field(scene, "chan", "channel").selectOption({ label: "flat_rayleigh" });
  await page.locator('.block[data-step="data"]').click();
  await field(scene, "data", "batch_size").fill("7");
  await page.getByRole("button", { name: "Reset bit_count to its default" }).click();
  const edited = await drafted(scene, /"params":\{"batch_size":7\}/);
  assert.doesNotMatch(edited, /bit_count|ui_state|selected/);
  await page.getByRole("checkbox", { name: /Modified only/ }).check();
  await eventually(async () => assert.equal(await page.locator(".inspector .field").count(), 1));
  const undo = page.getByRole("button", { name: "Undo" });
  for (let step = 0; step < 5; step++) await undo.click();
  await page.getByRole("button", { name: "Undo", disabled: true }).waitFor();
  await draftIs(scene, original);
  const redo = page.getByRole("button", { name: "Redo" });
  for (let step = 0; step < 2; step++) await redo.click();
  // Steps back and forth survive a reload.
  await drafted(scene, /"rx_antennas":2[,}]/);
  await page.reload();
  for (let step = 0; step < 2; step++) await undo.click();
  await page.getByRole("button", { name: "Undo", disabled: true }).waitFor();
  await draftIs(scene, original);
  for (let step = 0; step < 5; step++) await redo.click();
  await page.getByRole("button", { name: "Redo", disabled: true }).waitFor();
  await draftIs(scene, edited);
}, { files: FILES, axe: false });

browserTest("a wrong value is told at its field and in the list, and stands in the way of a run", async (scene) => {
  const { page, allow } = scene;
  allow(REFUSED);
  await openLink(scene);
  await page.locator('.block[data-step="chan"]').click();
  await field(scene, "chan", "snr_db").fill("inf");
  await page.getByText('Cannot use "inf" as a number').first().waitFor();
  await page.getByRole("button", { name: "Run", exact: true, disabled: true }).waitFor();
  await page.getByText("1 problem to fix first").waitFor();
  await page.locator('.block[data-step="data"]').click();
  await page.getByRole("tab", { name: /^Problems/ }).click();
  await page.getByRole("button", { name: "chan.snr_db" }).click();
  await page.locator("#param-chan-snr_db:focus").waitFor();
  await eventually(async () =>
    assert.equal(await field(scene, "chan", "snr_db").inputValue(), "inf", "What was typed is still there")
  );
  await field(scene, "chan", "snr_db").fill("3");
  await page.locator('.block[data-step="data"]').click();
  await field(scene, "data", "bit_count").fill("-5");
  await page.getByRole("button", { name: "data.bit_count" }).click();
  await page.locator('#param-data-bit_count[aria-invalid="true"]:focus').waitFor();
}, { files: FILES });

/** A recipe with a block that has values without use. */
const CODEC = `name: codec
steps:
  - id: scenes
    op: source.synthetic_scenes
  - id: encoder
    op: model.jpeg_encode
    inputs: { images: scenes.images }
`;

browserTest("a value that cannot be chosen is greyed, with its reason", async (scene) => {
  const { page } = scene;
  await scene.open();
  await openFile(scene, "codec");
  await page.locator('.block[data-step="encoder"]').click();
  const choice = (name: string) => page.locator(".method-choice").filter({ hasText: name });
  await choice("cpp_native").getByText("The native extension has no kernels for this operation").waitFor();
  assert.ok(await choice("cpp_native").getByRole("radio").isDisabled());
  await choice("python_numpy").getByRole("radio").check();
  await drafted(scene, /"data_plane_backend":"python_numpy"/, "codec");
}, { files: { "recipes/codec.yaml": CODEC } });

browserTest("a duplicate is a recipe of its own, and drafts survive a reload", async (scene) => {
  const { page } = scene;
  await openLink(scene);
  const original = await drafted(scene, /"name":"link"/);
  await page.getByRole("button", { name: "Duplicate" }).click();
  await page.getByRole("tab", { name: /^link_copy/ }).waitFor();
  await page.locator('.block[data-step="chan"]').click();
  await field(scene, "chan", "snr_db").fill("9");
  const copy = await drafted(scene, /"snr_db":9\.0/, "link_copy");
  assert.equal(await draft(scene), original);
  await page.reload();
  await page.getByRole("tab", { name: /^link_copy.*not saved/ }).click();
  await draftIs(scene, copy, "link_copy");
  await page.locator('.block[data-step="chan"]').click();
  await eventually(async () => assert.equal(await field(scene, "chan", "snr_db").inputValue(), "9.0"));
}, { files: FILES, axe: false });

browserTest("saving keeps comments, and a file that changed meanwhile is not written over", async (scene) => {
  const { page, folder, allow } = scene, path = join(folder, "recipes/link.yaml");
  allow(REFUSED);
  await openLink(scene);
  await page.locator('.block[data-step="chan"]').click();
  await field(scene, "chan", "snr_db").fill("4");
  const message = page.getByRole("region", { name: "Message" });
  // The file is written only once the page says that it is being saved.
  await page.route("**/api/recipe/save", async (route) => {
    await message.getByText("Saving recipes/link.yaml").waitFor();
    await route.continue();
  }, { times: 1 });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("tab", { name: "link", exact: true }).waitFor();
  await message.getByText("Saved as recipes/link.yaml").waitFor();
  assert.match(await Deno.readTextFile(path), /^# A study\n[^]*snr_db: 4\.0/);
  // While no block is selected: the file, its digest, and whether it has the last changes.
  await press(scene, "Close the block, show the recipe");
  const inspector = page.getByRole("region", { name: "Inspector" });
  await inspector.getByText("with all changes").waitFor();
  const digest = createHash("sha256").update(await Deno.readFile(path)).digest("hex");
  await inspector.locator(`code[title="${digest}"]`).waitFor();
  await page.getByRole("textbox", { name: "Description" }).fill("Of one's own");
  await inspector.getByText("before the last changes").waitFor();
  await press(scene, "Undo");
  await inspector.getByText("with all changes").waitFor();
  await page.locator('.block[data-step="chan"]').click();
  const theirs = (await Deno.readTextFile(path)).replace("snr_db: 4.0", "snr_db: 8.0");
  await Deno.writeTextFile(path, theirs);
  await field(scene, "chan", "snr_db").fill("5");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: /has other contents/ });
  await dialog.getByText("8.0").waitFor();
  await dialog.getByText("5.0").waitFor();
  await scene.checkAccessibility();
  assert.equal(await Deno.readTextFile(path), theirs);
  await dialog.getByRole("button", { name: "Overwrite the file" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.match(await Deno.readTextFile(path), /snr_db: 5\.0/);
  // Saving under the name of another file is a conflict too.
  await page.getByRole("button", { name: "Save as" }).click();
  await page.getByRole("textbox", { name: /File in recipes/ }).fill("other.yaml");
  await page.getByRole("dialog", { name: "Save as" }).getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("dialog", { name: /other.yaml has other contents/ }).getByRole("button", {
    name: "Cancel",
  }).click();
  assert.equal(await Deno.readTextFile(join(folder, "recipes/other.yaml")), LINK);
  // A file that was removed meanwhile is written again.
  await Deno.remove(path);
  await field(scene, "chan", "snr_db").fill("6.5");
  await press(scene, "Save");
  await page.getByRole("region", { name: "Message" }).getByText("Saved as recipes/link.yaml").waitFor();
  assert.match(await Deno.readTextFile(path), /snr_db: 6\.5/);
}, { files: { "recipes/link.yaml": `# A study\n${LINK}`, "recipes/other.yaml": LINK } });

browserTest("the raw text keeps what is broken, marks it, and adopts what is valid", async (scene) => {
  const { page, allow, folder, shot } = scene;
  allow(REFUSED);
  await openLink(scene);
  const raw = page.getByRole("tab", { name: /^Raw JSON/ }), text = page.locator(".cm-content");
  await raw.click();
  await text.click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("x");
  await page.locator(".cm-lintRange-error").waitFor();
  await shot("raw_broken");
  await page.getByRole("tab", { name: "Graph" }).click();
  await raw.click();
  await text.filter({ hasText: /^x\{/ }).waitFor();
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText(/^Not applied:/).waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  // An operation that is not there gets a suggestion, and a mark where it stands.
  await replaceText(scene, "wireless.channel", "wireless.chanel");
  await page.getByText(/Did you mean wireless\.channel/).waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  await replaceText(scene, "6.0", "7.5");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("Applied; no file was written").waitFor();
  assert.match(await drafted(scene, /"snr_db":7\.5/), /"snr_db":7\.5/);
  assert.equal(await Deno.readTextFile(join(folder, "recipes/link.yaml")), LINK);
  await page.getByRole("combobox", { name: "View" }).selectOption("effective");
  const readOnly = page.locator('.cm-content[aria-readonly="true"]');
  await readOnly.waitFor();
  await page.getByText("read only", { exact: true }).waitFor();
  await findText(scene, "carrier_frequency_ghz");
  await readOnly.getByText("carrier_frequency_ghz").first().waitFor();
  await page.getByRole("combobox", { name: "View" }).selectOption("difference");
  await page.getByRole("cell", { name: /carrier_frequency_ghz/ }).waitFor();
}, { files: FILES });

browserTest("a run shows its states on the graph and the numbers of its summary", async (scene) => {
  const { page, shot } = scene;
  await openLink(scene);
  const request = page.waitForRequest((one) => one.url().endsWith("/api/run-jobs") && one.method() === "POST");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  assert.match((await request).postData()!, /"execution":\{"parallel_workers":1,"use_plan_cache":true\}/);
  await runState(scene, "completed").waitFor();
  await page.locator('.block[data-state="completed"]').nth(4).waitFor();
  // The run ends on its result: headline with its counts, and the received symbols.
  await page.getByRole("tab", { name: "Results", selected: true }).waitFor();
  const cell = page.locator(".result .headline dd[title]");
  await cell.waitFor();
  await page.locator(".result .headline").getByText(/^\d+ of 2.?000$/).waitFor();
  await page.locator(".result .density canvas").waitFor();
  const summary = await summaryOf(scene, bundles(scene)[0]);
  const { metrics } = summary.steps.find(({ id }: { id: string }) => id === "ber");
  await eventually(async () => assert.equal(Number(await cell.getAttribute("title")), metrics["channel.ber"]));
  await page.locator('.block[data-step="data"]').click();
  await page.getByRole("button", { name: /First values/ }).click();
  await page.getByText(/^bits: [01], [01]/).waitFor();
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByRole("cell", { name: "job_completed" }).waitFor();
  // The states come back after a reload.
  await page.reload();
  await page.getByRole("tab", { name: /^link/, selected: true }).waitFor();
  await page.locator('.block[data-state="completed"]').nth(4).waitFor();
  await shot("editor_run");
}, { files: FILES });

browserTest(
  "parameters are swept from the form, too many variants are refused, and the matrix runs in order",
  async (scene) => {
    const { page, allow, shot } = scene;
    allow(REFUSED);
    await openLink(scene);
    const sweep = async (step: string, param: string, values: string) => {
      await page.locator(`.block[data-step="${step}"]`).click();
      await page.locator(".inspector").getByRole("button", { name: `Sweep ${param}`, exact: true }).click();
      const form = page.getByRole("form", { name: `Sweep ${param}` });
      await form.getByLabel(/^Values/).fill(values);
      await form.getByRole("button", { name: `Sweep ${param}` }).click();
    };
    await sweep("chan", "snr_db", "0:4:8");
    // The values stand in the place of the base value, which no run uses.
    await page.locator("output#param-chan-snr_db").getByText("0.0, 4.0, 8.0", { exact: true }).waitFor();
    await sweep("modulator", "modulation", "qpsk, qam16");
    await page.getByRole("tab", { name: "Matrix (6)" }).click();
    await page.getByText("6 variants").waitFor();
    const values = page.getByLabel("Values of snr_db");
    await values.fill("0:1:128");
    await values.press("Tab");
    await page.getByText("too many: shorten a dimension").waitFor();
    await page.getByText(/Cannot expand a matrix of 258 points/).first().waitFor();
    await page.getByRole("button", { name: "Run", exact: true, disabled: true }).waitFor();
    await values.fill("0:4:8");
    await values.press("Tab");
    await page.getByRole("checkbox", { name: "Choose variant 0" }).check();
    await page.getByRole("button", { name: "Run selected (1)" }).click();
    await page.getByText("1 of 6 variants completed", { exact: true }).waitFor();
    assert.equal(await page.getByRole("table").getByText("not run", { exact: true }).count(), 5);
    await page.getByRole("button", { name: "Run matrix (6)" }).click();
    // A variant with a verified run is not run again.
    await page.getByText("6 of 6 variants completed, 1 of them before").waitFor();
    await page.getByRole("img", { name: /Bit error rate over Es\/N0/ }).waitFor();
    assert.equal(bundles(scene).length, 6);
    // Few series stand in at most two lines below the plot, which has the whole width.
    const legend = page.locator('.chart[data-legend="below"] .chart-legend li');
    const tops = await legend.evaluateAll((entries) => entries.map((entry) => entry.getBoundingClientRect().top));
    assert.ok(tops.length >= 2 && new Set(tops).size <= 2, tops.join());
    await shot("matrix");
    // The result is the sweep, whose panel opens on demand; beside the graph it has the curve.
    await page.getByRole("tab", { name: "Results" }).click();
    const result = page.getByRole("tabpanel", { name: "Results" });
    await result.getByRole("group", { name: "Values of link" }).getByRole("row").nth(6).waitFor();
    assert.equal(await result.locator("img, svg:not(.sign), .sweep-line").count(), 0);
    await page.getByRole("tab", { name: "Graph", exact: true }).click();
    await result.getByText("6 of 6 variants completed").waitFor();
    await result.getByRole("img", { name: /Bit error rate over Es\/N0/ }).waitFor();
    await page.getByRole("tab", { name: "Matrix (6)" }).click();
    await page.getByRole("button", { name: "Open variant 1", exact: false }).first().click();
    await page.locator('.bar [role="tab"][aria-selected="true"]').getByText(/^link__/).waitFor();
  },
  { files: FILES },
);

browserTest("a sweep is one job that continues after a reload, drawn with intervals and bounds", async (scene) => {
  const { page, shot, url } = scene;
  await openLink(scene);
  const reopen = async () => {
    await page.reload();
    await page.getByRole("tab", { name: /^link/ }).click();
    await page.getByRole("tab", { name: "Matrix (8)" }).click();
  };
  await page.getByRole("tab", { name: "Matrix (8)" }).click();
  const posted = page.waitForRequest((request) => request.method() === "POST" && /-jobs$/.test(request.url()));
  const some = await watchFor(page, ".sweep-line span", /^[1-7] of 8 variants completed$/);
  await page.getByRole("button", { name: "Run matrix (8)" }).click();
  assert.match((await posted).url(), /\/api\/matrix-jobs$/);
  await some();
  const listed = page.waitForResponse((reply) =>
    new URL(reply.url()).pathname === "/api/run-jobs" && reply.request().method() === "GET"
  );
  await reopen();
  // It runs in the server, and its progress is found again, unless it has ended before the page was there.
  const { jobs: [found] } = await (await listed).json();
  if (found.state === "running") await page.getByRole("progressbar", { name: "Progress of the sweep" }).waitFor();
  await page.getByText("8 of 8 variants completed", { exact: true }).waitFor();
  await page.getByRole("img", { name: /Bit error rate over Es\/N0/ }).waitFor();
  const { jobs } = await (await fetch(`${url}/api/run-jobs`)).json();
  assert.deepEqual(jobs.map(({ kind, state }: { kind: string; state: string }) => [kind, state]), [[
    "matrix",
    "completed",
  ]]);
  assert.equal(bundles(scene).length, 8);
  // Rates have their interval; without an error in 4 000 000 bits there is a bound.
  await page.getByRole("cell", { name: /^0\.\d+ \[0\.\d+, 0\.\d+\]$/ }).first().waitFor();
  await page.getByRole("cell", { name: /^0 errors in .+ bits: BER at most / }).first().waitFor();
  await shot("sweep");
  // A reload after the end shows the same.
  await reopen();
  await page.getByText("8 of 8 variants completed", { exact: true }).waitFor();
  await page.getByRole("img", { name: /Bit error rate over Es\/N0/ }).waitFor();
}, {
  files: {
    "recipes/link.yaml": LINK.replace("bit_count: 100, batch_size: 20", "bit_count: 300000, batch_size: 20").replace(
      "ui_configured: true}",
      "ui_configured: true, matrix: {dimensions: {snr_db: [0.0, 3.0, 6.0, 9.0, 12.0, 15.0, 18.0, 21.0]}, " +
        "step_params: {chan: {snr_db: {matrix: snr_db}}}}}",
    ),
  },
});

browserTest("the panels below fold while a sweep runs, open on demand, and tell how it ended", async (scene) => {
  const { page } = scene;
  await openLink(scene);
  await page.getByRole("tab", { name: "Matrix (64)" }).click();
  // The info on seeds is a switch of the matrix, no problem.
  await page.getByRole("tab", { name: "Problems", exact: true }).waitFor();
  const same = page.getByRole("checkbox", { name: "Same noise in all variants" });
  await same.check();
  await drafted(scene, /"seed_namespace":"link"/);
  await same.uncheck();
  await drafted(scene, /^(?!.*seed_namespace)/);
  await page.getByRole("button", { name: "Run matrix (64)" }).click();
  await page.locator(".dock[data-quiet] .dock-body[hidden]").waitFor({ state: "attached" });
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByRole("tabpanel", { name: "Log" }).waitFor();
  assert.equal(await page.locator(".dock[data-quiet]").count(), 0);
  await page.getByRole("button", { name: "Cancel sweep" }).click();
  await page.getByRole("tabpanel", { name: "Results" }).getByText("canceled").first().waitFor();
}, {
  files: {
    "recipes/link.yaml": LINK.replace("bit_count: 100, batch_size: 20", "bit_count: 100000, batch_size: 20").replace(
      "ui_configured: true}",
      "ui_configured: true, matrix: {dimensions: {snr_db: [" +
        Array.from({ length: 64 }, (_, at) => (at / 4).toFixed(2)).join(", ") +
        "]}, step_params: {chan: {snr_db: {matrix: snr_db}}}}}",
    ),
  },
});

browserTest("the palette performs actions; beside Run stands what it needs", async (scene) => {
  const { page } = scene;
  await openLink(scene);
  const needs = page.locator(".needs");
  await needs.getByText(/^no estimate of time · [\d.]+ [kM]?B memory · [\d.]+ [kM]?B disk$/).waitFor();
  const act = async (name: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find" }).fill(name);
    await page.getByRole("option", { name: `Action ${name} link`, selected: true }).waitFor();
    await page.keyboard.press("Enter");
  };
  await page.getByRole("button", { name: "Run", exact: true, disabled: false }).waitFor();
  await act("Run");
  await runState(scene, "completed").waitFor();
  // The next run takes about as long as this one.
  await needs.getByText(/^about [\d.]+ s · /).waitFor();
  await act("Duplicate");
  await page.getByRole("tab", { name: /^link_copy/, selected: true }).waitFor();
}, { files: FILES });

browserTest("a failing block is marked, and what depends on it is not started", async (scene) => {
  const { page, shot } = scene;
  await openLink(scene);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await runState(scene, "failed").waitFor();
  await page.locator('.block[data-step="check"][data-state="failed"]').waitFor();
  await page.locator('.block[data-step="ber"][data-state="not started"]').waitFor();
  await page.locator(".dock .failure").getByRole("button", { name: "Show the block check" }).click();
  await page.locator('.block[data-step="check"][aria-pressed="true"], .block[data-step="check"].selected').waitFor();
  await shot("editor_failed");
}, {
  files: {
    "recipes/link.yaml": LINK
      .replace(
        "  - {id: ber,",
        "  - {id: check, op: channel.bit_boundary, params: {expected_bit_count: 3}, inputs: {bits: demodulator.bits}}\n  - {id: ber,",
      )
      .replace("candidate: demodulator.bits", "candidate: check.bits"),
  },
});

browserTest("on a narrow page the outline stands for the graph", async (scene) => {
  const { page, open } = scene;
  await open();
  await page.getByRole("navigation", { name: "Blocks" }).getByRole("button").first().waitFor();
  assert.ok(!await page.locator(".graph").isVisible());
  await eventually(async () =>
    assert.ok(
      await page.evaluate("document.documentElement.scrollWidth <= innerWidth"),
      "Nothing is wider than the page",
    )
  );
}, { viewport: { width: 390, height: 844 } });

browserTest(
  "panels are resized with the arrow keys and remember it; edits in two tabs are made in both",
  async (scene) => {
    const { page, newPage, url } = scene;
    await openLink(scene);
    const splitter = page.getByRole("separator", { name: "Height of the panels below" });
    const before = Number(await splitter.getAttribute("aria-valuenow"));
    await splitter.focus();
    await page.keyboard.press("ArrowUp");
    await page.reload();
    await page.locator(`[role=separator][aria-label^="Height"][aria-valuenow="${before + 16}"]`).waitFor();
    const second = await newPage();
    await second.goto(url);
    await page.getByText(/open in another tab/).waitFor();
    await second.getByText(/open in another tab/).waitFor();
    await second.locator('.block[data-step="data"]').click();
    await second.locator("#param-data-bit_count").fill("300");
    await drafted(scene, /"bit_count":300[,}]/);
    await page.locator('.block[data-step="chan"]').click();
    await field(scene, "chan", "snr_db").fill("2");
    await drafted(scene, /"bit_count":300[,}].*"snr_db":2\.0/);
    await second.getByRole("button", { name: "Undo", disabled: false }).click();
    await drafted(scene, /"bit_count":300[,}].*"snr_db":6\.0/);
    assert.equal(await field(scene, "chan", "snr_db").inputValue(), "6.0");
    await second.close();
    await page.getByText(/open in another tab/).waitFor({ state: "detached" });
  },
  { files: FILES, axe: false },
);
