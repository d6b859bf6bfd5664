/**
 * Writes a run bundle: on the disk, in memory for a run that is not kept, or first in memory and then on the disk for a short
 * run of many.
 *
 * On the disk the five documents are written in the transit folder; one rename moves the folder to `runs/`. Summary and manifest
 * are replaced at intervals while steps finish. At the end SHA256SUMS is written, and manifest and summary beside the old
 * ones; all are made durable together, then the manifest and at last the summary are renamed into place. SHA256SUMS and the
 * manifest already hold the hash of the final summary. A process that stops earlier leaves a summary with status `running`,
 * so no bundle claims an end that verification would refuse.
 */
import { hashFile } from "../artifact/hash_file.ts";
import { basename } from "node:path";
import {
  discardEntry,
  entryOf,
  inside,
  type InsideEntry,
  type InsidePath,
  makeFolder,
  makeFolderOf,
} from "../artifact/inside.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { prettyBytes, type Value } from "../contract/json.ts";
import type { BundlePath } from "../contract/names.ts";
import { stagingPath, stagingPaths } from "../execute/staging.ts";
import type { StepRow } from "../execute/types.ts";
import type { SummaryDocument } from "./bundle_schema.ts";
import {
  ARTIFACTS_FOLDER,
  AUTHORED_FILE,
  MANIFEST_FILE,
  manifestDocument,
  PLAN_FILE,
  PRUNED_FILE,
  RECIPE_FILE,
  type RunRecord,
  type RunState,
  SUMMARY_FILE,
  summaryDocument,
  SUMS_FILE,
} from "./documents.ts";
import { ebn0Metric } from "./ebn0.ts";
import { taskMetrics } from "./task_metrics.ts";
import { type BundleFiles, DISK, formatSha256Sums, listFiles, replaceFile, TEMPORARY_SUFFIX } from "./files.ts";
import type { BundleCommits } from "./commits.ts";
import { HeldFiles } from "./held.ts";
import { type RunLock, tryLockRun } from "./lock.ts";
import type { MemorySampler } from "./memory.ts";
import { type IsKept, listPruned, type PrunedFile } from "./prune.ts";
import type { Workspace } from "./workspace.ts";

/** Shortest interval between two replacements of summary and manifest while the run executes. */
const REWRITE_INTERVAL_MS = 200;
/** Largest share of the run time spent on these replacements. */
const REWRITE_TIME_SHARE = 0.05;

/** How a run ended. */
export type RunEnd = Pick<RunState, "status" | "error" | "failure" | "resourceGuard">;

/** Collects the rows of a run; a subclass writes its documents. */
export abstract class RunWriter {
  /** Absolute; where the bundle is, or would be. */
  abstract readonly directory: string;
  protected readonly record: RunRecord;
  protected readonly memory: MemorySampler;
  /** Digests of the documents that never change. */
  protected readonly written = new Map<string, string>();
  /** Artifacts that were hashed and not written. */
  readonly unwritten: PrunedFile[] = [];
  readonly #order: Map<string, number>;
  readonly #rows = new Map<string, StepRow>();

  constructor(record: RunRecord, memory: MemorySampler) {
    this.record = record;
    this.memory = memory;
    this.#order = new Map(record.plan.steps.map((step, index) => [step.step_id, index]));
  }

  addRow(row: StepRow): void {
    this.#rows.set(row.id, row);
  }

  /** Writes the final documents. @returns the final summary, as written */
  abstract finish(end: RunEnd): Promise<SummaryDocument>;

  /** Stops timers and memory sampling when the documents cannot be finished. */
  abandon(): void {
    this.memory.stop();
  }

  protected rows(): StepRow[] {
    return [...this.#rows.values()].sort((a, b) => this.#order.get(a.id)! - this.#order.get(b.id)!);
  }

  protected finalState(end: RunEnd): RunState {
    const { metrics, evidence } = this.memory.stop(), rows = this.rows();
    return {
      ...end,
      completedAtUtc: new Date().toISOString(),
      rows,
      metrics: { ...metrics, ...ebn0Metric(rows), ...taskMetrics(rows, this.record.research) },
      measurementEvidence: { "memory.run.rss": evidence },
    };
  }

  /** Puts all documents of an ended run. @returns the summary */
  protected putDocuments(held: HeldFiles, end: RunEnd): SummaryDocument {
    const state = this.finalState(end), texts = documentTexts(this.record, state);
    for (const [name, document] of staticDocuments(this.record)) {
      const text = prettyBytes(document);
      held.putDocument(name, text);
      this.written.set(name, sha256Hex(text));
    }
    held.putDocument(SUMMARY_FILE, texts.summary);
    held.putDocument(MANIFEST_FILE, texts.manifest);
    held.putDocument(SUMS_FILE, new TextEncoder().encode(this.sums(state, texts)));
    return texts.document;
  }

  /**
   * Hashes of all files as they were written; artifact hashes were verified when their step committed them. Artifacts that were
   * hashed and not written are listed like those that are pruned later.
   * @param others further files with their digests
   */
  protected sums(state: RunState, texts: DocumentTexts, others: ReadonlyMap<string, string> = new Map()): string {
    const outputs = state.rows.flatMap((row) => Object.values(row.outputs));
    return formatSha256Sums(
      new Map([
        ...others,
        ...this.written,
        [MANIFEST_FILE, sha256Hex(texts.manifest)],
        [SUMMARY_FILE, sha256Hex(texts.summary)],
        ...outputs.map(({ path, sha256 }): [string, string] => [path, sha256]),
      ]),
    );
  }
}

/** Holds the documents of a run in memory; there are none before its end. */
export class HeldWriter extends RunWriter {
  override readonly directory: string;
  readonly #held: HeldFiles;

