/** Builds an operation from its definition: adds the defaults of the contract and checks it. */
import { messageOf, SvcError } from "./error.ts";
import { type ArtifactKind, formatOfKind, type Kind } from "./kinds.ts";
import type {
  Differentiability,
  Equivalence,
  Formats,
  Materialization,
  MaterializationRow,
  MetadataGuarantee,
  Operation,
  OperationContract,
  OperationDefinition,
  Outputs,
  PlainDefinition,
  PlainPorts,
  Ports,
  Runner,
} from "./operation.ts";
import { withImportance } from "./importance.ts";
import { RUNNER_ALIASES, RUNNERS } from "./operation.ts";
import { parameterSchema } from "./publish_schema.ts";
import { checkValue, shownWhen, unknownKeyword } from "./schema.ts";
import { sha256Json } from "./hash.ts";
import { canonicalJson, sameValue } from "./json.ts";
import { float, isObject, type JsonObject, type Value } from "./value.ts";
import type { z } from "./zod.ts";

const ID = /^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$/;
const PORT = /^[a-z][a-z0-9_]*$/;

/**
 * Declares an operation. `run` is typed from the declarations beside it.
 * @param definition contract, parameter schema and reference implementation
 * @returns the operation, whose contract is built and checked on first use
 * @throws SvcError `operation_contract_invalid` for a malformed id, port, default or materialisation
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { bitsArtifact, bitsOf, defineOperation, kinds, travel, z } from "../../mod.ts";
 *
 * const invert = defineOperation({
 *   id: "mine.invert_bits",
 *   name: "Invert bits",
 *   inputs: { bits: kinds.BITS_ANY },
 *   outputs: { bits: kinds.BITS },
 *   params: z.strictObject({}),
 *   threadSafe: true,
 *   run({ inputs }) {
 *     const inverted = bitsOf(inputs.bits).map((bit) => 1 - bit);
 *     return { outputs: { bits: bitsArtifact(inverted, travel(inputs.bits.metadata)) } };
 *   },
 * });
 * assert.deepEqual(invert.contract.output_kinds, { bits: "channel.bits.numpy" });
 * ```
 */
export function defineOperation<
  const In extends Ports = Record<never, never>,
  const Opt extends Ports = Record<never, never>,
  const Out extends Outputs = Record<never, never>,
  Params extends z.ZodObject = z.ZodObject,
>(definition: OperationDefinition<In, Opt, Out, Params>): Operation {
  const plain = plainDefinition(definition as OperationDefinition<Ports, Ports, Outputs>);
  let contract: OperationContract | undefined;
  return {
    definition: plain,
    id: definition.id,
    // Built on first use: a worker that runs one step needs no contract.
    get contract() {
      return contract ??= buildContract(plain);
    },
  };
}

const idOf = (kind: ArtifactKind | Kind) => typeof kind === "string" ? kind : kind.id;

function plainDefinition(definition: OperationDefinition<Ports, Ports, Outputs>): PlainDefinition {
  const { inputs = {}, optionalInputs = {}, outputs } = definition;
  const ports = Object.entries({ ...inputs, ...optionalInputs }), required = plainPorts(inputs);
  const sameKindAs = Object.entries(outputs).flatMap(([name, kind]) =>
    typeof kind === "object" && "sameKindAs" in kind ? [[name, kind.sameKindAs]] : []
  );
  return withImportance({
    ...definition as OperationDefinition,
    inputs: required,
    optionalInputs: plainPorts(optionalInputs),
    outputs: Object.fromEntries(
      Object.entries(outputs).map(([name, kind]) => [
        name,
        // Without such an input the contract is refused.
        typeof kind === "object" && "sameKindAs" in kind ? required[kind.sameKindAs]?.[0] ?? "" : idOf(kind),
      ]),
    ),
    outputSameKindAs: Object.fromEntries(sameKindAs),
    outputMetadataGuarantees: guaranteesOf(definition),
    secretInputs: ports.filter(([, port]) => "secret" in port).map(([name]) => name),
  });
}

function plainPorts(ports: Ports): PlainPorts {
  return Object.fromEntries(
    Object.entries(ports).map(([name, port]) => [name, ("kinds" in port ? port.kinds : port).map(idOf)]),
  );
}

/** Metadata declared by the kinds of outputs, then that of the operation. */
function guaranteesOf({ outputs, outputMetadataGuarantees: own = {} }: OperationDefinition<Ports, Ports, Outputs>) {
  const names = Object.keys(outputs).filter((name) => typeof outputs[name] !== "string" || own[name] !== undefined);
  return Object.fromEntries(names.map((name): [string, MetadataGuarantee] => {
    const kind = outputs[name];
    const declared = typeof kind === "object" && "metadata" in kind ? Object.keys(kind.metadata) : [];
    const keys = [...declared, ...own[name]?.keys ?? []];
    return [name, { ...own[name], ...(keys.length === 0 ? {} : { keys }) }];
  }));
}

/** Note of exports that no release writes. */
const EXPORT_NOTE = "Training projects do not contain this operation yet";
const contractHashes = new WeakMap<OperationContract, string>();

