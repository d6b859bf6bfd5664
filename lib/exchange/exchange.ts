/**
 * Push and pull of runs, benchmark results, models and datasets between a state directory and an object store.
 *
 * Received data are staged in `.pull`, which has the form of a state directory, and verified there as everything else is
 * verified. It appears by one rename.
 */
import { join } from "node:path";
import { inside, type InsidePath, makeFolderOf, moveEntry } from "../artifact/inside.ts";
import { exists, isFolder } from "../artifact/path_kind.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { asObject, parseJson } from "../contract/json.ts";
import { hashFile } from "../artifact/hash_file.ts";
import type { CancellationToken } from "../execute/types.ts";
import { benchmarkWorkspace, resultIds } from "../study/rows/store.ts";
import { RESULT_FILE } from "../study/pack/types.ts";
import { verifyBenchmark } from "../study/verify.ts";
import { verifyFetched } from "../fetch/bring.ts";
import { ObjectStore, type ObjectStoreOptions } from "../fetch/object_store.ts";
import { FETCH_RECORD, readFetchRecord } from "../model/store.ts";
import { SUMMARY_FILE, SUMS_FILE } from "../run/documents.ts";
import { DISK, listFiles, parseSha256Sums } from "../run/files.ts";
import type { Garbage } from "../run/gc.ts";
import { tryLockRun } from "../run/lock.ts";
import { isRunId } from "../run/reservation.ts";
import { runIds } from "../run/store.ts";
import { verifyRun } from "../run/verify.ts";
import { openWorkspace, type Workspace } from "../run/workspace.ts";
import {
  damagedObjects,
  filesToSend,
  type FolderRecord,
  readRecord,
  receiveFile,
  receiveFolder,
  sendFolder,
  storedIds,
} from "./folder.ts";

/** Kinds of exchanged items, and their folders in the store. */
export type Group = "runs" | "benchmarks" | "models" | "datasets";

export interface ExchangeOptions extends Omit<ObjectStoreOptions, "signal" | "variable"> {
  /** Whether nothing is sent or received; default false. */
  dryRun?: boolean;
  cancellation?: CancellationToken;
  /** Told of the bytes of one item that are there. */
  onProgress?(id: string, done: number, total: number): void;
}

export interface PushOptions extends ExchangeOptions {
  /** Whether an item of this name with other contents in the store is replaced; default false. */
  replace?: boolean;
  /** Whether the bytes of items that the store has are read and compared; default false. */
  check?: boolean;
  /** Whether missing and damaged objects of items that the store has are sent again; includes `check`; default false. */
  repair?: boolean;
}

/** One item, and what happened to it. */
export type ExchangedItem = {
  id: string;
  /**
   * `differs`: there is one of this name with other contents, which stays. `damaged`: the copy in the store is damaged.
   * `damaged_here`: that of the state directory is, and is not sent.
   */
  status:
    | "sent"
    | "received"
    | "present"
    | "repaired"
    | "differs"
    | "damaged"
    | "damaged_here"
    | "would_send"
    | "would_receive";
  /** The damage. */
  problem?: string;
  files: number;
  size_bytes: number;
  /** Bytes that went over the network. */
  moved_bytes: number;
};

export type ExchangeReport = { store: string; dry_run: boolean; items: ExchangedItem[]; moved_bytes: number };

interface Kind {
  /** Where the items are; locks stand there, too. */
  places(workspace: Workspace): Workspace;
  ids(workspace: Workspace): string[];
  isId(id: string): boolean;
  /** The file whose digest names the contents of an item. */
  document: string | null;
  /** The file that lists the others, and the paths in it; items without one have at most so many files. */
  listing: { file: string; paths(text: string): Iterable<string>; required: boolean } | null;
  most: number;
  /** Why a complete item is not valid; null if it is. */
  problem(workspace: Workspace, id: string): Promise<string | null>;
}

const FOLDER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const isFinal = (name: string) => FOLDER_NAME.test(name) && !/\.partial|\.part(\.json)?$/.test(name);
const foldersOf = (path: string) =>
  isFolder(path) ? [...Deno.readDirSync(path)].filter((entry) => entry.isDirectory && isFinal(entry.name)) : [];

