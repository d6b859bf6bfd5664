/**
 * Models that operations name in their parameters: requests, and records for the plan. The readiness object does the
 * look-up.
 */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import type { ModelRequest, Operation } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import { plainParams } from "../contract/schema.ts";
import type { JsonObject } from "../contract/value.ts";
import { isModel } from "../model/resolve.ts";
import type { ModelLack, ResolvedModel } from "../model/types.ts";
import type { StepDocument } from "../recipe/types.ts";
import type { BoundStep } from "./build.ts";
import type { Readiness } from "./types.ts";

/** A requested model and its look-up result; null without a look-up. */
export interface FoundModel {
  request: ModelRequest;
  found: ResolvedModel | ModelLack | null;
}

/** Look-up results for the steps of a recipe, by index. */
export type FoundModels = ReadonlyMap<number, readonly FoundModel[]>;

export function modelRequests({ definition }: Operation, params: JsonObject): ModelRequest[] {
  return definition.models?.(plainParams(params)) ?? [];
}

export function findModels(
  steps: readonly StepDocument[],
  registry: Registry,
  readiness: Readiness | undefined,
): FoundModels {
  const models = new Map<number, FoundModel[]>();
  for (const [index, { op, params }] of steps.entries()) {
    const operation = registry.find(op)?.operation;
    const requests = operation === undefined ? [] : modelRequests(operation, params);
    if (requests.length === 0) continue;
    models.set(index, requests.map((request) => ({ request, found: readiness?.model?.(request) ?? null })));
  }
  return models;
}

/** Model records for the plan key; empty without models. */
export function modelRecords(models: FoundModels): JsonObject[] {
  return [...models].map(([index, found]) => ({
    index,
    models: found.map(({ request, found }) => found !== null && isModel(found) ? found.record : asked(request)),
  }));
}

/** Adds model records to the steps, or reports a missing model. */
export function bindModels(
  bound: readonly BoundStep[],
  models: FoundModels,
): { bound: BoundStep[]; problems: Diagnostic[] } {
  const problems: Diagnostic[] = [];
  const complete = bound.map((step): BoundStep => {
    const found = models.get(step.index);
    if (found === undefined) return step;
    const records: JsonObject = {};
    for (const { request, found: model } of found) {
      if (request.optional && (model === null || !isModel(model))) continue;
      if (model !== null && !isModel(model)) problems.push(missingModel(request, model, step));
      records[request.role] = model !== null && isModel(model) ? model.record : asked(request);
    }
    return { ...step, models: records };
  });
  return { bound: complete, problems };
}

function missingModel({ id, parameter = "model_id" }: ModelRequest, lack: ModelLack, { index, step }: BoundStep) {
  const { code, reason, fetch } = lack;
  const message = `Cannot run ${step.id} with the model ${id}: ${reason}`;
  const hint = lack.hint ?? (fetch === null ? null : `Run ${fetch}`);
  return diagnostic(code, ["steps", index, "params", parameter], message, { hint, step_id: step.id });
}

/** Without a look-up the plan records the request. */
function asked({ id, revision, sha256 }: ModelRequest): JsonObject {
  return { id, ...(revision ? { revision } : {}), ...(sha256 ? { sha256 } : {}) };
}
