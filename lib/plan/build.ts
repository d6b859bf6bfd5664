/** Builds `execution-plan.json` from bound steps. Equal recipes give equal bytes. */
import { contractSha256 } from "../contract/define.ts";
import { sha256Hex } from "../contract/hash.ts";
import { canonicalJson, compareCodePoints, repeatedPart } from "../contract/json.ts";
import type { OperationContract, Requirement, Runner } from "../contract/operation.ts";
import { nodeCrypto } from "../contract/node_builtins.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import type { CheckedStep } from "./check_steps.ts";
import type { ModuleSource } from "./implementation_source.ts";
import { materializationId } from "./entries.ts";
import { estimateResources } from "./estimate.ts";
import type { Choice } from "./materialize.ts";
import type { ExecutionPlan, PlanStep } from "./types.ts";

const KIND = "svc.execution_plan" as const;

/** A step with its chosen materialisation. */
export interface BoundStep extends CheckedStep {
  choice: Choice;
  source: ModuleSource;
  requirements: Requirement[];
  /** The artifact of a step in its learned mode. */
  trainedArtifact?: JsonObject;
  /** Records of named models, by role. */
  models?: JsonObject;
}

/**
 * Builds the plan.
 * @param recipe effective recipe, and its digest
 * @param bound one binding per step, in order
 * @param chained as in `PlanOptions`
 */
export function buildPlan(
  recipe: RecipeDocument,
  recipeSha256: string,
  runner: Runner,
  bound: readonly BoundStep[],
  chained?: ReadonlySet<string>,
): ExecutionPlan {
  const { operations, sha256, hashWith } = contractsOf(bound);
  const rows = bound.map((step) => planStep(step, runner));
  const body = {
    schema_version: 1 as const,
    kind: KIND,
    runner,
    recipe: { name: recipe.name, sha256: recipeSha256, step_count: recipe.steps.length },
    operation_contracts: { schema_version: 1, sha256, operations },
    steps: rows.map(({ row }) => row),
    resources: estimateResources(bound, chained),
  };
  const { steps: _steps, operation_contracts: _contracts, kind: _kind, ...head } = body;
  const members = { ...memberTexts(head), steps: `[${rows.map((row) => row.text).join(",")}]` };
  return Object.freeze({ ...body, sha256: hashWith(objectText(members)) });
}

/** The contracts of a plan, which begin its canonical text. */
interface Contracts {
  list: OperationContract[];
  operations: JsonObject;
  sha256: string;
  /** @param rest canonical text of an object with the fields after the contracts, in canonical order */
  hashWith(rest: string): string;
}

/** Contracts of the last plan. The points of a matrix share them, and they are most of a plan's text. */
let latest: Contracts | undefined;

function contractsOf(bound: readonly BoundStep[]): Contracts {
  const list = [...new Set(bound.map(({ registered }) => registered.operation.contract))];
  if (latest?.list.length === list.length && list.every((contract, index) => contract === latest!.list[index])) {
    return latest;
  }
  const sorted = list.toSorted((a, b) => compareCodePoints(a.id, b.id));
  const operations = repeatedPart(Object.fromEntries(sorted.map((contract) => [contract.id, contract])));
  const text = objectText(Object.fromEntries(sorted.map((contract) => [contract.id, contractText(contract)])));
  const sha256 = sha256Hex(text);
  // In canonical order kind and contracts come first.
  const hash = nodeCrypto().createHash("sha256").update(
    `{"kind":${
      canonicalJson(KIND)
    },"operation_contracts":{"operations":${text},"schema_version":1,"sha256":"${sha256}"}`,
  );
  const hashWith = (rest: string) => hash.copy().update(`,${rest.slice(1)}`).digest("hex");
  return latest = { list, operations, sha256, hashWith };
}

// A plan repeats the contracts, and each row is hashed on its own and in the plan, so canonical texts are assembled
// from parts that are written once.

const contractTexts = new WeakMap<OperationContract, string>();

function contractText(contract: OperationContract): string {
  let text = contractTexts.get(contract);
  if (text === undefined) contractTexts.set(contract, text = canonicalJson(contract));
  return text;
}

