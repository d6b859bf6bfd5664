/**
 * The index of runs: pages of any list from one query, synchronised with the bundles.
 *
 * Bundles enter and leave `runs/` by a rename, which changes the time stamp of that folder; with an equal stamp no
 * bundle was added or removed. Rows with status `running` are read again each time, and so are rows of the page whose
 * summary file or list of pruned files changed.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { isRacy } from "../../artifact/file_age.ts";
import { SvcError } from "../../contract/error.ts";
import { isNumber, isObject, type JsonObject, toNumber } from "../../contract/value.ts";
import { sha256Hex } from "../../contract/hash.ts";
import { PRUNED_FILE, SUMMARY_FILE } from "../documents.ts";
import { DISK } from "../files.ts";
import { sweepTransit } from "../recover.ts";
import { readRunRow, recipesOf, runIds, type RunRow, sortKey } from "../store.ts";
import type { Workspace } from "../workspace.ts";
import { type DatabaseSync, transaction } from "./database.ts";

/** Rows of a transaction: a rebuild that is interrupted keeps them, and the next pass reads the rest. */
const BATCH = 1000;
/** So many parameters and metrics of a run can be asked for. */
const MOST_VALUES = 500;
/** So many runs of a value are counted, to begin with the rarest. */
const MOST_COUNTED = 10_000;
/** Name among the values; parameters and metrics have a dot. */
const RECIPE = "recipe";

export interface RunQuery {
  /** 1 … 500. */
  limit: number;
  /** `next_cursor` of the previous page. */
  cursor?: string;
  status?: string;
  /** Runs of this recipe and of the variants of its matrix. */
  recipeName?: string;
  suite?: string;
  /** Runs with these values of a parameter `<step>.<parameter>`, of a coordinate of a matrix, or of a metric. */
  where?: Readonly<Record<string, string>>;
}

export interface RunPage {
  rows: RunRow[];
  /** Start of the next page; null for the last page. */
  nextCursor: string | null;
}

type Row = Record<string, string | number | null>;

export class RunIndex {
  readonly #sliceMs: number;
  #syncing: Promise<void> | undefined;

  /** @param options `sliceMs` is the time after which a synchronisation yields to other tasks */
  constructor(
    readonly workspace: Workspace,
    readonly source: { readonly database: DatabaseSync },
    options: { sliceMs?: number } = {},
  ) {
    this.#sliceMs = options.sliceMs ?? Infinity;
  }

  get database(): DatabaseSync {
    return this.source.database;
  }

  /** Synchronises the index with the bundles; concurrent callers share one pass. */
  sync(): Promise<void> {
    return this.#syncing ??= this.#sync().finally(() => this.#syncing = undefined);
  }

  /** Deletes all rows and reads every bundle again. @returns the number of runs */
  async rebuild(): Promise<number> {
    transaction(
      this.database,
      // The values first: the trigger of each row then finds none.
      () => this.database.exec("DELETE FROM run_values; DELETE FROM runs; DELETE FROM meta WHERE key = 'runs_stamp';"),
    );
    await this.sync();
    return this.count();
  }

  count(): number {
    return (this.database.prepare("SELECT count(*) AS n FROM runs").get() as { n: number }).n;
  }

  /** Runs by status. */
  countByStatus(): Record<string, number> {
    const rows = this.database.prepare("SELECT status, count(*) AS n FROM runs GROUP BY status").all();
    return Object.fromEntries((rows as { status: string; n: number }[]).map(({ status, n }) => [status, n]));
  }

