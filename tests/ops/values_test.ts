/**
 * Every value of every enumerated parameter runs, or is in `unavailable_values` with its reason. Values that the fixtures
 * set run in conformance_test.ts; here run the others, each in the first case that takes it.
 */
import assert from "node:assert/strict";
import type { Operation } from "../../lib/contract/operation.ts";
import { plainParams } from "../../lib/contract/schema.ts";
import type { JsonObject, Value } from "../../lib/contract/value.ts";
import { nativeKernels } from "../../lib/numeric/native/kernels.ts";
import { hasNativeKernels, isRefusal, materialize } from "../../lib/plan/materialize.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import { NATIVE_LIBRARY } from "../support/native.ts";
import { latents, publishedModels } from "./_fixtures/codeclib.ts";
import { FIXTURES } from "./_fixtures/index.ts";
import { materialise, runOperation } from "./harness.ts";

if (NATIVE_LIBRARY !== null) nativeKernels();

interface Choice {
  name: string;
  value: Value;
}

const text = ({ name, value }: Choice): string => `${name}=${String(value)}`;

function choicesOf({ contract }: Operation): Choice[] {
  return Object.entries((contract.params_schema.properties ?? {}) as { [name: string]: JsonObject })
    .flatMap(([name, { enum: values }]) => (Array.isArray(values) ? values : []).map((value) => ({ name, value })));
}

/** What the planner says to these parameters. */
const planned = ({ contract, definition }: Operation, params: JsonObject) =>
  materialize(contract, params, {
    runner: "benchmark_run",
    authored: params,
    nativeKernels: hasNativeKernels(definition, params),
  });

const wrapped = ({ definition }: Operation, params: JsonObject) =>
  definition.requires?.(plainParams(params)).some(({ kind }) => kind === "adapter") ?? false;

for (const { operation } of BUILTIN_OPERATIONS) {
  const { contract, id } = operation, schema = contract.params_schema;
  const fixture = FIXTURES[id], cases = "skip" in fixture ? [] : fixture;
  const reasons = contract.unavailable_values ?? {};
  const listed = ({ name, value }: Choice) => reasons[name]?.[String(value)];
  const choices = choicesOf(operation),
    effective = cases.map(({ params }) => materialise(schema, params as JsonObject));
  const open = choices.filter((choice) =>
    listed(choice) === undefined && !effective.some((params) => params[choice.name] === choice.value)
  );

  Deno.test(`values of ${id} that cannot be chosen are refused with the reason and another value`, () => {
    for (const [name, values] of Object.entries(reasons)) {
      const all = choices.filter((choice) => choice.name === name), left = all.filter((one) => !listed(one));
      assert.deepEqual(Object.keys(values).filter((value) => !all.some((one) => String(one.value) === value)), []);
      for (const choice of all.filter(listed)) {
        const params = materialise(schema, { [name]: choice.value });
        const outcome = planned(operation, params);
        assert.ok(isRefusal(outcome), `${text(choice)} is listed and can be planned`);
        assert.equal(outcome.code, "materialization_unavailable");
        if (left.length === 0 || !outcome.place.includes(name)) continue;
        assert.ok(outcome.message.endsWith(listed(choice)!), outcome.message);
        assert.ok(left.some(({ value }) => outcome.hint?.includes(String(value))), String(outcome.hint));
      }
    }
  });

  const models = operation.definition.models !== undefined || id.startsWith("model.codeclib_onnx_");
  const options = { sanitizeOps: !models, sanitizeResources: !models };
  if (open.length === 0) continue;
  Deno.test(`every other value of ${id} runs`, options, async (t) => {
    for (const choice of open) {
      const skipped = choice.value === "cpp_native" && NATIVE_LIBRARY === null
        ? "needs a C++ compiler"
        : "skip" in fixture
        ? (wrapped(operation, materialise(schema)) ? "adapters run it: tests/lib/adapter" : fixture.skip)
        : null;
      await t.step({
        name: skipped === null ? text(choice) : `${text(choice)} (${skipped})`,
        ignore: skipped !== null,
        fn: () => runsOnce(operation, choice),
      });
    }
  });
}

/** Runs the first case that takes the value. @throws the error of the last case where none does */
async function runsOnce(operation: Operation, { name, value }: Choice): Promise<void> {
  const cases = FIXTURES[operation.id];
  assert.ok(!("skip" in cases));
  let last: unknown;
  for (const { inputs, params, files, model, models } of cases) {
    const asked = { ...params as JsonObject, ...MORE[`${name}=${value}`], [name]: value };
    try {
      const outcome = planned(operation, materialise(operation.contract.params_schema, asked));
      assert.ok(!isRefusal(outcome), isRefusal(outcome) ? outcome.message : "");
      const known = { ...publishedModels(), ...models };
      const made = operation.id === "model.codeclib_entropy_encode"
        ? await latents(Object.fromEntries(["model", "metric"].map((key) => [key, asked[key] ?? "mse"])), known)
        : await inputs?.();
      await runOperation(operation, {
        inputs: made,
        params: asked,
        files: await files?.(),
        model,
        models: known,
      });
      return;
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

/** Further parameters that a value needs. */
const MORE: Record<string, JsonObject> = {
  "metric=ms-ssim": { model: "mbt2018" },
  "ptrs_groups=8": { fft_size: 64 },
};
