/**
 * Every field of a result is changed in turn: record of the pack, events and rows of the ledger, result and the documents of
 * a run. Everything else is derived again as a forger would: digests, the chain of the ledger, places of snapshots,
 * statistics and view. Verification fails, or the field is on the list of what a result does not prove. Every sixth field is
 * changed; `deno task soak whole` changes all.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { inside } from "../../../lib/artifact/inside.ts";
import { EvidenceWriter, readSnapshot } from "../../../lib/study/rows/evidence.ts";
import { LedgerIndex } from "../../../lib/study/rows/ledger.ts";
import { packOfRecord } from "../../../lib/study/pack/pack_record.ts";
import { assembleResult, headOf, identityOf } from "../../../lib/study/rows/result.ts";
import { endOf } from "../../../lib/study/rows/store.ts";
import {
  type BenchmarkResult,
  LEDGER_FILE,
  type LedgerEvent,
  PACK_RECORD_FILE,
  type PackRecord,
  RESULT_FILE,
  type ResultRow,
  type Snapshot,
} from "../../../lib/study/pack/types.ts";
import { sha256Hex, sha256Json } from "../../../lib/contract/hash.ts";
import { canonicalJson, parseJson, prettyJson, sameValue } from "../../../lib/contract/json.ts";
import { cloneValue, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import {
  AUTHORED_FILE,
  MANIFEST_FILE,
  PLAN_FILE,
  RECIPE_FILE,
  SUMMARY_FILE,
  SUMS_FILE,
} from "../../../lib/run/documents.ts";
import { parseSha256Sums } from "../../../lib/run/files.ts";
import type { Unchecked as Documents } from "../../../lib/run/verify_documents.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { changed, forged, isListed, leaves, type Place } from "../../support/mutations.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";
import { isSampled } from "../../support/sample.ts";
import { verifyBenchmark } from "../../support/session.ts";
import { writeSyntheticResult } from "../../support/synthetic_result.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const DOCUMENTS = [AUTHORED_FILE, RECIPE_FILE, PLAN_FILE, SUMMARY_FILE, MANIFEST_FILE] as const;
const REPORT = "artifacts/ber/report.json";

/** Fields that a result does not prove, by file and place, with the reason. */
const NOT_EVIDENCE: Record<string, string> = {
  "benchmark\\.json\\.pack_(file|folder)": "where the pack was",
  "benchmark\\.json\\.pack\\.replication\\.replicates": "an option replaces it; the ledger has the number that counts",
  "ledger\\.\\d+\\.fields\\.reports.*": "names of tables, which can be made again; a missing one is a warning",
  "result\\.json\\.execution\\.continue_on_error": "it has no effect without a failed row",
  "execution-plan\\.json\\.operation_contracts\\.schema_version": "a name of the form",
  "result\\.json\\.(created|completed)_at_utc": "times of the machine",
  "ledger\\.\\d+\\.time": "times of the machine",
  "ledger\\.\\d+\\.fields\\.completed_at_utc": "times of the machine",
  "summary\\.json\\.(created|completed)_at_utc": "times of the machine",
  "summary\\.json\\.job_id": "label of the job that asked for the run",
  "summary\\.json\\.measurement_evidence": "how memory was measured",
  "summary\\.json\\.steps\\.\\d+\\.outputs\\.[^.]+\\.metadata": "described by the artifact; runs reproduce compares it",
  "summary\\.json\\.steps\\.[01]\\.metadata": "facts of a step beside its artifacts; runs reproduce compares them",
  "execution-plan\\.json\\.steps\\.\\d+\\.(schema_version|implementation_metadata\\..*)":
    "how an implementation was chosen; its identity is proven",
  "execution-plan\\.json\\.resources\\..*": "an estimate",
  "manifest\\.json\\.recipe\\.research\\..*": "derived from the recipe where it is used",
  "artifacts/ber/report\\.json\\.(kind|operation|schema_version)": "names of the form",
};

interface Model {
  record: PackRecord;
  result: BenchmarkResult;
  events: LedgerEvent[];
  /** Documents and reports of the first row. */
  documents: Documents;
  reports: { [path: string]: Value };
}