  /** A page of runs, newest first. @throws SvcError `query_invalid` for an invalid cursor */
  async list(query: RunQuery): Promise<RunPage> {
    await this.sync();
    const conditions: string[] = [], values: (string | number)[] = [];
    const where = (sql: string, ...given: (string | number | undefined)[]) => {
      if (given.includes(undefined)) return;
      conditions.push(sql);
      values.push(...given as (string | number)[]);
    };
    const wanted = Object.entries(query.where ?? {}).map(([name, text]) => [name, numberOf(text) ?? text] as const);
    if (query.recipeName !== undefined) wanted.push([RECIPE, query.recipeName]);
    // The rarest value gives the order: a page reads no more than the runs that have it.
    const [first, ...others] = this.#byNumber(wanted);
    const from = first === undefined ? "runs" : "run_values AS first CROSS JOIN runs ON runs.sort_key = first.sort_key";
    const order = first === undefined ? "runs.sort_key" : "first.sort_key";
    if (first !== undefined) where("first.name = ? AND first.value = ?", ...first);
    for (const [name, value] of others) {
      where(
        "EXISTS (SELECT 1 FROM run_values AS v WHERE v.name = ? AND v.value = ? AND v.sort_key = runs.sort_key)",
        name,
        value,
      );
    }
    where(`${order} < ?`, query.cursor === undefined ? undefined : cursorKey(query.cursor));
    where("status = ?", query.status);
    where("suite_id = ?", query.suite);
    const filter = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
    const rows = this.database.prepare(`SELECT runs.* FROM ${from} ${filter} ORDER BY ${order} DESC LIMIT ?`)
      .all(...values, query.limit + 1) as Row[];
    const page = rows.slice(0, query.limit);
    const more = rows.length > query.limit;
    return {
      rows: page.flatMap((row) => this.#current(row)),
      nextCursor: more ? Buffer64.encode(String(page.at(-1)!.sort_key)) : null,
    };
  }

  /** Values by their number of runs, counted up to a limit; the fewest first. */
  #byNumber<Value extends readonly [string, string | number]>(values: readonly Value[]): readonly Value[] {
    if (values.length < 2) return values;
    const count = this.database.prepare(
      `SELECT count(*) AS n FROM (SELECT 1 FROM run_values WHERE name = ? AND value = ? LIMIT ${MOST_COUNTED})`,
    );
    const numbers = new Map(values.map((value) => [value, (count.get(...value) as { n: number }).n]));
    return values.toSorted((a, b) => numbers.get(a)! - numbers.get(b)!);
  }

  /**
   * Of each run the parameters in which the given runs of its recipe differ: dimensions of a matrix, and parameters that no
   * dimension sets. Seeds that derive from the master seed are left out.
   * @param metrics names of metrics, which the index keeps beside the parameters
   */
  changedValues(rows: readonly RunRow[], metrics: ReadonlySet<string>): JsonObject[] {
    const families = new Map<string, Map<string, string | number>[]>();
    const known = rows.map(({ run_id, recipe_name, matrix_recipe }) => {
      const row = this.database.prepare("SELECT run_values FROM runs WHERE run_id = ?").get(run_id) as Row | undefined;
      const values = JSON.parse(String(row?.run_values ?? "[]")) as [string, string | number][];
      const params = values.filter(([name]) => name !== RECIPE && !name.endsWith(".seed") && !metrics.has(name));
      const family = matrix_recipe ?? recipe_name?.split("__")[0] ?? "", own = new Map(params);
      families.set(family, [...families.get(family) ?? [], own]);
      return { family, own };
    });
    const names = new Map([...families].map(([family, runs]) => [family, changedNames(runs)]));
    return known.map(({ family, own }) =>
      Object.fromEntries(names.get(family)!.flatMap((name) => own.has(name) ? [[name, own.get(name)!]] : []))
    );
  }

