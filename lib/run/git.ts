/**
 * Git state of the project: commit, branch and changes since the commit, read from `.git` in process.
 *
 * Tracked files are compared with the index by size, then by blob hash. The hash is skipped when the change time, which
 * programs cannot set, proves that the file is unchanged since git compared it. The index is compared with the tree of
 * HEAD, so that staged changes count. Untracked files are ignored.
 */
import { createHash } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { messageOf } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import { type IndexEntry, parseIndex } from "./git_index.ts";
import { GitObjects, isAbsence, parseTree, readIfThere, readTextIfThere } from "./git_objects.ts";

const TIME_LIMIT_MS = 2000;

const SYMBOLIC_LINK = 0o120000, SUBMODULE = 0o160000, TREE = 0o040000, TYPE_MASK = 0o170000;

/** `git` of a manifest. */
export interface GitState extends JsonObject {
  root: string | null;
  available: boolean;
  commit: string | null;
  branch: string | null;
  dirty: boolean | null;
  /** Paths relative to the root, sorted. */
  changed_files: string[] | null;
  diff_stat: { modified: number; deleted: number } | null;
  /** SHA-256 over paths and hashes of the changed files; null when nothing changed. */
  dirty_content_identity: string | null;
}

/** Locations in a repository. */
interface Repository {
  root: string;
  /** Per worktree: HEAD, index. */
  gitDir: string;
  /** Shared by all worktrees: refs, objects, config. */
  commonDir: string;
}

class TimeLimit extends Error {
  constructor() {
    super(`Reading the git state took longer than ${TIME_LIMIT_MS / 1000} s`);
  }
}

/**
 * Reads the git state of the folder that holds the project. Never throws: a failure is the `reason`.
 * @param folder the project root, anywhere inside a worktree
 * @param timeLimitMs values not determined in this time are null, with a reason
 */
export function readGitState(folder: string, timeLimitMs = TIME_LIMIT_MS): GitState {
  const state: GitState = {
    root: null,
    available: false,
    commit: null,
    branch: null,
    dirty: null,
    changed_files: null,
    diff_stat: null,
    dirty_content_identity: null,
  };
  const deadline = performance.now() + timeLimitMs;
  const checkTime = () => {
    if (performance.now() >= deadline) throw new TimeLimit();
  };
  try {
    const repository = findRepository(folder);
    if (repository === null) return { ...state, reason: "The project is not in a git worktree" };
    state.root = repository.root;
    state.available = true;
    checkTime();
    Object.assign(state, readHead(repository));
    const changes = findChanges(repository, state.commit, checkTime);
    const paths = [...changes.keys()].sort();
    const deleted = paths.filter((path) => changes.get(path) === null).length;
    state.dirty = paths.length > 0;
    state.changed_files = paths;
    state.diff_stat = { modified: paths.length - deleted, deleted };
    if (state.dirty) state.dirty_content_identity = sha256Json(paths.map((path): Value => [path, changes.get(path)!]));
    return state;
  } catch (error) {
    return { ...state, reason: messageOf(error) };
  }
}

function findRepository(folder: string): Repository | null {
  for (let root = resolve(folder);; root = dirname(root)) {
    // A permission request could block the program at a prompt.
    if (Deno.permissions.querySync({ name: "read", path: join(root, ".git") }).state !== "granted") {
      throw new Error(`Reading ${join(root, ".git")} is not permitted`);
    }
    const gitDir = gitDirOf(root);
    if (gitDir !== null) {
      const common = readTextIfThere(join(gitDir, "commondir"))?.trim();
      return { root, gitDir, commonDir: common === undefined ? gitDir : resolve(gitDir, common) };
    }
    if (dirname(root) === root) return null;
  }
}

/** The git directory of a worktree: `.git`, or where the file `.git` points. */
function gitDirOf(root: string): string | null {
  const path = join(root, ".git");
  const pointer = readTextIfThere(path);
  if (pointer !== null) {
    const target = /^gitdir: (.+?)\s*$/.exec(pointer)?.[1];
    return target === undefined ? null : resolve(root, target);
  }
  return readIfThere(join(path, "HEAD")) === null ? null : path;
}

