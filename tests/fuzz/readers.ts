/** Readers of files: arrays, archives, pictures, artifacts, documents, models, packages, adapters, bundles and results. */
import { dirname, join, relative } from "node:path";
import { detectionsOf, rastersOf } from "../../lib/artifact/vision.ts";
import { openArrays } from "../../lib/artifact/array_file.ts";
import { decodeArtifact } from "../../lib/artifact/codec.ts";
import { parseImageManifest } from "../../lib/artifact/dataset_manifest.ts";
import { makeArchiveManifest } from "../../lib/artifact/image_archive.ts";
import { decodeImage } from "../../lib/artifact/image_file.ts";
import { jpegSubsampling } from "../../lib/artifact/jpeg/decoder.ts";
import { readNpy, readNpyText } from "../../lib/artifact/npy.ts";
import { openNpz, writeNpz } from "../../lib/artifact/npz.ts";
import { parseSigmf, recordedSamples } from "../../lib/artifact/sigmf.ts";
import { clipTokenizer, openTokenizer } from "../../lib/artifact/tokenizer.ts";
import { bitsOf, imagesOf, itemsOf, symbolsOf, textsOf } from "../../lib/artifact/values.ts";
import { readPack } from "../../lib/study/pack/pack.ts";
import { canonicalJson, parseJson } from "../../lib/contract/json.ts";
import type { InputArtifact } from "../../lib/contract/operation.ts";
import type { Value } from "../../lib/contract/value.ts";
import { parseYaml } from "../../lib/contract/yaml.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { readOnnxGraph } from "../../lib/onnx/graph.ts";
import { onnxProblems } from "../../lib/onnx/safety.ts";
import { Session } from "../../lib/api/session.ts";
import { inspectPackage } from "../../lib/training/inspect.ts";
import { openPackage } from "../../lib/training/source.ts";
import mat from "../data/mat5/vectors.json" with { type: "json" };
import arrays from "../data/npy/vectors.json" with { type: "json" };
import pictures from "../data/pictures/vectors.json" with { type: "json" };
import { bytesFrom, damage } from "../lib/artifact/_fuzz.ts";
import { LINK, packOf } from "../lib/http/support.ts";
import { contractOf, packageFiles, zipOf } from "../lib/training/_package.ts";
import { scalingModel } from "../support/onnx_writer.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { changed, changedText, coded, type Fuzzer, looseJson, pick, type Random } from "./inputs.ts";

type Bytes = Uint8Array<ArrayBufferLike>;

interface Reader {
  files: readonly Bytes[];
  read(bytes: Bytes): unknown;
  /** Whether the files are JSON or YAML, whose values and lines are changed too. */
  text?: boolean;
}

const encode = (text: string): Bytes => new TextEncoder().encode(text);
const decode = (bytes: Bytes): string => new TextDecoder().decode(bytes.slice());
/** Metadata of a recording with captures and annotations. */
const SIGMF = JSON.stringify({
  global: { "core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:version": "1.2.0", "core:num_channels": 1 },
  captures: [{ "core:sample_start": 0, "core:frequency": 1e9 }],
  annotations: [{ "core:sample_start": 2, "core:sample_count": 3, "core:label": "qpsk" }],
});

