/**
 * Overlays as PNG: boxes or classes over an image, with a legend. Small images are enlarged by whole
 * numbers, so that every pixel stays a square. The same layers give the same bytes.
 */
import { Buffer } from "node:buffer";
import { invalid } from "../artifact/array_block.ts";
import { imageOfArray } from "../artifact/array_image.ts";
import { holdsItems, itemName } from "../artifact/array_items.ts";
import type { DecodedArtifact } from "../artifact/codec.ts";
import { type Image, toRgb } from "../artifact/image.ts";
import { writePng } from "../artifact/png_encode.ts";
import { detectionsOf, rastersOf } from "../artifact/vision.ts";
import { SvcError } from "../contract/error.ts";
import { escapeXml } from "../contract/escape.ts";
import type { Detection } from "../numeric/scores/detection.ts";
import { renderPng } from "./render.ts";
import { STYLES } from "./style.ts";
import { textWidth } from "./text_width.ts";
import { type Layer, type Layers, readable } from "./overlay_layers.ts";

/** Length of the longer side that small images are brought near, and the most that they are enlarged. */
const TARGET = 480, MAX_SCALE = 8;
/** Boxes of an image that are drawn. */
const MAX_BOXES = 1000;
const { series: COLOURS, ink: INK } = STYLES.svc;
const WRONG = "#d51f1f";

/** One image of a batch, 8-bit RGB. @throws SvcError `query_invalid` for an index beyond the batch */
function imageAt(images: DecodedArtifact, index: number): Image {
  const several = holdsItems(images.arrayNames);
  return toRgb(imageOfArray(readable(() => images.array(several ? itemName(index) : undefined)), several ? 0 : index));
}

/**
 * Boxes on their image: those of the candidate with a solid line, label and confidence, those of the reference dashed.
 * @throws SvcError `query_invalid`, `artifact_invalid`
 */
export async function drawDetections(layers: Layers, index: number): Promise<Uint8Array> {
  const { candidate, reference } = layers;
  const image = imageAt((candidate ?? reference)!.images, index);
  const [found, wanted] = [candidate, reference].map((layer) => layer === undefined ? [] : boxesAt(layer, index));
  const labels = [...new Set([...found, ...wanted].map(({ label }) => label))].sort();
  const scale = scaleOf(image);
  const outline = (detection: Detection, dash: string, text: string) => {
    const [xMin, yMin, xMax, yMax] = detection.box.map((edge) => Math.round(edge * scale * 10) / 10);
    const colour = colourOf(labels.indexOf(detection.label));
    const box = `x="${xMin}" y="${yMin}" width="${xMax - xMin}" height="${yMax - yMin}" fill="none"`;
    const lines = `<rect ${box} stroke="#fff" stroke-width="4" stroke-opacity="0.75"/>` +
      `<rect ${box} stroke="${dash === "" ? colour : INK}" stroke-width="2"${dash}/>`;
    return text === "" ? lines : lines + tag(text, { x: xMin, y: yMin, colour, width: image.width * scale });
  };
  const drawn = [
    ...wanted.map((box) => outline(box, ' stroke-dasharray="6 4"', candidate ? "" : box.label)),
    ...found.map((box) => outline(box, "", `${box.label} ${box.confidence.toFixed(2)}`)),
  ];
  const legend = [
    ...(candidate === undefined ? [] : [{ colour: null, text: `${found.length} found by ${candidate.name}` }]),
    ...(reference === undefined ? [] : [{ colour: null, text: `${wanted.length} of ${reference.name}, dashed` }]),
  ];
  return await render(image, scale, drawn.join(""), legend);
}

function boxesAt(layer: Layer, index: number): readonly Detection[] {
  const items = readable(() => detectionsOf(layer.artifact));
  if (index >= items.length) throw beyond(index, items.length);
  return items[index].detections.slice(0, MAX_BOXES);
}

/**
 * Classes over their image. With both sides what differs from the reference is red, and the rest of the image is dimmed.
 * @throws SvcError `query_invalid`, `artifact_invalid`
 */
export async function drawSegmentation(layers: Layers, index: number): Promise<Uint8Array> {
  const { candidate, reference } = layers;
  const layer = (candidate ?? reference)!;
  const image = imageAt(layer.images, index), { width, height } = image;
  const classes = classesAt(layer, index, image);
  if (candidate !== undefined && reference !== undefined) {
    const wanted = classesAt(reference, index, image);
    const wrong = (at: number) => classes.names[classes.values[at]] !== wanted.names[wanted.values[at]];
    const count = classes.values.reduce((sum, _, at) => sum + Number(wrong(at)), 0);
    const painted = paint(
      image,
      (at) => wrong(at) ? { colour: WRONG, share: 0.9 } : { colour: "#ffffff", share: 0.45 },
    );
    const share = (100 * count / (width * height)).toFixed(2);
    const legend = [{
      colour: WRONG,
      text: `${share} % of the pixels differ: ${candidate.name} from ${reference.name}`,
    }];
    return await render(painted, scaleOf(image), "", legend);
  }
  const painted = paint(image, (at) => {
    const value = classes.values[at];
    if (value === 0) return null;
    // The edge of a region is drawn in full colour.
    const x = at % width, y = Math.floor(at / width);
    const edge = x > 0 && classes.values[at - 1] !== value || x + 1 < width && classes.values[at + 1] !== value ||
      y > 0 && classes.values[at - width] !== value || y + 1 < height && classes.values[at + width] !== value;
    return { colour: colourOf(value - 1), share: edge ? 1 : 0.55 };
  });
  const shown = [...new Set(classes.values)].filter((value) => value > 0).sort((a, b) => a - b);
  const legend = shown.map((value) => ({ colour: colourOf(value - 1), text: classes.names[value] }));
  return await render(painted, scaleOf(image), "", legend);
}

