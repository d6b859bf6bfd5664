/**
 * Builds the npm package: launcher, program, page, packages in the form of Deno's cache, and a pruned lock file. It needs no
 * network after its installation. The name and version are those of deno.json.
 *
 *     deno task npm [folder]      writes the folder, and the tarball beside it
 */
import { join, resolve } from "node:path";
import config from "../../deno.json" with { type: "json" };
import { prettyJson } from "../contract/json.ts";
import { PROGRAM_ROOT } from "../artifact/program.ts";
import { copyProgram } from "./program.ts";
import { copyPackages, runtimeLock, writeRuntimeConfig } from "./packages.ts";

/** Writes the package's folder, absolute, new or empty, with a page as for `copyProgram`. Exported for tests. */
export async function buildPackage(folder: string, pageState?: string): Promise<void> {
  const program = join(folder, "program"), files = await copyProgram(program, "npm", pageState);
  const lock = runtimeLock(files, program);
  await copyPackages(lock, join(folder, "cache"));
  // Each start then reads the modules that it needs; a compiled program must know all of them.
  await writeRuntimeConfig(join(folder, "run"), lock, ["lazy-dynamic-imports"]);
  await Deno.mkdir(join(folder, "bin"));
  await Deno.copyFile(new URL("launcher.mjs", import.meta.url), join(folder, "bin/svc.mjs"));
  for (const name of ["README.md", "LICENSE"]) await Deno.copyFile(new URL(name, PROGRAM_ROOT), join(folder, name));
  await Deno.writeTextFile(
    join(folder, "package.json"),
    prettyJson({
      name: config.name,
      version: config.version,
      description: "Reproducible experiments for communication and semantic-communication research",
      license: config.license,
      type: "module",
      bin: { svc: "bin/svc.mjs" },
      engines: { node: ">=20" },
      // Optional, so that a machine with its own Deno (SVC_DENO, or on the path) can do without.
      optionalDependencies: { deno: Deno.version.deno },
    }),
  );
}

if (import.meta.main) {
  const folder = resolve(Deno.args[0] ?? "build/npm");
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.mkdir(folder, { recursive: true });
  await buildPackage(folder);
  const { success } = await new Deno.Command("npm", {
    args: ["pack", folder, "--pack-destination", join(folder, "..")],
  }).spawn().status;
  if (!success) Deno.exit(1);
}
