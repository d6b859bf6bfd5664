import assert from "node:assert/strict";
import { decodeJpeg, jpegSubsampling } from "../../../../lib/artifact/jpeg/decoder.ts";
import { encodeJpeg } from "../../../../lib/artifact/jpeg/encoder.ts";
import { SvcError } from "../../../../lib/contract/error.ts";
import {
  fileRows,
  photograph,
  photographRows,
  refused,
  sha256,
  smallPictures,
  variantFile,
  variants,
} from "./vectors.ts";

const refusesWith = (code: string, bytes: Uint8Array, options = {}) =>
  assert.throws(
    () => decodeJpeg(bytes, options),
    (error) => error instanceof SvcError && error.code === code,
  );

Deno.test("small pictures have the pixels that libjpeg decodes", () => {
  const pictures = smallPictures();
  for (const row of fileRows) {
    const image = pictures.get(row.source)!;
    for (const mode of [{}, { progressive: true }]) {
      const decoded = decodeJpeg(encodeJpeg(image, { ...row, optimize: undefined, progressive: false, ...mode }));
      assert.deepEqual([decoded.width, decoded.height, decoded.channels], [image.width, image.height, image.channels]);
      assert.equal(sha256(decoded.data), row.decoded, `${row.source} ${row.quality} ${row.subsampling}`);
    }
  }
});

Deno.test("photographs have the pixels that libjpeg decodes", () => {
  for (const { source, quality, subsampling, decoded } of photographRows) {
    const file = encodeJpeg(photograph(source), { quality, subsampling });
    assert.equal(sha256(decodeJpeg(file).data), decoded, `${source} ${quality} ${subsampling}`);
  }
});

Deno.test("other samplings, RGB, restarts, separate and successive scans decode as in libjpeg", () => {
  for (const { file, decoded } of variants) assert.equal(sha256(decodeJpeg(variantFile(file)).data), decoded, file);
});

Deno.test("CMYK, arithmetic coding and incomplete progressive files are refused", () => {
  for (const { file, code } of refused) refusesWith(code, variantFile(file));
});

Deno.test("the subsampling of a file is told", () => {
  const pictures = smallPictures();
  for (const subsampling of ["444", "422", "420"] as const) {
    assert.equal(jpegSubsampling(encodeJpeg(pictures.get("noise")!, { quality: 50, subsampling })), subsampling);
    assert.equal(jpegSubsampling(encodeJpeg(pictures.get("grey_7x5")!, { quality: 50, subsampling })), "444");
  }
  assert.equal(jpegSubsampling(variantFile("sampling_4x1.jpg")), "other");
  assert.equal(jpegSubsampling(variantFile("sampling_2x2_2x1_1x2.jpg")), "other");
  assert.throws(() => jpegSubsampling(Uint8Array.of(0xff, 0xd8, 0xff, 0xd9)), SvcError);
});

Deno.test("what follows the end of the image is ignored", () => {
  const file = variantFile("restart_rows.jpg");
  const longer = new Uint8Array(file.length + 5);
  longer.set(file);
  longer.set([1, 2, 3, 0xff, 0xd8], file.length);
  assert.deepEqual(decodeJpeg(longer), decodeJpeg(file));
});

Deno.test("a file cut anywhere is refused as damaged", () => {
  for (const name of ["restart_blocks.jpg", "successive.jpg", "separate.jpg"]) {
    const file = variantFile(name);
    for (let length = 0; length < file.length; length++) {
      assert.throws(
        () => decodeJpeg(file.subarray(0, length)),
        (error) => error instanceof SvcError && error.code === "jpeg_invalid",
        `${name} cut to ${length} bytes`,
      );
    }
  }
});

/** The position of each marker segment before the first scan. */
function* segmentsOf(file: Uint8Array): Generator<{ marker: number; start: number; end: number }> {
  for (let start = 2; file[start + 1] !== 0xda;) {
    const end = start + 2 + (file[start + 2] << 8 | file[start + 3]);
    yield { marker: file[start + 1], start, end };
    start = end;
  }
}

