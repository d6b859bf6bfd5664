/**
 * Git state of the project: commit, branch and changes since the commit.
 *
 * `git rev-parse`, `ls-files` and `ls-tree` read refs, index and tree; unlike `git status` and `git diff` they start no
 * program that the repository configures. Tracked files are compared with the index here, by size, then by blob hash.
 * The hash is skipped when the change time, which programs cannot set, proves that the file is unchanged since git
 * compared it. The index is compared with the tree of HEAD, so that staged changes count. Untracked files are ignored.
 * Where git cannot be started, commit and branch are read from their files.
 */
import { createHash } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { messageOf } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import type { JsonObject, Value } from "../contract/value.ts";

const TIME_LIMIT_MS = 2000;

const SYMBOLIC_LINK = 0o120000, SUBMODULE = 0o160000, TYPE_MASK = 0o170000;

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

/** Git is not installed, or may not be started. */
class NoGit extends Error {}

/**
 * Reads the git state of the folder that holds the project. Never rejects: a failure is the `reason`.
 * @param folder the project root, anywhere inside a worktree
 * @param timeLimitMs values not determined in this time are null, with a reason
 */
export async function readGitState(folder: string, timeLimitMs = TIME_LIMIT_MS): Promise<GitState> {
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
    const git = gitOf(repository, deadline);
    Object.assign(state, await readHead(repository, git));
    const changes = await findChanges(repository, git, state.commit, checkTime);
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

type Git = (...args: string[]) => Promise<string>;

/**
 * Runs git on a repository, without the user's settings and variables, and with nothing that starts a program or
 * fetches an object.
 */
function gitOf({ root, gitDir }: Repository, deadline: number): Git {
  const variables = ["PATH", "SYSTEMROOT"].filter((variable) =>
    Deno.permissions.querySync({ name: "env", variable }).state === "granted"
  ).map((variable) => [variable, Deno.env.get(variable) ?? ""]);
  const settings = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never"];
  return async (...args) => {
    // A permission request could block the program at a prompt.
    if (Deno.permissions.querySync({ name: "run", command: "git" }).state !== "granted") {
      throw new NoGit("Starting git is not permitted, so changes are not known");
    }
    const child = new Deno.Command("git", {
      args: [
        "--no-pager",
        `--git-dir=${gitDir}`,
        `--work-tree=${root}`,
        ...settings.flatMap((it) => ["-c", it]),
        ...args,
      ],
      cwd: root,
      clearEnv: true,
      env: {
        ...Object.fromEntries(variables.filter(([, value]) => value !== "")),
        LC_ALL: "C",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_NO_LAZY_FETCH: "1",
        GIT_NO_REPLACE_OBJECTS: "1",
        GIT_OPTIONAL_LOCKS: "0",
        GIT_TERMINAL_PROMPT: "0",
      },
      stdin: "null",
      signal: AbortSignal.timeout(Math.max(1, deadline - performance.now())),
    });
    try {
      const { success, stdout, stderr } = await child.output();
      // A name that is not UTF-8 cannot be looked up, and must not count as a deleted file.
      if (success) return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(stdout);
      if (performance.now() >= deadline) throw new TimeLimit();
      throw new Error(`git ${args[0]} failed: ${new TextDecoder().decode(stderr).trim()}`);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) throw new NoGit("git is not installed, so changes are not known");
      throw error;
    }
  };
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
  return readTextIfThere(join(path, "HEAD")) === null ? null : path;
}

interface Head {
  /** Null before the first commit. */
  commit: string | null;
  /** Null with a detached HEAD. */
  branch: string | null;
}

/** Commit and branch of HEAD, from git or, where it cannot be started or has no commit, from files. */
async function readHead(repository: Repository, git: Git): Promise<Head> {
  try {
    const [commit, reference] = (await git("rev-parse", "--revs-only", "HEAD", "--symbolic-full-name", "HEAD")).split(
      "\n",
    );
    if (commit !== "") return { commit, branch: reference === "HEAD" ? null : branchOf(reference) };
  } catch (error) {
    if (!(error instanceof NoGit)) throw error;
  }
  return headOfFiles(repository);
}

