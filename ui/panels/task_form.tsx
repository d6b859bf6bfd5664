/** The few parameters that a study of this kind turns, above the graph. All others are in the inspector. */
import type { JsonObject, Value } from "../../lib/contract/value.ts";
import { schemaTypes } from "../../lib/contract/schema_types.ts";
import { Control } from "../form/control.tsx";
import { bind, matrixFacts } from "../../lib/contract/matrix_edits.ts";
import { freeDimension, sweptValues } from "../form/matrix.ts";
import { entriesOf } from "../form/presentation.ts";
import { lazy, useEffect } from "../preact.ts";
import { contracts } from "../state/contracts.ts";
import { type Copy, edit, setParam, setUnread, stepsOf, update } from "../state/copies.ts";
import { bindingsOf, wantBindings } from "../state/templates.ts";

const DimensionValues = lazy(() => import("./dimension_values.tsx").then(({ DimensionValues }) => DimensionValues));

export function TaskForm({ copy }: { copy: Copy }) {
  const steps = stepsOf(copy.recipe), { bindings, dimensions } = matrixFacts(copy.recipe);
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
        const types = schemaTypes(schema);
        const sweep = () => {
          if (unread?.sweep === undefined) return;
          setUnread(copy.id, key, null);
          const dimension = freeDimension(param, dimensions.map(({ name }) => name));
          edit(copy.id, bind(copy.recipe, { stepId, param, dimension }, unread.sweep));
        };
        const dimension = bindings.find((one) => one.stepId === stepId && one.param.split(".")[0] === param)?.dimension;
        const values = dimensions.find(({ name }) => name === dimension)?.values;
        return (
          <div key={id} class="short" onFocusOut={sweep} onKeyDown={(event) => event.key === "Enter" && sweep()}>
            <label for={id}>
              <span class="muted small">{facet}</span> <span class="mono">{param}</span>
            </label>
            {values !== undefined
              ? (
                <span class="values-place">
                  <DimensionValues id={id} copy={copy} name={dimension!} values={values} />
                </span>
              )
              : schema.type === "array" || schema.type === "object"
              ? <button type="button" id={id} onClick={() => update(copy.id, { selected: stepId })}>Edit</button>
              : (
                <Control
                  id={id}
                  name={param}
                  schema={schema}
                  value={(step.params[param] ?? schema.default) as Value | undefined}
                  unread={unread?.text}
                  describedBy={`${id}-where`}
                  invalid={unread !== undefined && unread.sweep === undefined}
                  onRead={(read, text) => {
                    if ("problem" in read) {
                      const sweep = sweptValues(text, types) ?? undefined;
                      const message = sweep === undefined ? read.problem : `Enter sweeps ${sweep.length} values`;
                      return setUnread(copy.id, key, { stepId, param, text, message, sweep });
                    }
                    setUnread(copy.id, key, null);
                    setParam(copy, stepId, param, read.value);
                  }}
                />
              )}
            <span class={unread?.sweep === undefined ? "hidden-text" : "small"} id={`${id}-where`} role="status">
              {unread?.sweep === undefined ? `of block ${stepId}` : unread.message}
            </span>
            {values !== undefined && <span class="small muted">swept by {dimension}</span>}
          </div>
        );
      })}
      <span class="small muted">Several values, such as 0:2:14 or 1, 3, make a sweep.</span>
    </div>
  );
}
