import assert from "node:assert/strict";
import { inside, type InsidePath, removeEntry } from "../../../lib/artifact/inside.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { lastKind, Ledger, LedgerIndex } from "../../../lib/study/rows/ledger.ts";
import { rowOf, startOf } from "../../support/ledger_rows.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const END = {
  status: "incomplete" as const,
  completed_at_utc: "2026-01-01T00:00:00.000Z",
  reports: [],
  result_sha256: "0".repeat(64),
};

function withLedger(test: (path: InsidePath) => void): void {
  const folder = temporaryFolder();
  const path = inside(folder, ".attempt-ledger");
  const ledger = Ledger.open(path, "first");
  ledger.append("attempt_started", startOf(["a", "b", "c"]));
  ledger.append("row_completed", rowOf("a", 0));
  ledger.append("row_completed", rowOf("b", 0));
  ledger.close();
  test(path);
}

const read = (path: InsidePath) => new LedgerIndex(path).advance();

Deno.test("events are chained, and none can be altered, taken out or put in", () =>
  withLedger((path) => {
    const lines = Deno.readTextFileSync(path).trimEnd().split("\n");
    const index = read(path);
    assert.deepEqual([index.events, index.rowCount, index.last], [3, 2, sha256Hex(lines[2])]);
    assert.deepEqual([...index.rows()].map(({ id }) => id), ["a", "b"]);
    const refused = (changed: string[]) => {
      Deno.writeTextFileSync(path, changed.join("\n") + "\n");
      assert.throws(() => read(path), { code: "bundle_hash_mismatch" });
    };
    refused([lines[0], lines[2]]);
    refused([lines[1], lines[2]]);
    refused([lines[0], lines[1].replace('"a"', '"c"'), lines[2]]);
    refused([lines[0], lines[1], lines[1], lines[2]]);
  }));

Deno.test("after a write that was cut anywhere, all whole events are there and the ledger accepts more", () =>
  withLedger((path) => {
    const bytes = Deno.readFileSync(path);
    const ends = [...bytes.keys()].filter((at) => bytes[at] === 10).map((at) => at + 1);
    const near = ends.flatMap((end) => [end - 1, end, end + 1]);
    const lengths = [...near, ...Array.from({ length: bytes.length / 31 }, (_, n) => 31 * n)];
    for (const length of lengths.filter((length) => length <= bytes.length)) {
      Deno.writeFileSync(path, bytes.subarray(0, length));
      const ledger = Ledger.open(path, "second");
      assert.equal(ledger.index.events, ends.filter((end) => end <= length).length, `${length} bytes`);
      if (ledger.index.events > 0) {
        ledger.append("attempt_resumed", { reused_rows: 0, repaired_bytes: ledger.index.tornBytes });
      } else ledger.append("attempt_started", startOf(["a"]));
      ledger.close();
      assert.equal(read(path).tornBytes, 0);
      assert.match(lastKind(path)!, /^attempt_(resumed|started)$/);
    }
  }));

Deno.test("lines of any length are read, one after the other, and an open one at the end is none", () =>
  withLedger((path) => {
    const ledger = Ledger.open(path, "second");
    for (const [n, length] of [2 ** 20, 10, 3 * 2 ** 20, 2 ** 21 + 7].entries()) {
      ledger.append("row_completed", rowOf("c", n, { label: "x".repeat(length) }), false);
    }
    ledger.close();
    const { events, last, rowCount } = read(path), bytes = Deno.readFileSync(path);
    assert.deepEqual([events, rowCount], [7, 6]);
    Deno.writeFileSync(path, bytes.subarray(0, -5));
    const cut = read(path);
    assert.deepEqual([cut.events, cut.size + cut.tornBytes], [6, bytes.length - 5]);
    Deno.writeFileSync(path, bytes);
    cut.advance();
    assert.deepEqual([cut.events, cut.last, cut.tornBytes], [7, last, 0]);
  }));

Deno.test("the last word about a row counts, and an end counts while nothing follows it", () =>
  withLedger((path) => {
    const ledger = Ledger.open(path, "second");
    ledger.append("attempt_ended", END);
    const index = read(path);
    assert.equal(index.end?.status, "incomplete");
    ledger.append("attempt_resumed", { reused_rows: 2, repaired_bytes: 0 });
    ledger.append("row_completed", rowOf("a", 0, { status: "failed" }));
    ledger.close();
    // What was appended is read on, and a writer knows the same as a reader.
    for (const known of [index.advance(), ledger.index, read(path)]) {
      assert.equal(known.end, null);
      assert.equal(known.row("a", 0)?.status, "failed");
      assert.equal(known.rowCount, 2);
    }
  }));

Deno.test("rows come replicate by replicate in the order of the pack; those of a shard at its distances", async () => {
  const folder = await Deno.makeTempDir(), path = inside(folder, ".attempt-ledger");
  const written = (start: ReturnType<typeof startOf>, rows: readonly [string, number][]) => {
    removeEntry(path);
    const ledger = Ledger.open(path, "first");
    ledger.append("attempt_started", start);
    for (const [id, replicate] of rows) ledger.append("row_completed", rowOf(id, replicate), false);
    ledger.close();
    const index = read(path), keys = [...index.rows()].map(({ id, replicate }) => `${id}${replicate}`);
    assert.equal(index.rowCount, rows.length);
    return { index, keys };
  };
  try {
    const { index, keys } = written(startOf(["b", "a"]), [["a", 0], ["b", 0], ["b", 1], ["a", 1], ["b", 2]]);
    assert.deepEqual(keys, ["b0", "a0", "b1", "a1", "b2"]);
    assert.deepEqual([index.row("b", 3), index.row("c", 0)], [null, null]);
    // Rows 1, 5, 9, … of three recipes: a recipe has every fourth replicate.
    const shard = startOf(["a", "b", "c"], { shard: { index: 1, count: 4 } });
    const sharded = written(shard, [["b", 0], ["c", 1], ["a", 3], ["b", 4]]);
    assert.deepEqual(sharded.keys, ["b0", "c1", "a3", "b4"]);
    assert.deepEqual([...sharded.index.replicatesOf("b")], [0, 4]);
    assert.deepEqual([0, 2, 4].map((replicate) => sharded.index.statusOf("b", replicate)), [
      "completed",
      "none",
      "completed",
    ]);
    const refused = (start: ReturnType<typeof startOf>, rows: readonly [string, number][]) =>
      assert.throws(() => written(start, rows), { code: "bundle_link_mismatch" });
    refused(startOf(["a"]), [["a", 1]]);
    refused(startOf(["a"]), [["a", 0], ["a", 9_999_999]]);
    refused(startOf(["a"]), [["b", 0]]);
    refused(shard, [["b", 1]]);
    refused(shard, [["b", 4]]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
