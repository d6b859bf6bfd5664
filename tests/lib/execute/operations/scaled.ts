/** Numbers through a model that the recipe names. */
import { defineOperation } from "../../../../lib/contract/define.ts";
import { z } from "../../../../lib/contract/zod.ts";
import { ndarray } from "../../../../lib/numeric/array/ndarray.ts";

export default defineOperation({
  id: "test.scaled",
  name: "Model for tests",
  outputs: { latents: "semantic.latents.numpy" },
  params: z.strictObject({
    model_id: z.string().default("gain.onnx"),
    model_revision: z.string().default(""),
    expected_model_sha256: z.string().default(""),
  }),
  threadSafe: true,
  models: ({ model_id, model_revision, expected_model_sha256 }) => [{
    role: "gain",
    id: model_id,
    revision: model_revision,
    sha256: expected_model_sha256,
    files: ["model.onnx"],
    optionalFiles: ["offset.json"],
  }],
  async run({ model }) {
    const gain = model("gain");
    const session = await gain.open("model.onnx");
    const { y } = await session.run({ x: ndarray("float32", Float32Array.of(1, 2, 3, 4), [4, 1]) }, { rows: 3 });
    const offset = gain.has("offset.json") ? JSON.parse(new TextDecoder().decode(await gain.read("offset.json"))) : 0;
    const data = (y.data as Float32Array).map((value) => value + offset);
    return { outputs: { latents: { array: ndarray("float32", data, [4, 1]) } } };
  },
});
