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
import { FULL_SIZE } from "../../support/reduced_sizes.ts";
import { sizeOf } from "../../support/sample.ts";
import { writeSyntheticResult } from "../../support/synthetic_result.ts";
import { temporaryFolder } from "../../support/temporary.ts";

async function withWorkspace(test: (workspace: Workspace) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  await test(openWorkspace({ projectRoot: folder, stateDir: folder }));
}

/** Two parts, and three at full size. */
const ROWS = sizeOf(1012, 2200);
const SMALL = { recipes: 3, replicates: 4 };
/** A result that is interrupted: with all rows in its document, and in two parts at full size. */
const PARTED = FULL_SIZE ? { recipes: 11, replicates: 92 } : SMALL;

const CHANGED = `bundle_hash_mismatch ${RESULT_FILE}`;
const changeByte = (file: string) =>
  Deno.writeFileSync(file, Deno.readFileSync(file).map((byte, at) => at === 500 ? byte ^ 1 : byte));

Deno.test("rows are in parts of a thousand, in order; a page is read from the parts that hold it, and tables have all", () =>
  withWorkspace(async (workspace) => {
    const id = await writeSyntheticResult(workspace, { recipes: 11, replicates: ROWS / 11, evidence: false });
    const { result, directory } = showBenchmarkResult(workspace, id);
    assert.deepEqual([result.schema_version, result.rows!.count, result.rows!.completed], [3, ROWS, ROWS]);
    assert.deepEqual(
      result.rows!.parts.map(({ path, rows }) => [path, rows]),
      Array.from({ length: Math.ceil(ROWS / 1000) }, (_, part) => [
        `rows/part-0000${part}.jsonl.gz`,
        Math.min(1000, ROWS - 1000 * part),
      ]),
    );
    assert.deepEqual(result.recipes.map(({ id, replicate }) => `${id} ${replicate}`), [
      ...Array.from({ length: 11 }, (_, index) => `link_${index} 0`),
    ]);
    const keys = [...allRows(result)].map(({ id, replicate }) => `${id} ${replicate}`);
    assert.deepEqual(keys, Array.from({ length: ROWS }, (_, n) => `link_${n % 11} ${Math.floor(n / 11)}`));
    for (const [after, limit] of [[0, 3], [998, 5], [999, 300], [1999, 300], [ROWS, 5]]) {
      const page = pageOfRows(result, directory, after, limit).map(({ id, replicate }) => `${id} ${replicate}`);
      assert.deepEqual(page, keys.slice(after, after + limit));
    }
    const out = join(workspace.stateDir, "tables");
    const { files } = exportBenchmark(workspace, id, { out });
    assert.ok(files.includes("aggregates.csv"));
    const lines = (name: string) => Deno.readTextFileSync(join(out, name)).trimEnd().split("\n");
    assert.equal(lines("recipes.csv").length, 1 + ROWS);
    assert.equal(lines("metrics.csv").length, 1 + 6 * ROWS);
    assert.equal(lines("aggregates.csv").length, 1 + 11);
    const published = await publishBenchmark(workspace, id, { out });
    const page = Deno.readTextFileSync(join(published.directory, "index.html"));
    assert.ok(page.includes(`the first 1000 of ${ROWS} rows`));
    // Without evidence there are errors, of which the changed part is one.
    const found = async () => (await verifyBenchmark(workspace, id)).errors.map(({ code, file }) => `${code} ${file}`);
    assert.ok(!(await found()).includes(CHANGED));
    changeByte(join(directory, "rows/part-00000.jsonl.gz"));
    assert.ok((await found()).includes(CHANGED));
    const index = new LedgerIndex(inside(benchmarkWorkspace(workspace).runs, id, LEDGER_FILE)).advance();
    assert.equal(index.row("link_3", 50)!.metrics["channel.compare_bit_count"], 10_000);
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

Deno.test("a result that was interrupted anywhere has the rows of an uninterrupted one and verifies", () =>
  withWorkspace(async (workspace) => {
    const resultId = "20260101T000000Z_interrupted";
    const { recipes, replicates } = PARTED, rows = recipes * replicates;
    await writeSyntheticResult(workspace, { ...PARTED, resultId, until: replicates - 1 });
    const last = `evidence/part-0000${Math.floor(rows / 1000)}.tar.gz`;
    const evidence = join(benchmarkWorkspace(workspace).runs, resultId, last);
    Deno.writeTextFileSync(evidence, "half of a snapshot", { append: true });
    await writeSyntheticResult(workspace, { ...PARTED, resultId });
    const resumed = settleResult(workspace, resultId);
    const keys = [...allRows(resumed)].map(({ id, replicate }) => `${id} ${replicate}`);
    assert.deepEqual(keys, Array.from({ length: rows }, (_, n) => `link_${n % recipes} ${Math.floor(n / recipes)}`));
    if (FULL_SIZE) assert.deepEqual(resumed.rows!.count, rows);
    assert.equal((await verifyBenchmark(workspace, resultId)).status, "valid");
    assert.deepEqual(collectEvidence(workspace, true), []);
    if (FULL_SIZE) {
      changeByte(join(benchmarkWorkspace(workspace).runs, resultId, "rows/part-00000.jsonl.gz"));
      const { errors } = await verifyBenchmark(workspace, resultId);
      assert.deepEqual(errors.map(({ code, file }) => `${code} ${file}`), [CHANGED]);
    }
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
