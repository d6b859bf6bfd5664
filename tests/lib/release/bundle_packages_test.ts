import assert from "node:assert/strict";
import deno from "../../../deno.json" with { type: "json" };
import { PROGRAM_ROOT } from "../../../lib/artifact/program.ts";
import { BUNDLED, bundleOf, bundlePackage } from "../../../lib/release/bundle_packages.ts";

Deno.test("the import map names a bundle of every package that is bundled", () => {
  const named = Object.keys(BUNDLED).map((specifier) => [specifier, `./${bundleOf(specifier)}`]);
  assert.deepEqual(deno.imports, Object.fromEntries(named));
});

for (const specifier of Object.keys(BUNDLED)) {
  Deno.test(`the bundle of ${specifier} is that of the locked version`, async () => {
    const stored = await Deno.readTextFile(new URL(bundleOf(specifier), PROGRAM_ROOT));
    assert.ok(stored === await bundlePackage(specifier), "It is stale: run deno task build:packages");
  });
}