/** Items that are folders below a folder of the state directory, with a `fetch.json` or without one. */
function fetched(folder: string, ids: (root: string) => string[], isId: Kind["isId"]): Kind {
  const places = (workspace: Workspace): Workspace => {
    const { stateDir } = workspace;
    return { ...workspace, runs: inside(stateDir, folder), locks: inside(stateDir, ".pull/locks") };
  };
  return {
    places,
    ids: (workspace) => ids(places(workspace).runs).sort(),
    isId,
    document: null,
    listing: {
      file: FETCH_RECORD,
      paths: (text) => Object.keys(asObject(asObject(parseJson(text)).files ?? {})),
      required: folder === "models",
    },
    // Datasets of the user have no record.
    most: folder === "models" ? 1 : 100_000,
    problem(workspace, id) {
      const directory = join(places(workspace).runs, id);
      // A model at an address is one file, named by its digest.
      const [, digest] = /^url\/([0-9a-f]{64})$/.exec(id) ?? [];
      if (digest !== undefined) {
        const files = listFiles(directory);
        const same = files.length === 1 && hashFile(join(directory, files[0].path)).sha256 === digest;
        return Promise.resolve(same ? null : "its file has another digest");
      }
      if (!exists(join(directory, FETCH_RECORD))) return Promise.resolve(null);
      const bad = verifyFetched(directory, readFetchRecord(directory)).find(({ status }) => status !== "ok");
      return Promise.resolve(bad === undefined ? null : `${bad.path} ${bad.status}`);
    },
  };
}

const firstError = (errors: readonly { message: string }[]) => errors.length === 0 ? null : errors[0].message;

const KINDS: Readonly<Record<Group, Kind>> = {
  runs: {
    places: (workspace) => workspace,
    ids: (workspace) => runIds(workspace).sort(),
    isId: isRunId,
    document: SUMMARY_FILE,
    listing: { file: SUMS_FILE, paths: (text) => parseSha256Sums(text).keys(), required: false },
    most: 1000,
    problem: async (workspace, id) => firstError((await verifyRun(workspace, id)).errors),
  },
  benchmarks: {
    places: benchmarkWorkspace,
    ids: (workspace) => resultIds(workspace).sort(),
    isId: isRunId,
    document: RESULT_FILE,
    listing: null,
    most: 10_000,
    problem: async (workspace, id) => firstError((await verifyBenchmark(workspace, id)).errors),
  },
  models: fetched(
    "models",
    (root) => foldersOf(root).flatMap(({ name }) => foldersOf(join(root, name)).map((one) => `${name}/${one.name}`)),
    (id) => id.split("/").length === 2 && id.split("/").every((name) => isFinal(name)),
  ),
  datasets: fetched("datasets", (root) => foldersOf(root).map(({ name }) => name), isFinal),
};

/** Name and folder of each fetched model and dataset. */
export function fetchedItems(workspace: Workspace): ["model" | "dataset", string, string][] {
  const of = (what: "model" | "dataset", { places, ids }: Kind) =>
    ids(workspace).map((id): ["model" | "dataset", string, string] => [what, id, join(places(workspace).runs, id)]);
  return [...of("model", KINDS.models), ...of("dataset", KINDS.datasets)];
}

/** Items by their ids or unique beginnings; a model by its name means all its revisions. */
function chosen(group: Group, known: readonly string[], wanted: readonly string[], where: string): string[] {
  if (wanted.length === 0) return [...known];
  return [
    ...new Set(wanted.flatMap((one) => {
      const name = group === "models" ? one.replace("/", "__") : one;
      if (known.includes(one)) return [one];
      const found = known.filter((id) => group === "models" ? id.startsWith(`${name}/`) : id.startsWith(name));
      if (found.length === 1 || group === "models" && found.length > 0) return found;
      throw new SvcError("not_found", `Cannot find ${one || "(empty)"} in ${where}`, {
        hint: found.length > 1 ? `Write more of the name: ${found.slice(0, 5).join(", ")}` : null,
      });
    })),
  ];
}

/** A store whose requests end with the cancellation. */
function openStore(address: string, { cancellation, ...options }: ExchangeOptions): ObjectStore {
  const abort = new AbortController();
  cancellation?.onCancel(() => abort.abort(new SvcError("operation_canceled", "The transfer was canceled")));
  return new ObjectStore(address, { ...options, signal: abort.signal });
}

/**
 * Sends items to a store; what it has already is not sent again.
 * @param wanted ids, unique beginnings of them, or names of models; all items without any
 * @throws SvcError `not_found`, `run_still_executing` for a named item, `store_unavailable`
 */
