/** The order of symbols and of their noise variances, there and back. */
import assert from "node:assert/strict";
import operations from "../../../ops/channel/symbol_interleaver.ts";
import { symbolsOf } from "../../../lib/artifact/values.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { refuses, runOperation } from "../harness.ts";
import { symbolsInput } from "../inputs.ts";

const [interleaver, deinterleaver] = operations;
/** Symbols k + j·(100 + k). */
const numbered = (count: number) => Float32Array.from({ length: 2 * count }, (_, i) => i % 2 * 100 + (i >> 1));
const sent = async (count: number, metadata = {}, params = {}) =>
  (await runOperation(interleaver, { inputs: { symbols: symbolsInput(numbered(count), metadata) }, params })).outputs
    .symbols;
const back = async (rx_symbols: ReturnType<typeof symbolsInput>) =>
  (await runOperation(deinterleaver, { inputs: { rx_symbols } })).outputs.rx_symbols;

Deno.test("each source item takes its own symbols in a drawn order, and real and imaginary part stay together", async () => {
  const symbols = symbolsOf(await sent(10, { source_item_counts: [6, 4] }, { permutation_seed: 5 }));
  const order = [6, 4].flatMap((size, item) =>
    Array.from(Generator.seeded(5).permutation(size), (place) => Number(place) + 6 * item)
  );
  assert.deepEqual(Array.from(symbols), order.flatMap((place) => [place, 100 + place]));
  assert.notDeepEqual(order, order.toSorted((a, b) => a - b));
});

Deno.test("symbols and noise variances come back, also where source items are no longer declared", async () => {
  for (const metadata of [{}, { source_item_counts: [6, 4, 6] }]) {
    const { metadata: { source_item_counts: _, ...kept }, ...stream } = await sent(16, metadata);
    const values = symbolsOf({ ...stream, metadata: kept });
    const noise_variance = ndarray("float32", Float32Array.from({ length: 16 }, (_, i) => values[2 * i]));
    const found = await back(symbolsInput(values, kept, { companions: { noise_variance } }));
    assert.deepEqual(symbolsOf(found), numbered(16));
    assert.deepEqual([...found.array("noise_variance").data as Float32Array], Array.from({ length: 16 }, (_, i) => i));
    assert.equal(found.metadata.symbol_interleaver, undefined);
  }
});

Deno.test("another number of symbols, an invalid record and arrays of other shapes are refused", async () => {
  const record = (item_counts: number[], seed = 1) => ({ symbol_interleaver: { seed, item_counts } });
  await refuses("boundary_count_mismatch", () => back(symbolsInput(8, record([4, 5]))));
  await refuses("boundary_value_invalid", () => back(symbolsInput(8, record([8], -1))));
  await refuses("boundary_value_invalid", () => back(symbolsInput(8)));
  const companions = { gains: ndarray("float32", new Float32Array(16), [8, 2]) };
  await refuses("boundary_shape_invalid", () => back(symbolsInput(8, record([8]), { companions })));
});
