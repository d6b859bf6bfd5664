/** The training workbench, from any recipe to an exported project and its captured splits. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { parseJson } from "../../lib/contract/json.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { browserTest, eventually } from "./browser.ts";

const RECEIVER = "template:ai_phy.neural_receiver_demapping.adapter";
/** A joint code whose evaluation passes no gradients. */
const CODEC = (await Deno.readTextFile(join(ROOT_PATH, "recipes/recipe_starters/deepjscc_awgn.yaml"))).replace(
  / {2}- id: evaluation[\s\S]*$/,
  "  - {id: evaluation, op: metrics.image_delivery_status, inputs: {images: receiver.images}}\n",
);
const LINK = `name: small_link
metadata: { seed: 23 }
steps:
  - { id: data, op: source.random_bits, params: { bit_count: 32 } }
  - { id: modulator, op: modulation.digital_modulate, params: { modulation: qpsk }, inputs: { bits: data.bits } }
  - { id: wireless_channel, op: wireless.channel, inputs: { symbols: modulator.symbols } }
  - { id: receiver, op: demodulation.neural_receiver_adapter, inputs: { rx_symbols: wireless_channel.rx_symbols } }
  - { id: ber, op: metrics.bit_error_rate, inputs: { reference: data.bits, candidate: receiver.bits } }
`;

browserTest(
  "a block that cannot be replaced is disabled with its reason, and the export has both identities",
  async ({ page, open, until, folder, shot }) => {
    await open("#/training?of=file:recipes/small_link.yaml");
    await page.locator("[data-replaceable]").first().waitFor();
    await page.getByRole("checkbox", { name: "Train receiver", checked: true }).waitFor();
    for (const row of await page.locator('[data-replaceable="false"]').all()) {
      assert.equal(await row.getByRole("checkbox").isDisabled(), true);
      assert.match(await row.innerText(), /It (brings|measures|is the physics)|Its contract/);
    }
    await page.getByRole("checkbox", { name: "Train modulator", disabled: true }).waitFor();

    // The graph shows the route, and the sizes are there before anything is captured.
    const part = (id: string) => page.locator(`.graph .block[data-step="${id}"]`).getAttribute("data-state");
    await eventually(async () =>
      assert.deepEqual([await part("receiver"), await part("ber"), await part("data")], ["trained", "loss", null])
    );
    await page.locator('.graph .block[data-step="receiver"]').click();
    await page.locator('[data-part="trained"]').waitFor();
    await page.locator('[data-size="train"]').getByText(/800 records × \(.*16\].*\) = /).waitFor();

    // The plan has an identity of its own: what is captured changes it, and leaves the scenario's.
    const identity = (name: string) => page.locator(`[data-identity="${name}"]`).innerText();
    const before = [await identity("scenario"), await identity("plan")];
    await page.getByRole("textbox", { name: "Records" }).fill("10");
    await page.getByRole("textbox", { name: "Records" }).blur();
    await until(`document.querySelector('[data-identity="plan"]').textContent !== "${before[1]}"`);
    assert.equal(await identity("scenario"), before[0]);
    const identities = [await identity("scenario"), await identity("plan")];
    await shot("training");

    await page.getByRole("textbox", { name: "Project" }).fill("mine");
    await page.getByRole("button", { name: "Export", exact: true }).click();
    const project = page.locator('[data-project="training_projects/mine"]');
    await project.waitFor();
    const root = join(folder, ".svc/training_projects/mine");
    for (const file of ["training_contract.yaml", "project_manifest.yaml", "data_contract.yaml"]) {
      const text = await Deno.readTextFile(join(root, file));
      for (const digest of identities) assert.ok(text.includes(digest), file);
    }

    await project.getByRole("button", { name: "Capture test" }).click();
    await project.locator('[data-split="test"][data-state="captured"]').waitFor();
    await project.locator('[data-split="test"]', { hasText: /1 of 1/ }).waitFor();
    const schema = parseJson(await Deno.readTextFile(join(root, "data/test/schema.json"))) as Record<string, string>;
    assert.deepEqual([schema.scenario_sha256, schema.training_plan_sha256], identities);
    // A network that a trainer puts there is seen without a reload.
    await Deno.writeTextFile(join(root, "receiver.onnx"), "weights");
    await project.getByText("present", { exact: true }).waitFor();

    // The losses of a trainer, its checkpoint and its package appear as they are written.
    const lines = project.locator("ol[aria-label=Commands] li code"), store = join(folder, ".svc");
    await eventually(async () =>
      assert.deepEqual(await lines.allInnerTexts(), [
        `svc --workspace ${store} dataset-capture run ${root}`,
        `python3 ${root}/train.py`,
        `svc artifact package ${root} --out ${root}/package.zip`,
        `svc --workspace ${store} artifact import ${root}/package.zip`,
      ])
    );
    await Deno.writeTextFile(join(root, "curve.csv"), "epoch,train_loss,validation_loss\n1,0.7,0.6\n2,0.5,0.45\n");
    await Deno.writeTextFile(join(root, "checkpoint.pt"), "state");
    await project.getByText("2, best validation loss 0.45").waitFor();
    await project.locator("figure svg.marks").waitFor();
    await Deno.mkdir(join(root, "package"));
    const draft = await Deno.readTextFile(join(root, "trained_artifact.template.yaml"));
    await Deno.writeTextFile(join(root, "package/trained_artifact.template.yaml"), draft);
    await Deno.copyFile(
      join(ROOT_PATH, "recipes/models/qpsk-iq-receiver-v1/receiver.onnx"),
      join(root, "package/receiver.onnx"),
    );
    await project.getByText("exported", { exact: true }).waitFor();
    await project.getByRole("button", { name: "Package and import" }).click();
    await project.getByText("sealed", { exact: true }).waitFor();
    const sealed = await project.locator("[data-artifact]").getAttribute("data-artifact");
    await shot("training_project");
    await project.getByRole("button", { name: "Bind in small_link" }).click();
    await open("#/editor");
    await page.locator('.graph .block[data-step="receiver"]').waitFor();
    await page.locator('.graph .block[data-step="receiver"]').click();
    await until(`[...document.querySelectorAll("input, select")].some(({ value }) => value.includes("${sealed}"))`);
  },
  { files: { "recipes/small_link.yaml": LINK } },
);

