/** What every registered operation owes, whatever it does: the fixtures say what it is run with. */
import assert from "node:assert/strict";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import { contractsSource, indexSource } from "../../ops/generate_index.ts";
import { checkBits, checkImages, checkSymbols } from "../../lib/artifact/boundary.ts";
import { canonicalJson, parseJson, sameValue } from "../../lib/contract/json.ts";
import { formatOfKind, ONNX_BUNDLE } from "../../lib/contract/kinds.ts";
import type { InputArtifact, Materialization, Operation, OutputSize } from "../../lib/contract/operation.ts";
import { Registry } from "../../lib/contract/registry.ts";
import { checkValue, plainParams } from "../../lib/contract/schema.ts";
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { sizeOf } from "../../lib/plan/estimate.ts";
import { closeOnnxSessions } from "../../lib/onnx/session.ts";
import type { FixtureCase } from "./_fixtures/case.ts";
import { FIXTURES } from "./_fixtures/index.ts";
import { type GivenInput, materialise, outputOf, runOperation, type RunResult } from "./harness.ts";
import { parameterEdges } from "./parameter_edges.ts";

/** Endings of parameter names, with the unit that the description or the form has to say. */
const UNITS: readonly [ending: RegExp, unit: RegExp][] = [
  [/_db(_min|_max)?$/, /\bdB\b|decibel/],
  [/_deg$/, /degree/],
  [/_rad$/, /\brad/],
  [/(?<!_bps)_(k|M|G)?hz$/i, /[kMG]?Hz/],
  [/_kmh$/, /km\/h/],
  [/_ns$/, /\bns\b/],
  [/_s$/, /\bs\b|second/],
  [/_m$/, /\bm\b|metre/],
];

/** Travels with the metadata of a main input, whatever the operation does with the keys it knows. */
const PROBE = { conformance_probe: "kept" };

Deno.test("the operation index and the contracts are what the generator writes", async () => {
  const written = await Deno.readTextFile(new URL("../../ops/index.ts", import.meta.url));
  assert.equal(written, await indexSource(), "run deno run -A ops/generate_index.ts");
  const contracts = await Deno.readTextFile(new URL("../../ops/contracts.json", import.meta.url));
  assert.ok(
    contracts === await contractsSource(),
    "ops/contracts.json is stale: run deno run -A ops/generate_index.ts",
  );
});

Deno.test("all operations register together, and each module exports what the index names", async () => {
  const registry = new Registry();
  registry.register(BUILTIN_OPERATIONS);
  assert.deepEqual(BUILTIN_OPERATIONS.map((entry) => entry.operation.id), registry.ids());
  for (const { operation, moduleUrl } of BUILTIN_OPERATIONS) {
    assert.equal((await import(moduleUrl)).default, operation, moduleUrl);
  }
});

Deno.test("every parameter of every operation has a description, and its unit where the name ends in one", () => {
  const lacking: string[] = [], unitless: string[] = [];
  const look = (schema: JsonObject, place: string) => {
    for (const [name, node] of Object.entries((schema.properties ?? {}) as { [name: string]: JsonObject })) {
      const text = typeof node.description === "string" ? node.description.trim() : "";
      if (text === "") lacking.push(`${place} ${name}`);
      const unit = UNITS.find(([ending]) => ending.test(name));
      if (unit !== undefined && !unit[1].test(`${text} ${canonicalJson(node["x-svc-ui"] ?? null)}`)) {
        unitless.push(`${place} ${name}: ${text}`);
      }
      const { items, anyOf } = node as { items?: JsonObject; anyOf?: JsonObject[] };
      for (const inner of [node, ...(items === undefined ? [] : [items]), ...anyOf ?? []]) {
        look(inner, `${place} ${name}`);
      }
    }
  };
  for (const { operation: { contract } } of BUILTIN_OPERATIONS) look(contract.params_schema, contract.id);
  assert.deepEqual(lacking, []);
  assert.deepEqual(unitless, []);
});

Deno.test("every fixture belongs to an operation", () => {
  const ids = new Set(BUILTIN_OPERATIONS.map((entry) => entry.operation.id));
  assert.deepEqual(Object.keys(FIXTURES).filter((id) => !ids.has(id)), []);
});

