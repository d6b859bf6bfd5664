/** The blocks of a recipe: replaceable blocks can be chosen, the others give the reason. */
import type { Reply } from "../../api.ts";
import { Section, StateMark, Table } from "../../parts.tsx";
import { address } from "../../router.ts";
import { useFetched } from "../../state/fetched.ts";
import type { Boundary, Inspection, PlanDraft } from "../../state/training.ts";

type Artifact = Reply<"/api/trained-artifacts">["artifacts"][number];

export interface PartProps {
  inspection: Inspection;
  draft: PlanDraft;
  change(part: Partial<PlanDraft>): void;
}

export function Blocks({ inspection, draft, change }: PartProps) {
  const artifacts = useFetched("/api/trained-artifacts").value?.artifacts ?? [];
  const selected = draft.selected ?? inspection.selected_steps;
  // Two halves of a codec are trained together.
  const toggle = ({ step_id, partners }: Boundary, on: boolean) => {
    const both = [step_id, ...partners];
    change({ selected: on ? [...new Set([...selected, ...both])] : selected.filter((id) => !both.includes(id)) });
  };
  return (
    <Section title="Blocks">
      <Table
        label="Blocks"
        rows={inspection.boundaries}
        keyOf={({ step_id }) => step_id}
        attributes={({ step_id, selectable }) => ({ "data-block": step_id, "data-replaceable": selectable })}
        columns={[
          ["Train", (boundary) => (
            <input
              type="checkbox"
              aria-label={`Train ${boundary.step_id}`}
              aria-describedby={`why-${boundary.step_id}`}
              checked={selected.includes(boundary.step_id)}
              disabled={!boundary.selectable}
              onChange={(event) => toggle(boundary, event.currentTarget.checked)}
            />
          )],
          ["Block", ({ step_id, op }) => (
            <>
              {step_id}
              <div class="small">
                <a class="mono" href={address("catalog", ["operations", op])}>{op}</a>
              </div>
            </>
          )],
          ["Built-in fine-tuning", ({ built_in_fine_tuning: built }) => built ? "yes" : "no"],
          ["Portable replacement", (boundary) => <Replacement boundary={boundary} />],
          ["Gradient", ({ differentiability }) => String(differentiability.gradient ?? "none")],
          ["Differentiable support", ({ step_id }) => supportOf(step_id, inspection), "small"],
          ["Artifacts here", ({ op, selectable }) => (
            <Fitting of={artifacts.filter(({ operations }) => operations.includes(op))} selectable={selectable} />
          ), "small"],
        ]}
      />
    </Section>
  );
}

function Replacement({ boundary }: { boundary: Boundary }) {
  const { step_id, selectable, reason } = boundary;
  return (
    <>
      <StateMark state={selectable ? "ready" : "unavailable"} word={selectable ? "replaceable" : "not replaceable"} />
      <div class="small muted" id={`why-${step_id}`}>{reason ?? interfaceText(boundary)}</div>
    </>
  );
}

function Fitting({ of, selectable }: { of: Artifact[]; selectable: boolean }) {
  if (of.length === 0) return <span class="muted">{selectable ? "none yet" : "–"}</span>;
  return (
    <>
      {of.map(({ id, name, status }) => (
        <div key={id}>
          {name} <StateMark state={status} />
        </div>
      ))}
    </>
  );
}

/** The interface that a package of the component must have. */
function interfaceText({ slot, partners }: Boundary): string {
  const names = (of: unknown) => Object.keys((of ?? {}) as object).join(", ");
  const together = partners.length === 0 ? "" : `; trained with ${partners.join(", ")}`;
  return `Entry point ${String(slot?.entrypoint_id)}: ${names(slot?.inputs)} → ${names(slot?.outputs)}${together}`;
}

/** The part of a step on the routes: whether a loss can be followed through it. */
function supportOf(id: string, { routes, selected_steps, evaluation_sinks }: Inspection): string {
  if (selected_steps.includes(id)) return "trained";
  const step = routes.flatMap(({ support }) => support).find(({ step_id }) => step_id === id);
  if (step !== undefined) return step.passes ? "passes gradients" : step.reason ?? "blocks";
  return evaluation_sinks.some(({ step_id }) => step_id === id)
    ? "evaluation, a loss of the trainer"
    : "not on a route";
}
