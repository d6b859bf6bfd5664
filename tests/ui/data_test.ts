/** The data page: folders, thumbnails, curves, lines, a manifest with one click, and its use in the open recipe. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { ROOT_PATH } from "../support/paths.ts";
import { browserTest, COUNT_SHIFTS, eventually, type Scene } from "./browser.ts";
import { openFile, runOnce } from "./editor_scene.ts";

const SAMPLES = new URL("../../recipes/samples/", import.meta.url);
const CHANNELS = new URL("../../benchmarks/validation/recipes/field_two_paths.npz", import.meta.url);
const FILES = {
  "recipes/mine.yaml":
    "name: mine\ndescription: A link of my own\nsteps:\n  - { id: photos, op: source.image_dataset, params: { dataset: svc_sample_images, image_ids: camera } }\n",
  "texts.jsonl": '{"text": "The first sentence"}\n{"text": "The second sentence"}\n',
  "radio/tone.sigmf-meta": JSON.stringify({
    global: { "core:datatype": "ci8", "core:sample_rate": 1e6, "core:version": "1.2.0" },
    captures: [{ "core:sample_start": 0 }],
    annotations: [],
  }),
};

/** Images, a recording and channels of a project. */
async function addData(folder: string): Promise<void> {
  await Deno.mkdir(join(folder, "photos"));
  await Deno.copyFile(new URL("camera.png", SAMPLES), join(folder, "photos/camera.png"));
  await Deno.copyFile(CHANNELS, join(folder, "radio/channels.npz"));
  const tone = Int8Array.from({ length: 8192 }, (_, i) => 100 * (i % 2 === 0 ? Math.cos : Math.sin)(0.5 * (i >> 1)));
  await Deno.writeFile(join(folder, "radio/tone.sigmf-data"), new Uint8Array(tone.buffer));
}

/** Whether a field of the page has a value. */
const holds = async ({ page }: Scene, value: string) =>
  assert.ok(await page.evaluate(`[...document.querySelectorAll("input")].some(({ value }) => value === "${value}")`));

browserTest("images of a folder become the source of the open recipe in four clicks", async (scene) => {
  const { page, open, folder, shot } = scene;
  await addData(folder);
  await page.addInitScript(COUNT_SHIFTS);
  await open("#/templates");
  await page.getByRole("article", { name: "A link of my own" }).getByRole("button").first().click();
  await page.locator(".graph .block").first().waitFor();
  let clicks = 0;
  const click = async (role: "link" | "button", name: string) => {
    await page.getByRole(role, { name, exact: true }).click();
    clicks++;
  };
  await click("link", "Data");
  await click("link", "photos/");
  await page.getByRole("list", { name: "Images" }).locator("img").waitFor();
  await shot("data_images");
  const shift = await page.evaluate("globalThis.shift") as number;
  assert.ok(shift < 0.02, String(shift));
  await click("button", "Make the manifest");
  await page.getByRole("link", { name: "manifest.json" }).waitFor();
  await click("button", "Use in mine");
  assert.equal(clicks, 4);
  await page.locator(".graph .block").first().waitFor();
  const manifest = await Deno.readFile(join(folder, "photos/manifest.json"));
  const sha256 = new Uint8Array(await crypto.subtle.digest("SHA-256", manifest)).toHex();
  await eventually(() => holds(scene, "photos/manifest.json"));
  await holds(scene, sha256);
}, { files: FILES });

browserTest("a folder with a damaged image names it, and makes its manifest without it", async (scene) => {
  const { page, open, folder, shot, allow } = scene;
  allow(/status of 400/);
  await addData(folder);
  await Deno.writeTextFile(join(folder, "photos/broken.png"), "no image");
  await open("#/data/photos");
  await page.getByRole("button", { name: "Make the manifest" }).click();
  await page.getByText("broken.png: Cannot read the image: it is neither PNG nor JPEG", { exact: true }).waitFor();
  await shot("data_unreadable");
  await page.getByRole("button", { name: "Leave out what cannot be read" }).click();
  await page.getByRole("link", { name: "manifest.json" }).waitFor();
  const { samples } = JSON.parse(await Deno.readTextFile(join(folder, "photos/manifest.json")));
  assert.deepEqual(samples.map(({ path }: { path: string }) => path), ["camera.png"]);
}, { files: FILES });

