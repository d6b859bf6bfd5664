/**
 * A row against the row that follows from its pack, recipe, replicate and the documents of its run. Verification and merge
 * make the same checks: a row of another author is used only when nothing of it differs.
 */
import { type Diagnostic, messageOf } from "../../contract/error.ts";
import { sha256Hex, sha256Json } from "../../contract/hash.ts";
import { sameValue } from "../../contract/json.ts";
import { REPORT } from "../../contract/kinds.ts";
import { contractSha256 } from "../../contract/define.ts";
import { Registry } from "../../contract/registry.ts";
import type { OperationContract } from "../../contract/operation.ts";
import { isObject, type JsonObject, type Value } from "../../contract/value.ts";
import { methodText } from "../../plan/build.ts";
import type { ExecutionPlan } from "../../plan/types.ts";
import { compileRecipe } from "../../recipe/compile.ts";
import type { RecipeDocument } from "../../recipe/types.ts";
import { AUTHORED_FILE, MANIFEST_FILE, PLAN_FILE, RECIPE_FILE, SUMMARY_FILE, SUMS_FILE } from "../../run/documents.ts";
import { formatSha256Sums, parseSha256Sums } from "../../run/files.ts";
import { type FindingCode, Findings } from "../../run/findings.ts";
import { verifyTexts } from "../../run/verify.ts";
import { checkSpecs, recipeOfReplicate } from "../pack/load_pack.ts";
import type { Pack } from "../pack/pack.ts";
import type { PackRecipe } from "../pack/pack_record.ts";
import { ITEM_RATE, plannedRow, rowOfRun, skippedRow } from "./row.ts";
import type { ResultRow, Snapshot, StartFields } from "../pack/types.ts";

export interface RowProblem {
  severity: "error" | "warning";
  code: FindingCode;
  message: string;
}

/** What the rows of a result have to follow from. */
export interface RowSource {
  pack: Pack;
  recipes: readonly PackRecipe[];
  /** The start in the ledger. */
  start: Pick<StartFields, "replication" | "execution" | "build_sha256" | "methods">;
  /** The operations of this program; without them effective recipes are compared with the authored ones only. */
  registry?: Registry;
}

const DOCUMENTS = [AUTHORED_FILE, RECIPE_FILE, PLAN_FILE, SUMMARY_FILE, MANIFEST_FILE];
/** Of a row without a run. */
const PLANNED = [
  "label",
  "role",
  "method_id",
  "baseline_id",
  "recipe_name",
  "recipe_path",
  "matrix_selection",
  "pairing_id",
  "aggregation_cell_id",
  "statistical_unit",
  "replicates_independent",
] as const;

export class RowChecks {
  readonly #source: RowSource;
  readonly #recipes: ReadonlyMap<string, PackRecipe>;
  /** Digest of the implementations of each recipe, as its first row has them. */
  readonly #methods = new Map<string, string>();
  /** Operations whose contract differs from that of this program, so that their defaults are not known. */
  readonly #foreign = new Set<string>();

  constructor(source: RowSource) {
    this.#source = source;
    this.#recipes = new Map(source.recipes.map((one) => [one.entry.id, one]));
  }

  /** @param snapshot null for a row without one */
  check(row: ResultRow, snapshot: Snapshot | null): RowProblem[] {
    const problems: RowProblem[] = [], name = `${row.id} r${row.replicate}`;
    const report = (code: FindingCode, what: string, severity: RowProblem["severity"] = "error") =>
      void problems.push({ severity, code, message: `${name}: ${what}` });
    try {
      this.#check(row, snapshot, report);
    } catch (error) {
      report("bundle_schema_invalid", messageOf(error));
    }
    return problems;
  }