/** SHA-256 of the canonical JSON of a contract, computed once. */
export function contractSha256(contract: OperationContract): string {
  let hash = contractHashes.get(contract);
  if (hash === undefined) contractHashes.set(contract, hash = sha256Json(contract));
  return hash;
}

const DEFAULT_DIFFERENTIABILITY: Differentiability = {
  framework: "numpy",
  gradient: "none",
  trainable_params: false,
  exportable: false,
};
const DEFAULT_EQUIVALENCE: Equivalence = { type: "behavioral" };
const DEFAULT_FORMATS: Formats = { artifact: "operation-defined", tensor: "none" };

function buildContract(definition: PlainDefinition): OperationContract {
  const refuse = (message: string): never => {
    throw new SvcError("operation_contract_invalid", `Cannot register ${definition.id}: ${message}`);
  };
  if (!ID.test(definition.id)) refuse("its id is not of the form group.name");
  const inputs = definition.inputs ?? {}, optionalInputs = definition.optionalInputs ?? {};
  for (const port of [...Object.keys(inputs), ...Object.keys(optionalInputs), ...Object.keys(definition.outputs)]) {
    if (!PORT.test(port)) refuse(`the port ${port} is not snake_case`);
  }
  for (const port of Object.keys(optionalInputs)) if (port in inputs) refuse(`the port ${port} is declared twice`);

  const sameKindAs = definition.outputSameKindAs;
  for (const [output, input] of Object.entries(sameKindAs)) {
    if (!Object.hasOwn(inputs, input)) {
      refuse(`the output ${output} has the kind of ${input}, which is no required input`);
    }
    if (new Set(inputs[input]!.map(formatOfKind)).size > 1) {
      refuse(`the output ${output} has the kind of ${input}, whose kinds have several file formats`);
    }
  }

  const schema = publish(definition, refuse);
  const keyword = unknownKeyword(schema);
  if (keyword !== null) refuse(`its parameter schema uses ${keyword}`);
  for (const [name, node] of Object.entries((schema.properties ?? {}) as JsonObject)) {
    if (!PORT.test(name)) refuse(`the parameter ${name} is not snake_case`);
    if (isObject(node) && node.default !== undefined) {
      const [problem] = checkValue(node, node.default, [name]);
      if (problem) refuse(`the default of ${name} does not match its schema: ${problem.message}`);
    }
    for (const controller of Object.keys(shownWhen(node) ?? {})) {
      if (!(controller in (schema.properties as JsonObject))) refuse(`${name} depends on the unknown ${controller}`);
    }
  }

  const { materializations: entries, backends: given = entries && backendsOf(entries) } = definition;
  const listed: Partial<Record<string, readonly string[]>> = { ...given };
  for (const [alias, runner] of Object.entries(RUNNER_ALIASES)) {
    if (listed[alias] === undefined) continue;
    if (listed[runner] !== undefined) refuse(`its backends name ${alias} and ${runner}, which are one runner`);
    listed[runner] = listed[alias];
  }
  const backends: Record<Runner, string[]> = {
    benchmark_run: [...(listed.benchmark_run ?? ["python"])],
    dataset_capture: [...(listed.dataset_capture ?? ["python"])],
    differentiable_export: [...(listed.differentiable_export ?? [])],
  };
  const materializations = materializationRows(definition, backends, schema, refuse);
  const equivalence = definition.equivalence ?? DEFAULT_EQUIVALENCE;
  return {
    schema_version: 1,
    id: definition.id,
    name: definition.name,
    ...(definition.description === undefined ? {} : { description: definition.description }),
    status: definition.status ?? "implemented",
    input_kinds: mapValues(inputs, (kinds) => [...kinds]),
    optional_input_kinds: mapValues(optionalInputs, (kinds) => [...kinds]),
    output_kinds: { ...definition.outputs },
    ...(Object.keys(sameKindAs).length === 0 ? {} : { output_same_kind_as: { ...sameKindAs } }),
    input_metadata_requirements: mapValues(
      definition.inputMetadataRequirements ?? {},
      (requirement) => ({ ...requirement }),
    ),
    output_metadata_guarantees: mapValues(
      definition.outputMetadataGuarantees ?? {},
      (guarantee) => ({ ...guarantee }),
    ),
    params_schema: schema,
    differentiability: { ...(definition.differentiability ?? DEFAULT_DIFFERENTIABILITY) },
    backends,
    equivalence: {
      type: equivalence.type,
      ...(equivalence.tolerance === undefined
        ? {}
        : { tolerance: { atol: float(equivalence.tolerance.atol), rtol: float(equivalence.tolerance.rtol) } }),
      ...(equivalence.reason === undefined ? {} : { reason: equivalence.reason }),
    },
    formats: { ...(definition.formats ?? DEFAULT_FORMATS) },
    materializations,
    ...unavailableValues(definition, schema, materializations),
    execution_safety: {
      thread_safe: definition.threadSafe,
      dispatch_instance: "shallow_copy",
      undeclared_parallel_policy: "exclusive",
    },
    ...(definition.entropyInfo === undefined ? {} : { entropy_info: definition.entropyInfo }),
    ...(definition.trainedArtifactAbi === undefined ? {} : { trained_artifact_abi: definition.trainedArtifactAbi }),
    ...(definition.externalAdapter === undefined ? {} : { external_adapter: definition.externalAdapter }),
    training_capabilities: {
      built_in_fine_tuning: definition.fineTuningSupported === true && typeof definition.fineTune === "function",
      portable_replacement: definition.trainedArtifactAbi !== undefined,
    },
  };
}

