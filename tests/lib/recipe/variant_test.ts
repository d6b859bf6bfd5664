import { deepStrictEqual, notStrictEqual, strictEqual } from "node:assert/strict";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { hasUnresolvedMatrix, variantId } from "../../../lib/recipe/variant.ts";
import { compileText, findings } from "./_registry.ts";

Deno.test("variant ids equal the known answers and tell 6 from 6.0", () => {
  strictEqual(variantId({ snr_db: float(6) }), "mxv1-c2da3c6b211816d358be4a3af76c70f0cb4d33bca92f48bdbd81057746295345");
  strictEqual(variantId({ snr_db: 6 }), "mxv1-f5fc9d35ee1e7219a0e3974922837ac666639bf73bf13363edce6a1462db635a");
  strictEqual(variantId({ a: 1, b: [true, null] }), variantId({ b: [true, null], a: 1 }));
  const distinct: JsonObject[] = [{ a: "1" }, { a: true }, { a: [1] }, { a: { x: 1, y: 2 } }, { a: null }, { b: 1 }];
  strictEqual(new Set(distinct.map(variantId)).size, distinct.length);
  notStrictEqual(variantId({ a: -0 }), variantId({ a: float(0) }));
});

const compiled = (metadata: string) =>
  compileText(`name: x\nmetadata: ${metadata}\nsteps: [{id: a, op: source.random_bits}]\n`);

Deno.test("a variant's id is checked against its coordinates, and filled in from them", () => {
  const id = variantId({ snr_db: float(6) });
  const filled = compiled("{matrix_selection: {snr_db: 6.0}}");
  deepStrictEqual(findings(filled), []);
  strictEqual(filled.effective!.metadata.matrix_variant_id, id);
  strictEqual(filled.normalized!.metadata.matrix_variant_id, id);
  deepStrictEqual(findings(compiled(`{matrix_selection: {snr_db: 6.0}, matrix_variant_id: ${id}}`)), []);
  for (
    const metadata of [
      `{matrix_selection: {snr_db: 6}, matrix_variant_id: ${id}}`,
      `{matrix_variant_id: ${id}}`,
      "{matrix_selection: {}}",
      "{matrix_selection: 6.0}",
    ]
  ) {
    const compilation = compiled(metadata);
    deepStrictEqual(compilation.diagnostics.map(({ code }) => code), ["matrix_selection_mismatch"], metadata);
    strictEqual(compilation.effective, null);
  }
});

Deno.test("a recipe that still spans variants says so", () => {
  const unresolved = (metadata: JsonObject) => hasUnresolvedMatrix({ metadata });
  for (
    const metadata of [{ matrix: {} }, { matrix: 3 }, { sweeps: { a: [1] } }, { ui_sweeps: "a:b" }] as JsonObject[]
  ) {
    strictEqual(unresolved(metadata), true);
  }
  for (
    const metadata of [{}, { matrix: null }, { sweeps: {}, ui_sweeps: null }, {
      matrix_selection: { a: 1 },
    }] as JsonObject[]
  ) {
    strictEqual(unresolved(metadata), false);
  }
  const { document } = {
    document: compiled("{matrix: {dimensions: {s: [1]}, step_params: {a: {seed: {matrix: s}}}}}"),
  };
  deepStrictEqual(findings(document), []);
  strictEqual(hasUnresolvedMatrix(document.effective!), true);
});
