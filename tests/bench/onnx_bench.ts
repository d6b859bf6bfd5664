/**
 * Inference through a session (in its sandbox, arrays handed over) beside onnxruntime-web called directly in this thread,
 * and beside messages of the same inputs to a bare worker and back, turn by turn in the same run; and the latency of the
 * first call.
 *
 *     deno run -A tests/bench/onnx_bench.ts
 */
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { engineBinary } from "../../lib/onnx/engine.ts";
import { closeOnnxSessions, openOnnxSession } from "../../lib/onnx/session.ts";
import { convolutions, linearModel, perceptron } from "../support/onnx_graphs.ts";
import { ms, row, sized } from "./measure.ts";

const ort = await import("npm:onnxruntime-web@1.30.0/wasm");
ort.env.wasm.wasmBinary = await engineBinary();
ort.env.wasm.numThreads = 1;

const started = performance.now();
const first = await openOnnxSession(linearModel([1], 1));
await first.run({ x: ndarray("float32", Float32Array.of(1), [1, 1]) });
row(
  "first session of a thread and its first call",
  ms(performance.now() - started),
  "starts the sandbox and compiles the runtime",
);
const again = performance.now();
const second = await openOnnxSession(perceptron([2, 64, 2]));
await second.run({ x: ndarray("float32", Float32Array.of(1, 2), [1, 2]) });
row("a further session and its first call", ms(performance.now() - again));
await first.release();
await second.release();

/** A worker that sends each message back: the least time of a call on another thread. */
const echo = new Worker("data:application/javascript,self.onmessage = ({ data }) => self.postMessage(data)", {
  type: "module",
});
function echoed(message: unknown): Promise<void> {
  return new Promise((resolve) => {
    echo.onmessage = () => resolve();
    echo.postMessage(message);
  });
}

/** Lower quartile: what a call takes when nothing else wants the processors. */
const quartile = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 2];

const TURNS = sized(44, 1), CALLS = sized(200, 1), BATCH = sized(4096, 4);

/** Lower quartiles of turns taken alternately, in milliseconds a call. */
async function compare(name: string, model: Uint8Array, shape: readonly number[], calls: number): Promise<void> {
  const count = shape.reduce((product, size) => product * size, 1);
  const x = ndarray("float32", Float32Array.from(Generator.seeded(1n).standardNormal(count)), shape);
  const direct = await ort.InferenceSession.create(model);
  const session = await openOnnxSession(model);
  const bodies = [
    async () => void await direct.run({ x: new ort.Tensor("float32", x.data as Float32Array, shape) }),
    async () => void await session.run({ x }),
    () => echoed({ x }),
  ];
  const times: number[][] = bodies.map(() => []);
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [which, body] of bodies.entries()) {
      const from = performance.now();
      for (let call = 0; call < calls; call++) await body();
      if (turn >= Math.floor(TURNS / 11)) times[which].push((performance.now() - from) / calls);
    }
  }
  const [own, through, messages] = times.map(quartile);
  row(
    name,
    ms(through),
    `direct ${own.toFixed(3)} ms, ${((through / own - 1) * 100).toFixed(1)} % more, ${
      ((through - own) * 1000).toFixed(0)
    } us; messages alone ${(messages * 1000).toFixed(0)} us`,
  );
  await direct.release();
  await session.release();
}

await compare("perceptron 24-256-256-3, batch 1", perceptron([24, 256, 256, 3]), [1, 24], CALLS);
await compare(`perceptron 24-256-256-3, batch ${BATCH}`, perceptron([24, 256, 256, 3]), [BATCH, 24], 1);
await compare("convolutions 3-32-32-32, 64 x 64, batch 1", convolutions([32, 32, 32], 64), [1, 3, 64, 64], 1);
await compare("convolutions 3-32-32-32, 64 x 64, batch 8", convolutions([32, 32, 32], 64), [8, 3, 64, 64], 1);
await closeOnnxSessions();
echo.terminate();
