import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { lastKind, Ledger, LedgerIndex } from "../../../lib/benchmark/ledger.ts";

const row = (id: string, replicate: number) => ({ row: { id, replicate, status: "completed" } });

async function withLedger(test: (path: string) => void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const path = join(folder, ".attempt-ledger");
    const ledger = Ledger.open(path, "first");
    ledger.append("attempt_started", { recipes: [] });
    ledger.append("row_completed", row("a", 0));
    ledger.append("row_completed", row("b", 0));
    ledger.close();
    test(path);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const read = (path: string) => new LedgerIndex(path).advance();

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

Deno.test("after a write that was cut at any byte, all whole events are there and the ledger accepts more", () =>
  withLedger((path) => {
    const bytes = Deno.readFileSync(path);
    const ends = [...bytes.keys()].filter((at) => bytes[at] === 10).map((at) => at + 1);
    for (let length = 0; length <= bytes.length; length++) {
      Deno.writeFileSync(path, bytes.subarray(0, length));
      const ledger = Ledger.open(path, "second");
      assert.equal(ledger.index.events, ends.filter((end) => end <= length).length, `${length} bytes`);
      ledger.append("attempt_resumed", { torn: ledger.index.tornBytes });
      ledger.close();
      assert.equal(read(path).tornBytes, 0);
      assert.equal(lastKind(path), "attempt_resumed");
    }
  }));

Deno.test("lines of any length are read, one after the other, and an open one at the end is none", () =>
  withLedger((path) => {
    const ledger = Ledger.open(path, "second");
    for (const length of [2 ** 20, 10, 3 * 2 ** 20, 2 ** 21 + 7]) {
      ledger.append("row_completed", { row: { ...row(`of_${length}`, 0).row, text: "x".repeat(length) } }, false);
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
    ledger.append("attempt_ended", { status: "incomplete" });
    const index = read(path);
    assert.equal(index.end?.status, "incomplete");
    ledger.append("attempt_resumed", {});
    ledger.append("row_completed", { row: { id: "a", replicate: 0, status: "failed" } });
    ledger.close();
    // What was appended is read on, and a writer knows the same as a reader.
    for (const known of [index.advance(), ledger.index, read(path)]) {
      assert.equal(known.end, null);
      assert.equal(known.row("a", 0)?.status, "failed");
      assert.equal(known.rowCount, 2);
    }
  }));

Deno.test("rows come replicate by replicate in the order of the pack, in whatever order they ended", async () => {
  const path = await Deno.makeTempFile();
  try {
    const ledger = Ledger.open(path, "first");
    ledger.append("attempt_started", { recipes: [{ id: "b" }, { id: "a" }] });
    const ended = [["a", 7], ["b", 0], ["a", 0], ["b", 7], ["a", 3]] as const;
    for (const [id, replicate] of ended) ledger.append("row_completed", row(id, replicate), false);
    ledger.close();
    const rows = [...read(path).rows()].map(({ id, replicate }) => `${id}${replicate}`);
    assert.deepEqual(rows, ["b0", "a0", "a3", "b7", "a7"]);
    assert.deepEqual([read(path).row("b", 3), read(path).row("c", 0)], [null, null]);
  } finally {
    await Deno.remove(path);
  }
});
