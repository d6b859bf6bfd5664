/**
 * A recipe whose graph is being edited: its steps with the kinds of their wires, and the rules by which an input finds
 * another source. A finished draft is a new recipe of the profile `custom`, in plan order, with a line for each change.
 */
import { asCustom, matrixFacts, unbind } from "./matrix_edits.ts";
import type { OperationContract } from "./operation.ts";
import { stepOutputKinds } from "./output_kinds.ts";
import { checkValue } from "./schema.ts";
import { effectOf } from "./transforms.ts";
import { isObject, type JsonObject } from "./value.ts";

/** The part of a contract that edits read. */
export type EditContract = Pick<
  OperationContract,
  "id" | "input_kinds" | "optional_input_kinds" | "output_kinds" | "output_same_kind_as" | "params_schema" | "status"
>;
export type EditContracts = ReadonlyMap<string, EditContract>;

export interface EditedStep extends JsonObject {
  id: string;
  op: string;
  /** `<step>.<output>` by port. */
  inputs: { [port: string]: string };
  params: JsonObject;
}

/** An edited recipe, or the reason why the edit is not possible. */
export type Edit = { recipe: JsonObject; changes: string[]; selected: string } | { refused: string };

class Refusal extends Error {}
/** Ends an edit that is not possible. @throws always */
export function refuse(reason: string): never {
  throw new Refusal(reason);
}

/**
 * Performs an edit on a draft.
 * @param work changes the draft and returns the id of the step to select
 */
export function edited(recipe: JsonObject, contracts: EditContracts, work: (draft: GraphDraft) => string): Edit {
  const draft = new GraphDraft(recipe, contracts);
  try {
    const selected = work(draft);
    return { ...draft.finish(), selected };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message };
    throw error;
  }
}

export const stepOf = (reference: string): string => reference.slice(0, reference.indexOf("."));
export const outputOf = (reference: string): string => reference.slice(reference.indexOf(".") + 1);
/** Operations that carry content over the channel: what lies before them is not received. */
export const isLink = (op: string): boolean => /^wireless\.|_link$/.test(op);
const REPORT = "metrics.report";

interface Reader {
  step: EditedStep;
  port: string;
  reference: string;
}
/** Content with its layers, innermost first; each has the step that put it. */
export interface Content {
  source: string;
  layers: readonly { kind: string; step: string }[];
}

/** The steps of a recipe, each with all members; a missing id or operation is an empty text. */
const readSteps = (recipe: JsonObject): EditedStep[] =>
  (Array.isArray(recipe.steps) ? recipe.steps : []).filter(isObject).map((step) => ({
    ...step,
    id: String(step.id ?? ""),
    op: String(step.op ?? ""),
    inputs: Object.fromEntries(
      Object.entries(isObject(step.inputs) ? step.inputs : {}).map(([port, from]) => [port, String(from)]),
    ),
    params: isObject(step.params) ? step.params : {},
  }));

const onlyReports = (kinds: { [output: string]: string }): boolean =>
  Object.values(kinds).every((kind) => kind.startsWith("metrics."));
const propertiesOf = ({ params_schema }: EditContract) =>
  (params_schema.properties ?? {}) as { [name: string]: JsonObject };

export class GraphDraft {
  readonly steps: EditedStep[];
  readonly #before: EditedStep[];
  /** Outputs of removed steps, with the outputs in their place. */
  readonly #moved = new Map<string, string>();

  constructor(readonly recipe: JsonObject, readonly contracts: EditContracts) {
    this.#before = readSteps(recipe);
    this.steps = readSteps(recipe);
  }

  step(id: string): EditedStep {
    return this.steps.find((step) => step.id === id) ?? refuse(`Cannot find a step named ${id}`);
  }

  contract(op: string): EditContract {
    return this.contracts.get(op) ?? refuse(`Cannot find an operation named ${op}`);
  }

  /** The kinds of a step's outputs, as its wires give them. */
  kindsOf(id: string): { [output: string]: string } {
    const index = this.steps.findIndex((step) => step.id === id);
    return stepOutputKinds(this.steps, (op) => this.contracts.get(op))[index] ??
      this.contracts.get(this.steps[index]?.op)?.output_kinds ?? {};
  }

  kindOf(reference: string): string | undefined {
    return this.kindsOf(stepOf(reference))[outputOf(reference)];
  }

  accepted(op: string, port: string): readonly string[] {
    const contract = this.contracts.get(op);
    return contract?.input_kinds[port] ?? contract?.optional_input_kinds[port] ?? [];
  }

