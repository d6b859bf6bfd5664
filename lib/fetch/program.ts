/**
 * The files of a program that was imported by URL: recipes, packs, adapters, models, samples, documents and the sources of
 * the page. They are fetched once from the origin of the program into the user's cache folder, 8
 * at once, and each must have the digest of the list that was imported with the program.
 */
import { dirname, join } from "node:path";
import { PROGRAM_ROOT, programForm, setProgramFolder } from "../artifact/program.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import listed from "./program_files.json" with { type: "json" };

const AT_ONCE = 8;

/** Files by path from the program's root. */
export type ProgramFiles = Readonly<Record<string, { size_bytes: number; sha256: string }>>;

const ALL: ProgramFiles = { ...listed.data, ...listed.page };

let opened: Promise<void> | undefined;

/**
 * Makes the files of a program that was imported by URL available to this thread; nothing for other programs.
 * @throws SvcError `program_files_unavailable` with the reason; the next call tries again
 */
export function openProgram(): Promise<void> {
  if (programForm() !== "url") return Promise.resolve();
  return opened ??= fetchProgram(PROGRAM_ROOT, ALL, cacheFolder()).then(setProgramFolder, (error) => {
    opened = undefined;
    throw error;
  });
}

/**
 * Fetches files into `<cache>/program-<digest of the list>`, which appears when it is whole. Exported for tests.
 * @param origin URL with a trailing slash
 * @returns the folder
 * @throws SvcError `program_files_unavailable`
 */
export async function fetchProgram(origin: string, files: ProgramFiles, cache: string): Promise<string> {
  const folder = join(cache, `program-${sha256Json(files).slice(0, 32)}`);
  let partial: string | undefined;
  try {
    if (await isFolder(folder)) return folder;
    await Deno.mkdir(cache, { recursive: true });
    partial = await Deno.makeTempDir({ dir: cache, prefix: "partial-" });
    const waiting = Object.entries(files);
    const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE }, async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const [path, { sha256 }] = next, target = join(partial!, path);
        const bytes = await fetched(new URL(path, origin));
        if (sha256Hex(bytes) !== sha256) throw new Error(`${path} differs from the file of this version`);
        await Deno.mkdir(dirname(target), { recursive: true });
        await Deno.writeFile(target, bytes);
      }
    }));
    // Nothing writes any more when the folder of a failed attempt is removed.
    const failed = lanes.find((lane) => lane.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    await Deno.rename(partial, folder).catch(async (error) => {
      // Another process was faster.
      if (!await isFolder(folder)) throw error;
    });
    return folder;
  } catch (error) {
    throw new SvcError(
      "program_files_unavailable",
      `Cannot fetch the files of this program to ${folder}: ${messageOf(error)}`,
      { hint: `It needs its origin ${origin} once, and a cache folder that can be written`, cause: error },
    );
  } finally {
    if (partial !== undefined) await Deno.remove(partial, { recursive: true }).catch(() => {});
  }
}

async function fetched(url: URL): Promise<Uint8Array> {
  const response = await fetch(url);
  if (response.ok) return await response.bytes();
  await response.body?.cancel();
  throw new Error(`${url.href} answered ${response.status}`);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The cache folder of svc, where the launcher of the npm package keeps its packages, too. */
function cacheFolder(): string {
  const { env, build } = Deno, home = env.get(build.os === "windows" ? "LOCALAPPDATA" : "HOME");
  const cache = env.get("XDG_CACHE_HOME") ??
    (build.os === "windows" ? home : home && join(home, build.os === "darwin" ? "Library/Caches" : ".cache"));
  if (!cache) {
    throw new SvcError("program_files_unavailable", "Cannot find a cache folder", { hint: "Set XDG_CACHE_HOME" });
  }
  return join(cache, "svc");
}
