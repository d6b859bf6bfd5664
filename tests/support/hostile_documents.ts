/**
 * Documents of a hostile author: each string and number of a valid document in turn becomes a path, a link, a control
 * sequence, a giant or an extreme number. Commands that read such documents must end with success or a coded error, change
 * nothing outside, keep to a bound of memory and processor time, and print no control characters.
 */
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { dirname, join } from "node:path";
import { exists, isPlainFile } from "../../lib/artifact/path_kind.ts";
import { SvcError } from "../../lib/contract/error.ts";
import { canonicalJson, parseJson, prettyJson } from "../../lib/contract/json.ts";
import { float, isNumber, isObject, type Value } from "../../lib/contract/value.ts";
import { sha256Hex } from "../../lib/contract/hash.ts";
import { listFiles } from "../../lib/run/files.ts";
import { openTestServer } from "../lib/http/support.ts";
import { svc } from "./cli.ts";
import { ROOT_PATH } from "./paths.ts";
import { tables } from "./tables.ts";
import { measureResources, type Resources } from "./resources.ts";
import { temporaryFolder } from "./temporary.ts";

const DATA = tables(import.meta.url);

/** Commands that read a document, with values for `$NAME`; the body of a request is the rest of its line. */
function commandsOf(document: string, values: Record<string, string> = {}): string[][] {
  return (DATA[document] as string[]).map((line) => {
    const filled = Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`$${name}`, value), line);
    const request = /^(GET|POST) (\S+) ?(.*)$/.exec(filled)?.slice(1).filter((part) => part !== "");
    return request ?? filled.split(" ");
  });
}

const PACK = `schema_version: 1
id: hostile_pack
version: "1"
dataset: {id: synthetic_random_bits}
task: {id: bit_transport}
metrics: [channel.ber]
baselines: [low]
replication: {replicates: 2}
recipes:
  - {id: low, path: link.yaml}
`;
const LINK = `name: link
metadata: {research: {task: {id: bit_transport}}}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 200}}
  - {id: link, op: wireless.digital_link, params: {snr_db: 0.0}, inputs: {bits: data.bits}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: link.bits}}
`;

const RECEIVER = (sha256: string) =>
  `name: receiver
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 64}}
  - {id: symbols, op: modulation.digital_modulate, params: {modulation: qpsk}, inputs: {bits: data.bits}}
  - {id: channel, op: wireless.channel, inputs: {symbols: symbols.symbols}}
  - id: receiver
    op: demodulation.neural_receiver_adapter
    params: {mode: learned_artifact, modulation: qpsk, artifact_manifest_path: .svc/trained_artifacts/${sha256}, artifact_package_sha256: ${sha256}}
    inputs: {rx_symbols: channel.rx_symbols}
`;
/** Steps that read a manifest, by its path without the ending; each pins it. */
const READERS = {
  "images/manifest": "source.image_dataset, params: {dataset: images, image_ids: '', split: test, crop_size: 8,",
  texts: "source.text_dataset, params: {dataset: texts,",
  bits: "source.bit_manifest, params: {",
};

const MODEL = ".svc/models/hostile__model/1";
const FETCHED: Value = {
  id: "hostile/model",
  revision: "1",
  files: {
    "model.onnx": {
      url: "https://example.org/model.onnx",
      sha256: sha256Hex("not a network"),
      size_bytes: 13,
    },
  },
  fetched_at_utc: "2026-01-01T00:00:00.000Z",
};
/** The trust file lies beside the other documents. */
const ENV = { SVC_TRUST: "trust.json" };

/** A document below the project, and the commands that read it. */
export interface HostileDocument {
  /** Relative to the project. */
  path: string;
  /** Arguments of `svc`; or of a request the method, the path and the body. */
  commands: string[][];
  /** Recipe of the same author with the digest of the document. */
  pinnedBy?: string;
}

