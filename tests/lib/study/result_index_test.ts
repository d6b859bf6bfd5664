import assert from "node:assert/strict";
import { prettyJson } from "../../../lib/contract/json.ts";
import { join } from "node:path";
import { listIndexedResults, listResultsFromIndex, rebuildResultIndex } from "../../../lib/study/rows/result_index.ts";
import { listBenchmarkResults } from "../../../lib/study/rows/store.ts";
import { float } from "../../../lib/contract/value.ts";
import { openRunIndex } from "../../../lib/run/index/open.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { resultOf } from "./result_fixture.ts";

const made = (id: string, created: string, replicates: number) =>
  prettyJson(resultOf(
    [{ id: "a", method: "qpsk", metrics: () => ({ "channel.ber": float(0.1) }) }],
    ["channel.ber"],
    replicates,
    { result_id: id, created_at_utc: created },
  ));

Deno.test("the index of results says what the results say, and reads again only what changed", async () => {
  const stateDir = await Deno.makeTempDir({ prefix: "svc-results-" });
  const workspace = openWorkspace({ stateDir, projectRoot: stateDir });
  const file = (id: string) => join(stateDir, "benchmarks", id, "result.json");
  const write = (id: string, created: string, replicates = 1) => {
    Deno.mkdirSync(join(file(id), ".."), { recursive: true });
    Deno.writeTextFileSync(file(id), made(id, created, replicates));
  };
  try {
    assert.deepEqual(listResultsFromIndex(workspace), []);
    write("20260101T000000Z_first", "2026-01-01T00:00:00.000Z");
    write("20260102T000000Z_second", "2026-01-02T00:00:00.000Z");
    const listed = listBenchmarkResults(workspace);
    assert.deepEqual(listed.map(({ result_id, rows }) => [result_id.slice(17), rows]), [["second", 1], ["first", 1]]);
    assert.deepEqual(listResultsFromIndex(workspace), listed);

    // A row that stands is not read again: what the table says is what is shown.
    const { database, close } = openRunIndex(workspace);
    database.exec("UPDATE benchmark_results SET document = replace(document, 'first', 'cached')");
    assert.ok(listIndexedResults(workspace, database).some(({ result_id }) => result_id.endsWith("cached")));
    write("20260101T000000Z_first", "2026-01-01T00:00:00.000Z", 3);
    assert.deepEqual(listIndexedResults(workspace, database), listBenchmarkResults(workspace));
    assert.equal(listIndexedResults(workspace, database)[1].rows, 3);

    await Deno.remove(join(stateDir, "benchmarks/20260102T000000Z_second"), { recursive: true });
    await Deno.writeTextFile(file("20260101T000000Z_first"), "torn");
    assert.deepEqual(listIndexedResults(workspace, database), listBenchmarkResults(workspace));
    assert.ok(listIndexedResults(workspace, database)[0].problem !== undefined);
    database.exec("DELETE FROM benchmark_results");
    assert.equal(rebuildResultIndex(workspace, database), 1);
    close();
  } finally {
    await Deno.remove(stateDir, { recursive: true });
  }
});
