/** The view of lint rules: steps of a recipe with effective parameters, their wires, and the variations of a matrix. */
import type { Code, Place, Severity } from "../../contract/error.ts";
import { sameValue } from "../../contract/json.ts";
import { stepOutputKinds } from "../../contract/output_kinds.ts";
import type { Registry } from "../../contract/registry.ts";
import { isObject, type JsonObject, type Value } from "../../contract/value.ts";
import type { RecipeDocument } from "../../recipe/types.ts";
import { type LintStep, type Stream, StreamTracer, type Wire } from "./streams.ts";

export type { LintStep, Wire };

export interface Finding {
  place: Place;
  message: string;
  hint: string;
  step?: LintStep;
  /** Overrides the severity of the rule. */
  severity?: Severity;
}

/** A rule: one stable code and its search. */
export interface Rule {
  code: Code;
  /** Default `error`. */
  severity?: Severity;
  /** Whether a run also reports its warnings; it always reports errors. */
  onRun?: boolean;
  /** Whether it applies only to a recipe without errors, since it would report their consequences. */
  whenSound?: boolean;
  /** Codes of general checks that this rule replaces at the same place. */
  replaces?: readonly Code[];
  find(recipe: LintView): Iterable<Finding>;
}

/** The values of a parameter: one, or those of a matrix dimension. */
export interface Choices {
  values: readonly Value[];
  dimension: string | null;
}

export class LintView {
  readonly steps: readonly LintStep[];
  readonly #byId = new Map<string, LintStep>();
  readonly #matrix: { dimensions: JsonObject; stepParams: JsonObject };
  readonly #streams = new StreamTracer((step, port) => this.stream(step, port));

  /**
   * @param recipe effective form, or the normalised one as far as it is readable
   * @param authored steps of the author, with sparse parameters
   */
  constructor(readonly recipe: RecipeDocument, authored: RecipeDocument["steps"], registry: Registry) {
    const kinds = stepOutputKinds(recipe.steps, (op) => registry.find(op)?.operation.contract);
    this.steps = recipe.steps.map((step, index) => ({
      index,
      id: step.id,
      op: step.op,
      params: step.params,
      authored: new Set(Object.keys(authored[index]?.params ?? {})),
      // Of a recipe that does not compile, an input may be anything.
      inputs: Object.fromEntries(Object.entries(step.inputs).filter(([, from]) => typeof from === "string")),
      contract: registry.find(step.op)?.operation.contract,
      external: registry.find(step.op)?.record,
      outputs: kinds[index] ?? {},
    }));
    for (const step of this.steps) if (!this.#byId.has(step.id)) this.#byId.set(step.id, step);
    const { matrix } = recipe.metadata;
    const part = (key: string) => (isObject(matrix) && isObject(matrix[key]) ? matrix[key] : {});
    this.#matrix = { dimensions: part("dimensions"), stepParams: part("step_params") };
  }

  step(id: string): LintStep | undefined {
    return this.#byId.get(id);
  }

  ofOp(...operations: readonly string[]): LintStep[] {
    return this.steps.filter(({ op }) => operations.includes(op));
  }

  /** The first existing step of several ids, in step order. */
  first(ids: readonly string[]): LintStep | undefined {
    return this.steps.find(({ id }) => ids.includes(id));
  }

  /** The source of an input; undefined without a wire from an earlier step. */
  source(step: LintStep, port: string): Wire | undefined {
    if (!Object.hasOwn(step.inputs, port)) return undefined;
    const text = step.inputs[port];
    if (typeof text !== "string") return undefined;
    const dot = text.indexOf(".");
    const from = this.#byId.get(text.slice(0, dot));
    return from === undefined || from.index >= step.index ? undefined : { step: from, output: text.slice(dot + 1) };
  }

  /** The stream of an input; undefined when unknown. */
  stream(step: LintStep, port: string): Stream | undefined {
    const wire = this.source(step, port);
    return wire && this.#streams.of(wire);
  }

  /** All steps that a step depends on. */
  ancestors(step: LintStep): Set<LintStep> {
    const found = new Set<LintStep>();
    const open = [step];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const port of Object.keys(next.inputs)) {
        const from = this.source(next, port)?.step;
        if (from !== undefined && !found.has(from)) {
          found.add(from);
          open.push(from);
        }
      }
    }
    return found;
  }

  /** Whether the author set a parameter, in the step or in the matrix. */
  chosen(step: LintStep, param: string): boolean {
    return step.authored.has(param) || this.#override(step, param) !== undefined;
  }

  /** The matrix values of a step's parameters. */
  matrixParams(step: LintStep): JsonObject {
    const overrides = Object.hasOwn(this.#matrix.stepParams, step.id) ? this.#matrix.stepParams[step.id] : undefined;
    return isObject(overrides) ? overrides : {};
  }

  #override(step: LintStep, param: string): Value | undefined {
    const overrides = this.matrixParams(step);
    return Object.hasOwn(overrides, param) ? overrides[param] : undefined;
  }

  /** The values of a parameter; empty when a matrix changes it in an undecidable way. */
  choices(step: LintStep, param: string): Choices {
    const override = this.#override(step, param);
    if (override === undefined) {
      return { values: Object.hasOwn(step.params, param) ? [step.params[param]] : [], dimension: null };
    }
    if (!isObject(override)) return { values: [override], dimension: null };
    const { matrix: name } = override;
    const values = typeof name === "string" && Object.hasOwn(this.#matrix.dimensions, name)
      ? this.#matrix.dimensions[name]
      : undefined;
    return Array.isArray(values) ? { values, dimension: name as string } : { values: [], dimension: null };
  }

  /** The value of a parameter; undefined for none or several. */
  value(step: LintStep, param: string): Value | undefined {
    const { values } = this.choices(step, param);
    return values.length === 1 ? values[0] : undefined;
  }

  /** Whether a parameter has one of these values in every variant. */
  is(step: LintStep, param: string, ...wanted: Value[]): boolean {
    const { values } = this.choices(step, param);
    return values.length > 0 && values.every((value) => wanted.some((one) => sameValue(value, one)));
  }

  /** Whether a parameter has one of these values in some variant. */
  takes(step: LintStep, param: string, ...wanted: Value[]): boolean {
    return this.choices(step, param).values.some((value) => wanted.some((one) => sameValue(value, one)));
  }
}

/** Place of an input, or a parameter, of a step. */
export const inputOf = (step: LintStep, port: string): Place => ["steps", step.index, "inputs", port];
export const paramOf = (step: LintStep, param: string): Place => ["steps", step.index, "params", param];
export const opOf = (step: LintStep): Place => ["steps", step.index, "op"];
