/**
 * Trains the codebooks of model.toy_vqvae_encode from the bundled photographs and writes them to `_toy_codebook.json`.
 *
 * Training vectors are all patches of 8 x 8 pixels on two grids, one at the corner and one shifted by (4, 4) pixels: of
 * grey ones (luminance, ITU-R BT.601) and of RGB ones (grey photographs with equal channels). Each codebook is trained
 * separately, rounded to 8 bits, and ordered by mean brightness, then by its bytes, so that indices which differ in
 * their low bits mean similar patches.
 *
 * Run with `deno run -A ops/codec/_train_toy_codebook.ts` (about a minute); the result is the same on every machine.
 */
import { BUNDLED_DATASETS, readBundledFile } from "../../lib/artifact/bundled.ts";
import { type Image, toRgb } from "../../lib/artifact/image.ts";
import { decodeImage } from "../../lib/artifact/image_file.ts";
import { roundSamples } from "../../lib/artifact/image_resize.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { trainCodebook, type VectorTable } from "../../lib/numeric/coding/vector_quantization.ts";
import { CODEBOOK_SIZES, TRAINED_PATCH_SIZE } from "./_toy_codebook.ts";

const DATASET = "svc_sample_images", SEED = 23;

async function photographs(): Promise<Image[]> {
  const files = Object.keys(BUNDLED_DATASETS[DATASET].files).filter((path) => /\.(png|jpg)$/.test(path)).sort();
  return await Promise.all(
    files.map(async (path) => decodeImage(await readBundledFile(DATASET, path, { stateDir: ".svc" }))),
  );
}

function luminance(image: Image): Image {
  const rgb = toRgb(image).data, data = new Float64Array(image.width * image.height);
  for (let i = 0; i < data.length; i++) data[i] = 0.299 * rgb[3 * i] + 0.587 * rgb[3 * i + 1] + 0.114 * rgb[3 * i + 2];
  return { ...image, channels: 1, data: roundSamples(data) };
}

/** All whole patches of the images, on both grids. */
function patchesOf(images: readonly Image[]): VectorTable {
  const size = TRAINED_PATCH_SIZE, patches: Uint8Array[] = [];
  for (const { width, height, channels, data } of images) {
    for (const shift of [0, size / 2]) {
      for (let top = shift; top + size <= height; top += size) {
        for (let left = shift; left + size <= width; left += size) {
          const patch = new Uint8Array(size * size * channels);
          for (let row = 0; row < size; row++) {
            const from = ((top + row) * width + left) * channels;
            patch.set(data.subarray(from, from + size * channels), row * size * channels);
          }
          patches.push(patch);
        }
      }
    }
  }
  const dimension = patches[0].length, data = new Uint8Array(patches.length * dimension);
  patches.forEach((patch, at) => data.set(patch, at * dimension));
  return { dimension, data };
}

/** Codewords with 8-bit samples, from dark to bright. */
function rounded({ dimension, data }: VectorTable & { data: Float64Array }): Uint8Array {
  const words = Array.from(
    { length: data.length / dimension },
    (_, word) => roundSamples(data.slice(word * dimension, (word + 1) * dimension)),
  );
  const brightness = (word: Uint8Array) => word.reduce((sum, sample) => sum + sample, 0);
  words.sort((a, b) => brightness(a) - brightness(b) || (a.toHex() < b.toHex() ? -1 : 1));
  const ordered = new Uint8Array(data.length);
  words.forEach((word, at) => ordered.set(word, at * dimension));
  return ordered;
}

/** One codebook in the form of the file. Exported for tests. */
export async function trainToyCodebook(channels: 1 | 3, size: number): Promise<string> {
  const images = (await photographs()).map(channels === 1 ? luminance : toRgb);
  return rounded(trainCodebook(patchesOf(images), size, Generator.seeded(BigInt(SEED)))).toBase64();
}

if (import.meta.main) {
  const codebooks: Record<string, Record<string, string>> = {};
  for (const [name, channels] of [["grey", 1], ["rgb", 3]] as const) {
    codebooks[name] = {};
    for (const size of CODEBOOK_SIZES) {
      codebooks[name][size] = await trainToyCodebook(channels, size);
      console.error(`${name} ${size}`);
    }
  }
  const text = JSON.stringify({ id: "svc_toy_codebook_v1", trained_on: DATASET, ...codebooks }, null, 1);
  await Deno.writeTextFile(new URL("_toy_codebook.json", import.meta.url), `${text}\n`);
}
