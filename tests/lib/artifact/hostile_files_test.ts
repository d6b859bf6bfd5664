/**
 * Every reader of data against every kind of attack, as one table: files cut anywhere, headers that declare more than the file holds,
 * data that inflate beyond what they declare, files of another type, and links that lead out of the project. Each is refused with a
 * code; a cut file may also be read, where a format has no length. The readers are those that the sources export: a new one without a
 * row, and a new source with a path without a link, fail.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { deflateRawSync, deflateSync } from "node:zlib";
import { open } from "../../../mod.ts";
import { decodeArtifact } from "../../../lib/artifact/codec.ts";
import { openArrays } from "../../../lib/artifact/array_file.ts";
import { makeBitManifest } from "../../../lib/artifact/bit_manifest_file.ts";
import { viewOf } from "../../../lib/artifact/byte_source.ts";
import { crc32Of } from "../../../lib/artifact/crc32.ts";
import { parseImageManifest } from "../../../lib/artifact/dataset_manifest.ts";
import { makeArchiveManifest } from "../../../lib/artifact/image_archive.ts";
import { decodeImage } from "../../../lib/artifact/image_file.ts";
import { joinBytes } from "../../../lib/artifact/join_bytes.ts";
import { encodeJpeg } from "../../../lib/artifact/jpeg/encoder.ts";
import { readNpy } from "../../../lib/artifact/npy.ts";
import { npyHeader } from "../../../lib/artifact/npy_header.ts";
import { openNpz, writeNpz } from "../../../lib/artifact/npz.ts";
import { writePng } from "../../../lib/artifact/png_encode.ts";
import { parseSigmf } from "../../../lib/artifact/sigmf.ts";
import { parseTexts } from "../../../lib/artifact/text_lines.ts";
import { makeLinesManifest } from "../../../lib/artifact/text_lines_file.ts";
import { parseTextManifest } from "../../../lib/artifact/text_manifest.ts";
import { makeTextManifest } from "../../../lib/artifact/text_manifest_files.ts";
import { openZip } from "../../../lib/artifact/zip_read.ts";
import { writeZip } from "../../../lib/artifact/zip_write.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { BUILTIN_OPERATIONS } from "../../../ops/index.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import hdf5 from "../../data/hdf5/vectors.json" with { type: "json" };
import mat5 from "../../data/mat5/vectors.json" with { type: "json" };
import { deflated } from "./_deflated_zip.ts";
import { bytesFrom } from "./_fuzz.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type Read = (bytes: Bytes) => unknown;

interface Row {
  /** The exported functions that the row reads by. */
  of: string[];
  read: Read;
  /** A file that is read. */
  sound: Bytes;
  /** Whether a cut file may be read: its format states no length. */
  open?: boolean;
  /** Number of lengths to which the file is cut; default 200. */
  cuts?: number;
  /** Files that declare more than they hold. */
  giant: Bytes[];
  /** Files whose data inflate beyond what they declare, or at an impossible ratio; none for formats without compression. */
  bomb: Bytes[];
}

const text = (content: string) => new TextEncoder().encode(content);
const bytes = (...parts: (ArrayLike<number> & Iterable<number>)[]) => joinBytes(parts) as Bytes;
const edited = (file: Bytes, at: number, ...values: number[]) => {
  const copy = file.slice();
  copy.set(values, at);
  return copy;
};
const scratch = Deno.makeTempDirSync();
Deno.test.afterAll(() => Deno.removeSync(scratch, { recursive: true }));
/** A reader of a file of the disk. */
const onDisk = (name: string, read: (path: string) => unknown): Read => (content) => {
  Deno.writeFileSync(join(scratch, name), content);
  return read(join(scratch, name));
};

/** 64 MiB of zeros in 64 KiB. */
const zeros = new Uint8Array(2 ** 26),
  packedZeros = deflateRawSync(zeros),
  zlibZeros = new Uint8Array(deflateSync(zeros));
