/** A complete result of any number of rows, written as a benchmark writes it, without running anything. */
import { inside, type InsidePath } from "../../lib/artifact/inside.ts";
import { join } from "node:path";
import { exists } from "../../lib/artifact/path_kind.ts";
import { EvidenceWriter } from "../../lib/study/rows/evidence.ts";
import { exportFiles } from "../../lib/study/report/export.ts";
import { Ledger } from "../../lib/study/rows/ledger.ts";
import { recipeOfReplicate } from "../../lib/study/pack/load_pack.ts";
import { packOfRecord, type PackRecipe } from "../../lib/study/pack/pack_record.ts";
import { replicationArguments, settleReplication } from "../../lib/study/pack/replication.ts";
import { assembleResult, type BenchmarkEnd, identityOf, type ResultHead } from "../../lib/study/rows/result.ts";
import { rowOfRun } from "../../lib/study/rows/row.ts";
import { benchmarkWorkspace, endFields } from "../../lib/study/rows/store.ts";
import {
  LEDGER_FILE,
  PACK_RECORD_FILE,
  type PackRecord,
  RESULT_FILE,
  type ResultRow,
  type StartFields,
} from "../../lib/study/pack/types.ts";
import { sha256Hex, sha256Json } from "../../lib/contract/hash.ts";
import { canonicalJson, prettyJson } from "../../lib/contract/json.ts";
import { rateMetadata } from "../../lib/contract/metric_metadata.ts";
import { Registry } from "../../lib/contract/registry.ts";
import { float, type JsonObject } from "../../lib/contract/value.ts";
import type { StepRow } from "../../lib/execute/types.ts";
import { methodText } from "../../lib/plan/build.ts";
import { planRecipe } from "../../lib/plan/planner.ts";
import { compileRecipe } from "../../lib/recipe/compile.ts";
import { recipeSpecs } from "../../lib/research/specs.ts";
import {
  AUTHORED_FILE,
  MANIFEST_FILE,
  manifestDocument,
  PLAN_FILE,
  RECIPE_FILE,
  type RunRecord,
  type RunState,
  SUMMARY_FILE,
  summaryDocument,
  SUMS_FILE,
} from "../../lib/run/documents.ts";
import { DISK, formatSha256Sums, replaceFile } from "../../lib/run/files.ts";
import type { Workspace } from "../../lib/run/workspace.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import { resultOf } from "../lib/study/result_fixture.ts";
import { bitCounts } from "./rates.ts";

const BITS = 10_000;
const registry = new Registry();
registry.register(BUILTIN_OPERATIONS);

export interface SyntheticOptions {
  recipes: number;
  replicates: number;
  /** Whether rows have snapshots that prove them; default true. Without them a result does not verify. */
  evidence?: boolean;
  /** Replicates of the first process; it ends there without a word. */
  until?: number;
  resultId?: string;
  /** Whether the first two rows name one run. */
  sharedRun?: boolean;
}

/** The record of a pack of links over SNR. */
function recordOf({ recipes, replicates }: SyntheticOptions): PackRecord {
  const links = Array.from({ length: recipes }, (_, index) => ({ id: `link_${index}`, snr: float(index / 8) }));
  const pack: JsonObject = {
    schema_version: 1,
    id: "synthetic",
    version: "1",
    dataset: { id: "synthetic_random_bits" },
    task: { id: "bit_transport" },
    metrics: ["channel.ber"],
    recipes: links.map(({ id, snr }) => ({
      id,
      label: `Link at ${snr} dB`,
      path: "recipes/link.yaml",
      params: {
        method_id: "link",
        metadata: { matrix_selection: { snr_db: snr } },
        step_params: { link: { snr_db: snr } },
      },
    })),
    replication: { replicates },
  };
  return {
    schema_version: 1,
    kind: "svc.benchmark_pack_record",
    pack,
    pack_sha256: sha256Json(pack),
    pack_file: "pack.json",
    pack_folder: "",
    recipes: links.map(({ id, snr }) => {
      const recipe: JsonObject = {
        schema_version: 1,
        name: `link__${id}`,
        execution_profile: { id: "custom", version: 1 },
        metadata: { research: { task: { id: "bit_transport" } }, matrix_selection: { snr_db: snr } },
        steps: [
          { id: "data", op: "source.random_bits", params: { bit_count: BITS }, inputs: {} },
          { id: "link", op: "wireless.digital_link", params: { snr_db: snr }, inputs: { bits: "data.bits" } },
          {
            id: "ber",
            op: "metrics.bit_error_rate",
            params: {},
            inputs: { reference: "data.bits", candidate: "link.bits" },
          },
        ],
      };
      return { id, recipe, recipe_sha256: sha256Json(recipe) };
    }),
  };
}

