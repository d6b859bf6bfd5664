/** What can be edited of the selected block, or of the recipe while none is selected. */
import { lazy } from "../preact.ts";
import { type Copy, stepsOf } from "../state/copies.ts";

const BlockInspector = lazy(() => import("./block_inspector.tsx"), "Loading the view");
const RecipeForm = lazy(() => import("./recipe_form.tsx"), "Loading the view");

export function Inspector({ copy }: { copy: Copy }) {
  const step = stepsOf(copy.recipe).find(({ id }) => id === copy.selected);
  return (
    <section class="inspector" aria-label="Inspector">
      {step === undefined ? <RecipeForm copy={copy} /> : <BlockInspector copy={copy} step={step} />}
    </section>
  );
}