/** A reader that refuses with a SyntaxError, for callers that add the place. */
const syntax = (read: (text: string) => unknown) => (bytes: Bytes) => {
  try {
    return read(decode(bytes));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
};

const ACCESSORS: Record<string, (input: InputArtifact) => unknown> = {
  "channel.bits.numpy": bitsOf,
  "channel.symbols.complex_numpy": symbolsOf,
  "image.batch.numpy": imagesOf,
  "vision.segmentation_mask.numpy": rastersOf,
  "vision.detections.json": detectionsOf,
  "text.batch.json": textsOf,
  "metrics.report": itemsOf,
};

function artifactOf(kind: string): Bytes {
  const numpy = (array: ReturnType<typeof ndarray>, metadata: string) =>
    writeNpz({ main: array, metadata_json: metadata }).slice();
  if (kind.includes("bits")) {
    return numpy(
      ndarray("uint8", new Uint8Array([0, 1, 1, 0])),
      '{"array":"main","boundary_contract":"a","bit_count":4,"source_item_bit_counts":[3,1]}',
    );
  }
  if (kind.includes("symbols")) {
    return numpy(
      ndarray("complex64", new Float32Array([1, -1, 0.5, 2])),
      '{"array":"main","boundary_contract":"a","symbol_count":2}',
    );
  }
  if (kind.includes("numpy")) {
    return numpy(
      ndarray("uint8", new Uint8Array(12), kind.includes("image") ? [1, 2, 2, 3] : [1, 3, 4]),
      '{"array":"main","boundary_contract":"a","image_count":1,"class_names":["a","b"],"item_ids":["x"]}',
    );
  }
  const items = [{
    id: "a",
    text: "b",
    width: 2,
    height: 2,
    detections: [{ box: [0.5, 0.5, 1.5, 2.5], label: "x", score: 0.5 }],
  }];
  return encode(
    canonicalJson({ kind: kind.replace(/\.json$/, ""), schema_version: 1, items, metadata: { item_count: 1 } }) + "\n",
  );
}

const MANIFEST = {
  schema_version: 1,
  kind: "svc.image_dataset_manifest",
  id: "own",
  version: "1",
  samples: [{ sample_id: "a", path: "a.png", sha256: "0".repeat(64), width: 2, height: 2, split: "test" }],
};

/** Files below a folder by relative path. */
function filesOf(folder: string, at = folder): Record<string, Bytes> {
  return Object.assign(
    {},
    ...[...Deno.readDirSync(at)].map(({ name, isDirectory }) => {
      const path = join(at, name);
      return isDirectory ? filesOf(folder, path) : { [relative(folder, path)]: Deno.readFileSync(path) };
    }),
  );
}

export async function open(folder: string): Promise<Fuzzer> {
  const svc = new Session({ projectRoot: folder });
  await svc.registry();
  const put = (path: string, bytes: Bytes) => {
    Deno.mkdirSync(dirname(join(folder, path)), { recursive: true });
    // Committed artifacts are read-only, and a rename gives the file another time stamp.
    Deno.writeFileSync(join(folder, "next"), bytes);
    Deno.renameSync(join(folder, "next"), join(folder, path));
  };
  const adapters = [...Deno.readDirSync(join(ROOT_PATH, "adapters"))].map(({ name }) =>
    join(ROOT_PATH, "adapters", name)
  );
  const packs = [...Deno.readDirSync(join(ROOT_PATH, "benchmarks"))].filter(({ isDirectory }) => isDirectory)
    .flatMap(({ name }) => Object.entries(filesOf(join(ROOT_PATH, "benchmarks", name))))
    .filter(([name]) => name.endsWith(".yaml")).map(([, bytes]) => bytes);
  const tokenizer = (vocab: Bytes) => openTokenizer(clipTokenizer(vocab, encode("#version: 0.2\na b\n"))).encode("a b");
  const readers: Record<string, Reader> = {
    npy: {
      files: [...arrays.arrays.map(({ file }) => file), ...Object.values(arrays.refused)].map(bytesFrom),
      read: (bytes) => readNpy(bytes),
    },
    "npy text": { files: arrays.texts.map(({ file }) => bytesFrom(file)), read: (bytes) => readNpyText(bytes) },
    npz: {
      files: Object.values(arrays.archives).map(bytesFrom),
      read(bytes) {
        const file = openNpz(bytes);
        for (const name of file.names) file.array(name);
      },
    },
    "MATLAB file": {
      files: [mat.plain, mat.compressed, mat.big_endian, mat.paths, mat.others].map(bytesFrom),
      async read(bytes) {
        using file = await openArrays(bytes, "a.mat", []);
        for (const name of file.names) file.array(name);
      },
    },
    "SigMF metadata": {
      files: [encode(SIGMF)],
      read(bytes) {
        const form = parseSigmf(bytes, "a.sigmf-meta");
        recordedSamples(new Uint8Array(64), form, { name: "a", channel: 0, first: 0, count: 0 });
      },
      text: true,
    },
    "IDX file": {
      files: [Uint8Array.of(0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)],
      read: (bytes) => makeArchiveManifest([{ path: "x-images-idx3-ubyte", bytes }], {}),
    },
    "CIFAR-10 file": {
      files: [new Uint8Array(2 * 3073)],
      read: (bytes) => makeArchiveManifest([{ path: "test_batch.bin", bytes }], {}),
    },
    picture: {
      files: [...pictures.pngs, ...pictures.jpegs].map(({ file }) => bytesFrom(file)),
      read: (bytes) => decodeImage(bytes, { maxPixels: 1_000_000 }),
    },
    "JPEG header": { files: pictures.jpegs.map(({ file }) => bytesFrom(file)), read: jpegSubsampling },
    ...Object.fromEntries(
      Object.entries(ACCESSORS).map(([kind, access]): [string, Reader] => [`artifact ${kind}`, {
        files: [artifactOf(kind)],
        text: !kind.includes("numpy"),
        async read(bytes) {
          const artifact = decodeArtifact(kind, bytes);
          await coded(() => access(artifact));
          artifact.modified();
        },
      }]),
    ),
    yaml: {
      files: [encode("a: &x [1, 1.0, {b: !!binary aGk=}]\nc: *x\n? [d]\n: |\n  e\n"), ...packs],
      read: syntax(parseYaml),
      text: true,
    },
    json: {
      files: [encode('{"a":[1,1.0,-0.0,1e300,"\\ud83d\\ude00"],"b":{"c":null}}')],
      text: true,
      read: syntax((text) => {
        const value = parseJson(text);
        const written = canonicalJson(value);
        if (canonicalJson(parseJson(written)) !== written) throw new Error(`JSON changes when it is read: ${written}`);
      }),
    },
    "image manifest": {
      files: [encode(JSON.stringify(MANIFEST))],
      read: (bytes) => parseImageManifest(bytes.slice()),
      text: true,
    },
    pack: { files: packs, read: (bytes) => readPack(decode(bytes), "pack.yaml"), text: true },
    onnx: {
      files: [scalingModel(["batch", 2, null], 3)],
      read: (bytes) => onnxProblems(readOnnxGraph(bytes), ["components", 0], "model.onnx"),
    },
    package: {
      files: [zipOf(packageFiles())],
      read: (bytes) => inspectPackage(openPackage(bytes.slice(), "p.zip"), { contractOf }),
    },
    "package manifest": {
      files: [packageFiles().get("trained_artifact.yaml")!],
      text: true,
      read: (bytes) =>
        inspectPackage(
          openPackage(zipOf(new Map([...packageFiles(), ["trained_artifact.yaml", bytes]])).slice(), "p.zip"),
          { contractOf },
        ),
    },
    tokenizer: {
      files: [encode('{"a</w>":0,"b</w>":1,"a":2,"b":3,"<|endoftext|>":4,"<|startoftext|>":5}')],
      read: tokenizer,
      text: true,
    },
    adapter: {
      files: adapters.map((path) => Deno.readFileSync(join(path, "svc_adapter.yaml"))),
      text: true,
      async read(bytes) {
        Deno.mkdirSync(join(folder, "adapter"), { recursive: true });
        for (const [path, file] of Object.entries(filesOf(adapters[0]))) put(join("adapter", path), file);
        put("adapter/svc_adapter.yaml", bytes);
        await svc.adapters.inspect(join(folder, "adapter"));
      },
    },
  };

  // A bundle and a result, of which one file is damaged at a time.
  for (
    const [path, document] of Object.entries({
      "recipes/link.yaml": LINK,
      "benchmarks/p/p.yaml": packOf("p", ["link.yaml"]),
    })
  ) {
    Deno.mkdirSync(dirname(join(folder, path)), { recursive: true });
    Deno.writeTextFileSync(join(folder, path), JSON.stringify(document).replaceAll("../recipes", "../../recipes"));
  }
  const { run_id, directory } = await svc.recipes.run(LINK);
  const benchmark = await svc.benchmarks.run(join(folder, "benchmarks/p/p.yaml"));
  const { result_id: id } = benchmark.result;
  const stored: [string, (() => Promise<unknown>)[]][] = [
    [
      relative(folder, directory),
      [
        () => svc.runs.verify(run_id),
        () => svc.runs.show(run_id),
        () => svc.runs.list(),
        () => svc.runs.recipe(run_id),
      ],
    ],
    [
      relative(folder, benchmark.directory),
      [() => svc.benchmarks.verify(id), () => svc.benchmarks.results(), () => svc.benchmarks.tables(id)],
    ],
  ];
  for (const [at, calls] of stored) {
    for (const [path, bytes] of Object.entries(filesOf(join(folder, at)))) {
      readers[`${at.split("/").slice(0, 2).join("/")} ${path}`] = {
        files: [bytes],
        text: /\.(json|yaml|jsonl|txt|csv)$/.test(path),
        async read(damaged) {
          put(join(at, path), damaged);
          try {
            for (const call of calls) await coded(call);
          } finally {
            put(join(at, path), bytes);
          }
        },
      };
    }
  }

  const names = Object.keys(readers);
  const text = (name: string, content: string) => async () =>
    void await coded(() => readers[name].read(encode(content)));
  return {
    corpus: {
      "half a surrogate pair in an image manifest": text(
        "image manifest",
        '{"schema_version":1,"kind":"svc.image_dataset_manifest","id":"\\ud800"}',
      ),
      "1.8 MB of dashes": text("yaml", "- ".repeat(900_000)),
      "9,000 open brackets": text("json", "[".repeat(9000)),
      "an adapter manifest with 5,000 unknown members": text(
        "adapter",
        Array.from({ length: 5000 }, (_, n) => `k${n}: 1\n`).join(""),
      ),
    },
    async perform(random) {
      const name = pick(random, names), { files, read, text } = readers[name];
      const input = bent(pick(random, files), text === true, random);
      try {
        await coded(() => read(input));
      } catch (error) {
        throw new Error(`${name}: ${(error as Error).stack}\n${JSON.stringify(decode(input).slice(0, 2000))}`);
      }
    },
    close: () => svc.close(),
  };
}

/** Damaged bytes, or a changed document. */
function bent(bytes: Bytes, text: boolean, random: Random): Bytes {
  const kind = text ? random(3) : 0;
  if (kind === 0) return damage(bytes.slice(), random);
  if (kind === 1) return encode(changedText(decode(bytes), random));
  let value: Value;
  try {
    value = parseYaml(decode(bytes));
  } catch {
    return damage(bytes.slice(), random);
  }
  return encode(looseJson(changed(value, random)));
}
