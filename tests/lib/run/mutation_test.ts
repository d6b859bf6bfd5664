/**
 * Every field of a bundle is changed in turn, and everything else is derived again as a forger would. Verification fails, or
 * the field is on the list of what a bundle does not prove. Every third field is changed; `deno task soak whole` changes all.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { canonicalJson, parseJson, sameValue } from "../../../lib/contract/json.ts";
import { cloneValue, float, type JsonObject } from "../../../lib/contract/value.ts";
import type { StepRow } from "../../../lib/execute/types.ts";
import { AUTHORED_FILE, MANIFEST_FILE, PLAN_FILE, RECIPE_FILE, SUMMARY_FILE } from "../../../lib/run/documents.ts";
import { listFiles } from "../../../lib/run/files.ts";
import { verifyBundle } from "../../../lib/run/verify.ts";
import type { Unchecked as Documents } from "../../../lib/run/verify_documents.ts";
import { changed, forged, isListed, leaves } from "../../support/mutations.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";
import { isSampled } from "../../support/sample.ts";
import { fakeExecutor, runSmall, testRecipe, withWorkspace } from "./fixture.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const DOCUMENTS = [AUTHORED_FILE, RECIPE_FILE, PLAN_FILE, SUMMARY_FILE, MANIFEST_FILE] as const;

/** Fields that a bundle does not prove, by file and place, with the reason. */
const NOT_EVIDENCE: Record<string, string> = DATA.NOT_EVIDENCE;

/** The small run, whose report holds its metrics as those of the built-in operations do. */
function withReport(bundle: string, row: StepRow): StepRow {
  const { report } = row.outputs;
  if (report === undefined) return row;
  const metrics: JsonObject = { "channel.ber": float(0.25), "channel.error_count": 2, "channel.compare_bit_count": 8 };
  const counts: JsonObject = {
    metric_metadata: { "channel.ber": { events: 2, trials: 8, unit: "bit", units: 8, unit_failures: 2 } },
  };
  const text = `${
    canonicalJson({ kind: "metrics.report", schema_version: 1, operation: row.op, metrics, ...counts })
  }\n`;
  Deno.writeTextFileSync(join(bundle, report.path), text);
  return {
    ...row,
    outputs: { report: { ...report, sha256: sha256Hex(text) } },
    metrics: { ...metrics, "timing.step.wall_time_s": float(0.5) },
    metadata: { ...row.metadata, ...counts },
  };
}

Deno.test("a changed field of a bundle fails its verification, whatever else is derived again", () =>
  withWorkspace(async (workspace) => {
    const execute = fakeExecutor();
    const recipe = testRecipe(1), research = { task: { id: "bit_transport" } };
    const { directory, run_id, summary } = await runSmall(workspace, {
      raw: { ...recipe, metadata: { ...recipe.metadata as JsonObject, research } },
      execute: (options) => execute({ ...options, onStep: (row) => options.onStep(withReport(options.bundle, row)) }),
    });
    // Core specification, bundle layout: summary.json holds compact status and metrics.
    assert.deepEqual((summary.metrics as JsonObject)["channel.ber"], float(0.25));
    const textIn = (path: string) => Deno.readTextFileSync(join(directory, path));
    const objectIn = (path: string) => parseJson(textIn(path)) as JsonObject;
    const hashes = new Map(
      listFiles(directory).map(({ path }) => [path, sha256Hex(Deno.readFileSync(join(directory, path)))]),
    );
    const report = "artifacts/report_0/report.json";
    const original = {
      documents: Object.fromEntries(DOCUMENTS.map((name) => [name, objectIn(name)])) as Documents,
      reports: { [report]: objectIn(report) },
    };
    const copy = () => cloneValue(original as object as JsonObject) as object as typeof original;
    const verify = async (bundle: typeof original, last?: Parameters<typeof forged>[4]) => {
      const made = forged(bundle, run_id, hashes, (value) => `${canonicalJson(value)}\n`, last);
      for (const [path, text] of Object.entries({ ...made.texts, ...made.reports })) {
        Deno.writeTextFileSync(join(directory, path), text);
      }
      return await verifyBundle(directory, run_id);
    };
    assert.deepEqual((await verify(copy())).errors, []);
    const used = new Set<string>(), accepted: string[] = [];
    let count = 0;
    for (const file of [...DOCUMENTS, report]) {
      const document = file === report ? original.reports[report] : original.documents[file as keyof Documents];
      for (const place of leaves(document)) {
        if (!isSampled(count++, 3)) continue;
        const bundle = copy(), name = file as keyof Documents;
        if (file === report) bundle.reports[report] = changed(document, place);
        else bundle.documents[name] = changed(document, place);
        let invalid: boolean;
        try {
          invalid = (await verify(bundle)).status === "invalid";
          // A digest that was derived again is changed after that.
          if (!invalid && file !== report && sameValue(parseJson(textIn(file)), document)) {
            invalid = (await verify(copy(), { file: name, place })).status === "invalid";
          }
        } catch (error) {
          // A shape from which nothing can be derived.
          assert.ok(error instanceof TypeError, String(error));
          continue;
        }
        const listed = isListed(NOT_EVIDENCE, file, place);
        if (listed !== undefined) used.add(listed);
        if (!invalid && listed === undefined) accepted.push([file, ...place].join("."));
      }
    }
    assert.deepEqual(accepted, []);
    const unused = Object.keys(NOT_EVIDENCE).filter((pattern) => !used.has(pattern));
    if (FULL_SIZE) assert.deepEqual(unused, [], "patterns without a field");
    assert.ok(count > 300, `${count} fields`);
  }));
