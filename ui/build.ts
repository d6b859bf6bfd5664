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
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { messageOf, SvcError } from "../lib/contract/error.ts";
import { nodeCrypto, nodeZlib } from "../lib/contract/node_builtins.ts";
import { BESIDE, closureOf, joined, viewsOf } from "./join.ts";

/** A built page: where its files lie, and their digest, which stands in their addresses. */
export interface BuiltPage {
  digest: string;
  folder: string;
  /** The scripts that the frame imports at once, and by view those that it has besides. */
  scripts: { frame: string[]; views: Record<string, string[]> };
}

/** The folder of the page's sources: this one, or its fetched copy. */
function sources(program: string | null): URL {
  const here = new URL("./", import.meta.url);
  if (here.protocol === "file:") return here;
  if (program !== null) return new URL("ui/", pathToFileURL(`${program}/`));
  throw new SvcError("page_unavailable", "Cannot build the page: the files of this program were not fetched", {
    hint: "Make the origin of the program reachable once, or start the server from a folder",
  });
}
const MAIN = "main.tsx";
/** Scripts that stand for themselves. */
const ALONE = ["events_worker.ts", "boot.ts"];
const SHEETS = ["tokens", "base", "frame", "graph", "forms", "panels", "editor", "charts", "views", "runs"];
/** Files that are taken as they are: their folders, and the ends of their names. */
const TAKEN = [["fonts/", ".woff2"], ["pictures/", ".jpg"]] as const;
/** Written last. Holds the digest of the other files: a build without it, or with another one, is made again. */
const DIGEST_FILE = "digest";
/** Brotli saves 7 % more at 11, in five times the time of 9: small files, among them those of the first load, take it. */
const BROTLI_QUALITY = ({ length }: Uint8Array) => length < 60_000 ? 11 : 9;

/**
 * The page of this program: the one that was built with it, the one of the state directory, or a new build.
 *
 * @param stateDir absolute
 * @param program folder of the fetched files of a program that was imported by URL
 * @throws SvcError `page_unavailable` with the reason
 */
export async function buildPage(stateDir: string, program: string | null = null): Promise<BuiltPage> {
  const here = sources(program);
  // The page of a packaged program was built with it.
  const packaged = await builtIn(fileURLToPath(new URL("built/", here)));
  if (packaged !== null) return packaged;
  const folder = join(stateDir, "ui", sourcesKey ??= await sourcesDigest(here));
  const built = await builtIn(folder);
  if (built !== null) return built;
  try {
    const encoder = new TextEncoder();
    const files: Files = new Map([...await scripts(here)].map(([name, text]) => [name, encoder.encode(text)]));
    files.set("main.css", encoder.encode(await styles(here)));
    const coded = await Promise.all([...files].map(([name, bytes]) => compressed(name, bytes)));
    for (const [name, bytes] of coded.flat()) files.set(name, bytes);
    for (const [folder, end] of TAKEN) {
      for (const { name } of Deno.readDirSync(new URL(folder, here))) {
        if (name.endsWith(end)) files.set(name, await Deno.readFile(new URL(folder + name, here)));
      }
    }
    // The page of other sources goes.
    await rm(join(stateDir, "ui"), { recursive: true, force: true });
    await Deno.mkdir(folder, { recursive: true });
    for (const [name, bytes] of files) await Deno.writeFile(join(folder, name), bytes);
    const digest = digestOf(files);
    await Deno.writeTextFile(join(folder, DIGEST_FILE), digest);
    return { digest, folder, scripts: scriptsOf(files) };
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
    return digestOf(files) === digest ? { digest, folder, scripts: scriptsOf(files) } : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

function scriptsOf(files: Files): BuiltPage["scripts"] {
  const texts = textsOf([...files].filter(([name]) => name.endsWith(".js"))), frame = closureOf(texts, "main.js");
  const views = viewsOf(texts.get("main.js")!).map(([view, name]) => {
    return [view, [...closureOf(texts, name).difference(frame)]] as [string, string[]];
  });
  return { frame: [...frame], views: Object.fromEntries(views) };
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
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY(bytes) } }),
  ]);
  return [[`${name}.gz`, new Uint8Array(gz)], [`${name}.br`, new Uint8Array(br)]];
}

