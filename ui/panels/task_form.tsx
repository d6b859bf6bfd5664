/** The few parameters that a study of this kind turns, above the graph. All others are in the inspector. */
import type { JsonObject, Value } from "../../lib/contract/value.ts";
import { Control } from "../form/control.tsx";
import { matrixFacts } from "../form/matrix.ts";
import { entriesOf } from "../form/presentation.ts";
import { useEffect } from "../preact.ts";
import { contracts } from "../state/contracts.ts";
import { type Copy, setParam, setUnread, stepsOf, update } from "../state/copies.ts";
import { bindingsOf, wantBindings } from "../state/templates.ts";

export function TaskForm({ copy }: { copy: Copy }) {
  const steps = stepsOf(copy.recipe), { bindings } = matrixFacts(copy.recipe);
  const schemasOf = (op: string) =>
    (contracts.value.get(op)?.params_schema.properties ?? {}) as { [name: string]: JsonObject };
  useEffect(() => wantBindings(copy.recipe), [copy.id]);
  const entries = entriesOf(steps, (op) => Object.keys(schemasOf(op)), bindingsOf(copy.recipe, steps));
  if (entries.length === 0) return null;
  return (
    <div class="task-form" role="group" aria-label="Short form">
      {entries.map(({ facet, stepId, param }) => {
        const step = steps.find(({ id }) => id === stepId)!, schema = schemasOf(step.op)[param];
        const id = `short-${stepId}-${param}`, key = `${stepId}.${param}`, unread = copy.unread[key];
        const dimension = bindings.find((one) => one.stepId === stepId && one.param.split(".")[0] === param)?.dimension;
        return (
          <div key={id} class="short">
            <label for={id}>
              <span class="muted small">{facet}</span> <span class="mono">{param}</span>
            </label>
            {dimension !== undefined || schema.type === "array" || schema.type === "object"
              ? (
                <button type="button" id={id} class="quiet" onClick={() => update(copy.id, { selected: stepId })}>
                  {dimension === undefined ? "Edit" : `swept by ${dimension}`}
                </button>
              )
              : (
                <Control
                  id={id}
                  name={param}
                  schema={schema}
                  value={(step.params[param] ?? schema.default) as Value | undefined}
                  unread={unread?.text}
                  describedBy={`${id}-where`}
                  invalid={unread !== undefined}
                  onRead={(read, text) => {
                    if ("problem" in read) {
                      return setUnread(copy.id, key, { stepId, param, text, message: read.problem });
                    }
                    setUnread(copy.id, key, null);
                    setParam(copy, stepId, param, read.value);
                  }}
                />
              )}
            <span class="hidden-text" id={`${id}-where`}>of block {stepId}</span>
          </div>
        );
      })}
    </div>
  );
}
