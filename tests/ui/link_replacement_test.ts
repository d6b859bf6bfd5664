/** Parts of a link are replaced on the page by clicks: codes, codecs, estimators and equalisers, each as a whole. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../lib/contract/value.ts";
import { browserTest, type Scene } from "./browser.ts";
import { drafted, field, openFile, press } from "./editor_scene.ts";

const textOf = (name: string) => Deno.readTextFileSync(new URL(`../../recipes/${name}.yaml`, import.meta.url));
const SHIPPED = ["image_jpeg_nr_ldpc_awgn", "channel_estimation_ls_awgn", "image_jpeg_ofdm"];
/** The turbo code with a sweep over parameters of its encoder and decoder. */
const SWEPT = textOf("bit_transport_turbo").replace(
  "      snr_db: [0.5, 1.0, 1.5, 2.0]\n    step_params:\n",
  `      snr_db: [0.5, 1.0, 1.5, 2.0]
      iterations: [1, 8]
      coded: [2048, 3072]
    step_params:
      decoder: {iterations: {matrix: iterations}}
      encoder: {coded_bits: {matrix: coded}}
`,
);
const FILES = Object.fromEntries([
  ...SHIPPED.map((name) => [`recipes/${name}.yaml`, textOf(name)]),
  ["recipes/bit_transport_turbo.yaml", SWEPT],
]);

type Step = { op: string; params?: JsonObject; inputs?: JsonObject };

const select = ({ page }: Scene, step: string) => page.locator(`.block[data-step="${step}"]`).click();

/** Presses a choice of the open dialog. */
const choose = ({ page }: Scene, name: string) =>
  page.getByRole("dialog").getByRole("button", { name: new RegExp(`^${RegExp.escape(name)}`) }).click();

/** The recipe of a draft once it has a piece of text, and its steps by id. */
async function recipeOf(scene: Scene, wanted: RegExp, name: string) {
  const recipe = JSON.parse(await drafted(scene, wanted, name));
  const steps: Record<string, Step> = Object.fromEntries(
    recipe.steps.map((one: Step & { id: string }) => [one.id, one]),
  );
  return { steps, matrix: recipe.metadata.matrix };
}

browserTest("codes, codecs, estimators and equalisers are replaced as a whole by clicks", async (scene) => {
  const { page, open } = scene;
  await open();

  // A code: encoder, decoder and the wire between them; what swept its lost parameters goes too, and is said.
  await openFile(scene, "bit_transport_turbo");
  await select(scene, "encoder");
  await press(scene, "Code …");
  await choose(scene, "repetition code");
  await page.getByRole("status").getByText("encoder.coded_bits is not swept by coded any more").waitFor();
  await page.getByRole("status").getByText("decoder.iterations is not swept by iterations any more").waitFor();
  await page.getByText("No problems: the recipe is valid").waitFor();
  const code = await recipeOf(scene, /repetition_decoder/, "bit_transport_turbo");
  assert.equal(code.steps.encoder.op, "channel.repetition_encoder");
  assert.equal(code.steps.decoder.op, "channel.repetition_decoder");
  assert.deepEqual(code.steps.decoder.inputs, { coded_bits: "demodulator.bits" });
  assert.deepEqual(code.matrix, {
    dimensions: { snr_db: [0.5, 1, 1.5, 2] },
    step_params: { channel: { snr_db: { matrix: "snr_db" } } },
  });

  // A codec: both sides, from either of them.
  await openFile(scene, "image_jpeg_nr_ldpc_awgn");
  await select(scene, "receiver");
  await press(scene, "Replace …");
  await choose(scene, "model.webp_encode");
  await page.getByText("No problems: the recipe is valid").waitFor();
  const { steps: codec } = await recipeOf(scene, /webp_decode/, "image_jpeg_nr_ldpc_awgn");
  assert.deepEqual([codec.sender.op, codec.receiver.op], ["model.webp_encode", "model.webp_decode"]);
  assert.equal(codec.sender.params?.quality, 75);
  assert.deepEqual(codec.receiver.inputs, { bits: "crc_check.bits" });

  // An estimator: another operation on the same wires.
  await openFile(scene, "channel_estimation_ls_awgn");
  await select(scene, "estimator");
  await press(scene, "Replace …");
  await choose(scene, "model.channel_estimator_adapter");
  const { steps: estimation } = await recipeOf(scene, /channel_estimator_adapter/, "channel_estimation_ls_awgn");
  assert.equal(estimation.estimator.op, "model.channel_estimator_adapter");
  assert.deepEqual(estimation.estimator.inputs, { problem: "pilot_observation.observation" });
  assert.deepEqual(estimation.evaluation.inputs, {
    estimate: "estimator.estimate",
    problem: "pilot_observation.truth",
  });

  // Estimators and equalisers of one operation: the method, of which the other parameters follow.
  await openFile(scene, "image_jpeg_ofdm");
  await select(scene, "equalizer");
  await press(scene, "Replace …");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("No other operation fits. A choice changes its method.").waitFor();
  await choose(scene, "method zf");
  assert.equal(await field(scene, "equalizer", "method").inputValue(), '"zf"');
  // What does not go with the other end says so, and what the server would refuse is no choice.
  await select(scene, "modulator");
  await press(scene, "Replace …");
  await dialog.getByRole("button", { name: /^modulation\.identity_modulate.*Cannot read the symbols/ }).waitFor();
  await page.keyboard.press("Escape");
  await select(scene, "waveform");
  await press(scene, "Replace …");
  await dialog.getByText(/^hardware\.envelope_clip: not here\. Cannot connect amplifier\.signal/).waitFor();
  await page.keyboard.press("Escape");
  await select(scene, "estimator");
  await field(scene, "estimator", "method").selectOption("least_squares");
  const { steps: ofdm } = await recipeOf(scene, /least_squares/, "image_jpeg_ofdm");
  assert.deepEqual([ofdm.equalizer.params?.method, ofdm.estimator.params?.method], ["zf", "least_squares"]);

  // With the pilots both go, and the demodulator reads the received symbols.
  await select(scene, "pilots");
  await press(scene, "Remove");
  const { steps: bare } = await recipeOf(scene, /^(?!.*ofdm_pilot_insert).*ofdm_receiver/s, "image_jpeg_ofdm");
  assert.deepEqual([bare.estimator, bare.equalizer], [undefined, undefined]);
  assert.deepEqual(bare.demodulator.inputs, { rx_symbols: "ofdm_receiver.rx_symbols" });
}, { files: FILES, axe: false });
