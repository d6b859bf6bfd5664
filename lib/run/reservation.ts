/** Run ids: `<UTC yyyymmddThhmmssZ>_<name>`, reserved for ever by exclusive creation of a file. */
import { join } from "node:path";
import { SvcError } from "../contract/error.ts";
import type { Workspace } from "./workspace.ts";

/** What an id may look like; also what keeps an id from leaving the folder of the runs. */
const RUN_ID = /^\d{8}T\d{6}Z_[A-Za-z0-9._-]+$/;

/** Leaves room in a file name of 255 bytes for the time, a collision number and `.lock`. */
const MAXIMUM_NAME_LENGTH = 200;

export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}

/** The id that a run of this name gets at this time when nobody has it. */
export function runIdBase(recipeName: string, time: Date): string {
  const stamp = time.toISOString().replace(/\.\d+/, "").replaceAll(/[-:]/g, "");
  return `${stamp}_${
    [...recipeName].map((c) => (/[A-Za-z0-9._-]/.test(c) ? c : "_")).join("").slice(0, MAXIMUM_NAME_LENGTH)
  }`;
}

/**
 * Reserves the first free id of a name and a time.
 *
 * @returns the id; collisions got `_2`, `_3`, …
 * @throws SvcError `internal_error` when no file can be created there
 */
export function reserveRunId(workspace: Workspace, recipeName: string, time: Date): string {
  Deno.mkdirSync(workspace.reservations, { recursive: true });
  const base = runIdBase(recipeName, time);
  for (let attempt = 1;; attempt++) {
    const id = attempt === 1 ? base : `${base}_${attempt}`;
    try {
      Deno.openSync(join(workspace.reservations, id), { write: true, createNew: true }).close();
    } catch (error) {
      if (error instanceof Deno.errors.AlreadyExists) continue;
      throw new SvcError("internal_error", `Cannot reserve the run id ${id} under ${workspace.reservations}`, {
        cause: error,
      });
    }
    // A bundle that was copied here has no reservation, and a link in its place must never be written through.
    if (!exists(join(workspace.runs, id))) return id;
  }
}

/** Whether something is there, a dangling link included. */
export function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
