/**
 * The index of runs: pages of any list from one query, synchronised with the bundles.
 *
 * Bundles enter and leave `runs/` by a rename, which changes the time stamp of that folder; with an equal stamp no
 * bundle was added or removed. Rows with status `running` are read again each time, and so are rows of the page whose
 * summary file or list of pruned files changed.
 */
import { type BigIntStats, lstatSync, statSync } from "node:fs";
import { isRacy } from "../../artifact/file_age.ts";
import { SvcError } from "../../contract/error.ts";
import { isNumber, isObject, type JsonObject, toNumber } from "../../contract/value.ts";
import { AUTHORED_FILE, PRUNED_FILE, SUMMARY_FILE } from "../documents.ts";
import { DISK } from "../files.ts";
import { sweepTransit } from "../recover.ts";
import { describe, readRunRow, recipesOf, runIds, type RunRow, sortKey, unknownRow } from "../store.ts";
import type { Workspace } from "../workspace.ts";
import { Damage, type DatabaseSync, type IndexRow, rowChecksum, runWriter, transaction } from "./database.ts";

/** Rows of a transaction: a rebuild that is interrupted keeps them, and the next pass reads the rest. */
const BATCH = 1000;
/** So many parameters and metrics of a run can be asked for. */
const MOST_VALUES = 500;
/** So many runs of a value are counted, to begin with the rarest. */
const MOST_COUNTED = 10_000;
/** Size of a bundle that no page has shown yet. */
const UNKNOWN_SIZE = -1;
/** A larger document of a bundle is left to the reader that reports problems. */
const MAX_PARSED = 4 * 2 ** 20;
/** Time between two counts of the rows. */
const COUNT_MS = 60_000;
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
  /**
   * Runs with these values of a parameter `<step>.<parameter>`, of a coordinate of a matrix, or of a metric. A name without
   * a point is that of a coordinate or of a parameter of any step.
   */
  where?: Readonly<Record<string, string>>;
}

export interface RunPage {
  rows: RunRow[];
  /** Start of the next page; null for the last page. */
  nextCursor: string | null;
}

export interface IndexOptions {
  /** Time after which a synchronisation yields to other tasks. */
  sliceMs?: number;
  /** Receives the number of read bundles, of so many. */
  onProgress?(done: number, total: number): void;
  /** Receives the reason why the index is made anew. */
  onDamage?(reason: string): void;
}

/** What a matrix looks for among the stored runs. */
export type EndedRun = Pick<RunRow, "run_id" | "status" | "effective_recipe_sha256">;

/** A row and the values of its run. */
type ReadRun = [IndexRow, [string, string | number][]];

export class RunIndex {
  readonly #options: IndexOptions;
  /** Time of the last count of rows. */
  #countedAt = -Infinity;
  #syncing: Promise<void> | undefined;

