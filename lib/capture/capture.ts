/**
 * Captures the arrays that flow over edges of a recipe as a dataset for training: runs of the part that its taps depend on,
 * cut into records, written as shards of NumPy arrays with everything that says where they came from.
 *
 * Same recipe, same configuration, same bytes: nothing written holds a clock, a path or a run id, and the number of workers
 * changes nothing.
 */
import { dirname, join, resolve } from "node:path";
import { openNpz, writeNpz } from "../artifact/npz.ts";
import { type Code, type Diagnostic, diagnostic, SvcError } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import { prettyJson } from "../contract/json.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { WorkerPool } from "../execute/pool.ts";
import type { CancellationToken } from "../execute/types.ts";
import { ndarray } from "../numeric/array/ndarray.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { checkOptions } from "../run/execution.ts";
import type { Workspace } from "../run/workspace.ts";
import { scenarioSha256 } from "../training/training_plan.ts";
import { Collected } from "./collected.ts";
import { type CaptureConfig, releasedSeeds, type Split } from "./config.ts";
import { CAPTURE_KIND, CaptureFolder, captureSiblings, checkPlace, SCHEMA_FILE, sweepCaptures } from "./folder.ts";
import { performRun, type RunMeans, type RunTaps } from "./perform_run.ts";
import { type CaptureSource, prepareCapture } from "./prepare.ts";
import { type CapturePoint, runRecipeOf, runSeed } from "./runs.ts";

export type CapturePhase =
  | "validating"
  | "preparing"
  | "executing"
  | "capturing"
  | "writing"
  | "finalizing"
  | "completed";

/** An event of a capture, without the id, sequence and time that its receiver adds. */
export interface CaptureEvent {
  kind: "capture_phase";
  level: "info" | "warning" | "error";
  message: string;
  fields: JsonObject;
}

export interface CaptureOptions extends CaptureSource {
  /** Identity of the plan that the configuration is of. */
  trainingPlanSha256?: string;
  /** Folder of the split; `dataset_captures/<recipe>/<split>` of the state directory when left out. */
  out?: string;
  /** Whether an earlier capture at that place gives way. */
  force?: boolean;
  workspace: Workspace;
  /** The folder as messages name it. */
  shownOut?: string;
  /** Largest size of the arrays of the split in bytes; no limit when left out. Fewer records are captured to meet it. */
  maxBytes?: number;
  /** Number of parallel runs; default 1. It never changes a byte. */
  parallelWorkers?: number;
  /** Whether runs begin that cannot fit by the estimate of their plan; false when left out. */
  ignoreEstimate?: boolean;
  cancellation: CancellationToken;
  onEvent?(event: CaptureEvent): void;
  pool?: WorkerPool;
}

/** The result of a capture. */
export interface CaptureResult extends JsonObject {
  status: "completed" | "canceled";
  recipe_name: string;
  split: Split;
  /** Absolute. */
  out: string;
  requested_samples: number;
  captured_samples: number;
  /** Records that are equal to an earlier one of the same split. */
  duplicate_records: number;
  number_of_shards: number;
  number_of_runs: number;
  /** SHA-256 of schema.json, which names the digests of all the rest; null when canceled. */
  schema_sha256: string | null;
  /** Warnings. */
  diagnostics: Diagnostic[];
}

/** File with the digest of every record, which finds records that two splits share. */
const DIGESTS_FILE = "record_digests.npz";

/**
 * Captures a split. It is written beside its place and put there when it is whole: after a failure, a cancellation or a
 * crash an earlier capture is unchanged.
 * @returns the captured records; fewer than requested, with a warning, where `max_runs` was reached first
 * @throws SvcError `recipe_invalid`, `plan_invalid`, `dataset_capture_invalid` with every problem and
 *   `capture_conflict` before anything is written; `capture_splits_overlap` when a record of another split beside it
 *   comes up again; `disk_reserve_reached`; and the code of a step that failed
 */
export async function captureDataset(options: CaptureOptions): Promise<CaptureResult> {
  const pool = options.pool ?? new WorkerPool();
  try {
    return await new Capture(options, pool).run();
  } finally {
    if (options.pool === undefined) pool.close();
  }
}

class Capture {
  readonly #options: CaptureOptions;
  readonly #means: RunMeans;
  readonly #workers: number;
  readonly #diagnostics: Diagnostic[] = [];

  constructor(options: CaptureOptions, pool: WorkerPool) {
    const { registry, workspace, readiness, cancellation, parallelWorkers = 1, ignoreEstimate } = options;
    this.#options = options;
    this.#workers = checkOptions({ parallelWorkers }).parallelWorkers;
    this.#means = { registry, workspace, readiness, cancellation, pool, parallelWorkers: 1, ignoreEstimate };
  }

