import assert from "node:assert/strict";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { float, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { bind, matrixFacts, setDimension, unbind } from "../../../lib/contract/matrix_edits.ts";
import { readValues, writtenValues } from "../../../ui/form/matrix.ts";

const RECIPE: JsonObject = { name: "link", metadata: { seed: 1 }, steps: [{ id: "chan", op: "wireless.channel" }] };
const values = (text: string, ...types: string[]) => {
  const read = readValues(text, types);
  return "values" in read ? canonicalJson(read.values) : read.problem;
};

Deno.test("values are read in the type of their parameter", () => {
  assert.equal(values("0, 5, 10", "number"), "[0.0,5.0,10.0]");
  assert.equal(values("0, 5, 10", "integer"), "[0,5,10]");
  assert.equal(values("qpsk, qam16", "string"), '["qpsk","qam16"]');
  assert.equal(values("true, false", "boolean"), "[true,false]");
  assert.equal(values("1, null", "integer", "null"), "[1,null]");
  assert.equal(values("[[1],[2]]", "array"), "[[1],[2]]");
  assert.match(values("1, x", "number"), /Cannot use "x" as a number/);
  assert.match(values("1.5", "integer"), /whole number/);
  assert.match(values("", "number"), /at least one/);
});

Deno.test("a range becomes the list that its decimal text says", () => {
  assert.equal(values("0:2:10", "number"), "[0.0,2.0,4.0,6.0,8.0,10.0]");
  assert.equal(values("0:0.1:0.3", "number"), "[0.0,0.1,0.2,0.3]");
  assert.equal(values("3:1", "integer"), "The step does not lead from the first to the last");
  assert.equal(values("1:3", "integer"), "[1,2,3]");
  assert.equal(values("5:-5:-5", "number"), "[5.0,0.0,-5.0]");
  assert.match(values("0:1:256", "integer"), /257 values are more than 256/);
  assert.match(values("0:0:5", "integer"), /does not lead/);
});

Deno.test("values that are written are read back the same", () => {
  const lists: [Value[], string][] = [[[float(0), 0.5, 1e-12], "number"], [[1, 2], "integer"], [["a", "b"], "string"]];
  for (const [list, type] of lists) {
    const read = readValues(writtenValues(list), [type]) as { values: Value[] };
    assert.equal(canonicalJson(read.values), canonicalJson(list));
  }
});

Deno.test("binding and releasing leaves the recipe as it was", () => {
  const snr = bind(RECIPE, { stepId: "chan", param: "snr_db", dimension: "snr" }, [float(0), float(5)]);
  const both = bind(snr, { stepId: "chan", param: "channel", dimension: "model" }, ["awgn", "flat_rayleigh", "x"]);
  assert.equal(matrixFacts(both).count, 6);
  assert.deepEqual(matrixFacts(both).unused, []);
  assert.deepEqual(matrixFacts(both).bindings.map(({ param }) => param), ["snr_db", "channel"]);
  const one = unbind(both, "chan", "channel");
  assert.equal(canonicalJson(one), canonicalJson(snr), "A dimension that nothing uses any more goes too");
  assert.equal(canonicalJson(unbind(one, "chan", "snr_db")), canonicalJson(RECIPE));
  assert.equal(canonicalJson(setDimension(snr, "snr", null)), canonicalJson(RECIPE));
});

Deno.test("a dimension that two parameters share stays with the other", () => {
  const a = bind(RECIPE, { stepId: "chan", param: "snr_db", dimension: "x" }, [float(1)]);
  const both = bind(a, { stepId: "chan", param: "delay_spread_ns", dimension: "x" });
  assert.equal(canonicalJson(unbind(both, "chan", "delay_spread_ns")), canonicalJson(a));
});

Deno.test("references in nested values count, and unused dimensions are named", () => {
  const recipe: JsonObject = {
    metadata: {
      matrix: {
        dimensions: { a: [1, 2], b: [1] },
        step_params: { chan: { taps: { list: [{ matrix: "a" }] } } },
      },
    },
  };
  assert.deepEqual(matrixFacts(recipe).bindings, [{ stepId: "chan", param: "taps.list.0", dimension: "a" }]);
  assert.deepEqual(matrixFacts(recipe).unused, ["b"]);
});