const NO_KERNELS = "The native extension has no kernels for this operation";

/** The values of enumerated parameters that only planned or exported entries take, and native kernels that do not exist. */
function unavailableValues(
  { nativeKernels }: PlainDefinition,
  schema: JsonObject,
  rows: readonly MaterializationRow[],
): Pick<OperationContract, "unavailable_values"> {
  const reasonOf = (name: string, value: Value): string | undefined => {
    if (name === "data_plane_backend" && value === "cpp_native") {
      return nativeKernels !== undefined || rows.some(({ backend }) => backend === "cpp") ? undefined : NO_KERNELS;
    }
    const taking = rows.filter(({ parameter_bindings: bindings = {} }) =>
      bindings[name] === undefined || sameValue(bindings[name], value)
    );
    const executing = taking.filter(({ runner }) => runner !== "differentiable_export");
    if (executing.some(({ status }) => status === "implemented")) return undefined;
    const exported = "Stands for exported training code (differentiable_export) and runs nothing here";
    return executing.find(({ notes }) => notes !== undefined)?.notes ?? exported;
  };
  const properties = Object.entries((schema.properties ?? {}) as { [name: string]: JsonObject });
  const found = properties.flatMap(([name, { enum: values }]) => {
    const reasons = (Array.isArray(values) ? values : []).flatMap((value) => {
      const reason = reasonOf(name, value);
      return reason === undefined ? [] : [[String(value), reason] as const];
    });
    return reasons.length === 0 ? [] : [[name, Object.fromEntries(reasons)] as const];
  });
  return found.length === 0 ? {} : { unavailable_values: Object.fromEntries(found) };
}

/** The backends of materialisations, in their order. */
function backendsOf(entries: readonly Materialization[]): Partial<Record<Runner, string[]>> {
  const backends: Partial<Record<Runner, string[]>> = {};
  for (const { runner, backend } of entries) {
    const known = backends[runner] ??= [];
    if (!known.includes(backend)) known.push(backend);
  }
  return backends;
}

function publish(definition: OperationDefinition, refuse: (message: string) => never): JsonObject {
  try {
    return definition.paramsSchema ?? parameterSchema(definition.params);
  } catch (error) {
    return refuse(messageOf(error));
  }
}

function mapValues<T>(
  object: Readonly<Record<string, T | undefined>>,
  map: (value: T) => Value,
): Record<string, never> {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => [key, map(value as T)])) as Record<string, never>;
}

function materializationRows(
  definition: OperationDefinition,
  backends: Record<Runner, string[]>,
  schema: JsonObject,
  refuse: (message: string) => never,
): MaterializationRow[] {
  const declared: readonly Materialization[] = definition.materializations ??
    RUNNERS.flatMap((runner) => backends[runner].map((backend) => ({ runner, backend })));
  const properties = (schema.properties ?? {}) as JsonObject;
  const identities = new Set<string>();
  const bound = new Set<string>();
  return declared.map((entry) => {
    const implementation = entry.implementation ?? "default";
    const identity = `${definition.id}@${entry.runner}/${entry.backend}/${implementation}`;
    if (identities.has(identity)) refuse(`the materialisation ${identity} is declared twice`);
    identities.add(identity);
    const exported = entry.runner === "differentiable_export";
    const { twin = [] } = definition;
    const written = Array.isArray(twin) ? twin.includes(entry.backend) : twin && entry.backend === "torch";
    const status = exported ? (written ? "implemented" : "planned") : entry.status ?? "implemented";
    // A planned entry may name a backend that does not exist yet.
    if (status !== "planned" && !backends[entry.runner].includes(entry.backend)) {
      refuse(`the materialisation ${identity} uses a backend that ${entry.runner} does not list`);
    }
    const bindings = entry.parameter_bindings ?? {};
    const place = `${entry.runner}/${entry.backend}/${canonicalJson(bindings)}`;
    if (bound.has(place)) refuse(`two materialisations of ${entry.runner}/${entry.backend} have the same bindings`);
    bound.add(place);
    for (const [name, value] of Object.entries(bindings)) {
      const node = properties[name];
      if (!isObject(node)) refuse(`${identity} binds the unknown parameter ${name}`);
      else if (checkValue(node, value, [name]).length > 0) {
        refuse(`${identity} binds ${name} to a value outside its schema`);
      }
    }
    const notes = entry.notes ?? (exported && !written ? EXPORT_NOTE : undefined);
    return {
      runner: entry.runner,
      backend: entry.backend,
      implementation,
      status,
      ...(Object.keys(bindings).length === 0 ? {} : { parameter_bindings: bindings }),
      ...(notes === undefined ? {} : { notes }),
    };
  });
}