/** The scripts by name. */
async function scripts(here: URL): Promise<Map<string, string>> {
  const folder = await Deno.makeTempDir({ prefix: "svc-page-" }), pathOf = (name: string) => join(folder, name);
  try {
    const split = renamed(await bundle(here, [fileURLToPath(new URL(MAIN, here))], { codeSplitting: true }));
    const files = await joined(split, "main.js", async (texts, entries) => {
      for (const [name, text] of texts) await Deno.writeTextFile(pathOf(name), text);
      return await bundle(here, entries.map(pathOf), { external: [`${BESIDE}*`] });
    });
    // The worker and the first script wait for no others: each has its own copy of what it imports.
    for (const name of ALONE) {
      for (const [to, text] of await bundle(here, [fileURLToPath(new URL(name, here))], { format: "iife" })) {
        files.set(to, text);
      }
    }
    return files;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Bundles scripts by their paths. Another Deno makes them: `Deno.bundle` takes the settings of the working directory, so that
 * elsewhere it would neither follow the import map nor the lock file.
 */
async function bundle(
  here: URL,
  entries: string[],
  { codeSplitting, external = [], format = "esm" }: { codeSplitting?: boolean; external?: string[]; format?: string } =
    {},
): Promise<Map<string, string>> {
  const folder = await Deno.makeTempDir({ prefix: "svc-page-" });
  try {
    const path = (name: string) => fileURLToPath(new URL(name, here));
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["bundle", "--quiet", "--platform", "browser", "--format", format, "--minify"],
        ...(codeSplitting ? ["--code-splitting"] : []),
        ...external.flatMap((pattern) => ["--external", pattern]),
        ...["--config", path("../deno.json"), "--frozen", "--lock", path("../deno.lock")],
        ...["--outdir", folder, ...entries],
      ],
      cwd: path("../"),
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr).trim());
    return textsOf(filesUnder(folder));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const textsOf = (files: Iterable<[string, Uint8Array]>) =>
  new Map([...files].map(([name, bytes]) => [name, new TextDecoder().decode(bytes)]));

function* filesUnder(folder: string): Generator<[string, Uint8Array<ArrayBuffer>]> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) yield* filesUnder(join(folder, name));
    else yield [name, Deno.readFileSync(join(folder, name))];
  }
}

/**
 * Numbers the chunks in the order of their first mention, from the entry on. The bundler names them by hashes over the
 * paths of their sources relative to the working directory; their contents differ in these names alone.
 */
function renamed(files: ReadonlyMap<string, string>): Map<string, string> {
  const names = new Map([["main.js", "main.js"]]);
  for (const name of names.keys()) {
    for (const [mentioned] of files.get(name)!.matchAll(CHUNK)) {
      if (!files.has(mentioned) || names.has(mentioned)) continue;
      names.set(mentioned, mentioned.replace(/-[0-9A-Z]+\.js$/, `-${names.size}.js`));
    }
  }
  return new Map([...names].map(([name, to]) => {
    return [to, files.get(name)!.replace(CHUNK, (mentioned) => names.get(mentioned) ?? mentioned)];
  }));
}

const CHUNK = /\b\w+-[0-9A-Z]{8}\.js\b/g;

async function styles(here: URL): Promise<string> {
  const sheets = await Promise.all(SHEETS.map((name) => Deno.readTextFile(new URL(`styles/${name}.css`, here))));
  // Without comments, and without space that separates nothing.
  return sheets.join("\n").replaceAll(/\/\*[^]*?\*\/|\s*\n\s*/g, "").replaceAll(/\s*([{};,])\s*/g, "$1").replaceAll(
    ": ",
    ":",
  )
    .replaceAll(";}", "}");
}

/** Made once by a program, for all its servers. */
let sourcesKey: string | undefined;

/** The key of a kept build: the page's folder, the library, of which the page takes a part, the lock file and Deno. */
async function sourcesDigest(here: URL): Promise<string> {
  const files: Files = new Map([["deno", new TextEncoder().encode(Deno.version.deno)]]);
  for (const name of ["deno.json", "deno.lock"]) files.set(name, await Deno.readFile(new URL(`../${name}`, here)));
  for (const folder of ["ui/", "lib/"]) await readSources(new URL(`../${folder}`, here), folder, files);
  return digestOf(files).slice(0, 16);
}

async function readSources(folder: URL, path: string, into: Files): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) await readSources(new URL(`${name}/`, folder), `${path}${name}/`, into);
    else if (/\.(tsx?|css|json|wasm|woff2|jpg)$/.test(name)) {
      into.set(path + name, await Deno.readFile(new URL(name, folder)));
    }
  }
}
