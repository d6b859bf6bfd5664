/** The plan on the graph: trained blocks, steps that pass or block gradients, and losses. The marks follow the routes. */
import type { JsonObject } from "../../../lib/contract/value.ts";
import { Graph } from "../../graph/graph.tsx";
import { Section } from "../../parts.tsx";
import { useState } from "../../preact.ts";
import type { StepState, TrainingPart } from "../../state/runs.ts";
import type { Inspection } from "../../state/training.ts";

const MEANING: Record<TrainingPart, string> = {
  trained: "is trained",
  passes: "is frozen and passes gradients",
  blocks: "blocks gradients",
  loss: "evaluates, a loss of the trainer",
};

export function PlanGraph({ recipe, inspection }: { recipe: JsonObject; inspection: Inspection }) {
  const [selected, setSelected] = useState<string | null>(null);
  const parts = partsOf(inspection);
  const states = new Map([...parts].map(([id, { part }]): [string, StepState] => [id, {
    state: part,
    fraction: 1,
    message: null,
    seconds: null,
  }]));
  const chosen = selected === null ? undefined : parts.get(selected);
  return (
    <Section title="Graph">
      <div class="training-graph">
        <Graph recipe={recipe} selected={selected} onSelect={setSelected} states={states} />
      </div>
      <p class="small" role="status" data-part={chosen?.part}>
        {selected === null ? "Select a block to see its part in the training" : (
          <>
            <code>{selected}</code> {chosen === undefined ? "is on no route" : MEANING[chosen.part]}
            {chosen?.reason && `: ${chosen.reason}`}
          </>
        )}
      </p>
    </Section>
  );
}

/** The part of each step on a route; what blocks one route counts, also where another passes. */
function partsOf({ routes, selected_steps }: Inspection): Map<string, { part: TrainingPart; reason?: string }> {
  const parts = new Map<string, { part: TrainingPart; reason?: string }>();
  for (const { loss_step, support } of routes) {
    for (const { step_id, passes, reason } of support) {
      if (parts.get(step_id)?.part === "blocks") continue;
      parts.set(step_id, passes ? { part: "passes" } : { part: "blocks", reason: reason ?? undefined });
    }
    if (parts.get(loss_step)?.part !== "blocks") parts.set(loss_step, { part: "loss" });
  }
  for (const id of selected_steps) parts.set(id, { part: "trained" });
  return parts;
}
