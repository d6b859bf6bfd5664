/**
 * Makes `digital_cliff.png`: the sample photographs as received by the quickstart recipe at rising SNR.
 *
 * Columns: Es/N0 of 6, 8, 9, 10 and 12 dB; rows: coffee, chelsea, camera, rocket. Run as
 * `deno run -A recipes/figures/make_digital_cliff.ts`.
 */
import { join } from "node:path";
import { decodeArtifact } from "../../lib/artifact/codec.ts";
import { writePng } from "../../lib/artifact/png_encode.ts";
import type { Image } from "../../lib/artifact/image.ts";
import { imageSheet, pictureOf } from "../../lib/artifact/image_sheet.ts";
import { imagesOf } from "../../lib/artifact/values.ts";
import { run } from "../../mod.ts";

const SNR_DB = [6, 8, 9, 10, 12];
const HEIGHT = 128, ROWS = 4;

const recipe = await Deno.readTextFile(new URL("../quickstart.yaml", import.meta.url));
const stateDir = await Deno.makeTempDir({ prefix: "svc-figure-" });
const rows: Image[][] = Array.from({ length: ROWS }, () => []);

for (const snr of SNR_DB) {
  const { directory } = await run(recipe.replace("snr_db: 9.0", `snr_db: ${snr}.0`), { stateDir });
  const batch = imagesOf(
    decodeArtifact("image.batch.numpy", await Deno.readFile(join(directory, "artifacts/receiver/images.npz"))),
  );
  rows.forEach((row, index) => row.push(pictureOf(batch, index)));
}
await Deno.writeFile(new URL("./digital_cliff.png", import.meta.url), writePng(imageSheet(rows, HEIGHT)));
await Deno.remove(stateDir, { recursive: true });
