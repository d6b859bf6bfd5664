/**
 * The index database of a state directory, `index.sqlite3`; on a network file system each host has its own,
 * `index.<host>.sqlite3`, with a rollback journal, and the bundles bring the runs of all hosts into each. Its run rows are a copy of the bundles for fast lists, and
 * are rebuilt from them when the database is missing or damaged. Jobs and their events exist only here; the readable
 * rows of a damaged database are kept. Several processes of a host may open it, such as a server and a command line.
 */
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { inside, type InsidePath, makeUserFolder } from "../../artifact/inside.ts";
import { entryInfo } from "../../artifact/path_kind.ts";
import { messageOf, SvcError } from "../../contract/error.ts";
import { codeOf, systemCodeOf } from "../../contract/system_error.ts";
import { basename, dirname, join } from "node:path";
import { hostFile } from "../file_system.ts";
import type { Workspace } from "../workspace.ts";

export type { DatabaseSync } from "node:sqlite";

const INDEX_FILE = "index.sqlite3";

/** Each migration raises the version by one; a released migration never changes. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE runs (
     run_id TEXT PRIMARY KEY, status TEXT NOT NULL, recipe_name TEXT, suite_id TEXT,
     created_at_utc TEXT, completed_at_utc TEXT, effective_recipe_sha256 TEXT,
     summary_sha256 TEXT, mtime TEXT NOT NULL, size INTEGER NOT NULL,
     step_count INTEGER NOT NULL, size_bytes INTEGER NOT NULL, job_id TEXT, problem TEXT, sort_key TEXT NOT NULL
   ) WITHOUT ROWID;
   CREATE UNIQUE INDEX runs_newest ON runs (sort_key);
   CREATE INDEX runs_by_status ON runs (status, sort_key);
   CREATE INDEX runs_by_recipe ON runs (recipe_name, sort_key);
   CREATE INDEX runs_by_suite ON runs (suite_id, sort_key);
   CREATE TABLE jobs (
     job_id TEXT PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL, created_at_utc TEXT NOT NULL, document TEXT NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX jobs_by_time ON jobs (kind, created_at_utc);
   CREATE TABLE job_events (id INTEGER PRIMARY KEY, job_id TEXT NOT NULL, seq INTEGER NOT NULL, document TEXT NOT NULL);
   CREATE INDEX job_events_by_job ON job_events (job_id, seq);`,
  // Rebuilds all rows, because only the bundles hold the new columns.
  `ALTER TABLE runs ADD COLUMN task_id TEXT;
   ALTER TABLE runs ADD COLUMN mode TEXT;
   ALTER TABLE runs ADD COLUMN parallel_workers INTEGER;
   ALTER TABLE runs ADD COLUMN plan_cache TEXT;
   DELETE FROM runs;
   DELETE FROM meta WHERE key = 'runs_stamp';`,
  `CREATE TABLE benchmark_results (
     result_id TEXT PRIMARY KEY, mtime TEXT NOT NULL, size INTEGER NOT NULL, status TEXT NOT NULL, document TEXT NOT NULL
   ) WITHOUT ROWID;`,
  // The request of a job that has not started.
  "ALTER TABLE jobs ADD COLUMN request TEXT",
  `ALTER TABLE runs ADD COLUMN artifacts TEXT NOT NULL DEFAULT 'complete';
   DELETE FROM runs;
   DELETE FROM meta WHERE key = 'runs_stamp';`,
  `ALTER TABLE runs ADD COLUMN matrix_recipe TEXT;
   CREATE INDEX runs_by_matrix ON runs (matrix_recipe, sort_key);
   DELETE FROM runs;
   DELETE FROM meta WHERE key = 'runs_stamp';`,
  // Recipes, parameters and metrics in the order of lists; the column has those of its row, which the triggers copy.
  `DROP INDEX runs_by_matrix;
   DROP INDEX runs_by_recipe;
   DELETE FROM runs;
   DELETE FROM meta WHERE key = 'runs_stamp';
   ALTER TABLE runs ADD COLUMN run_values TEXT NOT NULL DEFAULT '[]';
   CREATE TABLE run_values (name TEXT NOT NULL, value NOT NULL, sort_key TEXT NOT NULL, PRIMARY KEY (name, value, sort_key))
     WITHOUT ROWID;
   CREATE TRIGGER run_values_added AFTER INSERT ON runs BEGIN
     INSERT OR IGNORE INTO run_values
       SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), NEW.sort_key FROM json_each(NEW.run_values);
   END;
   CREATE TRIGGER run_values_removed AFTER DELETE ON runs BEGIN
     DELETE FROM run_values WHERE (name, value, sort_key) IN
       (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), OLD.sort_key FROM json_each(OLD.run_values));
   END;`,
  // The values of a run are written beside its row, which takes half of the time of a trigger.
  `DROP TRIGGER run_values_added;
   DROP TRIGGER run_values_removed;
   CREATE TRIGGER run_values_removed AFTER DELETE ON runs WHEN json_valid(OLD.run_values) BEGIN
     DELETE FROM run_values WHERE (name, value, sort_key) IN
       (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), OLD.sort_key FROM json_each(OLD.run_values));
   END;
   DELETE FROM run_values;
   DELETE FROM runs;
   DELETE FROM meta WHERE key = 'runs_stamp';
   ALTER TABLE runs ADD COLUMN value_count INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE runs ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;`,
];

/** The columns of a run before its checksum, in the order of the table. Exported for tests. */
export const RUN_COLUMNS = [
  "run_id",
  "status",
  "recipe_name",
  "suite_id",
  "created_at_utc",
  "completed_at_utc",
  "effective_recipe_sha256",
  "summary_sha256",
  "mtime",
  "size",
  "step_count",
  "size_bytes",
  "job_id",
  "problem",
  "sort_key",
  "task_id",
  "mode",
  "parallel_workers",
  "plan_cache",
  "artifacts",
  "matrix_recipe",
  "run_values",
  "value_count",
] as const;