browserTest(
  "both halves of a codec go together, an objective opens the routes, and a wrong tap is told at once",
  async ({ page, open, until, allow, shot }) => {
    await open("#/training?of=file:recipes/codec.yaml");
    const sender = page.getByRole("checkbox", { name: "Train sender" });
    await sender.waitFor();
    await eventually(async () => assert.equal(await page.locator('[data-open="false"]').count(), 2));
    await page.getByRole("combobox", { name: "Objective of the trainer" }).fill("image.mse");
    await until(`document.querySelectorAll('[data-open="true"]').length === 2`);
    await page.getByText("full gradient possible").waitFor();
    await shot("training_codec");
    await sender.uncheck();
    await page.getByRole("checkbox", { name: "Train receiver", checked: false }).waitFor();
    await page.getByText("Choose at least one block").waitFor();
    await page.getByRole("button", { name: "Export", exact: true, disabled: true }).waitFor();
    await sender.check();
    await page.getByRole("checkbox", { name: "Train receiver", checked: true }).waitFor();

    // The browser logs a refused request.
    allow(/400 \(Bad Request\)/);
    await page.getByRole("textbox", { name: "Name of tap 1" }).fill("not a name");
    await page.getByRole("textbox", { name: "Name of tap 1" }).blur();
    await page.getByRole("button", { name: "Export", exact: true }).click();
    await page.getByRole("alert").filter({ hasText: "as a tap's id" }).waitFor();
  },
  { files: { "recipes/codec.yaml": CODEC } },
);

browserTest(
  "any recipe can be derived from, and the plan of each outlives a reload",
  async ({ page, open, shot }) => {
    await open("#/training");
    const source = page.getByRole("combobox", { name: "Derive from" });
    await source.locator(`option[value="${RECEIVER}"]`).waitFor({ state: "attached" });
    await source.selectOption(RECEIVER);
    await page.getByRole("checkbox", { name: "Train demodulator" }).waitFor();
    await page.getByRole("textbox", { name: "Records" }).fill("50");
    await page.getByRole("textbox", { name: "Records" }).blur();
    await page.reload();
    await page.getByRole("checkbox", { name: "Train demodulator" }).waitFor();
    await eventually(async () => assert.equal(await page.getByRole("textbox", { name: "Records" }).inputValue(), "50"));
    await shot("training_template");
  },
);
