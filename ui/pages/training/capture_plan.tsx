/** What is captured: arrays of outputs, how many records, and their shares of the splits. */
import type { JsonObject } from "../../../lib/contract/value.ts";
import { contracts } from "../../state/contracts.ts";
import { stepsOf } from "../../state/copies.ts";
import type { Tap } from "../../state/training.ts";
import type { PartProps } from "./blocks.tsx";

const SPLITS = ["train", "validation", "test"] as const;
const SEED_MODES = [
  ["increment_run_seed", "another seed for each run"],
  ["recipe_seed_plus_shard", "another seed for each shard"],
  ["fixed_seed", "the recipe's seed in every run"],
];

export function CapturePlan({ recipe, inspection, draft, change }: PartProps & { recipe: JsonObject }) {
  const taps = draft.taps ?? inspection.training_plan.dataset_capture.taps;
  const outputs = stepsOf(recipe).flatMap(({ id, op }) =>
    Object.entries(contracts.value.get(op)?.output_kinds ?? {})
      .filter(([, kind]) => kind.endsWith("numpy"))
      .map(([port]) => `${id}.${port}`)
  );
  const edit = (index: number, part: Partial<Tap>) =>
    change({ taps: taps.map((tap, at) => at === index ? { ...tap, ...part } : tap) });
  const add = () => {
    const from = outputs.find((output) => !taps.some((tap) => tap.from === output));
    if (from !== undefined) change({ taps: [...taps, { id: from.replaceAll(/[^A-Za-z0-9]+/g, "_"), from }] });
  };
  const sum = SPLITS.reduce((all, split) => all + draft.shares[split], 0);
  return (
    <section aria-labelledby="capture">
      <div class="row spread">
        <h2 id="capture">Data</h2>
        {draft.taps !== null && (
          <button type="button" onClick={() => change({ taps: null })}>Suggested taps again</button>
        )}
      </div>
      <div class="scroll" role="group" aria-label="Taps" tabindex={0}>
        <table>
          <thead>
            <tr>
              <th>Array</th>
              <th>Captured from</th>
              <th>A record is</th>
              <th>Why</th>
              <th>
                <span class="hidden-text">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {taps.map((tap, index) => (
              <tr key={index} data-tap={tap.from}>
                <td>
                  <input
                    class="mono"
                    aria-label={`Name of tap ${index + 1}`}
                    value={tap.id}
                    onChange={(event) => edit(index, { id: event.currentTarget.value })}
                  />
                </td>
                <td>
                  <select
                    aria-label={`Output of tap ${index + 1}`}
                    value={tap.from}
                    onChange={(event) => edit(index, { from: event.currentTarget.value })}
                  >
                    {outputs.map((output) => <option key={output} value={output}>{output}</option>)}
                  </select>
                </td>
                <td class="small">
                  {purpose(inspection.suggested_taps.find(({ from }) => from === tap.from)?.purpose)}
                </td>
                <td>
                  <button
                    type="button"
                    aria-label={`Remove ${tap.id}`}
                    onClick={() => change({ taps: taps.filter((_, at) => at !== index) })}
                  >
                    Remove
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p>
        <button type="button" onClick={add}>Add a tap</button>
      </p>
      <div class="row spaced">
        <Count label="Records" value={draft.total} onValue={(total) => change({ total })} />
        {SPLITS.map((split) => (
          <Count
            key={split}
            label={`${split} %`}
            value={draft.shares[split]}
            onValue={(share) => change({ shares: { ...draft.shares, [split]: share } })}
          />
        ))}
        {sum !== 100 && <span class="small" role="status">The shares sum to {sum}, not to 100</span>}
      </div>
      <div class="row spaced">
        <label for="seed-mode">Seeds</label>
        <select
          id="seed-mode"
          value={draft.seedMode}
          onChange={(event) => change({ seedMode: event.currentTarget.value })}
        >
          {SEED_MODES.map(([mode, text]) => <option key={mode} value={mode}>{text}</option>)}
        </select>
        <label for="matrix-mode">Points of a matrix</label>
        <select
          id="matrix-mode"
          value={draft.matrixMode}
          onChange={(event) => change({ matrixMode: event.currentTarget.value })}
        >
          <option value="inherit">take turns</option>
          <option value="exclude">are left out</option>
        </select>
      </div>
    </section>
  );
}

const purpose = (word: string | undefined): string =>
  word === "input" ? "what the block reads" : word === "reference" ? "what an evaluation compares with" : "chosen";

function Count({ label, value, onValue }: { label: string; value: number; onValue(value: number): void }) {
  const id = `count-${label.replace(/\W+/g, "-")}`;
  return (
    <>
      <label for={id}>{label}</label>
      <input
        id={id}
        class="count"
        inputMode="numeric"
        value={String(value)}
        onChange={(event) => {
          const text = event.currentTarget.value.trim();
          if (/^\d{1,7}$/.test(text)) onValue(Number(text));
          else event.currentTarget.value = String(value);
        }}
      />
    </>
  );
}
