/**
 * The digest of an operation's implementation: SHA-256 over canonical JSON of `[[path, file sha256], …]`, sorted by
 * path, of its module and all transitive local imports. Paths start at the program's root.
 *
 * A program in a folder reads its files. A program that was imported by URL or compiled takes the digests from the
 * generated list `source_hashes.json`. A module outside the program (a user's operation) is named relative to its
 * own folder; its imports from the program are excluded.
 */
import { inside } from "../artifact/inside.ts";
import { isFolder } from "../artifact/path_kind.ts";
import { PROGRAM_ROOT, programForm } from "../artifact/program.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import { compareCodePoints } from "../contract/json.ts";
import { filePath } from "../contract/node_builtins.ts";
import { isYoung, readDigests, type SourceFile, stampOf, writeDigests } from "./digest_file.ts";
import { isModule, localSpecifiers } from "./scan_imports.ts";

/** Implementation of an operation. */
export interface ModuleSource {
  /** Path from the program's root, or the file name of a module outside it. */
  source_module: string;
  /** Null for sources that are neither readable nor listed. */
  source_sha256: string | null;
}

export interface SourceHashes {
  /** Describes modules by URL. Changed files are read again. */
  describe(moduleUrls: Iterable<string>): Promise<Map<string, ModuleSource>>;
}

/** The generated list, for programs that cannot read their own files. */
export type SourceList = {
  schema_version: 1;
  build_sha256: string;
  /** Operation module, from the root, to its digest. */
  modules: Record<string, string>;
};

/** The generated list depends on all other modules, so no digest includes it. */
const LIST = new URL("./source_hashes.json", import.meta.url).href;

/** The stored digests, in the state directory. */
const DIGESTS = "source_digests.json";

/** The files of modules, cached while unchanged. */
export class SourceFiles implements SourceHashes {
  readonly #root: string;
  #rootPath: string | undefined;
  #files = new Map<string, SourceFile>();
  /** Folder of the stored digests, until they are read and after. */
  #folder: string | undefined;
  #stored = false;
  /** Per module its closure, and its digest. */
  readonly #digests = new Map<string, { identity: string; source: ModuleSource }>();

  /** @param root URL of the base folder of paths */
  constructor(root: string = PROGRAM_ROOT) {
    this.#root = root;
  }

