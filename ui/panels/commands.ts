/** The actions on the present recipe, its blocks and their parameters, for the palette. */
import type { Command } from "../palette.tsx";
import { address } from "../router.ts";
import { contracts } from "../state/contracts.ts";
import { active, type Copy, duplicate, nameOf, redo, stepsOf, undo, update } from "../state/copies.ts";
import { isEnded, jobs } from "../state/events.ts";
import { cancelRun } from "../state/runs.ts";
import { attempt, openFiles, openSaveAs, runAll, runNow } from "./bar.tsx";
import { saveNow } from "./save_now.ts";
import { focusField } from "./focus_field.ts";

const actions = (copy: Copy): [text: string, act: () => unknown][] => [
  ["Run", () => runNow(copy)],
  ["Run all open recipes", runAll],
  ...(copy.jobId === null || isEnded(jobs.value.get(copy.jobId)?.state ?? "completed")
    ? []
    : [["Cancel the run", () => cancelRun(copy.jobId!)] as [string, () => unknown]]),
  ["Save", () => saveNow(copy)],
  ["Save as", openSaveAs],
  ["Undo", () => undo(copy.id)],
  ["Redo", () => redo(copy.id)],
  ["Duplicate", () => duplicate(copy)],
  ["Open file", openFiles],
];

export function commands(): Command[] {
  const copy = active();
  if (copy === null) return [];
  const done = actions(copy).map(([text, act]) => ({
    kind: "Action",
    text,
    detail: nameOf(copy),
    run: () => (location.hash = address("editor"), void attempt(act)),
  }));
  const places = stepsOf(copy.recipe).flatMap(({ id, op }) => {
    const contract = contracts.value.get(op);
    const select = () => {
      location.hash = address("editor");
      update(copy.id, { selected: id });
    };
    return [
      { kind: "Block", text: id, detail: contract?.name ?? op, run: select },
      ...Object.keys((contract?.params_schema.properties ?? {}) as object).map((name) => ({
        kind: "Parameter",
        text: name,
        detail: id,
        run() {
          select();
          focusField(`#${CSS.escape(`param-${id}-${name}`)}`);
        },
      })),
    ];
  });
  return [...done, ...places];
}

/** Selects the block of the next problem. */
export function nextProblem(copy: Copy, problems: ReadonlyMap<string, number>, by: 1 | -1): void {
  const ids = stepsOf(copy.recipe).map(({ id }) => id).filter((id) => problems.has(id));
  if (ids.length === 0) return;
  const at = ids.indexOf(copy.selected ?? "");
  update(copy.id, { selected: ids[at < 0 ? (by > 0 ? 0 : ids.length - 1) : (at + by + ids.length) % ids.length] });
}