  fits(op: string, port: string, reference: string): boolean {
    const kind = this.kindOf(reference);
    return kind !== undefined && this.accepted(op, port).includes(kind);
  }

  readersOf(matches: (reference: string) => boolean): Reader[] {
    return this.steps.flatMap((step) =>
      Object.entries(step.inputs).filter(([, reference]) => matches(reference))
        .map(([port, reference]) => ({ step, port, reference }))
    );
  }

  /** Whether a step only measures: no other step needs it. */
  isMeasurement(step: EditedStep): boolean {
    return onlyReports(this.kindsOf(step.id)) &&
      this.readersOf((reference) => stepOf(reference) === step.id).length === 0;
  }

  /** The inputs of an operation that an edit wires. */
  wiredPorts = (op: string): string[] => [...Object.keys(this.contract(op).input_kinds), ...effectOf(op)?.wired ?? []];

  /** The input of an operation that takes its content. */
  contentPort(op: string, fits: (port: string) => boolean = () => true): string | undefined {
    const required = Object.keys(this.contract(op).input_kinds);
    const from = effectOf(op)?.from;
    return from ?? required.find((port) => !isReference(port) && fits(port)) ?? required.find(fits);
  }

  /** The content at an output, where it is known. */
  content(reference: string): Content | undefined {
    const index = this.steps.findIndex(({ id }) => id === stepOf(reference)), step = this.steps[index];
    if (step === undefined) return undefined;
    const effect = effectOf(step.op);
    if (effect === undefined) return { source: reference, layers: [] };
    if (effect.outputs !== undefined && !effect.outputs.includes(outputOf(reference))) return undefined;
    const from = step.inputs[effect.from];
    // A wire from a later step is a problem of its own.
    if (from === undefined || this.steps.findIndex(({ id }) => id === stepOf(from)) >= index) return undefined;
    const inner = this.content(from);
    if (inner === undefined) return undefined;
    if (effect.puts !== undefined) {
      return { ...inner, layers: [...inner.layers, { kind: effect.puts, step: step.id }] };
    }
    if (effect.takes === undefined) return inner;
    return inner.layers.at(-1)?.kind === effect.takes ? { ...inner, layers: inner.layers.slice(0, -1) } : undefined;
  }

  /** All outputs that carry known content, in step order. */
  contents(): [reference: string, content: Content][] {
    return this.steps.flatMap(({ id }) =>
      Object.keys(this.kindsOf(id)).flatMap((output) => {
        const content = this.content(`${id}.${output}`);
        return content === undefined ? [] : [[`${id}.${output}`, content] as [string, Content]];
      })
    );
  }

  /** Whether an output comes from a step by the content of its wires. */
  isBehind(reference: string, id: string): boolean {
    const seen = new Set<EditedStep>();
    for (let at: string | undefined = reference; at !== undefined;) {
      const step = this.steps.find((one) => one.id === stepOf(at!));
      if (step?.id === id) return true;
      if (step === undefined || seen.has(step)) return false;
      seen.add(step);
      at = step.inputs[effectOf(step.op)?.from ?? ""];
    }
    return false;
  }

  /** Outputs with the content of a wire, in other forms too: hard decisions and soft values of one demodulator. */
  *around(reference: string): Iterable<string> {
    yield reference;
    const source = this.steps.find(({ id }) => id === stepOf(reference));
    if (source === undefined) return;
    const effect = effectOf(source.op);
    for (const output of effect?.outputs ?? Object.keys(this.kindsOf(source.id))) {
      yield* this.#behind(`${source.id}.${output}`);
    }
    const passes = effect !== undefined && effect.puts === undefined && effect.takes === undefined;
    const from = passes ? source.inputs[effect.from] : undefined;
    if (from !== undefined && !isLink(source.op) && Object.keys(source.inputs).length === 1) yield* this.around(from);
  }

