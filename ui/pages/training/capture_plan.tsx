// deno-lint-ignore-file jsx-key -- elements in tuples of columns and facts are not lists
/** The captured data: arrays of outputs, the number of records, and their shares of the splits. */
import type { JsonObject } from "../../../lib/contract/value.ts";
import { Hidden, Section, Select, Table, TextField } from "../../parts.tsx";
import { contracts } from "../../state/contracts.ts";
import { stepsOf } from "../../state/copies.ts";
import type { Tap } from "../../state/training.ts";
import type { PartProps } from "./blocks.tsx";

const SPLITS = ["train", "validation", "test"] as const;
const SEED_MODES = [
  ["increment_run_seed", "a new seed for each run"],
  ["recipe_seed_plus_shard", "a new seed for each shard"],
  ["fixed_seed", "the seed of the recipe in every run"],
] as const;
const MATRIX_MODES = [["inherit", "take turns"], ["exclude", "are left out"]] as const;

export function CapturePlan({ recipe, inspection, draft, change }: PartProps & { recipe: JsonObject }) {
  const taps = draft.taps ?? inspection.training_plan.dataset_capture.taps as Tap[];
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
  const reset = draft.taps !== null && (
    <button type="button" onClick={() => change({ taps: null })}>Reset to the suggested taps</button>
  );
  return (
    <Section title="Data" actions={reset}>
      <Table
        label="Taps"
        rows={taps}
        attributes={({ from }) => ({ "data-tap": from })}
        columns={[
          ["Array", (tap, index) => (
            <TextField
              class="mono"
              aria-label={`Name of tap ${index + 1}`}
              value={tap.id}
              onText={(id) => edit(index, { id })}
            />
          )],
          ["Captured from", (tap, index) => (
            <select
              aria-label={`Output of tap ${index + 1}`}
              value={tap.from}
              onChange={(event) => edit(index, { from: event.currentTarget.value })}
            >
              {outputs.map((output) => <option key={output} value={output}>{output}</option>)}
            </select>
          )],
          ["Purpose", (tap) =>
            purpose(inspection.suggested_taps.find(({ from }) => from === tap.from)?.purpose), "small"],
          [<Hidden>Remove</Hidden>, (tap, index) => (
            <button
              type="button"
              aria-label={`Remove ${tap.id}`}
              onClick={() =>
                change({ taps: taps.filter((_, at) => at !== index) })}
            >
              Remove
            </button>
          )],
        ]}
      />
      <p>
        <button type="button" onClick={add}>Add a tap</button>
      </p>
      <div class="row spaced">
        <Count
          label="Records"
          value={draft.total}
          onValue={(total) =>
            change({ total })}
        />
        {SPLITS.map((split) => (
          <Count
            key={split}
            label={`${split} %`}
            value={draft.shares[split]}
            onValue={(share) => change({ shares: { ...draft.shares, [split]: share } })}
          />
        ))}
        {sum !== 100 && <span class="small" role="status">The sum of the shares is {sum}, not 100</span>}
      </div>
      <ul class="plain-list small" aria-label="Sizes of the splits">
        {inspection.capture_sizes.map(({ split, text }) => (
          <li key={split} data-size={split}>
            {split}: <span class="mono">{text}</span>
          </li>
        ))}
      </ul>
      <div class="row spaced">
        <Select<string>
          label="Seeds"
          value={draft.seedMode}
          options={SEED_MODES}
          onChoose={(seedMode) => change({ seedMode })}
        />
        <Select<string>
          label="Points of a matrix"
          value={draft.matrixMode}
          options={MATRIX_MODES}
          onChoose={(matrixMode) => change({ matrixMode })}
        />
      </div>
    </Section>
  );
}

const purpose = (word: string | undefined): string =>
  word === "input" ? "input of the block" : word === "reference" ? "reference of an evaluation" : "chosen";

function Count({ label, value, onValue }: { label: string; value: number; onValue(value: number): void }) {
  const id = `count-${label.replace(/\W+/g, "-")}`;
  return (
    <>
      <label for={id}>{label}</label>
      <TextField
        id={id}
        class="count"
        inputMode="numeric"
        value={String(value)}
        onText={(text) => {
          // Another text is not taken, and the value is shown again.
          if (/^\s*\d{1,7}\s*$/.test(text)) onValue(Number(text));
        }}
      />
    </>
  );
}