const array = (shape: number[], data = 16) => bytes(npyHeader("float32", shape), new Uint8Array(data));
const npz = (member: Uint8Array) => writeZip([{ name: "x.npy", parts: [member] }]).slice();
const allArrays = (name: string, names: readonly string[]): Read => async (content) => {
  using file = await openArrays(content, name, [...names]);
  for (const each of names) file.array(each);
};
const png = writePng({ height: 8, width: 8, channels: 3, data: Uint8Array.from({ length: 192 }, (_, at) => at) })
  .slice();
/** A PNG file with other data; its checksum is right. */
const withData = (data: Uint8Array) => {
  const length = viewOf(png).getUint32(33), body = bytes(png.subarray(37, 41), data);
  const words = new Uint8Array(8);
  viewOf(words).setUint32(0, data.length);
  viewOf(words).setUint32(4, crc32Of(body));
  return bytes(png.subarray(0, 33), words.subarray(0, 4), body, words.subarray(4), png.subarray(33 + 12 + length));
};
const pngOf = (height: number) => {
  const header = png.slice(12, 29);
  viewOf(header).setUint32(8, height);
  const words = new Uint8Array(4);
  viewOf(words).setUint32(0, crc32Of(header));
  return bytes(png.subarray(0, 12), header, words, png.subarray(33));
};
const jpeg = encodeJpeg(
  { width: 16, height: 16, channels: 3, data: new Uint8Array(768).map((_, at) => at) },
  { quality: 75, subsampling: "444" },
).slice();
const frame = jpeg.findIndex((byte, at) => byte === 0xff && jpeg[at + 1] === 0xc0);
const image = {
  sample_id: "a",
  path: "a.png",
  sha256: "0".repeat(64),
  source_id: "a",
  group_id: "a",
  source_sha256: "0".repeat(64),
};
const textManifest = {
  schema_version: 1,
  kind: "svc.text_dataset_manifest",
  id: "t",
  version: "1",
  splits: { test: ["a"] },
  samples: [{ sample_id: "a", text: "x", sha256: sha256Hex("x") }],
};
const linesManifest = {
  schema_version: 1,
  kind: "svc.text_lines_manifest",
  id: "t",
  version: "1",
  path: "t.txt",
  sha256: sha256Hex("x"),
  size_bytes: 1,
  line_count: 1,
  splits: { test: [[1, 1]] },
};
const sigmf = (global: object, more: object = {}) =>
  text(JSON.stringify({ global: { "core:datatype": "cf32_le", "core:version": "1.2.0", ...global }, ...more }));
const idx = (count: number[], size: number) =>
  bytes([0, 0, 8, 3, ...count, 0, 0, 0, 2, 0, 0, 0, 3], new Uint8Array(size));
const mat = bytesFrom(mat5.compressed), hdf = bytesFrom(hdf5.file);
/** A MATLAB element of compressed zeros. */
const matOf = (declared: number) => {
  const tag = new Uint8Array(8);
  viewOf(tag).setUint32(0, 15, true);
  viewOf(tag).setUint32(4, declared, true);
  return bytes(mat.subarray(0, 128), tag, zlibZeros);
};
const long = "x".repeat(2 ** 20 + 1);

const zipped = (...given: Parameters<typeof deflated>) => deflated(...given).slice() as Bytes;