  /** An output after the boundaries behind it, the last first. */
  *#behind(reference: string): Iterable<string> {
    for (const { step, port } of this.readersOf((one) => one === reference)) {
      const effect = effectOf(step.op);
      if (effect === undefined || effect.from !== port || effect.puts || effect.takes || isLink(step.op)) continue;
      for (const output of Object.keys(this.kindsOf(step.id))) yield* this.#behind(`${step.id}.${output}`);
    }
    yield reference;
  }

  /** A new step behind another one. */
  add(op: string, inputs: EditedStep["inputs"], after: string): EditedStep {
    const stem = op.split(".")[1] ?? op, taken = new Set(this.steps.map(({ id }) => id));
    let id = stem;
    for (let count = 2; taken.has(id); count++) id = `${stem}_${count}`;
    const step = { id, op, inputs, params: {} };
    this.steps.splice(this.steps.findIndex((one) => one.id === after) + 1, 0, step);
    return step;
  }

  /**
   * Another operation in a step: its inputs take the wires of the same name, or the same content in an accepted form; its
   * readers take the output of the same name, or the first of an accepted kind.
   * @param how whole: the other side is replaced too, and measurements without a source are removed; otherwise the operation
   *   must do the same to its content. keep: parameters that the new operation takes stay
   */
  replace(step: EditedStep, op: string, { whole = false, keep }: { whole?: boolean; keep: boolean }): void {
    if (!whole) this.#checkSameEffect(step, op);
    const contract = this.contract(op), content = effectOf(step.op)?.from, before = this.kindsOf(step.id);
    const measures = onlyReports(before);
    const wired = Object.entries(step.inputs).sort(([a], [b]) => Number(b === content) - Number(a === content));
    const inputs = Object.fromEntries(wired.filter(([port, reference]) => this.fits(op, port, reference)));
    const spare = wired.filter(([port]) => inputs[port] === undefined).map(([, reference]) => reference);
    for (const port of this.wiredPorts(op).filter((port) => inputs[port] === undefined)) {
      const found = spare.flatMap((reference) => [...this.around(reference)])
        .find((reference) => this.fits(op, port, reference)) ??
        (port === this.contentPort(op) || measures ? undefined : this.nearest(op, port, step.id));
      inputs[port] = found ?? refuse(
        spare.length === 0
          ? `${op} needs the input ${port}, and no earlier step gives it`
          : `${op} takes ${this.accepted(op, port).join(" or ")} at ${port}; ${spare[0]} is ${
            this.kindOf(spare[0]) ?? "unknown"
          }`,
      );
    }
    // What only helps, such as the pilots that were sent, is no content.
    const required = this.contract(step.op).input_kinds;
    const sources = new Set(wired.filter(([port]) => required[port] !== undefined).map(([, from]) => stepOf(from)));
    if (sources.size > 0 && !Object.values(inputs).some((one) => whole || sources.has(stepOf(one)))) {
      refuse(`${op} reads no input of ${step.id}`);
    }
    const compared = Object.entries(inputs).filter(([port]) => isReference(port)).map(([, reference]) => reference);
    if (new Set(Object.values(inputs)).size === 1 && compared.length === 1 && Object.keys(inputs).length > 1) {
      refuse(`${op} would compare ${compared[0]} with itself`);
    }
    const properties = propertiesOf(contract);
    const params = Object.entries(step.params).filter(([name, value]) =>
      keep && properties[name] !== undefined && checkValue(properties[name], value, [name]).length === 0
    );
    Object.assign(step, { op, inputs, params: Object.fromEntries(params) });
    const kinds = this.kindsOf(step.id);
    const readers = this.readersOf((reference) => stepOf(reference) === step.id);
    for (const reader of readers) {
      const wasReport = before[outputOf(reader.reference)] === REPORT;
      const outputs = Object.keys(kinds).filter((output) => (kinds[output] === REPORT) === wasReport);
      this.give(reader, [reader.reference, ...outputs.map((output) => `${step.id}.${output}`)], whole);
    }
    if (readers.length > 0 && readers.every(({ step: reader, port }) => reader.inputs[port] === undefined)) {
      refuse(`no reader of ${step.id} takes an output of ${op}`);
    }
  }

  /** @throws when one operation encodes, decodes, transmits or only measures, and the other does not */
  #checkSameEffect(step: EditedStep, op: string): void {
    const effect = (of: string) => [effectOf(of)?.puts, effectOf(of)?.takes, isLink(of)].join();
    const measures = onlyReports(this.kindsOf(step.id)) === onlyReports(this.contract(op).output_kinds);
    if (!measures || effect(step.op) !== effect(op)) refuse(`${op} does something else than ${step.op}`);
  }

  /** The last earlier output that an input accepts. */
  nearest(op: string, port: string, before: string): string | undefined {
    const index = this.steps.findIndex(({ id }) => id === before);
    const outputs = this.steps.slice(0, index).flatMap(({ id }) =>
      Object.keys(this.kindsOf(id)).map((output) => `${id}.${output}`)
    ).filter((reference) => this.fits(op, port, reference));
    return isReference(port) ? outputs[0] : outputs.at(-1);
  }

  /** Gives a reader the first source that it accepts; one that only measures, and finds none, is removed. */
  give({ step, port, reference }: Reader, sources: Iterable<string>, removable = true): void {
    for (const source of sources) {
      if (!this.fits(step.op, port, source)) continue;
      step.inputs[port] = source;
      return;
    }
    if (this.contracts.get(step.op)?.optional_input_kinds[port] !== undefined) delete step.inputs[port];
    else if (removable && this.isMeasurement(step)) this.drop(step.id);
    else refuse(`${step.id} needs ${this.accepted(step.op, port).join(" or ")} in place of ${reference}`);
  }

  /** Removes a step that no other step reads. */
  drop(id: string): void {
    this.steps.splice(this.steps.findIndex((step) => step.id === id), 1);
  }

  /** Records which output takes the place of a removed one. */
  move(from: string, to: string | undefined): void {
    if (to !== undefined) this.#moved.set(from, to);
  }

  /** The recipe of the draft, and its changes. */
  finish(): { recipe: JsonObject; changes: string[] } {
    const steps = inOrder(this.steps), byId = new Map(steps.map((step) => [step.id, step]));
    const changes: string[] = [];
    let recipe = this.recipe;
    for (const { stepId, param, dimension } of matrixFacts(recipe).bindings) {
      const step = byId.get(stepId), name = param.split(".")[0], was = this.#before.find(({ id }) => id === stepId);
      const contract = step && this.contracts.get(step.op);
      if (step !== undefined && (step.op === was?.op || (contract && propertiesOf(contract)[name] !== undefined))) {
        continue;
      }
      recipe = unbind(recipe, stepId, name);
      changes.push(`${stepId}.${param} is not swept by ${dimension} any more`);
    }
    for (const before of this.#before) {
      const step = byId.get(before.id);
      if (step === undefined) changes.push(`Removes ${before.id} (${before.op})`);
      else changes.push(...differences(before, step));
    }
    const known = new Set(this.#before.map(({ id }) => id));
    for (const { id, op, inputs } of steps) {
      if (!known.has(id)) changes.push(`Adds ${id} (${op}) after ${Object.values(inputs).join(", ") || "no step"}`);
    }
    const metadata = this.#counted(isObject(recipe.metadata) ? recipe.metadata : undefined, byId);
    const written = steps.map(({ inputs, params, ...rest }) => ({
      ...rest,
      ...(Object.keys(params).length > 0 ? { params } : {}),
      ...(Object.keys(inputs).length > 0 ? { inputs } : {}),
    }));
    return { recipe: asCustom({ ...recipe, ...(metadata && { metadata }), steps: written }), changes };
  }

  /** The metadata with a counting point that exists. */
  #counted(metadata: JsonObject | undefined, steps: ReadonlyMap<string, EditedStep>): JsonObject | undefined {
    const { rate_count_fixed_point: point, ...rest } = metadata ?? {};
    if (typeof point !== "string" || steps.has(point.split(".")[0])) return metadata;
    const moved = this.#moved.get(point);
    return moved === undefined ? rest : { ...rest, rate_count_fixed_point: moved };
  }
}

