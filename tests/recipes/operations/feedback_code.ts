/** Feedback codes for recipes of the tests: the parts of the first subcarriers of every channel. */
import { defineOperation, ndarray, z } from "../../../mod.ts";

export default defineOperation({
  id: "test.feedback_code",
  name: "Some parts of a channel",
  inputs: { csi: ["channel.miso_ofdm_csi.numpy"] },
  outputs: { feedback_code: "channel.csi_feedback_code.numpy" },
  params: z.strictObject({}),
  threadSafe: true,
  run({ inputs }) {
    const { shape, data } = inputs.csi.array();
    const code = (data as Float32Array).slice(0, 8 * shape[0]);
    return { outputs: { feedback_code: { array: ndarray("float32", code, [shape[0], 8]) } } };
  },
});
