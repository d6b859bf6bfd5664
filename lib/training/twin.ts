/** PyTorch twins of operations in an exported project: a twin may cover some values of parameters only. */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import { lowerFirst } from "../contract/sentence.ts";
import type { Operation } from "../contract/operation.ts";
import type { JsonObject } from "../contract/value.ts";
import { entriesOf, matches, settings } from "../plan/entries.ts";
import type { GradientRoute } from "./gradient_routes.ts";

/** Entries of the export that bind parameters to what a twin covers; those of trainable components bind its network. */
const exports = ({ contract }: Operation) =>
  contract.trained_artifact_abi === undefined ? entriesOf(contract, "differentiable_export") : [];

/** Whether the twin of an operation computes a step with these effective parameters. */
export function hasTwin(operation: Operation | undefined, params: JsonObject): boolean {
  if (operation?.definition.twin !== true) return false;
  const entries = exports(operation);
  return entries.length === 0 || entries.some((entry) => matches(entry, params));
}

/** Why a twin does not cover a step: the values that it has not; null where another reason holds. */
export function uncovered(operation: Operation | undefined, params: JsonObject): string | null {
  if (operation?.definition.twin !== true || hasTwin(operation, params)) return null;
  return `It has no PyTorch twin${settings(exports(operation)[0], params)}`;
}

/** A warning for each step of a route whose twin does not cover its parameters. */
export function twinsMissing(routes: readonly GradientRoute[]): Diagnostic[] {
  const steps = new Map(routes.flatMap(({ support }) => support).map((step) => [step.step_id, step]));
  return [...steps.values()].filter(({ reason }) => reason?.startsWith("It has no PyTorch twin")).map((step) =>
    diagnostic("export_twin_missing", ["steps"], `Cannot train through ${step.step_id}: ${lowerFirst(step.reason!)}`, {
      hint: `svc ops show ${step.op} lists what differentiable_export covers; captured data do without the twin`,
      severity: "warning",
      step_id: step.step_id,
    })
  );
}