  constructor(
    readonly workspace: Workspace,
    readonly source: { readonly database: DatabaseSync },
    options: IndexOptions = {},
  ) {
    this.#options = options;
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

  /**
   * A page of runs, newest first; an index with damaged rows is made anew.
   * @throws SvcError `query_invalid` for an invalid cursor
   */
  async list(query: RunQuery): Promise<RunPage> {
    try {
      return await this.#list(query);
    } catch (error) {
      if (!(error instanceof Damage)) throw error;
      this.#options.onDamage?.(error.message);
      await this.rebuild();
      return await this.#list(query);
    }
  }

  async #list(query: RunQuery): Promise<RunPage> {
    await this.sync();
    const conditions: string[] = [], values: (string | number)[] = [];
    const where = (sql: string, ...given: (string | number | undefined)[]) => {
      if (given.includes(undefined)) return;
      conditions.push(sql);
      values.push(...given as (string | number)[]);
    };
    const wanted: (readonly [string, string | number])[] = [];
    if (query.recipeName !== undefined) wanted.push([RECIPE, query.recipeName]);
    for (const [name, text] of Object.entries(query.where ?? {})) {
      const value = numberOf(text) ?? text, names = this.#namesOf(name);
      if (names.length === 1) wanted.push([names[0], value]);
      else {
        where(
          `EXISTS (SELECT 1 FROM run_values AS v WHERE v.name IN (${names.map(() => "?").join()}) AND v.value = ? ` +
            "AND v.sort_key = runs.sort_key)",
          ...names,
          value,
        );
      }
    }
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
      .all(...values, query.limit + 1) as IndexRow[];
    const page = rows.slice(0, query.limit);
    const more = rows.length > query.limit;
    return {
      rows: page.flatMap((row) => this.#current(row)),
      nextCursor: more ? Buffer64.encode(String(page.at(-1)!.sort_key)) : null,
    };
  }

  /**
   * Completed, canceled and interrupted runs, newest first; their bundles may have changed since.
   * @param of digests of their effective recipes; all when left out
   */
  async ended(of?: readonly string[]): Promise<EndedRun[]> {
    await this.sync();
    const statuses = ["completed", "canceled", "incomplete"] satisfies RunRow["status"][];
    const columns = "run_id, status, effective_recipe_sha256";
    const wanted = of === undefined ? "" : "AND effective_recipe_sha256 IN (SELECT value FROM json_each(?))";
    return this.database.prepare(
      `SELECT ${columns} FROM runs WHERE status IN (?, ?, ?) ${wanted} ORDER BY sort_key DESC`,
    )
      .all(...statuses, ...of === undefined ? [] : [JSON.stringify(of)]) as IndexRow[] as EndedRun[];
  }

  /** A name, and those of the same parameter of any step, as the stored runs have them. */
  #namesOf(name: string): string[] {
    if (name.includes(".")) return [name];
    // Each next name is looked up in the order of the table, however many runs have it.
    const known = this.database.prepare(
      `WITH RECURSIVE names(name) AS (
         SELECT min(name) FROM run_values
         UNION ALL SELECT (SELECT min(name) FROM run_values WHERE name > names.name) FROM names WHERE name IS NOT NULL)
       SELECT name FROM names WHERE name IS NOT NULL`,
    ).all() as { name: string }[];
    return [name, ...known.flatMap((one) => one.name.endsWith(`.${name}`) ? [one.name] : [])];
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
      const row = this.database.prepare("SELECT run_values FROM runs WHERE run_id = ?").get(run_id) as
        | IndexRow
        | undefined;
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

  /** The current row: read again when its file changed, empty when the bundle is gone. @throws Damage */
  #current(row: IndexRow): RunRow[] {
    if (row.checksum !== rowChecksum(row)) throw new Damage(`the row of the run ${row.run_id} is damaged`);
    const id = String(row.run_id), stamp = this.#stamp(id);
    const known = stamp !== null && stamp.mtime === row.mtime && stamp.size === row.size;
    if (known && row.size_bytes !== UNKNOWN_SIZE) return [runRow(row)];
    const read = this.#readWhole(id);
    if (read === null) this.database.prepare("DELETE FROM runs WHERE run_id = ?").run(id);
    else transaction(this.database, () => runWriter(this.database)(...read));
    return read === null ? [] : [runRow(read[0])];
  }

