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
