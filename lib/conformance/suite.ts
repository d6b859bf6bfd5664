/**
 * The requirements on every operation: parameters with descriptions and sharp edges, the same bytes from the same
 * seed, outputs of their kinds, guaranteed metadata, correct estimates, inputs left alone. The built-in operations are
 * held to it by the tests, and operations of one's own by `svc operation check`.
 */
import assert from "node:assert/strict";
import { KIND_FORMS } from "../artifact/array_form.ts";
import { checkBits, checkImages, checkSymbols } from "../artifact/boundary.ts";
import { arrayMetadata, decodeArtifact, encodeArtifact } from "../artifact/codec.ts";
import { joinBytes } from "../artifact/join_bytes.ts";
import { canonicalJson, sameValue } from "../contract/json.ts";
import { formatOfKind, REPORT } from "../contract/kinds.ts";
import type { InputArtifact, Materialization, Operation, OutputSize, StreamInput } from "../contract/operation.ts";
import { outputKinds } from "../contract/output_kinds.ts";
import { checkValue, plainParams } from "../contract/schema.ts";
import type { JsonObject } from "../contract/value.ts";
import { bytesOf, DTYPES, elementCount, type NdArray } from "../numeric/array/ndarray.ts";
import { Generator } from "../numeric/random/random.ts";
import { sizeOf } from "../plan/estimate.ts";
import { isRefusal, materialize } from "../plan/materialize.ts";
import type { ConformanceCase } from "./case.ts";
import { parameterEdges } from "./parameter_edges.ts";
import { type GivenInput, materialise, outputOf, runOperation, type RunResult } from "./run_operation.ts";

export interface ConformanceCheck {
  name: string;
  /** @throws AssertionError, or the error of the operation */
  run(): void | Promise<void>;
}

/** The checks of an operation, in their order; those after the first two run its cases. */
export function conformanceChecks(operation: Operation, cases: readonly ConformanceCase[]): ConformanceCheck[] {
  return [
    { name: "parameters have descriptions and units", run: () => checkDescriptions(operation) },
    {
      name: "parameters accept their edges and refuse the values just outside",
      run: () => checkEdges(operation),
    },
    ...cases.map((item, index) => ({
      name: `case ${item.name ?? index + 1}`,
      run: () => checkCase(operation, item),
    })),
    { name: "every implemented materialisation has a case", run: () => checkMaterializations(operation, cases) },
    ...(operation.definition.streaming === undefined ? [] : [{
      name: "blocks give the results of the whole",
      run: () => checkStreaming(operation, cases),
    }]),
  ];
}

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

function checkDescriptions({ contract }: Operation): void {
  const lacking: string[] = [], unitless: string[] = [];
  const look = (schema: JsonObject, place: string) => {
    for (const [name, node] of Object.entries((schema.properties ?? {}) as { [name: string]: JsonObject })) {
      const text = typeof node.description === "string" ? node.description.trim() : "";
      if (text === "") lacking.push(`${place}${name}`);
      const unit = UNITS.find(([ending]) => ending.test(name));
      if (unit !== undefined && !unit[1].test(`${text} ${canonicalJson(node["x-svc-ui"] ?? null)}`)) {
        unitless.push(`${place}${name}: ${text}`);
      }
      const { items, anyOf } = node as { items?: JsonObject; anyOf?: JsonObject[] };
      for (const inner of [node, ...(items === undefined ? [] : [items]), ...anyOf ?? []]) {
        look(inner, `${place}${name}.`);
      }
    }
  };
  look(contract.params_schema, "");
  assert.deepEqual(lacking, [], `parameters without a description: ${lacking.join(", ")}`);
  assert.deepEqual(unitless, [], `the description does not state the unit of ${unitless.join("; ")}`);
}

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