Deno.test("faults that libjpeg reads with a warning are read with one where a caller takes warnings", () => {
  const data = Uint8Array.from({ length: 40 * 24 * 3 }, (_, at) => 128 + 100 * Math.sin(at / 31));
  const file = encodeJpeg({ width: 40, height: 24, channels: 3, data }, { quality: 80, subsampling: "420" });
  const whole = decodeJpeg(file), end = file.length - 2;
  const tables = [...segmentsOf(file)].filter(({ marker }) => marker === 0xc4);
  assert.ok(tables.length > 0);
  const withoutTables = Uint8Array.from(
    [...file].filter((_, at) => !tables.some((segment) => segment.start <= at && at < segment.end)),
  );
  const faulty: [string, Uint8Array][] = [
    ["it ends without the EOI marker", file.subarray(0, end)],
    ["it ends without the EOI marker", file.subarray(0, end + 1)],
    ["it has no Huffman tables, the standard ones are used", withoutTables],
    [
      "the entropy-coded data continue after the last block",
      Uint8Array.of(...file.subarray(0, end), 1, 2, 3, 0xff, 0xd9),
    ],
    ["bytes before a marker are skipped", Uint8Array.of(...file.subarray(0, 2), 9, 9, ...file.subarray(2))],
  ];
  for (const [fault, bytes] of faulty) {
    const warnings: string[] = [];
    assert.deepEqual(decodeJpeg(bytes, { warnings }), whole, fault);
    assert.ok(warnings.includes(fault), `${fault}: ${warnings}`);
    // A receiver gets damaged bytes as well, and must not take them for an image.
    refusesWith("jpeg_invalid", bytes);
  }
  const sound: string[] = [];
  decodeJpeg(file, { warnings: sound });
  assert.deepEqual(sound, []);
});

/** SHA-256 of the pixels that libjpeg-turbo 2.1.5 makes of the first bytes of a file, by their number. */
const CUT_FILES: Record<string, Record<number, string>> = {
  "420": {
    662: "3ef3040570a031324d49303e574c5d7216051c8316ec9aab5051fc53c6d1bd3b",
    754: "53595d66fca070b515409fec9d227002c3ff1a72617e7282a2153ebcec964a53",
    858: "7c6e6223005afa452b075de5b788df3e3458ca2fb58e91dc2a51321d0ec697df",
  },
  "444": {
    668: "0a1a89dacdd31d2f9cc51ed13599c3d07b1694fd46ec96b4f02a75c9e170378d",
    772: "e547a7945664c1acf039a1cd10d5632d48195ab23a6d782eaea3ef1f316b6a05",
    890: "0bbfc81ffbe21c0a16fa97d5ef2be5525be904a228a14e3918f870c7ce6e8b51",
  },
  restart_blocks: {
    686: "5e3c489dc9eb1ed87172a1e54fac35c0ba08d34aa89b7f34cca81231c2134fda",
    820: "32a39a42c7404a87deef6f0a98f6ab31299ae565314910fefb70089e81d8101f",
    973: "bb093bbb312e46924059f727c3e8b5ac523fba07b5f030c79ec7487022fa61b6",
  },
};

