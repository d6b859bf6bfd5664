/** Results of more rows than a document holds: parts of rows and of evidence, read back, paged and verified. */
import { inside } from "../../../lib/artifact/inside.ts";
import assert from "node:assert/strict";
import { join } from "node:path";
import { collectEvidence } from "../../../lib/study/rows/evidence_garbage.ts";
import { EvidenceWriter, readSnapshot } from "../../../lib/study/rows/evidence.ts";
import { exportBenchmark, plotBenchmark, publishBenchmark } from "../../../lib/study/report/reports.ts";
import { LedgerIndex } from "../../../lib/study/rows/ledger.ts";
import { allRows, pageOfRows, recipeRows } from "../../../lib/study/rows/stored_rows.ts";
import { benchmarkWorkspace, settleResult, showBenchmarkResult } from "../../../lib/study/rows/store.ts";
import { LEDGER_FILE, RESULT_FILE, type SnapshotRecord } from "../../../lib/study/pack/types.ts";
import { verifyBenchmark } from "../../support/session.ts";
import { openWorkspace, type Workspace } from "../../../lib/run/workspace.ts";
import { writeSyntheticResult } from "../../support/synthetic_result.ts";
import { temporaryFolder } from "../../support/temporary.ts";

async function withWorkspace(test: (workspace: Workspace) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  await test(openWorkspace({ projectRoot: folder, stateDir: folder }));
}

const SIZE = { recipes: 11, replicates: 200 }, PARTED = { recipes: 11, replicates: 92 };
const SMALL = { recipes: 3, replicates: 4 };

Deno.test("2,200 rows are in three parts, in order, and a page is read from the parts that hold it", () =>
  withWorkspace(async (workspace) => {
    const id = await writeSyntheticResult(workspace, { ...SIZE, evidence: false });
    const { result, directory } = showBenchmarkResult(workspace, id);
    assert.deepEqual([result.schema_version, result.rows!.count, result.rows!.completed], [3, 2200, 2200]);
    assert.deepEqual(result.rows!.parts.map(({ path, rows }) => [path, rows]), [
      ["rows/part-00000.jsonl.gz", 1000],
      ["rows/part-00001.jsonl.gz", 1000],
      ["rows/part-00002.jsonl.gz", 200],
    ]);
    assert.deepEqual(result.recipes.map(({ id, replicate }) => `${id} ${replicate}`), [
      ...Array.from({ length: 11 }, (_, index) => `link_${index} 0`),
    ]);
    const keys = [...allRows(result)].map(({ id, replicate }) => `${id} ${replicate}`);
    assert.deepEqual(keys, Array.from({ length: 2200 }, (_, n) => `link_${n % 11} ${Math.floor(n / 11)}`));
    for (const [after, limit] of [[0, 3], [998, 5], [1999, 300], [2200, 5]]) {
      const page = pageOfRows(result, directory, after, limit).map(({ id, replicate }) => `${id} ${replicate}`);
      assert.deepEqual(page, keys.slice(after, after + limit));
    }
  }));

Deno.test("a result of more recipes than a document holds gives and exports one row of each", () =>
  withWorkspace(async (workspace) => {
    const id = await writeSyntheticResult(workspace, { recipes: 1001, replicates: 1, evidence: false });
    const { result } = showBenchmarkResult(workspace, id), ids = Array.from({ length: 1001 }, (_, n) => `link_${n}`);
    assert.deepEqual([result.recipes, result.rows!.count, result.aggregates.length], [[], 1001, 1001]);
    assert.deepEqual(recipeRows(result).map(({ id }) => id), ids);
    const out = join(workspace.stateDir, "tables");
    exportBenchmark(workspace, id, { out });
    assert.equal(Deno.readTextFileSync(join(out, "recipes.csv")).trim().split("\n").length, 1002);
    const { directory, files } = await plotBenchmark(workspace, id, { plot: "error-rate", x: "snr_db" });
    const csv = files.find((name) => name.endsWith(".csv"))!;
    assert.equal(Deno.readTextFileSync(join(directory, csv)).trim().split("\n").length, 1002);
  }));

