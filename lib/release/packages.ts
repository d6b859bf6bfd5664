/**
 * The npm packages of a packaged program: the part of the lock file that its modules need, and the files of these packages in
 * the form of Deno's cache. Files that no module loads at run time are left out: sources, types, source maps, documents, and the
 * builds of onnxruntime-web other than the one that is imported.
 */
import { dirname, join } from "node:path";
import { PROGRAM_NAME, PROGRAM_ROOT } from "../artifact/program.ts";
import { prettyJson } from "../contract/json.ts";
import deno from "../../deno.json" with { type: "json" };

const REGISTRY = "npm/registry.npmjs.org";
const KEPT = /(\.(js|mjs|cjs|json|wasm)|(^|\/)(licen[cs]e|notice|copying)[^/]*)$/i;
/** Packages of which few files are used, with these files. */
const FEW: Readonly<Record<string, RegExp>> = {
  "@modelcontextprotocol/core": /^(package\.json|LICENSE|dist\/.*\.mjs)$/,
  "@modelcontextprotocol/server": /^(package\.json|LICENSE|dist\/.*\.mjs)$/,
  "h5wasm": /^(package\.json|LICENSE.*|dist\/esm\/.*\.js)$/,
  "onnxruntime-web": /^(package\.json|dist\/ort\.wasm\.bundle\.min\.mjs|dist\/ort-wasm-simd-threaded\.wasm)$/,
  "@jsquash/avif": /^(package\.json|LICENSE|codec\/(dec\/avif_dec|enc\/avif_enc)\.(js|wasm))$/,
  "@jsquash/webp": /^(package\.json|LICENSE.*|codec\/(LICENSE.*|(dec\/webp_dec|enc\/webp_enc_simd)\.(js|wasm)))$/,
};

interface Locked {
  integrity: string;
  dependencies?: string[];
  optionalDependencies?: string[];
  /** Whether it has installation scripts, which are never run. */
  scripts?: boolean;
}

/** A lock file of Deno. */
export interface LockFile {
  version: string;
  specifiers: Record<string, string>;
  npm: Record<string, Locked>;
}

/** The lock file of the repository, with the packages of tests and of the page. */
export const fullLock = (): LockFile => JSON.parse(Deno.readTextFileSync(new URL("deno.lock", PROGRAM_ROOT)));

/** `@scope/name@1.2.3_peer@4` as name and version. */
export function packageOf(key: string): { name: string; version: string } {
  const at = key.indexOf("@", 1);
  return { name: key.slice(0, at), version: key.slice(at + 1).split("_")[0] };
}

/**
 * The part of the lock file that modules need.
 * @param files paths of the program's modules, from the root of the program
 * @param root absolute folder of the program
 */
export function runtimeLock(files: readonly string[], root: string): LockFile {
  const wanted = new Set<string>();
  for (const path of files.filter((path) => /\.tsx?$/.test(path))) {
    const text = Deno.readTextFileSync(join(root, path));
    for (const [, name] of text.matchAll(/(?:from|import\()\s*"npm:((?:@[^/"]+\/)?[^@/"]+)/g)) wanted.add(name);
  }
  const all = fullLock();
  const specifiers = Object.entries(all.specifiers)
    .filter(([specifier]) => wanted.has(packageOf(specifier.slice("npm:".length)).name));
  const npm = new Map<string, Locked>();
  const waiting = specifiers.map(([specifier, version]) => `${packageOf(specifier.slice(4)).name}@${version}`);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const key = Object.hasOwn(all.npm, name) ? name : Object.keys(all.npm).find((key) => packageOf(key).name === name);
    if (key === undefined || npm.has(key)) continue;
    const { scripts: _, ...entry } = all.npm[key];
    npm.set(key, entry);
    waiting.push(...all.npm[key].dependencies ?? [], ...all.npm[key].optionalDependencies ?? []);
  }
  return {
    version: all.version,
    specifiers: Object.fromEntries(specifiers),
    npm: Object.fromEntries([...npm].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/**
 * Copies the packages of a lock file from Deno's cache.
 * @param denoDir folder that becomes a DENO_DIR
 * @returns bytes copied
 */
export async function copyPackages({ npm }: LockFile, denoDir: string): Promise<number> {
  const cache = await npmCache();
  let bytes = 0;
  for (const key of Object.keys(npm)) {
    const { name, version } = packageOf(key);
    const from = join(cache, "registry.npmjs.org", name, version), to = join(denoDir, REGISTRY, name, version);
    const kept = FEW[name] ?? KEPT;
    for (const path of filesIn(from, "")) {
      if (!kept.test(path)) continue;
      await Deno.mkdir(dirname(join(to, path)), { recursive: true });
      await Deno.copyFile(join(from, path), join(to, path));
      bytes += (await Deno.stat(join(to, path))).size;
    }
  }
  return bytes;
}

function filesIn(folder: string, path: string): string[] {
  return [...Deno.readDirSync(join(folder, path))].flatMap(({ name, isDirectory }) => {
    const inside = path === "" ? name : `${path}/${name}`;
    return isDirectory ? filesIn(folder, inside) : [inside];
  });
}

/** Folder of the packages that Deno has fetched. */
export async function npmCache(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).npmCache;
}

/**
 * The configuration and the lock file that Deno uses for a packaged program, in a folder beside its folder `program`. Its own
 * stay as they are: they are hashed. Operations of one's own import the program by its name, through a module here: Deno
 * would lock the dependencies of a package that is named directly.
 */
export async function writeRuntimeConfig(
  folder: string,
  lockFile: LockFile,
  features: readonly string[] = [],
): Promise<{ config: string; lock: string }> {
  const config = join(folder, "deno.json"), path = join(folder, "deno.lock");
  await Deno.mkdir(folder, { recursive: true });
  const bundles: Record<string, string> = {};
  for (const [specifier, path] of Object.entries(deno.imports)) {
    bundles[specifier] = `./${packageOf(specifier.slice("npm:".length)).name}.ts`;
    await Deno.writeTextFile(join(folder, bundles[specifier]), `export * from "../program/${path.slice(2)}";\n`);
  }
  const unstable = ["raw-imports", "worker-options", "bundle", ...features];
  await Deno.writeTextFile(
    config,
    prettyJson({ imports: { [PROGRAM_NAME]: "./svc.ts", ...bundles }, nodeModulesDir: "none", unstable }),
  );
  await Deno.writeTextFile(join(folder, "svc.ts"), 'export * from "../program/mod.ts";\n');
  await Deno.writeTextFile(path, prettyJson(lockFile as never));
  return { config, lock: path };
}