Deno.test("a changed field of a result fails its verification, whatever else is derived again", async () => {
  const folder = temporaryFolder();
  const workspace = openWorkspace({ projectRoot: folder, stateDir: folder });
  const id = await writeSyntheticResult(workspace, { recipes: 2, replicates: 2 });
  const directory = join(folder, "benchmarks", id), ledgerPath = inside(directory, LEDGER_FILE);
  const put = (name: string, text: string) => Deno.writeTextFileSync(join(directory, name), text);
  const objectIn = (name: string) => parseJson(Deno.readTextFileSync(join(directory, name))) as object;
  const events = Deno.readTextFileSync(ledgerPath).trimEnd().split("\n").map((line) =>
    parseJson(line) as object as LedgerEvent
  );
  const rowsOf = (list: LedgerEvent[]): ResultRow[] =>
    list.flatMap((event) => event.kind === "row_completed" ? [event.fields.row] : []);
  const snapshots = rowsOf(events).map((row) => readSnapshot(directory, row.run_evidence_snapshot!));
  const [first] = snapshots;
  const original: Model = {
    record: objectIn(PACK_RECORD_FILE) as PackRecord,
    result: objectIn(RESULT_FILE) as BenchmarkResult,
    events,
    documents: Object.fromEntries(DOCUMENTS.map((name) => [name, parseJson(first.documents[name])])) as Documents,
    reports: { [REPORT]: parseJson(first.reports[REPORT]) },
  };
  const copy = () => cloneValue(original as object as JsonObject) as object as Model;

  /** Writes the model, with everything derived again; `last` is changed after that. */
  const write = async (model: Model, last?: { file: string; place: Place }): Promise<void> => {
    const { record, events } = model, rows = rowsOf(events);
    const start = events[0] as Extract<LedgerEvent, { kind: "attempt_started" }>;
    const inRun = DOCUMENTS.find((name) => name === last?.file);
    const { texts, reports, sums } = forged(
      model,
      first.run_id,
      parseSha256Sums(first.documents[SUMS_FILE]),
      (report) => `${canonicalJson(report)}\n`,
      inRun === undefined ? undefined : { file: inRun, place: last!.place },
    );
    const made: Snapshot[] = [{ ...first, documents: texts, reports }, ...snapshots.slice(1)];
    Deno.removeSync(join(directory, "evidence"), { recursive: true });
    const writer = new EvidenceWriter(directory, null);
    for (const [index, row] of rows.entries()) row.run_evidence_snapshot = await writer.write(row, made[index]);
    rows[0].manifest!.sha256 = sums.get(MANIFEST_FILE)!;
    rows[0].recipe_sha256 = sha256Json(parseJson(texts[RECIPE_FILE]));
    for (const origin of Object.values(rows[0].metric_provenance)) origin.artifact_sha256 = sums.get(REPORT)!;
    record.pack_sha256 = start.fields.pack_sha256 = model.result.benchmark.sha256 = sha256Json(record.pack);
    for (const [index, one] of record.recipes.entries()) {
      one.recipe_sha256 = start.fields.recipes[index].recipe_sha256 = sha256Json(one.recipe as JsonObject);
      start.fields.recipes[index].id = one.id;
    }
    if (last?.file === PACK_RECORD_FILE) {
      model.record = changed(record as object as JsonObject, last.place) as object as PackRecord;
    }
    try {
      const { pack } = packOfRecord(model.record);
      model.result.benchmark = identityOf(pack, model.result.benchmark.catalog_validation);
    } catch {
      // No pack: the result keeps its own.
    }
    let previous: string | null = null;
    const lines: string[] = [];
    const append = (event: LedgerEvent) => {
      const line = canonicalJson(
        { ...event, seq: lines.length + 1, previous_sha256: previous } as object as JsonObject,
      );
      lines.push(line);
      previous = sha256Hex(line);
    };
    const altered = (event: LedgerEvent, index: number): LedgerEvent =>
      last?.file === "ledger" && last.place[0] === index
        ? changed(event as object as JsonObject, last.place.slice(1)) as object as LedgerEvent
        : event;
    const end = events.at(-1) as Extract<LedgerEvent, { kind: "attempt_ended" }>;
    events.slice(0, -1).forEach((event, index) => append(altered(event, index)));
    put(LEDGER_FILE, lines.join("\n") + "\n");
    let result = model.result;
    try {
      const index = new LedgerIndex(ledgerPath).advance();
      const attempt_ledger = { ...result.attempt_ledger, start_event_sha256: index.start!.sha256 };
      result = assembleResult({ ...headOf(result), attempt_ledger }, index, endOf(end.fields), null);
    } catch {
      // No ledger: nothing follows from it.
    }
    if (last?.file === RESULT_FILE) {
      result = changed(result as object as JsonObject, last.place) as object as BenchmarkResult;
    }
    const text = prettyJson(result as object as JsonObject);
    end.fields.result_sha256 = sha256Hex(text);
    append(altered(end, events.length - 1));
    put(LEDGER_FILE, lines.join("\n") + "\n");
    put(RESULT_FILE, text);
    put(PACK_RECORD_FILE, prettyJson(model.record as object as JsonObject));
  };
  const isRefused = async (): Promise<boolean> => {
    try {
      const { errors, warnings } = await verifyBenchmark(workspace, id);
      // The contract of an operation is that of this program, or the report says so.
      return errors.length > 0 || warnings.some(({ message }) => message.includes("this program has another"));
    } catch (error) {
      if ((error as { code?: string }).code === undefined) throw error;
      return true;
    }
  };
  await write(copy());
  assert.equal(await isRefused(), false, "an unchanged result is valid");

  const parts: [string, Value, (model: Model) => Value][] = [
    [PACK_RECORD_FILE, original.record as object as JsonObject, ({ record }) => record as object as JsonObject],
    ["ledger", events as object as Value[], ({ events }) => events as object as Value[]],
    [RESULT_FILE, original.result as object as JsonObject, ({ result }) => result as object as JsonObject],
    ...DOCUMENTS.map((name): [string, Value, (model: Model) => Value] => [
      name,
      original.documents[name],
      ({ documents }) => documents[name],
    ]),
    [REPORT, original.reports[REPORT], ({ reports }) => reports[REPORT]],
  ];
  const used = new Set<string>(), accepted: string[] = [];
  let count = 0;
  for (const [file, document, partOf] of parts) {
    for (const place of leaves(document)) {
      if (isRepeated(file, place) || !isSampled(count++, 18)) continue;
      const model = copy();
      // The change first and the rest from it, or the change of something derived last.
      assign(model, file, changed(document, place));
      let refused: boolean;
      try {
        await write(model);
        refused = await isRefused();
      } catch (error) {
        // A shape from which nothing can be derived; verification itself has an answer to everything.
        if (!(error instanceof TypeError) || /lib\/(study|run)\/verify/.test(error.stack!)) throw error;
        continue;
      }
      if (!refused && (sameValue(valueAt(partOf(model), place), valueAt(document, place)) || DERIVED.test(file))) {
        await write(copy(), { file, place });
        refused = await isRefused();
      }
      const listed = isListed(NOT_EVIDENCE, file, place);
      if (listed !== undefined) used.add(listed);
      if (!refused && listed === undefined) accepted.push([file, ...place].join("."));
    }
  }
  assert.deepEqual(accepted, []);
  const unused = Object.keys(NOT_EVIDENCE).filter((pattern) => !used.has(pattern));
  if (FULL_SIZE) assert.deepEqual(unused, [], "patterns without a field");
  assert.ok(count > 500, `${count} fields`);
});