Deno.test("a cut sequential file has the pixels of libjpeg: grey behind its end", () => {
  const noisy = Uint8Array.from({ length: 40 * 24 * 3 }, (_, at) => 128 + 100 * Math.sin(at / 31) + (at * 7919) % 13);
  const files: Record<string, Uint8Array> = { restart_blocks: variantFile("restart_blocks.jpg") };
  for (const subsampling of ["420", "444"] as const) {
    files[subsampling] = encodeJpeg({ width: 40, height: 24, channels: 3, data: noisy }, { quality: 80, subsampling });
  }
  for (const [name, cuts] of Object.entries(CUT_FILES)) {
    for (const [length, digest] of Object.entries(cuts)) {
      const warnings: string[] = [], cut = files[name].subarray(0, Number(length));
      assert.equal(sha256(decodeJpeg(cut, { warnings }).data), digest, `${name} of ${length} bytes`);
      assert.ok(warnings.includes("it ends without the EOI marker"), String(warnings));
      refusesWith("jpeg_invalid", cut);
    }
  }
  // What comes before the end is that of the whole file: rows of units above the cut.
  const file = files["444"], whole = decodeJpeg(file).data, warnings: string[] = [];
  const half = decodeJpeg(file.subarray(0, file.length - 150), { warnings }).data;
  assert.deepEqual(half.subarray(0, 8 * 40 * 3), whole.subarray(0, 8 * 40 * 3));
  assert.ok(half.subarray(-40 * 3).every((sample) => sample === 128));
  assert.deepEqual(warnings, [
    "the entropy-coded data end early, the rest of the image is grey",
    "it ends without the EOI marker",
  ]);
  // A segment that is cut behind the scan ends the image; a second start, and a cut header, are no images for libjpeg either.
  const end = file.length - 2;
  assert.deepEqual(decodeJpeg(Uint8Array.of(...file.subarray(0, end), 0xff, 0xe0), { warnings }).data, whole);
  refusesWith("jpeg_invalid", Uint8Array.of(...file.subarray(0, end), 0xff, 0xd8), { warnings: [] });
  refusesWith("jpeg_invalid", file.subarray(0, 200), { warnings: [] });
});

/** SHA-256 of the pixels that libjpeg-turbo 2.1.5 makes of the first bytes of a file of several scans, without its smoothing of blocks. */
const CUT_SCANS: [file: string, length: number, digest: string, isCoarse: boolean][] = [
  ["successive", 700, "d195960af2bfbf6502d3e813ead1cbe72244eaddb8eb5c8f16d976615620cad2", true],
  ["successive", 900, "aaaa060acba20ae39309777f31fdc242f87074af7cbabb2b0fdaf07847b0d253", false],
  ["restart_progressive", 520, "94b48de1226a1e0c6c967eab49a10ccdaabe178d9e19a369e10d917768af64b1", true],
  ["grey_progressive", 300, "25f9aee4e3f10a822562b51cae936a1cfd2918ead127af4adebe024e66e21442", true],
  ["grey_progressive", 590, "59a8db0c6dda2047b392817b96710821d7043a6a1e5ba83b743462f654221789", false],
  ["separate", 500, "622fe02a804c3aebd518ae7584b2bfa70b9a4cd9fe2a3920380695dafba0258b", true],
];

Deno.test("a cut file of several scans has the pixels of libjpeg by the scans that it holds", () => {
  for (const [name, length, digest, isCoarse] of CUT_SCANS) {
    const cut = variantFile(`${name}.jpg`).subarray(0, length), warnings: string[] = [];
    assert.equal(sha256(decodeJpeg(cut, { warnings }).data), digest, `${name} of ${length} bytes`);
    assert.ok(warnings.includes("it ends without the EOI marker"), String(warnings));
    assert.equal(warnings.includes("scans are missing"), isCoarse, String(warnings));
    assert.throws(() => decodeJpeg(cut), SvcError);
  }
  // A component without a scan is grey: of a file cut behind the first of three scans, the luma alone.
  const file = variantFile("separate.jpg"), whole = decodeJpeg(file);
  const second = file.findIndex((byte, at) => byte === 0xff && file[at + 1] === 0xda && at > 300 && file[at + 5] === 2);
  const grey = decodeJpeg(file.subarray(0, second), { warnings: [] }).data;
  assert.ok(grey.every((sample, at) => sample === grey[at - at % 3]));
  assert.notDeepEqual(grey, whole.data);
});

