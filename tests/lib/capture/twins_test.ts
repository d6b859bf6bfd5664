/**
 * Twins in PyTorch against their operations: the stored vectors are those that the operations give now, and every twin
 * agrees with them. PyTorch is needed for the second part: `python3`, or the interpreter that SVC_TORCH_PYTHON names.
 * `UPDATE_TWINS=1 deno test -A --no-check tests/lib/capture/twins_test.ts` writes the vectors again.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { canonicalJson } from "../../../lib/contract/json.ts";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { recordStep, recordTwin, type TwinVector } from "../../../lib/capture/twin_vectors.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { FIXTURES } from "../../ops/_fixtures/index.ts";
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { artifactOf, type GivenInput, materialise } from "../../ops/harness.ts";
import { hasTwin } from "../../../lib/training/twin.ts";
import { TWIN_CASES } from "./_twin_cases.ts";
import { needsTorch, torchPython } from "../../support/torch.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";

const PYTHON = new URL("../../../lib/capture/python/", import.meta.url);
const STORED = new URL("twin_vectors.json", PYTHON);
const registry = await createRegistry();
const declared = registry.ids().map((id) => registry.get(id).operation).filter(({ definition }) => definition.twin);

async function vectorOf(id: string, name: string, given: ConformanceCase): Promise<TwinVector> {
  const { operation } = registry.get(id), { definition, contract } = operation;
  const kinds: Record<string, readonly string[]> = { ...definition.inputs, ...definition.optionalInputs };
  const asArtifact = (port: string, value: GivenInput): InputArtifact =>
    "arrayNames" in value ? value : artifactOf(port, value.kind ?? kinds[port][0], value);
  const inputs = Object.entries(await given.inputs?.() ?? {}).map(([port, value]) => [port, asArtifact(port, value)]);
  return await recordTwin(operation, {
    name,
    params: materialise(contract.params_schema, given.params as JsonObject),
    inputs: Object.fromEntries(inputs),
    network: given.model,
  });
}

/** Cases of the conformance suite and further ones; those of a model file are no twin's business. */
let recorded: Promise<TwinVector[]> | undefined;
const vectors = () => recorded ??= recordAll();

async function recordAll(): Promise<TwinVector[]> {
  const made: TwinVector[] = [];
  for (const { id } of declared) {
    const fixtures = FIXTURES[id];
    const cases = [...(Array.isArray(fixtures) ? fixtures : []) as ConformanceCase[], ...TWIN_CASES[id] ?? []];
    for (const [index, one] of cases.entries()) {
      if (one.files !== undefined || one.models !== undefined) continue;
      // No twin has a named realisation of a motion, or tracks a phase.
      const { stream, ptrs_time_density } = (one.params ?? {}) as JsonObject;
      if (stream || ptrs_time_density) continue;
      if ((one.params as JsonObject | undefined)?.phase_compensation === "pilots") continue;
      made.push(await vectorOf(id, one.name ?? `case ${index}`, one));
    }
  }
  return made;
}

Deno.test("the exports that a twin fills are implemented, and no others", () => {
  const stated = declared.flatMap(({ contract, definition: { twin } }) =>
    contract.materializations.filter(({ runner }) => runner === "differentiable_export")
      .map(({ backend, status }) => [contract.id, backend, status, twin] as const)
  );
  for (const [id, backend, status, twin] of stated) {
    const filled = Array.isArray(twin) ? twin.includes(backend) : backend === "torch";
    assert.equal(status, filled ? "implemented" : "planned", `${id} on ${backend}`);
  }
  // Operation catalogue, model.channel_estimator_adapter: differentiable_export torch and phylib, both implemented.
  const estimator = stated.filter(([id]) => id === "model.channel_estimator_adapter");
  assert.deepEqual(estimator.map(([, backend, status]) => [backend, status]), [
    ["torch", "implemented"],
    ["phylib", "implemented"],
  ]);
});

Deno.test("the stored vectors of twins are those that the operations give", async () => {
  const text = `${canonicalJson(await vectors()).replaceAll('{"calls":', '\n{"calls":')}\n`;
  if (Deno.env.get("UPDATE_TWINS") === "1") Deno.writeTextFileSync(STORED, text);
  assert.ok(text === Deno.readTextFileSync(STORED), "UPDATE_TWINS=1 writes them again");
});

