/** Runs one network on both runtimes and prints how far apart the results are, in tolerances. */
import { SvcError } from "../../../lib/contract/error.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { ACCELERATOR_TOLERANCE } from "../../../lib/onnx/accelerator.ts";
import { closeOnnxSessions, openOnnxSession } from "../../../lib/onnx/session.ts";
import { perceptron } from "../../support/onnx_graphs.ts";

const model = perceptron([24, 64, 64, 3]);
const x = ndarray("float32", Float32Array.from(Generator.seeded(2n).standardNormal(24 * 500)), [500, 24]);
try {
  const native = await openOnnxSession(model, { accelerator: "onnxruntime-node" });
  const portable = await openOnnxSession(model);
  const [{ y: a }, { y: b }] = [await native.run({ x }), await portable.run({ x })];
  let worst = 0;
  for (let i = 0; i < a.data.length; i++) {
    const [p, q] = [Number(a.data[i]), Number(b.data[i])];
    worst = Math.max(worst, Math.abs(p - q) / (ACCELERATOR_TOLERANCE.atol + ACCELERATOR_TOLERANCE.rtol * Math.abs(q)));
  }
  await native.release();
  await portable.release();
  await closeOnnxSessions();
  console.log(JSON.stringify({ worst }));
} catch (error) {
  if (!(error instanceof SvcError)) throw error;
  console.log(JSON.stringify({ code: error.code, message: error.message }));
}
Deno.exit(0);
