/** Every benchmark program runs, at a tiny size: the working program is under test, its times are not. */
import assert from "node:assert/strict";

Deno.env.set("SVC_BENCH_SIZE", "tiny");
const folder = new URL("./bench/", import.meta.url);

for (const { name } of [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith("_bench.ts"))) {
  Deno.test(`${name} runs`, { sanitizeOps: false, sanitizeResources: false }, async () => {
    const lines: string[] = [];
    const { log, table } = console;
    Object.assign(console, {
      log: (line: string) => lines.push(line),
      table: (rows: unknown[]) => lines.push(...rows.map(String)),
    });
    try {
      await import(new URL(name, folder).href);
    } finally {
      Object.assign(console, { log, table });
    }
    assert.ok(lines.length > 0, "it reports something");
  });
}
