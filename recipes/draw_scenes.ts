/**
 * Draws the scenes of adapters/ocr_reader: signs composited into the photographs of recipes/photographs, JPEG files of 256 x
 * 192 pixels, and the two manifests that pin images and texts by one set of ids. They stand for photographs of signs, of
 * which the repository has none.
 *
 *     deno run -A recipes/draw_scenes.ts
 *
 * A sign has one or two lines. It is drawn at four times its size, mapped by a perspective transform, shaded with the
 * light of the photograph around it, blurred and given sensor noise together with the photograph, and the scene is
 * compressed as JPEG of quality 92, as a camera does. Each photograph has two scenes, the second from its mirror image. All
 * choices follow from a seed, so every run writes the same bytes.
 */
import { fileURLToPath } from "node:url";
import { makeImageManifest } from "../lib/artifact/dataset_manifest.ts";
import { decodeImage } from "../lib/artifact/image_file.ts";
import { JpegEncoder } from "../lib/artifact/jpeg/encoder.ts";
import { Generator } from "../lib/numeric/random/random.ts";
import { drawing, PLATES, writeDocument, writeTexts } from "./sign_drawing.ts";

const WIDTH = 256, HEIGHT = 192, SEED = 29;
/** Size of a drawn sign, and of one pixel of a scene in it. */
const SIGN_WIDTH = 640, SIGN_HEIGHT = 288;
const NOISE = 2.5, BLUR = 0.7, QUALITY = 92;
const PHOTOGRAPHS = new URL("photographs/", import.meta.url),
  SCENES = new URL("../adapters/ocr_reader/scenes/", import.meta.url);
const NAMES = [
  "bridge",
  "brushes",
  "dandelion",
  "dogs",
  "dragonfly",
  "drum",
  "fig",
  "mountain",
  "nuthatch",
  "path",
  "stream",
  "sunset",
];
const TEXTS = [
  ["Old Bridge", "1874"],
  ["Art Studio", "open"],
  ["Do not pick", "flowers"],
  ["Keep dogs", "on leash"],
  ["Wetland", "Trail 6"],
  ["Music Hall"],
  ["Farm Shop", "500 m"],
  ["Summit", "2 h 15"],
  ["Bird Hide", "Be quiet"],
  ["Footpath"],
  ["Deep Water", "No diving"],
  ["Beach", "Parking"],
  ["Toll 3 km"],
  ["Paint Sale", "Friday"],
  ["Meadow", "Camp Site"],
  ["Vet Clinic"],
  ["Pond Life", "Museum"],
  ["Stage Door"],
  ["Fruit Market", "Monday"],
  ["Rock fall", "Danger"],
  ["Forest", "Office"],
  ["Steep Hill", "Use gear 2"],
  ["Fishing", "Permit A7"],
  ["Harbour", "View"],
];

type Point = [x: number, y: number];

/** The drawn sign of a text: a plate with a border and its lines. */
function sign(lines: readonly string[], index: number) {
  const [plate, ink] = PLATES[index % PLATES.length], longest = Math.max(...lines.map(({ length }) => length));
  const family = index % 5 === 4 ? "JetBrains Mono" : "Inter", weight = index % 2 === 0 ? 700 : 500;
  const size = Math.min(lines.length === 1 ? 130 : 104, (family === "Inter" ? 1000 : 930) / longest);
  const texts = lines.map((text, at) => {
    const y = SIGN_HEIGHT / 2 + (at - (lines.length - 1) / 2) * 118 + size * 0.36;
    return `<text x="${
      SIGN_WIDTH / 2
    }" y="${y}" text-anchor="middle" font-family="${family}" font-weight="${weight}" ` +
      `font-size="${size}" fill="${ink}">${text}</text>`;
  });
  return drawing(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${SIGN_WIDTH}" height="${SIGN_HEIGHT}">` +
      `<rect x="4" y="4" width="${SIGN_WIDTH - 8}" height="${
        SIGN_HEIGHT - 8
      }" rx="20" fill="${plate}" stroke="${ink}" ` +
      `stroke-width="8"/>${texts.join("")}</svg>`,
  );
}

