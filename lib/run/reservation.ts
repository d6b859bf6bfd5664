/**
 * Run ids: `<UTC yyyymmddThhmmssZ>_<name>`, reserved by exclusive creation of a file. The reservation of a removed run
 * stays; one whose run never began is removed by `collectGarbage`.
 */
import { entryOf, inside, type InsidePath, makeFolder, writeNewEntry } from "../artifact/inside.ts";
import { exists } from "../artifact/path_kind.ts";
import { join } from "node:path";
import { withSystemCode } from "../contract/system_error.ts";
import { type BundleFiles, DISK } from "./files.ts";
import type { Workspace } from "./workspace.ts";

/** The form of an id; it also keeps an id inside the folder of the runs. */
const RUN_ID = /^\d{8}T\d{6}Z_[A-Za-z0-9._-]+$/;

/** Numbers that this process tried for ids of one second, by their first path. */
const tried = new Map<string, number>();
let second = "";

/** Of the time at the start of an id. */
const STAMP_LENGTH = "yyyymmddThhmmssZ".length;

const NOTHING = new Uint8Array(0);

/** Leaves space in a file name of 255 bytes for the time, a collision number and `.lock`. */
const MAXIMUM_NAME_LENGTH = 200;

export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}

/** The id of a run without a collision. Exported for tests. */
export function runIdBase(recipeName: string, time: Date): string {
  const stamp = time.toISOString().replace(/\.\d+/, "").replaceAll(/[-:]/g, "");
  return `${stamp}_${
    [...recipeName].map((c) => (/[A-Za-z0-9._-]/.test(c) ? c : "_")).join("").slice(0, MAXIMUM_NAME_LENGTH)
  }`;
}

const randomDigits = (): string => `_${crypto.getRandomValues(new Uint8Array(3)).toHex()}`;

/** An id for a run without files: its random digits replace a reservation. */
export const unreservedRunId = (recipeName: string, time: Date): string => runIdBase(recipeName, time) + randomDigits();

/**
 * Reserves the first free id of a name and a time.
 * @param random whether to append six random digits: ids of several machines then differ
 * @returns the id; a collision appends `_2`, `_3`, …
 * @throws SvcError `file_system_error` when no file can be created there
 */
export function reserveRunId(workspace: Workspace, recipeName: string, time: Date, random = false): string {
  const base = random ? unreservedRunId(recipeName, time) : runIdBase(recipeName, time),
    { reservations, runs } = workspace;
  const path = join(reservations, base);
  const stamp = base.slice(0, STAMP_LENGTH);
  if (second !== stamp) tried.clear();
  second = stamp;
  for (let attempt = (tried.get(path) ?? 0) + 1;; attempt++) {
    tried.set(path, attempt);
    const id = attempt === 1 ? base : `${base}_${attempt}`;
    // A copied bundle has no reservation, and a link in its place must not be written through.
    if (reserve(reservations, id) && !exists(join(runs, id))) return id;
  }
}

/** Creates the file of an id. @returns false where there is an entry */
function reserve(reservations: InsidePath, id: string): boolean {
  for (;;) {
    try {
      writeNewEntry(entryOf(reservations, id), NOTHING, false);
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.AlreadyExists) return false;
      if (!(error instanceof Deno.errors.NotFound) || exists(reservations)) throw withSystemCode(error);
      makeFolder(reservations);
    }
  }
}

/** Whether an id is of a second before this one, so that it cannot be reserved again. */
export function reservedBefore(runId: string, now: Date): boolean {
  return runId.slice(0, STAMP_LENGTH) < runIdBase("", now).slice(0, STAMP_LENGTH);
}

/** Records that the run of an id was removed: its reservation is then in use although it has no bundle. */
export function markRemoved(workspace: Workspace, runId: string, files: BundleFiles = DISK): void {
  makeFolder(workspace.reservations);
  files.write(inside(workspace.reservations, runId), "removed\n", false);
}