export type IndexRow = Record<string, string | number | null>;

/** Prepares the statements that write a run and its values. */
export function runWriter(
  database: DatabaseSync,
): (row: IndexRow, values: readonly [string, string | number][]) => void {
  // A replaced row would not reach the trigger that removes its values.
  const remove = database.prepare("DELETE FROM runs WHERE run_id = ?");
  const names = [...RUN_COLUMNS, "checksum"];
  const insert = database.prepare(`INSERT INTO runs (${names}) VALUES (${names.map((name) => `:${name}`)})`);
  const insertValue = database.prepare("INSERT INTO run_values VALUES (?, ?, ?)");
  return (row, values) => {
    const whole: IndexRow = { ...row, run_values: JSON.stringify(values), value_count: values.length };
    remove.run(row.run_id);
    insert.run({ ...whole, checksum: rowChecksum(whole) });
    for (const [name, value] of values) insertValue.run(name, value, row.sort_key);
  };
}

/** CRC-32 of all columns of a run. */
export const rowChecksum = (row: IndexRow): number => crc32(JSON.stringify(RUN_COLUMNS.map((name) => row[name])));

/** An open database and its damaged predecessor. */
export interface OpenDatabase {
  database: DatabaseSync;
  path: string;
  /** New path of the damaged database, or null. */
  damaged: string | null;
}

/**
 * Opens the index database and migrates it to the current version.
 * @param stateDir created when missing
 * @param options `check` scans the whole file for damage; `host` is that of the workspace
 * @throws SvcError `index_unsupported` for a later version, `file_system_error` when it cannot be opened
 */
export function openDatabase(
  stateDir: string,
  options: { check?: boolean; host?: string } = {},
): OpenDatabase {
  makeUserFolder(stateDir);
  const { host } = options;
  const path = placeOf(stateDir, host);
  const journal = host === undefined ? "WAL" : "DELETE";
  const users = openUsers(path);
  // The last user of a database removes its journal: one that was left is of a process that ended within its work.
  const check = options.check || users.alone && ["-wal", "-journal"].some((suffix) => sizeOf(path + suffix) > 0);
  try {
    return { database: heldBy(users.file, open(path, check, journal)), path, damaged: null };
  } catch (error) {
    if (!isDamage(error)) {
      users.file.close();
      throw error instanceof SvcError ? error : cannotOpen(path, error);
    }
  }
  const damaged = putAside(path);
  try {
    const database = open(path, false, journal);
    salvage(damaged, database);
    return { database: heldBy(users.file, database), path, damaged };
  } catch (error) {
    users.file.close();
    throw cannotOpen(path, error);
  }
}

/** Opens the file by whose lock the users of a database know of each other. */
function openUsers(path: string): { file: Deno.FsFile; alone: boolean } {
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(join(dirname(path), `.${basename(path)}.lock`), { read: true, write: true, create: true });
  } catch (error) {
    throw cannotOpen(path, error);
  }
  const alone = file.tryLockSync(true);
  // Not at once: another user may find itself alone in between, and check as well.
  if (alone) file.unlockSync();
  file.lockSync(false);
  return { file, alone };
}

/** Closes the file with the database. */
function heldBy(file: Deno.FsFile, database: DatabaseSync): DatabaseSync {
  const close = database.close.bind(database);
  return Object.assign(database, { close: () => (file.close(), close()) });
}

function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

/**
 * Looks for damage without changes.
 * @returns the damage of the index, or null for a sound or missing one
 * @throws SvcError `file_system_error` when it cannot be opened
 */
export function damageOf({ stateDir, host }: Workspace): string | null {
  const path = placeOf(stateDir, host);
  let database: DatabaseSync | undefined;
  try {
    if (Deno.statSync(path).size === 0) return null;
    database = new DatabaseSync(path, { readOnly: true });
    inspect(database);
    return null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    if (isDamage(error)) return messageOf(error);
    throw cannotOpen(path, error);
  } finally {
    database?.close();
  }
}

