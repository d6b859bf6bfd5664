/** Another operation in place of a block, in a new recipe: a template keeps its topology. */
import { fittingOperations, lostBindings, withOperation } from "../form/replacement.ts";
import { Dialog } from "../parts.tsx";
import { useState } from "../preact.ts";
import { contracts } from "../state/contracts.ts";
import { type Copy, openCopy, stepsOf, update } from "../state/copies.ts";

export function ReplaceDialog({ copy, stepId, onClose }: { copy: Copy; stepId: string; onClose(): void }) {
  const [filter, setFilter] = useState("");
  const fitting = fittingOperations(stepsOf(copy.recipe), stepId, contracts.value);
  const shown = fitting.filter(({ id, name, description }) =>
    `${id} ${name} ${description ?? ""}`.toLowerCase().includes(filter.toLowerCase())
  );
  return (
    <Dialog title={`Another operation for ${stepId}`} onClose={onClose}>
      <p>
        The ports of these operations fit the wires of{" "}
        <span class="mono">{stepId}</span>. The choice opens a copy with the profile custom; this recipe does not
        change.
      </p>
      {fitting.length === 0 ? <p class="empty">No other operation fits.</p> : (
        <>
          <label class="hidden-text" for="operation-filter">Filter operations</label>
          <input
            id="operation-filter"
            class="wide"
            placeholder="Filter operations"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
          {shown.length === 0 && <p class="empty">No operation matches.</p>}
          <ul class="choices">
            {shown.map((contract) => (
              <li key={contract.id}>
                <button
                  type="button"
                  class="choice"
                  onClick={() => {
                    const made = openCopy(withOperation(copy.recipe, stepId, contract));
                    update(made.id, { selected: stepId });
                    onClose();
                  }}
                >
                  <span class="mono">{contract.id}</span>
                  <span class="muted clip">{contract.description ?? contract.name}</span>
                  {lostBindings(copy.recipe, stepId, contract).map(({ param, dimension }) => (
                    <span key={param} class="tag" data-tone="warn">removes {param}, swept by {dimension}</span>
                  ))}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}
