import assert from "node:assert/strict";
import { type Known, offersAt } from "../../../ui/form/completion.ts";

const OPERATIONS = new Map<string, Known>([["modulation.map", {
  id: "modulation.map",
  name: "Mapper",
  params_schema: { properties: { modulation: { enum: ["qpsk", "qam16"] }, gray: { type: "boolean" } } },
}]]);
/** Offers at the bar in a text. */
const offers = (text: string) =>
  offersAt(text.replace("|", ""), text.indexOf("|"), OPERATIONS).map(({ label }) => label);

Deno.test("operations, parameters and enumerated values are offered where they can stand", () => {
  assert.deepEqual(offers(`{"steps": [{"op": "mo|"}]}`), ['"modulation.map"']);
  assert.deepEqual(offers(`{"steps": [{"op": "modulation.map", "params": {"modulation": "|"}}]}`), [
    '"qpsk"',
    '"qam16"',
  ]);
  assert.deepEqual(offers(`{"steps": [{"op": "modulation.map", "params": {"gray": t|}}]}`), ["true", "false"]);
  assert.deepEqual(offers(`{"steps": [{"op": "modulation.map", "params": {|}}]}`), ['"modulation"', '"gray"']);
  assert.deepEqual(offers(`{"name": "|"}`), []);
  assert.deepEqual(offers(`{"steps": [{"op": "unknown", "params": {"a": "|"}}]}`), []);
});
