/**
 * Writes `ops/index.ts` from the folder: every file `ops/<group>/<operation>.ts` whose name does not begin with an
 * underscore holds one operation as its default export.
 *
 * Run as `deno run -A ops/generate_index.ts`; with `--check` it only compares and exits 1 when the index is stale.
 */
import type { Operation } from "../lib/contract/operation.ts";

const FOLDER = new URL("./", import.meta.url);

/** The text that `ops/index.ts` must have. */
export async function indexSource(): Promise<string> {
  const rows: { id: string; name: string; path: string }[] = [];
  for (const group of Deno.readDirSync(FOLDER)) {
    if (!group.isDirectory) continue;
    for (const file of Deno.readDirSync(new URL(`${group.name}/`, FOLDER))) {
      if (!file.isFile || !file.name.endsWith(".ts") || file.name.startsWith("_")) continue;
      const path = `./${group.name}/${file.name}`;
      const { default: operation } = await import(new URL(path, FOLDER).href) as { default?: Operation };
      if (typeof operation?.id !== "string") throw new Error(`${path} has no operation as its default export`);
      const name = operation.id.replace(/[._]+(.)/g, (_, letter: string) => letter.toUpperCase());
      rows.push({ id: operation.id, name, path });
    }
  }
  rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  return [
    "/** The built-in operations, sorted by id. Written by ops/generate_index.ts from the folder; do not edit. */",
    'import type { Operation } from "../lib/contract/operation.ts";',
    'import type { RegisteredOperation } from "../lib/contract/registry.ts";',
    ...rows.map((row) => `import ${row.name} from "${row.path}";`),
    "",
    "const entry = (operation: Operation, path: string): RegisteredOperation => ({",
    "  operation,",
    "  moduleUrl: new URL(path, import.meta.url).href,",
    "});",
    "",
    "export const BUILTIN_OPERATIONS: RegisteredOperation[] = [",
    ...rows.map((row) => `  entry(${row.name}, "${row.path}"),`),
    "];",
    "",
  ].join("\n");
}

if (import.meta.main) {
  const target = new URL("index.ts", FOLDER);
  const source = await indexSource();
  if (!Deno.args.includes("--check")) {
    await Deno.writeTextFile(target, source);
  } else if (await Deno.readTextFile(target) !== source) {
    console.error("ops/index.ts is stale: run deno run -A ops/generate_index.ts");
    Deno.exit(1);
  }
}
