/** Inputs of a trainable component: a secret one reaches the mode that reveals it, and no trained artifact. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { encodeArtifact } from "../../../lib/artifact/codec.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { defineSlot } from "../../../lib/contract/slot.ts";
import type { StepTask, TaskInput } from "../../../lib/execute/protocol.ts";
import { runStep } from "../../../lib/execute/run_step.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { closeOnnxSessions } from "../../../lib/onnx/session.ts";
import { identityModel } from "../../support/onnx_graphs.ts";

const REALS = "channel.csi_feedback_code.numpy";
let seen: string[] = [];

const slot = defineSlot({
  id: "test.slot",
  name: "Slot",
  inputs: { x: [REALS] },
  optionalInputs: { answer: { kinds: [REALS], secret: true }, truth: [REALS] },
  outputs: { y: REALS },
  gradient: "none",
  exports: {},
  mode: { default: "plain" },
  read({ inputs }) {
    seen = Object.keys(inputs).sort();
    return inputs.x.array();
  },
  modes: {
    plain: { implementation: "plain", run: (x) => x },
    oracle: { implementation: "oracle", reveals: "answer", run: (_, { inputs }) => inputs.answer!.array() },
  },
  learned: {
    component: { id: "slot", role: "slot", entrypoint: "slot" },
    inputs: { x: ["n"] },
    outputs: { y: ["n"] },
    rows: 8,
    run: async (x, call) => (await call({ x })).y,
  },
  result: (array) => ({ outputs: { y: { array } } }),
});

async function runSlot(mode: string, operation = slot) {
  const folder = await Deno.makeTempDir({ prefix: "svc-withheld-" });
  try {
    const staging = join(folder, "staging"), path = join(folder, "slot.onnx");
    Deno.mkdirSync(staging);
    const model = identityModel("float32");
    Deno.writeFileSync(path, model);
    const array = ndarray("float32", Float32Array.of(1, 2, 3));
    const input = (port: string): TaskInput => {
      const { bytes } = encodeArtifact(port, REALS, { array });
      return { port, kind: REALS, bytes, sole: true, path: "", from: null, sha256: sha256Hex(bytes) };
    };
    const task: StepTask = {
      operationId: "test.slot",
      moduleUrl: "",
      params: canonicalJson({ mode }),
      seed: null,
      inputs: ["x", "answer", "truth"].map(input),
      chained: [],
      streamed: false,
      unwritten: [],
      staging,
      binding: null,
      backend: "onnxruntime",
      implementation: "default",
      threads: 1,
      spare: false,
      projectRoot: folder,
      stateDir: folder,
      program: null,
      models: [],
      learned: mode !== "learned_artifact" ? null : { path, sha256: sha256Hex(model), record: "{}" },
      cancelFlag: new Int32Array(new SharedArrayBuffer(4)),
    };
    return await runStep(operation, task, () => {});
  } finally {
    await closeOnnxSessions();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a secret input reaches the mode that reveals it and no other", async () => {
  await runSlot("oracle");
  assert.deepEqual(seen, ["answer", "truth", "x"]);
  for (const mode of ["plain", "learned_artifact"]) {
    await runSlot(mode);
    assert.deepEqual(seen, ["truth", "x"]);
  }
});

Deno.test("the executor withholds secret inputs of any operation from a trained artifact", async () => {
  const own = { ...slot, definition: { ...slot.definition, run: readAll } };
  await runSlot("plain", own);
  assert.deepEqual(seen, ["answer", "truth", "x"]);
  await runSlot("learned_artifact", own);
  assert.deepEqual(seen, ["truth", "x"]);
});

Deno.test("a mode that reveals an input asks for it", () => {
  const check = (connected: string[]) =>
    slot.definition.check!({ mode: "oracle", artifact_package_sha256: "" }, new Set(connected)).map(({ code }) => code);
  assert.deepEqual(check(["x"]), ["input_missing"]);
  assert.deepEqual(check(["x", "answer"]), []);
});

const readAll: typeof slot.definition.run = ({ inputs }) => {
  seen = Object.keys(inputs).sort();
  return { outputs: { y: { array: inputs.x.array() } } };
};