/** Commit and branch of HEAD; the commit is null before the first commit, the branch with a detached HEAD. */
function readHead(repository: Repository): { commit: string | null; branch: string | null } {
  const head = readTextIfThere(join(repository.gitDir, "HEAD"))?.trim() ?? "";
  const reference = /^ref: (.+)$/.exec(head)?.[1];
  if (reference === undefined) return { commit: head || null, branch: null };
  if (reference === "refs/heads/.invalid") throw new Error("The refs of this repository are not kept in files");
  return { commit: resolveReference(repository, reference), branch: reference.replace(/^refs\/heads\//, "") };
}

function resolveReference({ gitDir, commonDir }: Repository, name: string, depth = 0): string | null {
  if (depth > 5) throw new Error(`The git ref ${name} is circular`);
  for (const folder of new Set([gitDir, commonDir])) {
    const text = readTextIfThere(join(folder, name))?.trim();
    if (text === undefined || text === "") continue;
    const next = /^ref: (.+)$/.exec(text)?.[1];
    return next === undefined ? text : resolveReference({ root: "", gitDir, commonDir }, next, depth + 1);
  }
  for (const line of (readTextIfThere(join(commonDir, "packed-refs")) ?? "").split("\n")) {
    if (line.endsWith(` ${name}`) && !line.startsWith("#")) return line.split(" ", 1)[0];
  }
  return null;
}

/** Settings that affect comparison, from the repository's own configuration without includes. */
function readSettings({ commonDir }: Repository): { hashBytes: number; fileModes: boolean; converts: boolean } {
  const config = readTextIfThere(join(commonDir, "config")) ?? "";
  const has = (name: string, value: string) =>
    new RegExp(`^\\s*${name}\\s*=\\s*"?(?:${value})"?\\s*$`, "im").test(config);
  return {
    hashBytes: has("objectformat", "sha256") ? 32 : 20,
    fileModes: !has("filemode", "false|no|off|0") && Deno.build.os !== "windows",
    converts: has("autocrlf", "true|yes|on|1|input"),
  };
}

/** Changed files by path, with the blob hash of the worktree file, or null when it is absent. */
function findChanges(repository: Repository, commit: string | null, checkTime: () => void): Map<string, string | null> {
  const { hashBytes, fileModes, converts } = readSettings(repository);
  const indexPath = join(repository.gitDir, "index");
  const indexBytes = readIfThere(indexPath);
  const indexTimeMs = indexBytes === null ? 0 : Deno.statSync(indexPath).mtime?.getTime() ?? 0;
  const index = indexBytes === null ? [] : parseIndex(indexBytes, hashBytes);
  const committed = commit === null ? new Map<string, TreeFile>() : filesOf(repository, commit, hashBytes, checkTime);
  // Line-end conversion and filters change a file on purpose; only git can apply them.
  const mayConvert = converts || index.some(({ path }) => /(^|\/)\.gitattributes$/.test(path)) ||
    readIfThere(join(repository.commonDir, "info", "attributes")) !== null;
  const algorithm = hashBytes === 32 ? "sha256" : "sha1";
  const changes = new Map<string, string | null>();
  for (const entry of index) {
    checkTime();
    const file = entry.assumeValid || entry.skipWorktree
      ? { id: entry.id, changed: false }
      : compareFile(repository.root, entry, { algorithm, fileModes, mayConvert, indexTimeMs, checkTime });
    const before = committed.get(entry.path);
    const staged = before === undefined || before.id !== entry.id || before.mode !== entry.mode;
    committed.delete(entry.path);
    if (file.changed || staged || entry.stage !== 0 || entry.intentToAdd) changes.set(entry.path, file.id);
  }
  // A path in conflict occurs up to three times in the index; its first entry removed it from `committed`.
  for (const path of committed.keys()) changes.set(path, null);
  return changes;
}

interface TreeFile {
  mode: number;
  id: string;
}

/** A commit of more files is read again for each run. */
const MOST_KEPT_FILES = 20_000;
/** The commit that was read last: a commit never changes, and reading it takes longer than comparing the files. */
let kept: { objects: string; commit: string; files: ReadonlyMap<string, TreeFile> } | undefined;

/** The files of a commit by path; the caller may change the map. */
function filesOf(
  repository: Repository,
  commit: string,
  hashBytes: number,
  checkTime: () => void,
): Map<string, TreeFile> {
  const objects = join(repository.commonDir, "objects");
  if (kept?.commit === commit && kept.objects === objects) return new Map(kept.files);
  const files = readCommit(repository, commit, hashBytes, checkTime);
  if (files.size <= MOST_KEPT_FILES) kept = { objects, commit, files: new Map(files) };
  return files;
}

function readCommit(
  repository: Repository,
  commit: string,
  hashBytes: number,
  checkTime: () => void,
): Map<string, TreeFile> {
  const objects = new GitObjects(join(repository.commonDir, "objects"), hashBytes);
  const files = new Map<string, TreeFile>();
  const visit = (id: string, prefix: string) => {
    checkTime();
    for (const { mode, name, id: child } of parseTree(objects.read(id).data, hashBytes)) {
      if ((mode & TYPE_MASK) === TREE) visit(child, `${prefix}${name}/`);
      else files.set(prefix + name, { mode, id: child });
    }
  };
  try {
    const text = new TextDecoder().decode(objects.read(commit).data);
    const tree = /^tree ([0-9a-f]+)$/m.exec(text)?.[1];
    if (tree === undefined) throw new Error(`The git object ${commit} is not a commit`);
    visit(tree, "");
    return files;
  } finally {
    objects.close();
  }
}

interface CompareOptions {
  algorithm: "sha1" | "sha256";
  fileModes: boolean;
  mayConvert: boolean;
  indexTimeMs: number;
  checkTime: () => void;
}

/** Compares the worktree with the index. */
function compareFile(
  root: string,
  entry: IndexEntry,
  options: CompareOptions,
): { id: string | null; changed: boolean } {
  const path = join(root, entry.path);
  let info: Deno.FileInfo;
  try {
    info = Deno.lstatSync(path);
  } catch (error) {
    if (isAbsence(error)) return { id: null, changed: true };
    throw error;
  }
  const type = entry.mode & TYPE_MASK;
  if (type === SUBMODULE) return compareSubmodule(path, entry, info);
  if (type === SYMBOLIC_LINK) {
    if (!info.isSymlink) return { id: info.isFile ? hashFile(path, info.size, options) : null, changed: true };
    const id = hashBlob(new TextEncoder().encode(Deno.readLinkSync(path)), options.algorithm);
    return { id, changed: id !== entry.id };
  }
  if (!info.isFile) return { id: null, changed: true };
  const modeChanged = options.fileModes && info.mode !== null && ((info.mode ^ entry.mode) & 0o100) !== 0;
  if (isUntouched(info, entry, options.indexTimeMs)) return { id: entry.id, changed: modeChanged };
  const id = hashFile(path, info.size, options);
  // Git writes the size 0 for a file whose state its time stamp cannot prove.
  const sizeChanged = entry.size !== 0 && entry.size !== info.size % 2 ** 32;
  const converted = options.mayConvert && !sizeChanged && info.mtime?.getTime() === entry.mtimeMs;
  return { id, changed: modeChanged || sizeChanged || (id !== entry.id && !converted) };
}

/**
 * Whether the file is provably unchanged since git compared it with the blob. Times have whole seconds here, so a
 * change in the second of the index write proves nothing.
 */
function isUntouched(info: Deno.FileInfo, entry: IndexEntry, indexTimeMs: number): boolean {
  return entry.size === info.size && entry.size !== 0 && info.mtime?.getTime() === entry.mtimeMs &&
    Math.floor((info.ctime?.getTime() ?? 0) / 1000) === entry.ctimeS && entry.ctimeS < Math.floor(indexTimeMs / 1000);
}

/** A submodule differs when another commit is checked out; one that is not checked out is ignored. */
function compareSubmodule(
  path: string,
  entry: IndexEntry,
  info: Deno.FileInfo,
): { id: string | null; changed: boolean } {
  const gitDir = info.isDirectory ? gitDirOf(path) : null;
  if (gitDir === null) return { id: entry.id, changed: !info.isDirectory };
  const { commit } = readHead({ root: path, gitDir, commonDir: gitDir });
  return { id: commit, changed: commit !== entry.id };
}

function hashBlob(content: Uint8Array, algorithm: string): string {
  return createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest("hex");
}

function hashFile(path: string, size: number, { algorithm, checkTime }: CompareOptions): string {
  if (size <= 1 << 20) return hashBlob(Deno.readFileSync(path), algorithm);
  const hash = createHash(algorithm).update(`blob ${size}\0`);
  const file = Deno.openSync(path, { read: true });
  try {
    const block = new Uint8Array(1 << 20);
    for (let count = file.readSync(block); count !== null; count = file.readSync(block)) {
      checkTime();
      hash.update(block.subarray(0, count));
    }
  } finally {
    file.close();
  }
  return hash.digest("hex");
}
