/** Files of others that a recipe reads. */
import type { Code } from "../../contract/error.ts";
import { paramOf, type Rule } from "./view.ts";

/** A file whose digest is the parameter `param` of an operation. */
const unpinned = (code: Code, op: string, param: string, what: string): Rule => ({
  code,
  severity: "warning",
  *find(recipe) {
    for (const step of recipe.ofOp(op)) {
      if (recipe.value(step, param) !== "") continue;
      yield {
        place: paramOf(step, param),
        message: `Cannot tell whether ${step.id} reads the same ${what} later: it has no digest`,
        hint: `Set ${param}; svc data inspect prints it`,
        step,
      };
    }
  },
});

export const FILE_RULES: readonly Rule[] = [
  unpinned("recording_unpinned", "source.iq_recording", "recording_sha256", "recording"),
  unpinned("channel_dataset_unpinned", "source.channel_dataset", "dataset_sha256", "channels"),
  {
    code: "channel_antennas_mismatch",
    *find(recipe) {
      for (const step of recipe.ofOp("wireless.channel", "wireless.mimo_ofdm_channel")) {
        const state = recipe.source(step, "channel_state")?.step, isMatrix = step.op === "wireless.mimo_ofdm_channel";
        if (state?.op !== "source.channel_dataset") continue;
        const [given, wanted] = isMatrix ? ["one", "all"] : ["all", "one"];
        if (recipe.value(state, "antennas") !== given) continue;
        yield {
          place: paramOf(state, "antennas"),
          message: `Cannot use the channels of ${given === "one" ? "one antenna pair" : "all antennas"} in ${step.op}`,
          hint: `Set antennas to ${wanted}, or use wireless.${isMatrix ? "channel" : "mimo_ofdm_channel"}`,
          step: state,
        };
      }
    },
  },
];