/** Drops files, as bytes by name, on the zone of the page. */
async function drop({ page }: Scene, files: Record<string, Uint8Array>): Promise<void> {
  const given = Object.entries(files).map(([name, bytes]) => [name, bytes.toBase64()]);
  await page.evaluate(`(() => {
    const transfer = new DataTransfer();
    for (const [name, text] of ${JSON.stringify(given)}) {
      transfer.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name));
    }
    const zone = document.querySelector(".drop"), on = { bubbles: true, cancelable: true, dataTransfer: transfer };
    zone.dispatchEvent(new DragEvent("dragover", on));
    zone.dispatchEvent(new DragEvent("drop", on));
  })()`);
}

browserTest("dropped and chosen files are stored, shown and refused by their content", async (scene) => {
  const { page, open, folder, shot, allow } = scene;
  const photograph = await Deno.readFile(new URL("camera.png", SAMPLES));
  await open("#/data");
  await page.getByRole("button", { name: "Choose files" }).waitFor();
  await shot("data_drop");
  await drop(scene, { "My photo.png": photograph, "second.png": photograph });
  const told = (text: string) => page.getByRole("region", { name: "Message" }).getByText(text).waitFor();
  await told("2 of 2 files stored in uploads/images");
  await page.getByRole("list", { name: "Images" }).locator("img").nth(1).waitFor();
  assert.deepEqual(await Deno.readFile(join(folder, "uploads/images/My_photo.png")), photograph);
  // A refusal is a status of the reply, which the browser logs.
  allow(/status of 400/);
  await drop(scene, { "third.png": new TextEncoder().encode("no image"), "fourth.png": photograph });
  await told("1 of 2 files stored in uploads/images");
  await page.getByRole("list", { name: "Images" }).locator("img").nth(2).waitFor();
  await page.getByText(/Cannot store third\.png.*neither PNG nor JPEG/).waitFor();
  await shot("data_drop_refused");
  assert.deepEqual(
    (await Array.fromAsync(Deno.readDir(join(folder, "uploads/images")))).map(({ name }) => name).sort(),
    [
      "My_photo.png",
      "fourth.png",
      "second.png",
    ],
  );
  await page.getByRole("link", { name: "Project" }).click();
  await page.locator("input[type=file]").first().setInputFiles({
    name: "words.txt",
    mimeType: "text/plain",
    buffer: Buffer.from("A chosen sentence\n"),
  });
  await page.getByText("A chosen sentence").waitFor();
  assert.match(page.url(), /uploads\/texts\?file=uploads%2Ftexts%2Fwords\.txt$/);
  // Another set of images does not mix with the first one.
  await page.getByRole("link", { name: "Project" }).click();
  await drop(scene, { "other.png": photograph });
  await told("1 of 1 files stored in uploads/images_2");
});