Deno.test("damaged files end in pixels or in a coded error", () => {
  let state = 1;
  const random = (limit: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * limit);
  };
  const names = [...variants, ...refused].map(({ file }) => file);
  let decoded = 0, failed = 0;
  for (const name of names) {
    const original = variantFile(name);
    for (let trial = 0; trial < 150; trial++) {
      const file = original.slice();
      for (let flips = 1 + random(4); flips > 0; flips--) {
        const at = random(file.length);
        file[at] = random(2) === 0 ? random(256) : file[at] ^ 1 << random(8);
      }
      try {
        // Damaged headers may announce more pixels than the picture has, never more than this.
        const image = decodeJpeg(file, { maximumPixels: 1 << 18 });
        assert.equal(image.data.length, image.width * image.height * image.channels);
        decoded++;
      } catch (error) {
        assert.ok(error instanceof SvcError, `${name}: ${error}`);
        assert.ok(["jpeg_invalid", "jpeg_unsupported"].includes(error.code), error.code);
        failed++;
      }
    }
  }
  assert.ok(decoded > 100 && failed > 100, `${decoded} decoded, ${failed} failed`);
});

Deno.test("sizes that the file cannot back take no memory", () => {
  const file = variantFile("separate.jpg").slice();
  const header = file.findIndex((byte, at) => byte === 0xff && file[at + 1] === 0xc0);
  file.set([0xff, 0xff, 0xff, 0xff], header + 5);
  refusesWith("jpeg_unsupported", file);
  file.set([0x10, 0x00, 0x10, 0x00], header + 5);
  assert.throws(() => decodeJpeg(file), { code: "jpeg_invalid", message: /too short for 4096 by 4096 pixels/ });
  refusesWith("jpeg_unsupported", variantFile("separate.jpg"), { maximumPixels: 37 * 29 - 1 });
  assert.equal(decodeJpeg(variantFile("separate.jpg"), { maximumPixels: 37 * 29 }).width, 37);
});

Deno.test("without a JFIF segment the Adobe transform, then the component ids decide about RGB", () => {
  const file = variantFile("rgb.jpg");
  const frame = file.findIndex((byte, at) => byte === 0xff && file[at + 1] === 0xc0);
  assert.deepEqual([10, 13, 16].map((at) => String.fromCharCode(file[frame + at])).join(""), "RGB");
  const adobe = file.findIndex((byte, at) => byte === 0xff && file[at + 1] === 0xee);
  const without = new Uint8Array([...file.subarray(0, adobe), ...file.subarray(adobe + 16)]);
  assert.deepEqual(decodeJpeg(without), decodeJpeg(file));
  const transformed = file.slice();
  transformed[adobe + 15] = 1;
  assert.notDeepEqual(decodeJpeg(transformed), decodeJpeg(file));
});

Deno.test("scans of one coefficient each decode, endless numbers of them are refused", () => {
  const segment = (marker: number, ...payload: number[]) => [0xff, marker, 0, payload.length + 2, ...payload];
  // Both tables have the single symbol 0 with the code 0: DC difference 0, end of band.
  const counts = [1, ...Array<number>(15).fill(0)];
  const scan = (k: number, high: number, low: number) => [...segment(0xda, 1, 1, 0, k, k, high << 4 | low), 0x7f];
  const file = (passes: number) =>
    Uint8Array.from([
      ...[0xff, 0xd8],
      ...segment(0xdb, 0, ...Array<number>(64).fill(1)),
      ...segment(0xc2, 8, 0, 8, 0, 8, 1, 1, 0x11, 0),
      ...segment(0xc4, 0, ...counts, 0, 0x10, ...counts, 0),
      ...scan(0, 0, 0),
      ...Array.from({ length: passes * 63 }, (_, index) => {
        const pass = Math.floor(index / 63), low = passes - 1 - pass;
        return scan(index % 63 + 1, pass === 0 ? 0 : low + 1, low);
      }).flat(),
      ...[0xff, 0xd9],
    ]);
  assert.ok(decodeJpeg(file(4)).data.every((sample) => sample === 128));
  refusesWith("jpeg_unsupported", file(5));
});
