import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { Diagnostic } from "../../../lib/contract/error.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { deriveSeed, SeedPolicy } from "../../../lib/recipe/seeds.ts";
import { compileText, findings } from "./_registry.ts";

const steps = `
steps:
  - {id: data, op: source.random_bits}
  - {id: wireless_channel, op: wireless.channel, inputs: {symbols: data.bits}}
  - {id: plain, op: test.nested, params: {label: x}}
`;

const seedsOf = (head: string) => {
  const compilation = compileText(head + steps);
  deepStrictEqual(findings(compilation), []);
  return compilation.seed_policy as JsonObject & { steps: JsonObject };
};

Deno.test("derived seeds equal the known answers", () => {
  strictEqual(deriveSeed(23, "demo", "wireless_channel", "default"), 1101169485);
  strictEqual(deriveSeed(23n, "démo", "data", "default"), 82645676);
  strictEqual(deriveSeed(0, "demo", "data", "noise"), 1820211202);
});

Deno.test("a step's seed is the author's, else derived, else the default", () => {
  const derived = seedsOf("name: demo\nmetadata: {seed: 23}");
  deepStrictEqual(derived, {
    schema_version: 1,
    master_seed: 23,
    master_seed_source: "recipe.metadata.seed",
    seed_namespace: "demo",
    seed_namespace_source: "recipe.name",
    derivation: "sha256-utf8-be-mod-2147483647",
    operation_param_seed_overrides_master: true,
    steps: {
      data: { seed: deriveSeed(23, "demo", "data"), source: "derived", stream: "default" },
      wireless_channel: { seed: 1101169485, source: "derived", stream: "default" },
    },
  });
  // Without a master seed: the schema's default, and 0 where there is none.
  const fallback = seedsOf("name: demo");
  strictEqual(fallback.master_seed, null);
  strictEqual(fallback.master_seed_source, null);
  deepStrictEqual(fallback.steps, {
    data: { seed: 7, source: "default", stream: "default" },
    wireless_channel: { seed: 0, source: "default", stream: "default" },
  });
  const authored = compileText(`
name: demo
metadata: {seed: 23}
steps:
  - {id: data, op: source.random_bits, params: {seed: 7}}
  - {id: wireless_channel, op: wireless.channel, params: {seed: null}, inputs: {symbols: data.bits}}
`);
  deepStrictEqual(authored.seed_policy!.steps, {
    data: { seed: 7, source: "authored", stream: "default" },
    wireless_channel: { seed: 1101169485, source: "derived", stream: "default" },
  });
  // A null seed stays in the author's form and is concrete in the effective one.
  strictEqual(authored.normalized!.steps[1].params.seed, null);
  strictEqual(authored.effective!.steps[1].params.seed, 1101169485);
});

Deno.test("the master seed is the first that is not null, and the namespace may be set", () => {
  const source = (metadata: string) => {
    const { master_seed, master_seed_source } = seedsOf(`name: demo\nmetadata: ${metadata}`);
    return `${master_seed} ${master_seed_source}`;
  };
  strictEqual(source("{ui_seed: 1, experiment_seed: 2, seed: 3}"), "3 recipe.metadata.seed");
  strictEqual(source("{ui_seed: 1, experiment_seed: 2, seed: null}"), "2 recipe.metadata.experiment_seed");
  strictEqual(source("{ui_seed: 0}"), "0 recipe.metadata.ui_seed");
  strictEqual(source("{seed: 9223372036854775807}"), "9223372036854775807 recipe.metadata.seed");

  const named = seedsOf("name: other\nmetadata: {seed: 23, seed_namespace: '  demo '}");
  strictEqual(named.seed_namespace, "demo");
  strictEqual(named.seed_namespace_source, "metadata.seed_namespace");
  strictEqual((named.steps.wireless_channel as JsonObject).seed, 1101169485);
  strictEqual(seedsOf("name: demo\nmetadata: {seed_namespace: '  '}").seed_namespace_source, "recipe.name");
});

Deno.test("large authored seeds keep their digits", () => {
  const { effective } = compileText(
    "name: x\nsteps:\n- {id: a, op: source.random_bits, params: {seed: 9223372036854775807}}",
  );
  strictEqual(effective!.steps[0].params.seed, 9223372036854775807n);
});

Deno.test("a master seed or namespace that cannot be used is refused", () => {
  const problems = (metadata: JsonObject) => {
    const diagnostics: Diagnostic[] = [];
    new SeedPolicy(metadata, "demo", diagnostics);
    return diagnostics.map(({ code, path }) => `${code} ${path}`);
  };
  for (const seed of [-1, 2n ** 63n, 1.5, "23", true, [1]]) {
    deepStrictEqual(problems({ seed }), ["seed_invalid $.metadata.seed"]);
  }
  deepStrictEqual(problems({ seed: null, ui_seed: -1 }), ["seed_invalid $.metadata.ui_seed"]);
  deepStrictEqual(problems({ seed_namespace: 5 }), ["seed_invalid $.metadata.seed_namespace"]);
  deepStrictEqual(findings(compileText("name: x\nmetadata: {seed: 23.0}" + steps)), [
    "seed_invalid $.metadata.seed 2:18",
  ]);
});
