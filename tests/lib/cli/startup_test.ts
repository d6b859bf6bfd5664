/** The modules that every command loads: what a single command needs is imported by that command. */
import assert from "node:assert/strict";
import { ROOT_PATH } from "../../support/paths.ts";

interface Module {
  specifier: string;
  dependencies?: { code?: { specifier: string }; isDynamic?: boolean }[];
}

/** The modules that a module imports, and their imports. */
async function loadedBy(path: string): Promise<Set<string>> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json", path], cwd: ROOT_PATH })
    .output();
  const { roots, modules } = JSON.parse(new TextDecoder().decode(stdout)) as { roots: string[]; modules: Module[] };
  const dependencies = new Map(modules.map((module) => [module.specifier, module.dependencies ?? []]));
  const loaded = new Set(roots);
  for (const specifier of loaded) {
    for (const { code, isDynamic } of dependencies.get(specifier) ?? []) {
      if (code !== undefined && !isDynamic) loaded.add(code.specifier);
    }
  }
  return loaded;
}

Deno.test("the command line starts without the libraries of single commands and without modules of Node", async () => {
  // The list of operations needs no schemas either.
  const paths = ["lib/cli/main.ts", "lib/cli/commands/ops_list.ts"];
  const loaded = new Set((await Promise.all(paths.map(loadedBy))).flatMap((modules) => [...modules]));
  assert.ok(loaded.size > 15, "the walk found the program");
  const heavy =
    /^npm:(?!commander)|^node:|packages\/zod|\/(ops|lib\/numeric|lib\/study\/(?!engine\/)\w+|lib\/research)\//;
  assert.deepEqual([...loaded].filter((specifier) => heavy.test(specifier)), []);
  for (const path of ["lib/execute/worker.ts", "lib/cli/commands/recipe.ts", "lib/cli/commands/runs.ts"]) {
    const modules = [...await loadedBy(path)];
    assert.ok(modules.length > 15, `the walk found ${path}`);
    assert.deepEqual(modules.filter((specifier) => specifier.startsWith("node:")), [], path);
  }
});