  #check(row: ResultRow, snapshot: Snapshot | null, report: Report): void {
    const wrong = (what: string) => report("bundle_link_mismatch", what);
    const found = this.#recipes.get(row.id), { pack, start } = this.#source;
    if (found === undefined) return wrong("the pack has no such recipe");
    const { entry, recipe } = found;
    if (recipe === null) {
      if (!sameValue(row, skippedRow(entry))) wrong("it is not the row of a skipped recipe");
      return;
    }
    if (row.replicate >= (start.replication?.replicates ?? 1)) return wrong("there is no such replicate");
    const raw = recipeOfReplicate(pack, recipe, start.replication, row.replicate);
    if (snapshot === null) {
      if (row.status !== "failed" || row.error === undefined) return wrong(`it is ${row.status} without a snapshot`);
      const planned = plannedRow(pack, entry, raw, row.replicate);
      for (const field of PLANNED) {
        if (!sameValue(row[field] ?? null, planned[field] ?? null)) wrong(`${field} does not follow from the pack`);
      }
      return;
    }
    const documents = this.#documents(row, snapshot, report);
    if (documents === null) return;
    const { summary, effective, sums } = documents;
    this.#checkRecipe(row.id, raw, documents, report);
    const specs: Diagnostic[] = [], absent: string[] = [];
    checkSpecs(pack, entry, effective, specs);
    for (const { message } of specs) wrong(message);
    const textOf = (path: string) => snapshot.reports[path] ?? (absent.push(path), null);
    const expected = rowOfRun(pack, entry, raw, row.replicate, {
      run_id: snapshot.run_id,
      summary,
      effective,
      sums,
      report: textOf,
    });
    // The items of a report that the snapshot does not hold are those of the row.
    if (absent.length > 0 && row.item_metrics !== undefined) {
      expected.item_metrics = { ...row.item_metrics, ...expected.item_metrics };
    }
    // Rows of earlier versions have no rates of images, and no items at all without a declared baseline.
    if (row.item_metrics?.[ITEM_RATE] === undefined) delete expected.item_metrics?.[ITEM_RATE];
    const without = row.item_metrics === undefined && pack.baselines.length === 0;
    if (without || Object.keys(expected.item_metrics ?? {}).length === 0) delete expected.item_metrics;
    // Rows of earlier versions do not name the metrics without a seed.
    if (row.unseeded_metrics === undefined) delete expected.unseeded_metrics;
    // Rows of earlier versions name the manifest in the folder of its run.
    if (row.manifest?.path === MANIFEST_FILE) expected.manifest = { ...expected.manifest!, path: MANIFEST_FILE };
    if (row.run_dir !== null && row.run_dir !== `runs/${row.run_id}`) wrong("run_dir is of another run");
    const { run_dir, run_evidence_snapshot } = row;
    const made: ResultRow = { ...expected, run_dir, run_evidence_snapshot };
    for (const field of new Set([...Object.keys(made), ...Object.keys(row)]) as Set<keyof ResultRow>) {
      if (sameValue(made[field] ?? null, row[field] ?? null)) continue;
      wrong(
        `${differing(field, made[field] ?? null, row[field] ?? null)} does not follow from the documents of its run`,
      );
    }
    this.#checkReports(row, summary, snapshot, report);
    if (row.error === undefined) checkRetained(entry.params.retained_artifact_paths, snapshot, sums, wrong);
  }

  /** The documents of the snapshot; null, with their problems, where they contradict each other. */
  #documents(row: ResultRow, { run_id, documents, reports }: Snapshot, report: Report): SnapshotDocuments | null {
    const sumsText = documents[SUMS_FILE] ?? "", sums = parseSha256Sums(sumsText);
    const before = { errors: 0 };
    const wrong = (code: FindingCode, what: string) => {
      before.errors++;
      report(code, what);
    };
    if (formatSha256Sums(sums) !== sumsText) {
      wrong("bundle_schema_invalid", `${SUMS_FILE} is not laid out as it was written`);
    }
    for (const name of DOCUMENTS) {
      if (sums.get(name) !== sha256Hex(documents[name] ?? "")) {
        wrong("bundle_hash_mismatch", `${name} is not the file that the run hashed`);
      }
    }
    for (const [path, text] of Object.entries(reports)) {
      if (sums.get(path) !== sha256Hex(text)) {
        wrong("bundle_hash_mismatch", `${path} is not the report that the run hashed`);
      }
    }
    if (run_id !== row.run_id) wrong("bundle_link_mismatch", `the snapshot is of the run ${run_id}`);
    const findings = new Findings(), hashes = new Map(sums).set(SUMS_FILE, "");
    const read = verifyTexts(documents, { runId: run_id, hashes, report: (path) => reports[path] ?? null }, findings);
    for (const { code, file, path, message } of findings.errors) wrong(code, `${file} ${path}: ${message}`);
    if (before.errors > 0 || read === null) return null;
    const { [AUTHORED_FILE]: authored, [RECIPE_FILE]: effective, [PLAN_FILE]: plan } = read;
    const { [SUMMARY_FILE]: summary, [MANIFEST_FILE]: manifest } = read;
    return { authored, effective, plan, summary, manifest, sums } as object as SnapshotDocuments;
  }

  /** The recipe that ran is the one of this replicate, run as the benchmark was begun. */
  #checkRecipe(id: string, raw: RecipeDocument, documents: SnapshotDocuments, report: Report): void {
    const { authored, effective, plan, summary, manifest } = documents;
    const { start, registry = new Registry() } = this.#source;
    const wrong = (what: string) => report("bundle_link_mismatch", what);
    const explicit = start.execution.backend !== undefined || start.execution.implementation !== undefined;
    const foreign = this.#foreignIn(plan, registry);
    const derive = (recipe: RecipeDocument) => compileRecipe(recipe, { mode: "strict", registry });
    const derived = derive(raw);
    if (sha256Json(derived.normalized) !== sha256Json(authored)) wrong("the recipe is not that of this replicate");
    for (const op of foreign) this.#foreign.add(op);
    if (foreign.length === 0) {
      // An explicit choice of an implementation sets the parameters that select it.
      const made = explicit ? derive(withSelectors(raw, effective, plan)) : derived;
      const same = made.effective !== null && sha256Json(made.effective) === sha256Json(effective) &&
        sameValue(made.seed_policy, summary.seed_policy as JsonObject);
      if (!same) wrong("the effective recipe does not follow from pack, replicate and seed");
    }
    if (!sameValue(summary.execution as JsonObject, start.execution)) wrong("it was executed with other settings");
    const { svc } = manifest.environment as JsonObject;
    const build = isObject(svc) ? svc.build_sha256 ?? null : null;
    if (build !== start.build_sha256) wrong("it was made by another build of svc");
    const method = sha256Json(plan.steps.map(methodText));
    if ((this.#methods.get(id) ?? method) !== method) wrong("it was made with other code than the rows before it");
    this.#methods.set(id, method);
  }

  #foreignIn(plan: ExecutionPlan, registry: Registry): string[] {
    return Object.entries(contractsOf(plan)).flatMap(([op, contract]) => {
      const known = registry.find(op);
      const digest = known === undefined ? null : known.contractSha256 ?? contractSha256(known.operation.contract);
      return digest === sha256Json(contract) ? [] : [op];
    });
  }

  /** The declared metrics are compared with their reports, which the snapshot holds. */
  #checkReports(row: ResultRow, { steps }: JsonObject, { reports }: Snapshot, report: Report): void {
    const rows = steps as { id: string; outputs: Record<string, { kind: string; path: string }> }[];
    const sources = new Set(this.#source.pack.metrics.map(({ id }) => row.metric_provenance[id]?.step_id));
    for (const { id, outputs } of rows) {
      for (const { kind, path } of Object.values(outputs)) {
        if (kind !== REPORT || !sources.has(id) || reports[path] !== undefined) continue;
        report(
          "bundle_metric_mismatch",
          `its snapshot does not hold ${path}: the metrics of ${id} are not compared`,
          "warning",
        );
      }
    }
  }

  /** Problems of all rows together. */
  finish(): RowProblem[] {
    const { recipes, start, registry } = this.#source;
    const unknown = [...this.#foreign].sort().join(", ");
    const problems: RowProblem[] = unknown === "" ? [] : [{
      severity: "warning",
      code: "bundle_link_mismatch",
      message: registry === undefined
        ? "The operations of this program are not loaded: effective recipes are compared with the authored ones only"
        : `Effective recipes are compared with the authored ones only: this program has another ${unknown}`,
    }];
    const methods = recipes.map(({ entry, recipe }) => recipe === null ? null : this.#methods.get(entry.id));
    if (methods.every((one) => one !== undefined) && sha256Json(methods as (string | null)[]) !== start.methods) {
      const message = "The rows were made with other code than the ledger begins with";
      problems.push({ severity: "error", code: "bundle_hash_mismatch", message });
    }
    return problems;
  }
}

type Report = (code: FindingCode, what: string, severity?: RowProblem["severity"]) => void;

interface SnapshotDocuments {
  authored: RecipeDocument;
  effective: RecipeDocument;
  plan: ExecutionPlan;
  summary: JsonObject;
  manifest: JsonObject;
  sums: ReadonlyMap<string, string>;
}

/** The part of a field that differs, where it is an object: the names of its first members. */
function differing(field: string, made: Value, row: Value): string {
  if (!isObject(made) || !isObject(row)) return field;
  const names = [...new Set([...Object.keys(made), ...Object.keys(row)])]
    .filter((name) => !sameValue(made[name] ?? null, row[name] ?? null));
  return `${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""} in ${field}`;
}

const contractsOf = (plan: ExecutionPlan) => plan.operation_contracts.operations as { [id: string]: OperationContract };

/** A recipe with the parameters that select an implementation as an explicit choice has set them. */
function withSelectors(raw: RecipeDocument, effective: RecipeDocument, plan: ExecutionPlan): RecipeDocument {
  const steps = raw.steps.map((step, index) => {
    const contract = contractsOf(plan)[step.op];
    const properties = Object.entries((contract.params_schema.properties ?? {}) as Record<string, JsonObject>);
    const made = effective.steps[index]?.params ?? {};
    const selected = properties.filter(([name, node]) =>
      node["x-svc-materialization-selector"] !== undefined && made[name] !== undefined
    );
    return { ...step, params: { ...step.params, ...Object.fromEntries(selected.map(([name]) => [name, made[name]])) } };
  });
  return { ...raw, steps };
}

function checkRetained(
  paths: readonly string[],
  { retained }: Snapshot,
  sums: ReadonlyMap<string, string>,
  wrong: (what: string) => void,
): void {
  if (!sameValue(Object.keys(retained).sort(), [...paths].sort())) wrong("it keeps other artifacts than the pack says");
  for (const [path, text] of Object.entries(retained)) {
    if (sums.get(path) !== sha256Hex(Uint8Array.fromBase64(text))) {
      wrong(`${path} is not the artifact that the run hashed`);
    }
  }
}