const READERS: Record<string, Row> = {
  PNG: {
    of: ["decodeImage", "parsePng", "decodePng"],
    read: (content) => decodeImage(content),
    sound: png,
    giant: [pngOf(2 ** 30), pngOf(4096), edited(png, 33, 0x7f, 0xff, 0xff, 0xff)],
    bomb: [withData(zlibZeros)],
  },
  JPEG: {
    of: ["decodeImage", "decodeJpeg", "decodeSequentialScan", "decodeProgressiveScan"],
    read: (content) => decodeImage(content),
    sound: jpeg,
    // A cut file is read with a warning, as libjpeg does.
    open: true,
    giant: [edited(jpeg, frame + 5, 0xff, 0xff, 0xff, 0xff), edited(jpeg, frame + 5, 0x10, 0, 0x10, 0)],
    bomb: [],
  },
  NPY: {
    of: ["readNpy", "parseNpyHeader"],
    read: (content) => readNpy(content),
    sound: array([4]),
    giant: [
      array([2 ** 40]),
      array([2 ** 30, 2 ** 30]),
      array([5]),
      bytes(array([4]).subarray(0, 6), [2, 0, 0, 0, 0, 64]),
    ],
    bomb: [],
  },
  NPZ: {
    of: ["openNpz"],
    read(content) {
      const file = openNpz(content);
      for (const name of file.names) file.array(name);
    },
    sound: npz(array([4])),
    giant: [npz(array([2 ** 40])), npz(array([5])), zipped(deflateRawSync(array([4])), 2 ** 31, array([4]))],
    bomb: [
      zipped(packedZeros, 2 ** 20, zeros),
      zipped(packedZeros, 2 ** 31, zeros),
      zipped(deflateRawSync(bytes(array([4]), zeros)), array([4]).length, array([4])),
    ],
  },
  ZIP: {
    of: ["openZip"],
    read(content) {
      for (const entry of openZip(content, "a.zip", { maxExpandedBytes: 2 ** 22, maxEntries: 4 })) entry.read();
    },
    sound: npz(array([4])),
    giant: [
      writeZip(Array.from({ length: 5 }, (_, at) => ({ name: `${at}`, parts: [new Uint8Array(1)] }))).slice(),
      zipped(packedZeros, 2 ** 26, zeros),
    ],
    bomb: [zipped(packedZeros, 2 ** 20, zeros)],
  },
  HDF5: {
    of: ["openArrays", "openHdf5", "readHdf5"],
    read: allArrays("a.h5", Object.keys(hdf5.arrays)),
    sound: hdf,
    // Each file is read by a thread of its own.
    cuts: 4,
    // The size of the file in the superblock, and a signature alone.
    giant: [edited(hdf, 40, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), hdf.slice(0, 96)],
    // A chunk that inflates beyond its declaration: hdf5_test.ts.
    bomb: [],
  },
  MATLAB: {
    of: ["openArrays", "openMat5"],
    read: allArrays("a.mat", Object.keys(mat5.arrays)),
    sound: mat,
    giant: [matOf(2 ** 31), matOf(zlibZeros.length + 1)],
    bomb: [matOf(zlibZeros.length)],
  },
  SigMF: {
    of: ["parseSigmf"],
    read: (content) => parseSigmf(content, "a.sigmf-meta"),
    sound: sigmf({}),
    giant: [
      sigmf({ "core:num_channels": 2 ** 40 }),
      sigmf({ "core:dataset": "x".repeat(2 ** 24) }),
      sigmf({}, { captures: Array(65_537).fill({ "core:sample_start": 0 }) }),
      text("[".repeat(1_000_000)),
    ],
    bomb: [],
  },
  IDX: {
    of: ["makeArchiveManifest"],
    read: (content) => makeArchiveManifest([{ path: "x-images-idx3-ubyte", bytes: content }], {}),
    sound: idx([0, 0, 0, 2], 12),
    giant: [idx([0x7f, 0xff, 0xff, 0xff], 12), idx([0, 0, 0, 3], 12), idx([0, 1, 0x86, 0xa1], 12)],
    bomb: [],
  },
  "CIFAR-10": {
    of: ["makeArchiveManifest"],
    read: (content) => makeArchiveManifest([{ path: "test_batch.bin", bytes: content }], {}),
    sound: new Uint8Array(3073),
    giant: [new Uint8Array(3074)],
    bomb: [],
  },
  "JSON Lines": {
    of: ["makeTextManifest"],
    read: onDisk("a.jsonl", makeTextManifest),
    sound: text('"a"\n{"text": "b"}\n'),
    open: true,
    giant: [text(JSON.stringify(long)), text("[".repeat(1_000_000)), text(`{"text": ${"[".repeat(9000)}`)],
    bomb: [],
  },
  CSV: {
    of: ["makeTextManifest"],
    read: onDisk("a.csv", makeTextManifest),
    sound: text("id,text\n1,a\n"),
    open: true,
    giant: [text(`text\n${long}\n`), text(`text\n"${"x".repeat(1000)}`), text("\n".repeat(1000))],
    bomb: [],
  },
  "text lines": {
    of: ["makeTextManifest"],
    read: onDisk("a.txt", (path) => makeTextManifest(path, { lines: true })),
    sound: text("a\nb\n"),
    open: true,
    giant: [text(long), text("a\n".repeat(100_001)), Uint8Array.of(0x61, 0xff)],
    bomb: [],
  },
  "lines of a corpus": {
    of: ["makeLinesManifest"],
    read: onDisk("a.en", makeLinesManifest),
    sound: text("a\nb\n"),
    open: true,
    giant: [text(long), text("a\n\n".repeat(100_001)), Uint8Array.of(0x61, 0x0a, 0xff)],
    bomb: [],
  },
  "manifest of lines": {
    of: ["parseTexts"],
    read: parseTexts,
    sound: text(JSON.stringify(linesManifest)),
    giant: [
      text(JSON.stringify({ ...linesManifest, line_count: 2 ** 31 })),
      text(JSON.stringify({ ...linesManifest, splits: { test: [[1, 3]] } })),
      text("[".repeat(1_000_000)),
    ],
    bomb: [],
  },
  bits: {
    of: ["makeBitManifest"],
    read: (content) => makeBitManifest(content, "a.npy", true),
    sound: bytes(npyHeader("uint8", [1, 4]), [0, 1, 1, 0]),
    giant: [bytes(npyHeader("uint8", [1, 2 ** 40]), [0, 1, 1, 0])],
    bomb: [],
  },
  "text manifest": {
    of: ["parseTextManifest"],
    read: parseTextManifest,
    sound: text(JSON.stringify(textManifest)),
    giant: [
      text(JSON.stringify({ ...textManifest, samples: [{ sample_id: "a", text: long, sha256: sha256Hex(long) }] })),
      text("[".repeat(1_000_000)),
    ],
    bomb: [],
  },
  artifact: {
    of: ["decodeArtifact"],
    read: (content) => decodeArtifact("channel.symbols.complex_numpy", content).array(),
    sound: writeNpz({ main: ndarray("complex64", new Float32Array(8), [4]), metadata_json: '{"array":"main"}' })
      .slice(),
    giant: [npz(array([2 ** 40]))],
    bomb: [zipped(packedZeros, 2 ** 31, zeros)],
  },
  "image manifest": {
    of: ["parseImageManifest"],
    read: (content) => parseImageManifest(content),
    sound: text("{}"),
    giant: [text("[".repeat(1_000_000)), text(JSON.stringify({ samples: [image] }))],
    bomb: [],
  },
};

