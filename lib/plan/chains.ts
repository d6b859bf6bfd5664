/**
 * Chains: connected steps that work block by block together, so that long arrays need little memory. Their operations
 * declare `streaming`. A chain begins at sources; all inputs of its steps come from its own steps, and every output fits in a
 * file.
 */
import { plainParams } from "../contract/schema.ts";
import { MAX_ARCHIVE_BYTES } from "../artifact/zip_format.ts";
import type { OutputSize } from "../contract/operation.ts";
import { isObject } from "../contract/value.ts";
import type { CheckedStep } from "./check_steps.ts";
import type { Choice } from "./materialize.ts";

/** The part of a step that estimates read; without its materialisation where none is chosen yet. */
export type EstimatedStep = Pick<CheckedStep, "step" | "params" | "registered"> & { choice?: Choice };

/** Chains with smaller outputs run step by step: their arrays fit in the caches of a processor. An operation may need more. */
const LEAST_CHAIN_BYTES = 2 ** 23;

/**
 * The chains of a recipe.
 * @param sizes of every output, by `step.output`
 * @returns the number of the chain of each step that is in one, from 0 in order of their first steps
 */
export function chainsOf(
  steps: readonly EstimatedStep[],
  sizes: ReadonlyMap<string, OutputSize>,
  least = LEAST_CHAIN_BYTES,
  without: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, number> {
  // Most recipes are small.
  if (sizes.values().reduce((sum, { bytes }) => sum + bytes, 0) < least) return new Map();
  const chains: { ids: string[]; bytes: number; decoders: number }[] = [],
    chainOf = new Map<string, (typeof chains)[number]>();
  const late = new Set<string>();
  for (const { step, params, registered: { operation: { definition } }, choice } of steps) {
    // Native kernels take whole arrays.
    if (choice?.entry.backend === "cpp") continue;
    const { streaming, optionalInputs = {}, threadSafe } = definition;
    const outputs = Object.keys(definition.outputs).map((port) => sizes.get(`${step.id}.${port}`)!.bytes);
    if (outputs.some((bytes) => bytes >= MAX_ARCHIVE_BYTES) || without.has(step.id)) continue;
    if (streaming === undefined || !threadSafe || !(streaming.allows?.(plainParams(params)) ?? true)) continue;
    const readable = [...streaming.whole ?? [], ...streaming.optional ?? []];
    if (Object.keys(optionalInputs).some((port) => port in step.inputs && !readable.includes(port))) continue;
    const producers = Object.values(step.inputs)
      .map((source) => late.has(source) ? undefined : chainOf.get(source.split(".")[0]));
    if (producers.includes(undefined)) continue;
    const before = [...new Set(producers as typeof chains)];
    const chain = {
      ids: [step.id],
      bytes: outputs.reduce((sum, bytes) => sum + bytes, 0),
      decoders: before.reduce((sum, { decoders }) => sum + decoders, streaming.late === undefined ? 0 : 1),
    };
    // Decoders take long: more than one run side by side, each on the values that the chain has written.
    if (chain.decoders > 1) continue;
    for (const producer of before) {
      chain.ids.unshift(...producer.ids);
      chain.bytes += producer.bytes;
      chains.splice(chains.indexOf(producer), 1);
    }
    chains.push(chain);
    for (const id of chain.ids) chainOf.set(id, chain);
    for (const port of streaming.late ?? []) late.add(`${step.id}.${port}`);
  }
  const asking = new Map(
    steps.map(({ step, registered }) => [step.id, registered.operation.definition.streaming?.least]),
  );
  // Without their steps that need longer chains, shorter ones may still be long enough.
  const early = least === 0
    ? []
    : chains.flatMap(({ ids, bytes }) => ids.filter((id) => bytes < (asking.get(id) ?? 0)));
  if (early.length > 0) return chainsOf(steps, sizes, least, new Set([...without, ...early]));
  const long = chains.filter(({ ids, bytes }) => ids.length > 1 && bytes >= least);
  const order = steps.map(({ step }) => step.id);
  long.sort((a, b) => first(a.ids, order) - first(b.ids, order));
  return new Map(long.flatMap(({ ids }, number) => ids.map((id): [string, number] => [id, number])));
}

/** The steps that a plan has in chains; undefined for one of a version without chains. */
export function chainedSteps({ resources }: { resources?: unknown }): ReadonlySet<string> | undefined {
  const rows = isObject(resources) ? resources.per_step : undefined;
  if (!Array.isArray(rows)) return undefined;
  return new Set(
    rows.filter(isObject).filter(({ chain }) => chain !== undefined).map(({ step_id }) => String(step_id)),
  );
}

const first = (ids: readonly string[], order: readonly string[]) => Math.min(...ids.map((id) => order.indexOf(id)));