  constructor(directory: string, record: RunRecord, memory: MemorySampler, held: HeldFiles) {
    super(record, memory);
    this.directory = directory;
    this.#held = held;
  }

  override finish(end: RunEnd): Promise<SummaryDocument> {
    this.#held.recipe = this.record.recipe;
    return Promise.resolve(this.putDocuments(this.#held, end));
  }
}

/**
 * Holds a short run in memory, and writes its bundle at once at its end. One that takes longer has a bundle with status
 * `running` from then on, which grows with its steps.
 */
export class ShortWriter extends RunWriter {
  override readonly directory: InsideEntry;
  /** Artifacts that are not in the bundle. */
  pruned: PrunedFile[] = [];
  readonly #held = new HeldFiles();
  readonly #commits: BundleCommits;
  readonly #isKept: IsKept;
  readonly #timer: ReturnType<typeof setTimeout>;
  #shown: BundleWriter | undefined;
  #lock: RunLock | null = null;
  /** Of the timer, to be reported at the end. */
  #failure: { error: unknown } | undefined;

  /** @param isKept which artifacts stay once the run is complete */
  constructor(record: RunRecord, memory: MemorySampler, commits: BundleCommits, isKept: IsKept) {
    super(record, memory);
    this.directory = entryOf(commits.workspace.runs, record.runId);
    this.#commits = commits;
    this.#isKept = isKept;
    this.#timer = setTimeout(() => this.#show(), commits.shortMs);
  }

  /** Whether the run has its bundle already. */
  get isShown(): boolean {
    return this.#shown !== undefined;
  }

  /** Takes the file of an output. */
  hold(path: BundlePath, bytes: Uint8Array): void {
    this.#held.putArtifact(path, bytes);
    if (this.isShown) this.#put(path, bytes);
  }

  override addRow(row: StepRow): void {
    super.addRow(row);
    this.#shown?.addRow(row);
  }

  override async finish(end: RunEnd): Promise<SummaryDocument> {
    clearTimeout(this.#timer);
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#shown !== undefined) {
      await this.#share();
      return await this.#shown.finish(end);
    }
    const summary = this.putDocuments(this.#held, end);
    this.pruned = await this.#commits.commit(
      summary,
      this.#held,
      end.status === "completed" ? this.#isKept : undefined,
    );
    return summary;
  }

  override abandon(): void {
    clearTimeout(this.#timer);
    this.#shown?.abandon();
    this.#lock?.release();
    super.abandon();
  }

  /** Writes the bundle of a run that still executes. */
  #show(): void {
    const { workspace, files } = this.#commits, { runId } = this.record;
    try {
      const lock = this.#lock = tryLockRun(workspace, runId);
      if (lock === null) throw new SvcError("internal_error", `Cannot lock the new run ${runId}`);
      this.#shown = new BundleWriter(workspace, this.record, this.memory, files);
      for (const [path, bytes] of this.#held.artifacts) this.#put(path, bytes);
      for (const row of this.rows()) this.#shown.addRow(row);
    } catch (error) {
      this.#failure = { error };
    }
  }

  /** Stores equal artifacts once. */
  async #share(): Promise<void> {
    const artifacts = inside(this.directory, ARTIFACTS_FOLDER);
    for (const { outputs } of this.rows()) {
      for (const { path, sha256 } of Object.values(outputs)) {
        await this.#commits.contents?.share(inside(this.directory, path), sha256, artifacts);
      }
    }
  }

  /** Writes a file beside its place, and moves it there. */
  #put(path: BundlePath, bytes: Uint8Array): void {
    const { files } = this.#commits, place = inside(this.directory, path);
    const staging = stagingPath(inside(this.directory, ARTIFACTS_FOLDER), basename(path));
    makeFolderOf(place);
    files.create(staging, bytes, true);
    files.rename(staging, place);
  }
}

/** Writes the documents of a run into its folder, and replaces them while it executes. */
export class BundleWriter extends RunWriter {
  override readonly directory: InsidePath;
  readonly #files: BundleFiles;
  readonly #workspace: Workspace;
  /** Number of the unwritten artifacts in `pruned.json`. */
  #listed = 0;
  /** Settles when these documents are durable, which they become while the steps run. */
  readonly #durable: Promise<void>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #nextRewrite: number;