const branchOf = (reference: string): string => reference.replace(/^refs\/heads\//, "");

function headOfFiles(repository: Repository): Head {
  const head = readTextIfThere(join(repository.gitDir, "HEAD"))?.trim() ?? "";
  const reference = /^ref: (.+)$/.exec(head)?.[1];
  if (reference === undefined) return { commit: head || null, branch: null };
  if (reference === "refs/heads/.invalid") throw new Error("The refs of this repository are not kept in files");
  return { commit: resolveReference(repository, reference), branch: branchOf(reference) };
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
function readSettings({ commonDir }: Repository): { fileModes: boolean; converts: boolean } {
  const config = readTextIfThere(join(commonDir, "config")) ?? "";
  const has = (name: string, value: string) =>
    new RegExp(`^\\s*${name}\\s*=\\s*"?(?:${value})"?\\s*$`, "im").test(config);
  return {
    fileModes: !has("filemode", "false|no|off|0") && Deno.build.os !== "windows",
    converts: has("autocrlf", "true|yes|on|1|input"),
  };
}

/** A tracked file in the index. */
interface IndexEntry extends TreeFile {
  path: string;
  /** 1 to 3 for the sides of a conflict, else 0. */
  stage: number;
  /** Size and times at git's last comparison with the blob; the size is 0 when git is unsure. */
  size: number;
  mtimeMs: number;
  ctimeS: number;
  /** Whether git does not look at the file: `assume-unchanged` or `skip-worktree`. */
  ignored: boolean;
  intentToAdd: boolean;
}

interface TreeFile {
  mode: number;
  id: string;
}

const INDEX_LINE = /([0-7]+) ([0-9a-f]+) (\d)\t([^\0]+)\0((?: {2}.*\n)*)/gy;
const TREE_LINE = /([0-7]+) \w+ ([0-9a-f]+)\t([^\0]+)\0/gy;
const DEBUG_LINES = /^ {2}ctime: (\d+):\d+\n {2}mtime: (\d+):(\d+)\n[^]*size: (\d+)\tflags: ([0-9a-f]+)\n$/;
const ASSUME_VALID = 0x8000, INTENT_TO_ADD = 0x20000000, SKIP_WORKTREE = 0x40000000;

/** The entries of the index. Without the lines of `--debug`, whose form may change, every file is hashed. */
async function readIndex(git: Git): Promise<IndexEntry[]> {
  const listed = await git("ls-files", "--stage", "--debug", "--full-name", "-z");
  return recordsOf(listed, INDEX_LINE).map(([, mode, id, stage, path, debug]): IndexEntry => {
    const [, ctime, mtime, mtimeNs, size, hex] = DEBUG_LINES.exec(debug) ?? ["", "0", "0", "0", "0", "0"];
    const flags = parseInt(hex, 16);
    // Git does not check a damaged index.
    if (!/^(?:100[0-7]{3}|120000|160000)$/.test(mode) || path.split("/").some((name) => /^\.{0,2}$/.test(name))) {
      throw new Error(`The git index is damaged: it has the file ${path} of mode ${mode}`);
    }
    return {
      path,
      mode: parseInt(mode, 8),
      id,
      stage: Number(stage),
      size: Number(size),
      mtimeMs: Number(mtime) * 1000 + Math.floor(Number(mtimeNs) / 1e6),
      ctimeS: Number(ctime),
      ignored: (flags & (ASSUME_VALID | SKIP_WORKTREE)) !== 0,
      intentToAdd: (flags & INTENT_TO_ADD) !== 0,
    };
  });
}

/** The records of a list. @throws Error for a list that has anything else */
function recordsOf(listed: string, record: RegExp): RegExpExecArray[] {
  const found = [...listed.matchAll(record)], last = found.at(-1);
  if ((last === undefined ? 0 : last.index + last[0].length) !== listed.length) {
    throw new Error("Git lists its files in an unknown format");
  }
  return found;
}

/** Changed files by path, with the blob hash of the worktree file, or null when it is absent. */
async function findChanges(
  repository: Repository,
  git: Git,
  commit: string | null,
  checkTime: () => void,
): Promise<Map<string, string | null>> {
  const { fileModes, converts } = readSettings(repository);
  const index = await readIndex(git);
  const indexTimeMs = index.length === 0 ? 0 : Deno.statSync(join(repository.gitDir, "index")).mtime?.getTime() ?? 0;
  const committed = commit === null ? new Map<string, TreeFile>() : await filesOf(repository, git, commit);
  // Line-end conversion and filters change a file on purpose; only git can apply them.
  const mayConvert = converts || index.some(({ path }) => /(^|\/)\.gitattributes$/.test(path)) ||
    readTextIfThere(join(repository.commonDir, "info", "attributes")) !== null;
  const changes = new Map<string, string | null>();
  for (const entry of index) {
    checkTime();
    const algorithm = entry.id.length === 64 ? "sha256" : "sha1";
    const file = entry.ignored
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

/** A commit of more files is read again for each run. */
const MOST_KEPT_FILES = 20_000;
/** The commit that was read last: a commit never changes. */
let kept: { gitDir: string; commit: string; files: ReadonlyMap<string, TreeFile> } | undefined;

/** The files of a commit by path; the caller may change the map. */
async function filesOf({ gitDir }: Repository, git: Git, commit: string): Promise<Map<string, TreeFile>> {
  if (kept?.commit === commit && kept.gitDir === gitDir) return new Map(kept.files);
  const listed = await git("ls-tree", "-r", "-z", "--full-tree", commit);
  const files = new Map(
    recordsOf(listed, TREE_LINE).map(([, mode, id, path]) => [path, { mode: parseInt(mode, 8), id }]),
  );
  if (files.size <= MOST_KEPT_FILES) kept = { gitDir, commit, files: new Map(files) };
  return files;
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
  const { commit } = headOfFiles({ root: path, gitDir, commonDir: gitDir });
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

/** Null for a missing path or a folder. */
function readTextIfThere(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (isAbsence(error)) return null;
    throw error;
  }
}

/** Whether an error means a missing path, a file in place of a parent folder, or a folder in place of a file. */
function isAbsence(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory ||
    error instanceof Deno.errors.IsADirectory;
}