  /** The current row: read again when its file changed, empty when the bundle is gone. */
  #current(row: Row): RunRow[] {
    const id = String(row.run_id), stamp = this.#stamp(id);
    if (stamp !== null && stamp.mtime === row.mtime && stamp.size === row.size) return [runRow(row)];
    const read = this.#read(id);
    if (read === null) this.database.prepare("DELETE FROM runs WHERE run_id = ?").run(id);
    else this.#put(read);
    return read === null ? [] : [runRow(read)];
  }

  async #sync(): Promise<void> {
    sweepTransit(this.workspace);
    const running = this.database.prepare("SELECT run_id FROM runs WHERE status = 'running'").all() as Row[];
    const work = running.map(({ run_id }) => String(run_id));
    const scanned = this.#scan();
    if (scanned !== null) work.push(...scanned.added);
    let startedAt = performance.now();
    for (let at = 0; at < work.length;) {
      transaction(this.database, () => {
        for (const end = Math.min(work.length, at + BATCH); at < end;) {
          const read = this.#read(work[at++]);
          if (read !== null) this.#put(read);
          if (performance.now() - startedAt > this.#sliceMs) break;
        }
      });
      if (at < work.length) await new Promise((resolve) => setTimeout(resolve, 0));
      startedAt = performance.now();
    }
    // Stored last: a pass that the process did not finish is repeated.
    if (scanned !== null && scanned.stamp !== null) {
      this.database.prepare("INSERT OR REPLACE INTO meta VALUES ('runs_stamp', ?)").run(scanned.stamp);
    }
  }

  /** Forgets removed bundles and returns the names added since the last pass; null when the folder is unchanged. */
  #scan(): { added: string[]; stamp: string | null } | null {
    const now = Date.now();
    let folder;
    try {
      folder = statSync(this.workspace.runs, { bigint: true });
    } catch {
      if (this.count() > 0) this.database.exec("DELETE FROM runs");
      return null;
    }
    const stamp = `${folder.ino}:${folder.mtimeNs}`;
    const known = this.database.prepare("SELECT value FROM meta WHERE key = 'runs_stamp'").get() as Row | undefined;
    if (known?.value === stamp) return null;
    const rows = this.database.prepare("SELECT run_id FROM runs").all() as Row[];
    const gone = new Set(rows.map(({ run_id }) => String(run_id)));
    const added = runIds(this.workspace).filter((id) => !gone.delete(id));
    if (gone.size > 0) {
      const remove = this.database.prepare("DELETE FROM runs WHERE run_id = ?");
      transaction(this.database, () => {
        for (const id of gone) remove.run(id);
      });
    }
    return { added, stamp: isRacy(Number(folder.mtimeMs), now) ? null : stamp };
  }

  #stamp(runId: string): { mtime: string; size: number } | null {
    try {
      const directory = join(this.workspace.runs, runId);
      const { mtimeNs, size } = statSync(join(directory, SUMMARY_FILE), { bigint: true });
      const pruned = statSync(join(directory, PRUNED_FILE), { bigint: true, throwIfNoEntry: false });
      return { mtime: pruned === undefined ? `${mtimeNs}` : `${mtimeNs}:${pruned.mtimeNs}`, size: Number(size) };
    } catch {
      return null;
    }
  }

  /** The row of a bundle; null when it is gone. */
  #read(runId: string): Row | null {
    // The stamp is read first, so that the next pass notices a summary replaced in between.
    const stamp = this.#stamp(runId) ?? { mtime: "", size: 0 };
    let job_id: string | null = null;
    let values: [string, string | number][] = [];
    const row = readRunRow(this.workspace, runId, DISK, (summary, recipe) => {
      if (typeof summary.job_id === "string") job_id = summary.job_id;
      values = valuesOf(summary, recipe);
    });
    if (row === null) return null;
    return {
      run_id: runId,
      status: row.status,
      recipe_name: row.recipe_name,
      suite_id: row.suite,
      created_at_utc: row.created_at_utc,
      completed_at_utc: row.completed_at_utc,
      effective_recipe_sha256: row.effective_recipe_sha256,
      summary_sha256: this.#digest(runId),
      mtime: stamp.mtime,
      size: stamp.size,
      step_count: row.step_count,
      size_bytes: row.size_bytes,
      job_id,
      problem: (row.problem as string | undefined) ?? null,
      sort_key: sortKey(row),
      task_id: row.task_id,
      mode: row.mode,
      parallel_workers: row.parallel_workers,
      plan_cache: row.plan_cache,
      artifacts: row.artifacts,
      matrix_recipe: row.matrix_recipe,
      run_values: JSON.stringify([...recipesOf(row).map((name) => [RECIPE, name]), ...values]),
    };
  }

  #digest(runId: string): string | null {
    try {
      return sha256Hex(Deno.readFileSync(join(this.workspace.runs, runId, SUMMARY_FILE)));
    } catch {
      // The row itself reports the problem of the bundle.
      return null;
    }
  }

  #put(row: Row): void {
    // A replaced row would not reach the trigger that removes its values.
    this.database.prepare("DELETE FROM runs WHERE run_id = ?").run(row.run_id);
    this.database.prepare(
      `INSERT OR REPLACE INTO runs VALUES (:run_id, :status, :recipe_name, :suite_id, :created_at_utc, :completed_at_utc,
        :effective_recipe_sha256, :summary_sha256, :mtime, :size, :step_count, :size_bytes, :job_id, :problem, :sort_key,
        :task_id, :mode, :parallel_workers, :plan_cache, :artifacts, :matrix_recipe, :run_values)`,
    ).run(row);
  }
}