async function checkCase(operation: Operation, item: ConformanceCase): Promise<void> {
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
  const { outputs, outputSameKindAs } = operation.definition;
  const kinds = outputKinds(
    outputs,
    outputSameKindAs,
    (port) => inputs[port].kind ?? operation.definition.inputs![port]![0],
  )!;
  for (const [port, kind] of Object.entries(kinds)) checkOutput(kind, first.outputs[port]);
  checkEstimate(operation, first, inputs);
  checkGuarantees(operation, first);
  for (const [id, value] of Object.entries(first.metrics)) {
    assert.match(id, /^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$/);
    assert.ok(typeof value === "bigint" || Number.isFinite(value), id);
  }
  for (const [port, kind] of Object.entries(kinds)) {
    if (kind !== REPORT || first.outputs[port].json === undefined) continue;
    const reported = (first.outputs[port].json() as JsonObject).metrics as JsonObject;
    const defined = Object.keys(reported).filter((id) => reported[id] !== null);
    assert.deepEqual(defined.sort(), Object.keys(first.metrics).sort(), "the report has other metrics");
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

function checkMaterializations(operation: Operation, cases: readonly ConformanceCase[]): void {
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

/** Elements of a block: the least that a source makes. */
const BLOCK = 24;

async function checkStreaming(operation: Operation, cases: readonly ConformanceCase[]): Promise<void> {
  let streamed = 0;
  for (const item of cases) {
    const inputs = await item.inputs?.() ?? {};
    const { inputs: required = {}, streaming } = operation.definition;
    const readable = [...Object.keys(required), ...streaming!.whole ?? [], ...streaming!.optional ?? []];
    if (Object.keys(inputs).some((port) => !readable.includes(port))) continue;
    const whole = await runOperation(operation, { inputs, params: item.params as JsonObject });
    const blocks = await runInBlocks(operation, whole.params, inputs);
    if (blocks === null) continue;
    streamed++;
    const { outputs, metrics = {}, metadata = {} } = blocks;
    assert.deepEqual(Object.keys(outputs).sort(), Object.keys(whole.outputs).sort());
    for (const [port, output] of Object.entries(outputs)) {
      assert.deepEqual(encodeArtifact(port, whole.outputs[port].kind, output).bytes, whole.bytes[port], port);
    }
    assert.deepEqual([metrics, metadata], [whole.metrics, whole.metadata]);
  }
  assert.ok(streamed > 0, "no case works in blocks");
}

/** The result of an operation that works in blocks; null where it does not with these parameters and inputs. */
async function runInBlocks(
  { definition, contract }: Operation,
  params: JsonObject,
  inputs: Record<string, GivenInput>,
) {
  const plain = plainParams(params), { allows, open, whole: read = [], companions: known = [] } = definition.streaming!;
  if (!(allows?.(plain) ?? true)) return null;
  const given = Object.entries(inputs).map(([port, input]) => {
    const { array, metadata = {}, companions = {} } = "arrayNames" in input ? outputOf(input) : input;
    const kind = input.kind ?? { ...definition.inputs, ...definition.optionalInputs }[port]![0];
    return { port, array: array!, metadata, kind, companions };
  });
  const parts = given.filter(({ port }) => !read.includes(port));
  if (
    parts.some(({ array, companions, kind }) =>
      array === undefined || array.shape.length !== 1 && kind in KIND_FORMS ||
      Object.keys(companions).some((name) => !known.includes(name))
    )
  ) return null;
  const refuse = () => assert.fail("an input that arrives in blocks was read as a whole");
  const shown = given.map(({ port, array, metadata, kind, companions }): [string, StreamInput] => {
    const length = elementCount(array.shape);
    if (read.includes(port)) {
      const { bytes } = encodeArtifact(port, kind, { array, metadata, companions });
      return [port, Object.assign(decodeArtifact(kind, bytes), { length, shape: array.shape })];
    }
    const arrayNames = [port, ...Object.keys(companions)];
    const described = arrayMetadata(port, array, metadata).value;
    const shape = array.shape;
    return [port, { kind, metadata: described, length, shape, companions, arrayNames, array: refuse, json: refuse }];
  });
  const choice = materialize(contract, params, { runner: "benchmark_run", authored: params });
  const stream = await open({
    inputs: Object.fromEntries(shown),
    params: plain,
    generator: Generator.seeded(BigInt(plain.seed as number | bigint ?? 0)),
    backend: isRefusal(choice) ? contract.backends.benchmark_run[0] : choice.entry.backend,
    threads: 1,
  });
  if (stream === null) return null;
  const lengths = parts.length > 0
    ? parts.map(({ array }) => elementCount(array.shape))
    : Object.values(stream.arrays).map(({ length }) => length);
  const unitOf = (i: number) => stream.unit?.[parts[i]?.port] ?? BLOCK;
  const made = new Map<string, NdArray["data"][]>();
  for (let block = 0; block * unitOf(0) < lengths[0]; block++) {
    const next = parts.flatMap(({ port, array, companions }, i) =>
      Object.entries({ [port]: array, ...prefixed(port, companions) }).map(([name, { dtype, shape, data }]) => {
        const { slots } = DTYPES[dtype], size = slots * unitOf(i) * elementCount(shape) / lengths[i];
        const own = data.slice(block * size, (block + 1) * size);
        return [name, { dtype, shape: [own.length / slots], data: own }] as const;
      })
    );
    const blocks = stream.next?.(Object.fromEntries(next), Math.min(BLOCK, lengths[0] - block * BLOCK));
    for (const [name, data] of Object.entries(blocks ?? {})) made.set(name, [...made.get(name) ?? [], data.slice()]);
  }
  const { outputs: last, ...result } = stream.end?.() ?? {};
  const arrays = Object.entries(stream.arrays).map(
    ([port, { dtype, length, shape = [length], companions, metadata }]) => {
      const joined = (name: string, { dtype, shape }: Pick<NdArray, "dtype" | "shape">): NdArray => {
        const bytes = joinBytes((made.get(name) ?? []).map((data) => bytesOf({ data }))), count = elementCount(shape);
        assert.equal(bytes.length, count * DTYPES[dtype].itemSize, name);
        return { dtype, shape, data: DTYPES[dtype].make(bytes.buffer, 0, count * DTYPES[dtype].slots) };
      };
      const beside = Object.entries(companions ?? {}).map(([name, form]) => [name, joined(`${port}.${name}`, form)]);
      const array = joined(port, { dtype, shape: [...shape] });
      return [port, { array, companions: Object.fromEntries(beside), metadata }] as const;
    },
  );
  return { ...result, outputs: { ...stream.whole, ...last, ...Object.fromEntries(arrays) } };
}

const prefixed = (port: string, companions: Readonly<Record<string, NdArray>>) =>
  Object.fromEntries(Object.entries(companions).map(([name, array]) => [`${port}.${name}`, array]));
