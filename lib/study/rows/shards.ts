/**
 * Rows of a benchmark that several machines make. Row r (replicate by replicate, each in the order of the pack) belongs to
 * shard r mod N. A shard is an ordinary benchmark of its rows in a folder of its own; the merge is a benchmark that takes
 * its rows from shards, so it stops where one machine stops and has the same view.
 *
 * With a stopping rule a shard knows a part of the replicates. It looks at the end of each wave: a recipe ends where the
 * replicates of all shards that can be read meet the rule without a gap, or else where its own rows meet it alone.
 */
import { inside } from "../../artifact/inside.ts";
import { join } from "node:path";
import { messageOf, SvcError } from "../../contract/error.ts";
import { canonicalJson, sameValue } from "../../contract/json.ts";
import type { JsonObject } from "../../contract/value.ts";
import { readDocument } from "../../run/read.ts";
import { openWorkspace, type Workspace } from "../../run/workspace.ts";
import { readSnapshot, snapshotBytes } from "./evidence.ts";
import { History } from "./history.ts";
import { LedgerIndex, rowKey, type Shard } from "./ledger.ts";
import { computable } from "./result.ts";
import { sampleOf } from "../pack/samples.ts";
import { stopReason } from "./stop.ts";
import { benchmarkWorkspace, resultIds } from "./store.ts";
import { Tally } from "./tally.ts";
import type { RowChecks } from "./row_checks.ts";
import {
  LEDGER_FILE,
  type LedgerEvent,
  type PackMetric,
  type Replication,
  RESULT_FILE,
  type ResultRow,
  SCHEMA_VERSION,
  type Snapshot,
  type StartFields,
  type TerminalStatus,
} from "../pack/types.ts";
import { viewOfRow } from "./view.ts";

export interface ShardOptions extends Shard {
  /** Replicates between two looks at the stopping rule; default 10. */
  wave?: number;
  /** Folders of other shards, to stop as soon as all together have enough. */
  peers?: readonly string[];
  /** Least number of replicates before the own rows may end a recipe; after a merge that asked for more. */
  least?: number;
}

export const DEFAULT_WAVE = 10;

/** The workspace of a shard: its runs and its result are in its folder. */
export const shardWorkspace = ({ projectRoot, onnxAccelerator }: Workspace, folder: string): Workspace =>
  openWorkspace({ projectRoot, stateDir: folder, onnxAccelerator });

/** The result of a shard; null before it began. */
export function shardResult(folder: string): { id: string; directory: string; index: LedgerIndex } | null {
  const workspace = openWorkspace({ stateDir: folder });
  const [id] = resultIds(workspace).sort();
  if (id === undefined) return null;
  const directory = join(benchmarkWorkspace(workspace).runs, id);
  return { id, directory, index: new LedgerIndex(inside(directory, LEDGER_FILE)) };
}

const shardDocument = (folder: string) =>
  trusted(folder, () => readDocument(shardResult(folder)!.directory, RESULT_FILE) as JsonObject);

/** The metrics of the pack that shards make; null before the first has begun. @throws SvcError `shard_conflict` */
export function shardMetrics(folders: readonly string[]): PackMetric[] | null {
  const begun = folders.find((folder) => shardResult(folder) !== null);
  return begun === undefined ? null : (shardDocument(begun).benchmark as { metrics: PackMetric[] }).metrics;
}

/**
 * Rows of earlier schema versions do not hold the failed units that statistics need.
 * @throws SvcError `result_schema_old`
 */
export function refuseOldRows({ schema_version: version }: { schema_version?: unknown }, what: string): void {
  if (Number(version) >= SCHEMA_VERSION) return;
  throw new SvcError("result_schema_old", `Cannot ${what}: its rows are of schema version ${version}`, {
    hint: `Rows of schema version ${SCHEMA_VERSION} hold the failed units of each rate: run the benchmark again`,
  });
}