function memberTexts(object: JsonObject): Record<string, string> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, canonicalJson(value)]));
}

/** The canonical text of an object whose values are canonical texts; its keys are field names and operation ids. */
function objectText(members: Record<string, string>): string {
  const keys = Object.keys(members).sort(compareCodePoints);
  return `{${keys.map((key) => `"${key}":${members[key]}`).join(",")}}`;
}

interface PlanRow {
  row: PlanStep;
  /** Canonical text. */
  text: string;
}

/** Cached rows: the points of a matrix bind most steps alike. */
const writtenRows = new WeakMap<OperationContract, Map<string, PlanRow>>();
const MAX_ROWS = 64;

function planStep(bound: BoundStep, runner: Runner): PlanRow {
  const { step, registered: { operation }, choice: { entry, overrides, ...choice }, source, requirements } = bound;
  // Overrides and records hold typed numbers, which plain JSON text does not distinguish.
  const outside = bound.trainedArtifact ?? bound.models;
  if (Object.keys(overrides).length > 0 || outside !== undefined) return writeRow(bound, runner);
  const key = JSON.stringify([step.id, runner, materializationId(operation.id, entry), choice, source, requirements]);
  let rows = writtenRows.get(operation.contract);
  if (rows === undefined || rows.size >= MAX_ROWS) writtenRows.set(operation.contract, rows = new Map());
  let row = rows.get(key);
  if (row === undefined) rows.set(key, row = writeRow(bound, runner));
  return row;
}

/** The implementation of a planned step with its source, adapter, artifact and models: changed code is another method. */
export function methodText({ implementation_identity, implementation_metadata: metadata }: JsonObject): string {
  const { external_adapter_sdk = null, trained_artifact = null, models = null } = isObject(metadata) ? metadata : {};
  return canonicalJson([implementation_identity, external_adapter_sdk, trained_artifact, models]);
}

function writeRow(bound: BoundStep, runner: Runner): PlanRow {
  const { step, registered: { operation, record }, choice, source, requirements } = bound;
  const { entry } = choice;
  const id = materializationId(operation.id, entry);
  const row = {
    schema_version: 1 as const,
    step_id: step.id,
    operation_id: operation.id,
    runner,
    backend: entry.backend,
    implementation: entry.implementation,
    materialization_id: id,
    implementation_identity: `${id}#${source.source_sha256 ?? source.source_module}`,
    implementation_metadata: {
      operation_name: operation.contract.name as string,
      // The export that holds the operation.
      operation_class: "default",
      status: entry.status,
      selection: {
        source: choice.source,
        requested_backend: choice.requested_backend,
        resolved_backend: entry.backend,
        candidate_index: choice.candidate_index,
        ...(choice.requested_implementation === undefined
          ? {}
          : { requested_implementation: choice.requested_implementation }),
        ...(choice.requested_parameter === undefined ? {} : { requested_parameter: choice.requested_parameter }),
        ...(entry.parameter_bindings === undefined ? {} : { parameter_bindings: entry.parameter_bindings }),
      },
      source_module: source.source_module,
      source_sha256: source.source_sha256,
      ...(Object.keys(choice.overrides).length === 0 ? {} : { parameter_overrides: choice.overrides }),
      ...(requirements.length === 0 ? {} : {
        runtime_availability: { requirements: requirements.map(({ kind, id }) => ({ kind, id })) },
      }),
      ...(Object.keys(choice.subordinates).length === 0 ? {} : { subordinate_runtime_selectors: choice.subordinates }),
      ...(bound.trainedArtifact === undefined ? {} : { trained_artifact: bound.trainedArtifact }),
      ...(bound.models === undefined ? {} : { models: bound.models }),
      ...(entry.notes === undefined ? {} : { notes: entry.notes }),
      ...(record === undefined ? {} : { external_adapter_sdk: record }),
    },
    operation_contract_sha256: contractSha256(operation.contract),
  };
  const members = memberTexts(row);
  const binding_sha256 = sha256Hex(objectText(members));
  const text = objectText({ ...members, binding_sha256: canonicalJson(binding_sha256) });
  return { row: repeatedPart(Object.freeze({ ...row, binding_sha256 })), text };
}
