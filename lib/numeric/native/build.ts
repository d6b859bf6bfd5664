/**
 * Compiles the native extension: `deno task build:native`. The compiler is the one named by CXX, else g++, else
 * clang++. Every source is compiled once per level (./export.hpp); ./extension.ts names the library.
 */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ziggurat from "../kernels/ziggurat.json" with { type: "json" };
import { BUILD_FOLDER, COMPILED, libraryName, sourcesSha256 } from "./extension.ts";

/** Every operation is rounded as written: no contraction, no reordering. Floating-point traps are not used. */
const FLAGS = [
  ...["-std=c++17", "-O3", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"],
  ...["-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"],
];
const LEVELS: Readonly<Record<string, readonly string[]>> = {
  baseline: [],
  avx2: ["-mavx2", "-mbmi2", "-mfma"],
  avx512: ["-mavx2", "-mbmi2", "-mfma", "-mavx512bw", "-mavx512vl"],
};
/** These are the same on every level. */
const UNLEVELLED = ["level.cpp"];

/** The C++ compiler of this machine, or null. */
export function findCompiler(): string | null {
  for (const name of [Deno.env.get("CXX"), "g++", "clang++"]) {
    if (name === undefined || name === "") continue;
    try {
      if (new Deno.Command(name, { args: ["--version"], stdout: "null", stderr: "null" }).outputSync().success) {
        return name;
      }
    } catch {
      // Not found; try the next one.
    }
  }
  return null;
}

/**
 * Builds the library if it does not exist, and removes those of earlier sources.
 * @param folder output folder
 * @returns its path
 * @throws Error without a compiler, on an unsupported platform, and with the compiler's message when compilation fails
 */
export async function buildNative(folder: URL = BUILD_FOLDER): Promise<string> {
  const name = libraryName(sourcesSha256());
  if (name === null) throw new Error(`Cannot build the native extension for ${Deno.build.os} on ${Deno.build.arch}`);
  const place = fileURLToPath(folder), library = join(place, name);
  mkdirSync(place, { recursive: true });
  if (readdirSync(place).includes(name)) return library;
  const compiler = findCompiler();
  if (compiler === null) {
    throw new Error(
      "Cannot build the native extension without a C++ compiler: install g++ or clang++, or name one in CXX",
    );
  }
  // Built in a temporary folder and renamed, so that parallel builds do not conflict.
  const work = mkdtempSync(join(place, "work-"));
  try {
    writeFileSync(join(work, "ziggurat.inc"), zigguratTables());
    const objects = await Promise.all(
      COMPILED.flatMap((source) => {
        const path = fileURLToPath(source), file = path.split("/").at(-1)!;
        const levels = UNLEVELLED.includes(file) ? ["baseline"] : levelsOf(Deno.build.arch);
        return levels.map(async (level) => {
          const object = join(work, `${file}.${level}.o`);
          const flags = [...FLAGS, ...LEVELS[level], `-DSVC_LEVEL=${level}`, `-I${work}`];
          await compile(compiler, [...flags, "-c", path, "-o", object]);
          return object;
        });
      }),
    );
    await compile(compiler, ["-shared", ...objects, "-o", join(work, name)]);
    renameSync(join(work, name), library);
  } finally {
    rmSync(work, { recursive: true });
  }
  for (const other of readdirSync(place)) {
    if (other.startsWith("svc_native-") && other !== name) rmSync(join(place, other), { force: true });
  }
  return library;
}

/** The levels of an architecture. */
function levelsOf(arch: string): string[] {
  return arch === "x86_64" ? Object.keys(LEVELS) : ["baseline"];
}

async function compile(compiler: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(compiler, { args }).output();
  if (!success) throw new Error(`Cannot build the native extension: ${new TextDecoder().decode(stderr)}`);
}

/** The normal tables of the portable kernels as C++, so that the numbers have one source. */
export function zigguratTables(): string {
  const { NORMAL_R, NORMAL_INVERSE_R } = ziggurat.constants, { NORMAL_K, NORMAL_W, NORMAL_F } = ziggurat.tables;
  return [
    "#include <cstdint>",
    ...Object.entries({ NORMAL_K, NORMAL_W, NORMAL_F }).map(([name, words]) =>
      `static const uint64_t ${name}[256] = {${words}};`
    ),
    ...Object.entries({ NORMAL_R, NORMAL_INVERSE_R }).map(([name, value]) => `static const double ${name} = ${value};`),
    "",
  ].join("\n");
}

if (import.meta.main) {
  try {
    console.log(await buildNative());
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    Deno.exit(1);
  }
}
