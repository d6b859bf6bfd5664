/** The views beside the editor: templates, catalog, benchmarks, system. */
import assert from "node:assert/strict";
import { canonicalJson, parseJson, prettyJson } from "../../lib/contract/json.ts";
import { svc } from "../support/cli.ts";
import { browserTest, eventually } from "./browser.ts";

/** A link and a pack that runs it twice: as their authors write them. */
const link = (snrDb: string) =>
  `name: link_${snrDb[0]}_db
metadata:
  seed: 3
  research: { task: { id: bit_transport }, dataset: { id: synthetic_random_bits }, metrics: [channel.ber] }
steps:
  - { id: data, op: source.random_bits, params: { bit_count: 1000 } }
  - { id: modulator, op: modulation.digital_modulate, inputs: { bits: data.bits } }
  - { id: wireless_channel, op: wireless.channel, inputs: { symbols: modulator.symbols }, params: { snr_db: ${snrDb} } }
  - { id: demodulator, op: demodulation.digital_demodulate, inputs: { rx_symbols: wireless_channel.rx_symbols } }
  - { id: evaluation, op: metrics.bit_error_rate, inputs: { reference: data.bits, candidate: demodulator.bits } }
`;
const PACK = `schema_version: 1
id: tiny
version: "1"
name: Tiny
dataset: { id: synthetic_random_bits, modality: bits, version: synthetic_random_bits-v1 }
task: { id: bit_transport, kind: transport_integrity, modality: bits }
metrics: [channel.ber]
baselines: []
recipes:
  - { id: a, label: 0 dB, role: candidate, path: ../recipes/link_0.yaml, params: { method_id: qpsk } }
  - { id: b, label: 4 dB, role: candidate, path: ../recipes/link_4.yaml, params: { method_id: qpsk } }
`;

browserTest("the catalog shows a contract as the command line does", async ({ page, open, folder, shot }) => {
  await open("#/catalog");
  const search = page.getByRole("searchbox", { name: "Find" });
  await search.fill("repetition encoder");
  await page.getByRole("link", { name: "channel.repetition_encoder" }).waitFor();
  await page.getByRole("main").getByRole("status").filter({ hasText: /^\d of \d+$/ }).waitFor();
  assert.match(page.url(), /q=repetition\+encoder/);
  await page.getByRole("link", { name: "channel.repetition_encoder" }).click();
  const document = page.locator('[data-contract="channel.repetition_encoder"]');
  await document.waitFor();
  const { stdout } = await svc(["--project-root", folder, "--json", "ops", "show", "channel.repetition_encoder"]);
  const { schema_version: _, ...shown } = parseJson(stdout) as Record<string, never>;
  const { schema_version: __, ...onPage } = parseJson(await document.innerText()) as Record<string, never>;
  // Replies of a server are sorted by their keys; the command line has the order of the declaration.
  assert.equal(prettyJson(onPage), prettyJson(parseJson(canonicalJson(shown))));
  await shot("operation");
  await page.goBack();
  await search.waitFor();
  await eventually(async () => assert.equal(await search.inputValue(), "repetition encoder"));
});

browserTest(
  "the catalog has tasks, data sets, metrics, and kinds with makers and takers",
  async ({ page, open, shot }) => {
    await open("#/catalog/kinds?q=channel.llr.numpy");
    const row = page.getByRole("row", { name: /channel\.llr\.numpy/ });
    await row.getByRole("link", { name: "demodulation.digital_demodulate" }).first().waitFor();
    for (
      const [part, word] of [["Tasks", "bit_transport"], ["Datasets", "svc_sample_images"], ["Metrics", "channel.ber"]]
    ) {
      await page.getByRole("navigation", { name: "Parts of the catalog" }).getByRole("link", { name: part }).click();
      // Metrics fold by family, and a search opens what it finds.
      if (part === "Metrics") {
        const channel = page.locator("details", { hasText: word }),
          row = channel.getByRole("row", { name: /channel\.ber\b/ });
        await page.locator("summary", { hasText: /^Channel \d/ }).waitFor();
        assert.equal(await page.locator("details[open]").count(), 0);
        await page.getByRole("searchbox", { name: "Find" }).fill("channel.");
        await row.first().waitFor();
      } else await page.getByRole("row", { name: new RegExp(word) }).first().waitFor();
    }
    await shot("metrics");
  },
);

