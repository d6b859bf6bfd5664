/** What a step sees in its learned mode: no input that only oracles may see, and its artifact alone. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { encodeArtifact } from "../../../lib/artifact/codec.ts";
import { learnedParameters, slotAbi } from "../../../lib/artifact/learned.ts";
import { defineOperation } from "../../../lib/contract/define.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { z } from "../../../lib/contract/zod.ts";
import type { StepTask, TaskInput } from "../../../lib/execute/protocol.ts";
import { runStep } from "../../../lib/execute/run_step.ts";
import { ndarray } from "../../../lib/numeric/ndarray.ts";
import { closeOnnxSessions } from "../../../lib/onnx/session.ts";
import { identityModel } from "../../support/onnx_graphs.ts";

const REALS = "channel.csi_feedback_code.numpy";
let seen: string[] = [];

const slot = defineOperation({
  id: "test.slot",
  name: "Slot",
  inputs: { x: [REALS] },
  optionalInputs: { truth: [REALS], phase_truth: [REALS], truthful: [REALS] },
  outputs: { y: REALS },
  params: z.strictObject({ mode: z.enum(["oracle", "learned_artifact"]), ...learnedParameters("slot") }),
  trainedArtifactAbi: slotAbi({
    component_id: "slot",
    component_role: "slot",
    entrypoint_id: "slot",
    inputs: { x: ["n"] },
    outputs: { y: ["n"] },
    required_operation_inputs: ["x"],
    binding: { mode: "learned_artifact" },
  }),
  threadSafe: true,
  async run(context) {
    const { inputs, params } = context;
    seen = Object.keys(inputs).sort();
    const x = inputs.x.array();
    const y = params.mode === "oracle" ? x : (await context.learned.run({ x })).y;
    return { outputs: { y: { array: y } } };
  },
});

async function runSlot(mode: string) {
  const folder = await Deno.makeTempDir({ prefix: "svc-withheld-" });
  try {
    const staging = join(folder, "staging"), path = join(folder, "slot.onnx");
    Deno.mkdirSync(staging);
    const model = identityModel("float32");
    Deno.writeFileSync(path, model);
    const array = ndarray("float32", Float32Array.of(1, 2, 3));
    const input = (port: string): TaskInput => {
      const { bytes } = encodeArtifact(port, REALS, { array });
      return { port, kind: REALS, bytes, path: "", sha256: sha256Hex(bytes) };
    };
    const task: StepTask = {
      type: "run",
      taskId: 1,
      operationId: "test.slot",
      moduleUrl: "",
      params: canonicalJson({ mode }),
      seed: null,
      inputs: ["x", "truth", "phase_truth", "truthful"].map(input),
      staging,
      binding: null,
      backend: "onnxruntime",
      implementation: "default",
      threads: 1,
      projectRoot: folder,
      stateDir: folder,
      models: [],
      learned: mode === "oracle" ? null : { path, sha256: sha256Hex(model), record: "{}" },
      cancelFlag: new Int32Array(new SharedArrayBuffer(4)),
    };
    return await runStep(slot, task, () => {});
  } finally {
    await closeOnnxSessions();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("an oracle sees the truth, a trained artifact's step does not", async () => {
  await runSlot("oracle");
  assert.deepEqual(seen, ["phase_truth", "truth", "truthful", "x"]);
  await runSlot("learned_artifact");
  assert.deepEqual(seen, ["truthful", "x"]);
});
