/**
 * Makes `digital_cliff.png`: the sample photographs as received by the quickstart recipe at rising SNR.
 *
 * Columns: Es/N0 of 6, 8, 9, 10 and 12 dB; rows: coffee, chelsea, camera, rocket. Run as
 * `deno run -A recipes/figures/make_digital_cliff.ts`.
 */
import { join } from "node:path";
import { decodeArtifact } from "../../lib/artifact/codec.ts";
import { writePng } from "../../lib/artifact/png_encode.ts";
import { resizeShorterSide } from "../../lib/artifact/image_resize.ts";
import { imageAt, imagesOf } from "../../lib/artifact/values.ts";
import { run } from "../../mod.ts";

const SNR_DB = [6, 8, 9, 10, 12];
const TILE = 128, GAP = 6;

const recipe = await Deno.readTextFile(new URL("../quickstart.yaml", import.meta.url));
const stateDir = await Deno.makeTempDir({ prefix: "svc-figure-" });
const rows = 4;
const width = SNR_DB.length * (TILE + GAP) - GAP, height = rows * (TILE + GAP) - GAP;
const sheet = { width, height, channels: 3 as const, data: new Uint8Array(width * height * 3).fill(255) };

for (const [column, snr] of SNR_DB.entries()) {
  const { directory } = await run(recipe.replace("snr_db: 6.0", `snr_db: ${snr}.0`), { stateDir });
  const batch = imagesOf(
    decodeArtifact("image.batch.numpy", await Deno.readFile(join(directory, "artifacts/receiver/images.npz"))),
  );
  for (let row = 0; row < rows; row++) {
    const image = {
      width: batch.width,
      height: batch.height,
      channels: 3 as const,
      data: imageAt(batch, row) as Uint8Array,
    };
    const tile = resizeShorterSide(image, TILE);
    for (let y = 0; y < TILE; y++) {
      const start = ((row * (TILE + GAP) + y) * width + column * (TILE + GAP)) * 3;
      sheet.data.set(tile.data.subarray(y * TILE * 3, (y + 1) * TILE * 3), start);
    }
  }
}
await Deno.writeFile(new URL("./digital_cliff.png", import.meta.url), writePng(sheet));
await Deno.remove(stateDir, { recursive: true });
