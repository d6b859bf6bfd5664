/**
 * Results and shards of another author: every field of their documents in turn is a path, control characters, a very long
 * text, or a number that nothing of the program gives. Each call ends with an answer or with a code, and writes nothing outside.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { inside } from "../../../lib/artifact/inside.ts";
import { compareResults } from "../../../lib/study/report/compare_results.ts";
import { collectEvidence } from "../../../lib/study/rows/evidence_garbage.ts";
import { LedgerIndex } from "../../../lib/study/rows/ledger.ts";
import { exportedTables } from "../../../lib/study/report/reports.ts";
import { ShardedRows } from "../../../lib/study/rows/shards.ts";
import { listBenchmarkResults, showBenchmarkResult } from "../../../lib/study/rows/store.ts";
import { LEDGER_FILE, PACK_RECORD_FILE, RESULT_FILE } from "../../../lib/study/pack/types.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { canonicalJson, parseJson, prettyJson } from "../../../lib/contract/json.ts";
import { cloneValue, float, isObject, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { listFiles } from "../../../lib/run/files.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { open } from "../../../mod.ts";
import { leaves, type Place } from "../../support/mutations.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";
import { isSampled } from "../../support/sample.ts";
import { verifyBenchmark } from "../../support/session.ts";
import { writeSyntheticResult } from "../../support/synthetic_result.ts";
import { twoLinks, withPack } from "./packs.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const TEXTS = ["../../../victim", "/victim", "", "a\nb\u001b]52;c;AAAA\u0007\u202e", "x".repeat(100_000)];
const NUMBERS: Value[] = [-1, 1e9, float(1e308), null, "1", 2 ** 53];

function replaced(document: Value, place: Place, value: Value): Value {
  if (place.length === 0) return value;
  const copy = cloneValue(document);
  const parent = place.slice(0, -1).reduce<Value>((inner, key) => (inner as JsonObject)[key], copy) as JsonObject;
  parent[place.at(-1)!] = value;
  return copy;
}

const valueAt = (document: Value, place: Place) =>
  place.reduce<Value>((inner, key) => (inner as JsonObject)[key], document);

/** The ledger of events with a chain that holds. */
function chained(events: Value[]): string {
  let previous: string | null = null;
  return events.map((event, index) => {
    const line = canonicalJson(
      isObject(event) && isObject(event.fields) ? { ...event, seq: index + 1, previous_sha256: previous } : event,
    );
    previous = sha256Hex(line);
    return `${line}\n`;
  }).join("");
}

