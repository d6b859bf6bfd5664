import assert from "node:assert/strict";
import { PNG_SIGNATURE } from "../../../lib/artifact/png_decode.ts";
import { joinBytes } from "../../../lib/artifact/join_bytes.ts";
import { deflateSync } from "node:zlib";
import { SvcError } from "../../../lib/contract/error.ts";
import { exifOrientation } from "../../../lib/artifact/exif.ts";
import { type Image, orient, toRgb } from "../../../lib/artifact/image.ts";
import { decodeImage } from "../../../lib/artifact/image_file.ts";
import { writePng } from "../../../lib/artifact/png_encode.ts";
import { crc32Of } from "../../../lib/artifact/crc32.ts";
import vectors from "../../data/pictures/vectors.json" with { type: "json" };
import { bytesFrom, damage, seeded } from "./_fuzz.ts";

const code = (expected: string) => (error: unknown) => error instanceof SvcError && error.code === expected;

function assertImage(
  image: Image,
  expected: { width: number; height: number; channels: number; samples: string },
  name: string,
) {
  assert.deepEqual(
    [image.width, image.height, image.channels],
    [expected.width, expected.height, expected.channels],
    name,
  );
  assert.deepEqual(image.data, bytesFrom(expected.samples), name);
}

Deno.test("PNG images of every colour type, depth, order and transparency are read exactly", () => {
  assert.ok(vectors.pngs.length > 45);
  for (const png of vectors.pngs) {
    const image = decodeImage(bytesFrom(png.file));
    assertImage(image, png, png.name);
    assert.equal(image.format, "png");
  }
});

Deno.test("16-bit samples v become round(v/257)", () => {
  const deep = vectors.pngs.find(({ name }) => name === "own colour 0 depth 16")!;
  assert.equal(decodeImage(bytesFrom(deep.file)).bitDepth, 16);
  // A single row that holds the values around every rounding boundary.
  const values = Array.from({ length: 255 }, (_, level) => [257 * level + 128, 257 * level + 129]).flat();
  const row = Uint8Array.from([0, ...values.flatMap((value) => [value >> 8, value & 255])]);
  const image = decodeImage(ownPng({ width: values.length, height: 1, depth: 16, color: 0 }, deflateSync(row)));
  assert.deepEqual([...image.data], values.map((value) => Math.round(value / 257)));
});

Deno.test("JPEG images are upright by their EXIF orientation, as Pillow shows them", () => {
  for (const jpeg of vectors.jpegs) {
    const image = decodeImage(bytesFrom(jpeg.file));
    assertImage(image, jpeg, `orientation ${jpeg.orientation}`);
    assert.deepEqual([image.format, image.orientation], ["jpeg", jpeg.orientation]);
  }
});

Deno.test("orientations 1 to 8 are undone", () => {
  // An upright "ab / cd / ef" stored turned and mirrored, grey samples by letter.
  const stored: Record<number, [number, string]> = {
    1: [2, "abcdef"],
    2: [2, "badcfe"],
    3: [2, "fedcba"],
    4: [2, "efcdab"],
    5: [3, "acebdf"],
    6: [3, "bdface"],
    7: [3, "fdbeca"],
    8: [3, "ecafdb"],
  };
  for (const [orientation, [width, letters]] of Object.entries(stored)) {
    const image: Image = { width, height: 6 / width, channels: 1, data: new TextEncoder().encode(letters) };
    const upright = orient(image, Number(orientation));
    assert.deepEqual([upright.width, upright.height], [2, 3]);
    assert.equal(new TextDecoder().decode(upright.data), "abcdef", `orientation ${orientation}`);
  }
});

Deno.test("a damaged EXIF block counts as upright and never stops a picture", () => {
  const good = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0];
  assert.equal(exifOrientation(Uint8Array.from(good)), 6);
  for (let length = 0; length < 22; length++) assert.equal(exifOrientation(Uint8Array.from(good.slice(0, length))), 1);
  const random = seeded(4);
  for (let round = 0; round < 2000; round++) {
    const orientation = exifOrientation(damage(Uint8Array.from(good), random));
    assert.ok(orientation >= 1 && orientation <= 8);
  }
});

Deno.test("CMYK JPEG, other formats and too many pixels are refused with a code", () => {
  assert.throws(() => decodeImage(bytesFrom(vectors.cmyk_jpeg)), code("image_file_unsupported"));
  for (const bytes of [new Uint8Array(0), new TextEncoder().encode("GIF89a"), new Uint8Array(100)]) {
    assert.throws(() => decodeImage(bytes), code("image_file_unsupported"));
  }
  for (const { file } of [vectors.pngs[0], vectors.jpegs[0]]) {
    assert.throws(() => decodeImage(bytesFrom(file), { maxPixels: 100 }), code("artifact_limit_exceeded"));
  }
});

interface OwnHeader {
  width: number;
  height: number;
  depth: number;
  color: number;
  rest?: number[];
}

function ownPng(
  { width, height, depth, color, rest = [0, 0, 0] }: OwnHeader,
  idat: Uint8Array,
  extra: [string, Uint8Array][] = [],
) {
  const header = new Uint8Array(13), view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([depth, color, ...rest], 8);
  const chunks: [string, Uint8Array][] = [["IHDR", header], ...extra, ["IDAT", idat], ["IEND", new Uint8Array(0)]];
  const parts = chunks.map(([type, body]) => {
    const part = new Uint8Array(12 + body.length), at = new DataView(part.buffer);
    at.setUint32(0, body.length);
    part.set(new TextEncoder().encode(type), 4);
    part.set(body, 8);
    at.setUint32(8 + body.length, crc32Of(part.subarray(4, 8 + body.length)));
    return part;
  });
  return Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...parts.flatMap((part) => [...part])]);
}