/** Exported functions with the name of a reader that no row has, and why. */
const OTHERS: Record<string, string> = {
  ...Object.fromEntries(
    ["decodeAvif", "decodeJpegStream", "decodeWebp", "readImagePayload"]
      .map((name) => [name, "reads what a link delivers, which has its own tests"]),
  ),
  ...Object.fromEntries(
    ["openFile", "readBounded", "readBundledFile", "readFile", "readLines", "readText"]
      .map((name) => [name, "gives bytes or lines of a file to a reader"]),
  ),
  makeImageManifest: "reads a folder, each file by decodeImage",
  openTokenizer: "reads a file of a model; tests/fuzz/readers.ts",
  readSet: "tries the readers of manifests, recordings and arrays on a file; tests/lib/http/data_test.ts",
  readNpyText: "reads a member of the program's own files; tests/fuzz/readers.ts",
};

Deno.test("each exported reader has a row, or a reason", () => {
  const found = new Set<string>();
  for (const folder of ["lib/artifact", "lib/artifact/jpeg"]) {
    for (const { name, isFile } of Deno.readDirSync(join(ROOT_PATH, folder))) {
      if (!isFile || !/(?<!\.d)\.ts$/.test(name)) continue;
      const source = Deno.readTextFileSync(join(ROOT_PATH, folder, name));
      const exported =
        /^export (?:async )?(?:function |const )((?:read|parse|open|decode)[A-Z]\w*|make\w+Manifest)\b/gm;
      for (const [, reader] of source.matchAll(exported)) found.add(reader);
    }
  }
  const rows = Object.values(READERS).flatMap(({ of }) => of);
  assert.deepEqual([...found].sort(), [...new Set([...rows, ...Object.keys(OTHERS)])].sort());
});