/** @throws SvcError `shard_conflict` for what is wrong with a shard */
function trusted<T>(folder: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new SvcError("shard_conflict", `Cannot use the shard ${folder}: ${messageOf(error)}`, { cause: error });
  }
}

/** The rows of several shards together. */
export class ShardedRows {
  readonly #folders: readonly string[];
  readonly #shards = new Map<string, NonNullable<ReturnType<typeof shardResult>>>();
  #metrics: readonly PackMetric[] | null = null;
  readonly #rules = new Map<string, { tally: Tally; replicates: number; stopped: boolean }>();

  /** @param onEvent receives the events of each folder once, in their order */
  constructor(folders: readonly string[], private readonly onEvent?: (folder: string, event: LedgerEvent) => void) {
    this.#folders = folders;
  }

  /** Reads what the shards have appended. @throws SvcError `shard_conflict` for a ledger that cannot be trusted */
  advance(): void {
    for (const folder of this.#folders) {
      const shard = this.#shards.get(folder) ?? shardResult(folder);
      if (shard === null) continue;
      if (!this.#shards.has(folder)) {
        if (this.#metrics !== null) new History(shard.index, this.#metrics);
        else shard.index.onEvent = (event) => this.onEvent?.(folder, event);
      }
      this.#shards.set(folder, shard);
      trusted(folder, () => shard.index.advance());
    }
  }

  /** The start record of the first shard that has begun, without reading its rows. @throws SvcError `shard_conflict` */
  firstStart(): StartFields | null {
    for (const folder of this.#folders) {
      const directory = shardResult(folder)?.directory;
      if (directory === undefined) continue;
      const { start } = trusted(folder, () => new LedgerIndex(inside(directory, LEDGER_FILE)).advance(1));
      if (start !== null) return start.fields;
    }
    return null;
  }

  /** Checks from the first event on that each shard was made as the program makes it. @param metrics of the pack */
  follow(metrics: readonly PackMetric[]): void {
    this.#metrics = metrics;
  }

  /** The start record of each shard that has begun, by its folder. */
  starts(): Map<string, StartFields> {
    const begun = [...this.#shards].filter(([, { index }]) => index.start !== null);
    return new Map(begun.map(([folder, { index }]) => [folder, index.start!.fields]));
  }

  /** Number of rows of all shards. */
  get rowCount(): number {
    return this.#folders.reduce((sum, folder) => sum + this.countOf(folder), 0);
  }

  /** Number of rows of a shard. */
  countOf(folder: string): number {
    return this.#shards.get(folder)?.index.rowCount ?? 0;
  }

  /** How a shard ended; null while it is made, or when its process was killed. */
  endOf(folder: string): TerminalStatus | null {
    return this.#shards.get(folder)?.index.end?.status ?? null;
  }

  #holder(recipeId: string, replicate: number) {
    const holders = [...this.#shards.values()].filter(({ index }) => index.has(recipeId, replicate));
    return holders.find(({ index }) => index.statusOf(recipeId, replicate) === "completed") ?? holders[0];
  }

  statusOf(recipeId: string, replicate: number): "none" | "completed" | "not_completed" {
    return this.#holder(recipeId, replicate)?.index.statusOf(recipeId, replicate) ?? "none";
  }

  /** @throws SvcError `shard_conflict` for a completed row that two shards have with different numbers */
  checkConflict(recipeId: string, replicate: number): void {
    const holders = [...this.#shards].filter(([, { index }]) => index.statusOf(recipeId, replicate) === "completed");
    if (holders.length < 2) return;
    const views = new Set(holders.map(([, { index }]) => canonicalJson(viewOfRow(index.row(recipeId, replicate)!))));
    if (views.size === 1) return;
    throw new SvcError(
      "shard_conflict",
      `Cannot merge: ${rowKey(recipeId, replicate)} differs between ${holders.map(([folder]) => folder).join(" and ")}`,
      { hint: "Run one of these shards again in an empty folder" },
    );
  }

  /** A row and the stored bytes of its snapshot; null if no shard has it. */
  row(recipeId: string, replicate: number): { row: ResultRow; snapshot: Uint8Array | null } | null {
    const holder = this.#holder(recipeId, replicate);
    if (holder === undefined) return null;
    const row = holder.index.row(recipeId, replicate)!, record = row.run_evidence_snapshot;
    return { row, snapshot: record === null ? null : snapshotBytes(holder.directory, record) };
  }

  /** All rows with their snapshots, folder by folder. @throws SvcError `shard_conflict` for a snapshot that cannot be read */
  *all(): Generator<{ folder: string; row: ResultRow; snapshot: Snapshot | null }> {
    for (const [folder, { index, directory }] of this.#shards) {
      for (const row of index.rows()) {
        const record = row.run_evidence_snapshot;
        const snapshot = record === null ? null : trusted(folder, () => readSnapshot(directory, record));
        yield { folder, row, snapshot };
      }
    }
  }

  /** The replicates of a recipe that a shard has. */
  replicatesOf(recipeId: string): Set<number> {
    return new Set([...this.#shards.values()].flatMap(({ index }) => [...index.replicatesOf(recipeId)]));
  }

  /**
   * Follows the stopping rule of a recipe over the replicates that are there without a gap.
   * @returns the number of replicates, and whether the rule ends the recipe there
   */
  reach(
    recipeId: string,
    replication: Replication | null,
    metrics: readonly PackMetric[],
  ): { replicates: number; stopped: boolean } {
    let rule = this.#rules.get(recipeId);
    if (rule === undefined) {
      this.#rules.set(
        recipeId,
        rule = { tally: new Tally(replication?.stop_metric ?? ""), replicates: 0, stopped: false },
      );
    }
    const most = replication?.replicates ?? 1;
    while (!rule.stopped && rule.replicates < most) {
      if (this.statusOf(recipeId, rule.replicates) === "none") break;
      if (replication !== null && replication.stop_metric !== null) {
        const sample = sampleOf(
          this.#holder(recipeId, rule.replicates)!.index.row(recipeId, rule.replicates)!,
          metrics,
        );
        if (sample !== null) rule.tally.add(sample);
      }
      rule.replicates++;
      rule.stopped = replication !== null && replication.stop_metric !== null
        ? computable(() => stopReason(rule.tally, rule.replicates, replication)) !== null
        : rule.replicates === most;
    }
    return { replicates: rule.replicates, stopped: rule.stopped };
  }
}

/** So many rows are named in a message, and so many missing ones are listed. */
const MOST_NAMED = 20, MOST_MISSING = 1000;

/** Checks that shards belong to one benchmark and have all rows of its result. */
export function checkShards(
  rows: ShardedRows,
  folders: readonly string[],
  expected: Pick<StartFields, "pack_sha256" | "build_sha256" | "recipes" | "methods" | "replication">,
): StartFields {
  rows.advance();
  const starts = rows.starts();
  const conflict = (message: string, hint: string) =>
    new SvcError("shard_conflict", `Cannot merge: ${message}`, { hint });
  if (starts.size === 0) {
    throw new SvcError("shard_incomplete", `Cannot merge: there is no shard in ${folders.join(", ")}`, {
      hint: "Name the folders that svc benchmark shard wrote with --out",
    });
  }
  const [first] = starts.values();
  for (const [folder, start] of starts) {
    refuseOldRows(shardDocument(folder), `merge ${folder}`);
    const differs = (name: keyof StartFields, other: Partial<StartFields>) =>
      !sameValue(start[name] ?? null, other[name] ?? null);
    if (differs("pack_sha256", expected)) {
      throw conflict(`${folder} is of another pack`, "Merge with the pack that the shards were made with");
    }
    if (differs("recipes", expected)) {
      throw conflict(`${folder} has other recipes`, "A recipe file has changed");
    }
    if (differs("build_sha256", expected)) {
      throw conflict(`${folder} was made by another build of svc`, "Use the same version on every machine");
    }
    if (differs("methods", expected)) {
      throw conflict(
        `${folder} was made with other code of an operation, an adapter or a trained artifact`,
        "Use the same files on every machine",
      );
    }
    for (const name of ["replication", "execution"] as const) {
      if (differs(name, first)) {
        throw conflict(
          `${folder} has another ${name} than ${[...starts.keys()][0]}`,
          "Give all shards the same options",
        );
      }
    }
  }
  if (!sameValue(first.replication, expected.replication)) {
    throw conflict(`${[...starts.keys()][0]} has a replication that the pack does not give`, "Make this shard again");
  }
  return first;
}

/**
 * Checks all rows of the shards with their snapshots, as verification does.
 * @throws SvcError `shard_conflict` with the first problems
 */
export function checkShardRows(rows: ShardedRows, checks: RowChecks): void {
  const problems: string[] = [];
  const note = (folder: string, found: ReturnType<RowChecks["check"]>) =>
    problems.push(
      ...found.filter(({ severity }) => severity === "error").map(({ message }) => `${folder}: ${message}`),
    );
  for (const { folder, row, snapshot } of rows.all()) {
    note(folder, checks.check(row, snapshot));
    if (problems.length >= MOST_NAMED) break;
  }
  note("all shards", checks.finish());
  if (problems.length === 0) return;
  throw new SvcError("shard_conflict", `Cannot merge: ${problems[0]}`, {
    hint: "Run this shard again in an empty folder",
    extra: { problems: problems.slice(0, MOST_NAMED) },
  });
}

/** The rows that a result lacks. */
export interface MissingRows {
  count: number;
  /** The first of them. */
  rows: { recipe_id: string; replicate: number }[];
  /** Number of replicates that would have them all. */
  least: number;
}

/**
 * The rows that are missing for a result. The rows that are there are held against each other.
 * @param recipes ids of the recipes that run, in the order of the pack
 * @throws SvcError `shard_conflict`
 */
export function missingRows(
  rows: ShardedRows,
  recipes: readonly string[],
  replication: Replication | null,
  metrics: readonly PackMetric[],
): MissingRows {
  const adaptive = replication !== null && replication.stop_metric !== null;
  const most = replication?.replicates ?? 1, missing: MissingRows = { count: 0, rows: [], least: 0 };
  for (const recipe_id of recipes) {
    const { replicates, stopped } = rows.reach(recipe_id, replication, metrics);
    for (let replicate = 0; replicate < replicates; replicate++) rows.checkConflict(recipe_id, replicate);
    if (stopped) continue;
    // Of an open end the next one is missing; of a fixed number all that no shard has.
    const last = adaptive ? replicates + 1 : most, there = rows.replicatesOf(recipe_id);
    let count = last - replicates;
    for (const replicate of there) if (replicate >= replicates && replicate < last) count--;
    missing.count += count;
    missing.least = Math.max(missing.least, last);
    for (let replicate = replicates; replicate < last && missing.rows.length < MOST_MISSING; replicate++) {
      if (!there.has(replicate)) missing.rows.push({ recipe_id, replicate });
    }
  }
  return missing;
}

/** The refusal of an incomplete merge. */
export function incompleteShards({ count, rows, least }: MissingRows): SvcError {
  const named = rows.slice(0, MOST_NAMED).map(({ recipe_id, replicate }) => `${recipe_id} r${replicate}`);
  const more = count > named.length ? ` and ${count - named.length} more` : "";
  return new SvcError("shard_incomplete", `Cannot merge: ${count} rows are missing: ${named.join(", ")}${more}`, {
    hint:
      `Run the shards again with the same --out; they run the missing rows. With a stopping rule add --least ${least}`,
    extra: { missing: rows.map((row) => ({ ...row })), least },
  });
}
