/** The command line that runs what the editor shows. */
import { commandOf, CopyCommand } from "../copy_command.tsx";
import { hasMatrix } from "../../lib/contract/matrix_edits.ts";
import { type Copy, fileOf, isUnsaved, nameOf } from "../state/copies.ts";
import { planCache, workers } from "../state/settings.ts";

export function RunCommand({ copy }: { copy: Copy }) {
  const path = copy.file?.path ?? fileOf(nameOf(copy)), matrix = hasMatrix(copy.recipe);
  const command = commandOf(
    "recipe",
    matrix ? "run-matrix" : "run",
    path,
    ...(workers.value === "1" ? [] : ["--parallel-workers", workers.value]),
    planCache.value === "off" && "--no-plan-cache",
  );
  return (
    <CopyCommand command={command} note={isUnsaved(copy) ? `save it first: ${path} has other contents` : undefined} />
  );
}
