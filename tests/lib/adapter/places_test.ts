/** Errors of an adapter's code name file, line and column of that code. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { open } from "../../../mod.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { manifestOf, placed, withFolder, writeFolder } from "./support.ts";

const CODE = `import { half } from "./half.js";
import { Level } from "./level.ts";
export function plain({ array }: { array: { data: Uint8Array } }) {
  const missing = array as unknown as { none: { shape: number[] } };
  return missing
    .none.shape;
}
export const helped = ({ array }: any) => half(array.data);
export async function later(): Promise<never> {
  await Promise.resolve();
  throw new RangeError("later");
}
export const rewritten = () => Level.check(3);
export const forged = () => {
  const error = new Error("forged");
  error.stack = "Error\\n    at f (file:///etc/passwd:1:1)";
  throw error;
};
`;
const FILES = {
  "code.ts": CODE,
  "half.js": "export function half(data) {\n  return data.none.length;\n}\n",
  // An enum and a namespace are rewritten, so the engine sees other lines.
  "level.ts": "export enum Kind { Low, High }\nexport namespace Level {\n  export function check(value: Kind) {\n" +
    '    if (value > Kind.High) throw new Error("too high");\n  }\n}\n',
};

Deno.test("an exception of an adapter names file, line and column of its code, in the summary and its message", () =>
  withFolder(async (project) => {
    const names = ["plain", "helped", "later", "rewritten", "forged"];
    const folder = writeFolder(join(project, "probe"), { "svc_adapter.yaml": manifestOf(names), ...FILES });
    await using svc = await open({ projectRoot: project, adapters: [{ folder }] });
    const expected: Record<string, [string, number, number] | null> = {
      plain: ["probe/code.ts", 6, 11],
      helped: ["probe/half.js", 2, 20],
      later: ["probe/code.ts", 11, 9],
      rewritten: ["probe/level.ts", 4, 34],
      forged: null,
    };
    for (const name of names) {
      const { status, summary } = await svc.recipes.run(placed(`probe.${name}`));
      const failure = summary.failure as JsonObject, place = expected[name];
      assert.deepEqual([status, failure.code], ["failed", "adapter_call_failed"]);
      if (place === null) {
        assert.ok(!("location" in failure), name);
        continue;
      }
      const [file, line, column] = place;
      assert.deepEqual(failure.location, { file, line, column }, name);
      assert.ok(String(summary.error).endsWith(` (${file}:${line}:${column})`), String(summary.error));
    }
  }));

Deno.test("a syntax error and an error of loading name their place", () =>
  withFolder(async (project) => {
    const cases: [Record<string, string>, string][] = [
      [{ "code.ts": "export function plain() {\n  const x: number = = 3;\n}\n" }, "probe/code.ts:2:21"],
      [{
        "code.ts": 'export { half as plain } from "./half.js";\n',
        "half.js": "export function half() {\n  let x = = 3;\n}\n",
      }, "probe/half.js:2:11"],
      [{ "code.ts": "export const plain = () => 1;\n\n  throw new Error('no');\n" }, "probe/code.ts:3:9"],
    ];
    for (const [index, [files, place]] of cases.entries()) {
      const folder = writeFolder(join(project, String(index), "probe"), {
        "svc_adapter.yaml": manifestOf(["plain"]),
        ...files,
      });
      await assert.rejects(open({ projectRoot: project, adapters: [{ folder }] }), (error: SvcError) => {
        const [{ location }] = error.diagnostics;
        assert.equal(location && `${location.file}:${location.line}:${location.column}`, place);
        return error.code === "adapter_load_failed";
      });
    }
  }));
