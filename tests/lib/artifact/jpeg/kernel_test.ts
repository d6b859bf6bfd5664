/**
 * The kernels of the codec give the bytes, the pixels and the refusals of a readable implementation of ITU-T T.81, whose
 * digests are stored (`tests/data/jpeg/kernels.json`).
 */
import assert from "node:assert/strict";
import { decodeJpeg } from "../../../../lib/artifact/jpeg/decoder.ts";
import { encodeJpeg, type JpegImage } from "../../../../lib/artifact/jpeg/encoder.ts";
import { reciprocalOf } from "../../../../lib/artifact/jpeg/entropy_coder.ts";
import { kernels, Layout, memory } from "../../../../lib/artifact/jpeg/kernel.ts";
import { SvcError } from "../../../../lib/contract/error.ts";
import { Generator } from "../../../../lib/numeric/random/random.ts";
import stored from "../../../data/jpeg/kernels.json" with { type: "json" };
import { fileRows, refused, sha256, smallPictures, variantFile, variants } from "./vectors.ts";

const DIGESTS: Record<string, string> = stored.digests;
/** Compares a file or the samples of an image with those of the readable implementation. */
const same = (bytes: Uint8Array, label: string) => assert.equal(sha256(bytes).slice(0, 16), DIGESTS[label], label);

/** Noise over a ramp, or of black and white pixels: the second has the largest coefficients. */
function drawn(width: number, height: number, channels: 1 | 3, seed: number, extreme: boolean): JpegImage {
  const generator = Generator.seeded(seed);
  const noise = generator.random(width * height * channels);
  const data = Uint8Array.from(noise, (x, at) => extreme ? 255 * Math.round(x) : (at * 7 % 200 + 55 * x) & 255);
  // An unaligned view.
  const bytes = new Uint8Array(data.length + 1);
  bytes.set(data, 1);
  return { width, height, channels, data: bytes.subarray(1) };
}

const SIZES = [[1, 1], [2, 3], [5, 17], [7, 8], [16, 16], [17, 33], [31, 9], [33, 16], [48, 15], [65, 2], [90, 47]];
const MODES = [{}, { optimize: true }, { progressive: true }];

Deno.test("files of any size, sampling and quality have the bytes of the reference", () => {
  SIZES.forEach(([width, height], index) => {
    for (const channels of [1, 3] as const) {
      for (const subsampling of ["444", "422", "420"] as const) {
        const image = drawn(width, height, channels, 100 + index, index % 3 === 0);
        MODES.forEach((mode, at) => {
          const options = { ...mode, subsampling, quality: [100, 85, 50, 3, 1][(index + at) % 5] };
          const file = encodeJpeg(image, options), label = `${width}x${height}x${channels} ${JSON.stringify(options)}`;
          same(file, label);
          same(decodeJpeg(file).data, `${label} decoded`);
        });
      }
    }
  });
});

Deno.test("every 16-bit coefficient divides as in the reference, halves away from zero", () => {
  const layout = new Layout(),
    blocks = layout.take(2 << 16),
    reciprocals = layout.take(256),
    sets = layout.take(8 << 10);
  layout.reserve();
  const values = new Int16Array(memory().buffer, blocks, 1 << 16);
  for (let divisor = 1; divisor < 256; divisor++) {
    new Float32Array(memory().buffer, reciprocals, 64).fill(reciprocalOf(divisor));
    for (let at = 0; at < 1 << 16; at++) values[at] = at - 32768;
    kernels.quantizeBlocks(blocks, 1 << 10, reciprocals, sets);
    for (let at = 0; at < 1 << 16; at++) {
      const value = at - 32768, quotient = Math.floor((Math.abs(value) + 4 * divisor) / (8 * divisor));
      if (Math.abs(values[at]) !== quotient || values[at] * value < 0) assert.fail(`${value}/${8 * divisor}`);
    }
  }
});

/** A component of YCbCr, ITU-T T.871, with 16 bits behind the point. */
function ycc(component: number, r: number, g: number, b: number): number {
  const fixed = (x: number) => Math.round(x * 65536);
  if (component === 0) return (fixed(0.299) * r + fixed(0.587) * g + fixed(0.114) * b + 32768) >> 16;
  const sum = component === 1
    ? fixed(0.5) * b - fixed(0.168735892) * r - fixed(0.331264108) * g
    : fixed(0.5) * r - fixed(0.418687589) * g - fixed(0.081312411) * b;
  return (sum + (128 << 16) + 32767) >> 16;
}

Deno.test("colours convert as in the reference", () => {
  const levels = Array.from({ length: 86 }, (_, level) => 3 * level), width = 86 * 86;
  const layout = new Layout(), pixels = layout.take(3 * width), planes = [0, 1, 2].map(() => layout.take(8 * width));
  layout.reserve();
  for (const red of levels) {
    const colours = levels.flatMap((green) => levels.map((blue) => [red, green, blue]));
    memory().set(colours.flat(), pixels);
    const [y, cb, cr] = planes;
    kernels.colorStrip(pixels, 1, width, 1, 1, y, width + 4, cb, cr, width + 4, 0);
    planes.forEach((plane, component) => {
      const expected = colours.map(([r, g, b]) => ycc(component, r, g, b));
      assert.deepEqual(memory().slice(plane, plane + width), Uint8Array.from(expected));
    });
  }
});