const numberOf = (text: string): number | undefined =>
  text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;

/** Names whose values differ between runs; a parameter that always equals a dimension is that dimension. */
function changedNames(runs: readonly ReadonlyMap<string, string | number>[]): string[] {
  const names = [...new Set(runs.flatMap((run) => [...run.keys()]))];
  const differing = names.filter((name) => new Set(runs.map((run) => run.get(name))).size > 1);
  const dimensions = differing.filter((name) => !name.includes("."));
  const isBound = (name: string) => dimensions.some((one) => runs.every((run) => run.get(one) === run.get(name)));
  return [...dimensions, ...differing.filter((name) => name.includes(".") && !isBound(name))];
}

/** Parameters of the steps, the point of a matrix, and metrics, without those that differ in each run. */
function valuesOf(
  { metrics, steps }: JsonObject,
  { metadata, steps: authored }: JsonObject,
): [string, string | number][] {
  const found: [string, string | number][] = [];
  const add = (name: string, value: unknown) => {
    if (found.length === MOST_VALUES || /^(timing|memory)\./.test(name)) return;
    if (isNumber(value)) found.push([name, toNumber(value)]);
    else if (typeof value === "string" && value.length <= 100) found.push([name, value]);
    else if (typeof value === "boolean") found.push([name, String(value)]);
  };
  const all = (of: unknown, prefix = "") => {
    if (isObject(of)) { for (const [name, value] of Object.entries(of)) add(prefix + name, value); }
  };
  if (isObject(metadata)) all(metadata.matrix_selection);
  for (const step of Array.isArray(authored) ? authored : []) if (isObject(step)) all(step.params, `${step.id}.`);
  all(metrics);
  for (const step of Array.isArray(steps) ? steps : []) if (isObject(step)) all(step.metrics);
  return found;
}

function runRow(row: Row): RunRow {
  return {
    run_id: row.run_id as string,
    status: row.status as RunRow["status"],
    recipe_name: row.recipe_name as string | null,
    matrix_recipe: row.matrix_recipe as string | null,
    suite: row.suite_id as string | null,
    created_at_utc: row.created_at_utc as string | null,
    completed_at_utc: row.completed_at_utc as string | null,
    effective_recipe_sha256: row.effective_recipe_sha256 as string | null,
    step_count: row.step_count as number,
    size_bytes: row.size_bytes as number,
    task_id: row.task_id as string | null,
    mode: row.mode as string | null,
    parallel_workers: row.parallel_workers as number | null,
    plan_cache: row.plan_cache as string | null,
    artifacts: row.artifacts as RunRow["artifacts"],
    ...(row.problem === null ? {} : { problem: row.problem as string }),
  };
}

/** Cursors are opaque for clients. */
const Buffer64 = {
  encode: (text: string) => new TextEncoder().encode(text).toBase64({ alphabet: "base64url", omitPadding: true }),
  decode: (text: string) =>
    new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.fromBase64(text, { alphabet: "base64url" })),
};

function cursorKey(cursor: string): string {
  try {
    const key = Buffer64.decode(cursor);
    if (/^[^|]*\|\d{20}\|/.test(key)) return key;
  } catch {
    // Not a cursor of this program.
  }
  throw new SvcError("query_invalid", "Cannot use this cursor", { hint: "Send next_cursor of the previous page" });
}
