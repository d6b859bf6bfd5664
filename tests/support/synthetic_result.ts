/** A complete result of any number of rows, written as a benchmark writes it, without running anything. */
import { join } from "node:path";
import { EvidenceWriter } from "../../lib/benchmark/evidence.ts";
import { exportFiles } from "../../lib/benchmark/export.ts";
import { Ledger } from "../../lib/benchmark/ledger.ts";
import { assembleResult, type BenchmarkEnd, type ResultHead } from "../../lib/benchmark/result.ts";
import { benchmarkWorkspace, endFields } from "../../lib/benchmark/store.ts";
import { LEDGER_FILE, PACK_RECORD_FILE, RESULT_FILE, type ResultRow } from "../../lib/benchmark/types.ts";
import { sha256Hex, sha256Json } from "../../lib/contract/hash.ts";
import { canonicalJson, prettyJson } from "../../lib/contract/json.ts";
import { rateMetadata } from "../../lib/contract/metric_metadata.ts";
import { float, type JsonObject } from "../../lib/contract/value.ts";
import {
  AUTHORED_FILE,
  MANIFEST_FILE,
  PLAN_FILE,
  RECIPE_FILE,
  SUMMARY_FILE,
  SUMS_FILE,
} from "../../lib/run/documents.ts";
import { DISK, formatSha256Sums, replaceFile } from "../../lib/run/files.ts";
import type { Workspace } from "../../lib/run/workspace.ts";
import { resultOf } from "../lib/benchmark/result_fixture.ts";
import { bitCounts } from "./rates.ts";

const BITS = 10_000;

export interface SyntheticOptions {
  recipes: number;
  replicates: number;
  /** Whether rows have snapshots that prove them; default true. */
  evidence?: boolean;
  /** Replicates of the first process; it ends there without a word. */
  until?: number;
  resultId?: string;
  /** Whether the first two rows name one run. */
  sharedRun?: boolean;
}

/** Bit errors over SNR; the same for the same recipe and replicate. */
function rowOf(index: number, replicate: number, evidence: EvidenceWriter | null, shared = false): ResultRow {
  const id = `link_${index}`, snr = float(index / 8);
  const events = (index * 7919 + replicate * 104729) % 97;
  const run_id = shared && index + replicate < 2
    ? "20260101T000000Z_shared"
    : `20260101T000000Z_${id}_${replicate + 1}`;
  const counts = rateMetadata({ "channel.ber": bitCounts(events, BITS) })
    .metric_metadata as ResultRow["metric_metadata"];
  const measured = {
    "channel.ber": float(events / BITS),
    "channel.error_count": events,
    "channel.compare_bit_count": BITS,
    "channel.snr_db": snr,
  };
  const recipe = { name: id, metadata: { seed: replicate }, steps: [] as JsonObject[] };
  const summary = canonicalJson({
    run_id,
    metrics: {},
    steps: [{ id: "ber", op: "metrics.bit_error_rate", metrics: measured, outputs: {} }],
  });
  const documents: Record<string, string> = {
    [AUTHORED_FILE]: canonicalJson(recipe),
    [RECIPE_FILE]: canonicalJson(recipe),
    [PLAN_FILE]: "{}",
    [SUMMARY_FILE]: summary,
    [MANIFEST_FILE]: "{}",
  };
  const sums = new Map(Object.entries(documents).map(([name, text]) => [name, sha256Hex(text)]));
  documents[SUMS_FILE] = formatSha256Sums(sums);
  const snapshot = evidence?.write({ id, replicate }, {
    schema_version: 1,
    kind: "svc.run_evidence_snapshot",
    run_id,
    documents,
    reports: {},
    retained: {},
  });
  const origin = {
    step_id: "ber",
    operation_id: "metrics.bit_error_rate",
    artifact_sha256: null,
    definition_version: 1,
  };
  return {
    id,
    replicate,
    label: `Link at ${index / 8} dB`,
    role: "candidate",
    method_id: "link",
    baseline_id: null,
    recipe_name: id,
    recipe_path: "recipes/link.yaml",
    matrix_selection: { snr_db: snr },
    run_id,
    run_dir: null,
    status: "completed",
    manifest: { path: MANIFEST_FILE, sha256: sums.get(MANIFEST_FILE)! },
    recipe_sha256: sha256Json(recipe),
    semantic_recipe_sha256: sha256Json({ id }),
    research: { task: { id: "bit_transport" } },
    metrics: {
      ...measured,
      ...Object.fromEntries(Object.entries(measured).map(([name, value]) => [`steps.ber.${name}`, value])),
    },
    metric_metadata: counts,
    metric_provenance: Object.fromEntries(Object.keys(measured).map((name) => [name, origin])),
    run_evidence_snapshot: snapshot === undefined ? null : { ...snapshot },
  };
}

/**
 * Writes a result.
 * @returns its id
 */
export function writeSyntheticResult(workspace: Workspace, options: SyntheticOptions): string {
  const { recipes, replicates, evidence = true, until } = options;
  const result_id = options.resultId ?? "20260101T000000Z_synthetic";
  const directory = join(benchmarkWorkspace(workspace).runs, result_id);
  Deno.mkdirSync(directory, { recursive: true });
  const document = { id: "demo", recipes };
  const { recipes: _, aggregates: __, comparisons: ___, ...shape } = resultOf([], ["channel.ber"], 1);
  const ledger = Ledger.open(join(directory, LEDGER_FILE), "a1");
  try {
    if (ledger.index.start === null) {
      const ids = Array.from({ length: recipes }, (_, index) => ({ id: `link_${index}` }));
      ledger.append("attempt_started", { recipes: ids }, false);
    } else ledger.append("attempt_resumed", {}, false);
    const writer = evidence ? new EvidenceWriter(directory, ledger.index.evidence) : null;
    const head: ResultHead = {
      ...shape,
      schema_version: 2,
      result_id,
      status: "running",
      benchmark: { ...shape.benchmark, sha256: sha256Json(document) },
      attempt_ledger: { ...shape.attempt_ledger, start_event_sha256: ledger.index.start!.sha256 },
      replication: { ...resultOf([], [], 2).replication!, replicates },
    };
    replaceFile(DISK, join(directory, PACK_RECORD_FILE), prettyJson({ pack: document }));
    replaceFile(
      DISK,
      join(directory, RESULT_FILE),
      prettyJson({ ...head, recipes: [], aggregates: [], comparisons: [] }),
    );
    for (let replicate = 0; replicate < (until ?? replicates); replicate++) {
      for (let index = 0; index < recipes; index++) {
        if (ledger.index.has(`link_${index}`, replicate)) continue;
        ledger.append("row_completed", { row: rowOf(index, replicate, writer, options.sharedRun) }, false);
      }
    }
    if (until !== undefined) return result_id;
    const end: BenchmarkEnd = { status: "completed", completed_at_utc: "2026-01-02T00:00:00.000Z", reports: [] };
    const result = assembleResult(head, ledger.index, end, directory);
    result.reports = end.reports = Object.keys(exportFiles(result)).filter((name) => !name.startsWith("metrics"));
    const text = prettyJson(result);
    for (const name of result.reports) replaceFile(DISK, join(directory, name), exportFiles(result)[name]());
    ledger.append("attempt_ended", endFields(end, sha256Hex(text)));
    replaceFile(DISK, join(directory, RESULT_FILE), text);
    return result_id;
  } finally {
    ledger.close();
  }
}
