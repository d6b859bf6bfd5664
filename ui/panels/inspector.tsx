// deno-lint-ignore-file jsx-key -- elements in tuples of facts are not lists
/** What can be edited of the selected block, or of the recipe while none is selected. */
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { Control } from "../form/control.tsx";
import { Facts } from "../parts.tsx";
import { lazy } from "../preact.ts";
import { type Copy, edit, setUnread, stepsOf } from "../state/copies.ts";

const BlockInspector = lazy(() => import("./block_inspector.tsx"), "Loading the view");

export function Inspector({ copy }: { copy: Copy }) {
  const step = stepsOf(copy.recipe).find(({ id }) => id === copy.selected);
  return (
    <section class="inspector" aria-label="Inspector">
      {step === undefined ? <RecipeForm copy={copy} /> : <BlockInspector copy={copy} step={step} />}
    </section>
  );
}

/** The fields of the recipe itself; shown while no block is selected. */
function RecipeForm({ copy }: { copy: Copy }) {
  const { recipe } = copy, metadata = isObject(recipe.metadata) ? recipe.metadata : {};
  const wrong = copy.unread.seed ?? copy.verdict?.diagnostics.find(({ pointer }) => pointer === "/metadata/seed");
  const text = (key: "name" | "description") => (
    <div class="field">
      <label for={`recipe-${key}`}>{key === "name" ? "Name" : "Description"}</label>
      <input
        id={`recipe-${key}`}
        value={String(recipe[key] ?? "")}
        onInput={(event) => {
          const { [key]: _, ...others } = recipe, { value } = event.currentTarget;
          edit(copy.id, value === "" && key !== "name" ? others : { ...recipe, [key]: value }, key);
        }}
      />
    </div>
  );
  return (
    <>
      <h2>Recipe</h2>
      {text("name")}
      {metadata.seed !== undefined && metadata.seed_namespace === undefined && (
        <div class="help">Another name changes the derived seeds; metadata.seed_namespace keeps them</div>
      )}
      {text("description")}
      <div class="field">
        <label for="recipe-seed">seed</label>
        <Control
          id="recipe-seed"
          name="seed"
          schema={SEED}
          value={metadata.seed}
          unread={copy.unread.seed?.text}
          describedBy="recipe-seed-help"
          invalid={wrong !== undefined}
          onRead={(read, text) => {
            const { seed: _, ...others } = metadata, absent = text.trim() === "";
            if ("problem" in read && !absent) {
              return setUnread(copy.id, "seed", { stepId: "", param: "seed", text, message: read.problem });
            }
            setUnread(copy.id, "seed", null);
            const next = "problem" in read ? others : { ...metadata, seed: read.value };
            edit(copy.id, { ...recipe, metadata: next }, "seed");
          }}
        />
        <div class={wrong === undefined ? "help" : "error"} id="recipe-seed-help">
          {wrong?.message ?? "master seed; the streams of all steps derive from it"}
        </div>
      </div>
      <Facts
        look="spaced"
        of={[
          ["File", <span class="mono small">{copy.file?.path ?? "not saved yet"}</span>],
          [
            "Profile",
            <span class="mono small">
              {isObject(recipe.execution_profile) ? String(recipe.execution_profile.id) : "custom"}
            </span>,
          ],
          ["Blocks", stepsOf(recipe).length],
        ]}
      />
      <p class="muted">
        Select a block to change its parameters. Change the wiring in Raw JSON; a recipe with another topology than that
        of its profile has the profile custom, with based_on.
      </p>
    </>
  );
}

const SEED: JsonObject = { type: "integer", minimum: 0 };
