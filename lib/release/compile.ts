/**
 * Compiles the program with its data, its page and its packages into one executable.
 *
 *     deno task compile [--target <triple>] [file]
 *
 * `deno compile` takes its runtime archive from DENORT_BIN, or downloads it once.
 */
import { dirname, join, resolve } from "node:path";
import { copyProgram } from "./program.ts";
import { copyPackages, runtimeLock, writeRuntimeConfig } from "./packages.ts";

/** Workers and modules that are named by URL, or read as text, and so in no module graph of `deno compile`. Exported for tests. */
export const STARTED_BY_URL = [
  "lib/artifact/hash_worker.ts",
  "lib/artifact/hdf5_worker.ts",
  "lib/execute/worker.ts",
  "lib/http/jobs/worker.ts",
  "lib/http/threads/worker.ts",
  "lib/numeric/parallel/helper.ts",
  "lib/onnx/sandbox.ts",
  "lib/adapter/step.ts",
  "lib/adapter/process/guest.ts",
  "lib/adapter/process/wire.ts",
];

const DATA_FOLDERS = ["recipes", "benchmarks", "adapters", "docs", "ui/built"];

/**
 * Arguments of `deno compile` for a folder that {@link copyProgram} filled. Exported for tests.
 * @param files paths that were copied
 */
export function compileArguments(
  { program, config, lock, files, output, target }: {
    program: string;
    config: string;
    lock: string;
    files: readonly string[];
    output: string;
    target?: string;
  },
): string[] {
  const folders = [...DATA_FOLDERS, "lib/numeric/native"];
  const singles = files.filter((path) => !/\.tsx?$/.test(path) && !path.includes("/"));
  const included = [...STARTED_BY_URL, ...folders, ...singles, "ops", "lib/plan/source_hashes.json"];
  return [
    ...["compile", "-A", "--no-check", "--cached-only", "--exclude-unused-npm", "--config", config, "--lock", lock],
    ...(target === undefined ? [] : ["--target", target]),
    ...["--output", output],
    ...included.flatMap((path) => ["--include", join(program, path)]),
    ...["--include", join(dirname(config), "svc.ts")],
    join(program, "cli.ts"),
  ];
}

/** Compiles into a file. Exported for tests. @returns what `deno compile` printed */
export async function compile(
  output: string,
  { target }: { target?: string } = {},
): Promise<{ success: boolean; text: string }> {
  const folder = await Deno.makeTempDir({ prefix: "svc-compile-" });
  try {
    const program = join(folder, "program"), files = await copyProgram(program, "compiled");
    const lockFile = runtimeLock(files, program);
    await copyPackages(lockFile, join(folder, "cache"));
    const { config, lock } = await writeRuntimeConfig(join(folder, "run"), lockFile);
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: compileArguments({ program, config, lock, files, output: resolve(output), target }),
      env: { DENO_DIR: join(folder, "cache"), NO_COLOR: "1" },
    }).output();
    const decoder = new TextDecoder();
    return { success, text: decoder.decode(stdout) + decoder.decode(stderr) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const target = Deno.args[0] === "--target" ? Deno.args[1] : undefined;
  const output = (target === undefined ? Deno.args[0] : Deno.args[2]) ?? "svc";
  const { success, text } = await compile(output, { target });
  console.log(text);
  if (!success) {
    console.error("error: The program was not compiled. Without a network, set DENORT_BIN to the runtime of this Deno");
    Deno.exit(1);
  }
}
