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
