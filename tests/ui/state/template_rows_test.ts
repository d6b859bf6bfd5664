import assert from "node:assert/strict";
import { packagedCatalog } from "../../../lib/template/catalog.ts";
import { DEFAULT_TEMPLATE } from "../../../ui/ahead.ts";

Deno.test("the editor opens the first default of the catalogue", () => {
  assert.equal(DEFAULT_TEMPLATE, packagedCatalog().templates.find((row) => row.default)!.id);
});
