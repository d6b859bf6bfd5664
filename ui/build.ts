/**
 * Builds the page: one bundle with lazy chunks, one style sheet, the fonts, and scripts and styles compressed with gzip and
 * Brotli. The result lies in `<state_dir>/ui/<digest of the sources>/`; a later start uses it again. Only the first build
 * fetches anything, and that only packages.
 *
 * The page's digest covers the name and the bytes of every built file. The files depend on the sources, the lock file and
 * the version of Deno alone: neither on the working directory nor on the project.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { messageOf, SvcError } from "../lib/contract/error.ts";
import { nodeCrypto, nodeZlib } from "../lib/contract/node_builtins.ts";

/** A built page: where its files lie, and their digest, which stands in their addresses. */
export interface BuiltPage {
  digest: string;
  folder: string;
}

const HERE = new URL("./", import.meta.url);
const ENTRIES = ["main.tsx", "events_worker.ts"];
const SHEETS = ["tokens", "base", "frame", "graph", "forms", "panels", "editor", "charts", "views", "runs"];
const FONTS = ["inter.woff2", "inter_greek.woff2", "jetbrains_mono.woff2"];
/** Written last. Holds the digest of the other files: a build without it, or with another one, is made again. */
const DIGEST_FILE = "digest";
/** Brotli saves 7 % more at 11, in five times the time of 9. */
const BROTLI_QUALITY = 9;

/** The page of a packaged program, which was built with it. */
const BUILT = new URL("built/", HERE);

/**
 * The page of this program: the one that was built with it, the one of the state directory, or a new build.
 *
 * @param stateDir absolute
 * @throws SvcError `page_unavailable` with the reason
 */
export async function buildPage(stateDir: string): Promise<BuiltPage> {
  if (HERE.protocol !== "file:") {
    throw new SvcError("page_unavailable", "Cannot build the page of a program that was imported by URL", {
      hint: "Start the server from a folder: deno run -A cli.ts ui serve",
    });
  }
  const packaged = await builtIn(fileURLToPath(BUILT));
  if (packaged !== null) return packaged;
  const folder = join(stateDir, "ui", await sourcesDigest());
  const built = await builtIn(folder);
  if (built !== null) return built;
  try {
    const files = await bundle();
    files.set("main.css", new TextEncoder().encode(await styles()));
    const coded = await Promise.all([...files].map(([name, bytes]) => compressed(name, bytes)));
    for (const [name, bytes] of coded.flat()) files.set(name, bytes);
    for (const name of FONTS) files.set(name, await Deno.readFile(new URL(`fonts/${name}`, HERE)));
    // The page of other sources goes.
    await rm(join(stateDir, "ui"), { recursive: true, force: true });
    await Deno.mkdir(folder, { recursive: true });
    for (const [name, bytes] of files) await Deno.writeFile(join(folder, name), bytes);
    const digest = digestOf(files);
    await Deno.writeTextFile(join(folder, DIGEST_FILE), digest);
    return { digest, folder };
  } catch (error) {
    throw new SvcError("page_unavailable", `Cannot build the page: ${messageOf(error)}`, {
      hint: "The first build fetches packages; later ones work without a network",
      cause: error,
    });
  }
}

type Files = Map<string, Uint8Array<ArrayBuffer>>;

/** The page in a folder, or null where it is missing, incomplete or altered. */
async function builtIn(folder: string): Promise<BuiltPage | null> {
  try {
    const digest = await Deno.readTextFile(join(folder, DIGEST_FILE));
    const files: Files = new Map();
    for await (const { name } of Deno.readDir(folder)) {
      if (name !== DIGEST_FILE) files.set(name, await Deno.readFile(join(folder, name)));
    }
    return digestOf(files) === digest ? { digest, folder } : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

function digestOf(files: Files): string {
  const hash = nodeCrypto().createHash("sha256");
  for (const name of [...files.keys()].sort()) {
    const bytes = files.get(name)!;
    hash.update(`${name}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex").slice(0, 32);
}

async function compressed(name: string, bytes: Uint8Array): Promise<[string, Uint8Array<ArrayBuffer>][]> {
  const { brotliCompress, gzip, constants } = nodeZlib();
  const [gz, br] = await Promise.all([
    promisify(gzip)(bytes, { level: 9 }),
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  ]);
  return [[`${name}.gz`, new Uint8Array(gz)], [`${name}.br`, new Uint8Array(br)]];
}

/** The scripts by name. */
async function bundle(): Promise<Files> {
  const { bundle } = Deno as unknown as { bundle?: (options: object) => Promise<BundleResult> };
  if (bundle === undefined) {
    throw new Error("this Deno runs without the unstable feature bundle, which deno.json lists");
  }
  const result = await bundle({
    entrypoints: ENTRIES.map((name) => new URL(name, HERE).href),
    outputDir: "/",
    platform: "browser",
    format: "esm",
    minify: true,
    codeSplitting: true,
    write: false,
  });
  if (!result.success) throw new Error(result.errors.map(({ text }) => text).join("; "));
  const outputs = result.outputFiles ?? [];
  return renamed(new Map(outputs.map(({ path, contents }) => [path.split("/").at(-1)!, contents!])));
}

interface BundleResult {
  success: boolean;
  errors: { text: string }[];
  outputFiles?: { path: string; contents?: Uint8Array<ArrayBuffer> }[];
}

/**
 * Numbers the chunks in the order of their first mention, starting at the entries. The bundler names them by hashes over the
 * paths of their sources relative to the working directory; their contents differ in these names alone.
 */
function renamed(files: Files): Files {
  const names = new Map(ENTRIES.map((entry) => entry.replace(/\.tsx?$/, ".js")).map((name) => [name, name]));
  const texts = new Map<string, string>();
  for (const name of names.keys()) {
    const text = new TextDecoder().decode(files.get(name));
    texts.set(name, text);
    for (const [mentioned] of text.matchAll(CHUNK)) {
      if (!files.has(mentioned) || names.has(mentioned)) continue;
      names.set(mentioned, mentioned.replace(/-[0-9A-Z]+\.js$/, `-${names.size}.js`));
    }
  }
  const encoder = new TextEncoder();
  return new Map([...names].map(([name, to]) => {
    return [to, encoder.encode(texts.get(name)!.replace(CHUNK, (mentioned) => names.get(mentioned) ?? mentioned))];
  }));
}

const CHUNK = /\b\w+-[0-9A-Z]{8}\.js\b/g;

async function styles(): Promise<string> {
  const sheets = await Promise.all(SHEETS.map((name) => Deno.readTextFile(new URL(`styles/${name}.css`, HERE))));
  return sheets.join("\n");
}

/** The key of a kept build: the page's folder, the library, of which the page takes a part, the lock file and Deno. */
async function sourcesDigest(): Promise<string> {
  const files: Files = new Map([["deno", new TextEncoder().encode(Deno.version.deno)]]);
  for (const name of ["deno.json", "deno.lock"]) files.set(name, await Deno.readFile(new URL(`../${name}`, HERE)));
  for (const folder of ["ui/", "lib/"]) await readSources(new URL(`../${folder}`, HERE), folder, files);
  return digestOf(files).slice(0, 16);
}

async function readSources(folder: URL, path: string, into: Files): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) await readSources(new URL(`${name}/`, folder), `${path}${name}/`, into);
    else if (/\.(tsx?|css|json|wasm|woff2)$/.test(name)) {
      into.set(path + name, await Deno.readFile(new URL(name, folder)));
    }
  }
}
