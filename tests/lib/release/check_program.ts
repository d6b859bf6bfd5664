/**
 * Checks an installed or compiled program from an empty home: a project, the quickstart, its reproduction, an adapter, a network, a
 * benchmark, an operation of one's own, the documents and the page.
 *
 *     deno task check:program [file]      compiles the program first when no file is named
 *
 * `deno compile` takes its runtime archive from DENORT_BIN, or downloads it once.
 */
import { join, resolve } from "node:path";
import { compile } from "../../../lib/release/compile.ts";
import { ROOT_PATH } from "../../support/paths.ts";
import { walk } from "./walk.ts";

/**
 * Makes the walk with a program in a folder of its own, with an empty home.
 * @throws AssertionError with the command that failed and what it printed
 */
export async function checkProgram(program: string): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "svc-check-" }), home = join(root, "home");
  try {
    await Deno.mkdir(home);
    const env = { HOME: home, USERPROFILE: home };
    await walk({ command: [program], env, adapter: join(ROOT_PATH, "adapters/dct_slices") }, root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

if (import.meta.main) {
  const [given] = Deno.args, made = join("build", Deno.build.os === "windows" ? "svc.exe" : "svc");
  if (given === undefined) {
    const { success, text } = await compile(made);
    console.log(text);
    if (!success) {
      console.error(
        "error: The program was not compiled. Without a network, set DENORT_BIN to the runtime of this Deno",
      );
      Deno.exit(1);
    }
  }
  await checkProgram(resolve(given ?? made));
  console.log(
    `${given ?? made} passed: project, quickstart, verify, reproduce, adapter, network, benchmark, own operation, page`,
  );
}
