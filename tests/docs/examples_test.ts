/**
 * The examples in the comments of the library run, all in one process, in which modules are loaded once. `deno task check` checks
 * their types; tests/library_examples_test.ts says which exports have one.
 */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT_PATH } from "../support/paths.ts";

const listed = ["lib", "ops"].flatMap((folder) =>
  (readdirSync(join(ROOT_PATH, folder), { recursive: true }) as string[]).map((path) => `${folder}/${path}`)
);
const sources = ["mod.ts", "server.ts", ...listed.filter((path) => path.endsWith(".ts")).sort()];

interface Example {
  path: string;
  line: number;
  code: string;
}

/** Blocks of the language `ts` in comments. */
function examplesIn(path: string): Example[] {
  const text = Deno.readTextFileSync(join(ROOT_PATH, path));
  return [...text.matchAll(/^( *\*) ```ts\n([^]*?)^\1 ```$/gm)].map(({ index, 1: margin, 2: body }) => ({
    path,
    line: text.slice(0, index).split("\n").length,
    code: body.split("\n").map((line) => line.slice(margin.length + 1)).join("\n"),
  }));
}

const examples = sources.flatMap(examplesIn);
const folder = Deno.makeTempDirSync({ prefix: "svc-examples-" });
Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));

for (const [number, { path, line, code }] of examples.entries()) {
  Deno.test(`the example at ${path}:${line} holds`, async () => {
    const base = pathToFileURL(join(ROOT_PATH, path)), file = join(folder, `${number}.ts`);
    // As if it were in the file that shows it.
    const text = code.replaceAll(/(?<=\bfrom )"(\.[^"]+)"/g, (_, to) => `"${new URL(to, base)}"`)
      .replaceAll("import.meta.url", `"${base}"`);
    await Deno.writeTextFile(file, text);
    await import(pathToFileURL(file).href);
  });
}

Deno.test("every example is found, and an example that is wrong fails", async () => {
  const fences = sources.map((path) => Deno.readTextFileSync(join(ROOT_PATH, path)).split("* ```ts\n").length - 1);
  assert.equal(examples.length, fences.reduce((sum, count) => sum + count));
  assert.ok(examples.length > 60, `${examples.length} examples`);
  const wrong = join(folder, "wrong.ts");
  await Deno.writeTextFile(wrong, 'import assert from "node:assert/strict";\nassert.equal(1, 2);\n');
  await assert.rejects(import(pathToFileURL(wrong).href), { code: "ERR_ASSERTION" });
});
