import assert from "node:assert/strict";
import { join } from "node:path";
import { Ledger, readLedger, readLedgerFile, summarizeLedger } from "../../../lib/benchmark/ledger.ts";

const row = (id: string, replicate: number) => ({ row: { id, replicate, status: "completed" } });

async function withLedger(test: (path: string) => void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const path = join(folder, ".attempt-ledger");
    const { ledger } = Ledger.open(path, "first");
    ledger.append("attempt_started", { recipes: [] });
    ledger.append("row_completed", row("a", 0));
    ledger.append("row_completed", row("b", 0));
    ledger.close();
    test(path);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("events are chained, and none can be altered, taken out or put in", () =>
  withLedger((path) => {
    const bytes = Deno.readFileSync(path);
    const { events } = readLedger(bytes);
    assert.deepEqual(events.map(({ seq, kind }) => [seq, kind]), [
      [1, "attempt_started"],
      [2, "row_completed"],
      [3, "row_completed"],
    ]);
    assert.equal(events[2].previous_sha256, events[1].sha256);
    const lines = new TextDecoder().decode(bytes).trimEnd().split("\n");
    const refused = (changed: string[]) =>
      assert.throws(() => readLedger(new TextEncoder().encode(changed.join("\n") + "\n")), {
        code: "bundle_hash_mismatch",
      });
    refused([lines[0], lines[2]]);
    refused([lines[1], lines[2]]);
    refused([lines[0], lines[1].replace('"a"', '"c"'), lines[2]]);
    refused([lines[0], lines[1], lines[1], lines[2]]);
  }));

Deno.test("wherever a write was cut off, all whole events are there and the ledger goes on", () =>
  withLedger((path) => {
    const bytes = Deno.readFileSync(path);
    const ends = [...bytes.keys()].filter((at) => bytes[at] === 10).map((at) => at + 1);
    for (let length = 0; length <= bytes.length; length++) {
      Deno.writeFileSync(path, bytes.subarray(0, length));
      const { ledger, state } = Ledger.open(path, "second");
      assert.equal(state.events.length, ends.filter((end) => end <= length).length, `${length} bytes`);
      ledger.append("attempt_resumed", { torn: state.torn_bytes });
      ledger.close();
      const again = readLedgerFile(path);
      assert.equal(again.torn_bytes, 0);
      assert.equal(again.events.at(-1)!.kind, "attempt_resumed");
    }
  }));

Deno.test("the last word about a row counts, and an end counts while nothing follows it", () =>
  withLedger((path) => {
    const { ledger } = Ledger.open(path, "second");
    ledger.append("attempt_ended", { status: "incomplete" });
    assert.equal(summarizeLedger(readLedgerFile(path).events).end?.status, "incomplete");
    ledger.append("attempt_resumed", {});
    ledger.append("row_completed", { row: { id: "a", replicate: 0, status: "failed" } });
    ledger.close();
    const summary = summarizeLedger(readLedgerFile(path).events);
    assert.equal(summary.end, null);
    assert.equal(summary.rows.get("a|0")?.row.status, "failed");
    assert.equal(summary.rows.size, 2);
  }));
