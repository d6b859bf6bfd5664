import assert from "node:assert/strict";
import { contractSha256, defineOperation } from "../../../lib/contract/define.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { BITS, BITS_ANY, REPORT, SYMBOLS } from "../../../lib/contract/kinds.ts";
import { editDistance, nearestName } from "../../../lib/contract/nearest.ts";
import type { FineTuningProvider, Materialization, Operation } from "../../../lib/contract/operation.ts";
import { stepOutputKinds } from "../../../lib/contract/output_kinds.ts";
import { Registry } from "../../../lib/contract/registry.ts";
import { parameterSchema } from "../../../lib/contract/publish_schema.ts";
import { checkValue, isEffective, seedParameter } from "../../../lib/contract/schema.ts";
import { float, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { z } from "../../../lib/contract/zod.ts";

function operation(id: string, params = z.strictObject({}), materializations?: Materialization[]): Operation {
  return defineOperation({
    id,
    name: "Test",
    inputs: { bits: BITS_ANY },
    outputs: { bits: BITS },
    params,
    materializations,
    ...(materializations === undefined ? {} : { backends: { benchmark_run: ["python"] } }),
    threadSafe: true,
    run: ({ inputs }) => ({ outputs: { bits: { array: inputs.bits.array() } } }),
  });
}

const shape = z.strictObject({
  snr_db: z.number().min(-50).max(50).default(12).meta({ "x-svc-effective-when": { noise_mode: "snr" } }),
  noise_mode: z.enum(["snr", "fixed"]).default("snr"),
  count: z.int().positive().default(3),
  seed: seedParameter(),
  level: z.number().nullable().default(null),
  taps: z.array(z.number()).min(1).max(3).default([1, 0.5]),
  grid: z.strictObject({ rows: z.int().default(4), name: z.string().min(1).default("g") }).default({
    rows: 4,
    name: "g",
  }),
});
const schema = parameterSchema(shape);

const code = (expected: string) => (error: unknown) => error instanceof SvcError && error.code === expected;
const problems = (value: JsonObject) =>
  checkValue(schema, value, ["params"]).map(({ path, message }) => `${path}: ${message}`);

Deno.test("schemas: real defaults and bounds are floats, integers carry no 2^53 bound", () => {
  const properties = schema.properties as Record<string, JsonObject>;
  assert.deepEqual(properties.snr_db.default, float(12));
  assert.deepEqual(properties.snr_db.minimum, float(-50));
  assert.equal(properties.count.default, 3);
  assert.equal("maximum" in properties.count, false);
  assert.equal("maximum" in properties.seed, false);
  assert.equal(schema.required, undefined);
});

Deno.test("values: types are exact, all problems come at once", () => {
  assert.deepEqual(problems({ snr_db: 6, count: 2, seed: 2n ** 62n, level: null, taps: [float(1)] }), []);
  assert.deepEqual(problems({ snr_db: "12 dB", count: float(2), nois_mode: "snr", taps: [], grid: { rows: true } }), [
    '$.params.snr_db: Cannot use the text "12 dB" as a number',
    "$.params.count: Cannot use 2.0 (number) as an integer",
    "$.params.nois_mode: Cannot find a parameter named nois_mode",
    "$.params.taps: Cannot use 0 items: at least 1 are needed",
    "$.params.grid.rows: Cannot use true (boolean) as an integer",
  ]);
  const [text] = checkValue(schema, { snr_db: "12 dB" }, []);
  assert.equal(text.hint, "Write 12.0");
  const [name] = checkValue(schema, { nois_mode: "snr" }, []);
  assert.equal(name.hint, "Did you mean noise_mode?");
  const [choice] = checkValue(schema, { noise_mode: "fixd" }, []);
  assert.equal(choice.hint, "Did you mean fixed?");
  assert.equal(checkValue(schema, { snr_db: float(50.5) } as JsonObject, [])[0].code, "params_invalid");
  assert.equal(problems({ count: 0 }).length, 1);
  assert.equal(problems({ grid: { name: "" } })[0], "$.params.grid.name: Cannot use an empty text");
});

Deno.test("conditional parameters follow their controller, given or default", () => {
  assert.ok(isEffective(schema, "snr_db", {}));
  assert.ok(!isEffective(schema, "snr_db", { noise_mode: "fixed" }));
  assert.ok(isEffective(schema, "count", { noise_mode: "fixed" }));
});

Deno.test("registration refuses duplicates, bad defaults and ambiguous materialisations, all or nothing", () => {
  const registry = new Registry();
  const entry = (op: Operation) => ({ operation: op, moduleUrl: "file:///op.ts" });
  registry.register([entry(operation("test.a"))]);
  const generation = registry.generation;
  assert.throws(
    () => registry.register([entry(operation("test.b")), entry(operation("test.a"))]),
    code("operation_duplicate"),
  );
  assert.equal(registry.has("test.b"), false);
  const bad: [string, Operation][] = [
    ["id", operation("NoGroup")],
    ["default", operation("test.c", z.strictObject({ n: z.int().max(3).default(7) }))],
    [
      "condition",
      operation("test.d", z.strictObject({ n: z.int().default(1).meta({ "x-svc-effective-when": { m: 1 } }) })),
    ],
    [
      "same bindings",
      operation("test.e", z.strictObject({}), [
        { runner: "benchmark_run", backend: "python", implementation: "a" },
        { runner: "benchmark_run", backend: "python", implementation: "b" },
      ]),
    ],
    ["unknown backend", operation("test.f", z.strictObject({}), [{ runner: "benchmark_run", backend: "torch" }])],
    [
      "unknown binding",
      operation("test.g", z.strictObject({}), [
        { runner: "benchmark_run", backend: "python", parameter_bindings: { mode: "x" } },
      ]),
    ],
  ];
  for (const [why, op] of bad) {
    assert.throws(() => registry.register([entry(op)]), code("operation_contract_invalid"), why);
  }
  assert.equal(registry.generation, generation);
  assert.throws(
    () => registry.get("test.aa"),
    (error) => code("unknown_operation")(error) && (error as SvcError).hint === "Did you mean test.a?",
  );
});

Deno.test("an output of the kind of an input names that input in its contract", () => {
  const same = (kinds: string[], input = "any") =>
    defineOperation({
      id: "test.same",
      name: "Same",
      inputs: { any: kinds },
      optionalInputs: { more: BITS_ANY },
      outputs: { any: { sameKindAs: input }, report: REPORT },
      params: z.strictObject({}),
      threadSafe: true,
      run: ({ inputs }) => ({ outputs: { any: { array: inputs.any.array() }, report: { json: {} } } }),
    });
  const { output_kinds, output_same_kind_as } = same([BITS, SYMBOLS]).contract;
  assert.deepEqual([output_kinds, output_same_kind_as], [{ any: BITS, report: REPORT }, { any: "any" }]);
  assert.equal("output_same_kind_as" in operation("test.a").contract, false);
  const refused = [same([BITS, REPORT]), same([BITS], "more"), same([BITS], "toString")];
  for (const one of refused) assert.throws(() => one.contract, code("operation_contract_invalid"));
});

Deno.test("a same-kind output has the kind of its wire, and none behind an unknown or refused one", () => {
  const relay = { input_kinds: { any: ["a", "b"] }, output_kinds: { any: "a" }, output_same_kind_as: { any: "any" } };
  const contracts: Record<
    string,
    { input_kinds: { [port: string]: string[] }; output_kinds: { [port: string]: string } }
  > = {
    relay,
    b: { input_kinds: {}, output_kinds: { out: "b" } },
    c: { input_kinds: {}, output_kinds: { out: "c" } },
  };
  const step = (id: string, op: string, any?: string) => ({ id, op, inputs: any === undefined ? {} : { any } });
  const found = stepOutputKinds([
    step("early", "relay", "b.out"),
    step("b", "b"),
    step("c", "c"),
    step("one", "relay", "b.out"),
    step("two", "relay", "one.any"),
    step("refused", "relay", "c.out"),
    step("behind", "relay", "refused.any"),
    step("unknown", "gone"),
    step("open", "relay"),
    step("odd", "relay", "b.toString"),
  ], (op) => contracts[op]);
  const none = undefined, same = { any: "b" };
  assert.deepEqual(found, [none, { out: "b" }, { out: "c" }, same, same, none, none, none, none, none]);
});

Deno.test("contracts have the defaults of the specification and a stable digest", () => {
  const { contract } = operation("test.a");
  assert.deepEqual(contract.backends, {
    benchmark_run: ["python"],
    dataset_capture: ["python"],
    differentiable_export: [],
  });
  assert.deepEqual(contract.equivalence, { type: "behavioral" });
  assert.deepEqual(contract.formats, { artifact: "operation-defined", tensor: "none" });
  assert.deepEqual(contract.differentiability, {
    framework: "numpy",
    gradient: "none",
    trainable_params: false,
    exportable: false,
  });
  assert.equal((contract.execution_safety as Record<string, Value>).thread_safe, true);
  assert.equal(contractSha256(contract), contractSha256(operation("test.a").contract));
  assert.notEqual(contractSha256(contract), contractSha256(operation("test.b").contract));
});

// Operation registry entry: the declaration of backends has the keys benchmark, capture and differentiable_export.
Deno.test("backends are declared under the names of runners or their short ones", () => {
  const declared = (backends: Record<string, string[]>) =>
    defineOperation({ ...operation("test.short").definition, outputs: { bits: BITS }, backends } as never)
      .contract.backends;
  const full = { benchmark_run: ["numpy"], dataset_capture: ["numpy", "cpp"], differentiable_export: ["torch"] };
  const { benchmark_run: benchmark, dataset_capture: capture, differentiable_export } = full;
  assert.deepEqual(declared({ benchmark, capture, differentiable_export }), declared(full));
  assert.throws(() => declared({ benchmark, ...full }), { code: "operation_contract_invalid" });
});

// Operation registry entry: built_in_fine_tuning is true only when the operation sets fine_tuning_supported and supplies a callable
// operation-owned fine-tuning provider.
Deno.test("an operation fine-tunes only where it says so and has a provider", () => {
  const provider: FineTuningProvider = ({ dataset }) => Promise.resolve({ package_folder: dataset.folder });
  const capability = (given: { fineTuningSupported?: boolean; fineTune?: FineTuningProvider }) =>
    defineOperation({ ...operation("test.tuned").definition, outputs: { bits: BITS }, ...given } as never)
      .contract.training_capabilities.built_in_fine_tuning;
  assert.deepEqual(
    [{}, { fineTuningSupported: true }, { fineTune: provider }, { fineTuningSupported: true, fineTune: provider }]
      .map(capability),
    [false, false, false, true],
  );
});

Deno.test("nearest names: edits, transpositions, prefixes, last parts", () => {
  assert.equal(editDistance("abcd", "abdc"), 1);
  assert.equal(editDistance("kitten", "sitting"), 3);
  const ids = ["channel.crc32_check", "channel.bit_boundary", "wireless.channel"];
  assert.equal(nearestName("channel.crc_check", ids), "channel.crc32_check");
  assert.equal(nearestName("bit_boundary", ids), "channel.bit_boundary");
  assert.equal(nearestName("wirless.chanel", ids), "wireless.channel");
  assert.equal(nearestName("rayleigh", ["awgn", "flat_rayleigh", "flat_rayleigh_block"]), "flat_rayleigh");
  assert.equal(nearestName("64qam", ["qpsk", "qam16", "qam64"]), "qam64");
  assert.equal(nearestName("zzz", ids), null);
  // Two changes are near, or a third of a longer name.
  assert.deepEqual(["qprt", "qrrt"].map((name) => nearestName(name, ["qpsk"])), ["qpsk", null]);
  assert.deepEqual(["xxxdulator", "xxxxulator"].map((name) => nearestName(name, ["modulator"])), ["modulator", null]);
});

/** zod's own conversion, brought to the contract's conventions. */
function byZod(given: JsonObject): JsonObject {
  // zod calls whole-number choices numbers; in a contract they are integers.
  const whole = Array.isArray(given.enum) && given.enum.every((item) => Number.isInteger(item));
  const node = whole ? { ...given, type: "integer" } : given;
  const types = ([] as Value[]).concat(node.type ?? []);
  const real = types.includes("number");
  return Object.fromEntries(
    Object.entries(node).filter(([key, value]) =>
      key !== "$schema" &&
      !(types.includes("integer") && /imum$/i.test(key) && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER)
    ).map(([key, value]): [string, Value] => {
      if (key === "properties") {
        return [
          key,
          Object.fromEntries(
            Object.entries(value as JsonObject).map(([name, inner]) => [name, byZod(inner as JsonObject)]),
          ),
        ];
      }
      if (key === "items") return [key, byZod(value as JsonObject)];
      if (key === "anyOf") return [key, (value as JsonObject[]).map(byZod)];
      if (real && typeof value === "number") return [key, float(value)];
      if (key === "default" && Array.isArray(value) && (node.items as JsonObject).type === "number") {
        return [key, value.map((item) => float(Number(item)))];
      }
      return [key, value];
    }),
  );
}

Deno.test("published schemas are those that zod's converter gives, for every operation", async () => {
  const { BUILTIN_OPERATIONS } = await import("../../../ops/index.ts");
  const shapes = BUILTIN_OPERATIONS.map(({ operation }) => operation.definition.params);
  shapes.push(
    z.strictObject({
      a: z.union([z.string().min(2).max(4).regex(/^x/), z.int()]).default("xx"),
      b: z.enum(["p", "q"]).nullable().default(null),
      c: z.number().gt(0).lt(1).optional(),
      e: z.int().min(3),
    }),
  );
  assert.ok(shapes.length > 40);
  for (const params of shapes) {
    assert.deepEqual(parameterSchema(params), byZod(z.toJSONSchema(params, { io: "input" }) as JsonObject));
  }
});

Deno.test("numeric choices are integers, which zod calls numbers", () => {
  const { properties } = parameterSchema(z.strictObject({ bits: z.literal([1, 2, 4]).default(1) }));
  assert.deepEqual(properties, { bits: { default: 1, type: "integer", enum: [1, 2, 4] } });
});

Deno.test("a zod type outside the contract's subset is refused when the operation is registered", () => {
  const odd = z.strictObject({ when: z.date() }) as z.ZodObject;
  assert.throws(() => parameterSchema(odd), /date/);
});
