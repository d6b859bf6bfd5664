/** Operations of loaded adapters that can replace the selected block: one click puts one in its place, a codec on both sides. */
import { replacements } from "../../lib/contract/graph_edits.ts";
import type { Reply } from "../api.ts";
import { Shown, StateMark, Trouble } from "../parts.tsx";
import { useMemo, useState } from "../preact.ts";
import { perform } from "../panels/replace.tsx";
import { contracts } from "../state/contracts.ts";
import type { Copy, Step } from "../state/copies.ts";
import { useFetched } from "../state/fetched.ts";

export default function AdapterChooser({ copy, step }: { copy: Copy; step: Step }) {
  const [open, setOpen] = useState(false), found = useFetched(open ? "/api/adapters" : null);
  return (
    <section class="chooser" aria-label="Adapters">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>Choose an adapter</button>
      {open && (
        <Shown of={found} what="the adapters">
          {({ adapters }) => <Fitting copy={copy} step={step} adapters={adapters} onDone={() => setOpen(false)} />}
        </Shown>
      )}
    </section>
  );
}

type Adapter = Reply<"/api/adapters">["adapters"][number];

function Fitting({ copy, step, adapters, onDone }: { copy: Copy; step: Step; adapters: Adapter[]; onDone(): void }) {
  const choices = useMemo(() => replacements(copy.recipe, step.id, contracts.value), [copy.recipe, step.id]);
  const fitting = choices.flatMap((choice) => {
    const adapter = adapters.find(({ operations }) => operations.some(({ id }) => id === choice.name));
    return adapter === undefined ? [] : [{ ...choice, adapter }];
  });
  if (fitting.length === 0) return <p class="muted">No operation of a loaded adapter fits here.</p>;
  return (
    <ul class="chooser-sets">
      {fitting.map(({ name, edit, adapter }) => (
        <li key={name} class="row">
          <button
            type="button"
            disabled={"refused" in edit || adapter.status === "invalid"}
            onClick={() => {
              perform(copy, edit);
              onDone();
            }}
          >
            {contracts.value.get(name)?.name ?? name}
          </button>
          <span class="small muted">{name}, {adapter.name} {adapter.version}</span>
          {adapter.status === "invalid" && <StateMark state="failed" word="invalid" />}
          {trainedFor(adapter) !== null && <p class="small">Trained for {trainedFor(adapter)}</p>}
          <Trouble tone="warn" text={"refused" in edit ? edit.refused : missing(adapter)} />
        </li>
      ))}
    </ul>
  );
}

/** The recipe of its training, where the manifest names one. */
function trainedFor({ training }: Adapter): string | null {
  const recipe = training?.source_recipe;
  return typeof recipe === "string" ? recipe : null;
}

/** Permissions without a grant: a run of the adapter is refused. */
function missing({ permissions_missing: { net, read, env } }: Adapter): string | null {
  const without = [...net, ...read, ...env];
  return without.length === 0 ? null : `Without a grant: ${without.join(", ")}`;
}
