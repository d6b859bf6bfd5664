/** The networks of a learned codec compiled ahead of time; refused for the reason given in codeclib_aoti_encode. */
import { defineOperation, z } from "../api.ts";
import { AOT_BUNDLE, IMAGES } from "../../lib/contract/kinds.ts";
import {
  DEVICE,
  EXPORT_SIZE,
  MODEL_PARAMS,
  modelProblems,
  PAD_TO_MULTIPLE,
  VARIABLE_RATE_PARAMS,
} from "./_codeclib.ts";
import { plannedFor } from "./_codeclib_runtimes.ts";

const id = "model.codeclib_export_aoti";

export default defineOperation({
  id,
  name: "Ahead-of-time compile codec",
  description: "Compiles the networks of a learned codec for one machine; not part of this release",
  inputs: { images: [IMAGES] },
  outputs: { model: AOT_BUNDLE },
  params: z.strictObject({
    ...MODEL_PARAMS,
    ...VARIABLE_RATE_PARAMS,
    ...EXPORT_SIZE,
    device: DEVICE,
    dynamic_shapes: z.boolean().default(false).describe("networks for images of any size"),
    pad_to_multiple: PAD_TO_MULTIPLE,
    validate_export: z.boolean().default(true).describe("run an image through the networks of the bundle"),
  }),
  threadSafe: true,
  check: modelProblems,
  ...plannedFor("aoti", id),
});