Deno.test("broken PNG files are refused, and none inflates beyond its size", () => {
  const header = { width: 2, height: 2, depth: 8, color: 0 }, rows = Uint8Array.from([0, 1, 2, 0, 3, 4]);
  const data = deflateSync(rows);
  assert.deepEqual([...decodeImage(ownPng(header, data)).data], [1, 2, 3, 4]);
  const broken: [string, Uint8Array][] = [
    ["no size", ownPng({ ...header, width: 0 }, data)],
    ["an impossible depth", ownPng({ ...header, depth: 3 }, data)],
    ["a depth that its colour lacks", ownPng({ ...header, depth: 4, color: 2 }, data)],
    ["an unknown colour type", ownPng({ ...header, color: 5 }, data)],
    ["an unknown order", ownPng({ ...header, rest: [0, 0, 2] }, data)],
    ["no palette", ownPng({ ...header, color: 3 }, data)],
    ["a colour beyond its palette", ownPng({ ...header, color: 3 }, data, [["PLTE", new Uint8Array(6)]])],
    ["a palette of 5 bytes", ownPng({ ...header, color: 3 }, data, [["PLTE", new Uint8Array(5)]])],
    ["a long transparency", ownPng(header, data, [["tRNS", new Uint8Array(6)]])],
    ["an unknown critical chunk", ownPng(header, data, [["ABCD", new Uint8Array(1)]])],
    ["an unknown filter", ownPng(header, deflateSync(Uint8Array.from([9, 1, 2, 0, 3, 4])))],
    ["too few rows", ownPng(header, deflateSync(rows.slice(0, 3)))],
    ["too many rows", ownPng(header, deflateSync(new Uint8Array(50_000_000)))],
    ["data that do not inflate", ownPng(header, rows)],
  ];
  for (const [name, file] of broken) assert.throws(() => decodeImage(file), code("image_file_invalid"), name);
  const file = ownPng(header, data);
  for (let length = 8; length < file.length; length++) {
    assert.throws(() => decodeImage(file.subarray(0, length)), code("image_file_invalid"), `cut at ${length}`);
  }
  for (const at of [20, 45, file.length - 1]) {
    const flipped = file.slice();
    flipped[at] ^= 1;
    assert.throws(() => decodeImage(flipped), code("image_file_invalid"), `changed at ${at}`);
  }
});

Deno.test("damaged pictures are read or refused with a code, never otherwise", () => {
  const random = seeded(5);
  const files = [...vectors.pngs, ...vectors.jpegs].map(({ file }) => bytesFrom(file));
  let refused = 0;
  for (let round = 0; round < 4000; round++) {
    try {
      decodeImage(damage(files[random(files.length)], random), { maxPixels: 1_000_000 });
    } catch (error) {
      assert.ok(error instanceof SvcError, String((error as Error).stack));
      refused++;
    }
  }
  assert.ok(refused > 1000);
});

Deno.test("PNG images are written without loss, repeatably, with four kinds of chunks at most", () => {
  const random = seeded(6);
  for (const channels of [1, 3, 4] as const) {
    for (const [width, height] of [[1, 1], [17, 5], [64, 48]]) {
      // A ramp with noise, so that every filter is chosen somewhere.
      const data = Uint8Array.from(
        { length: width * height * channels },
        (_, i) => (i >> 3) + (i % 7 ? 0 : random(99)),
      );
      const image: Image = { width, height, channels, data };
      const file = writePng(image);
      assert.deepEqual(file, writePng(image));
      const read = decodeImage(file);
      assert.deepEqual([read.width, read.height, read.channels, read.data], [width, height, channels, data]);
      const types = [...new TextDecoder("latin1").decode(file).matchAll(/IHDR|IDAT|IEND|tIME|tEXt|iTXt|gAMA|pHYs/g)];
      assert.deepEqual(types.map(([type]) => type), ["IHDR", "IDAT", "IEND"]);
    }
  }
  assert.throws(() => writePng({ width: 2, height: 2, channels: 1, data: new Uint8Array(3) }), RangeError);
});

Deno.test("three channels of any picture", () => {
  const grey: Image = { width: 2, height: 1, channels: 1, data: Uint8Array.from([1, 2]) };
  assert.deepEqual([...toRgb(grey).data], [1, 1, 1, 2, 2, 2]);
  const alpha: Image = { width: 1, height: 1, channels: 4, data: Uint8Array.from([1, 2, 3, 4]) };
  assert.deepEqual([...toRgb(alpha).data], [1, 2, 3]);
});

Deno.test("an image with more pixels than the limit is refused by its header", () => {
  const chunk = (type: string, body: Uint8Array) => {
    const bytes = new Uint8Array(12 + body.length), view = new DataView(bytes.buffer);
    view.setUint32(0, body.length);
    bytes.set(new TextEncoder().encode(type), 4);
    bytes.set(body, 8);
    view.setUint32(8 + body.length, crc32Of(bytes.subarray(4, 8 + body.length)));
    return bytes;
  };
  const header = new Uint8Array(13), view = new DataView(header.buffer);
  view.setUint32(0, 10_000);
  view.setUint32(4, 10_000);
  header.set([8, 2, 0, 0, 0], 8);
  // The data are no deflate stream: decoding them would be another error.
  const file = joinBytes([
    Uint8Array.from(PNG_SIGNATURE),
    chunk("IHDR", header),
    chunk("IDAT", Uint8Array.of(255)),
    chunk("IEND", new Uint8Array()),
  ]);
  assert.throws(() => decodeImage(file), {
    code: "artifact_limit_exceeded",
    message: "Cannot read an image of 10000 x 10000 pixels",
    hint: "The limit is 50000000 pixels",
  });
});