/** A project with runs, a result, shards and marks, beside a tree of canaries. */
export interface HostileProject {
  /** Holds `project` and `canaries`. */
  folder: string;
  documents: HostileDocument[];
}

/** Makes the project once; each case works on a copy. */
export async function hostileProject(folder: string): Promise<HostileProject> {
  const project = join(folder, "project");
  Deno.mkdirSync(project, { recursive: true });
  for (const path of ["a.json", "deep/summary.json", "deep/b/c.npz", ".staging-x/d", "runs/e.tmp"]) {
    Deno.mkdirSync(dirname(join(folder, "canaries", path)), { recursive: true });
    Deno.writeTextFileSync(join(folder, "canaries", path), path);
  }
  Deno.writeTextFileSync(join(project, "link.yaml"), LINK);
  Deno.writeTextFileSync(join(project, "pack.yaml"), PACK);
  const done = async (...args: string[]) => {
    const { code, stdout, stderr } = await svc(args, { cwd: project, env: ENV });
    assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  for (let count = 0; count < 2; count++) await done("recipe", "run", "link.yaml");
  await done("benchmark", "run", "pack.yaml");
  for (const index of ["0", "1"]) {
    await done("benchmark", "shard", "pack.yaml", "--index", index, "--count", "2", "--out", `shards/${index}`);
  }
  const ids = [...(await done("runs", "list", "--json")).matchAll(/"run_id": "([^"]+_link[^"]*)"/g)].map(([, id]) =>
    id
  );
  await done("runs", "prune", ids[1]);
  await done("adapter", "scaffold", "bits", "codec");
  await done("adapter", "trust", "codec", "--yes");
  Deno.mkdirSync(join(project, MODEL), { recursive: true });
  Deno.writeTextFileSync(join(project, MODEL, "model.onnx"), "not a network");
  Deno.writeTextFileSync(join(project, MODEL, "fetch.json"), prettyJson(FETCHED));
  const sha256 = await artifactOf(project, done);
  await datasetsOf(project, done);
  const marked = [
    "POST",
    "/api/runs/marks",
    JSON.stringify({ ids: [ids[0]], starred: true, add_tags: ["a"], note: "b" }),
  ];
  assert.equal((await requested(marked, project)).code, 0);
  const view = ["POST", "/api/runs/views", JSON.stringify({ name: "view", query: "status=completed" })];
  assert.equal((await requested(view, project)).code, 0);
  const [result] = [...Deno.readDirSync(join(project, ".svc/benchmarks"))].map(({ name }) => name)
    .filter((name) => !name.startsWith("."));
  return { folder, documents: [...documentsOf(project, ids, result), ...artifactDocuments(sha256)] };
}

type Done = (...args: string[]) => Promise<string>;

/** Imports a package whose manifest is JSON. @returns its digest */
async function artifactOf(project: string, done: Done): Promise<string> {
  const source = join(ROOT_PATH, "recipes/models/qpsk-iq-receiver-v1"), folder = join(project, "package");
  cpSync(source, folder, { recursive: true });
  const { manifest } = JSON.parse(await done("artifact", "show", source, "--json"));
  Deno.removeSync(join(folder, "trained_artifact.yaml"));
  Deno.writeTextFileSync(join(folder, "trained_artifact.json"), prettyJson(manifest));
  const { artifact: { package_sha256 } } = JSON.parse(await done("artifact", "import", "package", "--json"));
  Deno.writeTextFileSync(join(project, "receiver.yaml"), RECEIVER(package_sha256));
  await done("recipe", "run", "receiver.yaml");
  return package_sha256;
}

/** Manifests of an image, of texts and of bits, with a recipe for each. */
async function datasetsOf(project: string, done: Done): Promise<void> {
  Deno.mkdirSync(join(project, "images"));
  Deno.mkdirSync(join(project, "recipes"));
  Deno.copyFileSync(join(ROOT_PATH, "recipes/samples/camera.png"), join(project, "images/camera.png"));
  Deno.writeTextFileSync(join(project, "texts.txt"), "one\ntwo\n");
  Deno.writeFileSync(join(project, "bits.bin"), new Uint8Array(5000));
  await done("data", "make-manifest", "images");
  await done("data", "make-manifest", "texts.txt", "--lines", "--id", "texts", "--out", "texts.json");
  await done("data", "make-manifest", "bits.bin", "--out", "bits.json");
  for (const [name, step] of Object.entries(READERS)) {
    const path = `${name}.json`, recipe = readerOf(path);
    const pin = `manifest_path: ${path}, manifest_sha256: ${sha256Hex(Deno.readFileSync(join(project, path)))}`;
    Deno.writeTextFileSync(join(project, recipe), `name: reader\nsteps:\n  - {id: data, op: ${step} ${pin}}}\n`);
    await done("recipe", "run", recipe);
  }
}

/** The recipe that reads a manifest. */
const readerOf = (manifest: string) => `recipes/${manifest.replace(/\W/g, "_")}.yaml`;

function artifactDocuments(sha256: string): HostileDocument[] {
  const stored = commandsOf("artifact", { ARTIFACT: sha256 }), loose = commandsOf("package");
  return [
    ...["trained_artifact.json", "slot_contract.json"].flatMap((name) => [
      { path: `package/${name}`, commands: loose },
      { path: `.svc/trained_artifacts/${sha256}/${name}`, commands: stored },
    ]),
    { path: `.svc/trained_artifacts/${sha256}/.svc_import.json`, commands: stored },
    ...Object.keys(READERS).map((name): HostileDocument => {
      const path = `${name}.json`, pinnedBy = readerOf(path);
      return { path, pinnedBy, commands: commandsOf("manifest", { RECIPE: pinnedBy, MANIFEST: path }) };
    }),
  ];
}

function documentsOf(project: string, [run, pruned]: string[], result: string): HostileDocument[] {
  const results = commandsOf("result", { RESULT: result }), merge = commandsOf("merge");
  const bundle = (id: string, name: string) => ({
    path: `.svc/runs/${id}/${name}`,
    commands: commandsOf("run", { RUN: id }),
  });
  const documents = [
    ...["summary.json", "manifest.json", "execution-plan.json", "recipe.json", "recipe.authored.json", "SHA256SUMS"]
      .map((name) => bundle(run, name)),
    bundle(pruned, "pruned.json"),
    ...listFiles(join(project, ".svc/benchmarks", result)).map(({ path }) => ({
      path: `.svc/benchmarks/${result}/${path}`,
      commands: results,
    })),
    ...listFiles(join(project, "shards/0")).filter(({ path }) => path.startsWith("benchmarks/"))
      .map(({ path }) => ({ path: `shards/0/${path}`, commands: merge })),
    { path: "trust.json", commands: commandsOf("trust") },
    { path: `${MODEL}/fetch.json`, commands: commandsOf("model") },
    { path: ".svc/run_marks.json", commands: commandsOf("marks", { RUN: run }) },
    { path: ".svc/index.sqlite3", commands: commandsOf("index") },
  ];
  return documents.filter(({ path }) => /\.(json|sqlite3)$|SUMS$|\.attempt-ledger$/.test(path));
}

type Place = (string | number)[];

/** Places of the strings and numbers of a document; of the items of a list, the first and the last. */
function* leaves(value: Value, place: Place = []): Generator<Place> {
  if (typeof value === "string" || isNumber(value)) yield place;
  else if (Array.isArray(value)) {
    for (const at of new Set([0, value.length - 1])) {
      if (at >= 0 && at < value.length) yield* leaves(value[at], [...place, at]);
    }
  } else if (isObject(value)) { for (const [key, item] of Object.entries(value)) yield* leaves(item, [...place, key]); }
}

const TEXTS = (canaries: string): Record<string, Value> => ({
  "a path outside": "../../../../canaries/deep",
  "a path through its folder": "artifacts/../../../../../canaries/a.json",
  "a parent": "..",
  "an absolute path": join(canaries, "a.json"),
  "a link": "artifacts/hostile_link/a.json",
  "a control sequence": "\x1b]52;c;aGk=\x07\x1b[2J",
  "control characters": "a\r\n\u0000\u009b31m\u202egnp.exe\u2028",
  "a giant": "x".repeat(10_000_000),
  "null": null,
});
const NUMBERS: Record<string, Value> = {
  "-1": -1,
  "1e9": 1_000_000_000,
  "1e308": float(1e308),
  "a null": null,
  "a text": "..",
};

/** One change of a document. */
export interface HostileCase {
  name: string;
  document: HostileDocument;
  /** Writes the changed document to its place, which is free. */
  write(path: string, canaries: string): void | Promise<unknown>;
}

/** What is at the place of a document in place of a file with it. */
const PLACES: Record<string, HostileCase["write"]> = {
  "a link to a file": (path, canaries) => Deno.symlinkSync(join(canaries, "a.json"), path),
  "a link to a folder": (path, canaries) => Deno.symlinkSync(canaries, path),
  "a link to a missing file": (path, canaries) => Deno.symlinkSync(join(canaries, "new"), path),
  "a folder": (path) => Deno.mkdirSync(path),
  "a sparse giant": (path) => Deno.createSync(path).truncateSync(2 ** 36),
  "an empty file": (path) => Deno.writeTextFileSync(path, ""),
  "bytes that are no text": (path) => Deno.writeFileSync(path, Uint8Array.from({ length: 999 }, (_, at) => at)),
  ...(Deno.build.os === "linux"
    ? { "a pipe": (path: string) => new Deno.Command("mkfifo", { args: [path] }).output() }
    : {}),
};

/** All cases of a document: other things at its place, and each leaf with each value. */
export function casesOf({ folder }: HostileProject, document: HostileDocument): HostileCase[] {
  const places = Object.entries(PLACES).map(([kind, write]) => ({
    name: `${document.path}: ${kind}`,
    document,
    write,
  }));
  return [...places, ...changes(Deno.readTextFileSync(join(folder, "project", document.path)), document)];
}

function changes(original: string, document: HostileDocument): HostileCase[] {
  const of = (name: string, text: (canaries: string) => string): HostileCase => ({
    name: `${document.path} ${name}`,
    document,
    write: (path, canaries) => Deno.writeTextFileSync(path, text(canaries)),
  });
  if (document.path.endsWith("SUMS")) {
    return Object.keys(TEXTS("")).map((kind) =>
      of(`the path of a line: ${kind}`, (canaries) => original.replace(/ {2}.+\n/, `  ${TEXTS(canaries)[kind]}\n`))
    );
  }
  if (document.path.endsWith(".sqlite3")) return [];
  // A ledger has a document in each line.
  const lines = !document.path.endsWith(".json"), parts = lines ? original.trimEnd().split("\n") : [original];
  return parts.flatMap((part, index) => {
    const value = parseJson(part);
    return [...leaves(value)].flatMap((place) => {
      const isText = typeof place.reduce<Value>((at, key) => (at as Record<string, Value>)[key], value) === "string";
      return Object.keys(isText ? TEXTS("") : NUMBERS).map((kind) =>
        of(`${lines ? `line ${index + 1} ` : ""}${place.join(".")}: ${kind}`, (canaries) => {
          const changed = parseJson(part), last = place.at(-1)!;
          const parent = place.slice(0, -1).reduce<Value>((at, key) => (at as Record<string, Value>)[key], changed);
          (parent as Record<string, Value>)[last] = (isText ? TEXTS(canaries) : NUMBERS)[kind];
          if (!lines) return prettyJson(changed);
          return parts.map((one, at) => (at === index ? canonicalJson(changed) : one)).join("\n") + "\n";
        })
      );
    });
  });
}

// deno-lint-ignore no-control-regex -- none of these may be printed
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const MAX_CPU_MS = 10_000;
const MAX_PEAK_BYTES = 2 ** 30;

/** Outcome of a command or a request. */
interface Outcome {
  /** 0 for success. */
  code: number;
  text: string;
  used: Resources;
}

/** Sends a request to a service in this process, and waits for the end of a job that it begins. */
async function requested([method, path, body]: string[], project: string): Promise<Outcome> {
  const used = measureResources();
  try {
    await using server = await openTestServer({ folder: project, files: {} });
    const reply = method === "GET" ? await server.get(path) : await server.post(path, body);
    const job = reply.status === 202 ? reply.headers.get("location") : null;
    const { status, text } = job === null ? reply : await server.get(`${job}/wait?timeout_seconds=60`);
    return { code: status < 400 ? 0 : 1, text, used: used() };
  } catch (error) {
    // The state directory is refused before the service listens.
    if (!(error instanceof SvcError)) throw error;
    return { code: 1, text: error.message, used: used() };
  }
}

async function commanded(command: string[], cwd: string): Promise<Outcome> {
  const { code, stdout, stderr, used } = await svc(command, { cwd, env: ENV });
  return { code, text: stderr + stdout, used: used! };
}

/** A bound against commands that wait for ever. */
async function inTime<T>(name: string, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${name} does not end`)), 120_000);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Gives a recipe the digest of a document that its author has changed. */
function pin(recipe: string, document: string): void {
  if (Deno.statSync(document).size > 2 ** 30) return;
  const sha256 = sha256Hex(Deno.readFileSync(document)), text = Deno.readTextFileSync(recipe);
  Deno.writeTextFileSync(recipe, text.replace(/(manifest_sha256: )[0-9a-f]+/, `$1${sha256}`));
}

/**
 * Runs commands on a copy of the project with one changed document.
 * @returns faults: outcomes without a code, changed canaries, printed control characters
 * @throws Error where a command does not end
 */
export async function faultsOf({ folder }: HostileProject, one: HostileCase, commands: string[][]): Promise<string[]> {
  const faults: string[] = [];
  for (const command of commands) {
    const copy = temporaryFolder("svc-author-");
    cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
    const canaries = join(copy, "canaries"), project = join(copy, "project"), path = join(project, one.document.path);
    const artifacts = join(dirname(path), "artifacts");
    if (exists(artifacts)) Deno.symlinkSync(canaries, join(artifacts, "hostile_link"));
    Deno.removeSync(path);
    await one.write(path, canaries);
    if (one.document.pinnedBy !== undefined && isPlainFile(path)) pin(join(project, one.document.pinnedBy), path);
    const tree = () => listFiles(canaries).map(({ path }) => [path, Deno.readTextFileSync(join(canaries, path))]);
    const before = tree();
    const isRequest = /^[A-Z]+$/.test(command[0]);
    const { code, text, used } = await inTime(
      `${one.name}: ${command.join(" ")}`,
      (isRequest ? requested : commanded)(command, project),
    );
    const fault = (what: string) => faults.push(`${one.name}\n  ${command.join(" ")}: ${what}`);
    if (/internal_error|defect of svc|SuppressedError|^\s+at .*:\d+:\d+/m.test(text)) {
      fault(`no code: ${text.slice(0, 600)}`);
    }
    if (code !== 0 && text === "") fault("an error without a message");
    // A reply is JSON, whose reader escapes texts.
    const printed = isRequest ? null : CONTROL.exec(text);
    if (printed !== null) fault(`it prints U+${printed[0].charCodeAt(0).toString(16)}`);
    if (used.cpuMs > MAX_CPU_MS) fault(`it takes ${used.cpuMs.toFixed(0)} ms of processor time`);
    if (used.peakBytes > MAX_PEAK_BYTES) fault(`the process has grown by ${used.peakBytes} bytes`);
    try {
      assert.deepEqual(tree(), before);
    } catch {
      fault("a canary changed");
    }
  }
  return faults;
}
