/** Every contract beside the table of the specification. A contract may have more parameters and more values than the table. */
import assert from "node:assert/strict";
import contracts from "../../ops/contracts.json" with { type: "text" };
import specification from "../data/contracts/specification.json" with { type: "text" };

// deno-lint-ignore no-explicit-any -- documents of two tables; each member is compared
type Document = any;

const { operations } = JSON.parse(contracts) as { operations: Document[] };
const stated = JSON.parse(specification).operations as Document[];
const byId = new Map(operations.map((contract) => [contract.id, contract]));

const sorted = (value: Document): string[] => [...Array.isArray(value) ? value : [value]].sort();
const kinds = (ports: Document) =>
  Object.fromEntries(Object.entries(ports ?? {}).map(([name, kind]) => [name, sorted(kind)]));

/** The JSON types of a parameter; an enumeration has those of its values. */
function typesOf(schema: Document): string[] {
  if (schema.type !== undefined) return sorted(schema.type);
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap(typesOf).sort();
  const typeOf = (value: unknown) => typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value;
  return [...new Set<string>((schema.enum ?? []).map(typeOf))].sort();
}

/** A parameter of the contract in the form of the table. */
function parameter(contract: Document, row: Document): Document {
  const schema = contract.params_schema?.properties?.[row.name];
  if (schema === undefined) return `${row.name} is missing`;
  const types = typesOf(schema), wanted = sorted(String(row.type).split("|").map((type) => type.trim()));
  const values: unknown[] = schema.enum ?? schema.anyOf?.flatMap(({ enum: some = [] }: Document) => some) ?? [];
  return {
    name: row.name,
    // A number accepts integers.
    type: types.join() === wanted.join() || row.type === "number" && types.includes("integer") ? row.type : types,
    ...("required" in row
      ? { required: (contract.params_schema.required ?? []).includes(row.name) && !("default" in schema) }
      : {}),
    ...("default" in row ? { default: schema.default } : {}),
    ...(row.values === undefined ? {} : { values: row.values.filter((value: unknown) => values.includes(value)) }),
  };
}

/** What the table states of an operation, read from its contract. */
const read = (contract: Document, row: Document): Document => ({
  id: contract.id,
  status: contract.status,
  inputs: kinds(contract.input_kinds),
  optional_inputs: kinds(contract.optional_input_kinds),
  outputs: kinds(contract.output_kinds),
  params: row.params.map((param: Document) => parameter(contract, param)),
  diff: Object.fromEntries(Object.keys(row.diff).map((name) => [name, contract.differentiability?.[name]])),
  training: Object.fromEntries(
    Object.keys(row.training).map((name) => [name, Boolean(contract.training_capabilities?.[name])]),
  ),
  backends: Object.fromEntries(
    Object.keys(row.backends).map((runner) => [runner, sorted(contract.backends?.[runner] ?? [])]),
  ),
  equivalence: contract.equivalence?.type ?? null,
  artifact_format: contract.formats?.artifact ?? null,
});

Deno.test("every operation of the specification has the contract that it states", () => {
  assert.ok(stated.length > 170);
  const wrong: Document[] = [];
  for (const row of stated) {
    const contract = byId.get(row.id);
    if (contract === undefined) wrong.push(`${row.id} is not registered`);
    else {
      try {
        assert.deepEqual(read(contract, row), row);
      } catch (error) {
        wrong.push(`${row.id}\n${(error as Error).message}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("the comparison sees a change of each kind", () => {
  const row = stated.find(({ id }) => id === "channel.bit_boundary"), contract = byId.get(row.id)!;
  const changes: ((copy: Document) => void)[] = [
    (copy) => copy.status = "planned",
    (copy) => copy.input_kinds.bits = ["channel.bits.numpy"],
    (copy) => copy.output_kinds.bits = "channel.payload_bits.numpy",
    (copy) => copy.params_schema.properties.label.default = "other",
    (copy) => delete copy.params_schema.properties.role,
    (copy) => copy.params_schema.properties.data_plane_backend.enum = ["auto"],
    (copy) => copy.params_schema.properties.expected_bit_count.type = "number",
    (copy) => copy.differentiability.gradient = "full",
    (copy) => copy.training_capabilities = { portable_replacement: true },
    (copy) => copy.backends.benchmark_run = ["numpy"],
    (copy) => copy.equivalence.type = "behavioral",
    (copy) => copy.formats.artifact = "json",
  ];
  for (const change of changes) {
    const copy = structuredClone(contract);
    change(copy);
    assert.throws(() => assert.deepEqual(read(copy, row), row), String(change));
  }
});
