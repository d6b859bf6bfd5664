/** The blocks of a recipe: those that can be replaced can be ticked, the others say why not. */
import { StateMark } from "../../panels/state_mark.tsx";
import { address } from "../../router.ts";
import { useFetched } from "../../state/fetched.ts";
import type { Boundary, Inspection, PlanDraft } from "../../state/training.ts";

interface Artifact {
  id: string;
  name: string;
  status: string;
  operations: string[];
}

export interface PartProps {
  inspection: Inspection;
  draft: PlanDraft;
  change(part: Partial<PlanDraft>): void;
}

export function Blocks({ inspection, draft, change }: PartProps) {
  const artifacts = useFetched<{ artifacts: Artifact[] }>("/api/trained-artifacts");
  const selected = draft.selected ?? inspection.selected_steps;
  // Two halves of a codec are trained together.
  const toggle = ({ step_id, partners }: Boundary, on: boolean) => {
    const both = [step_id, ...partners];
    change({ selected: on ? [...new Set([...selected, ...both])] : selected.filter((id) => !both.includes(id)) });
  };
  return (
    <section aria-labelledby="blocks">
      <h2 id="blocks">Blocks</h2>
      <div class="scroll" role="group" aria-label="Blocks" tabindex={0}>
        <table>
          <thead>
            <tr>
              <th>Train</th>
              <th>Block</th>
              <th>Built-in fine-tuning</th>
              <th>Portable replacement</th>
              <th>Gradient</th>
              <th>Differentiable support</th>
              <th>Artifacts here</th>
            </tr>
          </thead>
          <tbody>
            {inspection.boundaries.map((boundary) => (
              <Block
                key={boundary.step_id}
                boundary={boundary}
                selected={selected.includes(boundary.step_id)}
                support={supportOf(boundary.step_id, inspection)}
                artifacts={(artifacts.data?.artifacts ?? []).filter(({ operations }) =>
                  operations.includes(boundary.op)
                )}
                toggle={(on) => toggle(boundary, on)}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Block({ boundary, selected, support, artifacts, toggle }: {
  boundary: Boundary;
  selected: boolean;
  support: string;
  artifacts: Artifact[];
  toggle(on: boolean): void;
}) {
  const { step_id, op, selectable, reason } = boundary;
  const why = `why-${step_id}`;
  return (
    <tr data-block={step_id} data-replaceable={selectable}>
      <td>
        <input
          type="checkbox"
          aria-label={`Train ${step_id}`}
          aria-describedby={why}
          checked={selected}
          disabled={!selectable}
          onChange={(event) => toggle(event.currentTarget.checked)}
        />
      </td>
      <td>
        {step_id}
        <div class="small">
          <a class="mono" href={address("catalog", ["operations", op])}>{op}</a>
        </div>
      </td>
      <td>{boundary.built_in_fine_tuning ? "yes" : "no"}</td>
      <td>
        <StateMark state={selectable ? "ready" : "unavailable"} word={selectable ? "can be replaced" : "cannot"} />
        <div class="small muted" id={why}>{reason ?? slotText(boundary)}</div>
      </td>
      <td>{boundary.differentiability.gradient ?? "none"}</td>
      <td class="small">{support}</td>
      <td class="small">
        {artifacts.length === 0
          ? <span class="muted">{selectable ? "none yet" : "–"}</span>
          : artifacts.map(({ id, name, status }) => (
            <div key={id}>
              {name} <StateMark state={status} />
            </div>
          ))}
      </td>
    </tr>
  );
}

/** What a package must offer to fill the slot. */
function slotText({ slot, partners }: Boundary): string {
  const names = (of: unknown) => Object.keys((of ?? {}) as object).join(", ");
  const together = partners.length === 0 ? "" : `; trained with ${partners.join(", ")}`;
  return `Entry point ${String(slot?.entrypoint_id)}: ${names(slot?.inputs)} → ${names(slot?.outputs)}${together}`;
}

/** What a step is on the routes: whether a loss can be followed through it. */
function supportOf(id: string, { routes, selected_steps, evaluation_sinks }: Inspection): string {
  if (selected_steps.includes(id)) return "trained";
  const step = routes.flatMap(({ support }) => support).find(({ step_id }) => step_id === id);
  if (step !== undefined) return step.passes ? "passes gradients" : step.reason ?? "blocks";
  return evaluation_sinks.some(({ step_id }) => step_id === id) ? "loss of the trainer's own" : "not on a route";
}
