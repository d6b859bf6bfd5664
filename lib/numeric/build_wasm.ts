/**
 * Compiles the AssemblyScript kernels of ./assembly to the .wasm files beside this module: `deno task build:wasm`.
 * The compiler's version is exact, so that the same sources give the same bytes.
 */
import asc from "npm:assemblyscript@0.28.20/asc";

/** The kernels: ./assembly/<name>.ts becomes ./<name>.wasm. Exported for tests. */
export const KERNELS = ["random", "nr_ldpc", "jacobi"] as const;

/**
 * Compiles one kernel. Exported for tests.
 * @param name one of KERNELS
 * @returns the bytes of the WebAssembly module
 * @throws Error with the compiler's report when the source does not compile
 */
export async function compileKernel(name: string): Promise<Uint8Array> {
  const folder = new URL("./assembly/", import.meta.url);
  let binary: Uint8Array | undefined;
  const report = asc.createMemoryStream();
  const flags = ["--outFile", "out.wasm", "-O3", "--converge", "--noAssert", "--runtime", "stub", "--enable", "simd"];
  const { error } = await asc.main([`${name}.ts`, ...flags], {
    readFile: (path: string) => {
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

if (import.meta.main) {
  for (const name of KERNELS) {
    const bytes = await compileKernel(name);
    await Deno.writeFile(new URL(`./${name}.wasm`, import.meta.url), bytes);
    console.log(`${name}.wasm ${bytes.length} bytes`);
  }
}
