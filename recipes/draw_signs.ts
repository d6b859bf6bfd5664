/**
 * Draws the signs of adapters/ocr_reader: PNG files of 256 x 64 pixels and the two manifests that pin images and texts by
 * one set of ids.
 *
 *     deno run -A recipes/draw_signs.ts
 *
 * The fonts are those of the page (Inter and JetBrains Mono, OFL-1.1). A sign is a plate with a border on a shaded wall,
 * turned by up to 2.5 degrees. All choices follow from the position in the list, so every run writes the same bytes.
 */
import { fileURLToPath } from "node:url";
import { makeImageManifest } from "../lib/artifact/dataset_manifest.ts";
import { toRgb } from "../lib/artifact/image.ts";
import { writePng } from "../lib/artifact/png_encode.ts";
import { drawing, PLATES, writeDocument, writeTexts } from "./sign_drawing.ts";

const WIDTH = 256, HEIGHT = 64;
const TEXTS = [
  "Exit 12",
  "No Parking",
  "Platform 4",
  "Bakery",
  "Room 307",
  "Push Bar",
  "Ferry North",
  "Keep Left",
  "Gate B16",
  "Open 9-17",
  "Fire Door",
  "Max 30 km/h",
  "Library",
  "Wet Floor",
  "Bus 58 Lund",
  "Mind the Gap",
  "Harbour 2 km",
  "High Voltage",
  "Lift to 6F",
  "Tickets",
  "Quiet Zone",
  "Way Out",
  "Junction 23",
  "Clinic 0815",
];
const WALLS = [["#8d8478", "#57504a"], ["#aab4bd", "#6d7780"], ["#7c8b6f", "#465038"]];

const folder = new URL("../adapters/ocr_reader/signs/", import.meta.url);

function svgOf(text: string, index: number): string {
  const [plate, ink] = PLATES[index % PLATES.length], [light, dark] = WALLS[index % WALLS.length];
  const angle = (index * 7 % 11 - 5) / 2, family = index % 4 === 3 ? "JetBrains Mono" : "Inter";
  const size = Math.min(34, (family === "Inter" ? 360 : 340) / text.length);
  const weight = index % 3 === 0 ? 700 : 500;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">
<defs><linearGradient id="wall" x2="1" y2="1"><stop stop-color="${light}"/><stop offset="1" stop-color="${dark}"/></linearGradient></defs>
<rect width="${WIDTH}" height="${HEIGHT}" fill="url(#wall)"/>
<g transform="rotate(${angle} ${WIDTH / 2} ${HEIGHT / 2})">
<rect x="10" y="10" width="236" height="44" rx="5" fill="${plate}" stroke="${ink}" stroke-width="1.5"/>
<text x="128" y="${
    32 + size * 0.36
  }" text-anchor="middle" font-family="${family}" font-weight="${weight}" font-size="${size}" fill="${ink}">${text}</text>
</g></svg>`;
}

await Deno.mkdir(folder, { recursive: true });
const ids = TEXTS.map((_, index) => `sign_${String(index + 1).padStart(2, "0")}`);
for (const [index, text] of TEXTS.entries()) {
  // Without the alpha channel, whose samples are all opaque.
  const image = toRgb(drawing(svgOf(text, index)));
  await Deno.writeFile(new URL(`${ids[index]}.png`, folder), writePng(image));
}
const named = { id: "rendered_signs", version: "1" };
const license = { name: "Apache-2.0", fonts: "OFL-1.1" };
await writeDocument(folder, "images.json", { ...await makeImageManifest(fileURLToPath(folder), named), license });
await writeTexts(folder, named, ids, TEXTS);
