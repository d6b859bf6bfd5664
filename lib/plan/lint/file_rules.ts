/** Files of others that a recipe reads. */
import { paramOf, type Rule } from "./view.ts";

export const FILE_RULES: readonly Rule[] = [{
  code: "recording_unpinned",
  severity: "warning",
  *find(recipe) {
    for (const step of recipe.steps) {
      if (step.op !== "source.iq_recording" || recipe.value(step, "recording_sha256") !== "") continue;
      yield {
        place: paramOf(step, "recording_sha256"),
        message: `Cannot tell whether ${step.id} reads the same recording later: it has no digest`,
        hint: "Set recording_sha256; svc data inspect prints it",
        step,
      };
    }
  },
}];
