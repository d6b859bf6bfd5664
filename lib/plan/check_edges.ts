/**
 * Checks the edges of a recipe: required inputs are connected, outputs exist, kinds match, and the source guarantees
 * required metadata. The compiler checks that references point to earlier steps.
 */
import { type Code, type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import type { Suggestions } from "../contract/nearest.ts";
import type { MetadataRequirement, OperationContract } from "../contract/operation.ts";
import type { OutputKinds } from "../contract/output_kinds.ts";
import type { StepDocument } from "../recipe/types.ts";

/** The steps of a recipe with the contracts of known operations. */
export interface Graph {
  readonly steps: readonly StepDocument[];
  /** Undefined where the operation is unknown or planned. */
  readonly contracts: readonly (OperationContract | undefined)[];
  /** Undefined where the operation, or the kind that an output takes from an input, is unknown. */
  readonly outputs: readonly (OutputKinds | undefined)[];
  /** Step id to index; the first index of a repeated id. */
  readonly position: ReadonlyMap<string, number>;
  readonly suggestions: Suggestions;
}

interface Source {
  index: number;
  output: string;
}

const inputPlace = (index: number, port: string): Place => ["steps", index, "inputs", port];

/** Reads `<step>.<output>`; null for another form. */
function readReference(text: unknown): { step: string; output: string } | null {
  if (typeof text !== "string") return null;
  const dot = text.indexOf(".");
  if (dot <= 0 || dot === text.length - 1 || text.indexOf(".", dot + 1) >= 0) return null;
  return { step: text.slice(0, dot), output: text.slice(dot + 1) };
}

/** The source of an input, if it is an earlier step of a known operation. */
function sourceOf(graph: Graph, index: number, port: string): Source | null {
  const reference = readReference(graph.steps[index].inputs[port]);
  const found = reference === null ? undefined : graph.position.get(reference.step);
  if (reference === null || found === undefined || found >= index || graph.outputs[found] === undefined) return null;
  return { index: found, output: reference.output };
}

/** Checks the inputs of a step with a known operation. */
export function checkInputs(graph: Graph, index: number): Diagnostic[] {
  const step = graph.steps[index], contract = graph.contracts[index]!;
  const problems: Diagnostic[] = [];
  const report = (code: Code, port: string, message: string, hint: string | null) =>
    problems.push(diagnostic(code, inputPlace(index, port), message, { hint, step_id: step.id }));
  const required = contract.input_kinds, optional = contract.optional_input_kinds;
  for (const port in required) {
    if (!Object.hasOwn(step.inputs, port)) {
      report(
        "input_missing",
        port,
        `Cannot run ${step.id} without its input ${port}`,
        fittingHint(graph, index, required[port], port) ?? `Connect an output of kind ${required[port].join(" or ")}`,
      );
    }
  }
  for (const port in step.inputs) {
    const kinds = Object.hasOwn(required, port)
      ? required[port]
      : Object.hasOwn(optional, port)
      ? optional[port]
      : null;
    if (kinds === null) {
      const known = [...Object.keys(required), ...Object.keys(optional)];
      const hint = known.length > 0 ? graph.suggestions.for(port, known) : `${contract.id} takes no inputs`;
      report("input_unexpected", port, `Cannot find an input ${port} of ${contract.id}`, hint);
      continue;
    }
    const source = sourceOf(graph, index, port);
    if (source === null) continue;
    const from = `${graph.steps[source.index].id}.${source.output}`;
    const outputs = graph.outputs[source.index]!;
    if (!Object.hasOwn(outputs, source.output)) {
      const names = Object.keys(outputs);
      const { id } = graph.steps[source.index];
      const near = graph.suggestions.for(source.output, names)?.replace(/^Did you mean /, `$&${id}.`) ?? null;
      report(
        "output_unavailable",
        port,
        `Cannot find an output ${source.output} of ${graph.contracts[source.index]!.id}`,
        names.length === 1 ? `Did you mean ${id}.${names[0]}?` : near,
      );
      continue;
    }
    const kind = outputs[source.output];
    if (!kinds.includes(kind)) {
      report(
        "kind_mismatch",
        port,
        `Cannot connect ${from} to ${step.id}.${port}: it has kind ${kind}, and ${kinds.join(" or ")} is required`,
        fittingHint(graph, index, kinds, port),
      );
      continue;
    }
    const requirements = contract.input_metadata_requirements;
    if (Object.hasOwn(requirements, port)) {
      const lacking = unmet(requirements[port], guaranteed(graph, source));
      if (lacking !== null) {
        report(
          "input_metadata_missing",
          port,
          `Cannot connect ${from} to ${step.id}.${port}: it does not guarantee the metadata ${lacking}`,
          metadataHint(graph, index, kinds, requirements[port]),
        );
      }
    }
  }
  return problems;
}

/** The last earlier output of one of these kinds that satisfies a condition. */
function lastFitting(graph: Graph, index: number, kinds: string[], fits: (source: Source) => boolean = () => true) {
  for (let earlier = index - 1; earlier >= 0; earlier--) {
    const outputs = graph.outputs[earlier] ?? {};
    const output = Object.keys(outputs).find((name) =>
      kinds.includes(outputs[name]) && fits({ index: earlier, output: name })
    );
    if (output !== undefined) return `${graph.steps[earlier].id}.${output}`;
  }
  return null;
}

/** The hint for an input of a wrong kind; an output of another input would compare a stream with itself. */
function fittingHint(graph: Graph, index: number, kinds: string[], port: string): string | null {
  const used = Object.keys(graph.steps[index].inputs).filter((other) => other !== port)
    .map((other) => sourceOf(graph, index, other));
  const fitting = lastFitting(
    graph,
    index,
    kinds,
    (source) => !used.some((other) => other?.index === source.index && other.output === source.output),
  );
  return fitting === null ? null : `Did you mean ${fitting}? Its kind matches`;
}

function metadataHint(graph: Graph, index: number, kinds: string[], requirement: MetadataRequirement): string | null {
  const fitting = lastFitting(graph, index, kinds, (source) => unmet(requirement, guaranteed(graph, source)) === null);
  return fitting === null ? null : `Did you mean ${fitting}? It guarantees them`;
}

/** The metadata that a requirement lacks, as text; null when it is met or the source is unknown. */
function unmet(requirement: MetadataRequirement, promised: ReadonlySet<string> | null): string | null {
  if (promised === null) return null;
  const covered = (path: string) => promised.has(path) || [...promised].some((known) => known.startsWith(path + "."));
  const lacking = (requirement.all_of ?? []).filter((path) => !covered(path));
  if (lacking.length > 0) return lacking.join(", ");
  const any = requirement.any_of ?? [];
  return any.length > 0 && !any.some(covered) ? any.join(" or ") : null;
}

const NOTHING: ReadonlySet<string> = new Set();

/**
 * Metadata paths that an output always carries: its own and those taken over from an input. Null when that input leads
 * to an unknown operation.
 */
function guaranteed(graph: Graph, source: Source): ReadonlySet<string> | null {
  const promise = graph.contracts[source.index]!.output_metadata_guarantees[source.output];
  if (promise === undefined) return NOTHING;
  const own = promise.keys ?? [];
  if (promise.from === undefined || !Object.hasOwn(graph.steps[source.index].inputs, promise.from)) return new Set(own);
  const origin = sourceOf(graph, source.index, promise.from);
  const inherited = origin === null ? null : guaranteed(graph, origin);
  return inherited === null ? null : new Set([...inherited, ...own]);
}