  /**
   * Keeps the digests of unchanged files in a folder, for later starts. The first folder counts.
   * @param folder absolute path; nothing is written while it does not exist
   */
  keepIn(folder: string): void {
    if (this.#folder !== undefined) return;
    this.#folder = folder;
    this.#files = new Map([...readDigests(inside(folder, DIGESTS), this.#root), ...this.#files]);
    this.#stored = true;
  }

  /** Writes the kept digests, if a file was read since. */
  store(): void {
    if (this.#folder === undefined || this.#stored || !isFolder(this.#folder)) return;
    writeDigests(inside(this.#folder, DIGESTS), this.#root, this.#files);
    this.#stored = true;
  }

  /** @param looked files that were compared already; takes further ones */
  describe(
    moduleUrls: Iterable<string>,
    looked = new Map<string, SourceFile | null>(),
  ): Promise<Map<string, ModuleSource>> {
    return Promise.try(() => {
      return new Map([...new Set(moduleUrls)].map((url) => [url, this.#describe(url, looked)]));
    });
  }

  /**
   * The rows `[path, sha256]` of modules and all local imports, sorted by path.
   * @param entries URLs of files
   * @param base URL of the base folder of paths
   */
  rows(entries: readonly string[], base: string = this.#root): [string, string][] {
    return this.#rows(this.#closure(entries, new Map()), base);
  }

  #describe(url: string, looked: Map<string, SourceFile | null>): ModuleSource {
    const own = url.startsWith(this.#root);
    const base = own ? this.#root : new URL("./", url).href;
    const files = this.#closure([url], looked, own);
    if (!files.has(url)) {
      throw new SvcError("implementation_changed", `Cannot read the module ${pathFrom(base, url)} of an operation`);
    }
    const identity = [...files.values()].map((file) => file.sha256).join();
    const known = this.#digests.get(url);
    if (known?.identity === identity) return known.source;
    const source = { source_module: pathFrom(base, url), source_sha256: sha256Json(this.#rows(files, base)) };
    this.#digests.set(url, { identity, source });
    return source;
  }

  #rows(files: Map<string, SourceFile>, base: string): [string, string][] {
    return [...files]
      .map(([url, file]): [string, string] => [pathFrom(base, url), file.sha256])
      .sort(([a], [b]) => compareCodePoints(a, b));
  }

  /** All files reachable from the entries; `program` states whether files of the program count. */
  #closure(entries: readonly string[], looked: Map<string, SourceFile | null>, program = true) {
    const files = new Map<string, SourceFile>();
    const waiting = [...entries];
    for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
      if (files.has(url) || url === LIST || (!program && url.startsWith(this.#root))) continue;
      let file = looked.get(url);
      if (file === undefined) looked.set(url, file = this.#read(url));
      if (file === null) continue;
      files.set(url, file);
      waiting.push(...file.imports);
    }
    return files;
  }

  #pathOf(url: string): string {
    if (!url.startsWith(this.#root) || url.includes("%")) return filePath(url);
    return (this.#rootPath ??= filePath(this.#root)) + url.slice(this.#root.length);
  }

  /** A regular file, cached while unchanged; null for anything else. */
  #read(url: string): SourceFile | null {
    const location = this.#pathOf(url);
    let info: Deno.FileInfo;
    try {
      info = Deno.statSync(location);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
      throw error;
    }
    if (!info.isFile) return null;
    const known = this.#files.get(url), stamp = stampOf(info);
    if (known?.stamp === stamp) return known;
    const bytes = Deno.readFileSync(location);
    const imports = isModule(url)
      ? localSpecifiers(new TextDecoder().decode(bytes)).map((specifier) => resolved(specifier, url))
      : [];
    const file = { stamp, sha256: sha256Hex(bytes), imports };
    if (!isYoung(info)) {
      this.#files.set(url, file);
      this.#stored = false;
    }
    return file;
  }
}

/** Digests from the generated list; user modules in files are still read. */
class ListedSources implements SourceHashes {
  readonly #list: SourceList;
  readonly #files = new SourceFiles();

  constructor(list: SourceList) {
    this.#list = list;
  }

  async describe(moduleUrls: Iterable<string>): Promise<Map<string, ModuleSource>> {
    const described = new Map<string, ModuleSource>();
    for (const url of moduleUrls) {
      if (url.startsWith(PROGRAM_ROOT)) {
        const path = pathFrom(PROGRAM_ROOT, url);
        described.set(url, { source_module: path, source_sha256: this.#list.modules[path] ?? null });
      } else if (url.startsWith("file:")) {
        described.set(url, (await this.#files.describe([url])).get(url)!);
      } else {
        described.set(url, describeForeign(url));
      }
    }
    return described;
  }
}

/**
 * A file that was looked at this recently counts as unchanged. Plan, dispatch and the start of a step follow one another
 * within it, and the steps of short runs share hundreds of files.
 */
const RECENT_MS = 100;

/** The program's files, and user modules that are not files. */
class FolderSources extends SourceFiles {
  /** Modules and files since a time. */
  readonly #described = new Map<string, ModuleSource>();
  readonly #looked = new Map<string, SourceFile | null>();
  #since = -Infinity;

  override async describe(moduleUrls: Iterable<string>): Promise<Map<string, ModuleSource>> {
    const urls = [...new Set(moduleUrls)], now = performance.now();
    if (now - this.#since >= RECENT_MS) {
      this.#described.clear();
      this.#looked.clear();
      this.#since = now;
    }
    // Kept here too: another call may forget them while this one waits.
    const found = new Map(urls.map((url) => [url, this.#described.get(url)]));
    const wanted = urls.filter((url) => found.get(url) === undefined);
    const described = await super.describe(wanted.filter((url) => url.startsWith("file:")), this.#looked);
    for (const url of wanted) {
      const source = described.get(url) ?? describeForeign(url);
      this.#described.set(url, source);
      found.set(url, source);
    }
    return found as Map<string, ModuleSource>;
  }
}

/** A module without a file: its text is known only if the URL holds it. */
function describeForeign(url: string): ModuleSource {
  if (!url.startsWith("data:")) return { source_module: fileName(url), source_sha256: null };
  const comma = url.indexOf(",");
  const body = url.slice(comma + 1);
  const bytes = /;\s*base64\s*$/i.test(url.slice(0, comma))
    ? Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
    : new TextEncoder().encode(decodeURIComponent(body));
  return { source_module: "data:", source_sha256: sha256Json([["data:", sha256Hex(bytes)]]) };
}

let program: Promise<SourceHashes> | undefined;

/** The source of this program's digests, determined once. */
export function programSources(): Promise<SourceHashes> {
  return program ??= readsItself()
    ? Promise.resolve(new FolderSources())
    : sourceList().then((list) => new ListedSources(list));
}

/** Keeps the digests of the program's unchanged files in a state directory; see {@link SourceFiles.keepIn}. */
export async function keepDigestsIn(stateDir: string): Promise<void> {
  const sources = await programSources();
  if (sources instanceof FolderSources) sources.keepIn(stateDir);
}

/** SHA-256 over the modules of all entry points and the lock file. */
export async function buildSha256(): Promise<string> {
  const sources = await programSources();
  if (!(sources instanceof FolderSources)) return (await sourceList()).build_sha256;
  const digest = computeBuildSha256(sources);
  sources.store();
  return digest;
}

/** Existing entry points, their transitive local imports, and `deno.lock`. */
export function computeBuildSha256(files: SourceFiles, root: string = PROGRAM_ROOT): string {
  const entries = ["mod.ts", "cli.ts", "server.ts", "deno.lock"].map((name) => new URL(name, root).href);
  return sha256Json(files.rows(entries, root));
}

async function sourceList(): Promise<SourceList> {
  const { default: list } = await import("./source_hashes.json", { with: { type: "json" } });
  return list as SourceList;
}

/** Whether the files of the program are the sources that run. A compiled program holds them in another form. */
function readsItself(): boolean {
  if (programForm() === "compiled" || !import.meta.url.startsWith("file:")) return false;
  try {
    return Deno.statSync(new URL(import.meta.url)).isFile;
  } catch {
    return false;
  }
}

/** Paths of plain names, which need no parser of URLs. */
const PLAIN_PATH = /^(?:\.\/|(?:\.\.\/)+)(?:\w[\w.-]*\/)*\w[\w.-]*$/;

/** The URL of a specifier of a module, without query and fragment. */
function resolved(specifier: string, base: string): string {
  if (!base.startsWith("file:") || !PLAIN_PATH.test(specifier)) {
    return new URL(specifier, base).href.replace(/[?#].*/, "");
  }
  let folder = base.lastIndexOf("/"), at = specifier.startsWith("./") ? 2 : 0;
  for (; specifier.startsWith("../", at); at += 3) folder = base.lastIndexOf("/", folder - 1);
  // Above the root of the file system there is nothing.
  return folder < "file://".length ? new URL(specifier, base).href : base.slice(0, folder + 1) + specifier.slice(at);
}

/** The path of a URL relative to a folder, with `../` for a URL outside it. Exported for tests. */
export function pathFrom(base: string, url: string): string {
  if (base.endsWith("/") && url.startsWith(base) && !/[?#]/.test(url)) {
    return decodeURIComponent(url.slice(base.length));
  }
  const from = decodeURIComponent(new URL(base).pathname).split("/").slice(0, -1);
  const to = decodeURIComponent(new URL(url).pathname).split("/");
  let shared = 0;
  while (shared < from.length && from[shared] === to[shared]) shared++;
  return [...from.slice(shared).map(() => ".."), ...to.slice(shared)].join("/");
}

function fileName(url: string): string {
  return decodeURIComponent(new URL(url).pathname).split("/").pop() || url;
}

/** Sources that are read once, for many plans in a row. */
export function lookedAtOnce(sources: SourceHashes): SourceHashes {
  const known = new Map<string, ModuleSource>();
  return {
    async describe(urls) {
      const wanted = [...urls];
      const missing = wanted.filter((url) => !known.has(url));
      if (missing.length > 0) { for (const [url, source] of await sources.describe(missing)) known.set(url, source); }
      return new Map(wanted.map((url) => [url, known.get(url)!]));
    },
  };
}