/** The classes of one image, with their names. */
function classesAt(layer: Layer, index: number, { width, height }: Image): { values: number[]; names: string[] } {
  const rasters = readable(() => rastersOf(layer.artifact));
  if (index >= rasters.count) throw beyond(index, rasters.count);
  if (rasters.width !== width || rasters.height !== height) {
    throw invalid(
      `Cannot lay a raster of ${rasters.width} x ${rasters.height} over an image of ${width} x ${height} pixels`,
    );
  }
  const size = width * height;
  const values = Array.from({ length: size }, (_, at) => rasters.data[index * size + at]);
  const highest = values.reduce((most, value) => Math.max(most, value), 0);
  const names = Array.from({ length: highest + 1 }, (_, value) => rasters.classNames?.[value] ?? `class ${value}`);
  return { values, names };
}

/** Mixes colours into an image. */
function paint(image: Image, cover: (pixel: number) => { colour: string; share: number } | null): Image {
  const data = image.data.slice();
  for (let at = 0; at < image.width * image.height; at++) {
    const covered = cover(at);
    if (covered === null) continue;
    for (let channel = 0; channel < 3; channel++) {
      const part = parseInt(covered.colour.slice(1 + 2 * channel, 3 + 2 * channel), 16);
      data[3 * at + channel] = Math.round(covered.share * part + (1 - covered.share) * data[3 * at + channel]);
    }
  }
  return { ...image, data };
}

interface LegendEntry {
  colour: string | null;
  text: string;
}

const LINE = 22, FONT = 13;

async function render(image: Image, scale: number, drawn: string, legend: readonly LegendEntry[]): Promise<Uint8Array> {
  const width = image.width * scale, height = image.height * scale;
  const png = Buffer.from(writePng(enlarged(image, scale), 1)).toString("base64");
  // Entries go to further lines where one is full.
  let x = 4, y = height + 16, lines = legend.length > 0 ? 1 : 0;
  const entries = legend.map(({ colour, text }) => {
    const needed = (colour === null ? 0 : 16) + textWidth(text, FONT) + 14;
    if (x > 4 && x + needed > width) {
      x = 4;
      y += LINE;
      lines++;
    }
    const at = x;
    x += needed;
    const key = colour === null ? "" : `<rect x="${at}" y="${y - 10}" width="11" height="11" fill="${colour}"/>`;
    return `${key}<text x="${at + (colour === null ? 0 : 16)}" y="${y}" font-size="${FONT}" fill="${INK}">${
      escapeXml(text.slice(0, 80))
    }</text>`;
  });
  const total = height + lines * LINE;
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${total}" viewBox="0 0 ${width} ${total}" font-family="Inter">` +
    `<rect width="${width}" height="${total}" fill="#ffffff"/>` +
    `<image width="${width}" height="${height}" href="data:image/png;base64,${png}"/>` +
    `<svg width="${width}" height="${height}">${drawn}</svg>${entries.join("")}</svg>`;
  return await renderPng(svg, { ...STYLES.svc, png_scale: 1 });
}

/** A text on its colour, above a box or, without space there, inside. */
function tag(text: string, { x, y, colour, width }: { x: number; y: number; colour: string; width: number }): string {
  const length = textWidth(text, FONT) + 8, left = Math.max(0, Math.min(x - 1, width - length));
  const top = y >= 18 ? y - 18 : y;
  return `<rect x="${left}" y="${top}" width="${length}" height="18" fill="${colour}"/>` +
    `<text x="${left + 4}" y="${top + 13}" font-size="${FONT}" fill="#ffffff">${escapeXml(text.slice(0, 80))}</text>`;
}

function enlarged(image: Image, scale: number): Image {
  if (scale === 1) return image;
  const width = image.width * scale, height = image.height * scale;
  const data = new Uint8Array(3 * width * height);
  for (let y = 0, to = 0; y < height; y++) {
    for (let x = 0; x < width; x++, to += 3) {
      const from = 3 * (Math.floor(y / scale) * image.width + Math.floor(x / scale));
      data.set(image.data.subarray(from, from + 3), to);
    }
  }
  return { ...image, width, height, data };
}

const scaleOf = ({ width, height }: Image) =>
  Math.max(1, Math.min(MAX_SCALE, Math.floor(TARGET / Math.max(width, height))));
const colourOf = (index: number) => COLOURS[index % COLOURS.length];

function beyond(index: number, count: number): SvcError {
  return new SvcError("query_invalid", `Cannot draw image ${index}: there are ${count}`, {
    hint: `index goes from 0 to ${count - 1}`,
  });
}
