/**
 * Checks how steps are connected: every required input is there, outputs exist, kinds fit, and required metadata is
 * guaranteed by what produces the input. That references point to earlier steps is the compiler's finding.
 */
import { type Diagnostic, diagnostic, type Place } from "../contract/error.ts";
import { didYouMean, nearestName } from "../contract/nearest.ts";
import type { MetadataGuarantee, MetadataRequirement, OperationContract } from "../contract/operation.ts";
import type { StepDocument } from "../recipe/types.ts";

/** The steps of a recipe with the contracts of the operations that are known. */
export interface Graph {
  readonly steps: readonly StepDocument[];
  /** Undefined where the operation is unknown or planned. */
  readonly contracts: readonly (OperationContract | undefined)[];
  /** Step id to its index; of a repeated id the first. */
  readonly position: ReadonlyMap<string, number>;
}

interface Source {
  index: number;
  output: string;
}

const inputPlace = (index: number, port: string): Place => ["steps", index, "inputs", port];

/** Reads `<step>.<output>`; null when it does not have that form. */
function readReference(text: unknown): { step: string; output: string } | null {
  if (typeof text !== "string") return null;
  const dot = text.indexOf(".");
  if (dot <= 0 || dot === text.length - 1 || text.indexOf(".", dot + 1) >= 0) return null;
  return { step: text.slice(0, dot), output: text.slice(dot + 1) };
}

/** Where an input comes from, when that is an earlier step of a known operation. */
function sourceOf(graph: Graph, index: number, port: string): Source | null {
  const reference = readReference(graph.steps[index].inputs[port]);
  const found = reference === null ? undefined : graph.position.get(reference.step);
  if (reference === null || found === undefined || found >= index || graph.contracts[found] === undefined) return null;
  return { index: found, output: reference.output };
}

/** Checks the inputs of one step, whose operation is known. */
export function checkInputs(graph: Graph, index: number): Diagnostic[] {
  const step = graph.steps[index], contract = graph.contracts[index]!;
  const problems: Diagnostic[] = [];
  const report = (code: string, port: string, message: string, hint: string | null) =>
    problems.push(diagnostic(code, inputPlace(index, port), message, { hint, step_id: step.id }));
  const required = contract.input_kinds, optional = contract.optional_input_kinds;
  for (const port in required) {
    if (!Object.hasOwn(step.inputs, port)) {
      report(
        "input_missing",
        port,
        `Cannot run ${step.id} without its input ${port}`,
        fittingHint(graph, index, required[port]) ?? `Connect an output of kind ${required[port].join(" or ")}`,
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
      const hint = known.length > 0 ? didYouMean(port, known) : `${contract.id} takes no inputs`;
      report("input_unexpected", port, `Cannot find an input ${port} of ${contract.id}`, hint);
      continue;
    }
    const source = sourceOf(graph, index, port);
    if (source === null) continue;
    const from = `${graph.steps[source.index].id}.${source.output}`;
    const outputs = graph.contracts[source.index]!.output_kinds;
    if (!Object.hasOwn(outputs, source.output)) {
      const names = Object.keys(outputs);
      const hint = nearestName(source.output, names) ?? (names.length === 1 ? names[0] : null);
      report(
        "output_unavailable",
        port,
        `Cannot find an output ${source.output} of ${graph.contracts[source.index]!.id}`,
        hint === null ? didYouMean(source.output, names) : `Did you mean ${graph.steps[source.index].id}.${hint}?`,
      );
      continue;
    }
    const kind = outputs[source.output];
    if (!kinds.includes(kind)) {
      report(
        "kind_mismatch",
        port,
        `Cannot connect ${from} to ${step.id}.${port}: it gives ${kind}, and ${kinds.join(" or ")} is needed`,
        fittingHint(graph, index, kinds),
      );
      continue;
    }
    const requirement = contract.input_metadata_requirements as { [port: string]: MetadataRequirement } | undefined;
    if (requirement !== undefined && Object.hasOwn(requirement, port)) {
      const lacking = unmet(requirement[port], guaranteed(graph, source));
      if (lacking !== null) {
        report(
          "input_metadata_missing",
          port,
          `Cannot connect ${from} to ${step.id}.${port}: it does not promise the metadata ${lacking}`,
          metadataHint(graph, index, kinds, requirement[port]),
        );
      }
    }
  }
  return problems;
}

/** The last earlier output of one of these kinds that satisfies a condition. */
function lastFitting(graph: Graph, index: number, kinds: string[], fits: (source: Source) => boolean = () => true) {
  for (let earlier = index - 1; earlier >= 0; earlier--) {
    const outputs = graph.contracts[earlier]?.output_kinds ?? {};
    const output = Object.keys(outputs).find((name) =>
      kinds.includes(outputs[name]) && fits({ index: earlier, output: name })
    );
    if (output !== undefined) return `${graph.steps[earlier].id}.${output}`;
  }
  return null;
}

function fittingHint(graph: Graph, index: number, kinds: string[]): string | null {
  const fitting = lastFitting(graph, index, kinds);
  return fitting === null ? null : `Did you mean ${fitting}? Its kind fits`;
}

function metadataHint(graph: Graph, index: number, kinds: string[], requirement: MetadataRequirement): string | null {
  const fitting = lastFitting(graph, index, kinds, (source) => unmet(requirement, guaranteed(graph, source)) === null);
  return fitting === null ? null : `Did you mean ${fitting}? It promises them`;
}

/** What a requirement lacks, in words; null when it is met or nothing is known about the producer. */
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
 * The metadata paths that an output always carries: its own, and those of the input it takes its metadata from. Null
 * when that input leads to a step about which nothing is known.
 */
function guaranteed(graph: Graph, source: Source): ReadonlySet<string> | null {
  const guarantees = graph.contracts[source.index]!.output_metadata_guarantees as
    | { [output: string]: MetadataGuarantee }
    | undefined;
  const promise = guarantees?.[source.output];
  if (promise === undefined) return NOTHING;
  const own = promise.keys ?? [];
  if (promise.from === undefined || !Object.hasOwn(graph.steps[source.index].inputs, promise.from)) return new Set(own);
  const origin = sourceOf(graph, source.index, promise.from);
  const inherited = origin === null ? null : guaranteed(graph, origin);
  return inherited === null ? null : new Set([...inherited, ...own]);
}
