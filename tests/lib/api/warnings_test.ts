/**
 * A call declares its findings once. Every route of it, every job and every command then has `warnings` in its document. A result
 * with `diagnostics` or `warnings` and no declaration does not compile, see `call`.
 */
import assert from "node:assert/strict";
import { diagnostic } from "../../../lib/contract/error.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { type AnyCall, type HttpFace, type Shape, warned } from "../../../lib/api/call.ts";
import { commandOf } from "../../../lib/cli/call_commands.ts";
import { schemaOf } from "../../../lib/http/answer.ts";
import { nameOf } from "../../../lib/http/route.ts";
import { ROUTES } from "../../../lib/http/routes/index.ts";
import { readModuleGraph } from "../../support/module_graph.ts";
import type { CommandSpec } from "../../../lib/cli/command.ts";
import { NOUNS } from "./nouns.ts";

const CALLS = Object.entries(NOUNS).flatMap(([noun, calls]) =>
  Object.entries(calls).map(([verb, call]): [string, AnyCall] => [`${noun}.${verb}`, call])
);
const WARNING = diagnostic("value_implausible", [], "It is large", { severity: "warning" });
const INFO = diagnostic("value_implausible", [], "It is a value", { severity: "info" });

/** The documents that the routes of calls with findings describe. */
const described = CALLS.flatMap(([name, { http, findings }]) => {
  const { route, status = 200, media } = (http ?? {}) as Partial<HttpFace<Shape>>;
  if (route === undefined || media !== undefined) return [];
  const found = ROUTES.find((one) => nameOf(one) === route);
  assert.ok(found, `${name}: ${route}`);
  const { properties = {}, required = [] } = schemaOf(found.replies[status].schema!) as {
    properties?: JsonObject;
    required?: string[];
  };
  return [{ name, properties, required, warns: findings !== undefined }];
});

Deno.test("the document of a route has warnings where its call can warn", () => {
  assert.ok(described.filter(({ warns }) => warns).length > 10);
  for (const { name, properties, required, warns } of described) {
    assert.equal(required.includes("warnings"), warns, name);
    assert.ok(warns || !Object.hasOwn(properties, "diagnostics"), `${name} has diagnostics and no declared findings`);
  }
});

Deno.test("a document carries the warnings among the findings, and no others", () => {
  for (const [name, call] of CALLS) {
    const one = { ...call, findings: () => [WARNING, INFO] };
    assert.deepEqual(warned(one, {}, { x: 1 }), { warnings: [WARNING], x: 1 }, name);
    assert.deepEqual(warned({ ...call, findings: undefined }, {}, { x: 1 }), { x: 1 }, name);
    if (call.findings !== undefined && call.cli !== undefined) {
      assert.equal(commandOf(call, { name, ...call.cli }).findings, call.findings, name);
    }
  }
});

