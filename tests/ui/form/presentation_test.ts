// Core specification, versions: the UI presentation registry has version 1 and is never serialised into recipes.
import assert from "node:assert/strict";
import contracts from "../../../ops/contracts.json" with { type: "text" };
import { entriesOf, FACETS, FACETS_VERSION } from "../../../ui/form/presentation.ts";

interface Contract {
  id: string;
  params_schema: { properties?: Record<string, unknown> };
}

const { operations } = JSON.parse(contracts) as { operations: Contract[] };
const paramsOf = (op: string) => Object.keys(operations.find(({ id }) => id === op)?.params_schema.properties ?? {});

Deno.test("every parameter of a facet is one of an operation that the facet shows", () => {
  assert.equal(FACETS_VERSION, 1);
  const unknown = FACETS.flatMap(({ facet, ops, params }) => {
    const known = new Set(operations.filter(({ id }) => ops.test(id)).flatMap(({ id }) => paramsOf(id)));
    return params.filter((param) => !known.has(param)).map((param) => `${facet}: ${param}`);
  });
  assert.deepEqual(unknown, []);
});

Deno.test("the short form of a coded link names code, modulation and Es/N0", () => {
  const steps = [
    { id: "data", op: "source.random_bits" },
    { id: "encoder", op: "channel.repetition_encoder" },
    { id: "modulator", op: "modulation.digital_modulate" },
    { id: "link", op: "wireless.channel" },
  ].map((step) => ({ ...step, params: {}, inputs: {} }));
  assert.deepEqual(entriesOf(steps, paramsOf).map(({ stepId, param }) => `${stepId}.${param}`), [
    "data.bit_count",
    "encoder.factor",
    "modulator.modulation",
    "link.channel",
    "link.snr_db",
  ]);
});

Deno.test("the short form has parameters of every code that has some, and no name of a metric", () => {
  const codes = operations.filter(({ id }) => /^channel\..*_encoder$/.test(id) && !/identity|passthrough/.test(id));
  assert.ok(codes.length >= 8, String(codes.length));
  for (const { id } of codes) {
    const steps = [{ id: "encoder", op: id }, { id: "score", op: "metrics.bit_error_rate" }]
      .map((step) => ({ ...step, params: {}, inputs: {} }));
    const entries = entriesOf(steps, paramsOf);
    assert.ok(entries.some(({ stepId, facet }) => stepId === "encoder" && facet === "Coding"), id);
    assert.ok(entries.every(({ stepId }) => stepId === "encoder"), JSON.stringify(entries));
  }
});
