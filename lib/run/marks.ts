/**
 * Stars, tags and notes of runs, and named views of their list. They are in one file of the state directory, never in a
 * bundle, so that they change no digest.
 */
import { inside, makeUserFolder, openFile, readText } from "../artifact/inside.ts";
import { join } from "node:path";
import { messageOf, SvcError } from "../contract/error.ts";
import { parseJson, prettyJson } from "../contract/json.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { exists } from "../artifact/path_kind.ts";
import { writeFileAtomic } from "../artifact/write_file.ts";
import { isRunId } from "./reservation.ts";
import { resolveRunId } from "./store.ts";
import type { Workspace } from "./workspace.ts";

export interface RunMark extends JsonObject {
  starred: boolean;
  tags: string[];
  note: string;
}

export interface RunMarks extends JsonObject {
  schema_version: 1;
  runs: { [run_id: string]: RunMark };
  /** Query of the page's list by name. */
  views: { [name: string]: string };
}

/** Changes of the marks of runs; absent fields stay. */
export interface MarkChange {
  starred?: boolean;
  add_tags?: readonly string[];
  remove_tags?: readonly string[];
  note?: string;
}

const FILE = "run_marks.json";
const MAX_MARKS_BYTES = 64 * 2 ** 20;
const TAG = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,39}$/u;

/** The marks of a state directory. @throws SvcError `run_marks_invalid` for a file that is not a record of marks */
export function readMarks({ stateDir }: Workspace): RunMarks {
  const path = inside(stateDir, FILE);
  if (!exists(path)) return { schema_version: 1, runs: {}, views: {} };
  try {
    const known = parseJson(readText(path, MAX_MARKS_BYTES));
    if (isMarks(known)) return known;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw invalid(path, messageOf(error));
  }
  throw invalid(path, "runs or views is missing or has another form");
}

const isMark = (value: Value): boolean =>
  isObject(value) && typeof value.starred === "boolean" && typeof value.note === "string" &&
  Array.isArray(value.tags) &&
  value.tags.every((tag) => typeof tag === "string");
const isMarks = (value: Value): value is RunMarks =>
  isObject(value) && isObject(value.runs) && Object.entries(value.runs).every(([id, mark]) =>
    isRunId(id) && isMark(mark)
  ) &&
  isObject(value.views) && Object.values(value.views).every((query) => typeof query === "string");

const invalid = (path: string, why: string) =>
  new SvcError("run_marks_invalid", `Cannot read the marks of runs in ${path}: ${why}`, {
    hint: "Correct or move the file; bundles do not depend on it",
  });

/**
 * Changes the marks of runs; marks of removed runs are dropped.
 * @param ids or unique beginnings
 * @throws SvcError `run_not_found`, `run_ambiguous`, `usage_invalid` for a tag that is no word
 */
export function markRuns(workspace: Workspace, ids: readonly string[], change: MarkChange): RunMarks {
  const runs = ids.map((id) => resolveRunId(workspace, id));
  const wrong = change.add_tags?.find((tag) => !TAG.test(tag));
  if (wrong !== undefined) {
    throw new SvcError("usage_invalid", `Cannot use ${JSON.stringify(wrong)} as a tag`, {
      hint: "Write up to 40 letters, digits, points, underscores and hyphens",
    });
  }
  return changed(workspace, (marks) => {
    for (const id of runs) {
      const { starred, tags, note } = marks.runs[id] ?? { starred: false, tags: [], note: "" };
      const kept = tags.filter((tag) => !change.remove_tags?.includes(tag));
      marks.runs[id] = {
        starred: change.starred ?? starred,
        tags: [...new Set([...kept, ...change.add_tags ?? []])].sort(),
        note: change.note ?? note,
      };
    }
    for (const [id, { starred, tags, note }] of Object.entries(marks.runs)) {
      const empty = !starred && tags.length === 0 && note === "";
      if (empty || !exists(join(workspace.runs, id))) delete marks.runs[id];
    }
  });
}

/** Keeps a view of the list of runs under a name. @param query null to remove it */
export function keepView(workspace: Workspace, name: string, query: string | null): RunMarks {
  return changed(workspace, ({ views }) => {
    if (query === null) delete views[name];
    else views[name] = query;
  });
}

/** Reads, changes and writes under a lock, so that two processes do not lose each other's change. */
function changed(workspace: Workspace, change: (marks: RunMarks) => void): RunMarks {
  makeUserFolder(workspace.stateDir);
  using lock = openFile(inside(workspace.stateDir, `.${FILE}.lock`), { create: true, read: true, write: true });
  lock.lockSync(true);
  const marks = readMarks(workspace);
  change(marks);
  writeFileAtomic(inside(workspace.stateDir, FILE), prettyJson(marks));
  return marks;
}