/** The projective map that takes the unit square to four corners: Heckbert, Fundamentals of Texture Mapping, 1989. */
function squareTo([[x0, y0], [x1, y1], [x2, y2], [x3, y3]]: readonly Point[]): number[] {
  const dx1 = x1 - x2, dx2 = x3 - x2, dx3 = x0 - x1 + x2 - x3;
  const dy1 = y1 - y2, dy2 = y3 - y2, dy3 = y0 - y1 + y2 - y3;
  const whole = dx1 * dy2 - dx2 * dy1;
  const g = (dx3 * dy2 - dx2 * dy3) / whole, h = (dx1 * dy3 - dx3 * dy1) / whole;
  return [x1 - x0 + g * x1, x3 - x0 + h * x3, x0, y1 - y0 + g * y1, y3 - y0 + h * y3, y0, g, h, 1];
}

/** The inverse of a 3 x 3 matrix up to a factor, which a projective map does not have. */
const adjugate = ([a, b, c, d, e, f, g, h, i]: number[]): number[] => [
  e * i - f * h,
  c * h - b * i,
  b * f - c * e,
  f * g - d * i,
  a * i - c * g,
  c * d - a * f,
  d * h - e * g,
  b * g - a * h,
  a * e - b * d,
];

/** The centre of a photograph, mirrored for its second scene: [row, column, channel]. */
async function background(name: string, mirrored: boolean): Promise<Float64Array> {
  const { data, width, height, channels } = decodeImage(await Deno.readFile(new URL(`${name}.png`, PHOTOGRAPHS)));
  const left = (width - WIDTH) >> 1, top = (height - HEIGHT) >> 1, pixels = new Float64Array(WIDTH * HEIGHT * 3);
  for (let at = 0; at < pixels.length; at++) {
    const c = at % 3, x = Math.floor(at / 3) % WIDTH, y = Math.floor(at / (3 * WIDTH));
    pixels[at] = Number(data[((y + top) * width + left + (mirrored ? WIDTH - 1 - x : x)) * channels + c]);
  }
  return pixels;
}

/** Corners of a sign: about 150 x 68 pixels, turned and foreshortened at random, inside the scene. */
function corners(random: Generator): Point[] {
  const draw = (low: number, high: number) => low + (high - low) * random.random();
  const width = draw(135, 175), height = width * SIGN_HEIGHT / SIGN_WIDTH, turn = draw(-0.12, 0.12);
  const centre: Point = [draw(width / 2 + 14, WIDTH - width / 2 - 14), draw(height / 2 + 18, HEIGHT - height / 2 - 18)];
  const [right, bottom] = [draw(-0.09, 0.09), draw(-0.07, 0.07)];
  return [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([a, b]): Point => {
    const x = a * width / 2 * (1 + bottom * b), y = b * height / 2 * (1 + right * a);
    return [centre[0] + x * Math.cos(turn) - y * Math.sin(turn), centre[1] + x * Math.sin(turn) + y * Math.cos(turn)];
  });
}

/** Mean over 5 x 5 samples of a drawing with alpha, of which a pixel of the scene has about 4 x 4. */
function sampleOf({ data }: { data: Uint8Array }, u: number, v: number): [number, number, number, number] {
  const sum = [0, 0, 0, 0], x = Math.floor(u * SIGN_WIDTH), y = Math.floor(v * SIGN_HEIGHT);
  let count = 0;
  for (let row = y - 2; row <= y + 2; row++) {
    for (let column = x - 2; column <= x + 2; column++) {
      count++;
      if (row < 0 || column < 0 || row >= SIGN_HEIGHT || column >= SIGN_WIDTH) continue;
      const at = 4 * (row * SIGN_WIDTH + column), alpha = data[at + 3] / 255;
      for (let c = 0; c < 3; c++) sum[c] += data[at + c] * alpha;
      sum[3] += alpha;
    }
  }
  const [red, green, blue, alpha] = sum.map((value) => value / count);
  return [red, green, blue, alpha];
}

