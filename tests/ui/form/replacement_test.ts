/** Which operations fit in the place of a step, and what becomes of the recipe. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { asCustom } from "../../../ui/form/custom.ts";
import { fittingOperations, lostBindings, withOperation } from "../../../ui/form/replacement.ts";
import type { Contract } from "../../../ui/state/contracts.ts";
import type { Step } from "../../../ui/state/copies.ts";

const contract = (id: string, inputs: Contract["input_kinds"], outputs: Contract["output_kinds"], more = {}) =>
  [id, {
    id,
    name: id,
    status: "supported",
    input_kinds: inputs,
    optional_input_kinds: {},
    output_kinds: outputs,
    params_schema: { properties: {} },
    ...more,
  }] as unknown as [string, Contract];

const CONTRACTS = new Map([
  contract("source.bits", {}, { bits: "bits" }),
  contract("code.a", { bits: ["bits"] }, { coded: "coded" }),
  contract("code.b", { bits: ["bits", "text"] }, { coded: "coded", extra: "report" }, {
    params_schema: { properties: { rate: { type: "integer", maximum: 3 }, name: { type: "string" } } },
  }),
  contract("code.planned", { bits: ["bits"] }, { coded: "coded" }, { status: "planned" }),
  contract("code.needs_more", { bits: ["bits"], key: ["key"] }, { coded: "coded" }),
  contract("code.other_output", { bits: ["bits"] }, { coded: "text" }),
  contract("code.other_input", { bits: ["text"] }, { coded: "coded" }),
  contract("sink", { coded: ["coded"] }, {}),
]);
const RECIPE: JsonObject = {
  name: "r",
  execution_profile: { id: "layered_digital", version: 1 },
  steps: [
    { id: "s", op: "source.bits" },
    { id: "c", op: "code.a", inputs: { bits: "s.bits" }, params: { rate: 5, name: "x", gone: 1 } },
    { id: "e", op: "sink", inputs: { coded: "c.coded" } },
  ],
};

const STEPS = (RECIPE.steps as JsonObject[]).map((step) => ({ inputs: {}, params: {}, ...step })) as unknown as Step[];

Deno.test("an operation fits where its ports take what comes and give what is taken", () => {
  const fitting = (id: string) => fittingOperations(STEPS, id, CONTRACTS).map(({ id }) => id);
  assert.deepEqual(fitting("c"), ["code.b"]);
  assert.deepEqual(fitting("s"), []);
});

Deno.test("a replaced step keeps the parameters that the new operation takes, and the recipe becomes custom", () => {
  const made = withOperation(RECIPE, "c", CONTRACTS.get("code.b")!);
  assert.deepEqual((made.steps as JsonObject[])[1], {
    id: "c",
    op: "code.b",
    inputs: { bits: "s.bits" },
    params: { name: "x" },
  });
  assert.equal(made.name, "r_custom");
  assert.deepEqual(made.execution_profile, {
    id: "custom",
    version: 1,
    based_on: { id: "layered_digital", version: 1 },
  });
  assert.equal(asCustom(made), made);
  assert.deepEqual(asCustom({ execution_profile: "layered_digital" }).execution_profile, made.execution_profile);
});

Deno.test("sweeps of parameters that the new operation lacks go with them, and a dimension that others use stays", () => {
  const gone = { gone: { matrix: "g" }, rate: { matrix: "r" } };
  const matrix = { dimensions: { g: [1, 2], r: [1, 3] }, step_params: { c: gone } };
  const swept = { ...RECIPE, metadata: { seed: 1, matrix } }, other = CONTRACTS.get("code.b")!;
  assert.deepEqual(lostBindings(swept, "c", other).map(({ param, dimension }) => [param, dimension]), [["gone", "g"]]);
  assert.deepEqual(withOperation(swept, "c", other).metadata, {
    seed: 1,
    matrix: { dimensions: { r: [1, 3] }, step_params: { c: { rate: { matrix: "r" } } } },
  });
  const shared = { ...matrix, step_params: { c: gone, s: { n: { matrix: "g" } } } };
  assert.deepEqual(withOperation({ ...swept, metadata: { matrix: shared } }, "c", other).metadata, {
    matrix: { ...matrix, step_params: { c: { rate: { matrix: "r" } }, s: { n: { matrix: "g" } } } },
  });
});
