/**
 * Writes a run bundle.
 *
 * The five documents are written in the transit folder; one rename moves the folder to `runs/`. Summary and manifest
 * are replaced at intervals while steps finish. At the end SHA256SUMS is written, and manifest and summary beside the old
 * ones; all are made durable together, then the manifest and at last the summary are renamed into place. SHA256SUMS and the
 * manifest already hold the hash of the final summary. A process that stops earlier leaves a summary with status `running`,
 * so no bundle claims an end that verification would refuse.
 */
import { hashFile } from "../artifact/hash_file.ts";
import { discardEntry, inside, type InsidePath, makeFolder } from "../artifact/inside.ts";
import { sha256Hex } from "../contract/hash.ts";
import { prettyJson, type Value } from "../contract/json.ts";
import { stagingPaths } from "../execute/staging.ts";
import type { StepRow } from "../execute/types.ts";
import type { SummaryDocument } from "./bundle_schema.ts";
import {
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
import type { MemorySampler } from "./memory.ts";
import type { Workspace } from "./workspace.ts";

/** Shortest interval between two replacements of summary and manifest while the run executes. */
const REWRITE_INTERVAL_MS = 200;
/** Largest share of the run time spent on these replacements. */
const REWRITE_TIME_SHARE = 0.05;

/** How a run ended. */
export type RunEnd = Pick<RunState, "status" | "error" | "failure" | "resourceGuard">;

export class BundleWriter {
  /** Absolute. */
  readonly directory: InsidePath;
  readonly #record: RunRecord;
  readonly #memory: MemorySampler;
  readonly #files: BundleFiles;
  readonly #order: Map<string, number>;
  readonly #rows = new Map<string, StepRow>();
  /** Digests of the documents that never change. */
  readonly #written = new Map<string, string>();
  /** Settles when these documents are durable, which they become while the steps run. */
  readonly #durable: Promise<void>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #nextRewrite: number;

  /** Creates the bundle of a reserved run id with status `running`. The caller holds the lock of the run. */
  constructor(workspace: Workspace, record: RunRecord, memory: MemorySampler, files: BundleFiles = DISK) {
    this.directory = inside(workspace.runs, record.runId);
    this.#record = record;
    this.#memory = memory;
    this.#files = files;
    this.#order = new Map(record.plan.steps.map((step, index) => [step.step_id, index]));
    const nursery = inside(workspace.transit, record.runId);
    makeFolder(nursery);
    try {
      for (const [name, document] of staticDocuments(record)) {
        const text = prettyJson(document);
        files.write(inside(nursery, name), text, false);
        this.#written.set(name, sha256Hex(text));
      }
      const texts = documentTexts(record, this.#state());
      files.write(inside(nursery, MANIFEST_FILE), texts.manifest, false);
      files.write(inside(nursery, SUMMARY_FILE), texts.summary, false);
      files.rename(nursery, this.directory);
    } catch (error) {
      discardEntry(nursery, files.remove);
      throw error;
    }
    this.#durable = files.syncAll([...this.#written.keys()].map((name) => inside(this.directory, name)));
    // A failure is reported at the end.
    this.#durable.catch(() => {});
    this.#nextRewrite = performance.now() + REWRITE_INTERVAL_MS;
  }

  addRow(row: StepRow): void {
    this.#rows.set(row.id, row);
    if (this.#timer !== undefined) return;
    const wait = this.#nextRewrite - performance.now();
    if (wait <= 0) this.#rewrite();
    else this.#timer = setTimeout(() => this.#rewrite(), wait);
  }

  /**
   * Writes the final documents.
   * @returns the final summary, as written
   */
  async finish(end: RunEnd): Promise<{ summary: SummaryDocument; path: string }> {
    clearTimeout(this.#timer);
    const { metrics, evidence } = this.#memory.stop();
    const rows = this.#rowsInPlanOrder();
    const state: RunState = {
      ...end,
      completedAtUtc: new Date().toISOString(),
      rows,
      metrics: { ...metrics, ...ebn0Metric(rows), ...taskMetrics(rows, this.#record.research) },
      measurementEvidence: { "memory.run.rss": evidence },
    };
    for (const path of stagingPaths(this.directory)) this.#files.remove(path);
    const texts = documentTexts(this.#record, state);
    const place = (name: string) => inside(this.directory, name);
    const temporary = (name: string) => place(name + TEMPORARY_SUFFIX);
    const finals: [path: InsidePath, text: string][] = [
      [place(SUMS_FILE), this.#sums(state, texts)],
      [temporary(MANIFEST_FILE), texts.manifest],
      [temporary(SUMMARY_FILE), texts.summary],
    ];
    for (const [path, text] of finals) this.#files.write(path, text, false);
    await Promise.all([this.#durable, this.#files.syncAll(finals.map(([path]) => path))]);
    for (const name of [MANIFEST_FILE, SUMMARY_FILE]) {
      this.#files.rename(temporary(name), place(name));
      await this.#files.syncFolder(this.directory);
    }
    return { summary: texts.document, path: place(SUMMARY_FILE) };
  }

  /** Stops timers and memory sampling when the bundle cannot be finished. */
  abandon(): void {
    clearTimeout(this.#timer);
    this.#memory.stop();
  }

  #rewrite(): void {
    this.#timer = undefined;
    const startedAt = performance.now();
    try {
      const texts = documentTexts(this.#record, this.#state());
      replaceFile(this.#files, inside(this.directory, MANIFEST_FILE), texts.manifest);
      replaceFile(this.#files, inside(this.directory, SUMMARY_FILE), texts.summary);
    } catch {
      // A failure here is not reported: the previous documents stay whole, and failures of the final documents are
      // reported.
    }
    const endedAt = performance.now();
    this.#nextRewrite = endedAt + Math.max(REWRITE_INTERVAL_MS, (endedAt - startedAt) / REWRITE_TIME_SHARE);
  }

  #state(): RunState {
    const { metrics, evidence } = this.#memory.pending();
    return {
      status: "running",
      completedAtUtc: null,
      rows: this.#rowsInPlanOrder(),
      metrics,
      measurementEvidence: { "memory.run.rss": evidence },
    };
  }

  #rowsInPlanOrder(): StepRow[] {
    return [...this.#rows.values()].sort((a, b) => this.#order.get(a.id)! - this.#order.get(b.id)!);
  }

  /**
   * Hashes of all files as they were written; artifact hashes were verified when their step committed them. Artifacts that were
   * hashed and not written are listed like those that are pruned later.
   */
  #sums(state: RunState, texts: DocumentTexts): string {
    const known = new Map(this.#written)
      .set(MANIFEST_FILE, sha256Hex(texts.manifest)).set(SUMMARY_FILE, sha256Hex(texts.summary));
    const outputs = state.rows.flatMap((row) => Object.values(row.outputs));
    for (const { path, sha256 } of outputs) known.set(path, sha256);
    const present = listFiles(this.directory).map(({ path }) => path)
      .filter((path) => path !== SUMS_FILE && path !== PRUNED_FILE);
    const paths = new Set([...present, ...outputs.map(({ path }) => path)]);
    return formatSha256Sums(
      new Map(Array.from(paths, (path) => [path, known.get(path) ?? hashFile(inside(this.directory, path)).sha256])),
    );
  }
}

/** Documents that never change. */
function staticDocuments(record: RunRecord): [string, Value][] {
  return [[AUTHORED_FILE, record.authored], [RECIPE_FILE, record.recipe], [PLAN_FILE, record.plan]];
}

export interface DocumentTexts {
  document: SummaryDocument;
  summary: string;
  manifest: string;
}

/** The summary, its text, and the text of the manifest that holds its hash. */
export function documentTexts(record: RunRecord, state: RunState): DocumentTexts {
  const document = summaryDocument(record, state);
  const summary = prettyJson(document);
  return { document, summary, manifest: prettyJson(manifestDocument(record, state, summary)) };
}