browserTest("the system view says what the doctor says", async ({ page, open, folder, shot }) => {
  await open("#/system");
  await page.locator("[data-check]").first().waitFor();
  const rows = await page.locator("[data-check]").evaluateAll((found) =>
    (found as unknown as { dataset: { check: string }; innerText: string }[]).map((
      { dataset, innerText },
    ) => [dataset.check, innerText])
  );
  const { json } = await svc(["--project-root", folder, "--json", "doctor"]);
  assert.deepEqual(rows.map(([id]) => id), json.checks.map(({ id }: { id: string }) => id));
  for (const { id, status } of json.checks) {
    assert.match(rows.find(([found]) => found === id)![1], new RegExp(`\\b${status}\\b`), id);
  }
  await page.getByRole("combobox", { name: "Density" }).selectOption("comfortable");
  await page.reload();
  await page.locator("[data-check]").first().waitFor();
  await page.locator('html[data-density="comfortable"]').waitFor();
  await shot("system");
});

browserTest(
  "a broken recipe of the project is told and not replaced by the built-in one",
  async ({ page, open, folder, shot }) => {
    await open("#/templates");
    const card = page.getByRole("article", { name: "Image codec over an ideal link" });
    await card.getByText("invalid", { exact: true }).waitFor();
    assert.equal(await card.getByRole("img").count(), 0, "a stored result is of the shipped recipe");
    await card.getByRole("button", { name: /^Details/ }).click();
    await page.getByRole("dialog").getByText("recipes/image_codec_default.yaml", { exact: true }).waitFor();
    await page.getByRole("dialog").getByText(/no\.such_operation/).first().waitFor();
    assert.equal(await page.getByRole("dialog").getByRole("button", { name: /^Replace/ }).count(), 0);
    await shot("templates_invalid");
    await page.keyboard.press("Escape");
    await Deno.remove(`${folder}/recipes/image_codec_default.yaml`);
    await page.getByRole("button", { name: "Refresh" }).click();
    await card.getByText("invalid", { exact: true }).waitFor({ state: "detached" });
    await card.getByRole("button", { name: /^Details/ }).click();
    await page.getByRole("dialog").getByText("built-in").waitFor();
  },
  { files: { "recipes/image_codec_default.yaml": "name: broken\nsteps:\n  - id: data\n    op: no.such_operation\n" } },
);

browserTest(
  "another template keeps what is the author's, and undo brings the old blocks back",
  async ({ page, open, until, shot }) => {
    await open();
    const graphSays = (word: string) => `document.querySelector(".graph")?.textContent.includes("${word}") === true`;
    await until(graphSays("JPEG"));
    await open("#/templates?q=text+over");
    await page.getByRole("button", { name: "Details of Text over an ideal link" }).click();
    await page.getByRole("dialog").getByRole("button", { name: /^Replace/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/blocks of the recipe replace/).waitFor();
    await shot("replace");
    await dialog.getByRole("button", { name: "Replace", exact: true }).click();
    await until(graphSays("UTF-8"));
    await until(`!(${graphSays("JPEG")})`);
    await page.getByRole("button", { name: "Undo" }).click();
    await until(graphSays("JPEG"));
    await until(`!(${graphSays("UTF-8")})`);
  },
  { axe: false },
);

browserTest(
  "a pack runs with a live matrix, and its result exports what the command line writes",
  async ({ page, open, folder, shot }) => {
    await open("#/benchmarks");
    await page.getByRole("link", { name: "Tiny" }).click();
    await page.getByText("valid", { exact: true }).waitFor();
    await page.getByRole("textbox", { name: "Replicates" }).fill("2");
    await page.getByRole("button", { name: "Run the pack" }).click();
    const rows = page.getByRole("group", { name: "Recipes" }).getByRole("row");
    await rows.filter({ hasText: /2 of 2 replicates/ }).nth(1).waitFor();
    await shot("pack");
    await page.getByRole("link", { name: "Open the result" }).click();
    await page.getByRole("heading", { name: "Measured values" }).waitFor();
    await page.getByRole("img", { name: /^Bit error rate over/ }).waitFor();
    const id = decodeURIComponent(page.url().split("/").at(-1)!);
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText("PASS").waitFor();
    const written = await svc(["--project-root", folder, "--json", "benchmark", "export", id]);
    assert.equal(written.code, 0, written.stderr);
    for (const name of written.json.files as string[]) {
      const coming = page.waitForEvent("download");
      await page.getByRole("button", { name, exact: true }).click();
      const path = await (await coming).path();
      assert.equal(await Deno.readTextFile(path), await Deno.readTextFile(`${written.json.directory}/${name}`), name);
    }
    await shot("result");
  },
  {
    files: { "recipes/link_0.yaml": link("0.0"), "recipes/link_4.yaml": link("4.0"), "benchmarks/tiny.yaml": PACK },
  },
);
