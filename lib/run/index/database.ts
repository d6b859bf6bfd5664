/**
 * The index database of a state directory, `index.sqlite3`. What it says of runs is a copy of the bundles, made
 * for fast lists: a missing or damaged database is made anew from them. Jobs and their events live in it alone.
 *
 * Several processes may have it open (WAL): a server, and a command line beside it.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf, SvcError } from "../../contract/error.ts";

export type { DatabaseSync } from "node:sqlite";

export const INDEX_FILE = "index.sqlite3";

/** Each step takes the database from one version to the next; a step that was released never changes. */
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
  // All rows are read from their bundles again: what they say of these columns stands there alone.
  `ALTER TABLE runs ADD COLUMN task_id TEXT;
   ALTER TABLE runs ADD COLUMN mode TEXT;
   ALTER TABLE runs ADD COLUMN parallel_workers INTEGER;
   ALTER TABLE runs ADD COLUMN plan_cache TEXT;
   DELETE FROM runs;
   DELETE FROM meta WHERE key = 'runs_stamp';`,
  `CREATE TABLE benchmark_results (
     result_id TEXT PRIMARY KEY, mtime TEXT NOT NULL, size INTEGER NOT NULL, status TEXT NOT NULL, document TEXT NOT NULL
   ) WITHOUT ROWID;`,
];

/** An open database, and what happened to the one that lay there. */
export interface OpenDatabase {
  database: DatabaseSync;
  path: string;
  /** Where a damaged database was put aside, or null. */
  damaged: string | null;
}

/**
 * Opens the index database and brings it to the present version.
 *
 * @param stateDir is made when it is missing
 * @param options `check` looks through the whole file for damage
 * @throws SvcError `index_unsupported` for a database of a later version, `file_system_error` when it cannot be opened
 */
export function openDatabase(stateDir: string, options: { check?: boolean } = {}): OpenDatabase {
  Deno.mkdirSync(stateDir, { recursive: true });
  const path = join(stateDir, INDEX_FILE);
  try {
    return { database: open(path, options.check ?? false), path, damaged: null };
  } catch (error) {
    if (!isDamage(error)) throw error instanceof SvcError ? error : cannotOpen(path, error);
  }
  const damaged = putAside(path);
  try {
    return { database: open(path, false), path, damaged };
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

function open(path: string, check: boolean): DatabaseSync {
  const database = new DatabaseSync(path);
  try {
    // Whoever comes second waits for the first one's short transactions.
    database.exec("PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    if (check) {
      const { quick_check: verdict } = database.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
      if (verdict !== "ok") throw new Damage(verdict);
    }
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

class Damage extends Error {}

function migrate(database: DatabaseSync): void {
  const versionOf = () => (database.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
  if (versionOf() === MIGRATIONS.length) return;
  transaction(database, () => {
    const version = versionOf();
    if (version > MIGRATIONS.length) {
      throw new SvcError(
        "index_unsupported",
        `Cannot use ${INDEX_FILE}: its version is ${version}, this program knows ${MIGRATIONS.length}`,
        { hint: "Use the later program, or move the file away: runs are read from their bundles again" },
      );
    }
    for (const step of MIGRATIONS.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}

/** Does all or nothing of a body's changes. */
export function transaction<T>(database: DatabaseSync, body: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = body();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // A statement that failed may have ended the transaction already.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** SQLITE_CORRUPT and SQLITE_NOTADB, and a database whose tables are not those of its version. */
function isDamage(error: unknown): boolean {
  if (error instanceof Damage) return true;
  return /malformed|not a database|already exists|no such table|disk image/i.test(messageOf(error));
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
  return new SvcError("file_system_error", `Cannot open the index ${path}: ${messageOf(cause)}`, {
    hint: "Check the place, its permissions and the free space",
    cause,
  });
}