/** The rows of steps with made-up bit errors, the same for the same seed of the link, and the report of the last. */
function stepRows(steps: JsonObject[], events: number): { rows: StepRow[]; report: string } {
  const metrics = {
    "channel.ber": float(events / BITS),
    "channel.compare_bit_count": BITS,
    "channel.error_count": events,
  };
  const counts = rateMetadata({ "channel.ber": bitCounts(events, BITS) });
  const operation = "metrics.bit_error_rate";
  const report = `${canonicalJson({ kind: "metrics.report", schema_version: 1, operation, metrics, ...counts })}\n`;
  const bits = (id: string) => ({
    bits: {
      kind: "channel.payload_bits.numpy",
      path: `artifacts/${id}/bits.npz`,
      metadata: {},
      sha256: sha256Hex(`${id} ${events}`),
    },
  });
  const written = [
    { outputs: bits("data"), metrics: {}, metadata: {} },
    { outputs: bits("link"), metrics: {}, metadata: {} },
    {
      outputs: {
        report: { kind: "metrics.report", path: "artifacts/ber/report.json", metadata: {}, sha256: sha256Hex(report) },
      },
      metrics,
      metadata: counts,
    },
  ];
  const rows = steps.map((binding, index) => ({
    id: binding.step_id,
    op: binding.operation_id,
    status: "completed",
    execution_binding: binding,
    ...written[index],
  }));
  return { rows: rows as object as StepRow[], report };
}

interface Making {
  pack: ReturnType<typeof packOfRecord>["pack"];
  replication: StartFields["replication"];
  evidence: EvidenceWriter | null;
}

/** The documents of a run as the program writes them. */
async function runOf({ pack, replication }: Making, { entry, recipe }: PackRecipe, replicate: number, run_id: string) {
  const raw = recipeOfReplicate(pack, recipe!, replication, replicate);
  const compilation = compileRecipe(raw, { mode: "strict", registry });
  const planned = await planRecipe(compilation, { registry, usePlanCache: false });
  if (planned.status === "refused") throw new Error(planned.diagnostics[0].message);
  const events = (entry.index * 7919 + replicate * 104729) % 97;
  const { rows, report } = stepRows(planned.plan.steps as object as JsonObject[], events);
  const time = "2026-01-01T00:00:00.000Z";
  const record: RunRecord = {
    runId: run_id,
    jobId: null,
    createdAtUtc: time,
    authored: compilation.normalized!,
    authoredSha256: compilation.authored_sha256!,
    recipe: planned.recipe,
    recipeSha256: sha256Json(planned.recipe),
    plan: planned.plan,
    planCache: null,
    execution: { mode: "sequential", parallel_workers: 1 },
    seedPolicy: compilation.seed_policy!,
    research: recipeSpecs(planned.recipe),
    environment: { svc: { build_sha256: null } },
    warnings: null,
  };
  const state: RunState = { status: "completed", completedAtUtc: time, rows, metrics: {}, measurementEvidence: {} };
  const summary = summaryDocument(record, state) as object as JsonObject, summaryText = prettyJson(summary);
  const documents: Record<string, string> = {
    [AUTHORED_FILE]: prettyJson(record.authored),
    [RECIPE_FILE]: prettyJson(record.recipe),
    [PLAN_FILE]: prettyJson(record.plan as object as JsonObject),
    [SUMMARY_FILE]: summaryText,
    [MANIFEST_FILE]: prettyJson(manifestDocument(record, state, summaryText) as object as JsonObject),
  };
  const sums = new Map(Object.entries(documents).map(([name, text]) => [name, sha256Hex(text)]));
  for (const { outputs } of rows) for (const { path, sha256 } of Object.values(outputs)) sums.set(path, sha256);
  documents[SUMS_FILE] = formatSha256Sums(sums);
  const reports: Record<string, string> = { "artifacts/ber/report.json": report };
  const row = rowOfRun(pack, entry, raw, replicate, {
    run_id,
    summary,
    effective: planned.recipe,
    sums,
    report: (path) => reports[path],
  });
  return { row, documents, reports, method: sha256Json(planned.plan.steps.map(methodText)) };
}

/** A row as of {@link runOf}, without its documents. */
function bareRow(template: ResultRow, replicate: number, run_id: string): ResultRow {
  return { ...template, replicate, run_id, run_evidence_snapshot: null };
}

