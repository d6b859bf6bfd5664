/**
 * Writes PNG images reproducibly: 8-bit samples, one IDAT chunk, no time, text or colour chunks.
 *
 * Each row takes the filter whose output has the smallest sum of absolute values as signed bytes (PNG specification,
 * 12.8). Compression is by a JavaScript port of zlib, so the bytes depend neither on the platform nor on the runtime.
 */
import { joinBytes } from "./join_bytes.ts";
import { deflate } from "npm:pako@^2.1.0";
import type { Image } from "./image.ts";
import { paeth, PNG_SIGNATURE } from "./png_decode.ts";
import { crc32Of } from "./crc32.ts";

const COLOR_TYPES = { 1: 0, 3: 2, 4: 6 } as const;

/**
 * Writes an image as PNG.
 * @param level of compression: 6 for a file that is kept, 1 for a picture to look at, in a third of the time
 */
export function writePng(image: Image, level: 1 | 6 = 6): Uint8Array {
  const { width, height, channels } = image;
  if (width < 1 || height < 1 || image.data.length !== width * height * channels) {
    throw new RangeError(`Cannot write ${image.data.length} samples as a ${width} x ${height} x ${channels} image`);
  }
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, COLOR_TYPES[channels], 0, 0, 0], 8);
  return joinBytes([
    Uint8Array.from(PNG_SIGNATURE),
    chunk("IHDR", header),
    chunk("IDAT", deflate(filterRows(image), { level })),
    chunk("IEND", new Uint8Array(0)),
  ]);
}

function chunk(type: string, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, body.length);
  for (let i = 0; i < 4; i++) bytes[4 + i] = type.charCodeAt(i);
  bytes.set(body, 8);
  view.setUint32(8 + body.length, crc32Of(bytes.subarray(4, 8 + body.length)));
  return bytes;
}

function filterRows({ width, height, channels, data }: Image): Uint8Array {
  const length = width * channels;
  const filtered = new Uint8Array(height * (1 + length));
  const trial = new Uint8Array(length);
  let above: Uint8Array = new Uint8Array(length);
  for (let row = 0; row < height; row++) {
    const line = data.subarray(row * length, (row + 1) * length);
    const start = row * (1 + length);
    let least = Infinity;
    for (let type = 0; type < 5; type++) {
      let cost = 0;
      for (let i = 0; i < length; i++) {
        const left = i >= channels ? line[i - channels] : 0, corner = i >= channels ? above[i - channels] : 0;
        const guess = type === 0
          ? 0
          : type === 1
          ? left
          : type === 2
          ? above[i]
          : type === 3
          ? (left + above[i]) >> 1
          : paeth(left, above[i], corner);
        const rest = (line[i] - guess) & 0xff;
        trial[i] = rest;
        cost += rest < 128 ? rest : 256 - rest;
      }
      if (cost < least) {
        least = cost;
        filtered[start] = type;
        filtered.set(trial, start + 1);
      }
    }
    above = line;
  }
  return filtered;
}
