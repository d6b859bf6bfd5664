/** Hands bits on; may misbehave in one of the ways that the executor must catch. */
import { bitsArtifact, bitsOf, travel } from "../../../../lib/artifact/values.ts";
import { defineOperation } from "../../../../lib/contract/define.ts";
import { SvcError } from "../../../../lib/contract/error.ts";
import { BITS, BITS_ANY } from "../../../../lib/contract/kinds.ts";
import type { OperationResult } from "../../../../lib/contract/operation.ts";
import { z } from "../../../../lib/contract/zod.ts";
import { sharedArray } from "../../../../lib/numeric/array/shared_array.ts";

const MODES = [
  "honest",
  "alter_input",
  "alter_input_third",
  "alter_output",
  "alter_metadata",
  "throw",
  "throw_coded",
  "missing_output",
  "extra_output",
  "bad_metric",
  "bad_fraction",
  "bad_metadata",
  "no_guarantee",
  "wrong_form",
  "pretend_canceled",
  "crash",
  "break_later",
] as const;

/** Calls on this thread. */
let calls = 0;

export default defineOperation({
  id: "test.relay",
  name: "Relay for tests",
  inputs: { bits: BITS_ANY },
  outputs: { bits: BITS },
  params: z.strictObject({ mode: z.enum(MODES).default("honest") }),
  outputMetadataGuarantees: { bits: { keys: ["mark"] } },
  threadSafe: true,
  async run({ inputs, params }) {
    const bits = bitsOf(inputs.bits);
    const good = bitsArtifact(bits, travel(inputs.bits.metadata, { mark: "relay" }));
    const loose = (result: unknown) => result as OperationResult<{ bits: string }>;
    switch (params.mode) {
      case "alter_input":
      case "alter_input_third":
        if (params.mode === "alter_input_third" && ++calls < 3) break;
        bits[bits.length - 1] ^= 1;
        return { outputs: { bits: bitsArtifact(bits.slice(), { mark: "x" }) } };
      case "alter_output": {
        // Large enough to be the image of its file. The executor reads the metadata after it wrote the file.
        const image = sharedArray(Uint8Array<SharedArrayBuffer>, 2 ** 21);
        return {
          outputs: { bits: bitsArtifact(image, { mark: "x" }) },
          get metadata() {
            image[0] ^= 1;
            return {};
          },
        };
      }
      case "alter_metadata":
        (inputs.bits.metadata as Record<string, unknown>).mark = "altered";
        return { outputs: { bits: good } };
      case "throw":
        throw new TypeError("the relay broke");
      case "throw_coded":
        throw new SvcError("boundary_value_invalid", "Cannot relay this", { hint: "Relay something else" });
      case "pretend_canceled":
        throw new SvcError("operation_canceled", "Stopped although nobody asked");
      case "missing_output":
        return loose({ outputs: {} });
      case "extra_output":
        return loose({ outputs: { bits: good, more: good } });
      case "bad_metric":
        return { outputs: { bits: good }, metrics: { "test.value": NaN, "channel.ber": 0 } };
      case "bad_fraction":
        return { outputs: { bits: good }, metrics: { "test.value": 0, "channel.ber": 1.5 } };
      case "bad_metadata":
        return { outputs: { bits: { ...good, metadata: { mark: Infinity } } } };
      case "no_guarantee":
        return { outputs: { bits: bitsArtifact(bits) } };
      case "wrong_form":
        return { outputs: { bits: { json: { kind: "bits" } } } };
      case "crash":
        setTimeout(() => {
          throw new Error("outside any step");
        });
        await new Promise((resolve) => setTimeout(resolve, 60_000));
        break;
      case "break_later":
        setTimeout(() => {
          throw new Error("after the step");
        }, 30);
    }
    return { outputs: { bits: good } };
  },
});