export async function push(
  workspace: Workspace,
  group: Group,
  address: string,
  wanted: readonly string[],
  options: PushOptions = {},
): Promise<ExchangeReport> {
  const store = openStore(address, options), kind = KINDS[group];
  const { dryRun = false, replace = false, repair = false, check = repair } = options;
  const items: ExchangedItem[] = [];
  for (const id of chosen(group, kind.ids(workspace), wanted, "the state directory")) {
    const places = kind.places(workspace), folder = join(places.runs, id);
    const lock = tryLockRun(places, id.replace("/", "__"));
    if (lock === null) {
      if (wanted.length === 0) continue;
      throw new SvcError("run_still_executing", `Cannot push ${id} while it is being made`, {
        hint: "Wait for its end",
      });
    }
    try {
      const found = await storedRecord(store, group, id, check), stored = found?.record ?? null;
      const same = stored !== null && isEqual(stored, folder, kind);
      const entries = filesToSend(folder);
      const item = (status: ExchangedItem["status"], moved_bytes = 0, problem?: string) =>
        items.push({
          id,
          status,
          files: entries.length,
          size_bytes: entries.reduce((sum, { size }) => sum + size, 0),
          moved_bytes,
          ...(problem === undefined ? {} : { problem }),
        });
      const onBytes = (done: number, total: number) => options.onProgress?.(id, done, total);
      const damage = found?.problem ?? (same && check ? damageText(await damagedObjects(store, stored, onBytes)) : "");
      if (stored !== null && !same && !replace) item("differs");
      else if (same && damage === "") item("present");
      else if (damage !== "" && (dryRun || !repair)) item("damaged", 0, damage);
      else if (dryRun) item("would_send");
      else {
        // A damaged copy must not take the place of a good one.
        const problem = found !== null || repair ? await kind.problem(workspace, id) : null;
        if (problem !== null) item("damaged_here", 0, problem);
        else {
          const { sent } = await sendFolder(store, group, id, folder, { onBytes, check: damage !== "" });
          item(damage === "" ? "sent" : "repaired", sent, damage || undefined);
        }
      }
    } finally {
      lock.release();
    }
  }
  return reportOf(store, dryRun, items);
}

/**
 * The record of an item in the store, or its damage; null without one.
 * @param check whether damage is an answer; otherwise it is thrown
 */
async function storedRecord(
  store: ObjectStore,
  group: Group,
  id: string,
  check: boolean,
): Promise<{ record: FolderRecord | null; problem?: string } | null> {
  try {
    const record = await readRecord(store, group, id);
    return record === null ? null : { record };
  } catch (error) {
    if (!check || !(error instanceof SvcError) || error.code !== "store_invalid") throw error;
    return { record: null, problem: error.message };
  }
}

/**
 * Receives items from a store. An item appears after every byte has been compared with its digest and the whole verified.
 * @param wanted ids, unique beginnings of them, or names of models; without any all that are not here, and a damaged one
 *   does not keep the others
 * @throws SvcError `not_found`, `store_unavailable`, `store_invalid`, `artifact_hash_mismatch`, `bundle_hash_mismatch`
 */
export async function pull(
  workspace: Workspace,
  group: Group,
  address: string,
  wanted: readonly string[],
  options: ExchangeOptions = {},
): Promise<ExchangeReport> {
  const store = openStore(address, options), kind = KINDS[group], { dryRun = false } = options;
  const known: string[] = [];
  // Not written by svc.
  for await (const id of storedIds(store, group)) if (kind.isId(id)) known.push(id);
  const items: ExchangedItem[] = [];
  for (const id of chosen(group, known, wanted, store.address)) {
    const target = inside(kind.places(workspace).runs, id);
    if (wanted.length === 0 && exists(target)) {
      items.push({ id, status: "present", files: 0, size_bytes: 0, moved_bytes: 0 });
      continue;
    }
    try {
      const record = await readRecord(store, group, id);
      if (record === null) throw new SvcError("not_found", `Cannot find ${id} in ${store.address}`);
      const item = (status: ExchangedItem["status"], moved_bytes = 0) =>
        items.push({ id, status, files: record.files.length, size_bytes: record.size_bytes, moved_bytes });
      if (exists(target)) item(isEqual(record, target, kind) ? "present" : "differs");
      else if (dryRun) item("would_receive");
      else item("received", await receive(workspace, store, kind, record, target, options));
    } catch (error) {
      if (wanted.length > 0 || !(error instanceof SvcError) || !DAMAGE.has(error.code)) throw error;
      items.push({ id, status: "damaged", files: 0, size_bytes: 0, moved_bytes: 0, problem: error.message });
    }
  }
  return reportOf(store, dryRun, items);
}

function damageText(keys: readonly string[]): string {
  const shown = keys.slice(0, 5).join(", ") + (keys.length > 5 ? `, and ${keys.length - 5} more` : "");
  return keys.length === 0 ? "" : `missing or damaged in the store: ${shown}`;
}

