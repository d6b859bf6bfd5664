/**
 * Builds the page: one bundle with lazy chunks, one style sheet, the fonts. The result lies in `<state_dir>/ui/<digest>/`, where
 * the digest covers every source, the lock file and the version of Deno; what is there already is taken as it is. Nothing but the
 * first build fetches anything, and that only packages.
 */
import { join } from "node:path";
import { messageOf, SvcError } from "../lib/contract/error.ts";
import { sha256Hex } from "../lib/contract/hash.ts";

/** A built page: where its files lie and how they are named in addresses. */
export interface BuiltPage {
  digest: string;
  folder: string;
}

const HERE = new URL("./", import.meta.url);
const ENTRIES = ["main.tsx", "events_worker.ts"];
const SHEETS = ["tokens", "base", "frame", "graph", "forms", "panels", "editor", "charts", "views", "runs"];
const FONTS = ["inter.woff2", "inter_greek.woff2", "jetbrains_mono.woff2"];

/**
 * The page of this program, built where it is not.
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
  const digest = await sourcesDigest();
  const folder = join(stateDir, "ui", digest);
  if (await exists(join(folder, "main.css"))) return { digest, folder };
  const staging = `${folder}.${Deno.pid}`;
  try {
    await Deno.mkdir(staging, { recursive: true });
    await bundle(staging);
    for (const name of FONTS) await Deno.copyFile(new URL(`fonts/${name}`, HERE), join(staging, name));
    // The style sheet comes last: where it is, everything is.
    await Deno.writeTextFile(join(staging, "main.css"), await styles());
    await Deno.rename(staging, folder);
  } catch (error) {
    await Deno.remove(staging, { recursive: true }).catch(() => {});
    if (await exists(join(folder, "main.css"))) return { digest, folder };
    throw new SvcError("page_unavailable", `Cannot build the page: ${messageOf(error)}`, {
      hint: "The first build fetches packages; later ones work without a network",
      cause: error,
    });
  }
  await removeOlder(join(stateDir, "ui"), digest);
  return { digest, folder };
}

async function bundle(folder: string): Promise<void> {
  const { bundle } = Deno as unknown as { bundle?: (options: object) => Promise<BundleResult> };
  if (bundle === undefined) {
    throw new Error("this Deno runs without the unstable feature bundle, which deno.json lists");
  }
  const result = await bundle({
    entrypoints: ENTRIES.map((name) => new URL(name, HERE).pathname),
    outputDir: folder,
    platform: "browser",
    format: "esm",
    minify: true,
    codeSplitting: true,
    write: false,
  });
  if (!result.success) throw new Error(result.errors.map(({ text }) => text).join("; "));
  for (const { path, contents } of result.outputFiles ?? []) {
    await Deno.writeFile(join(folder, path.split("/").at(-1)!), contents!);
  }
}

interface BundleResult {
  success: boolean;
  errors: { text: string }[];
  outputFiles?: { path: string; contents?: Uint8Array }[];
}

async function styles(): Promise<string> {
  const sheets = await Promise.all(SHEETS.map((name) => Deno.readTextFile(new URL(`styles/${name}.css`, HERE))));
  return sheets.join("\n");
}

/** Everything that the page is made from: this folder, what it takes from the library, the lock file, Deno. */
async function sourcesDigest(): Promise<string> {
  const parts = [Deno.version.deno, await Deno.readTextFile(new URL("../deno.lock", HERE))];
  for (
    const folder of [
      HERE,
      new URL("../lib/contract/", HERE),
      new URL("../lib/plan/", HERE),
      new URL("../lib/figure/", HERE),
      new URL("../lib/template/", HERE),
      new URL("../lib/numeric/", HERE),
      new URL("../lib/benchmark/", HERE),
    ]
  ) {
    for (const [name, text] of await texts(folder)) parts.push(name, text);
  }
  return sha256Hex(parts.join("\0")).slice(0, 16);
}

async function texts(folder: URL): Promise<[string, string][]> {
  const found: [string, string][] = [];
  if (!await exists(folder)) return found;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) found.push(...await texts(new URL(`${name}/`, folder)));
    else if (/\.(tsx?|css)$/.test(name)) {
      found.push([
        new URL(name, folder).href.slice(HERE.href.length - 3),
        await Deno.readTextFile(new URL(name, folder)),
      ]);
    }
  }
  return found.sort(([a], [b]) => a < b ? -1 : 1);
}

/** Pages of older sources go, save the latest few, which a browser may still have open. */
async function removeOlder(folder: string, keep: string): Promise<void> {
  const others: { name: string; at: number }[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (name === keep) continue;
    const { mtime } = await Deno.stat(join(folder, name));
    others.push({ name, at: mtime?.getTime() ?? 0 });
  }
  for (const { name } of others.sort((a, b) => b.at - a.at).slice(3)) {
    await Deno.remove(join(folder, name), { recursive: true }).catch(() => {});
  }
}

async function exists(path: string | URL): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch {
    return false;
  }
}
