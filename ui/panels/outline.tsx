/** The blocks of the graph as a list, for reading and for the keyboard. */
import { colourOf, GLYPHS, PLANES } from "../graph/model.ts";
import { useState } from "../preact.ts";
import { contracts } from "../state/contracts.ts";
import { type Copy, stepsOf, update } from "../state/copies.ts";
import type { StepState } from "../state/runs.ts";
import { Sign } from "../sign.tsx";

interface Props {
  copy: Copy;
  problems: ReadonlyMap<string, number>;
  states?: ReadonlyMap<string, StepState>;
}

export function Outline({ copy, problems, states }: Props) {
  const [filter, setFilter] = useState("");
  const steps = stepsOf(copy.recipe);
  const shown = steps.filter(({ id, op }) =>
    `${id} ${op} ${contracts.value.get(op)?.name ?? ""}`.toLowerCase().includes(filter.toLowerCase())
  );
  return (
    <nav class="outline" aria-label="Blocks">
      <div class="row">
        <label class="hidden-text" for="block-filter">Filter blocks</label>
        <input
          id="block-filter"
          placeholder="Filter blocks"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      </div>
      {shown.length === 0 && (
        <p class="empty">
          No block matches. <button type="button" onClick={() => setFilter("")}>Show all</button>
        </p>
      )}
      <ol>
        {shown.map(({ id, op }) => {
          const colour = colourOf(op),
            state = states?.get(id)?.state,
            count = problems.get(id) ?? 0;
          return (
            <li key={id}>
              <button
                type="button"
                class="outline-item"
                aria-current={copy.selected === id}
                onClick={() => update(copy.id, { selected: id })}
              >
                <span class={`plane-mark plane-${colour}`} title={colour}>{PLANES[colour]}</span>
                <span class="clip">
                  <span class="clip">{contracts.value.get(op)?.name ?? op}</span>
                  <span class="hidden-text">,</span>
                  <span class="clip mono small muted">{id}</span>
                </span>
                {count > 0 && (
                  <span class="tag" data-tone="error">
                    !{count}
                    <span class="hidden-text">{count === 1 ? " problem" : " problems"}</span>
                  </span>
                )}
                {state !== undefined && (
                  <span class="state" data-tone={state === "completed" ? "ok" : state === "failed" ? "error" : "busy"}>
                    <Sign of={GLYPHS[state]} />
                    <span class="hidden-text">{state}</span>
                  </span>
                )}
              </button>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}
