import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SvcError } from "../../../lib/contract/error.ts";
import { codeOf, isNoSpace, isStorageFault, systemCodeOf, withSystemCode } from "../../../lib/contract/system_error.ts";

function thrownBy(body: () => unknown): unknown {
  try {
    body();
  } catch (error) {
    return error;
  }
  throw new assert.AssertionError({ message: "nothing was thrown" });
}

Deno.test("errors of the system and of SQLite get one code, and keep the system's own", async () => {
  const folder = await Deno.makeTempDir();
  const file = join(folder, "file"), link = join(folder, "link"), text = join(folder, "text.sqlite3");
  await Deno.writeTextFile(file, "");
  await Deno.symlink(join(folder, "missing"), link);
  await Deno.writeTextFile(text, "no database ".repeat(1000));
  const full = new DatabaseSync(join(folder, "full.sqlite3"));
  full.exec("CREATE TABLE t (a TEXT); PRAGMA max_page_count = 3");
  const query = (path: string) => new DatabaseSync(path).exec("SELECT * FROM sqlite_master");
  const cases: [string, () => unknown][] = [
    ["ENOENT", () => Deno.readTextFileSync(join(folder, "missing"))],
    ["EEXIST", () => Deno.mkdirSync(link, { recursive: true })],
    ["ENOTDIR", () => Deno.writeTextFileSync(join(file, "x"), "")],
    ["EISDIR", () => Deno.readTextFileSync(folder)],
    ["SQLITE_NOTADB", () => query(text)],
    ["SQLITE_CANTOPEN", () => query(join(folder, "missing/index"))],
    ["SQLITE_FULL", () => full.prepare("INSERT INTO t VALUES (?)").run("x".repeat(100_000))],
    ["SQLITE_FULL", () => full.exec(`INSERT INTO t VALUES ('${"x".repeat(100_000)}')`)],
    ["SQLITE_ERROR", () => full.exec("SELECT * FROM nothing")],
  ];
  for (const [code, body] of cases) {
    const error = thrownBy(body);
    assert.equal(systemCodeOf(error), code);
    const coded = withSystemCode(error) as SvcError;
    assert.ok(coded instanceof SvcError && coded.hint !== null, code);
    assert.deepEqual([coded.code, coded.extra.system_code], ["file_system_error", code]);
    assert.equal(isNoSpace(code), code === "SQLITE_FULL");
    assert.equal(isStorageFault(code), code.startsWith("SQLITE_"));
    const caused = new SvcError("file_write_failed", "Cannot write", { cause: error });
    assert.deepEqual(codeOf(caused, "internal_error"), { code: "file_write_failed", system_code: code });
    assert.equal(withSystemCode(caused), caused);
  }
  full.close();
  await Deno.remove(folder, { recursive: true });
  const defect = new TypeError("x is not a function");
  assert.equal(withSystemCode(defect), defect);
  assert.deepEqual(codeOf(defect, "internal_error"), { code: "internal_error" });
});
