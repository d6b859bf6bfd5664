/** What every registered operation owes, whatever it does: the fixtures say what it is run with. */
import assert from "node:assert/strict";
import { conformanceChecks } from "../../lib/conformance/suite.ts";
import { canonicalJson, parseJson, prettyJson } from "../../lib/contract/json.ts";
import { ONNX_BUNDLE } from "../../lib/contract/kinds.ts";
import { exportedOperation, Registry } from "../../lib/contract/registry.ts";
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import { contractsSource, digestsSource, indexSource, summariesSource } from "../../ops/generate_index.ts";
import { createRegistry } from "../../ops/registry.ts";
import { FIXTURES } from "./_fixtures/index.ts";
import "../support/networks.ts";

Deno.test("the operation index and the contracts are what the generator writes", async () => {
  const written = await Deno.readTextFile(new URL("../../ops/index.ts", import.meta.url));
  assert.equal(written, await indexSource(), "run deno task generate");
  const contracts = await Deno.readTextFile(new URL("../../ops/contracts.json", import.meta.url));
  assert.ok(
    contracts === await contractsSource(),
    "ops/contracts.json is stale: run deno task generate",
  );
  const summaries = await Deno.readTextFile(new URL("../../ops/summaries.json", import.meta.url));
  assert.equal(summaries, await summariesSource(), "run deno run -A ops/generate_index.ts");
  const digests = await Deno.readTextFile(new URL("../../ops/contract_digests.json", import.meta.url));
  assert.equal(digests, await digestsSource(), "run deno task generate");
});

Deno.test("a registry that loads operations at their first use is the registry of all operations", async () => {
  const later = await createRegistry(), all = new Registry();
  all.register(BUILTIN_OPERATIONS);
  assert.deepEqual(later.ids(), all.ids());
  assert.equal(later.sha256, all.sha256);
  for (const { operation, moduleUrl } of BUILTIN_OPERATIONS) {
    const entry = later.get(operation.id);
    assert.equal(entry.moduleUrl, moduleUrl);
    assert.equal(entry.operation.definition, operation.definition);
    // Texts tell the order too, in which recipes list the defaults of parameters.
    assert.equal(prettyJson({ ...entry.operation.contract }), prettyJson(operation.contract));
  }
});

for (const [name, permissions] of [["with", ["--allow-read"]], ["without", []]] as const) {
  Deno.test(`an operation loads ${name} the permission to read the program`, async () => {
    const script = `import { createRegistry } from ${JSON.stringify(new URL("../../ops/registry.ts", import.meta.url))};
      console.log((await createRegistry()).get("wireless.digital_link").operation.definition.id);`;
    const path = await Deno.makeTempFile({ suffix: ".ts" });
    try {
      await Deno.writeTextFile(path, script);
      const args = ["run", "--no-config", "--no-prompt", "--no-check", ...permissions, path];
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
      assert.equal(new TextDecoder().decode(stdout), "wireless.digital_link\n", new TextDecoder().decode(stderr));
    } finally {
      await Deno.remove(path);
    }
  });
}

Deno.test("all operations register together, and each module exports what the index names", async () => {
  const registry = new Registry();
  registry.register(BUILTIN_OPERATIONS);
  assert.deepEqual(BUILTIN_OPERATIONS.map((entry) => entry.operation.id), registry.ids());
  for (const { operation, moduleUrl } of BUILTIN_OPERATIONS) {
    assert.equal(exportedOperation(await import(moduleUrl), operation.id), operation, moduleUrl);
  }
});

Deno.test("every fixture belongs to an operation", () => {
  const ids = new Set(BUILTIN_OPERATIONS.map((entry) => entry.operation.id));
  assert.deepEqual(Object.keys(FIXTURES).filter((id) => !ids.has(id)), []);
});

Deno.test("ops list prints the contracts that the operations declare", async () => {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL("../../cli.ts", import.meta.url).pathname, "ops", "list", "--json"],
  });
  const { success, stdout, stderr } = await command.output();
  assert.ok(success, new TextDecoder().decode(stderr));
  const printed = parseJson(new TextDecoder().decode(stdout));
  const list = (isObject(printed) ? printed.operations : printed) as JsonObject[];
  const contracts = new Map(list.map((contract) => [contract.id, contract]));
  assert.equal(contracts.size, BUILTIN_OPERATIONS.length);
  for (const { operation } of BUILTIN_OPERATIONS) {
    assert.equal(canonicalJson(contracts.get(operation.id)!), canonicalJson(operation.contract), operation.id);
  }
});

for (const { operation } of BUILTIN_OPERATIONS) {
  // The sandbox of the models stays for the next test.
  const bundled = Object.values(operation.definition.inputs ?? {}).flat().includes(ONNX_BUNDLE);
  const sanitize = operation.definition.models === undefined && !bundled;
  const options = { sanitizeOps: sanitize, sanitizeResources: sanitize };
  Deno.test(`${operation.id} conforms`, options, async (t) => {
    const fixture = FIXTURES[operation.id];
    assert.ok(fixture !== undefined, `tests/ops/_fixtures has no case for ${operation.id}`);
    const skipped = "skip" in fixture ? fixture.skip : null;
    const checks = conformanceChecks(operation, "skip" in fixture ? [] : fixture);
    for (const { name, run } of skipped === null ? checks : checks.slice(0, 2)) await t.step(name, run);
    if (skipped !== null) {
      assert.ok(skipped.length > 10, "a skip carries its reason");
      await t.step({ name: `runs (${skipped})`, ignore: true, fn() {} });
    }
  });
}

Deno.test("every source estimates its outputs", () => {
  const sources = BUILTIN_OPERATIONS.filter(({ operation }) => operation.id.startsWith("source."));
  assert.ok(sources.length > 20);
  const without = sources.filter(({ operation }) => operation.definition.estimate === undefined);
  assert.deepEqual(without.map(({ operation }) => operation.id), []);
});
