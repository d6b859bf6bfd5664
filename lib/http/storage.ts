/**
 * The storage of a running server: the index database and the state directory around it.
 *
 * A storage error does not end the server. It degrades the service until a probe (a file in the state directory, then all
 * that waits to be written) succeeds. A database that was removed, replaced or damaged is opened again, and written anew
 * from memory.
 */
import { discardEntry, inside } from "../artifact/inside.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { isNoSpace, isStorageFault, systemCodeOf, withSystemCode } from "../contract/system_error.ts";
import { DISK } from "../run/files.ts";
import { type DatabaseSync, openDatabase, transaction } from "../run/index/database.ts";
import type { Log } from "./log.ts";

/** Between two probes while the service is degraded. */
const RETRY_MS = 1000;
const PROBE_FILE = ".storage-probe";
const PROBE_TEXT = "0".repeat(1 << 16);

export interface StorageOptions {
  stateDir: string;
  /** That of the workspace. */
  host?: string;
  log: Log;
  /** `openDatabase` when left out. */
  open?: typeof openDatabase | undefined;
}

export class Storage {
  readonly #options: StorageOptions & { open: typeof openDatabase };
  #database: DatabaseSync | null = null;
  #path = "";
  #inode: number | null = null;
  #broken = false;
  #fault: SvcError | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Rises whenever a database is opened: it may lack records of the one before. */
  generation = 0;
  /** Writes all that waits. @throws what {@link write} throws */
  onProbe: () => void = () => {};
  onRecovered: () => void = () => {};

  /** @throws SvcError what `openDatabase` throws */
  constructor(options: StorageOptions) {
    this.#options = { ...options, open: options.open ?? openDatabase };
    this.#open();
  }

  /** Why the service is degraded, or null. */
  get fault(): SvcError | null {
    return this.#fault;
  }

  /** @throws SvcError `storage_unavailable` when none is open */
  get database(): DatabaseSync {
    if (this.#database !== null) return this.#database;
    throw this.#fault ?? new SvcError("shutting_down", "Cannot use the index: the server is shutting down");
  }

  /**
   * Changes the database: all or nothing.
   * @param durable whether the changes are on the disk when this returns
   * @throws SvcError `storage_unavailable`, and the service is degraded
   */
  write(body: (database: DatabaseSync) => void, durable: boolean): void {
    try {
      this.#reopenWhereNeeded();
      const { database } = this;
      if (durable) database.exec("PRAGMA synchronous = FULL");
      try {
        transaction(database, () => body(database));
      } finally {
        if (durable) database.exec("PRAGMA synchronous = NORMAL");
      }
    } catch (error) {
      throw this.#degrade(error);
    }
  }

  /** Finds out whether storage works, writes all that waits, and sets the state of the service accordingly. */
  probe(): void {
    try {
      const path = inside(this.#options.stateDir, PROBE_FILE);
      try {
        DISK.write(path, PROBE_TEXT, true);
      } finally {
        discardEntry(path);
      }
      this.#reopenWhereNeeded();
      this.onProbe();
    } catch (error) {
      this.#degrade(error);
      return;
    }
    if (this.#fault === null) return;
    this.#fault = null;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#options.log({ level: "warning", message: "Storage is available again" });
    this.onRecovered();
  }

  /**
   * The error to report for one that a request or a job ended with. An error of the system is followed by a probe.
   * @returns SvcError `storage_unavailable` where storage failed, else the error with its code
   */
  judge(error: unknown): unknown {
    const code = systemCodeOf(error);
    if (code === null) return error;
    const storage = isStorageFault(code);
    // A file that a request names, and that is missing or protected, has an error of its own.
    if (error instanceof SvcError && error.code !== "file_system_error" && !storage) return error;
    if (isDatabaseFault(code)) this.#broken = true;
    this.probe();
    if (storage) return unavailable(error, code);
    return this.#fault ?? withSystemCode(error);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#closeDatabase();
  }

  #open(): void {
    const { stateDir, host, open, log } = this.#options;
    const { database, damaged, path } = open(stateDir, { check: true, host });
    if (damaged !== null) {
      log({ level: "warning", message: "The index was damaged and is made anew", put_aside: damaged });
    }
    // Records that must not be lost are written durably, transaction by transaction.
    database.exec("PRAGMA synchronous = NORMAL");
    this.#database = database;
    this.#path = path;
    this.#inode = this.#inodeNow();
    this.#broken = false;
    this.generation++;
  }

  #reopenWhereNeeded(): void {
    const sound = this.#database !== null && !this.#broken && !this.#database.isTransaction;
    if (sound && this.#inodeNow() === this.#inode) return;
    this.#closeDatabase();
    // A state directory that was removed is not made again: its lock went with it.
    Deno.statSync(this.#options.stateDir);
    try {
      this.#open();
    } catch (error) {
      throw unavailable(error, systemCodeOf(error));
    }
  }

  /** Null where the index is missing, or files have no inodes. */
  #inodeNow(): number | null {
    try {
      return Deno.statSync(this.#path).ino;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return null;
      throw error;
    }
  }

  #closeDatabase(): void {
    try {
      this.#database?.close();
    } catch (error) {
      this.#options.log({ level: "error", message: `Cannot close the index: ${messageOf(error)}` });
    }
    this.#database = null;
  }

  #degrade(error: unknown): SvcError {
    const code = systemCodeOf(error);
    if (code === null && !(error instanceof SvcError && error.code === "storage_unavailable")) throw error;
    if (code !== null && isDatabaseFault(code)) this.#broken = true;
    const fault = unavailable(error, code);
    if (this.#fault === null) this.#options.log({ level: "error", message: `Storage failed: ${fault.message}` });
    this.#fault = fault;
    this.#timer ??= setInterval(() => this.probe(), RETRY_MS);
    return fault;
  }
}

/** Codes after which the database is opened again; space that ran out, or another writer, leaves it sound. */
const isDatabaseFault = (code: string) => /^SQLITE_(?!FULL$|BUSY$)/.test(code);

function unavailable(error: unknown, code: string | null): SvcError {
  if (error instanceof SvcError && error.code === "storage_unavailable") return error;
  const extra = error instanceof SvcError ? error.extra : {};
  return new SvcError("storage_unavailable", `Cannot use the storage of the server: ${messageOf(error)}`, {
    hint: code !== null && isNoSpace(code)
      ? "Free some space; what waits is written then"
      : "Check the state directory",
    extra: code === null ? extra : { ...extra, system_code: code },
    cause: error,
  });
}
