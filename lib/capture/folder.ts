/**
 * The folder of a captured split: written beside its place, put there by a rename when it is whole, and never over something
 * that no capture has written. Space for others stays free.
 */
import { randomUUID } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { writeNewFile } from "../artifact/write_file.ts";
import { SvcError } from "../contract/error.ts";
import { parseJson } from "../contract/json.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { freeDisk } from "../run/resources.ts";

/** Bytes of the disk that a capture leaves alone. Exported for tests. */
export const DISK_RESERVE_BYTES = 256 * 2 ** 20;
export const CAPTURE_KIND = "svc.capture_dataset";
export const SCHEMA_FILE = "schema.json";
/** Files that an export leaves in the place of a split. */
const PLACEHOLDERS = [".gitkeep"];

/** The schema.json of a captured split, or null where a folder is none. */
export function readCaptureSchema(folder: string): JsonObject | null {
  try {
    const document = parseJson(Deno.readTextFileSync(join(folder, SCHEMA_FILE)));
    return isObject(document) && document.kind === CAPTURE_KIND ? document : null;
  } catch {
    return null;
  }
}

/**
 * Refuses a place with other content.
 * @param force whether an earlier capture gives way
 * @param shown the place as messages name it
 * @throws SvcError `capture_conflict`
 */
export function checkPlace(out: string, force: boolean, shown = out): void {
  const info = lstatSync(out, { throwIfNoEntry: false });
  if (info === undefined) return;
  const conflict = (why: string, hint: string) =>
    new SvcError("capture_conflict", `Cannot capture into ${shown}: ${why}`, { hint });
  if (!info.isDirectory()) throw conflict("it is no folder", "Choose another place");
  if (readdirSync(out).every((name) => PLACEHOLDERS.includes(name))) return;
  if (readCaptureSchema(out) === null) {
    throw conflict("it holds files that no capture has written", "Choose another place");
  }
  if (!force) throw conflict("a capture lies there", "Replace it with --force, or choose another place");
}

/** Beside the place of a split: `.<name>.capture-<uuid>` is an unfinished capture, with `.old` appended the one that it replaces. */
const STAGING = /^\.(.+)\.capture-[0-9a-f-]{36}(\.old|\.lock)?$/;

/**
 * Removes remains of captures whose process has ended, and restores the capture that one was replacing. A lock,
 * which the system frees with its process, marks the running captures.
 * @param parent folder that holds the places of splits
 */
export function sweepCaptures(parent: string): void {
  let names: string[];
  try {
    names = readdirSync(parent);
  } catch {
    return;
  }
  for (const name of names) {
    const [, base, ending] = STAGING.exec(name) ?? [];
    // A lock without a folder remains from a capture that was moved to its place.
    if (base === undefined || (ending === ".lock" && names.some((other) => name.startsWith(other) && other !== name))) {
      continue;
    }
    const lockPath = join(parent, `${name.replace(/\.(old|lock)$/, "")}.lock`);
    const lock = tryLock(lockPath);
    if (lock === null) continue;
    try {
      const place = join(parent, base);
      if (ending === ".old" && !existsSync(place)) renameSync(join(parent, name), place);
      else rmSync(join(parent, name), { recursive: true, force: true });
      if (!names.includes(`${name}.old`)) rmSync(lockPath, { force: true });
    } finally {
      lock.close();
    }
  }
}

/** Takes a lock; null while another capture has it. */
function tryLock(path: string): Deno.FsFile | null {
  const file = Deno.openSync(path, { read: true, write: true, create: true });
  if (file.tryLockSync(true)) return file;
  file.close();
  return null;
}

/** A capture in the making. */
export class CaptureFolder {
  readonly #staging: string;
  readonly #free: typeof freeDisk;
  readonly #lock: Deno.FsFile;

  /** @param out absolute */
  constructor(readonly out: string, free = freeDisk) {
    this.#free = free;
    mkdirSync(dirname(out), { recursive: true });
    this.#staging = join(dirname(out), `.${basename(out)}.capture-${randomUUID()}`);
    this.#lock = tryLock(`${this.#staging}.lock`)!;
    mkdirSync(join(this.#staging, "shards"), { recursive: true });
  }

  /** A folder for temporary files of runs; it is no part of the result. */
  get scratch(): string {
    return join(this.#staging, ".runs");
  }

  /** @throws SvcError `disk_reserve_reached` before the disk is full */
  write(path: string, bytes: Uint8Array): void {
    const free = this.#free(this.#staging);
    if (free !== null && free - bytes.length < DISK_RESERVE_BYTES) {
      const message = `Cannot write ${path}: less than 256 MiB of the disk would stay free`;
      throw new SvcError("disk_reserve_reached", message, { hint: "Free disk space, or capture fewer records" });
    }
    writeNewFile(join(this.#staging, path), bytes);
  }

  /** Puts the folder into its place; what lay there is gone when this returns. */
  commit(): void {
    rmSync(this.scratch, { recursive: true, force: true });
    const old = `${this.#staging}.old`;
    const had = existsSync(this.out);
    if (had) renameSync(this.out, old);
    try {
      renameSync(this.#staging, this.out);
    } catch (error) {
      if (had) renameSync(old, this.out);
      throw error;
    }
    rmSync(old, { recursive: true, force: true });
  }

  /** Removes unfinished files; always called at the end. */
  release(): void {
    rmSync(this.#staging, { recursive: true, force: true });
    rmSync(`${this.#staging}.lock`, { force: true });
    this.#lock.close();
  }
}

/** Captured splits that lie beside a place. */
export function captureSiblings(out: string): { folder: string; schema: JsonObject }[] {
  let names: string[];
  try {
    names = readdirSync(dirname(out)).sort();
  } catch {
    return [];
  }
  return names.filter((name) => !name.startsWith(".") && name !== basename(out)).flatMap((name) => {
    const folder = join(dirname(out), name), schema = readCaptureSchema(folder);
    return schema === null ? [] : [{ folder, schema }];
  });
}
