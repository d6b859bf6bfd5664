/**
 * Makes `digital_cliff.png`: the sample photographs as received by the quickstart recipe at rising Es/N0.
 *
 * Columns: Es/N0 of 6, 8, 9, 10 and 12 dB, named above them; rows: coffee, chelsea, camera, rocket. Run as
 * `deno run -A recipes/figures/make_digital_cliff.ts`.
 */
import { join } from "node:path";
import { decodeArtifact } from "../../lib/artifact/codec.ts";
import { writePng } from "../../lib/artifact/png_encode.ts";
import type { Image } from "../../lib/artifact/image.ts";
import { imageSheet, pictureOf } from "../../lib/artifact/image_sheet.ts";
import { imagesOf } from "../../lib/artifact/values.ts";
import { renderPng } from "../../lib/figure/render.ts";
import { STYLES } from "../../lib/figure/style.ts";
import { run } from "../../mod.ts";

const SNR_DB = [6, 8, 9, 10, 12];
const HEIGHT = 128, ROWS = 4, HEAD = 28;

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
const sheet = imageSheet(rows, HEIGHT), { width, height } = sheet, { ink, background, font, font_size } = STYLES.svc;
const names = SNR_DB.map((snr, column) => {
  const centre = (column + 0.5) * width / SNR_DB.length;
  return `<text x="${centre}" y="${HEAD - 10}" text-anchor="middle" fill="${ink}">Es/N0 ${snr} dB</text>`;
});
const svg =
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + HEAD}" font-family="${font}" ` +
  `font-size="${font_size}"><rect width="100%" height="100%" fill="${background}"/>${names.join("")}` +
  `<image y="${HEAD}" width="${width}" height="${height}" href="data:image/png;base64,${
    writePng(sheet).toBase64()
  }"/></svg>`;
const figure = await renderPng(svg, { ...STYLES.svc, png_scale: 1 });
await Deno.writeFile(new URL("./digital_cliff.png", import.meta.url), figure);
await Deno.remove(stateDir, { recursive: true });