  /** Creates the bundle of a reserved run id with status `running`. The caller holds the lock of the run. */
  constructor(workspace: Workspace, record: RunRecord, memory: MemorySampler, files: BundleFiles = DISK) {
    super(record, memory);
    this.directory = inside(workspace.runs, record.runId);
    this.#files = files;
    this.#workspace = workspace;
    const nursery = inside(workspace.transit, record.runId);
    makeFolder(nursery);
    try {
      for (const [name, document] of staticDocuments(record)) {
        const text = prettyBytes(document);
        files.write(inside(nursery, name), text, false);
        this.written.set(name, sha256Hex(text));
      }
      const texts = documentTexts(record, this.#state());
      files.write(inside(nursery, MANIFEST_FILE), texts.manifest, false);
      files.write(inside(nursery, SUMMARY_FILE), texts.summary, false);
      files.rename(nursery, this.directory);
    } catch (error) {
      discardEntry(nursery, files.remove);
      throw error;
    }
    this.#durable = files.syncAll([...this.written.keys()].map((name) => inside(this.directory, name)));
    // A failure is reported at the end.
    this.#durable.catch(() => {});
    this.#nextRewrite = performance.now() + REWRITE_INTERVAL_MS;
  }

  override addRow(row: StepRow): void {
    super.addRow(row);
    if (this.#timer !== undefined) return;
    const wait = this.#nextRewrite - performance.now();
    if (wait <= 0) this.#rewrite();
    else this.#timer = setTimeout(() => this.#rewrite(), wait);
  }

  override async finish(end: RunEnd): Promise<SummaryDocument> {
    clearTimeout(this.#timer);
    const state = this.finalState(end);
    this.#listUnwritten();
    for (const path of stagingPaths(this.directory)) this.#files.remove(path);
    const texts = documentTexts(this.record, state);
    const place = (name: string) => inside(this.directory, name);
    const temporary = (name: string) => place(name + TEMPORARY_SUFFIX);
    const finals: [path: InsidePath, text: string | Uint8Array][] = [
      [place(SUMS_FILE), this.sums(state, texts, this.#others(state))],
      [temporary(MANIFEST_FILE), texts.manifest],
      [temporary(SUMMARY_FILE), texts.summary],
    ];
    for (const [path, text] of finals) this.#files.write(path, text, false);
    await Promise.all([this.#durable, this.#files.syncAll(finals.map(([path]) => path))]);
    for (const name of [MANIFEST_FILE, SUMMARY_FILE]) {
      this.#files.rename(temporary(name), place(name));
      await this.#files.syncFolder(this.directory);
    }
    return texts.document;
  }

  override abandon(): void {
    clearTimeout(this.#timer);
    super.abandon();
  }

  #rewrite(): void {
    this.#timer = undefined;
    const startedAt = performance.now();
    try {
      this.#listUnwritten();
      const texts = documentTexts(this.record, this.#state());
      replaceFile(this.#files, inside(this.directory, MANIFEST_FILE), texts.manifest);
      replaceFile(this.#files, inside(this.directory, SUMMARY_FILE), texts.summary);
    } catch {
      // A failure here is not reported: the previous documents stay whole, and failures of the final documents are
      // reported.
    }
    const endedAt = performance.now();
    this.#nextRewrite = endedAt + Math.max(REWRITE_INTERVAL_MS, (endedAt - startedAt) / REWRITE_TIME_SHARE);
  }

  /** Before a summary names them: a bundle lists what it lacks. */
  #listUnwritten(): void {
    const { length } = this.unwritten, found = this.unwritten.slice(this.#listed);
    if (found.length > 0) listPruned(this.#workspace, this.record.runId, found, this.#files);
    this.#listed = length;
  }

  #state(): RunState {
    const { metrics, evidence } = this.memory.pending();
    return {
      status: "running",
      completedAtUtc: null,
      rows: this.rows(),
      metrics,
      measurementEvidence: { "memory.run.rss": evidence },
    };
  }

  /** Files of the folder that are neither documents nor outputs. */
  #others(state: RunState): Map<string, string> {
    const outputs = state.rows.flatMap((row) => Object.values(row.outputs)).map(({ path }): string => path);
    const known = new Set([...outputs, ...this.written.keys(), MANIFEST_FILE, SUMMARY_FILE, SUMS_FILE, PRUNED_FILE]);
    const paths = listFiles(this.directory).map(({ path }) => path).filter((path) => !known.has(path));
    return new Map(paths.map((path) => [path, hashFile(inside(this.directory, path)).sha256]));
  }
}

/** Documents that never change. */
function staticDocuments(record: RunRecord): [string, Value][] {
  return [[AUTHORED_FILE, record.authored], [RECIPE_FILE, record.recipe], [PLAN_FILE, record.plan]];
}

export interface DocumentTexts {
  document: SummaryDocument;
  summary: Uint8Array;
  manifest: Uint8Array;
}

/** The summary, its file, and the file of the manifest that holds its hash. */
export function documentTexts(record: RunRecord, state: RunState): DocumentTexts {
  const document = summaryDocument(record, state);
  const summary = prettyBytes(document);
  return { document, summary, manifest: prettyBytes(manifestDocument(record, state, summary)) };
}
