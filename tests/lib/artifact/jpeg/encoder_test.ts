import assert from "node:assert/strict";
import { encodeJpeg, JpegEncoder, type JpegImage } from "../../../../lib/artifact/jpeg/encoder.ts";
import { SvcError } from "../../../../lib/contract/error.ts";
import { type FileRow, fileRows, photograph, photographRows, sha256, smallPictures } from "./vectors.ts";

const MODES = [["baseline", {}], ["optimize", { optimize: true }], ["progressive", { progressive: true }]] as const;

function sameFiles(image: JpegImage, row: FileRow): void {
  for (const [mode, options] of MODES) {
    const file = encodeJpeg(image, { quality: row.quality, subsampling: row.subsampling, ...options });
    assert.equal(sha256(file), row[mode], `${row.source} ${row.quality} ${row.subsampling} ${mode}`);
  }
}

Deno.test("small pictures become the files that libjpeg writes", () => {
  const pictures = smallPictures();
  for (const row of fileRows) sameFiles(pictures.get(row.source)!, row);
});

Deno.test("photographs become the files that libjpeg writes", () => {
  for (const row of photographRows) sameFiles(photograph(row.source), row);
});

Deno.test("an encoder gives the same files in any order of settings", () => {
  const image = smallPictures().get("crop_17x33")!;
  const encoder = new JpegEncoder(image, "420");
  for (const quality of [90, 10, 90]) {
    const expected = encodeJpeg(image, { quality, subsampling: "420" });
    encoder.encode({ quality, progressive: true });
    assert.deepEqual(encoder.encode({ quality }), expected);
  }
});

Deno.test("progressive coding ignores optimize: its tables are always fitted", () => {
  const image = smallPictures().get("noise")!;
  const options = { quality: 60, subsampling: "422", progressive: true } as const;
  assert.deepEqual(encodeJpeg(image, { ...options, optimize: true }), encodeJpeg(image, options));
});

Deno.test("the image is left alone", () => {
  const image = smallPictures().get("crop_7x5")!;
  const copy = image.data.slice();
  encodeJpeg(image, { quality: 50, subsampling: "420" });
  assert.deepEqual(image.data, copy);
});

Deno.test("images that JPEG cannot hold and wrong settings are refused", () => {
  const grey = (width: number, height: number) => ({ width, height, channels: 1 as const, data: new Uint8Array(1) });
  for (const [width, height] of [[0, 1], [1, 0], [65501, 1], [1, 65501], [1.5, 2]]) {
    assert.throws(
      () => encodeJpeg(grey(width, height), { quality: 75, subsampling: "444" }),
      (error) => error instanceof SvcError && error.code === "jpeg_unsupported",
    );
  }
  assert.throws(() => encodeJpeg(grey(2, 1), { quality: 75, subsampling: "444" }), RangeError);
  for (const quality of [0, 101, 50.5, NaN]) {
    assert.throws(() => encodeJpeg(grey(1, 1), { quality, subsampling: "444" }), RangeError);
  }
});

Deno.test("the longest side is coded", () => {
  const file = encodeJpeg({ width: 65500, height: 1, channels: 1, data: new Uint8Array(65500) }, {
    quality: 75,
    subsampling: "420",
  });
  const header = file.findIndex((byte, at) => byte === 0xff && file[at + 1] === 0xc0);
  assert.deepEqual([...file.subarray(header + 5, header + 9)], [0, 1, 65500 >> 8, 65500 & 255]);
});