Deno.test("hostile values in any field of a result or a shard give a code, and leave the rest of the disk alone", async () => {
  const folder = temporaryFolder();
  const stateDir = join(folder, "a/b/state"), victim = join(folder, "a/b/victim");
  Deno.mkdirSync(victim, { recursive: true });
  Deno.writeTextFileSync(join(victim, "file"), "stays");
  const workspace = openWorkspace({ projectRoot: folder, stateDir });
  const id = await writeSyntheticResult(workspace, { recipes: 2, replicates: 1 });
  const directory = join(stateDir, "benchmarks", id);
  const texts = new Map(
    [RESULT_FILE, PACK_RECORD_FILE, LEDGER_FILE].map((name) => [name, Deno.readTextFileSync(join(directory, name))]),
  );
  const original = showBenchmarkResult(workspace, id).result;
  const outside = () =>
    listFiles(folder).filter(({ path }) => !path.startsWith(`a/b/state/benchmarks/`)).map(({ path }) => path).join();
  const before = outside();
  const events = texts.get(LEDGER_FILE)!.trimEnd().split("\n").map((line) => parseJson(line));
  const documents: [string, Value, (value: Value) => string][] = [
    [RESULT_FILE, parseJson(texts.get(RESULT_FILE)!), prettyJson],
    [PACK_RECORD_FILE, parseJson(texts.get(PACK_RECORD_FILE)!), prettyJson],
    [LEDGER_FILE, events, (value) => chained(value as Value[])],
  ];
  const calls: Record<string, () => unknown> = {
    list: () => listBenchmarkResults(workspace),
    compare: () => compareResults(original, showBenchmarkResult(workspace, id).result),
    export: () => exportedTables(workspace, id),
    verify: () => verifyBenchmark(workspace, id),
    gc: () => collectEvidence(workspace, true),
    merge: () => {
      const rows = new ShardedRows([stateDir]);
      rows.firstStart();
      rows.follow(original.benchmark.metrics);
      rows.advance();
      return [...rows.all()];
    },
    resume: () => new LedgerIndex(inside(directory, LEDGER_FILE)).advance().leftovers(),
  };
  let count = 0, turn = 0, field = 0;
  for (const [name, document, textOf] of documents) {
    for (const place of leaves(document)) {
      if (name !== LEDGER_FILE && place[0] === "recipes" && place[1] !== 0) continue;
      if (name === LEDGER_FILE && place[0] === 2 || !isSampled(field++, 3)) continue;
      const value = valueAt(document, place), values = typeof value === "string" ? TEXTS : NUMBERS;
      // One value for every third field in turn, so all of them for each kind of field; at full size all for every field.
      for (const hostile of FULL_SIZE ? values : [values[turn % values.length]]) {
        const at = `${name} ${place.join(".")} = ${canonicalJson(hostile).slice(0, 40)}`;
        Deno.writeTextFileSync(join(directory, name), textOf(replaced(document, place, hostile)));
        for (const [what, call] of Object.entries(calls)) {
          count++;
          try {
            await call();
          } catch (error) {
            assert.match(
              String((error as { code?: string }).code),
              /^[a-z_]+$/,
              `${what}: ${at}: ${(error as Error).stack}`,
            );
          }
        }
        Deno.writeTextFileSync(join(directory, name), texts.get(name)!);
        assert.equal(outside(), before, at);
      }
      turn++;
    }
  }
  assert.ok(count > 500, `${count} calls`);
  assert.equal((await verifyBenchmark(workspace, id)).status, "valid");
});

Deno.test("a ledger that is a pipe, a folder or a link is refused, and a sparse one by its first line", () =>
  withPack(twoLinks(), async ({ projectRoot }) => {
    const workspace = openWorkspace({ projectRoot });
    const id = await writeSyntheticResult(workspace, { recipes: 1, replicates: 1 });
    const directory = join(workspace.stateDir, "benchmarks", id), path = join(directory, LEDGER_FILE);
    const bytes = Deno.readFileSync(path);
    const places: Record<string, () => void> = {
      pipe: () => void new Deno.Command("mkfifo", { args: [path] }).outputSync(),
      folder: () => Deno.mkdirSync(path),
      link: () => Deno.symlinkSync("/dev/zero", path),
      sparse: () => Deno.truncateSync((Deno.writeFileSync(path, new Uint8Array()), path), 2 ** 40),
    };
    for (const [what, make] of Object.entries(places)) {
      Deno.removeSync(path, { recursive: true });
      make();
      const { status, errors } = await verifyBenchmark(workspace, id);
      assert.equal(status, "invalid", what);
      assert.ok(errors.some(({ file }) => file === LEDGER_FILE || file === RESULT_FILE), what);
      assert.equal(listBenchmarkResults(workspace).length, 1);
    }
    Deno.removeSync(path);
    Deno.writeFileSync(path, bytes);
    assert.equal((await verifyBenchmark(workspace, id)).status, "valid");
  }));

Deno.test("the name of a merged result is a name, checked before anything is read or written", () =>
  withPack(twoLinks(), async ({ pack, projectRoot }) => {
    await using svc = await open({ projectRoot });
    for (const into of ["x/y", "../../x", "..", "", "20260101T000000Z_a/../../x", "20260101T000000Z_a\n"]) {
      await assert.rejects(svc.benchmarks.merge(pack, ["nowhere"], { into }), { code: "usage_invalid" }, into);
    }
  }));
