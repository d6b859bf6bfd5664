/** Selects runs by id, recipe, age and size. */
import { SvcError } from "../contract/error.ts";
import { isRunLocked } from "./lock.ts";
import { isOfRecipe, listRuns, readRunRow, resolveRunId, type RunRow, stillExecuting } from "./store.ts";
import type { Workspace } from "./workspace.ts";

/** Runs that match every given member. */
export interface RunSelection {
  /** Ids or unique prefixes; without them all finished runs that match the other members. */
  ids?: readonly string[];
  /** Name of the recipe, or of the recipe whose matrix made the run. */
  recipe?: string;
  /** Age since the end of the run: `30d`, `12h`, `45m`. */
  olderThan?: string;
  /** Total size of the files: `100MB`, `1.5GiB`, or bytes. */
  largerThan?: string;
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 };

/** Milliseconds of an age such as `30d`. @throws SvcError `usage_invalid` */
export function parseAge(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text) ?? [];
  if (unit !== undefined) return Number(number) * SECONDS[unit] * 1000;
  throw new SvcError("usage_invalid", `Cannot read the age ${JSON.stringify(text)}`, {
    hint: "Write a number and s, m, h, d or w: 30d",
  });
}

/** Bytes of a size such as `100MB`. Exported for tests. @throws SvcError `usage_invalid` */
export function parseSize(text: string): number {
  const [, number, prefix, binary] = /^(\d+(?:\.\d+)?) ?(?:([kKMGT])(i?)B|B)?$/.exec(text) ?? [];
  if (number !== undefined) {
    const power = prefix === undefined ? 0 : "KMGT".indexOf(prefix.toUpperCase()) + 1;
    return Number(number) * (binary ? 1024 : 1000) ** power;
  }
  throw new SvcError("usage_invalid", `Cannot read the size ${JSON.stringify(text)}`, {
    hint: "Write a number and B, kB, MB, GB, KiB, MiB or GiB: 100MB",
  });
}

/**
 * Selects finished runs, newest first.
 * @throws SvcError `usage_invalid` without a selection, `run_not_found`, `run_still_executing` for a named run
 */
export function selectRuns(
  workspace: Workspace,
  { ids = [], recipe, olderThan, largerThan }: RunSelection,
  verb: string,
): RunRow[] {
  if (ids.length === 0 && recipe === undefined && olderThan === undefined && largerThan === undefined) {
    throw new SvcError("usage_invalid", `Cannot ${verb} runs without a selection`, {
      hint: "Name runs, or give --recipe, --older-than or --larger-than",
    });
  }
  const before = olderThan === undefined ? Infinity : Date.now() - parseAge(olderThan);
  const bytes = largerThan === undefined ? -1 : parseSize(largerThan);
  const named = [...new Set(ids.map((id) => resolveRunId(workspace, id)))];
  const executing = named.find((id) => isRunLocked(workspace, id));
  if (executing !== undefined) throw stillExecuting(executing, verb);
  const rows = named.length === 0
    ? listRuns(workspace).filter(({ status, run_id }) => status !== "running" && !isRunLocked(workspace, run_id))
    : named.map((id) => readRunRow(workspace, id)).filter((row) => row !== null);
  return rows.filter((row) => {
    const time = row.completed_at_utc ?? row.created_at_utc;
    return (recipe === undefined || isOfRecipe(row, recipe)) &&
      (before === Infinity || (time !== null && Date.parse(time) <= before)) && row.size_bytes > bytes;
  });
}