/** An input that takes what was sent, beside what was received. */
export const isReference = (port: string): boolean => port.startsWith("reference") || port === "truth";

function differences(before: EditedStep, step: EditedStep): string[] {
  const lines = before.op === step.op ? [] : [`${step.id}: ${step.op} in place of ${before.op}`];
  const lost = Object.keys(before.params).filter((name) => step.params[name] === undefined);
  if (lost.length > 0) lines.push(`${step.id} loses ${lost.join(", ")}`);
  for (const port of new Set([...Object.keys(before.inputs), ...Object.keys(step.inputs)])) {
    const [was, is] = [before.inputs[port], step.inputs[port]];
    if (was === is) continue;
    lines.push(
      is === undefined ? `${step.id}.${port} is not wired any more` : `${step.id}.${port} reads ${is}`,
    );
  }
  return lines;
}

/** Steps behind the sources of their inputs, otherwise in their order. */
function inOrder(steps: readonly EditedStep[]): EditedStep[] {
  const ids = new Set(steps.map(({ id }) => id)), placed = new Set<string>(), sorted: EditedStep[] = [];
  let open = [...steps];
  while (open.length > 0) {
    const next = open.find(({ inputs }) =>
      Object.values(inputs).every((from) => placed.has(stepOf(from)) || !ids.has(stepOf(from)))
    );
    if (next === undefined) refuse("The steps would read each other in a circle");
    placed.add(next.id);
    sorted.push(next);
    open = open.filter((step) => step !== next);
  }
  return sorted;
}