/** The path of the index. @throws SvcError `path_refused` where it or a file beside it is no regular file */
function placeOf(stateDir: string, host: string | undefined): InsidePath {
  const name = basename(hostFile(stateDir, INDEX_FILE, host));
  for (const suffix of ["", "-wal", "-shm", "-journal"]) {
    if (entryInfo(inside(stateDir, name + suffix))?.isFile === false) {
      throw new SvcError("path_refused", `Cannot open ${name}${suffix}: it is not a regular file`);
    }
  }
  return inside(stateDir, name);
}

function open(path: string, check: boolean, journal: "WAL" | "DELETE"): DatabaseSync {
  const database = new DatabaseSync(path);
  try {
    // A second process waits for the short transactions of the first.
    database.exec(`PRAGMA busy_timeout = 10000; PRAGMA journal_mode = ${journal}; PRAGMA synchronous = FULL;`);
    migrate(database);
    if (check) inspect(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Something in the database that this program did not write there. */
export class Damage extends Error {}

/** Checks the file, the checksum of each run, and the number of its values. @throws Damage, or an error of SQLite */
function inspect(database: DatabaseSync): void {
  const { quick_check: verdict } = database.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
  if (verdict !== "ok") throw new Damage(verdict.split("\n").at(-1));
  for (const table of ["jobs", "job_events"]) {
    const unreadable = database.prepare(`SELECT 1 FROM ${table} WHERE NOT json_valid(document) LIMIT 1`).get();
    if (unreadable !== undefined) throw new Damage(`a row of ${table} is not JSON`);
  }
  let values = 0;
  for (const row of database.prepare("SELECT * FROM runs").iterate() as Iterable<IndexRow>) {
    if (row.checksum !== rowChecksum(row)) throw new Damage(`the row of the run ${row.run_id} is damaged`);
    values += Number(row.value_count);
  }
  const { n } = database.prepare("SELECT count(*) AS n FROM run_values").get() as { n: number };
  if (n !== values) throw new Damage(`${values} values of runs were written, and ${n} are there`);
}

function migrate(database: DatabaseSync): void {
  const versionOf = () => (database.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
  if (versionOf() === MIGRATIONS.length) return;
  transaction(database, () => {
    const version = versionOf();
    if (version > MIGRATIONS.length) {
      throw new SvcError(
        "index_unsupported",
        `Cannot use ${INDEX_FILE}: its version is ${version}, this program supports ${MIGRATIONS.length}`,
        { hint: "Use the later program, or move the file away: run rows are rebuilt from the bundles" },
      );
    }
    for (const step of MIGRATIONS.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}

/** Runs a body atomically. */
export function transaction<T>(database: DatabaseSync, body: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = body();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    try {
      // A failed statement may have ended the transaction already.
      if (database.isTransaction) database.exec("ROLLBACK");
    } catch {
      // The first error is the cause.
    }
    throw error;
  }
}

/** SQLITE_CORRUPT, SQLITE_NOTADB, or tables that do not match the version. */
export function isDamage(error: unknown): boolean {
  const code = systemCodeOf(error);
  return error instanceof Damage || code === "SQLITE_CORRUPT" || code === "SQLITE_NOTADB" ||
    (code === "SQLITE_ERROR" && /already exists|no such (table|column)/.test(messageOf(error)));
}

/** Jobs and events exist only in the index: copies all their rows before the damage. */
function salvage(from: string, database: DatabaseSync): void {
  const copy = (source: DatabaseSync, table: string) => {
    try {
      for (const row of source.prepare(`SELECT * FROM ${table} WHERE json_valid(document)`).iterate()) {
        const names = Object.keys(row);
        database.prepare(`INSERT OR IGNORE INTO ${table} (${names}) VALUES (${names.map((name) => `:${name}`)})`).run(
          row,
        );
      }
    } catch {
      // Rows after the damage cannot be read.
    }
  };
  let source: DatabaseSync | undefined;
  try {
    source = new DatabaseSync(from, { readOnly: true });
    for (const table of ["jobs", "job_events"]) copy(source, table);
  } catch {
    // The file is not a database: it holds no row.
  } finally {
    source?.close();
  }
}

function putAside(path: string): string {
  const stamp = new Date().toISOString().replaceAll(/[-:.]/g, "");
  const aside = `${path}.damaged-${stamp}`;
  for (const suffix of ["", "-wal", "-shm"]) {
    try {
      Deno.renameSync(path + suffix, aside + suffix);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw cannotOpen(path, error);
    }
  }
  return aside;
}

function cannotOpen(path: string, cause: unknown): SvcError {
  const { code: _code, ...extra } = codeOf(cause, "file_system_error");
  return new SvcError("file_system_error", `Cannot open the index ${path}: ${messageOf(cause)}`, {
    hint: "Check the place, its permissions and the free space",
    extra,
    cause,
  });
}