/** UTF-8 of any content is lines. */
const TEXTS = ["SigMF", "IDX", "CIFAR-10"];
/** Sound files of other formats that a reader takes: images have one reader, NPZ is ZIP, bits are an array, and lines have no type. */
const ALSO: Record<string, string[]> = {
  PNG: ["JPEG"],
  JPEG: ["PNG"],
  ZIP: ["NPZ"],
  artifact: ["NPZ"],
  bits: ["NPY"],
  "text lines": TEXTS,
  "lines of a corpus": TEXTS,
};

Deno.test("a file of another type is refused with a code", async () => {
  const taken: Record<string, string[]> = {};
  for (const [name, { read }] of Object.entries(READERS)) {
    for (const wrong of ["PNG", "JPEG", "NPY", "NPZ", "HDF5", "MATLAB", "SigMF", "IDX", "CIFAR-10"]) {
      if (wrong !== name && !await refusedBy(read, READERS[wrong].sound)) (taken[name] ??= []).push(wrong);
    }
  }
  assert.deepEqual(taken, ALSO);
});

/** Whether a reader refuses with a code; any other error is a defect. */
async function refusedBy(read: Read, content: Bytes): Promise<boolean> {
  try {
    await read(content);
    return false;
  } catch (error) {
    if (error instanceof SvcError) return true;
    throw error;
  }
}

for (const [name, { read, sound, open, cuts = 200, giant, bomb }] of Object.entries(READERS)) {
  Deno.test(`${name}: cut files, giant headers and bombs are refused with a code`, async () => {
    if (name !== "image manifest") assert.equal(await refusedBy(read, sound), false, "the sound file is read");
    const step = Math.max(1, Math.ceil(sound.length / cuts));
    for (let length = 0; length < sound.length; length += step) {
      const refused = await refusedBy(read, sound.slice(0, length));
      assert.ok(refused || open, `cut to ${length} of ${sound.length} bytes`);
    }
    for (const [at, content] of giant.entries()) assert.ok(await refusedBy(read, content), `giant header ${at}`);
    for (const [at, content] of bomb.entries()) assert.ok(await refusedBy(read, content), `bomb ${at}`);
  });
}

