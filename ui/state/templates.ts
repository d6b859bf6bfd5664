/** The parameters that a template's short form begins with, read once when a recipe that came from a template is shown. */
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { signal } from "../preact.ts";
import type { Step } from "./copies.ts";
import { templateRows } from "./template_rows.ts";

type Binding = { step_id: string; op: string; param: string };

const bindings = signal<ReadonlyMap<string, readonly Binding[]>>(new Map());
let asked = false;

/** The template that a recipe came from, or null. */
function templateOf({ metadata }: JsonObject): string | null {
  const origin = isObject(metadata) && isObject(metadata.template_provenance) ? metadata.template_provenance : {};
  return typeof origin.template_id === "string" ? origin.template_id : null;
}

/** Asks for the bindings of all templates, where a recipe came from one and that was not done yet. */
export function wantBindings(recipe: JsonObject): void {
  if (asked || templateOf(recipe) === null) return;
  asked = true;
  templateRows().then(
    (rows) =>
      bindings.value = new Map(
        rows.map((
          { id, editor_bindings },
        ) => [id, Object.values((editor_bindings ?? {}) as { [name: string]: Binding })]),
      ),
    () => asked = false,
  );
}

/** The bindings of a recipe's template that still point at their original target. */
export function bindingsOf(recipe: JsonObject, steps: readonly Step[]): { stepId: string; param: string }[] {
  return (bindings.value.get(templateOf(recipe) ?? "") ?? [])
    .filter(({ step_id, op }) => steps.some((step) => step.id === step_id && step.op === op))
    .map(({ step_id, param }) => ({ stepId: step_id, param }));
}