/** Ends the attempt of the first process, as a reader does. */
function endFirst(path: InsidePath): void {
  const ledger = Ledger.open(path, "a1"), completed_at_utc = "2026-01-02T00:00:00.000Z";
  const end: BenchmarkEnd = { status: "incomplete", completed_at_utc, incomplete_reason: "interrupted", reports: [] };
  ledger.append("attempt_ended", endFields(end, "0".repeat(64)), false);
  ledger.close();
}

/**
 * Writes a result.
 * @returns its id
 */
export async function writeSyntheticResult(workspace: Workspace, options: SyntheticOptions): Promise<string> {
  const { replicates, evidence = true, until, sharedRun } = options;
  const result_id = options.resultId ?? "20260101T000000Z_synthetic";
  const directory = join(benchmarkWorkspace(workspace).runs, result_id);
  Deno.mkdirSync(directory, { recursive: true });
  const record = recordOf(options), { pack, recipes } = packOfRecord(record);
  const replication = settleReplication(pack, { replicates, ...replicationArguments(null) }, []);
  const path = inside(directory, LEDGER_FILE), resumed = exists(path);
  if (resumed) endFirst(path);
  const ledger = Ledger.open(path, resumed ? "a2" : "a1");
  const making: Making = { pack, replication, evidence: null };
  try {
    const templates = await Promise.all(recipes.map((one) => runOf(making, one, 0, "20260101T000000Z_template")));
    if (ledger.index.start === null) {
      ledger.append("attempt_started", {
        result_id,
        pack_sha256: pack.sha256,
        execution: { mode: "sequential", parallel_workers: 1 },
        build_sha256: null,
        replication,
        storage: { backing_run_policy: "pruned_after_snapshot" },
        recipes: record.recipes.map(({ id, recipe_sha256 }) => ({ id, recipe_sha256 })),
        methods: sha256Json(templates.map(({ method }) => method)),
      }, false);
    } else {
      ledger.append("attempt_resumed", { reused_rows: ledger.index.completedCount, repaired_bytes: 0 }, false);
    }
    making.evidence = evidence ? new EvidenceWriter(directory, ledger.index.evidence) : null;
    const { recipes: _, aggregates: __, comparisons: ___, ...shape } = resultOf([], ["channel.ber"], 1);
    const head: ResultHead = {
      ...shape,
      schema_version: 3,
      result_id,
      status: "running",
      attempt_id: ledger.attemptId,
      benchmark: identityOf(pack, { errors: [], warnings: [] }),
      attempt_ledger: { ...shape.attempt_ledger, start_event_sha256: ledger.index.start!.sha256 },
      execution: { ...ledger.index.start!.fields.execution, continue_on_error: false },
      replication,
      ...(!resumed ? {} : {
        resume: {
          resumed_at_utc: "2026-01-02T00:00:00.000Z",
          earlier_attempt_ids: ["a1"],
          reused_rows: ledger.index.completedCount,
        },
      }),
    };
    replaceFile(DISK, inside(directory, PACK_RECORD_FILE), prettyJson(record as object as JsonObject));
    replaceFile(
      DISK,
      inside(directory, RESULT_FILE),
      prettyJson({ ...head, recipes: [], aggregates: [], comparisons: [] } as object as JsonObject),
    );
    for (let replicate = 0; replicate < (until ?? replicates); replicate++) {
      for (const [index, one] of recipes.entries()) {
        const { id } = one.entry;
        if (ledger.index.has(id, replicate)) continue;
        const run_id = sharedRun && index + replicate < 2
          ? "20260101T000000Z_shared"
          : `20260101T000000Z_${id}_${replicate + 1}`;
        let row: ResultRow;
        if (making.evidence === null) row = bareRow(templates[index].row, replicate, run_id);
        else {
          const { documents, reports, ...made } = await runOf(making, one, replicate, run_id);
          row = made.row;
          row.run_evidence_snapshot = await making.evidence.write({ id, replicate }, {
            schema_version: 1,
            kind: "svc.run_evidence_snapshot",
            run_id,
            documents,
            reports,
            retained: {},
          });
        }
        ledger.append("row_completed", { row }, false);
      }
    }
    if (until !== undefined) return result_id;
    const end: BenchmarkEnd = { status: "completed", completed_at_utc: "2026-01-02T00:00:00.000Z", reports: [] };
    const result = assembleResult(head, ledger.index, end, directory);
    result.reports = end.reports = Object.keys(exportFiles(result)).filter((name) => !name.startsWith("metrics"));
    const text = prettyJson(result as object as JsonObject);
    for (const name of result.reports) replaceFile(DISK, inside(directory, name), exportFiles(result)[name]());
    ledger.append("attempt_ended", endFields(end, sha256Hex(text)));
    replaceFile(DISK, inside(directory, RESULT_FILE), text);
    return result_id;
  } finally {
    ledger.close();
  }
}