Deno.test("no source reads through a link that leads out of the project, wherever the link stands", async () => {
  const outside = Deno.makeTempDirSync(), projectRoot = Deno.makeTempDirSync();
  try {
    const secret = (name: string, content: Uint8Array) => Deno.writeFileSync(join(outside, name), content);
    const put = (name: string, content: Uint8Array) => Deno.writeFileSync(join(projectRoot, name), content);
    secret("a.png", png);
    secret("t.txt", text("x"));
    secret("a.npz", npz(array([1, 4])));
    secret("a.h5", hdf);
    secret("a.mat", mat);
    secret("a.json", text("{}"));
    secret("r.cf32", new Uint8Array(64));
    secret("r.sigmf-meta", sigmf({ "core:sample_rate": 1 }));
    secret("r.sigmf-data", new Uint8Array(64));
    for (const { name } of Deno.readDirSync(outside)) Deno.symlinkSync(join(outside, name), join(projectRoot, name));
    Deno.symlinkSync(outside, join(projectRoot, "folder"));
    const manifest = (path: string) =>
      text(JSON.stringify({ ...textManifest, samples: [{ sample_id: "a", path, sha256: sha256Hex("x") }] }));
    put("texts.json", manifest("t.txt"));
    put("texts2.json", manifest("folder/t.txt"));
    put("lines.json", text(JSON.stringify(linesManifest)));
    put("lines2.json", text(JSON.stringify({ ...linesManifest, path: "folder/t.txt" })));
    await using session = await open({ projectRoot });
    const texts = (name: string) => ({
      dataset: "t",
      manifest_path: name,
      manifest_sha256: sha256Hex(Deno.readFileSync(join(projectRoot, name))),
    });
    const emptyDigest = sha256Hex("{}");
    const sources: [string, Record<string, string>][] = [
      ...["a.json", "folder/a.json"].flatMap((path): [string, Record<string, string>][] => [
        ["source.answer_file", { answers_path: path, answers_sha256: emptyDigest }],
        ["source.bit_manifest", { manifest_path: path, manifest_sha256: emptyDigest }],
        ["source.image_dataset", { dataset: "t", image_ids: "", manifest_path: path, manifest_sha256: emptyDigest }],
        ["source.vqa_manifest", { manifest_path: path }],
      ]),
      ...["a.npz", "folder/a.npz"].flatMap((path): [string, Record<string, string>][] => [
        ["source.local_npz_images", { path }],
        ["source.csi_dataset", { origin: "file", dataset_path: path }],
      ]),
      ["source.text_dataset", texts("texts.json")],
      ["source.text_dataset", texts("texts2.json")],
      ["source.text_dataset", texts("lines.json")],
      ["source.text_dataset", texts("lines2.json")],
      ...["a.npz", "a.h5", "a.mat", "folder/a.npz"].map((dataset_path): [string, Record<string, string>] => {
        return ["source.channel_dataset", { dataset_path }];
      }),
      ...["r.cf32", "r.sigmf-meta", "folder/r.sigmf-meta"].map((recording_path): [string, Record<string, string>] => {
        return ["source.iq_recording", { recording_path }];
      }),
    ];
    const withPath = BUILTIN_OPERATIONS.map(({ operation }) => operation).filter(({ id, contract }) =>
      /^source\.(?!external_)/.test(id) &&
      Object.keys(contract.params_schema.properties ?? {}).some((name) => /path$/.test(name))
    );
    assert.deepEqual([...new Set(sources.map(([op]) => op))].sort(), withPath.map(({ id }) => id).sort());
    for (const [op, params] of sources) {
      const recipe = { name: "linked", metadata: { seed: 1 }, steps: [{ id: "source", op, params }] };
      const where = `${op} ${JSON.stringify(params)}`;
      let code: unknown;
      try {
        const { summary } = await session.recipes.run(recipe);
        code = (summary.failure as { code?: string } | undefined)?.code;
      } catch (error) {
        assert.ok(error instanceof SvcError, where);
        code = error.diagnostics[0]?.code ?? error.code;
      }
      assert.ok(["path_refused", "file_not_found", "dataset_unavailable"].includes(String(code)), `${where}: ${code}`);
    }
    // A folder of images names the link, and a pair of a recording does not follow one beside it.
    await assert.rejects(session.data.makeManifest(projectRoot, { id: "x" }), (error) => error instanceof SvcError);
    Deno.removeSync(join(projectRoot, "r.sigmf-meta"));
    put("r.sigmf-meta", sigmf({}));
    await assert.rejects(session.data.inspect(join(projectRoot, "r.sigmf-meta")), { code: "path_refused" });
  } finally {
    Deno.removeSync(outside, { recursive: true });
    Deno.removeSync(projectRoot, { recursive: true });
  }
});