Deno.test("ops list prints the contracts that the operations declare", async () => {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL("../../cli.ts", import.meta.url).pathname, "ops", "list", "--json"],
  });
  const { success, stdout, stderr } = await command.output();
  assert.ok(success, new TextDecoder().decode(stderr));
  const printed = parseJson(new TextDecoder().decode(stdout));
  const list = (isObject(printed) ? printed.operations : printed) as JsonObject[];
  const contracts = new Map(list.map((contract) => [contract.id, contract]));
  assert.equal(contracts.size, BUILTIN_OPERATIONS.length);
  for (const { operation } of BUILTIN_OPERATIONS) {
    assert.equal(canonicalJson(contracts.get(operation.id)!), canonicalJson(operation.contract), operation.id);
  }
});

for (const { operation } of BUILTIN_OPERATIONS) {
  // The sandbox of the models stays for the next test; the last one of this file ends it.
  const bundled = Object.values(operation.definition.inputs ?? {}).flat().includes(ONNX_BUNDLE);
  const sanitize = operation.definition.models === undefined && !bundled;
  const options = { sanitizeOps: sanitize, sanitizeResources: sanitize };
  Deno.test(`${operation.id} conforms`, options, async (t) => {
    await t.step("parameters accept their edges and refuse what lies just outside", () => checkEdges(operation));
    const fixture = FIXTURES[operation.id];
    assert.ok(fixture !== undefined, `tests/ops/_fixtures has no case for ${operation.id}`);
    if ("skip" in fixture) {
      assert.ok(fixture.skip.length > 10, "a skip carries its reason");
      await t.step({ name: `runs (${fixture.skip})`, ignore: true, fn() {} });
      return;
    }
    for (const [index, item] of fixture.entries()) {
      await t.step(`case ${item.name ?? index + 1}`, () => checkCase(operation, item));
    }
    await t.step("every implemented materialisation has a case", () => checkMaterializations(operation, fixture));
  });
}

Deno.test("the sandbox of the models ends", { sanitizeOps: false, sanitizeResources: false }, closeOnnxSessions);

function checkEdges(operation: Operation): void {
  const schema = operation.contract.params_schema;
  const required = Object.fromEntries(
    ((schema.required ?? []) as string[]).map((name) => [
      name,
      parameterEdges((schema.properties as JsonObject)[name] as JsonObject).accepted[0],
    ]),
  );
  for (const [name, node] of Object.entries((schema.properties ?? {}) as JsonObject)) {
    const { accepted, refused } = parameterEdges(node as JsonObject);
    assert.ok(refused.length > 0, `${name} refuses nothing`);
    for (const value of accepted) {
      const found = checkValue(schema, { ...required, [name]: value }, []);
      assert.deepEqual(found.map((problem) => problem.message), [], `${name} = ${canonicalJson(value)}`);
    }
    for (const value of refused) {
      const found = checkValue(schema, { ...required, [name]: value }, []);
      assert.ok(found.length > 0, `${name} = ${canonicalJson(value)} is accepted`);
      const expected = typeof value === "bigint" ? /^params?_(invalid|out_of_range)$/ : /^params_invalid$/;
      assert.ok(found.every(({ code, path }) => expected.test(code) && path.startsWith(`$.${name}`)));
    }
  }
  for (const name of Object.keys(required)) {
    const { [name]: _left, ...rest } = required;
    assert.ok(checkValue(schema, rest, []).length > 0, `${name} can be left out`);
  }
  assert.ok(checkValue(schema, { ...required, no_such_parameter: 1 }, []).length > 0);
}

Deno.test("every source estimates its outputs", () => {
  const sources = BUILTIN_OPERATIONS.filter(({ operation }) => operation.id.startsWith("source."));
  assert.ok(sources.length > 20);
  const without = sources.filter(({ operation }) => operation.definition.estimate === undefined);
  assert.deepEqual(without.map(({ operation }) => operation.id), []);
});

/** Arrays that an operation foretells are those that it returns; other outputs are no more than bytes. */
function checkEstimate(operation: Operation, { outputs, params }: RunResult, inputs: Record<string, GivenInput>): void {
  const given = Object.entries(inputs).map(([port, input]) => [port, sizeOfOutput(input)] as const);
  const estimates = operation.definition.estimate?.(plainParams(params), Object.fromEntries(given)) ?? {};
  for (const [port, estimate] of Object.entries(estimates)) {
    assert.ok(port in operation.definition.outputs, `${operation.id} has no output ${port}`);
    const { bytes, shape } = sizeOf(estimate!), output = outputs[port];
    assert.ok(Number.isSafeInteger(bytes) && bytes >= 0);
    if (shape === undefined) continue;
    assert.deepEqual(shape, [...output.array().shape], port);
    assert.equal(bytes, output.arrayNames.reduce((sum, name) => sum + output.array(name).data.byteLength, 0), port);
  }
}

