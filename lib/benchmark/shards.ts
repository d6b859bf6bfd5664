/**
 * Rows of a benchmark that several machines make. Row r (replicate by replicate, each in the order of the pack) belongs to
 * shard r mod N. A shard is an ordinary benchmark of its rows in a folder of its own; the merge is a benchmark that takes
 * its rows from shards, so it stops where one machine stops and has the same view.
 *
 * With a stopping rule a shard knows a part of the replicates. It looks at the end of each wave: a recipe ends where the
 * replicates of all shards that can be read meet the rule without a gap, or else where its own rows meet it alone.
 */
import { join } from "node:path";
import { messageOf, SvcError } from "../contract/error.ts";
import { canonicalJson } from "../contract/json.ts";
import type { JsonObject } from "../contract/value.ts";
import { openWorkspace, type Workspace } from "../run/workspace.ts";
import { snapshotBytes } from "./evidence.ts";
import { type LedgerEvent, LedgerIndex, rowKey } from "./ledger.ts";
import { sampleOf } from "./samples.ts";
import { stopReason } from "./stop.ts";
import { benchmarkWorkspace, resultIds } from "./store.ts";
import { Tally } from "./tally.ts";
import { LEDGER_FILE, type PackMetric, type Replication, type ResultRow, type TerminalStatus } from "./types.ts";
import { viewOfRow } from "./view.ts";

/** The place of a shard among all. */
export interface Shard {
  /** 0 … count - 1. */
  index: number;
  count: number;
}

export interface ShardOptions extends Shard {
  /** Replicates between two looks at the stopping rule; default 10. */
  wave?: number;
  /** Folders of other shards, to stop as soon as all together have enough. */
  peers?: readonly string[];
  /** Least number of replicates before the own rows may end a recipe; after a merge that asked for more. */
  least?: number;
}

export const DEFAULT_WAVE = 10;

/** Whether a row belongs to a shard. */
export const isOfShard = ({ index, count }: Shard, row: number): boolean => row % count === index;

/** The workspace of a shard: its runs and its result are in its folder. */
export const shardWorkspace = ({ projectRoot, onnxAccelerator }: Workspace, folder: string): Workspace =>
  openWorkspace({ projectRoot, stateDir: folder, onnxAccelerator });

/** The result of a shard; null before it began. */
export function shardResult(folder: string): { id: string; directory: string; index: LedgerIndex } | null {
  const workspace = openWorkspace({ stateDir: folder });
  const [id] = resultIds(workspace).sort();
  if (id === undefined) return null;
  const directory = join(benchmarkWorkspace(workspace).runs, id);
  return { id, directory, index: new LedgerIndex(join(directory, LEDGER_FILE)) };
}

/** The rows of several shards together. */
export class ShardedRows {
  readonly #folders: readonly string[];
  readonly #shards = new Map<string, NonNullable<ReturnType<typeof shardResult>>>();
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
      if (!this.#shards.has(folder)) shard.index.onEvent = (event) => this.onEvent?.(folder, event);
      this.#shards.set(folder, shard);
      try {
        shard.index.advance();
      } catch (error) {
        throw new SvcError("shard_conflict", `Cannot use the shard ${folder}: ${messageOf(error)}`, { cause: error });
      }
    }
  }

  /** The start record of each shard that has begun, by its folder. */
  starts(): Map<string, JsonObject> {
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
        ? stopReason(rule.tally, rule.replicates, replication) !== null
        : rule.replicates === most;
    }
    return { replicates: rule.replicates, stopped: rule.stopped };
  }
}

/** So many missing rows are named in a message. */
const MOST_NAMED = 20;

/** Checks that shards belong to one benchmark and have all rows of its result. */
export function checkShards(
  rows: ShardedRows,
  folders: readonly string[],
  expected: { pack_sha256: string; build_sha256: string | null; recipes: JsonObject[]; methods: string },
): { replication: Replication | null; execution: JsonObject } {
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
    const differs = (name: string, other: unknown) =>
      canonicalJson(start[name] ?? null) !== canonicalJson((other ?? null) as JsonObject);
    if (differs("pack_sha256", expected.pack_sha256)) {
      throw conflict(`${folder} is of another pack`, "Merge with the pack that the shards were made with");
    }
    if (differs("recipes", expected.recipes)) {
      throw conflict(`${folder} has other recipes`, "A recipe file has changed");
    }
    if (differs("build_sha256", expected.build_sha256)) {
      throw conflict(`${folder} was made by another build of svc`, "Use the same version on every machine");
    }
    if (differs("methods", expected.methods)) {
      throw conflict(
        `${folder} was made with other code of an operation, an adapter or a trained artifact`,
        "Use the same files on every machine",
      );
    }
    for (const name of ["replication", "execution"]) {
      if (differs(name, first[name])) {
        throw conflict(
          `${folder} has another ${name} than ${[...starts.keys()][0]}`,
          "Give all shards the same options",
        );
      }
    }
  }
  return { replication: first.replication as Replication | null, execution: first.execution as JsonObject };
}

/**
 * The rows that are missing for a result, as recipe and replicate. The rows that are there are held against each other.
 * @param recipes ids of the recipes that run, in the order of the pack
 * @throws SvcError `shard_conflict`
 */
export function missingRows(
  rows: ShardedRows,
  recipes: readonly string[],
  replication: Replication | null,
  metrics: readonly PackMetric[],
): { recipe_id: string; replicate: number }[] {
  const adaptive = replication !== null && replication.stop_metric !== null;
  const most = replication?.replicates ?? 1;
  return recipes.flatMap((recipe_id) => {
    const { replicates, stopped } = rows.reach(recipe_id, replication, metrics);
    for (let replicate = 0; replicate < replicates; replicate++) rows.checkConflict(recipe_id, replicate);
    if (stopped) return [];
    // Of an open end the next one is missing; of a fixed number all that no shard has.
    const last = adaptive ? replicates + 1 : most;
    return Array.from({ length: last - replicates }, (_, n) => replicates + n)
      .filter((replicate) => rows.statusOf(recipe_id, replicate) === "none")
      .map((replicate) => ({ recipe_id, replicate }));
  });
}

/** The refusal of an incomplete merge. */
export function incompleteShards(missing: readonly { recipe_id: string; replicate: number }[]): SvcError {
  const named = missing.slice(0, MOST_NAMED).map(({ recipe_id, replicate }) => `${recipe_id} r${replicate}`);
  const more = missing.length > named.length ? ` and ${missing.length - named.length} more` : "";
  const least = missing.reduce((most, { replicate }) => Math.max(most, replicate), 0) + 1;
  return new SvcError(
    "shard_incomplete",
    `Cannot merge: ${missing.length} rows are missing: ${named.join(", ")}${more}`,
    {
      hint:
        `Run the shards again with the same --out; they run the missing rows. With a stopping rule add --least ${least}`,
      extra: { missing: missing.slice(0, 1000).map((row) => ({ ...row })), least },
    },
  );
}