/** Of the file that lists the others, and of files beside those that it lists, such as itself. */
const MAX_LISTING_BYTES = 64 * 2 ** 20, MOST_UNLISTED = 10;

/** Codes of items whose record or bytes are wrong. */
const DAMAGE = new Set(["store_invalid", "artifact_hash_mismatch", "bundle_hash_mismatch"]);

const stagingOf = (workspace: Workspace): Workspace => ({
  ...openWorkspace({ projectRoot: workspace.projectRoot, stateDir: join(workspace.stateDir, ".pull") }),
});

async function receive(
  workspace: Workspace,
  store: ObjectStore,
  kind: Kind,
  record: FolderRecord,
  target: InsidePath,
  { onProgress }: ExchangeOptions,
): Promise<number> {
  const { id } = record, staging = stagingOf(workspace), places = kind.places(staging);
  const folder = inside(places.runs, id), name = id.replace("/", "__");
  const lock = tryLockRun(places, `pull-${name}`);
  if (lock === null) throw new SvcError("run_still_executing", `Cannot pull ${id}: another process pulls it`);
  try {
    const onBytes = (done: number, total: number) => onProgress?.(id, done, total);
    await checkFiles(store, record, kind);
    const received = await receiveFolder(store, record, folder, { onBytes });
    const problem = await kind.problem(staging, id);
    if (problem !== null) {
      DISK.remove(folder);
      throw new SvcError("bundle_hash_mismatch", `Cannot accept ${id} from ${store.address}: ${problem}`);
    }
    await DISK.syncAll(record.files.map(({ path }) => join(folder, path)));
    makeFolderOf(target);
    moveEntry(folder, target);
    return received;
  } finally {
    lock.release();
  }
}

/**
 * Refuses an item with files that its own list does not name, before they are received.
 * @throws SvcError `store_invalid`
 */
async function checkFiles(store: ObjectStore, record: FolderRecord, { listing, most }: Kind): Promise<void> {
  const refuse = (why: string) =>
    new SvcError("store_invalid", `Cannot receive ${record.group}/${record.id} from ${store.address}: ${why}`);
  const bytes = listing && await receiveFile(store, record, listing.file, MAX_LISTING_BYTES);
  let known: Set<string>;
  try {
    known = new Set(bytes && listing!.paths(new TextDecoder().decode(bytes)));
  } catch (error) {
    throw refuse(`its ${listing!.file} is unreadable: ${messageOf(error)}`);
  }
  // A model at an address is one file, named by its digest.
  if (bytes === null && listing?.required && !record.id.startsWith("url/")) throw refuse(`it has no ${listing.file}`);
  const others = record.files.filter(({ path }) => !known.has(path)).length,
    allowed = bytes === null ? most : MOST_UNLISTED;
  if (others > allowed) {
    throw refuse(`it has ${others} files that it does not list, and at most ${allowed} are received`);
  }
}

/** Whether a folder has the files of a record, by their sizes and by the digest of the document that names the rest. */
function isEqual({ files }: FolderRecord, folder: string, { document }: Kind): boolean {
  const here = new Map(listFiles(folder).map(({ path, size }) => [path, size]));
  // Tables and figures are written again from the result at any time.
  return files.every(({ path, size_bytes, sha256 }) =>
    document === null || path === document
      ? here.get(path) === size_bytes && hashFile(join(folder, path)).sha256 === sha256
      : document === RESULT_FILE || here.get(path) === size_bytes
  ) && (document === RESULT_FILE || here.size === files.length);
}

function reportOf({ address }: ObjectStore, dry_run: boolean, items: ExchangedItem[]): ExchangeReport {
  return { store: address, dry_run, items, moved_bytes: items.reduce((sum, { moved_bytes }) => sum + moved_bytes, 0) };
}

/** Finds and, unless `dryRun`, removes what interrupted pulls left; those under way keep theirs. */
export function collectPulls(workspace: Workspace, dryRun: boolean): Garbage {
  const staging = stagingOf(workspace);
  return Object.values(KINDS).flatMap((kind) => {
    const places = kind.places(staging);
    return kind.ids(staging).flatMap((id): Garbage => {
      const lock = tryLockRun(places, `pull-${id.replace("/", "__")}`);
      if (lock === null) return [];
      try {
        const folder = inside(places.runs, id), size_bytes = listFiles(folder).reduce((sum, { size }) => sum + size, 0);
        if (!dryRun) DISK.remove(folder);
        return [{
          what: "staging",
          path: folder.slice(workspace.stateDir.length + 1).replaceAll("\\", "/"),
          size_bytes,
        }];
      } finally {
        lock.release();
      }
    });
  });
}
