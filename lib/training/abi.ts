/**
 * Three parties must mean the same: the operation (its ABI), the manifest (its entrypoints) and the network itself (its
 * ONNX graph). Each of the latter two may be narrower than the ABI, never wider: where the ABI has an open size `antenna`,
 * a manifest may say 32; where a manifest says `batch`, a graph that only takes 1 is refused.
 */
import { type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import { canonicalJson, sameValue } from "../contract/json.ts";
import type { OperationAbi } from "../contract/operation.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { UNSUPPORTED } from "../onnx/function.ts";
import type { Dimension, OnnxGraph } from "../onnx/graph.ts";
import type { CompatibleOperation, Entrypoint, EntrypointValue, SlotContract, TrainedManifest } from "./types.ts";

/** Code of everything reported here. */
const CODE = "artifact_abi_mismatch";

interface Value {
  dtype: string;
  shape: readonly Dimension[] | null;
}

/**
 * The reason why `offered` cannot replace `wanted`, or null.
 * @param sizes values of the open sizes of `wanted` so far; a name has one size in an entrypoint
 */
function valueProblem(wanted: Value, offered: Value, sizes: Map<string, Dimension>): string | null {
  if (wanted.dtype !== offered.dtype) return `its dtype is ${wanted.dtype}, not ${offered.dtype}`;
  if (wanted.shape === null || offered.shape === null) return null;
  const shown = (shape: readonly Dimension[]) => `[${shape.map((size) => size ?? "?").join(", ")}]`;
  const mismatch = `its shape is ${shown(wanted.shape)}, not ${shown(offered.shape)}`;
  if (wanted.shape.length !== offered.shape.length) return mismatch;
  for (const [axis, size] of wanted.shape.entries()) {
    const actual = offered.shape[axis];
    if (typeof size === "number" && size !== actual) return mismatch;
    if (typeof size !== "string") continue;
    const earlier = sizes.get(size);
    if (earlier !== undefined && earlier !== actual) return `${size} is ${earlier} elsewhere, not ${actual}`;
    sizes.set(size, actual);
  }
  return null;
}

/**
 * Compares a row of `compatible_operations` and its entrypoint with the ABI of the operation.
 * @param index of the row
 */
export function checkAgainstOperation(manifest: TrainedManifest, index: number, abi: OperationAbi): Diagnostic[] {
  const row = manifest.compatible_operations[index];
  const problems: Diagnostic[] = [];
  const report = (place: Place, message: string, hint: string | null = null) =>
    problems.push(diagnostic(CODE, place, message, { hint }));
  const at = ["compatible_operations", index];
  const { operation } = row;

  if (row.runtime_entrypoint !== abi.entrypoint_id) {
    report(
      [...at, "runtime_entrypoint"],
      `Cannot bind ${operation} to the entrypoint ${row.runtime_entrypoint}`,
      `The operation calls ${abi.entrypoint_id}`,
    );
  }
  const asked = [...abi.required_operation_inputs].sort(), given = [...row.required_inputs].sort();
  if (!sameValue(asked, given)) {
    report(
      [...at, "required_inputs"],
      `Cannot bind ${operation} to an artifact that requires ${given.join(", ") || "no inputs"}`,
      `The operation gives ${asked.join(", ")}`,
    );
  }
  if (row.role !== undefined && row.role !== abi.component_role) {
    report(
      [...at, "role"],
      `Cannot use the role ${canonicalJson(row.role)}`,
      `The operation asks for ${abi.component_role}`,
    );
  }
  for (const [name, value] of Object.entries((row.params ?? {}) as JsonObject)) {
    const bound = abi.binding_params[name];
    if (name.startsWith("artifact_") || bound === undefined || sameValue(bound, value)) continue;
    report(
      [...at, "params", name],
      `Cannot bind ${operation} with ${name}: ${canonicalJson(value)}`,
      `Its slot is chosen by ${name}: ${canonicalJson(bound)}`,
    );
  }

  const position = manifest.runtime.entrypoints.findIndex(({ id }) => id === row.runtime_entrypoint);
  if (position < 0) return problems;
  const entrypoint = manifest.runtime.entrypoints[position];
  const place = ["runtime", "entrypoints", position];
  if (entrypoint.component !== abi.component_id) {
    report(
      [...place, "component"],
      `Cannot bind ${operation} to the component ${entrypoint.component}`,
      `The operation asks for a component ${abi.component_id}`,
    );
  }
  const componentAt = manifest.components.findIndex(({ id }) => id === entrypoint.component);
  const component = manifest.components[componentAt];
  if (component !== undefined && component.role !== abi.component_role) {
    report(
      ["components", componentAt, "role"],
      `Cannot bind ${operation} to a component of role ${component.role}`,
      `The operation asks for ${abi.component_role}`,
    );
  }
  const sizes = new Map<string, Dimension>();
  for (const side of ["inputs", "outputs"] as const) {
    const offered = new Map(entrypoint[side].map((value, at) => [value.name, { value, at }]));
    for (const [name, wanted] of Object.entries(abi[side])) {
      const found = offered.get(name);
      offered.delete(name);
      if (found === undefined && wanted.optional) continue;
      const why = found === undefined ? "it is missing" : valueProblem(wanted, found.value, sizes);
      if (why === null) continue;
      const shown = found === undefined ? `the ${side} lack ${name}` : `${name}, in the operation ${why}`;
      report([...place, side, ...(found === undefined ? [] : [found.at])], `Cannot bind ${operation}: ${shown}`);
    }
    for (const [name, { at }] of offered) {
      report([...place, side, at], `Cannot bind ${operation}: it ${side === "inputs" ? "gives" : "takes"} no ${name}`);
    }
  }
  return problems;
}

/**
 * Compares an entrypoint with the graph that it runs.
 * @param index of the entrypoint in the manifest
 */
export function checkAgainstGraph(entrypoint: Entrypoint, index: number, graph: OnnxGraph): Diagnostic[] {
  const problems: Diagnostic[] = [];
  const place = ["runtime", "entrypoints", index];
  const report = (at: Place, message: string, hint: string | null = null) =>
    problems.push(diagnostic(CODE, [...place, ...at], message, { hint }));
  const sizes = new Map<string, Dimension>();
  for (const side of ["inputs", "outputs"] as const) {
    const real = new Map(graph[side].map((value) => [value.name, value]));
    entrypoint[side].forEach((claimed: EntrypointValue, at) => {
      const found = real.get(claimed.name);
      real.delete(claimed.name);
      if (found === undefined) {
        const names = graph[side].map(({ name }) => name).join(", ");
        report(
          [side, at, "name"],
          `Cannot find ${claimed.name} among the ${side} of the model`,
          `It has ${names || "none"}`,
        );
        return;
      }
      const why = valueProblem(found, claimed, sizes);
      if (why !== null) {
        report([side, at], `Cannot run the entrypoint ${entrypoint.id}: ${claimed.name}, in the model ${why}`);
      }
    });
    // Extra outputs are allowed; extra inputs have no value.
    if (side === "inputs") {
      for (const name of real.keys()) {
        report([side], `Cannot run the entrypoint ${entrypoint.id}: the model also takes ${name}`);
      }
    }
  }
  return problems;
}

/**
 * The network itself must have all shapes of the ABI, and an open first axis where the ABI has one: operations call it with
 * any number of rows. Other axes may be narrower.
 */
export function checkFirstAxes(
  { components }: TrainedManifest,
  abi: OperationAbi,
  graphs: ReadonlyMap<string, OnnxGraph>,
): Diagnostic[] {
  const graph = graphs.get(abi.component_id),
    place = ["components", components.findIndex(({ id }) => id === abi.component_id)];
  if (graph === undefined) return [];
  const refuse = (name: string, why: string, hint: string) =>
    diagnostic(UNSUPPORTED, place, `Cannot use ${components[place[1] as number].path}: ${name} ${why}`, { hint });
  return (["inputs", "outputs"] as const).flatMap((side) =>
    Object.entries(abi[side]).flatMap(([name, { shape: wanted }]) => {
      const value = graph[side].find((one) => one.name === name);
      if (value === undefined || wanted === null) return [];
      if (value.shape === null) {
        return refuse(name, "has no shape", `Export it with the shape [${wanted.join(", ")}]`);
      }
      const [size] = value.shape;
      if (typeof wanted[0] !== "string" || typeof size !== "number") return [];
      const axes = `dynamic_axes={"${name}": {0: "${wanted[0]}"}}`;
      return refuse(name, `has ${size} as its first size, where any ${wanted[0]} is needed`, `Export it with ${axes}`);
    })
  );
}

/** Members of an ABI that a slot contract freezes. */
const FROZEN = ["component_id", "component_role", "entrypoint_id", "inputs", "outputs"] as const;

/** Compares the ABI that an artifact was trained for with the present ABI of the operation. */
export function checkAgainstContract(
  row: CompatibleOperation,
  index: number,
  contract: SlotContract,
  abi: OperationAbi,
): Diagnostic[] {
  const slot = contract.slots.find(({ operation }) => operation === row.operation);
  const place = ["compatible_operations", index, "operation"];
  if (slot === undefined) {
    return [diagnostic(CODE, place, `Cannot bind ${row.operation}: the slot contract has no slot for it`)];
  }
  const different: string[] = FROZEN.filter((key) =>
    !sameValue(frozen(slot[key]), frozen(present(abi[key], slot[key])))
  );
  const sorted = (names: readonly string[]) => [...names].sort();
  if (!sameValue(sorted(slot.required_operation_inputs), sorted(abi.required_operation_inputs))) {
    different.push("required_operation_inputs");
  }
  if (different.length === 0) return [];
  return [diagnostic(CODE, place, `Cannot bind ${row.operation}: its slot has changed in ${different.join(", ")}`, {
    hint: "The artifact was trained for another version of the operation; export its contract again and retrain",
  })];
}

/** The part of the ABI without optional tensors that the contract lacks: they came later. */
function present(part: OperationAbi[typeof FROZEN[number]], frozenPart: OperationAbi[typeof FROZEN[number]]) {
  if (!isObject(part) || !isObject(frozenPart)) return part;
  return Object.fromEntries(
    Object.entries(part).filter(([name, { optional }]) => !optional || Object.hasOwn(frozenPart, name)),
  );
}

/** Values of a contract may say more about themselves than an ABI does; dtype and shape are what counts. */
function frozen(part: OperationAbi[typeof FROZEN[number]]): JsonObject | string {
  if (!isObject(part)) return part as string;
  return Object.fromEntries(
    Object.entries(part).map(([name, { dtype, shape }]) => [name, { dtype, shape }]),
  ) as JsonObject;
}
