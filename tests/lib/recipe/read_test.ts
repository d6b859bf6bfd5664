import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { SvcError } from "../../../lib/contract/error.ts";
import { excerpt, readRecipeFile, readRecipeText } from "../../../lib/recipe/read.ts";
import { problemsOf, sites } from "./_read.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const value = (text: string, file: string, format?: "yaml" | "json") => readRecipeText(text, { file, format }).value;

async function withFile(name: string, bytes: Uint8Array | string, use: (path: string) => Promise<void>) {
  const folder = temporaryFolder();
  const path = join(folder, name);
  await Deno.writeFile(path, typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);
  await use(path);
}

const coded = (code: string) => (error: unknown) => error instanceof SvcError && error.code === code;

Deno.test("the format comes from the option, the extension or the text", () => {
  deepStrictEqual(value("a: 1", "r.yaml"), { a: 1 });
  deepStrictEqual(value("{a: 1}", "r.YML"), { a: 1 });
  deepStrictEqual(value('{"a": 1}', "r.json"), { a: 1 });
  deepStrictEqual(value('\n {"a": 1}', "-"), { a: 1 });
  deepStrictEqual(value("a: 1", "-"), { a: 1 });
  deepStrictEqual(value("{a: 1}", "-", "yaml"), { a: 1 });
  deepStrictEqual(sites(() => value("a: 1", "r.json")), ["recipe_syntax_invalid 1:1"]);
  deepStrictEqual(sites(() => value("{a: 1}", "-")), ["recipe_syntax_invalid 1:2"]);
  deepStrictEqual(sites(() => value("a: 1", "r.yaml", "json")), ["recipe_syntax_invalid 1:1"]);
});

Deno.test("a byte order mark is no part of the text", () => {
  deepStrictEqual(value("\ufeffa: 1", "r.yaml"), { a: 1 });
  deepStrictEqual(sites(() => value('\ufeff{"a":}', "r.json")), ["recipe_syntax_invalid 1:6"]);
});

Deno.test("a text may have 2 MiB, counted in UTF-8", () => {
  const limit = 2 * 1024 * 1024;
  const text = (bytes: number) => JSON.stringify({ a: "é".repeat((bytes - 8) / 2) });
  strictEqual(new TextEncoder().encode(text(limit)).length, limit);
  value(text(limit), "r.json");
  for (const format of ["json", "yaml"] as const) {
    try {
      value(text(limit + 2), "r", format);
      throw new Error("nothing was refused");
    } catch (error) {
      strictEqual((error as SvcError).code, "recipe_limit_exceeded");
    }
  }
});

Deno.test("values may nest 64 levels deep, in every form", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  const blocks = (levels: number) =>
    Array.from({ length: levels }, (_, i) => " ".repeat(i) + "a:\n").join("").replace(/\n$/, " 1\n");
  value(nested(64), "r.json");
  value(nested(64), "r.yaml");
  value(blocks(64), "r.yaml");
  value("- ".repeat(64) + "1", "r.yaml");
  deepStrictEqual(sites(() => value(nested(65), "r.json")), ["recipe_limit_exceeded 1:65"]);
  deepStrictEqual(sites(() => value(nested(65), "r.yaml")), ["recipe_limit_exceeded 1:65"]);
  deepStrictEqual(sites(() => value(blocks(65), "r.yaml")), ["recipe_limit_exceeded 65:65"]);
  deepStrictEqual(sites(() => value("- ".repeat(65) + "1", "r.yaml")), ["recipe_limit_exceeded 1:129"]);
  // Aliases count with what they stand for.
  const half = `a: &h ${nested(40)}\nb: `;
  value(half + "[".repeat(23) + "*h" + "]".repeat(23), "r.yaml");
  deepStrictEqual(sites(() => value(half + "[".repeat(24) + "*h" + "]".repeat(24), "r.yaml")), [
    "recipe_limit_exceeded 2:28",
  ]);
});

Deno.test("texts built to keep a reader busy are refused early", () => {
  const size = 1 << 15;
  const bombs: [string, string][] = [
    ["]".repeat(size), "recipe_syntax_invalid"],
    ["[".repeat(size), "recipe_limit_exceeded"],
    ["{a: ".repeat(size / 4), "recipe_limit_exceeded"],
    ["- ".repeat(size / 2), "recipe_limit_exceeded"],
    ["? ".repeat(size / 2), "recipe_limit_exceeded"],
    ["- '\n".repeat(size / 4), "recipe_syntax_invalid"],
    ["%a\n".repeat(size / 4), "recipe_syntax_invalid"],
    ["---\n".repeat(size / 4), "recipe_syntax_invalid"],
    ["&a ".repeat(size / 4), "recipe_syntax_invalid"],
    ["a: 1\n".repeat(size / 4), "recipe_duplicate_key"],
  ];
  for (const [text, code] of bombs) {
    const problems = problemsOf(() => value(text, "r.yaml"));
    strictEqual(problems[0].code, code);
    strictEqual(problems.length <= 20, true);
  }
});

Deno.test("recipe files are read as UTF-8", async () => {
  await withFile("r.yaml", "name: é\n", async (path) => {
    const { value, text, locate } = await readRecipeFile(path);
    deepStrictEqual(value, { name: "é" });
    strictEqual(text, "name: é\n");
    strictEqual(locate(["name"])!.file, path);
  });
  await withFile("r.yaml", new Uint8Array([0x61, 0x3a, 0x20, 0x78, 0x0a, 0x62, 0x3a, 0xff]), async (path) => {
    await rejects(readRecipeFile(path), (error: SvcError) => {
      strictEqual(error.code, "recipe_syntax_invalid");
      deepStrictEqual(error.diagnostics[0].location, { file: path, line: 2, column: 3 });
      return true;
    });
  });
});

Deno.test("files that cannot be a recipe are refused by name", async () => {
  await rejects(readRecipeFile("/nowhere/r.yaml"), coded("recipe_not_found"));
  await rejects(readRecipeFile(Deno.cwd()), coded("recipe_not_found"));
  await withFile("r.yaml", new Uint8Array(2 * 1024 * 1024 + 1).fill(0x20), async (path) => {
    await rejects(readRecipeFile(path), coded("recipe_limit_exceeded"));
  });
});

Deno.test("an excerpt shows the line and a caret", () => {
  strictEqual(excerpt("a: 1\nb:\t12 dB\r\nc: 3", { line: 2, column: 4 }), "  b: 12 dB\n     ^");
  strictEqual(excerpt("é😀: x", { line: 1, column: 5 }), "  é😀: x\n      ^");
  strictEqual(excerpt("a", { line: 1, column: 9 }), "  a\n   ^");
  strictEqual(excerpt("a", { line: 4, column: 1 }), "");
  strictEqual(excerpt("a\u001b[31m", { line: 1, column: 1 }), "  a·[31m\n  ^");
  const [line, caret] = excerpt(`${"x".repeat(300)}!${"y".repeat(300)}`, { line: 1, column: 301 }).split("\n");
  strictEqual(line.length < 110, true);
  strictEqual(line[caret.length - 1], "!");
});
