/**
 * Routes from a replaced block to an evaluation. The steps on the way are frozen: a live loss graph exists where each of them
 * passes gradients and can be exported, or has a PyTorch twin, whose hard decisions have soft gradients. The trainable block
 * itself is always open.
 */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import { lowerFirst } from "../contract/sentence.ts";
import type { Registry } from "../contract/registry.ts";
import type { JsonObject } from "../contract/value.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { hasTwin, uncovered } from "./twin.ts";

const NO_TWIN = "It has no PyTorch twin with ";

/** A frozen step of a route. */
export interface SupportStep extends JsonObject {
  step_id: string;
  op: string;
  gradient: string;
  exportable: boolean;
  /** Whether a live loss can be followed through it. */
  passes: boolean;
  /** Why not, else null. */
  reason: string | null;
}

export interface GradientRoute extends JsonObject {
  from_step: string;
  loss_step: string;
  /** Whether every step of the support passes. */
  open: boolean;
  /** Frozen steps between the two, in the order of the recipe; the evaluation itself last, where it is the loss. */
  support: SupportStep[];
  blocked_by: string[];
}

/** Which steps can be reached from which, along the edges of a recipe. */
export class Reach {
  readonly #sources: Map<string, string[]>;
  readonly #ancestors = new Map<string, ReadonlySet<string>>();

  constructor(recipe: RecipeDocument) {
    this.#sources = new Map(
      recipe.steps.map(({ id, inputs }) => [id, Object.values(inputs).map((reference) => reference.split(".")[0])]),
    );
  }

  /** Steps that a step depends on, without itself. */
  ancestors(id: string): ReadonlySet<string> {
    let found = this.#ancestors.get(id);
    if (found === undefined) {
      found = new Set((this.#sources.get(id) ?? []).flatMap((source) => [source, ...this.ancestors(source)]));
      this.#ancestors.set(id, found);
    }
    return found;
  }

  reaches(from: string, to: string): boolean {
    return this.ancestors(to).has(from);
  }
}

/**
 * The route between two steps.
 * @param trained steps that are replaced too; they are modules of the trainer, not frozen
 * @param external whether the trainer computes the loss from the inputs of the evaluation, in place of the evaluation
 */
export function gradientRoute(
  recipe: RecipeDocument,
  registry: Registry,
  { from, to, trained, external, reach }: {
    from: string;
    to: string;
    trained: ReadonlySet<string>;
    external: boolean;
    reach: Reach;
  },
): GradientRoute {
  const support = recipe.steps.filter(({ id }) => {
    if (id === from || trained.has(id)) return false;
    if (id === to) return !external;
    return reach.reaches(from, id) && reach.reaches(id, to);
  }).map(({ id, op, params }): SupportStep => {
    const operation = registry.find(op)?.operation;
    const { gradient, exportable } = operation?.contract.differentiability ?? { gradient: "none", exportable: false };
    const values = uncovered(operation, params);
    const reason = hasTwin(operation, params)
      ? null
      : values !== null
      ? NO_TWIN + values
      : gradient === "stop"
      ? "Gradients stop here"
      : gradient === "none"
      ? "It passes no gradients"
      : !exportable
      ? "It cannot be exported"
      : null;
    return {
      step_id: id,
      op,
      gradient,
      exportable,
      passes: reason === null,
      reason,
    };
  });
  const blocked_by = support.filter(({ passes }) => !passes).map(({ step_id }) => step_id);
  return { from_step: from, loss_step: to, open: blocked_by.length === 0, support, blocked_by };
}

/** A warning for each step of a route whose twin does not cover its parameters. */
export function twinsMissing(routes: readonly GradientRoute[]): Diagnostic[] {
  const steps = new Map(routes.flatMap(({ support }) => support).map((step) => [step.step_id, step]));
  return [...steps.values()].filter(({ reason }) => reason?.startsWith(NO_TWIN)).map(({ step_id, op, reason }) =>
    diagnostic("export_twin_missing", ["steps"], `Cannot train through ${step_id}: ${lowerFirst(reason!)}`, {
      hint: `svc ops show ${op} lists what differentiable_export covers; captured data do without the twin`,
      severity: "warning",
      step_id,
    })
  );
}