Deno.test("the archives of snapshots are ordinary ones of a thousand, and hold those of the rows", async () => {
  const folder = temporaryFolder();
  const writer = new EvidenceWriter(folder, null);
  const records: SnapshotRecord[] = [];
  for (let replicate = 0; replicate < 1200; replicate++) {
    records.push(
      await writer.write({ id: "link", replicate }, {
        schema_version: 1,
        kind: "svc.run_evidence_snapshot",
        run_id: `20260101T000000Z_link_${replicate}`,
        documents: {},
        reports: {},
        retained: {},
      }),
    );
  }
  assert.equal(readSnapshot(folder, records[1199]).run_id, "20260101T000000Z_link_1199");
  for (const [part, count] of [["part-00000", 1000], ["part-00001", 200]] as const) {
    const args = ["tzf", join(folder, "evidence", `${part}.tar.gz`)];
    const { success, stdout } = await new Deno.Command("tar", { args }).output();
    const names = new TextDecoder().decode(stdout).trimEnd().split("\n");
    assert.deepEqual([success, names.length], [true, count]);
    assert.match(names[0], /^link__r\d+\.json$/);
  }
  // An archive is unpacked by its names: one that is no name is written as a digest.
  const { relative_path } = await writer.write({ id: "../link", replicate: 0 }, readSnapshot(folder, records[0]));
  const { stdout } = await new Deno.Command("tar", { args: ["tzf", join(folder, relative_path)] }).output();
  assert.doesNotMatch(new TextDecoder().decode(stdout), /\.\.\//);
});

Deno.test("a result of parts that was interrupted anywhere has the rows of an uninterrupted one and verifies", () =>
  withWorkspace(async (workspace) => {
    const resultId = "20260101T000000Z_interrupted";
    await writeSyntheticResult(workspace, { ...PARTED, resultId, until: 91 });
    const evidence = join(benchmarkWorkspace(workspace).runs, resultId, "evidence/part-00001.tar.gz");
    Deno.writeTextFileSync(evidence, "half of a snapshot", { append: true });
    await writeSyntheticResult(workspace, { ...PARTED, resultId });
    const resumed = settleResult(workspace, resultId);
    const keys = [...allRows(resumed)].map(({ id, replicate }) => `${id} ${replicate}`);
    assert.deepEqual(keys, Array.from({ length: 1012 }, (_, n) => `link_${n % 11} ${Math.floor(n / 11)}`));
    assert.deepEqual(resumed.rows!.count, 1012);
    assert.equal((await verifyBenchmark(workspace, resultId)).status, "valid");
    assert.deepEqual(collectEvidence(workspace, true), []);
    const directory = join(benchmarkWorkspace(workspace).runs, resultId),
      part = join(directory, "rows/part-00000.jsonl.gz");
    Deno.writeFileSync(part, Deno.readFileSync(part).map((byte, at) => at === 500 ? byte ^ 1 : byte));
    const { errors } = await verifyBenchmark(workspace, resultId);
    assert.deepEqual(errors.map(({ code, file }) => `${code} ${file}`), [`bundle_hash_mismatch ${RESULT_FILE}`]);
    // A process that ended without a word leaves what it has.
    const ended = "20260101T000000Z_ended";
    await writeSyntheticResult(workspace, { ...SMALL, resultId: ended, until: 3 });
    const settled = settleResult(workspace, ended);
    assert.deepEqual([settled.status, settled.incomplete_reason, settled.recipes.length], [
      "incomplete",
      "interrupted",
      9,
    ]);
    assert.equal((await verifyBenchmark(workspace, ended)).status, "valid");
  }));

Deno.test("verification finds a changed row, a changed snapshot and another statistic", () =>
  withWorkspace(async (workspace) => {
    const id = await writeSyntheticResult(workspace, SMALL);
    const directory = join(benchmarkWorkspace(workspace).runs, id);
    const altered = async (file: string, change: (bytes: Uint8Array) => void) => {
      const bytes = Deno.readFileSync(join(directory, file)), original = bytes.slice();
      change(bytes);
      Deno.writeFileSync(join(directory, file), bytes);
      const { status, errors } = await verifyBenchmark(workspace, id);
      Deno.writeFileSync(join(directory, file), original);
      assert.equal(status, "invalid");
      return [...new Set(errors.map(({ code, file }) => `${code} ${file}`))];
    };
    const flip = (bytes: Uint8Array) => void (bytes[bytes.length >> 1] ^= 1);
    assert.deepEqual(await altered("evidence/part-00000.tar.gz", flip), [
      "bundle_hash_mismatch evidence/part-00000.tar.gz",
    ]);
    assert.match((await altered(LEDGER_FILE, flip)).join(), /^bundle_(hash_mismatch|schema_invalid) \.attempt-ledger$/);
    const digit = (name: string) => (bytes: Uint8Array) => {
      const at = new TextDecoder().decode(bytes).indexOf(name) + name.length;
      bytes[at] = bytes[at] === 0x31 ? 0x32 : 0x31;
    };
    assert.deepEqual(await altered(RESULT_FILE, digit('"view_sha256": "')), [
      `bundle_hash_mismatch ${RESULT_FILE}`,
      `bundle_link_mismatch ${RESULT_FILE}`,
    ]);
    assert.equal((await verifyBenchmark(workspace, id)).status, "valid");
  }));

Deno.test("verification names a run that stands for several rows", () =>
  withWorkspace(async (workspace) => {
    const id = await writeSyntheticResult(workspace, { recipes: 2, replicates: 3, sharedRun: true });
    const { errors } = await verifyBenchmark(workspace, id);
    assert.deepEqual(errors.map(({ code, message }) => `${code}: ${message}`), [
      "result_duplicate_run_ids: 20260101T000000Z_shared is the run of several rows",
    ]);
  }));

Deno.test("tables have a line for each row of all parts, and a page lists the first thousand", () =>
  withWorkspace(async (workspace) => {
    const id = await writeSyntheticResult(workspace, { ...PARTED, evidence: false });
    const out = join(workspace.stateDir, "tables");
    const { files } = exportBenchmark(workspace, id, { out });
    assert.ok(files.includes("aggregates.csv"));
    const lines = (name: string) => Deno.readTextFileSync(join(out, name)).trimEnd().split("\n");
    assert.equal(lines("recipes.csv").length, 1 + 1012);
    assert.equal(lines("metrics.csv").length, 1 + 6 * 1012);
    assert.equal(lines("aggregates.csv").length, 1 + 11);
    const { directory } = await publishBenchmark(workspace, id, { out });
    assert.match(Deno.readTextFileSync(join(directory, "index.html")), /the first 1000 of 1012 rows/);
    const index = new LedgerIndex(inside(benchmarkWorkspace(workspace).runs, id, LEDGER_FILE)).advance();
    assert.equal(index.row("link_3", 50)!.metrics["channel.compare_bit_count"], 10_000);
  }));
