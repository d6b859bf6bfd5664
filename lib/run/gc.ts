/** Removes remains of killed processes in a state directory. */
import { entryInside, inside, type InsideEntry } from "../artifact/inside.ts";
import { entriesOf, entryInfo, exists } from "../artifact/path_kind.ts";
import { SvcError } from "../contract/error.ts";
import type { JsonObject } from "../contract/value.ts";
import { contentsPath, releaseContents, unusedContents } from "../execute/contents.ts";
import { stagingPaths } from "../execute/staging.ts";
import { type BundleFiles, DISK, listFiles, TEMPORARY_SUFFIX } from "./files.ts";
import { tryLockRun } from "./lock.ts";
import { parseAge } from "./select.ts";
import { readRunRow, removeRuns, runIds } from "./store.ts";
import { emptyTrash, UNDO_MS } from "./trash.ts";
import type { Workspace } from "./workspace.ts";

/** Maximum time between the reservation of an id and the lock and bundle of its process. */
const RESERVATION_AGE_MS = 60_000;

export interface GarbageOptions {
  /** Minimum age of incomplete runs to be removed: `7d`; default none are removed. */
  incomplete?: string;
  /** Whether nothing is removed; default false. */
  dryRun?: boolean;
  files?: BundleFiles;
}

export interface GarbageReport extends JsonObject {
  dry_run: boolean;
  /** Path in the state directory. */
  items: {
    what: "staging" | "incomplete" | "reservation" | "content" | "evidence" | "unreadable";
    path: string;
    size_bytes: number;
    /** Why nothing of an `unreadable` run or result was removed. */
    problem?: string;
  }[];
  size_bytes: number;
}

/** The part of a report before its sums. */
export type Garbage = GarbageReport["items"];

/** Finds garbage at a place; a place that is refused is one `unreadable` row, and the others are still collected. */
export function garbageAt(path: string, find: () => Garbage): Garbage {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return [{ what: "unreadable", path, size_bytes: 0, problem: error.message }];
  }
}

/**
 * Removes staging of killed processes, unused reservations and locks, stored artifacts without a bundle, and old
 * incomplete runs. One collection runs at a time; executing runs keep all their files.
 *
 * @param more finds, and unless `dryRun` removes, garbage of other modules under the same lock
 * @throws SvcError `usage_invalid`, `gc_running`
 */
export function collectGarbage(
  workspace: Workspace,
  { incomplete, dryRun = false, files = DISK }: GarbageOptions = {},
  more: (dryRun: boolean) => Garbage = () => [],
): GarbageReport {
  const before = incomplete === undefined ? -Infinity : Date.now() - parseAge(incomplete);
  const lock = tryLockRun(workspace, "gc");
  if (lock === null) {
    throw new SvcError("gc_running", `Cannot collect garbage in ${workspace.stateDir}: another collection is running`);
  }
  const items: Garbage = [];
  const shown = (path: string) => path.slice(workspace.stateDir.length + 1).replaceAll("\\", "/");
  const discard = (what: Garbage[number]["what"], path: InsideEntry, size_bytes = bytesOf(path)) => {
    items.push({ what, path: shown(path), size_bytes });
    if (!dryRun) files.remove(path);
  };
  try {
    const contents = unusedContents(workspace.contents).map((sha256) => {
      const path = contentsPath(workspace.contents, sha256);
      return { what: "content" as const, path: shown(path), size_bytes: bytesOf(path) };
    });
    for (const id of namesIn(workspace.transit)) {
      withLock(id, () => discard("staging", entryInside(workspace.transit, id)));
    }
    for (const id of runIds(workspace)) {
      const directory = inside(workspace.runs, id);
      const refused = garbageAt(shown(directory), () => {
        withLock(id, () => {
          const unfinished = namesIn(directory).filter((name) => name.endsWith(TEMPORARY_SUFFIX));
          for (const path of unfinished) discard("staging", entryInside(directory, path));
          for (const path of stagingPaths(directory)) discard("staging", path);
        });
        return [];
      });
      items.push(...refused);
      if (incomplete === undefined) continue;
      const row = readRunRow(workspace, id, files);
      if (row?.status !== "incomplete" || !(Date.parse(row.created_at_utc ?? "") <= before)) continue;
      items.push({ what: "incomplete", path: shown(directory), size_bytes: row.size_bytes });
      if (!dryRun) removeRuns(workspace, [id], files);
    }
    for (const id of namesIn(workspace.reservations)) withLock(id, () => discardReservation(id));
    // Releasing a lock removes its file.
    for (const name of dryRun ? [] : namesIn(workspace.locks)) withLock(name.replace(/\.lock$/, ""), () => {});
    // Those that only a removed run used count in its size.
    if (!dryRun) emptyTrash(workspace, Date.now() - UNDO_MS, files);
    if (!dryRun) releaseContents(workspace.contents, unusedContents(workspace.contents));
    items.push(...contents, ...more(dryRun));
  } finally {
    lock.release();
  }
  return { dry_run: dryRun, items, size_bytes: items.reduce((total, { size_bytes }) => total + size_bytes, 0) };

  function withLock(id: string, body: () => void): void {
    const held = tryLockRun(workspace, id);
    if (held === null) return;
    try {
      body();
    } finally {
      held.release();
    }
  }

  /** An empty reservation without a bundle: the process was killed before its run began. */
  function discardReservation(id: string): void {
    const path = entryInside(workspace.reservations, id), info = entryInfo(path);
    const young = Date.now() - (info?.mtime?.getTime() ?? 0) < RESERVATION_AGE_MS;
    if (!info?.isFile || info.size > 0 || young || exists(entryInside(workspace.runs, id))) return;
    discard("reservation", path, 0);
  }
}

const namesIn = (folder: string): string[] => entriesOf(folder).map(({ name }) => name).sort();

/** Size of a file or link, or of all files of a folder. */
function bytesOf(path: InsideEntry): number {
  const info = entryInfo(path);
  return info?.isDirectory ? listFiles(path).reduce((total, { size }) => total + size, 0) : info?.size ?? 0;
}
