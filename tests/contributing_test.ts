import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { ROOT_PATH } from "./support/paths.ts";
import { FULL_SIZE } from "./support/reduced_sizes.ts";

const PARTS = ["deno.json", "deno.lock", "mod.ts", "cli.ts", "server.ts"];
const FOLDERS = ["lib", "ops", "adapters", "ui", "recipes", "benchmarks", "docs"];
const TEST_PARTS = ["ops", "golden", "support", "data"].map((name) => `tests/${name}`);

Deno.test("CONTRIBUTING adds an operation: every command and code block works in a copy of the program", async () => {
  const text = await Deno.readTextFile(join(ROOT_PATH, "CONTRIBUTING.md"));
  const [, chapter] = text.split("\n## Add an operation in ten minutes\n");
  const root = await Deno.makeTempDir({ prefix: "svc-contributing-" });
  try {
    for (const part of [...PARTS, ...FOLDERS, ...TEST_PARTS, "CHANGELOG.md", "README.md", "LICENSE"]) {
      cpSync(join(ROOT_PATH, part), join(root, part), { recursive: true });
    }
    let steps = 0;
    for (const [, before, language, code] of chapter.matchAll(/((?:(?!```)[^])*)```(\w+)\n([^]*?)```\n/g)) {
      const written = /Write `([^`]+)`:\s*$/.exec(before)?.[1];
      const added = /Add this line after `([^`]+)` in\s+`([^`]+)`:\s*$/.exec(before);
      if (written !== undefined) await Deno.writeTextFile(join(root, written), code);
      else if (added !== null) await addAfter(join(root, added[2]), added[1], code);
      else {
        assert.equal(language, "sh", before);
        for (const line of code.trim().split("\n")) if (!/task ok$|^git /.test(line)) await shell(shorter(line), root);
      }
      steps++;
    }
    assert.equal(steps, 9);
    const golden = await Deno.readTextFile(join(root, "tests/golden/stored/limited_link.json"));
    assert.match(golden, /hardware\.soft_limiter/);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

/** Writes the index of operations; `deno task generated` performs the other generators too. */
const INDEX = `const { generated } = await import("./ops/generate_index.ts");
for (const [path, text] of Object.entries(await generated())) await Deno.writeTextFile(path, text);`;

/** Other operations and recipes have their tests in this suite; under `deno task soak whole` the commands run as printed. */
const shorter = (line: string): string =>
  FULL_SIZE ? line : line.replace(/^deno task generate$/, `deno eval '${INDEX}'`).replace(
    /tests\/ops\/hardware$/,
    "$&/soft_limiter_test.ts",
  )
    .replace(/tests\/golden$/, "$& --filter limited_link");

async function addAfter(path: string, found: string, line: string): Promise<void> {
  const lines = (await Deno.readTextFile(path)).split("\n");
  const at = lines.findIndex((text) => text.includes(found));
  assert.ok(at >= 0, `${path} has no ${found}`);
  await Deno.writeTextFile(path, lines.toSpliced(at + 1, 0, line.trimEnd()).join("\n"));
}

async function shell(command: string, cwd: string): Promise<void> {
  const { code, stdout, stderr } = await new Deno.Command("sh", { args: ["-c", command], cwd }).output();
  const [output, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.equal(code, 0, `${command}\n${output}\n${errors}`);
}
