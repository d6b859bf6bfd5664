/** One run of a capture: planned for the runner `dataset_capture`, executed in a folder that does not last, its taps kept. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { METADATA_MEMBER } from "../artifact/codec.ts";
import { openNpz } from "../artifact/npz.ts";
import { refusal, SvcError } from "../contract/error.ts";
import type { Registry } from "../contract/registry.ts";
import type { JsonObject } from "../contract/value.ts";
import { executePlan } from "../execute/execute.ts";
import type { WorkerPool } from "../execute/pool.ts";
import type { CancellationToken, StepRow } from "../execute/types.ts";
import { planRecipe } from "../plan/planner.ts";
import type { Readiness } from "../plan/types.ts";
import { compileRecipe } from "../recipe/compile.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { checkResources } from "../run/resources.ts";
import type { Workspace } from "../run/workspace.ts";
import type { Tap } from "./config.ts";
import { cutCompanion, cutTaps, type Records } from "./records.ts";

export interface RunMeans {
  registry: Registry;
  workspace: Workspace;
  readiness?: Readiness;
  cancellation: CancellationToken;
  pool: WorkerPool;
  parallelWorkers: number;
  ignoreEstimate?: boolean;
}

/** The result of a run: taps and identity. */
export interface RunTaps {
  name: string;
  effective: RecipeDocument;
  effective_sha256: string;
  plan_sha256: string;
  /** Arrays by their name in the shards, all with the same number of records. */
  arrays: Map<string, Records>;
  taps: TapSource[];
  records: number;
}

/** The artifact that a tap was read from. */
export interface TapSource {
  tap: Tap;
  /** Names of its arrays in the shards, the main one first. */
  names: string[];
  kind: string;
  metadata: JsonObject;
  sha256: string;
}

/** Name of a further array of a tap. */
const companionName = (id: string, array: string): string => `${id}__${array}`;

/**
 * Compiles and plans a run.
 * @param means `lint`: severity of findings of the lint of links, which is left out by default
 * @throws SvcError `recipe_invalid`, `plan_invalid` with every finding
 */
export async function planRun(
  recipe: RecipeDocument,
  { registry, readiness, lint }: Pick<RunMeans, "registry" | "readiness"> & { lint?: "warning" | "error" },
) {
  const compilation = compileRecipe(recipe, { mode: "strict", registry, captureJob: true });
  const planned = await planRecipe(compilation, {
    registry,
    readiness,
    runner: "dataset_capture",
    singleRun: true,
    lint,
    // Every run has a seed and so a plan of its own; none of them would be asked for again.
    usePlanCache: false,
  });
  if (planned.status === "planned") return planned;
  throw compilation.status === "invalid"
    ? refusal("recipe_invalid", "Cannot compile the capture recipe", planned.diagnostics)
    : refusal("plan_invalid", "Cannot plan the capture recipe", planned.diagnostics);
}

/**
 * Performs a run.
 * @param folder of its own, which is gone when this returns
 * @returns null when it was canceled
 * @throws SvcError with the code of what failed
 */
export async function performRun(
  recipe: RecipeDocument,
  wanted: readonly Tap[],
  folder: string,
  means: RunMeans,
): Promise<RunTaps | null> {
  const { plan, recipe: effective } = await planRun(recipe, means);
  const { registry, workspace: { projectRoot, stateDir }, cancellation, pool, parallelWorkers } = means;
  if (!means.ignoreEstimate) checkResources(plan, folder);
  const rows = new Map<string, StepRow>();
  try {
    const outcome = await executePlan({
      plan,
      recipe: effective,
      registry,
      bundle: folder,
      projectRoot,
      stateDir,
      parallelWorkers,
      cancellation,
      trainedArtifact: means.readiness?.trainedArtifact,
      findModel: means.readiness?.model,
      onStep: (row) => rows.set(row.id, row),
      pool,
    });
    if (outcome.status === "canceled") return null;
    if (outcome.status === "failed") {
      const { step_id = null, code = "operation_failed" } = outcome.failure ?? {};
      const where = step_id === null ? "" : ` at ${step_id}`;
      throw new SvcError("run_failed", `Cannot capture from ${recipe.name}: it failed${where}: ${outcome.error}`, {
        extra: { failure: { step_id, code } },
      });
    }
    const { arrays, taps } = readTaps(wanted, rows, folder);
    const counts = taps.map(({ tap: { id } }) => [id, arrays.get(id)!.count] as const);
    const [[firstId, records]] = counts;
    const other = counts.find(([, count]) => count !== records);
    if (other !== undefined) {
      throw new SvcError(
        "dataset_capture_invalid",
        `Cannot pair the taps: ${firstId} has ${records} records and ${other[0]} has ${other[1]}`,
        { hint: "Write record: run at a tap whose whole array is one record" },
      );
    }
    return {
      name: recipe.name,
      effective,
      effective_sha256: String(plan.recipe.sha256),
      plan_sha256: plan.sha256,
      arrays,
      taps,
      records,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readTaps(
  wanted: readonly Tap[],
  rows: ReadonlyMap<string, StepRow>,
  folder: string,
): Pick<RunTaps, "arrays" | "taps"> {
  const read = wanted.map((tap) => {
    const [stepId, port] = tap.from.split(".");
    const output = rows.get(stepId)!.outputs[port];
    const file = openNpz(Deno.readFileSync(join(folder, output.path)), tap.from);
    const main = file.array(tap.array ?? port);
    const others = tap.array !== undefined
      ? []
      : file.names.filter((name) => name !== port && name !== METADATA_MEMBER);
    const companions = others.map((name) => [companionName(tap.id, name), file.array(name)] as const);
    return { tap, output, main, companions };
  });
  const mains = cutTaps(read.map(({ tap: { from, record }, output: { metadata }, main: array }) => ({
    array,
    metadata,
    from,
    perRun: record === "run",
  })));
  const arrays = new Map<string, Records>();
  const taps = read.map(({ tap, output: { kind, metadata, sha256 }, companions }, index): TapSource => {
    arrays.set(tap.id, mains[index]);
    for (const [name, array] of companions) arrays.set(name, cutCompanion(array, mains[index]));
    return { tap, names: [tap.id, ...companions.map(([name]) => name)], kind, metadata, sha256 };
  });
  return { arrays, taps };
}