  async run(): Promise<CaptureResult> {
    const { workspace, force = false } = this.#options;
    this.#phase("validating", "Checking the recipe and the configuration");
    const prepared = await prepareCapture(this.#options);
    const { recipe, scenario, config, points, master, released_seeds, name } = prepared;
    const out = resolve(this.#options.out ?? join(workspace.stateDir, prepared.place));
    const shown = this.#options.shownOut ?? out;
    sweepCaptures(dirname(out));
    checkPlace(out, force, shown);
    this.#warnOfSeeds(config, released_seeds, points.length);
    this.#diagnostics.push(...prepared.warnings);

    const { text, ...size } = prepared.size;
    this.#phase("preparing", `Preparing ${config.split} of ${name}: ${text}`, size);
    const folder = new CaptureFolder(out);
    try {
      const others = this.#otherSplits(out, config.split);
      const made = await this.#collect(recipe, config, points, master, folder, others);
      if (made === null) return this.#result("canceled", name, config, out, null);
      this.#phase("finalizing", "Writing the provenance of the records");
      const schema = this.#documents({ recipe, scenario, config, points, master, released_seeds, name }, made, folder);
      // Another capture may have come to that place meanwhile.
      checkPlace(out, force, shown);
      folder.commit();
      this.#phase("completed", `Captured ${made.captured} records`, { captured_samples: made.captured });
      return this.#result("completed", name, config, out, { made, schema });
    } finally {
      folder.release();
    }
  }

  #warnOfSeeds(config: CaptureConfig, released: readonly string[], points: number): void {
    this.#diagnostics.push(...releasedSeeds(released));
    if (config.seed_mode === "fixed_seed" && config.samples > points) {
      this.#warn("capture_seed_fixed", "All runs at one point draw the same numbers", {
        hint: "Use seed_mode: increment_run_seed for records that differ",
      });
    }
  }

  /** Digests of the records of the other splits that lie beside this one. */
  #otherSplits(out: string, split: Split): Map<string, string> {
    const digests = new Map<string, string>();
    for (const { folder, schema } of captureSiblings(out)) {
      if (schema.split === split) continue;
      const path = join(folder, DIGESTS_FILE);
      let bytes: Uint8Array;
      try {
        bytes = Deno.readFileSync(path);
      } catch (error) {
        throw new SvcError(
          "capture_conflict",
          `Cannot compare with the split ${schema.split}: ${path} cannot be read`,
          {
            hint: "Capture that split again, or remove it",
            cause: error,
          },
        );
      }
      const { data } = openNpz(bytes, path).array("record_sha256");
      const flat = data as Uint8Array<ArrayBuffer>;
      for (let at = 0; at < flat.length; at += 32) digests.set(flat.slice(at, at + 32).toHex(), String(schema.split));
    }
    return digests;
  }

  /** Runs until the records are there; null when canceled. */
  async #collect(
    recipe: RecipeDocument,
    config: CaptureConfig,
    points: readonly CapturePoint[],
    master: number | bigint,
    folder: CaptureFolder,
    others: ReadonlyMap<string, string>,
  ): Promise<Collected | null> {
    const collected = new Collected(
      config,
      others,
      folder,
      (message, fields) => this.#phase("writing", message, fields),
      this.#options.maxBytes,
    );
    const safe = recipe.steps.every(({ op }) => this.#means.registry.get(op).operation.definition.threadSafe);
    // A seed that counts shards is known when the records before it are.
    const ahead = safe && config.seed_mode !== "recipe_seed_plus_shard" ? this.#workers : 1;
    const underWay: Promise<RunTaps | null>[] = [];
    let next = 0, reported = -1;
    const begin = () => {
      const run = next++, point = points[run % points.length];
      const shard = Math.floor(collected.captured / config.shard_size);
      const seed = runSeed(master, config, { run, shard });
      collected.planned.push({ run, point, seed });
      const started = performRun(
        runRecipeOf(point, seed, run),
        config.taps,
        join(folder.scratch, String(run)),
        this.#means,
      );
      // One that is waited for later may fail earlier.
      started.catch(() => {});
      underWay.push(started);
    };
    this.#phase("executing", `Running ${recipe.steps.map(({ id }) => id).join(", ")}`);
    try {
      while (!collected.full) {
        if (this.#means.cancellation.isCancelled) return null;
        while (underWay.length < ahead && next < config.max_runs && collected.mayNeed(next)) begin();
        const first = underWay.shift();
        if (first === undefined) break;
        const taps = await first;
        if (taps === null) return null;
        collected.add(taps);
        const percent = Math.floor(100 * collected.captured / config.samples);
        if (percent === reported) continue;
        reported = percent;
        this.#phase("capturing", `${collected.captured} of ${config.samples} records`, {
          completed: collected.captured,
          total: config.samples,
        });
      }
    } finally {
      await Promise.allSettled(underWay);
    }
    collected.flush();
    if (collected.limited) {
      const { maxBytes = 0 } = this.#options;
      this.#warn("capture_short", `Only ${collected.captured} of ${config.samples} records fit ${maxBytes} bytes`, {
        hint: "Raise max_bytes, or make the arrays of the recipe smaller",
      });
    } else if (!collected.full) {
      this.#warn("capture_short", `Only ${collected.captured} of ${config.samples} records came of ${next} runs`, {
        hint: "Raise max_runs",
      });
    }
    if (collected.duplicates > 0) {
      this.#warn("capture_duplicates", `${collected.duplicates} records are equal to earlier ones`, {
        hint: "The scenario has fewer distinct records, or seed_mode repeats them",
      });
    }
    return collected;
  }

  /** All files besides the shards. @returns the digest of schema.json */
  #documents(context: DocumentContext, made: Collected, folder: CaptureFolder): string {
    const { recipe, scenario, config, master, released_seeds, name } = context;
    const { data, shape } = { data: made.digests(), shape: [made.captured, 32] };
    const files = new Map<string, Uint8Array>();
    const add = (path: string, document: JsonObject) => files.set(path, new TextEncoder().encode(prettyJson(document)));
    files.set(DIGESTS_FILE, writeNpz({ record_sha256: ndarray("uint8", data, shape) }));
    add("recipe.json", recipe);
    const tap_schemas = made.tapSchemas(recipe);
    const taps = config.taps.map((tap) => ({ ...tap }));
    add("tap_manifest.json", { schema_version: 1, kind: "svc.capture_tap_manifest", taps: tap_schemas });
    const channel = made.channelDistribution(), matrix = made.pointDistribution();
    add("channel_distribution.json", {
      schema_version: 1,
      kind: "svc.capture_channel_distribution",
      channels: channel,
    });
    const swept = Object.keys(config.sweep).length > 0;
    add("matrix_distribution.json", {
      schema_version: 1,
      kind: "svc.capture_matrix_distribution",
      matrix_mode: config.matrix_mode,
      points: swept ? [] : matrix,
    });
    add("split.json", {
      schema_version: 1,
      kind: "svc.capture_split",
      split: config.split,
      records: made.captured,
      duplicate_records: made.duplicates,
      records_sha256: sha256Hex(data),
      disjoint_from: made.disjointFrom,
    });
    for (const [path, bytes] of files) folder.write(path, bytes);
    const schema: JsonObject = {
      schema_version: 1,
      kind: CAPTURE_KIND,
      recipe: name,
      recipe_sha256: sha256Json(recipe),
      ...identities(scenario, this.#options.trainingPlanSha256 ?? null),
      split: config.split,
      requested_samples: config.samples,
      captured_samples: made.captured,
      number_of_shards: made.shards.length,
      shard_format: "npz",
      shard_size: config.shard_size,
      shards: made.shards,
      seed_policy: {
        mode: config.seed_mode,
        seed_namespace: recipe.metadata.seed_namespace,
        released_seeds,
      },
      master_seed: master,
      channel_distribution: channel,
      matrix_distribution: swept ? [] : matrix,
      sweep_distribution: swept ? matrix : [],
      taps,
      tap_schemas,
      runs: made.runs,
      files: Object.fromEntries([...files].map(([path, bytes]) => [path, sha256Hex(bytes)])),
    };
    const bytes = new TextEncoder().encode(prettyJson(schema));
    folder.write(SCHEMA_FILE, bytes);
    return sha256Hex(bytes);
  }

  #result(
    status: CaptureResult["status"],
    recipe_name: string,
    config: CaptureConfig,
    out: string,
    done: { made: Collected; schema: string } | null,
  ): CaptureResult {
    return {
      status,
      recipe_name,
      split: config.split,
      out,
      requested_samples: config.samples,
      captured_samples: done?.made.captured ?? 0,
      duplicate_records: done?.made.duplicates ?? 0,
      number_of_shards: done?.made.shards.length ?? 0,
      number_of_runs: done?.made.runs.length ?? 0,
      schema_sha256: done?.schema ?? null,
      diagnostics: this.#diagnostics,
    };
  }

  #warn(code: Code, message: string, { hint }: { hint: string }): void {
    this.#diagnostics.push(diagnostic(code, ["dataset_capture"], message, { hint, severity: "warning" }));
  }

  #phase(phase: CapturePhase, message: string, more: JsonObject = {}): void {
    this.#options.onEvent?.({ kind: "capture_phase", level: "info", message, fields: { phase, ...more } });
  }
}

/** The scenario of a capture: named by an exported capture recipe; any other recipe is the scenario itself. */
function identities(scenario: RecipeDocument, plan: string | null): JsonObject {
  const { capture_of: source } = scenario.metadata;
  if (!isObject(source)) return { scenario_sha256: scenarioSha256(scenario), training_plan_sha256: plan };
  const { scenario_sha256 = null, training_plan_sha256 = null } = source;
  return { scenario_sha256, training_plan_sha256 };
}

interface DocumentContext {
  recipe: RecipeDocument;
  scenario: RecipeDocument;
  config: CaptureConfig;
  points: readonly CapturePoint[];
  master: number | bigint;
  released_seeds: string[];
  name: string;
}
