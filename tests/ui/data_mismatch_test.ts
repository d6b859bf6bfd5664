/** Artifacts that were made for other parameters than those of the block. */
import assert from "node:assert/strict";
import { browserTest, eventually } from "./browser.ts";
import { openFile } from "./editor_scene.ts";

browserTest("an artifact that was made for other parameters says so before it is chosen", async (scene) => {
  const { page, open, shot } = scene;
  await open();
  await openFile(scene, "receivers");
  const artifact = async (block: string) => {
    await page.locator(`.block[data-step="${block}"]`).click();
    await page.getByRole("button", { name: "Choose a trained artifact" }).click();
    const found = page.getByRole("region", { name: "Trained artifacts" }).getByRole("listitem").filter({
      hasText: "qpsk-iq-receiver-v1",
    });
    await found.getByText(/^Trained for /).waitFor();
    return found;
  };
  const other = await artifact("other");
  await other.getByText("Made for modulation qpsk, and this block has qam16").waitFor();
  await shot("data_artifact_mismatch");
  await page.getByRole("button", { name: "Choose a trained artifact" }).click();
  const fitting = await artifact("fitting");
  await eventually(async () => assert.equal(await fitting.getByText(/^Made for/).count(), 0));
}, {
  files: {
    "recipes/receivers.yaml": `name: receivers
metadata: {seed: 23}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 1000}}
  - {id: modulator, op: modulation.digital_modulate, params: {modulation: qpsk}, inputs: {bits: data.bits}}
  - {id: air, op: wireless.channel, params: {channel: awgn}, inputs: {symbols: modulator.symbols}}
  - {id: fitting, op: demodulation.neural_receiver_adapter, params: {modulation: qpsk}, inputs: {rx_symbols: air.rx_symbols}}
  - {id: other, op: demodulation.neural_receiver_adapter, params: {modulation: qam16}, inputs: {rx_symbols: air.rx_symbols}}
`,
  },
});