function sizeOfOutput(input: GivenInput): OutputSize {
  const { array, companions = {} } = "arrayNames" in input ? outputOf(input) : input;
  if (array === undefined) return { bytes: 0 };
  const arrays = [array, ...Object.values(companions)];
  return { bytes: arrays.reduce((sum, { data }) => sum + data.byteLength, 0), shape: array.shape };
}

async function checkCase(operation: Operation, item: FixtureCase): Promise<void> {
  const inputs = withProbe(await item.inputs?.() ?? {});
  const { params, model, models } = item;
  const options = { inputs, params: params as JsonObject, files: await item.files?.(), model, models };
  const first = await runOperation(operation, options);
  const again = await runOperation(operation, options);
  assert.deepEqual(again.bytes, first.bytes, "the same seed gives other bytes");
  assert.deepEqual(again.metrics, first.metrics, "the same seed gives other metrics");
  if (item.stochastic ?? ("seed" in ((operation.contract.params_schema.properties ?? {}) as JsonObject))) {
    const other = await runOperation(operation, { ...options, seed: 987654321 });
    assert.notDeepEqual(other.bytes, first.bytes, "another seed gives the same bytes");
  }
  for (const [port, kind] of Object.entries(operation.definition.outputs)) checkOutput(kind, first.outputs[port]);
  checkEstimate(operation, first, inputs);
  checkGuarantees(operation, first);
  for (const [id, value] of Object.entries(first.metrics)) {
    assert.match(id, /^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$/);
    assert.ok(typeof value === "bigint" || Number.isFinite(value), id);
  }
  canonicalJson(first.metadata);
}

function withProbe(inputs: Record<string, GivenInput>): Record<string, GivenInput> {
  return Object.fromEntries(
    Object.entries(inputs).map(([port, input]) => {
      const output = "arrayNames" in input ? { kind: input.kind, ...outputOf(input) } : input;
      return [port, { ...output, metadata: { ...output.metadata, ...PROBE } }];
    }),
  );
}

const BIT_KINDS = /^channel\.(payload_|coded_|framed_|demod_)?bits\.numpy$/;

function checkOutput(kind: string, output: InputArtifact): void {
  assert.equal(output.kind, kind);
  if (formatOfKind(kind) !== "npz") {
    assert.equal(output.json().schema_version, 1);
    return;
  }
  const array = output.array();
  assert.deepEqual(output.metadata.shape, [...array.shape]);
  if (BIT_KINDS.test(kind)) {
    assert.equal(checkBits(array).length, output.metadata.bit_count);
    assert.ok(["payload.bits", "channel.bits"].includes(output.metadata.boundary_contract as string));
  }
  if (kind.endsWith("symbols.complex_numpy")) {
    assert.equal(checkSymbols(array).length / 2, output.metadata.symbol_count);
    assert.equal(output.metadata.boundary_contract, "channel.symbols");
  }
  if (kind === "image.batch.numpy") {
    assert.equal(checkImages(array).shape[0], output.metadata.image_count);
    assert.equal(output.metadata.boundary_contract, "image.tensor");
  }
}

function checkGuarantees(operation: Operation, result: RunResult): void {
  for (const [port, guarantee] of Object.entries(operation.definition.outputMetadataGuarantees ?? {})) {
    const { metadata } = result.outputs[port];
    for (const key of guarantee?.keys ?? []) assert.ok(metadata[key] !== undefined, `${port} lacks ${key}`);
    if (guarantee?.from === undefined) continue;
    assert.ok(guarantee.from in (operation.definition.inputs ?? {}), `${port} inherits from no input`);
    assert.equal(metadata.conformance_probe, "kept", `${port} drops the metadata of ${guarantee.from}`);
  }
}

function checkMaterializations(operation: Operation, cases: readonly FixtureCase[]): void {
  const schema = operation.contract.params_schema;
  const effective = cases.map((item) => materialise(schema, item.params as JsonObject));
  const executable = (operation.contract.materializations as Materialization[])
    .filter((entry) => entry.status === "implemented" && entry.runner !== "differentiable_export");
  assert.ok(executable.length > 0, "nothing executes it");
  for (const { runner, implementation, parameter_bindings = {} } of executable) {
    const covered = effective.some((params) =>
      Object.entries(parameter_bindings).every(([name, value]) => sameValue(params[name], value))
    );
    assert.ok(covered, `no case runs ${implementation} of ${runner}`);
  }
}
