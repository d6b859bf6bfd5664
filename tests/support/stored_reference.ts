/** Compares an ONNX model with the answer of the PyTorch model that was stored when it was trained. */
import assert from "node:assert/strict";
import { parseJson } from "../../lib/contract/json.ts";
import { type JsonObject, toNumber, type Value } from "../../lib/contract/value.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { openOnnxSession } from "../../lib/onnx/session.ts";
import "./networks.ts";

const TOLERANCE = 1e-5;

/** Stored tensors by name: their data are little-endian float32 or int64 numbers in base64. */
export function arrays(values: JsonObject): Record<string, NdArray> {
  return Object.fromEntries(
    Object.entries(values as Record<string, JsonObject>).map(([name, { dtype, shape, data }]) => {
      const { buffer } = Uint8Array.fromBase64(data as string);
      const sizes = (shape as Value[]).map((size) => toNumber(size as number));
      return [
        name,
        dtype === "int64"
          ? ndarray("int64", new BigInt64Array(buffer), sizes)
          : ndarray("float32", new Float32Array(buffer), sizes),
      ];
    }),
  );
}

/**
 * Runs a model on the stored inputs; its outputs lie within 1e-5 (of 1, or of the largest of them where that is larger: what
 * sums of large terms lose does not shrink with their result).
 */
export async function assertGivesStoredAnswer(model: URL, reference: URL): Promise<void> {
  const stored = parseJson(await Deno.readTextFile(reference)) as { inputs: JsonObject; outputs: JsonObject };
  const session = await openOnnxSession(await Deno.readFile(model));
  try {
    const outputs = await session.run(arrays(stored.inputs));
    for (const [name, wanted] of Object.entries(arrays(stored.outputs))) {
      const found = outputs[name];
      assert.deepEqual(found.shape, wanted.shape);
      const largest = Array.from(wanted.data, Number).reduce((most, value) => Math.max(most, Math.abs(value)), 1);
      wanted.data.forEach((value, i) => {
        const expected = Number(value), off = Math.abs(Number(found.data[i]) - expected);
        assert.ok(
          off <= TOLERANCE * largest,
          `${name}[${i}] is ${found.data[i]}, not ${expected}`,
        );
      });
    }
  } finally {
    await session.release();
  }
}
