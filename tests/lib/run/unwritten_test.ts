import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { exists } from "../../../lib/artifact/path_kind.ts";
import { asObject, parseJson } from "../../../lib/contract/json.ts";
import { outputsOf, type SummaryDocument } from "../../../lib/run/bundle_schema.ts";
import { type BundleFiles, DISK, listFiles } from "../../../lib/run/files.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { chainedSteps } from "../../../lib/plan/chains.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { pruneRuns } from "../../../lib/run/retention.ts";
import { readDocument } from "../../../lib/run/read.ts";
import { reproduceRun } from "../../../lib/run/reproduce.ts";
import { restoreRun } from "../../../lib/run/restore.ts";
import { runRecipe } from "../../../lib/run/run.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { open } from "../../../mod.ts";
import { temporaryFolder } from "../../support/temporary.ts";

/** A link whose arrays need 14 MB, so that its steps work in blocks. */
const RECIPE = `
name: long_link
execution_profile: {id: custom}
metadata: {seed: 4}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 1000000}}
  - {id: sent, op: modulation.digital_modulate, inputs: {bits: data.bits}, params: {modulation: qpsk}}
  - {id: air, op: wireless.channel, inputs: {symbols: sent.symbols}, params: {snr_db: 4.0}}
  - {id: demapped, op: demodulation.digital_demodulate, inputs: {rx_symbols: air.rx_symbols}}
  - {id: ber, op: metrics.bit_error_rate, inputs: {reference: data.bits, candidate: demapped.bits}}
`;

Deno.test("a long run that keeps its metrics writes no arrays; it is verified, reproduced and restored", async () => {
  const stateDir = temporaryFolder("svc-unwritten-");
  await using svc = await open({ stateDir });
  const sizes: number[] = [];
  const bundle = () => [...Deno.readDirSync(join(stateDir, "runs"))].find(({ isDirectory }) => isDirectory)?.name;
  const run = await svc.recipes.run(RECIPE, {
    keep: "metrics",
    onEvent({ kind }) {
      if (!kind.startsWith("step_")) return;
      sizes.push(listFiles(join(stateDir, "runs", bundle()!)).reduce((sum, { size }) => sum + size, 0));
    },
  });
  assert.equal(run.status, "completed");
  assert.deepEqual(run.pruned.map(({ path }) => path), [
    "artifacts/data/bits.npz",
    "artifacts/sent/symbols.npz",
    "artifacts/air/rx_symbols.npz",
    "artifacts/demapped/bits.npz",
    "artifacts/demapped/llr.npz",
  ]);
  assert.ok(sizes.length > 3 && Math.max(...sizes) < 1e6, `${Math.max(...sizes)}`);
  const sums = Deno.readTextFileSync(join(run.directory, "SHA256SUMS"));
  for (const { path, sha256 } of run.pruned) assert.ok(sums.includes(`${sha256}  ${path}\n`));
  const verified = await svc.runs.verify(run.run_id);
  assert.deepEqual([verified.status, verified.artifacts, verified.warnings], ["valid", "pruned", []]);
  assert.equal((await svc.runs.reproduce(run.run_id)).status, "identical");
  const restored = await svc.runs.restore(run.run_id);
  assert.deepEqual([restored.status, restored.files], ["restored", 5]);
  assert.equal((await svc.runs.verify(run.run_id)).status, "valid");
  assert.equal(Deno.readTextFileSync(join(run.directory, "SHA256SUMS")), sums);
});

Deno.test("a summary names only artifacts that are there or listed, and one list serves all steps since the one before", async () => {
  const stateDir = temporaryFolder("svc-listed-"), workspace = openWorkspace({ projectRoot: stateDir, stateDir });
  const { value: raw } = readRecipeText(RECIPE, { file: "link.yaml" });
  const named: number[] = [];
  let lists = 0, folder = "";
  const files: BundleFiles = {
    ...DISK,
    write(path, contents, durable) {
      if (basename(path) === "pruned.json") lists++;
      if (basename(path).startsWith("summary.json")) {
        const text = contents instanceof Uint8Array ? new TextDecoder().decode(contents) : [...contents].join("");
        const outputs = outputsOf(asObject(parseJson(text)) as SummaryDocument), pruned = join(folder, "pruned.json");
        const listed = exists(pruned) ? Deno.readTextFileSync(pruned) : "";
        for (const { output: { path } } of outputs) {
          assert.ok(exists(join(folder, path)) || listed.includes(path), path);
        }
        named.push(outputs.length);
      }
      DISK.write(path, contents, durable);
    },
  };
  const { run_id } = await runRecipe({
    ...{ registry: await createRegistry(), cancellation: createCancellation(), workspace, raw, files, keep: "metrics" },
    onReserved: (runId) => folder = join(workspace.runs, runId),
  });
  assert.equal(named.at(-1), 6);
  // At most once before each summary after the first, however many steps ended meanwhile.
  assert.ok(lists >= 1 && lists < named.length, `${lists} lists, ${named.length} summaries`);
  await using svc = await open({ stateDir });
  assert.equal((await svc.runs.verify(run_id)).status, "valid");
});

Deno.test("the thread of a run, not that of its steps, starts the one that hashes", async () => {
  const names: (string | undefined)[] = [], { Worker } = globalThis;
  const processors = Object.getOwnPropertyDescriptor(navigator, "hardwareConcurrency");
  // A spare processor is what such a thread is for.
  Object.defineProperty(navigator, "hardwareConcurrency", { value: 4, configurable: true });
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      names.push(options?.name);
    }
  };
  try {
    const stateDir = temporaryFolder("svc-hasher-");
    await using svc = await open({ stateDir });
    for (let round = 0; round < 2; round++) {
      const run = await svc.recipes.run(RECIPE, { keep: "metrics" });
      assert.equal((await svc.runs.verify(run.run_id)).status, "valid");
    }
  } finally {
    globalThis.Worker = Worker;
    if (processors === undefined) delete (navigator as { hardwareConcurrency?: number }).hardwareConcurrency;
    else Object.defineProperty(navigator, "hardwareConcurrency", processors);
  }
  assert.ok(names.includes("svc step") && names.includes("svc hash"), names.join());
});

Deno.test("a run whose steps were in no chain, or in one, has equal files when it is made again", async () => {
  const stateDir = temporaryFolder("svc-chained-");
  const workspace = openWorkspace({ projectRoot: stateDir, stateDir });
  const options = { registry: await createRegistry(), cancellation: createCancellation() };
  const { value: raw } = readRecipeText(RECIPE, { file: "link.yaml" }),
    ids = ["data", "sent", "air", "demapped", "ber"];
  for (const chained of [[], ids]) {
    const { run_id, directory } = await runRecipe({ ...options, workspace, raw, chained: new Set(chained) });
    assert.deepEqual([...chainedSteps(readDocument(directory, "execution-plan.json"))!], chained);
    assert.equal((await reproduceRun(workspace, run_id, options)).status, "identical");
    pruneRuns(workspace, { ids: [run_id] });
    assert.equal((await restoreRun(workspace, run_id, options)).status, "restored");
  }
});