  async #sync(): Promise<void> {
    sweepTransit(this.workspace);
    const running = this.database.prepare("SELECT run_id FROM runs WHERE status = 'running'").all() as IndexRow[];
    const work = running.map(({ run_id }) => String(run_id));
    const scanned = this.#scan();
    if (scanned !== null) work.push(...scanned.added);
    const { sliceMs = Infinity, onProgress } = this.#options;
    // In the order of the table, whose pages are then written once.
    work.sort();
    let startedAt = performance.now();
    for (let at = 0; at < work.length;) {
      transaction(this.database, () => {
        const put = runWriter(this.database);
        for (const end = Math.min(work.length, at + BATCH); at < end;) {
          const read = this.#read(work[at++]);
          if (read !== null) put(...read);
          if (performance.now() - startedAt > sliceMs) break;
        }
      });
      onProgress?.(at, work.length);
      if (at < work.length) await new Promise((resolve) => setTimeout(resolve, 0));
      startedAt = performance.now();
    }
    // Stored last: a pass that the process did not finish, or that lost a run meanwhile, is repeated.
    if (scanned !== null && scanned.stamp !== null && this.count() === scanned.count) {
      this.database.prepare("INSERT OR REPLACE INTO meta VALUES ('runs_stamp', ?)").run(scanned.stamp);
    }
  }

  /** Forgets removed bundles and returns the names added since the last pass; null when the folder is unchanged. */
  #scan(): { added: string[]; stamp: string | null; count: number } | null {
    const now = Date.now();
    let folder;
    try {
      folder = statSync(this.workspace.runs, { bigint: true });
    } catch {
      if (this.count() > 0) this.database.exec("DELETE FROM runs");
      return null;
    }
    const stamp = `${folder.ino}:${folder.mtimeNs}`;
    const known = this.database.prepare("SELECT value FROM meta WHERE key = 'runs_stamp'").get() as
      | IndexRow
      | undefined;
    const [folderStamp, count] = String(known?.value ?? "").split(" ");
    if (folderStamp === stamp) {
      if (now - this.#countedAt < COUNT_MS) return null;
      this.#countedAt = now;
      // A database may have lost rows.
      if (this.count() === Number(count)) return null;
    }
    const rows = this.database.prepare("SELECT run_id FROM runs").all() as IndexRow[];
    const gone = new Set(rows.map(({ run_id }) => String(run_id)));
    const ids = runIds(this.workspace), added = ids.filter((id) => !gone.delete(id));
    if (gone.size > 0) {
      const remove = this.database.prepare("DELETE FROM runs WHERE run_id = ?");
      transaction(this.database, () => {
        for (const id of gone) remove.run(id);
      });
    }
    const isNew = isRacy(Number(folder.mtimeMs), now);
    return { added, count: ids.length, stamp: isNew ? null : `${stamp} ${ids.length}` };
  }

  #stamp(runId: string): { mtime: string; size: number; pruned: boolean } | null {
    const directory = `${this.workspace.runs}/${runId}`;
    const summary = fileOf(`${directory}/${SUMMARY_FILE}`), pruned = fileOf(`${directory}/${PRUNED_FILE}`);
    if (summary === undefined) return null;
    const { mtimeNs, size } = summary;
    const mtime = pruned === undefined ? `${mtimeNs}` : `${mtimeNs}:${pruned.mtimeNs}`;
    return { mtime, size: Number(size), pruned: pruned !== undefined };
  }

  /**
   * The row of a bundle; null when it is gone. That of an ended run comes from its two documents, without the size of the
   * bundle, which the first page with the run adds.
   */
  #read(runId: string): ReadRun | null {
    const stamp = this.#stamp(runId), directory = `${this.workspace.runs}/${runId}`;
    if (stamp !== null && stamp.size <= MAX_PARSED) {
      try {
        const authored = Deno.lstatSync(`${directory}/${AUTHORED_FILE}`);
        if (!authored.isFile || authored.size > MAX_PARSED) return this.#readWhole(runId);
        const summary = JSON.parse(Deno.readTextFileSync(`${directory}/${SUMMARY_FILE}`));
        const recipe = JSON.parse(Deno.readTextFileSync(`${directory}/${AUTHORED_FILE}`));
        if (isObject(summary) && isObject(recipe) && summary.status !== "running") {
          const row = unknownRow(runId);
          describe(row, summary, recipe);
          if (stamp.pruned) row.artifacts = "pruned";
          row.size_bytes = UNKNOWN_SIZE;
          return rowOf(row, stamp, summary, recipe);
        }
      } catch {
        // Read below, with the problem of the bundle.
      }
    }
    return this.#readWhole(runId);
  }

  /** As {@link #read}, with the size and the problem of the bundle; an interrupted run is settled. */
  #readWhole(runId: string): ReadRun | null {
    // The stamp is read first, so that the next pass notices a summary replaced in between.
    const stamp = this.#stamp(runId) ?? { mtime: "", size: 0 };
    let documents: [JsonObject, JsonObject] = [{}, {}];
    const row = readRunRow(this.workspace, runId, DISK, (summary, recipe) => documents = [summary, recipe]);
    return row === null ? null : rowOf(row, stamp, ...documents);
  }
}

/** A regular file; undefined for a missing one, a link, or something else. */
function fileOf(path: string): BigIntStats | undefined {
  const info = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return info?.isFile() ? info : undefined;
}

function rowOf(
  row: RunRow,
  { mtime, size }: { mtime: string; size: number },
  summary: JsonObject,
  recipe: JsonObject,
): ReadRun {
  const values = new Map<string, [string, string | number]>();
  for (
    const value of [...recipesOf(row).map((name): [string, string] => [RECIPE, name]), ...valuesOf(summary, recipe)]
  ) {
    const text = JSON.stringify(value);
    // Texts that a database does not keep as they are: a NUL, or half of a pair.
    if (!/\\u(0000|d[89a-f])/.test(text)) values.set(text, value);
  }
  return [{
    run_id: row.run_id,
    status: row.status,
    recipe_name: row.recipe_name,
    suite_id: row.suite,
    created_at_utc: row.created_at_utc,
    completed_at_utc: row.completed_at_utc,
    effective_recipe_sha256: row.effective_recipe_sha256,
    // No longer used.
    summary_sha256: null,
    mtime,
    size,
    step_count: row.step_count,
    size_bytes: row.size_bytes,
    job_id: typeof summary.job_id === "string" ? summary.job_id : null,
    problem: (row.problem as string | undefined) ?? null,
    sort_key: sortKey(row),
    task_id: row.task_id,
    mode: row.mode,
    parallel_workers: row.parallel_workers,
    plan_cache: row.plan_cache,
    artifacts: row.artifacts,
    matrix_recipe: row.matrix_recipe,
  }, [...values.values()]];
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
    if (isNumber(value) && Number.isFinite(toNumber(value))) found.push([name, toNumber(value)]);
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

function runRow(row: IndexRow): RunRow {
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
