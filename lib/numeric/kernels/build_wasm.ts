/**
 * Compiles the AssemblyScript kernels of ./assembly to the .wasm files beside this module: `deno task build:wasm`, and with
 * `--changed` only where a source has changed since the last build.
 * The compiler's version is exact, so that the same sources give the same bytes.
 */
import { createHash } from "node:crypto";
import ziggurat from "./ziggurat.json" with { type: "json" };

/** The kernels: ./assembly/<name>.ts becomes ./<name>.wasm. Exported for tests. */
export const KERNELS = [
  "random",
  "nr_ldpc",
  "linear",
  "polar",
  "bits",
  "range_coder",
  "jpeg",
  "image_quality",
  "grid",
  "viterbi",
  "turbo",
  "ldpc",
] as const;

/**
 * The module `./ziggurat` of the kernels: tables of the 256-layer ziggurats (Marsaglia and Tsang, "The ziggurat method for
 * generating random variables", 2000) as NumPy's Generator uses them: numpy/random/src/distributions/ziggurat_constants.h,
 * NumPy 2.4.6, BSD-3-Clause. They are data, not recomputed: the last bits of the originals come from a recurrence in one
 * particular binary64 arithmetic. `_R` is the right end of the last layer. Magnitudes below `_K` (52 bits, exponential 53)
 * lie inside a layer at once; `_W` is the width of a layer over 2^52 or 2^53 and `_F` the density exp(-x²/2) or exp(-x) at
 * its right end, both as binary64 bit patterns.
 */
function zigguratSource(): string {
  return [
    ...Object.entries(ziggurat.constants).map(([name, value]) => `export const ${name}: f64 = ${value};`),
    ...Object.entries(ziggurat.tables).map(([name, words]) => `export const ${name} = memory.data<u64>([${words}]);`),
  ].join("\n");
}

/**
 * Compiles one kernel. Exported for tests.
 * @param name one of KERNELS
 * @returns the bytes of the WebAssembly module
 * @throws Error with the compiler's report when the source does not compile
 */
export async function compileKernel(name: string): Promise<Uint8Array> {
  const { default: asc } = await import("npm:assemblyscript@0.28.20/asc");
  const folder = new URL("./assembly/", import.meta.url);
  let binary: Uint8Array | undefined;
  const report = asc.createMemoryStream();
  const flags = ["--outFile", "out.wasm", "-O3", "--converge", "--noAssert", "--runtime", "stub", "--enable", "simd"];
  const { error } = await asc.main([`${name}.ts`, ...flags], {
    readFile: (path: string) => {
      if (path === "ziggurat.ts") return zigguratSource();
      try {
        return Deno.readTextFileSync(new URL(path, folder));
      } catch {
        return null; // The compiler also reads optional files, such as asconfig.json.
      }
    },
    writeFile: (path: string, contents: string | Uint8Array) => {
      if (path === "out.wasm") binary = contents as Uint8Array;
    },
    listFiles: () => [],
    stdout: report,
    stderr: report,
  });
  if (error || !binary) throw new Error(`Cannot compile the kernel ${name}: ${report.toString() || error?.message}`);
  return binary;
}

/**
 * Digests of all that decides the bytes of the kernels, this module included, and of the kernels. `built.json` has those of
 * the last build, by which a changed source or kernel is found without the compiler. Exported for tests.
 */
export function kernelDigests(): Record<string, string> {
  const here = (path: string) => Deno.readFileSync(new URL(path, import.meta.url)), sources = createHash("sha256");
  const names = [...Deno.readDirSync(new URL("./assembly/", import.meta.url))].map(({ name }) => `assembly/${name}`);
  for (const path of ["build_wasm.ts", "ziggurat.json", ...names.sort()]) {
    const bytes = here(path);
    sources.update(`${path} ${bytes.length}\n`).update(bytes);
  }
  const kernels = KERNELS.map((name) => [name, createHash("sha256").update(here(`${name}.wasm`)).digest("hex")]);
  return { sources: sources.digest("hex"), ...Object.fromEntries(kernels) };
}

if (import.meta.main) {
  const file = new URL("./built.json", import.meta.url), [option] = Deno.args;
  const text = () => `${JSON.stringify(kernelDigests(), null, 2)}\n`, isBuilt = Deno.readTextFileSync(file) === text();
  if (option === "--check" && !isBuilt) {
    console.error("The kernels are not those of their sources: run deno task build:wasm");
    Deno.exit(1);
  }
  if (option === undefined || option === "--changed" && !isBuilt) {
    for (const name of KERNELS) {
      const bytes = await compileKernel(name);
      await Deno.writeFile(new URL(`./${name}.wasm`, import.meta.url), bytes);
      console.log(`${name}.wasm ${bytes.length} bytes`);
    }
    await Deno.writeTextFile(file, text());
  }
}