/** Documents that are assembled from others, so that a change has to be made last. */
const DERIVED = /^(result|manifest)\.json$/;

/** Rows, recipes and contracts like the first one, and copies of rows in the result. */
function isRepeated(file: string, [a, b, c]: Place): boolean {
  // The chain is derived again in every case; its own test changes it.
  if (file === "ledger" && (b === "seq" || b === "previous_sha256")) return true;
  return file === "ledger" && typeof a === "number" && a > 1 && a < 5 && b === "fields" ||
    file === RESULT_FILE && a === "recipes" && b !== 0 || file === RESULT_FILE && a === "aggregates" && b !== 0 ||
    (file === PLAN_FILE || file === MANIFEST_FILE) && a === "operation_contracts" && b === "operations" &&
      c !== "metrics.bit_error_rate" ||
    file === MANIFEST_FILE && (a === "steps" || a === "artifacts") && b !== 0;
}

function assign(model: Model, file: string, value: Value): void {
  if (file === PACK_RECORD_FILE) model.record = value as object as PackRecord;
  else if (file === "ledger") model.events = value as object as LedgerEvent[];
  else if (file === RESULT_FILE) model.result = value as object as BenchmarkResult;
  else if (file === REPORT) model.reports[REPORT] = value;
  else model.documents[file as keyof Documents] = value as JsonObject;
}

const valueAt = (value: Value, place: Place): Value =>
  place.reduce<Value>((inner, key) => ((inner ?? {}) as JsonObject)[key] ?? null, value);
