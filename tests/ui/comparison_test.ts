/** A comparison of codes on the page: named methods, labels of one's own, Eb/N0, and axes that can be read. */
import assert from "node:assert/strict";
import { endedJob } from "../support/ended_job.ts";
import { browserTest, eventually, type Scene } from "./browser.ts";

/** A link with a code of two blocks, at two Es/N0. */
const link = (name: string, encoder: string, decoder: string) =>
  `schema_version: 1
name: ${name}
execution_profile: {id: custom, version: 1}
metadata:
  seed: 7
  matrix: {dimensions: {snr_db: [0.0, 2.0, 4.0]}, step_params: {chan: {snr_db: {matrix: snr_db}}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 2000}}
  - {id: encoder, ${encoder}, inputs: {bits: data.bits}}
  - {id: modulator, op: modulation.digital_modulate, params: {modulation: qpsk}, inputs: {bits: encoder.coded_bits}}
  - {id: chan, op: wireless.channel, inputs: {symbols: modulator.symbols}}
  - {id: demodulator, op: demodulation.digital_demodulate, inputs: {rx_symbols: chan.rx_symbols}}
  - {id: decoder, ${decoder}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: decoder.bits}}
  - id: resources
    op: channel.communication_resource_accounting
    inputs: {payload_bits: data.bits, framed_bits: data.bits, coded_bits: encoder.coded_bits, symbols: modulator.symbols}
`;
const FILES = {
  "recipes/plain.yaml": link(
    "plain",
    "op: channel.identity_encoder",
    "op: channel.identity_decoder, inputs: {coded_bits: demodulator.bits}",
  ),
  "recipes/repeated.yaml": link(
    "repeated",
    "op: channel.repetition_encoder, params: {factor: 3}",
    "op: channel.repetition_decoder, inputs: {coded_bits: demodulator.bits}",
  ),
};

/** The second link without accounting, and with other names of encoder and channel. */
const OTHER_NAMES = {
  ...FILES,
  "recipes/renamed.yaml": FILES["recipes/repeated.yaml"].replace(/ {2}- id: resources[^]*/, "").replace(
    "name: repeated",
    "name: renamed",
  )
    .replace("id: encoder", "id: code").replaceAll("encoder.", "code.").replace(
      "repetition_code.",
      "repetition_encoder.",
    )
    .replaceAll("chan.", "air.").replace("id: chan,", "id: air,").replace("{chan: {snr", "{air: {snr"),
};

/** Runs all variants of a recipe of the project. */
async function sweep({ url }: Scene, name: string): Promise<string[]> {
  const ask = async (path: string, body?: unknown) => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const reply = await fetch(`${url}${path}`, body === undefined ? undefined : init);
    assert.ok(reply.ok, `${path}: ${await reply.clone().text()}`);
    return await reply.json();
  };
  const { recipe } = await ask(`/api/recipe?path=recipes%2F${name}.yaml`);
  const { job_id } = await ask("/api/matrix-jobs", { recipe });
  const job = await endedJob(url, `run-jobs/${job_id}`);
  assert.equal(job.state, "completed");
  const { runs } = await ask("/api/runs?limit=100");
  return runs.filter((run: { recipe_name: string }) => run.recipe_name.startsWith(`${name}__`))
    .map(({ run_id }: { run_id: string }) => run_id);
}

browserTest("two codes are compared by name, over Es/N0 with a notice, and over Eb/N0", async (scene) => {
  const { page, open } = scene, runs = [...await sweep(scene, "plain"), ...await sweep(scene, "repeated")];
  assert.equal(runs.length, 6);
  await open(`#/compare?runs=${runs.join(",")}`);
  // A sweep opens on its curves.
  await page.locator(".chart-svg svg").waitFor();
  await page.getByRole("button", { name: "Curves", pressed: true }).waitFor();
  for (const name of ["identity", "repetition"]) await page.getByRole("button", { name, exact: true }).waitFor();
  await page.getByRole("note").getByText(/^The methods send 0\.667 to 2 information bits per symbol/).waitFor();
  await page.getByRole("combobox", { name: /^Over/ }).selectOption("channel.ebn0_db");
  await page.getByRole("img", { name: /over Eb\/N0 from −3\.01 to/ }).waitFor();
  assert.equal(await page.getByRole("note").count(), 0);
  await page.getByText("Labels of the methods").click();
  await page.getByLabel("Label of repetition").fill("Three copies");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Three copies", exact: true }).waitFor();
  await scene.checkAccessibility();
  await scene.shot("compare_codes");
  // The address keeps axis and label.
  await page.reload();
  await page.getByRole("button", { name: "Three copies", exact: true }).waitFor();

  await page.getByRole("button", { name: "Pivot" }).click();
  await page.getByRole("columnheader", { name: "repetition", exact: true }).waitFor();
  await page.getByRole("button", { name: "Parameters" }).click();
  const drawing = page.getByRole("img", { name: /^6 runs over 2 parameters/ });
  await drawing.waitFor();
  await eventually(async () => assert.equal(await drawing.locator(".axis-line").count(), 3));
  await page.getByText(/encoder\.op stands for .*decoder\.op.* too: they split these runs in the same way/).waitFor();
  await scene.shot("compare_axes");
}, { files: FILES });

browserTest("sweeps of recipes with other step names have their curves over one Es/N0", async (scene) => {
  const { page, open } = scene, runs = [...await sweep(scene, "plain"), ...await sweep(scene, "renamed")];
  await open(`#/compare?runs=${runs.join(",")}`);
  await page.getByRole("button", { name: "Curves", pressed: true }).waitFor();
  await page.getByRole("img", { name: /^Bit error rate over Es\/N0.*2 series, 6 points/s }).waitFor();
  for (const name of ["identity", "repetition"]) await page.getByRole("button", { name, exact: true }).waitFor();
  await page.getByText("2 steps stand beside steps of another name").click();
  await page.getByText("air of renamed as chan, code of renamed as encoder").waitFor();
  // The accounting of one recipe is missing: the axis that it would give is not offered, with the reason.
  await page.getByRole("note").getByText(/communication_resource_accounting.*is not in renamed\.$/).waitFor();
  assert.deepEqual(await page.getByRole("combobox", { name: /^Over/ }).locator("option").allTextContents(), ["Es/N0"]);
  await scene.shot("compare_other_names");
}, { files: OTHER_NAMES });

browserTest("variants of a recipe without a plain name are headed by their coordinates", async (scene) => {
  const { page, open } = scene;
  assert.deepEqual(await sweep(scene, "words"), [], "their names are ids");
  await open("#/runs");
  await page.getByRole("button", { name: "two words", exact: true }).click();
  for (const snr of [0, 2]) await page.getByRole("link", { name: `snr_db ${snr}`, exact: true }).waitFor();
  await page.getByRole("link", { name: "snr_db 4", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "two words__snr_db_4", exact: true }).waitFor();
  await page.getByRole("button", { name: "Open as recipe" }).click();
  await page.getByRole("tab", { name: /^two words__snr_db_4/, selected: true }).waitFor();
}, {
  files: { "recipes/words.yaml": FILES["recipes/plain.yaml"].replace("name: plain", "name: two words") },
  axe: false,
});
