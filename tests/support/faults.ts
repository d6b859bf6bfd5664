/** Faults on purpose: operations on files and databases are counted, and those of a window fail. */
import { type BundleFiles, DISK } from "../../lib/run/files.ts";
import type { DatabaseSync } from "../../lib/run/index/database.ts";

/** The process ended here. */
export class Killed extends Error {}

export class Faults {
  /** Operations that were begun. */
  used = 0;
  /** Operations that failed. */
  failed = 0;
  #from = Infinity;
  #until = Infinity;
  #error: () => Error = () => new Killed();

  /** Fails operations from the `from`-th of those that follow, `count` of them. */
  arm(from: number, count: number, error?: () => Error): void {
    this.#from = this.used + from;
    this.#until = this.#from + count;
    this.failed = 0;
    this.#error = error ?? this.#error;
  }

  disarm(): void {
    this.#from = Infinity;
  }

  /** Counts an operation. @throws what was armed, within the window */
  pass(): void {
    const index = this.used++;
    if (index < this.#from || index >= this.#until) return;
    this.failed++;
    throw this.#error();
  }
}

/** An error as SQLite gives it. */
export const sqliteError = (errcode: number, message: string) => () =>
  Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode });

/** An error as Deno gives those of the operating system. */
export const systemError = (code: string, message: string) => () => Object.assign(new Error(message), { code });

/** A disk that works for some operations and then never again, as if the process had been killed. */
export function dyingDisk(operations: number, tear = false): BundleFiles & { used: () => number } {
  const faults = new Faults();
  faults.arm(operations, Infinity);
  return {
    used: () => faults.used,
    write(path, text, durable) {
      faults.pass();
      // A kill may come in the middle of a write.
      if (tear && faults.used === operations) {
        const whole = text instanceof Uint8Array ? text : [...text].join("");
        DISK.write(path, whole.slice(0, whole.length / 2), false);
        throw new Killed();
      }
      DISK.write(path, text, durable);
    },
    create(path, bytes, readOnly) {
      faults.pass();
      if (tear && faults.used === operations) {
        DISK.create(path, bytes.subarray(0, bytes.length / 2), readOnly);
        throw new Killed();
      }
      DISK.create(path, bytes, readOnly);
    },
    rename: (from, to) => (faults.pass(), DISK.rename(from, to)),
    remove: (path) => (faults.pass(), DISK.remove(path)),
    sync: (path) => (faults.pass(), DISK.sync(path)),
    syncFolder: (path) => Promise.try(() => (faults.pass(), DISK.syncFolder(path))),
    syncAll: (paths) => Promise.try(() => (faults.pass(), DISK.syncAll(paths))),
  };
}

/** A database whose operations, and those of its statements, count. */
export function faultyDatabase(database: DatabaseSync, faults: Faults): DatabaseSync {
  const counted = <T extends object>(target: T, names: readonly string[]): T =>
    new Proxy(target, {
      get(_, name) {
        const member = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          if (names.includes(String(name))) faults.pass();
          const result = Reflect.apply(member, target, args);
          return name === "prepare" ? counted(result, ["run", "get", "all", "iterate"]) : result;
        };
      },
    });
  return counted(database, ["exec", "prepare"]);
}

const FILE_CALLS = [
  "lstat",
  "lstatSync",
  "mkdirSync",
  "open",
  "openSync",
  "readFile",
  "readDirSync",
  "readFileSync",
  "readTextFile",
  "readTextFileSync",
  "realPathSync",
  "removeSync",
  "renameSync",
  "stat",
  "statSync",
] as const;

/** Counts the file operations of this thread until it is disposed. */
export function faultyFiles(faults: Faults): Disposable {
  const targets: [Record<string, unknown>, readonly string[]][] = [
    [Deno as Record<string, unknown>, FILE_CALLS],
    // A class has no index signature.
    [Deno.FsFile.prototype as unknown as Record<string, unknown>, ["writeSync", "syncDataSync", "tryLockSync"]],
  ];
  const restore = targets.flatMap(([target, names]) =>
    names.map((name) => {
      const original = target[name] as (...args: unknown[]) => unknown;
      target[name] = function (this: unknown, ...args: unknown[]) {
        faults.pass();
        return original.apply(this, args);
      };
      return () => target[name] = original;
    })
  );
  return { [Symbol.dispose]: () => restore.forEach((undo) => undo()) };
}
