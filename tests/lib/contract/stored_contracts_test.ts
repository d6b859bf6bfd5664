import assert from "node:assert/strict";
import { canonicalJson, parseJson } from "../../../lib/contract/json.ts";
import { storedContracts } from "../../../lib/contract/stored_contracts.ts";
import text from "../../../ops/contracts.json" with { type: "text" };

Deno.test("stored contracts have the typed values and the order of their text", () => {
  const { operations } = parseJson(text) as { operations: { id: string; params_schema: unknown }[] };
  const stored = storedContracts(text);
  assert.equal(canonicalJson(stored as never), canonicalJson(operations as never));
  assert.deepEqual(
    stored.map((contract) => Object.keys(contract)),
    operations.map((contract) => Object.keys(contract)),
  );
});
