import assert from "node:assert/strict";
import { fitWidths, formatTable } from "../../../lib/cli/table.ts";

const COLUMNS = [{ key: "run" }, { key: "recipe" }, { key: "title" }, { key: "size", align: "right" as const }];

Deno.test("columns that fit keep their widths", () => {
  assert.deepEqual(fitWidths([20, 30, 20, 8], COLUMNS, 84), [20, 30, 20, 8]);
  assert.equal(formatTable([{ run: "first", size: 1 }], ["run", "size"]), "run    size\nfirst  1\n");
});

Deno.test("the widest columns of text give way to a narrow terminal; names to copy and numbers stay", () => {
  assert.deepEqual(fitWidths([20, 30, 20, 8], COLUMNS, 74), [20, 20, 20, 8]);
  const narrow = fitWidths([20, 30, 20, 8], COLUMNS, 65);
  assert.equal(narrow.reduce((a, b) => a + b), 65 - 6);
  assert.deepEqual([narrow[0], narrow[3]], [20, 8]);
  assert.ok(Math.abs(narrow[1] - narrow[2]) <= 1);
  assert.deepEqual(fitWidths([300, 200, 5, 8], COLUMNS, 20), [300, 12, 5, 8]);
});

Deno.test("CSV and Markdown hold whole cells", () => {
  const rows = [{ run: "r".repeat(400), recipe: 'a "b", c', title: "t", size: 1 }];
  assert.equal(formatTable(rows, COLUMNS, "csv"), `run,recipe,title,size\n${"r".repeat(400)},"a ""b"", c",t,1\n`);
  assert.ok(formatTable(rows, COLUMNS, "md").includes("r".repeat(400)));
});
