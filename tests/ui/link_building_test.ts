/** Links of recipes/ are built on the page from the empty one by clicks alone, which are counted. */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { readRecipeText } from "../../lib/recipe/read.ts";
import { isSampled } from "../support/sample.ts";
import { browserTest, type Scene } from "./browser.ts";
import { drafted } from "./editor_scene.ts";

/** Presses by their names; each is one click. */
function clicker({ page }: Scene) {
  let count = 0;
  const press = async (name: string | RegExp) => {
    count++;
    const dialog = page.getByRole("dialog");
    const within = await dialog.count() > 0 ? dialog : page;
    await within.getByRole("button", { name, exact: typeof name === "string" }).first().click();
  };
  return {
    press,
    /** Selects a block. */
    async block(step: string) {
      count++;
      await page.locator(`.block[data-step="${step}"]`).click();
    },
    /** Inserts an operation after a block. */
    async insert(step: string, op: string) {
      await this.block(step);
      await press("Insert after …");
      await press(new RegExp(`^${RegExp.escape(op)}`));
    },
    count: () => count,
  };
}

type Steps = { id: string; op: string; inputs?: JsonObject }[];

/** Operations and wires, by the place of a step among those of its operation: ids are the author's. */
function topology(recipe: JsonObject): string[] {
  const steps = recipe.steps as unknown as Steps;
  const nameOf = (id: string): string => {
    const step = steps.find((one) => one.id === id)!;
    return `${step.op}#${steps.filter(({ op }) => op === step.op).indexOf(step)}`;
  };
  return steps.flatMap(({ id, inputs }) => [
    nameOf(id),
    ...Object.entries(isObject(inputs) ? inputs : {}).map(([port, from]) => {
      const [step, output] = String(from).split(".");
      return `${nameOf(id)}.${port} <- ${nameOf(step)}.${output}`;
    }),
  ]).sort();
}

/** Each link with the code of the empty one, and what is inserted after which step. */
const LINKS: { recipe: string; code?: string; inserted: [after: string, op: string][] }[] = [
  { recipe: "qam_awgn", inserted: [] },
  { recipe: "bit_transport_turbo", code: "turbo code", inserted: [["turbo_decoder", "metrics.block_error_rate"]] },
  {
    recipe: "bit_transport_bch",
    code: "BCH code",
    inserted: [["demodulator", "metrics.bit_error_rate"]],
  },
  {
    recipe: "bit_transport_convolutional",
    code: "convolutional code",
    inserted: [
      ["convolutional_encoder", "channel.scrambler"],
      ["scrambler", "channel.block_interleaver"],
      ["descrambler", "metrics.mutual_information"],
      ["convolutional_decoder", "metrics.block_error_rate"],
    ],
  },
  {
    recipe: "bit_transport_concatenated",
    code: "Reed-Solomon code",
    inserted: [
      ["reed_solomon_encoder", "channel.convolutional_encoder"],
      ["reed_solomon_encoder", "channel.block_interleaver"],
    ],
  },
];

// The links differ by their blocks alone: the first and each third one is built every day.
for (const { recipe, code, inserted } of LINKS.filter((_, index) => isSampled(index, 3))) {
  browserTest(`the link of ${recipe} is built from the empty one by clicks`, async (scene) => {
    const { page } = scene, clicks = clicker(scene);
    await page.goto(scene.url);
    await clicks.press("Empty link");
    await page.locator('.block[data-step="bit_errors"]').waitFor();
    if (code !== undefined) {
      await clicks.press("Code …");
      await clicks.press(new RegExp(`^${code}`));
    }
    for (const [after, op] of inserted) await clicks.insert(after, op);
    // Three clicks for the link with its code, and three for each insertion.
    assert.equal(clicks.count(), (code === undefined ? 1 : 3) + 3 * inserted.length);
    const text = await Deno.readTextFile(new URL(`../../recipes/${recipe}.yaml`, import.meta.url));
    const wanted = topology(readRecipeText(text, { file: recipe }).value as JsonObject);
    await drafted(
      scene,
      new RegExp((inserted.at(-1)?.[1] ?? code?.split(" ")[0].toLowerCase() ?? "my_link").split(".").at(-1)!),
      "my_link",
    );
    await page.getByText("No problems: the recipe is valid").waitFor();
    assert.deepEqual(topology(JSON.parse(await drafted(scene, /steps/, "my_link"))), wanted);
  }, { axe: false });
}

browserTest(
  "images over a coded MIMO link, and a joint coder, are built from the empty link by clicks",
  async (scene) => {
    const { page } = scene, clicks = clicker(scene);
    const replace = async (step: string, choice: string) => {
      await clicks.block(step);
      await clicks.press("Replace …");
      await page.getByRole("dialog").locator("figure.edit-preview").waitFor();
      await clicks.press(new RegExp(`^${RegExp.escape(choice)}`));
    };
    const opsOf = async (wanted: RegExp) => {
      const { steps } = JSON.parse(await drafted(scene, wanted, "my_link")) as { steps: Steps };
      return steps.map(({ op }) => op.split(".")[1]);
    };
    await page.goto(scene.url);
    await clicks.press("Empty link");
    await clicks.press("Code …");
    await clicks.press(/^LDPC code/);
    await replace("data", "images as JPEG");
    await replace("channel", "2x2 MIMO-OFDM");
    assert.equal(clicks.count(), 9);
    assert.deepEqual(await opsOf(/mimo_detect/), [
      ...[
        "image_dataset",
        "jpeg_encode",
        "nr_ldpc_encoder",
        "digital_modulate",
        "ofdm_pilot_insert",
        "mimo_ofdm_channel",
      ],
      ...["ofdm_channel_estimator", "mimo_detect", "digital_demodulate", "nr_ldpc_decoder", "jpeg_decode"],
      ...["image_reconstruction", "bit_error_rate"],
    ]);
    await page.getByText("No problems: the recipe is valid").waitFor();
    // Three clicks more: a joint coder in place of JPEG, code and modulation.
    await replace("jpeg_encode", "images, source and channel coded jointly");
    assert.equal(clicks.count(), 12);
    const joint = await opsOf(/linear_analog_decode/);
    assert.ok(joint.includes("mimo_detect") && !joint.some((op) => /modulate|ldpc|jpeg/.test(op)), joint.join());
  },
  { axe: false },
);

browserTest("four clicks lead from the first page to the curve of a link of one's own", async (scene) => {
  const { page } = scene, clicks = clicker(scene);
  await page.goto(scene.url);
  await clicks.press("Empty link");
  await clicks.press("Code …");
  await clicks.press(/^repetition code/);
  await page.getByText("No problems: the recipe is valid").waitFor();
  await clicks.press("Run");
  await page.locator(".sweep-curve .chart-svg svg").waitFor();
  await page.getByText("5 of 5 variants completed").waitFor();
  assert.equal(clicks.count(), 4);
});