/** Puts a sign into a scene, with half of the contrast that the light of the photograph has along the sign. */
function composite(pixels: Float64Array, drawn: { data: Uint8Array }, at: readonly Point[]): void {
  const [a, b, c, d, e, f, g, h, i] = adjugate(squareTo(at)), light = brightness(pixels);
  const middle = light(at.reduce((sum, [x]) => sum + x / 4, 0), at.reduce((sum, [, y]) => sum + y / 4, 0));
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      const px = x + 0.5, py = y + 0.5, w = g * px + h * py + i;
      const u = (a * px + b * py + c) / w, v = (d * px + e * py + f) / w;
      if (!(u > -0.02 && u < 1.02 && v > -0.03 && v < 1.03)) continue;
      const [red, green, blue, alpha] = sampleOf(drawn, u, v),
        shade = 0.55 + 0.35 * middle / 128 + (light(x, y) - middle) / 256;
      [red, green, blue].forEach((value, channel) => {
        const to = 3 * (y * WIDTH + x) + channel;
        pixels[to] = pixels[to] * (1 - alpha) + value * Math.min(1.1, shade);
      });
    }
  }
}

/** Brightness of the photograph over windows of 64 x 64 pixels, interpolated between their centres. */
function brightness(pixels: Float64Array): (x: number, y: number) => number {
  const kept = pixels.slice(), cells = new Map<number, number>();
  const cell = (column: number, row: number) => {
    const key = row * 64 + column, known = cells.get(key);
    if (known !== undefined) return known;
    let sum = 0, count = 0;
    for (let y = Math.max(0, row * 16 - 32); y < Math.min(HEIGHT, row * 16 + 32); y += 4) {
      for (let x = Math.max(0, column * 16 - 32); x < Math.min(WIDTH, column * 16 + 32); x += 4, count++) {
        sum += kept[3 * (y * WIDTH + x) + 1];
      }
    }
    cells.set(key, sum / count);
    return sum / count;
  };
  return (x, y) => {
    const column = Math.floor(x / 16), row = Math.floor(y / 16), u = x / 16 - column, v = y / 16 - row;
    const upper = cell(column, row) * (1 - u) + cell(column + 1, row) * u;
    return upper * (1 - v) + (cell(column, row + 1) * (1 - u) + cell(column + 1, row + 1) * u) * v;
  };
}

/** Optics and sensor: Gaussian blur over seven pixels each way, then normal noise; rounded to eight bits. */
function photographed(pixels: Float64Array, random: Generator): Uint8Array {
  const taps = [-3, -2, -1, 0, 1, 2, 3].map((offset) => Math.exp(-(offset ** 2) / (2 * BLUR ** 2)));
  const total = taps.reduce((sum, tap) => sum + tap, 0);
  const blurred = (from: Float64Array, step: number, size: number) =>
    from.map((_, at) => {
      const position = Math.floor(at / step) % size;
      return taps.reduce((sum, tap, k) => {
        const to = Math.min(Math.max(position + k - 3, 0), size - 1);
        return sum + tap / total * from[at + (to - position) * step];
      }, 0);
    });
  const soft = blurred(blurred(pixels, 3, WIDTH), 3 * WIDTH, HEIGHT), noise = random.standardNormal(soft.length);
  return Uint8Array.from(soft, (value, at) => Math.min(255, Math.max(0, Math.round(value + NOISE * noise[at]))));
}

await Deno.mkdir(SCENES, { recursive: true });
const ids = TEXTS.map((_, index) => `scene_${String(index + 1).padStart(2, "0")}`);
for (const [index, lines] of TEXTS.entries()) {
  const random = Generator.seeded(SEED + index), pixels = await background(NAMES[index % 12], index >= 12);
  composite(pixels, await sign(lines, index), corners(random));
  const image = { width: WIDTH, height: HEIGHT, channels: 3 as const, data: photographed(pixels, random) };
  const bytes = new JpegEncoder(image, "420").encode({ quality: QUALITY, optimize: true });
  await Deno.writeFile(new URL(`${ids[index]}.jpg`, SCENES), bytes);
}
const named = { id: "signs_in_photographs", version: "1" };
const license = { name: "CC-BY-SA-4.0", fonts: "OFL-1.1", photographs: "recipes/photographs/README.md" };
await writeDocument(SCENES, "images.json", { ...await makeImageManifest(fileURLToPath(SCENES), named), license });
await writeTexts(SCENES, named, ids, TEXTS.map((lines) => lines.join(" ")));