Deno.test("findings are printed where the commands of all calls are performed, and nowhere else", async () => {
  const printing = [...await readModuleGraph()].filter(([path, { text }]) =>
    path.startsWith("lib/cli/") && /context\.findings\(/.test(text)
  );
  // Warnings of a run under way are printed before its end.
  assert.deepEqual(printing.map(([path]) => path).sort(), ["lib/cli/command.ts", "lib/cli/progress.ts"]);
});

interface Sample {
  /** A result with something to remark, and one without where there is one. */
  result: unknown;
  without?: unknown;
  options?: object;
}

const failedRun = {
  planned: null,
  run: { status: "failed", diagnostics: [], summary: { error: "No bits", failure: null, steps: [] } },
};
const crossing = {
  status: "undecided",
  over: "channel.snr_db",
  metric: "ber",
  target: 0,
  against: null,
  bracket: null,
};
const search = { ...crossing, estimate: null, points: [], error: null, diagnostics: [] };
const written = { directory: "out", files: [] };
const plotted = { ...written, runs: [], plot: { plot: "error_rate", x: "", y: "", group: "method" } };

/** Results for every remark of the commands, by the words of the command and the field of its JSON that says the same. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  "artifact import unlisted": { result: { unlisted: ["a.txt"] }, without: { unlisted: [] } },
  "artifact list artifacts": { result: [], without: [{}], options: { format: "table" } },
  "benchmark compare same_pack": { result: { same_pack: false }, without: { same_pack: true } },
  "benchmark export directory": { result: written },
  "benchmark list packs": { result: [], without: [{}] },
  "benchmark plot directory": { result: plotted },
  "benchmark publish directory": { result: written },
  "benchmark results results": { result: [], without: [{}] },
  "benchmark run status": {
    result: { result: { result_id: "r", status: "canceled" } },
    without: { result: { result_id: "r", status: "completed" } },
  },
  "benchmark submitted submitted": { result: [], without: [{}] },
  "data sets sets": { result: { sets: [], truncated: false }, without: { sets: [{}], truncated: false } },
  "data sets truncated": { result: { sets: [{}], truncated: true }, without: { sets: [{}], truncated: false } },
  "doctor report": { result: { status: "passed", checks: [] }, options: { report: "problem.md" } },
  "index rebuild damaged": { result: { runs: 0, damaged: "index.old" }, without: { runs: 0, damaged: null } },
  "recipe fmt files": {
    result: [{ file: "a.yaml", changed: true }],
    without: [{ file: "a.yaml", changed: false }],
    options: { check: true },
  },
  "recipe run summary": {
    result: failedRun,
    without: { ...failedRun, run: { ...failedRun.run, status: "completed" } },
  },
  "recipe run-matrix error": {
    result: { ...search, error: { code: "run_failed", message: "No bits" } },
    without: search,
  },
  "recipe run-matrix points": { result: search, without: { ...search, status: "found" } },
  "recipe run-matrix status": { result: search, options: { format: "csv" } },
  "runs list runs": { result: [], without: [{}], options: { format: "table" } },
  "runs plot directory": { result: plotted },
  "suite benchmarks benchmark_packs": { result: { benchmark_packs: [] }, without: { benchmark_packs: [{}] } },
  "template list status": { result: { status: "valid", templates: [] } },
  "validation list cards": { result: [], without: [{}] },
  "validation report missing": { result: { figures: [], missing: ["a"] }, without: { figures: [], missing: [] } },
};

/** Every command of the program. */
async function commandSpecs(): Promise<CommandSpec[]> {
  const folder = new URL("../../../lib/cli/commands/", import.meta.url);
  const modules = await Promise.all(
    [...Deno.readDirSync(folder)].map(({ name }) => import(new URL(name, folder).href) as Promise<object>),
  );
  const lists = modules.flatMap((module) => Object.entries(module)).filter(([name]) => name.endsWith("Commands"));
  return lists.flatMap(([, list]) => list as CommandSpec[]);
}

Deno.test("what a command remarks in words is in its JSON, in the field under which it is declared", async () => {
  const seen: string[] = [];
  for (const spec of await commandSpecs()) {
    for (const [field, remark] of Object.entries(spec.remarks ?? {})) {
      const name = [...spec.usage.split(" ").filter((word) => /^[a-z]/.test(word)), field].join(" ");
      seen.push(name);
      assert.ok(Object.hasOwn(SAMPLES, name), `no sample of ${name}`);
      const { result, without, options = {} } = SAMPLES[name];
      const paint = (_: string, text: string) => text;
      const given = { options, args: [], context: { words: [], paint, paintError: paint } } as never;
      assert.equal(typeof await remark(result, given), "string", name);
      if (without !== undefined) assert.equal(await remark(without, given), null, name);
      const document = await spec.json?.(result, given) ?? result as object;
      assert.ok(Object.hasOwn(document, field), `${name}: the JSON has only ${Object.keys(document)}`);
    }
  }
  assert.deepEqual(Object.keys(SAMPLES), seen.sort(), "every sample has a remark");
});

Deno.test("commands write to standard error by their findings and remarks; others write progress alone", async () => {
  const noting = [...await readModuleGraph()].filter(([path, { text }]) =>
    path.startsWith("lib/cli/") && /\bcontext\.note\(/.test(text)
  );
  // The server of tools speaks its own protocol on standard output.
  const expected = ["lib/cli/command.ts", "lib/cli/commands/mcp.ts", "lib/cli/fetch_progress.ts"];
  assert.deepEqual(noting.map(([path]) => path).sort(), expected);
});
