/** Shipped packs at a smaller size: with some entries, some points of every curve, or other parameters of steps. */
import assert from "node:assert/strict";
import { basename, dirname, join, relative, resolve } from "node:path";
import { prettyJson } from "../../lib/contract/json.ts";
import type { JsonObject, Value } from "../../lib/contract/value.ts";
import { parseYaml } from "../../lib/contract/yaml.ts";
import { ROOT_PATH } from "./paths.ts";
import { reducedSizes, type Step } from "./reduced_sizes.ts";

type Pack = JsonObject & { recipes: Entry[]; baselines?: string[] };
type Entry = JsonObject & {
  path: string;
  params?: JsonObject & { method_id?: string; step_params?: Record<string, JsonObject> };
  matrix?: JsonObject & { dimensions: Record<string, Value[]> };
};

const fileOf = (name: string) => join(ROOT_PATH, "benchmarks", `${name}.yaml`);

/** Writes a changed pack. @returns its path */
async function changedPack(folder: string, source: string, change: (pack: Pack) => Pack): Promise<string> {
  const pack = change(parseYaml(await Deno.readTextFile(source)) as Pack);
  const recipes = pack.recipes.map((entry) => ({
    ...entry,
    path: relative(folder, resolve(dirname(source), entry.path)),
  }));
  const file = join(folder, `${basename(source, ".yaml")}.json`);
  await Deno.writeTextFile(file, prettyJson({ ...pack, recipes }));
  return file;
}

/** An entry with some values of each dimension of its matrix. */
const withValues = (entry: Entry, choose: (values: Value[]) => Value[]): Entry =>
  entry.matrix === undefined ? entry : {
    ...entry,
    matrix: {
      ...entry.matrix,
      dimensions: Object.fromEntries(
        Object.entries(entry.matrix.dimensions).map(([name, values]) => [name, choose(values)]),
      ),
    },
  };

/**
 * Writes a pack with some points of every matrix.
 * @param name `<suite>/<id>` of the pack
 * @param points positions on each curve
 */
export function reducedPack(folder: string, name: string, points: readonly number[]): Promise<string> {
  const choose = (values: Value[]) => {
    assert.ok(points.every((point) => point < values.length));
    return points.map((point) => values[point]);
  };
  return changedPack(
    folder,
    fileOf(name),
    (pack) => ({ ...pack, recipes: pack.recipes.map((entry) => withValues(entry, choose)) }),
  );
}

/** Packs whose dataset or budget counts the items. */
const COUNTED = ["text_transceiver_v1"];
export const isCounted = (file: string): boolean => COUNTED.includes(basename(file, ".yaml"));

/** An entry whose sources give fewer items. */
async function small(source: string, entry: Entry): Promise<Entry> {
  const file = resolve(dirname(source), entry.path), own = entry.params?.step_params ?? {};
  const { steps } = parseYaml(await Deno.readTextFile(file)) as object as { steps: Step[] };
  const changed = reducedSizes(basename(file, ".yaml"), steps, own);
  const merged = Object.entries(changed).map(([id, params]) => [id, { ...own[id], ...params }]);
  return { ...entry, params: { ...entry.params, step_params: { ...own, ...Object.fromEntries(merged) } } };
}

/**
 * Writes a pack with few items and, of each method and each matrix, the first and the last entry.
 * @param end only one of both, the same for all methods, so that a comparison keeps its pairs
 */
export async function packOfEnds(folder: string, source: string, end?: "first" | "last"): Promise<string> {
  const first = <T>(items: readonly T[]) => items.slice(0, 1), last = <T>(items: readonly T[]) => items.slice(-1);
  const both = <T>(items: readonly T[]) => items.filter((_, index) => index === 0 || index === items.length - 1);
  const ends = end === undefined ? both : end === "first" ? first : last;
  const { recipes, baselines } = parseYaml(await Deno.readTextFile(source)) as Pack;
  const counted = isCounted(source);
  const reduced = new Map(
    await Promise.all(recipes.map(async (entry) => [entry.id, counted ? entry : await small(source, entry)] as const)),
  );
  return await changedPack(folder, source, (pack) => {
    const methods = Object.values(Object.groupBy(pack.recipes, ({ id, params }) => String(params?.method_id ?? id)));
    const chosen = (choose: typeof ends) => methods.flatMap((entries) => choose(entries!));
    const isNamed = ({ id }: Entry) => baselines?.includes(id as string) ?? false;
    // A baseline that the pack names stays, and with it the candidates of its condition.
    const kept = pack.recipes.filter(isNamed).every((entry) => chosen(ends).includes(entry))
      ? chosen(ends)
      : chosen(both);
    const recipes = pack.recipes.filter((entry) => kept.includes(entry)).map(({ id }) =>
      withValues(reduced.get(id)!, ends)
    );
    return { ...pack, recipes };
  });
}

/**
 * Writes a pack with some of its entries, and other parameters of steps.
 * @param isKept the entries, by their ids
 * @param paramsOf parameters by step, of an entry
 */
export function packOfEntries(
  folder: string,
  name: string,
  isKept: (id: string) => boolean,
  paramsOf: (id: string) => Record<string, JsonObject> = () => ({}),
): Promise<string> {
  return changedPack(folder, fileOf(name), (pack) => ({
    ...pack,
    recipes: pack.recipes.filter(({ id }) => isKept(String(id))).map((entry) => {
      const steps = { ...entry.params?.step_params };
      for (const [step, params] of Object.entries(paramsOf(String(entry.id)))) {
        steps[step] = { ...steps[step], ...params };
      }
      return { ...entry, params: { ...entry.params, step_params: steps } };
    }),
  }));
}
