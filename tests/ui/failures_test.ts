/** A failed run leads to its block and to what the checks found there; a message stays with the recipe that it is about. */
import assert from "node:assert/strict";
import { browserTest } from "./browser.ts";
import { LINK, openFile, press, REFUSED, runOnce, runState } from "./editor_scene.ts";

/** A code word of the 5G NR LDPC code at a repetition decoder: a run fails there, and the lint says why. */
const MISMATCH = `schema_version: 1
name: mismatch
execution_profile: {id: custom, version: 1}
metadata: {seed: 23, ui_configured: true, rate_count_fixed_point: modulator.symbols}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 400}}
  - id: encoder
    op: channel.nr_ldpc_encoder
    params: {transport_block_size_bits: 400, target_coderate: 0.5, num_bits_per_symbol: 2}
    inputs: {bits: data.bits}
  - {id: modulator, op: modulation.digital_modulate, params: {modulation: qpsk}, inputs: {bits: encoder.coded_bits}}
  - {id: chan, op: wireless.channel, params: {channel: awgn, snr_db: 0.0}, inputs: {symbols: modulator.symbols}}
  - {id: demodulator, op: demodulation.digital_demodulate, inputs: {rx_symbols: chan.rx_symbols}}
  - {id: coded_ber, op: metrics.bit_error_rate, inputs: {reference: encoder.coded_bits, candidate: demodulator.bits}}
  - {id: decoder, op: channel.repetition_decoder, inputs: {coded_bits: demodulator.bits}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: decoder.bits}}
`;
/** The first variant passes its check, the second fails. */
const SWEPT = LINK.replace("name: link", "name: swept")
  .replace(
    "ui_configured: true}",
    "ui_configured: true, matrix: {dimensions: {count: [2000, 3]}, step_params: {check: {expected_bit_count: {matrix: count}}}}}",
  )
  .replace(
    "  - {id: ber,",
    "  - {id: check, op: channel.bit_boundary, inputs: {bits: demodulator.bits}}\n  - {id: ber,",
  );

browserTest("a failed run names its block and the remedy, and shows no headline; so does its page", async (scene) => {
  const { page, open, shot } = scene;
  await open();
  await openFile(scene, "mismatch");
  const failed = await runOnce(scene, "failed");
  await page.getByRole("tab", { name: "Results" }).click();
  const card = page.locator(".failure");
  await card.getByText("decoder failed.").waitFor();
  await card.getByText("Use the decoder of channel.nr_ldpc_encoder").waitFor();
  await shot("failure_dock");
  // The coded error rate was measured before the failure: it stays in the table of metrics alone.
  await page.getByText("All metrics by step").waitFor();
  assert.equal(await page.locator(".headline").count(), 0);
  await press(scene, "Show the block decoder");
  await page.locator('.block[data-step="decoder"][aria-pressed="true"]').waitFor();

  await open(`#/runs/${failed.run_id}`);
  await card.getByText("Use the decoder of channel.nr_ldpc_encoder").waitFor();
  await page.getByRole("region", { name: "Metrics by step" }).waitFor();
  assert.equal(await page.locator(".headline").count(), 0);
  await shot("failure_run");
  await press(scene, "Open as recipe at decoder");
  await page.locator('.block[data-step="decoder"][aria-pressed="true"]').waitFor();
  assert.equal(await page.getByRole("tab", { name: /^mismatch/ }).count(), 2);
  await open("#/runs");
  await page.getByRole("link", { name: "mismatch" }).waitFor();
  assert.equal(await page.getByText("0.0", { exact: false }).filter({ hasText: "ber" }).count(), 0);
}, { files: { "recipes/mismatch.yaml": MISMATCH } });

browserTest("a failed sweep names its first failed variant; messages stay with their recipe", async (scene) => {
  const { page, open, shot } = scene;
  await open();
  await openFile(scene, "swept");
  await page.getByRole("tab", { name: /^Matrix/ }).click();
  await page.getByRole("button", { name: "Run matrix (2)", disabled: false }).click();
  const centre = page.getByRole("tabpanel", { name: "Matrix" });
  await centre.getByRole("link", { name: "Variant 1 failed" }).waitFor();
  await centre.getByText("check failed.").waitFor();
  await shot("failure_sweep");
  await page.getByRole("tab", { name: "Results" }).click();
  await page.locator(".dock").getByText("check failed.").waitFor();
  await runState(scene, "failed").waitFor();

  await openFile(scene, "link");
  await scene.route("**/api/run-jobs", (route) =>
    route.fulfill({
      status: 422,
      contentType: "application/problem+json",
      json: {
        code: "recipe_invalid",
        detail: "Cannot accept the recipe",
        diagnostics: [
          { severity: "error", code: "params_invalid", message: "Missing image_ids", path: "$", hint: null },
          { severity: "info", code: "seed_shared", message: "All points share a seed", path: "$", hint: null },
        ],
      },
    }));
  await page.getByRole("button", { name: "Run", exact: true, disabled: false }).click();
  const message = page.getByRole("alert").getByText("Cannot accept the recipe. Missing image_ids", { exact: true });
  await message.waitFor();
  await page.getByRole("tab", { name: /^swept/ }).click();
  await message.waitFor({ state: "detached" });
  await page.getByRole("tab", { name: /^link/ }).click();
  await message.waitFor();
}, { files: { "recipes/link.yaml": LINK, "recipes/swept.yaml": SWEPT }, allow: [REFUSED] });