Deno.test("blocks with the largest coefficient of each frequency are those of the reference", () => {
  const wave = (k: number, x: number) => Math.cos((2 * x + 1) * k * Math.PI / 16), width = 8 * 128;
  const data = Uint8Array.from({ length: 8 * width }, (_, at) => {
    const x = at % width, y = Math.floor(at / width), block = x >> 3, frequency = block >> 1;
    return wave(frequency & 7, x & 7) * wave(frequency >> 3, y) > 0 === (block % 2 === 0) ? 255 : 0;
  });
  const image = { width, height: 8, channels: 1, data } as const,
    options = { quality: 100, subsampling: "444" } as const;
  const file = encodeJpeg(image, options);
  same(file, "largest coefficients");
  same(decodeJpeg(file).data, "largest coefficients decoded");
});

Deno.test("runs of more than 32767 blocks end as in the reference", () => {
  const flat = { width: 65500, height: 33, channels: 1 as const, data: new Uint8Array(65500 * 33).fill(77) };
  const options = { quality: 75, subsampling: "444", progressive: true } as const;
  same(encodeJpeg(flat, options), "a run of blocks");
});

Deno.test("runs with more than 937 correction bits end as in the reference", () => {
  // Every block has one AC coefficient, which is known before the last scans.
  const width = 8 * 1000, wave = (x: number) => Math.round(128 + 90 * Math.cos((2 * (x % 8) + 1) * Math.PI / 16));
  const data = Uint8Array.from({ length: width * 8 }, (_, at) => wave(at % width));
  const image = { width, height: 8, channels: 1, data } as const;
  const options = { quality: 50, subsampling: "444", progressive: true } as const;
  same(encodeJpeg(image, options), "correction bits");
});

Deno.test("coefficients larger than those of any image have the samples of the reference", () => {
  for (const progressive of [false, true]) {
    const file = encodeJpeg(drawn(64, 48, 3, 5, true), { quality: 100, subsampling: "420", progressive });
    for (const divisor of [30, 90, 255]) {
      file.forEach((byte, at) => {
        // Every divisor of a quantisation table is set.
        if (byte === 0xff && file[at + 1] === 0xdb) file.fill(divisor, at + 5, at + 69);
      });
      same(decodeJpeg(file).data, `divisor ${divisor}, ${progressive ? "progressive" : "baseline"}`);
    }
  }
});

Deno.test("long files pass through the kernel part by part, in memory that does not grow with the height", () => {
  const { memory } = kernels as unknown as { memory: WebAssembly.Memory };
  for (const progressive of [false, true]) {
    const options = { quality: 100, subsampling: "420", progressive } as const;
    decodeJpeg(encodeJpeg(drawn(17, 64, 3, 8, true), options));
    const before = memory.buffer.byteLength, image = drawn(17, 6000, 3, 9, true), file = encodeJpeg(image, options);
    assert.ok(file.length > 1 << 17, "The file must exceed the part that the kernel sees");
    same(decodeJpeg(file).data, `a long file, ${progressive ? "progressive" : "baseline"}`);
    // The part of the file has at most 80 KiB at this width.
    assert.ok(memory.buffer.byteLength - before <= 1 << 17);
  }
});

Deno.test("any number of fill bytes may precede a restart marker", () => {
  const file = variantFile("restart_rows.jpg");
  const marker = file.findIndex((byte, at) => byte === 0xff && file[at + 1] === 0xd0);
  const fill = new Uint8Array(200_000).fill(0xff);
  const longer = new Uint8Array([...file.subarray(0, marker), ...fill, ...file.subarray(marker)]);
  assert.deepEqual(decodeJpeg(longer), decodeJpeg(file));
});

/** Digest of the samples, or the refusal. */
function outcome(bytes: Uint8Array): { samples?: string; code?: string; message?: string } {
  try {
    const { width, height, data } = decodeJpeg(bytes, { maximumPixels: 1 << 14 });
    return { samples: `${width}x${height} ${sha256(data)}` };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return { code: error.code, message: error.message };
  }
}

Deno.test("damaged files have the pixels or the refusal of the reference", () => {
  const pictures = smallPictures();
  const files = [...variants, ...refused].map(({ file }) => variantFile(file));
  for (const { source, quality, subsampling } of fileRows.slice(0, 12)) {
    for (const progressive of [false, true]) {
      files.push(encodeJpeg(pictures.get(source)!, { quality, subsampling, progressive }));
    }
  }
  const generator = Generator.seeded(7402), refusals: string[] = [];
  const random = (limit: number) => Math.floor(generator.random(1)[0] * limit);
  for (const [index, original] of files.entries()) {
    const found: string[] = [];
    for (let trial = 0; trial < 40; trial++) {
      const file = original.slice(0, trial % 8 === 0 ? random(original.length) : original.length);
      for (let flips = random(4); flips > 0; flips--) {
        const at = random(file.length);
        file[at] = random(3) === 0 ? 0xff : random(2) === 0 ? random(256) : file[at] ^ 1 << random(8);
      }
      const { samples, code, message } = outcome(file);
      found.push(samples ?? code!);
      if (message !== undefined) refusals.push(message);
    }
    same(new TextEncoder().encode(found.join("\n")), `damaged file ${index}`);
  }
  // The damage reaches the kernels: every refusal of entropy-coded data occurs, as often as in the reference.
  const counts = Object.keys(stored.refusals).map((
    part,
  ) => [part, refusals.filter((text) => text.includes(part)).length]);
  assert.deepEqual(Object.fromEntries(counts), stored.refusals);
});
