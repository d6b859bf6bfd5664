/** The result of a plan: both identities, the status, and the routes from blocks to evaluations. */
import { Section, StateMark, Table } from "../../parts.tsx";
import type { PartProps } from "./blocks.tsx";
import type { Inspection } from "../../state/training.ts";

const STATUS: Readonly<Record<string, [state: string, word: string]>> = {
  full_gradient_possible: ["ready", "full gradient possible"],
  partial_gradient_possible: ["warning", "partial gradient possible"],
  dataset_capture_only: ["warning", "dataset capture only"],
  not_trainable: ["unavailable", "not trainable"],
};
const OBJECTIVES = ["image.mse", "bits.binary_cross_entropy", "symbols.mse", "estimate.mse", "csi.nmse"];

export function Identities({ inspection }: { inspection: Inspection }) {
  const [state, word] = STATUS[inspection.status] ?? [inspection.status, inspection.status];
  return (
    <Section title={inspection.recipe}>
      <p>
        <StateMark state={state} word={word} />
      </p>
      <ul class="plain-list">
        {inspection.recommendations.map(({ id, reason }) => (
          <li key={id}>
            <span class="tag" data-tone="accent">{id.replaceAll("_", " ")}</span> {reason}
          </li>
        ))}
      </ul>
      <dl class="identities">
        <div>
          <dt>Scenario</dt>
          <dd>
            <code data-identity="scenario">{inspection.scenario_sha256}</code>
          </dd>
        </div>
        <div>
          <dt>Training plan</dt>
          <dd>
            <code data-identity="plan">{inspection.training_plan_sha256}</code>
          </dd>
        </div>
      </dl>
    </Section>
  );
}

/** Evaluations that the chosen blocks reach, the losses, and the steps that block gradients. */
export function Routes({ inspection, draft, change }: PartProps) {
  const { evaluation_sinks: sinks, routes } = inspection;
  const toggle = (id: string, on: boolean) => {
    const now = draft.losses.length === 0 ? sinks.map(({ step_id }) => step_id) : draft.losses;
    change({ losses: on ? [...now, id] : now.filter((other) => other !== id) });
  };
  const reset = draft.losses.length > 0 && (
    <button type="button" onClick={() => change({ losses: [] })}>Reset to all evaluations</button>
  );
  return (
    <Section title="Losses and routes" actions={reset}>
      <p class="row">
        <label for="objective">Objective of the trainer</label>
        <input
          id="objective"
          list="objectives"
          value={draft.objective}
          aria-describedby="objective-help"
          onInput={(event) => change({ objective: event.currentTarget.value })}
        />
        <datalist id="objectives">{OBJECTIVES.map((name) => <option key={name} value={name} />)}</datalist>
        <span class="small muted" id="objective-help">
          Without an objective, the evaluations themselves must pass gradients
        </span>
      </p>
      {routes.length === 0 ? <p class="empty">No chosen block reaches an evaluation</p> : (
        <Table
          label="Routes"
          rows={routes}
          keyOf={({ from_step, loss_step }) => `${from_step} ${loss_step}`}
          attributes={({ from_step, loss_step, open }) => ({
            "data-route": `${from_step} ${loss_step}`,
            "data-open": open,
          })}
          columns={[
            ["Loss", ({ from_step, loss_step }) => (
              <input
                type="checkbox"
                aria-label={`Use ${loss_step} as a loss of ${from_step}`}
                checked
                disabled={sinks.length < 2}
                onChange={(event) => toggle(loss_step, event.currentTarget.checked)}
              />
            )],
            ["From", ({ from_step }) => from_step],
            ["To", ({ loss_step }) => loss_step],
            ["Route", ({ open, blocked_by }) => (
              <>
                <StateMark state={open ? "ready" : "unavailable"} word={open ? "open" : "blocked"} />
                {!open && <div class="small muted">by {blocked_by.join(", ")}</div>}
              </>
            )],
            ["Frozen steps on it", ({ support }) =>
              support.map(({ step_id, passes, reason }) => (
                <div key={step_id}>
                  {step_id} <span class="muted">{passes ? "passes" : (reason ?? "blocks").toLowerCase()}</span>
                </div>
              )), "small"],
          ]}
        />
      )}
    </Section>
  );
}