Deno.test("a twin covers the parameters of its vectors", async () => {
  const uncovered = (await vectors()).filter(({ operation, params }) =>
    !hasTwin(registry.get(operation).operation, params)
  );
  assert.deepEqual(uncovered.map(({ operation, name }) => [operation, name]), []);
});

Deno.test("a motion has a twin, one realisation under a name has none", () => {
  const { operation } = registry.get("wireless.channel"), moving = { channel: "ofdm_tdl", time_variation: "doppler" };
  const params = materialise(operation.contract.params_schema, moving);
  assert.ok(hasTwin(operation, params));
  const named = materialise(operation.contract.params_schema, { ...moving, stream: "uplink" });
  assert.equal(hasTwin(operation, named), false);
});

Deno.test("a twin exists in Python exactly where an operation declares one", () => {
  const folder = new URL("twins/", PYTHON);
  const texts = [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".py"))
    .map(({ name }) => Deno.readTextFileSync(new URL(name, folder)));
  const written = texts.flatMap((
    text,
  ) => [...text.matchAll(/^(?:@twin|twin)\("([^"]+)"\)|^ {4}\("([a-z_.0-9]+\.[a-z_]+)", "/gm)])
    .map(([, direct, relayed]) => direct ?? relayed);
  assert.deepEqual(written.sort(), declared.map(({ id }) => id).sort());
});

Deno.test("every tensor of a trained artifact states its meaning", () => {
  const silent = registry.contracts().flatMap(({ id, trained_artifact_abi: abi }) =>
    Object.entries({ ...abi?.inputs, ...abi?.outputs })
      .filter(([, { meaning }]) => meaning === undefined).map(([name]) => `${id}: ${name}`)
  );
  assert.deepEqual(silent, []);
});

Deno.test("the vector of a step has the inputs that its parameters need", async () => {
  const { operation } = registry.get("demodulation.ofdm_receive");
  const stored = (JSON.parse(Deno.readTextFileSync(STORED)) as TwinVector[]).filter((vector) =>
    vector.operation === operation.id
  );
  assert.equal(stored[0].inputs.state, undefined);
  const params = materialise(operation.contract.params_schema, { equalize: "zf" });
  const vector = await recordStep(operation, { id: "receiver", params }, stored);
  assert.deepEqual(Object.keys(vector?.inputs ?? {}).sort(), ["state", "waveform"]);
});

const python = await torchPython();

Deno.test({
  name: "every twin agrees with its operation, and its gradients with finite differences",
  ...needsTorch(python),
  async fn() {
    const folder = temporaryFolder();
    await copyPython(folder);
    const { stdout, stderr } = await new Deno.Command(python!, {
      args: [join(folder, "tests/test_twins.py"), "--json"],
      env: { OMP_NUM_THREADS: "1" },
    }).output();
    const text = new TextDecoder().decode(stdout);
    assert.ok(text !== "", new TextDecoder().decode(stderr));
    const rows = JSON.parse(text) as { operation: string; name: string; state: string }[];
    assert.deepEqual(rows.filter(({ state }) => state === "failed"), []);
    const passed = new Set(rows.filter(({ state }) => state === "passed").map(({ operation }) => operation));
    assert.deepEqual(declared.map(({ id }) => id).filter((id) => !passed.has(id)), []);
  },
});

async function copyPython(folder: string): Promise<void> {
  const place = (path: string) => join(folder, path);
  await Deno.mkdir(place("twins/data"), { recursive: true });
  await Deno.mkdir(place("tests"));
  for (const { name } of Deno.readDirSync(new URL("twins/", PYTHON))) {
    if (name.endsWith(".py")) await Deno.copyFile(new URL(`twins/${name}`, PYTHON), place(`twins/${name}`));
  }
  for (const table of ["tdl_models.json", "cdl_models.json"]) {
    await Deno.copyFile(
      new URL(`../../../lib/numeric/data/${table}`, import.meta.url),
      place(`twins/data/${table}`),
    );
  }
  await Deno.copyFile(new URL("test_twins.py", PYTHON), place("tests/test_twins.py"));
  // The first and the last vector of each operation; `deno task soak whole` takes all.
  const vectors = JSON.parse(await Deno.readTextFile(STORED)) as TwinVector[];
  const taken = vectors.filter(({ operation }, at) =>
    FULL_SIZE || vectors[at - 1]?.operation !== operation || vectors[at + 1]?.operation !== operation
  );
  await Deno.writeTextFile(place("tests/twin_vectors.json"), JSON.stringify(taken));
}