browserTest("dropped photographs become a finished run in four clicks, and no digest is typed", async (scene) => {
  const { page, open, folder, shot } = scene;
  const photograph = await Deno.readFile(new URL("camera.png", SAMPLES));
  await open("#/templates");
  await page.getByRole("article", { name: "A link of my own" }).getByRole("button").first().click();
  await page.locator(".graph .block").first().waitFor();
  await page.getByRole("link", { name: "Data", exact: true }).click();
  await page.getByRole("button", { name: "Choose files" }).waitFor();
  await drop(scene, { "first.png": photograph, "second.png": photograph, "third.png": photograph });
  await page.getByRole("button", { name: "Make the manifest" }).click();
  await page.getByRole("button", { name: "Use in mine" }).click();
  await page.getByRole("button", { name: "Run", exact: true, disabled: false }).waitFor();
  const shapeOf = (summary: Awaited<ReturnType<typeof runOnce>>) => summary.steps[0].outputs.images.metadata.shape;
  assert.deepEqual(shapeOf(await runOnce(scene)), [3, 512, 512, 1]);

  // Two of the three images, and all of them again by the list of the data of the project.
  await page.getByRole("button", { name: "Choose images" }).click();
  const images = page.getByRole("list", { name: "Images of the manifest" });
  await images.locator("img").nth(2).waitFor();
  await shot("data_ticks");
  await images.getByRole("checkbox", { name: "second" }).click();
  await eventually(() => holds(scene, "first,third"));
  assert.deepEqual(shapeOf(await runOnce(scene)), [2, 512, 512, 1]);
  await page.getByRole("button", { name: "Choose data of the project" }).click();
  await page.getByRole("button", { name: /^images/ }).waitFor();
  await shot("data_chooser");
  await page.getByRole("button", { name: /^images/ }).click();
  await eventually(async () => assert.ok(await images.getByRole("checkbox", { name: "second" }).isChecked()));

  // A changed file is named on the view Data and in the catalog.
  await Deno.copyFile(new URL("coffee.png", SAMPLES), join(folder, "uploads/images/first.png"));
  for (const place of ["#/data", "#/catalog/datasets"]) {
    await open(place);
    const row = page.getByRole("group", { name: "Data of this project" }).getByRole("row", { name: /manifest\.json/ });
    await row.getByText("uploads/images/first.png changed").waitFor();
    await shot(`data_sets_${place.slice(2, 6)}`);
  }
}, { files: FILES });

browserTest("a trained artifact of the program is chosen for its block, and runs", async (scene) => {
  const { page, open, shot } = scene;
  await open();
  await openFile(scene, "angles");
  await page.locator('.block[data-step="estimator"]').click();
  await page.getByRole("button", { name: "Choose a trained artifact" }).click();
  const fitting = page.getByRole("region", { name: "Trained artifacts" });
  await fitting.getByText("ula-aoa-estimator-v1").waitFor();
  await fitting.getByText(/^Trained for simulated by the script: source\.aoa_scene from -60 to 60 degrees/).waitFor();
  assert.equal(await fitting.getByText("constellation-64-phase-noise-v1").count(), 0);
  await shot("data_artifacts");
  await fitting.getByRole("button", { name: "Bearing estimator for strong noise" }).click();
  await eventually(() => holds(scene, "recipes/models/ula-aoa-estimator-v1"));
  await page.getByRole("button", { name: "Run", exact: true, disabled: false }).waitFor();
  await runOnce(scene);
}, {
  files: {
    "recipes/angles.yaml": `name: angles
metadata: {seed: 23}
steps:
  - {id: data, op: source.aoa_scene, params: {example_count: 4, angle_min_deg: -60.0, angle_max_deg: 60.0}}
  - id: observation
    op: wireless.ula_array_observation
    params: {antenna_count: 8, snapshot_count: 16, snr_db: 0.0}
    inputs: {scene: data.scene}
  - {id: estimator, op: model.aoa_estimator_adapter, inputs: {problem: observation.observation}}
`,
  },
});

/** Of the byte a5. */
const FRAME_SHA256 = "6922e93e3827642ce4b883c756b31abf80036649d3614bf5fcb3adda43b8ea32";
const LINK = `
  - {id: modulator, op: modulation.digital_modulate, params: {modulation: qpsk}, inputs: {bits: encoder.coded_bits}}
  - {id: air, op: wireless.channel, params: {channel: awgn, snr_db: 8.0}, inputs: {symbols: modulator.symbols}}
`;

