/**
 * Calls load the modules of operations by imports that are awaited. A synchronous load blocks the thread until Deno has read the module,
 * and Deno reads none while an import of the same thread is under way: both would wait for ever.
 */
// Process of its own: it replaces a function of Node before the operations are first used.
import assert from "node:assert/strict";
import { join } from "node:path";
import { nodeModule } from "../../../lib/contract/node_builtins.ts";
import { open } from "../../../mod.ts";
import { ROOT_PATH } from "../../support/paths.ts";

const shipped = (name: string) => Deno.readTextFileSync(join(ROOT_PATH, `recipes/bit_transport_${name}.yaml`));

/** Each uses operations that no call before it has loaded. */
const recipeOf = (code: string, ...between: string[]) => ({
  name: "link",
  metadata: { seed: 1 },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 64 } },
    ...[`channel.${code}_encoder`, ...between, `channel.${code}_decoder`].map((op, index) => ({ id: `s${index}`, op })),
  ],
});

Deno.test("no call loads an operation synchronously", async () => {
  const loads: string[] = [], module = nodeModule(), { createRequire } = module;
  module.createRequire = (from) => {
    const require = createRequire(from);
    return Object.assign((path: string) => (loads.push(path), require(path)), require);
  };
  const folder = await Deno.makeTempDir();
  const svc = await open({ projectRoot: folder });
  try {
    await svc.recipes.lint(recipeOf("repetition"));
    assert.deepEqual(loads, [], "lint");
    await svc.recipes.validate(recipeOf("bch")).catch(() => {});
    assert.deepEqual(loads, [], "validate a recipe with problems");
    await svc.recipes.overview(shipped("turbo"));
    assert.deepEqual(loads, [], "overview");
    await svc.recipes.validate(shipped("convolutional"));
    assert.deepEqual(loads, [], "validate");
    await svc.recipes.explain(shipped("ldpc"), "decoder");
    assert.deepEqual(loads, [], "explain");
    const { run_id } = (await svc.recipes.run(shipped("awgn"))).summary;
    assert.deepEqual(loads, [], "run");
    assert.equal((await svc.runs.verify(run_id)).status, "valid");
    await svc.runs.reproduce(run_id);
    assert.deepEqual(loads, [], "reproduce");
    await svc.templates.list();
    await svc.benchmarks.packs();
    assert.deepEqual(loads, [], "lists");
  } finally {
    module.createRequire = createRequire;
    svc.close();
    await Deno.remove(folder, { recursive: true });
  }
});
