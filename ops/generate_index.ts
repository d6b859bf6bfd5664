/**
 * Writes `ops/index.ts`, `ops/contracts.json`, `ops/summaries.json` and `ops/contract_digests.json` from the folder: the default export of every file
 * `ops/<subject>/<name>.ts` whose name does not begin with an underscore is one operation, or the list of a family. The
 * file of one operation `a.b.v2` is `b_v2.ts`; the folder is the subject, which is often the first part of the id.
 *
 * With the contracts and their summaries as data, `ops list` and `ops show` answer without loading an operation. With the
 * digests of the contracts a registry knows all operations and loads the used ones.
 */
import { canonicalJson, compareCodePoints, contractSha256, type Operation, prettyJson } from "./api.ts";

const FOLDER = new URL("./", import.meta.url);

const fileName = (id: string) => `${id.slice(id.indexOf(".") + 1).replaceAll(".", "_")}.ts`;

interface Row {
  id: string;
  path: string;
  operation: Operation;
}

/** Every operation of the folder, sorted by id. */
async function operationRows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const group of Deno.readDirSync(FOLDER)) {
    if (!group.isDirectory) continue;
    for (const file of Deno.readDirSync(new URL(`${group.name}/`, FOLDER))) {
      if (!file.isFile || !file.name.endsWith(".ts") || file.name.startsWith("_")) continue;
      const path = `./${group.name}/${file.name}`;
      const { default: exported } = await import(new URL(path, FOLDER).href) as { default?: Operation | Operation[] };
      const operations = exported === undefined ? [] : [exported].flat();
      if (operations.length === 0 || operations.some(({ id }) => typeof id !== "string")) {
        throw new Error(`${path} has no operation as its default export`);
      }
      if (!Array.isArray(exported) && file.name !== fileName(operations[0].id)) {
        throw new Error(`${operations[0].id} belongs into ${fileName(operations[0].id)}`);
      }
      rows.push(...operations.map((operation) => ({ id: operation.id, path, operation })));
    }
  }
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The expected text of `ops/contracts.json`: one contract per line, with its keys as declared. Exported for tests. */
export async function contractsSource(): Promise<string> {
  const lines = (await operationRows()).map(({ operation }) => canonicalJson(operation.contract, { sorted: false }));
  return `{"schema_version":1,"operations":[\n${lines.join(",\n")}\n]}\n`;
}

/** The expected text of `ops/summaries.json`: what a list shows of each contract. Exported for tests. */
export async function summariesSource(): Promise<string> {
  const lines = (await operationRows()).map(({ operation: { contract } }) => {
    const { id, name, input_kinds, output_kinds } = contract;
    return canonicalJson({ id, name, input_kinds, output_kinds });
  });
  return `{"schema_version":1,"operations":[\n${lines.join(",\n")}\n]}\n`;
}

/** The expected text of `ops/contract_digests.json`: the module of each operation and the SHA-256 of its contract. Exported for tests. */
export async function digestsSource(): Promise<string> {
  const rows = (await operationRows()).map(({ id, path, operation }) => [
    id,
    { module: path.slice("./".length), contract_sha256: contractSha256(operation.contract) },
  ]);
  return prettyJson({ schema_version: 1, operations: Object.fromEntries(rows) });
}

/** The expected text of `ops/index.ts`. Exported for tests. */
export async function indexSource(): Promise<string> {
  const paths = [...new Set((await operationRows()).map(({ path }) => path))].sort(compareCodePoints);
  const nameOf = (path: string) =>
    path.slice("./".length, -".ts".length).replace(/[/_]+(.)/g, (_, letter: string) => letter.toUpperCase());
  return [
    "/** The built-in operations, sorted by id. Written by ops/generate_index.ts from the folder; do not edit. */",
    'import type { RegisteredOperation } from "../lib/contract/registry.ts";',
    'import digests from "./contract_digests.json" with { type: "json" };',
    ...paths.map((path) => `import ${nameOf(path)} from "${path}";`),
    "",
    "// deno-fmt-ignore",
    "const MODULES = [",
    ...lines(paths.map((path) => `${nameOf(path)},`)),
    "];",
    "const BY_ID = new Map(MODULES.flat().map((operation) => [operation.id, operation]));",
    "",
    "export const BUILTIN_OPERATIONS: RegisteredOperation[] = Object.entries(digests.operations).map(([id, { module }]) => ({",
    "  operation: BY_ID.get(id)!,",
    "  moduleUrl: new URL(module, import.meta.url).href,",
    "}));",
    "",
  ].join("\n");
}

/** Words in indented lines of at most 120 characters. */
function lines(words: string[]): string[] {
  return words.reduce<string[]>((all, word) => {
    const longer = `${all.at(-1)} ${word}`;
    return all.length > 0 && longer.length <= 120 ? [...all.slice(0, -1), longer] : [...all, `  ${word}`];
  }, []);
}

/** The generated files of this folder, by path from the root. */
export const generated = async (): Promise<Record<string, string>> => ({
  "ops/index.ts": await indexSource(),
  "ops/contracts.json": await contractsSource(),
  "ops/summaries.json": await summariesSource(),
  "ops/contract_digests.json": await digestsSource(),
});