browserTest(
  "bits, a code and an adapter are chosen for their blocks in two clicks each, without a typed digest",
  async (scene) => {
    const { page, open, folder, shot, until } = scene;
    await open();
    await openFile(scene, "chosen");
    let clicks = 0;
    const click = async (name: string | RegExp) => {
      await page.getByRole("button", { name, exact: true }).click();
      clicks++;
    };
    const digestOf = async (file: string) =>
      new Uint8Array(await crypto.subtle.digest("SHA-256", await Deno.readFile(join(folder, file)))).toHex();
    for (const [block, file] of [["data", "frames.manifest.json"], ["encoder", "codes/short.alist"]]) {
      await page.locator(`.block[data-step="${block}"]`).click();
      await click("Choose data of the project");
      await click(new RegExp(`^${file}`));
      await eventually(() => holds(scene, file));
      const digest = await digestOf(file);
      await eventually(() => holds(scene, digest));
    }
    await shot("data_code");
    assert.equal(clicks, 4);
    const { steps } = await runOnce(scene);
    assert.equal(steps[0].outputs.bits.metadata.manifest_sha256, await digestOf("frames.manifest.json"));

    await openFile(scene, "photographs");
    await page.locator('.block[data-step="sender"]').click();
    clicks = 0;
    await click("Choose an adapter");
    const adapters = page.getByRole("region", { name: "Adapters" });
    await adapters.getByText(/^dct_slices\.encode, dct-slices /).waitFor();
    await shot("data_adapters");
    await adapters.getByRole("button").nth(1).click();
    clicks++;
    assert.equal(clicks, 2);
    await until(`document.body.textContent.includes("Sliced transform codec, encoder, sender, ")`);
    await until(`document.body.textContent.includes("Sliced transform codec, decoder, receiver, ")`);
  },
  {
    serve: { globals: ["--adapter", join(ROOT_PATH, "adapters/dct_slices")] },
    files: {
      "frames.manifest.json": JSON.stringify({
        schema_version: 1,
        kind: "svc.bit_payload_manifest",
        items: [{ id: "a", bit_count: 8, bits_hex: "a5", sha256: FRAME_SHA256 }],
        selections: {},
      }),
      // A repetition of one bit: three checks of two bits each.
      "codes/short.alist": "4 3\n2 2\n1 2 2 1\n2 2 2\n1 0\n1 2\n2 3\n3 0\n1 2\n2 3\n3 4\n",
      "recipes/chosen.yaml": `name: chosen
steps:
  - {id: data, op: source.bit_manifest, params: {manifest_path: none.json, manifest_sha256: "${"0".repeat(64)}"}}
  - {id: encoder, op: channel.ldpc_encoder, inputs: {bits: data.bits}}${LINK}`,
      "recipes/photographs.yaml": `name: photographs
steps:
  - {id: data, op: source.image_dataset, params: {dataset: svc_sample_images, image_ids: camera, crop_size: 64}}
  - {id: sender, op: model.jpeg_encode, inputs: {images: data.images}}
  - {id: encoder, op: channel.identity_encoder, inputs: {bits: sender.bits}}${LINK}  - {id: demodulator, op: demodulation.digital_demodulate, inputs: {rx_symbols: air.rx_symbols}}
  - {id: decoder, op: channel.identity_decoder, inputs: {coded_bits: demodulator.bits}}
  - {id: receiver, op: model.jpeg_decode, inputs: {bits: decoder.bits}}
`,
    },
  },
);

browserTest("a recording, channels and a text are shown", async ({ page, open, folder, shot }) => {
  await addData(folder);
  await open("#/data/radio");
  await page.getByRole("link", { name: "tone.sigmf-meta" }).click();
  await page.getByRole("img", { name: "Spectrum, 512 points" }).waitFor();
  await shot("data_spectrum");
  await page.getByRole("link", { name: "channels.npz" }).click();
  await page.getByRole("img", { name: /^Power-delay profile/ }).waitFor();
  await page.getByRole("row", { name: /complex64|complex128/ }).first().waitFor();
  await shot("data_profile");
  await page.getByRole("link", { name: "Project" }).click();
  await page.getByRole("link", { name: "texts.jsonl" }).click();
  await page.getByText("The second sentence").waitFor();
  await shot("data_lines");
}, { files: FILES });

browserTest("data fits a phone", async ({ page, open, folder, shot }) => {
  await addData(folder);
  await open("#/data/radio?file=radio%2Ftone.sigmf-meta");
  await page.getByRole("img", { name: "Spectrum, 512 points" }).waitFor();
  const [wide, there] = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]") as number[];
  assert.ok(wide <= there, `${wide} in ${there}`);
  await shot("data_phone");
}, { files: FILES, viewport: { width: 390, height: 844 } });
