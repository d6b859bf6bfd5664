// deno-lint-ignore-file jsx-key -- elements in tuples of facts are not lists
/** The fields of the recipe itself, and where it is saved; shown while no block is selected. */
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { Control } from "../form/control.tsx";
import { Digest, Facts } from "../parts.tsx";
import { type Copy, edit, isUnsaved, setUnread, stepsOf } from "../state/copies.ts";

export default function RecipeForm({ copy }: { copy: Copy }) {
  const { recipe, file } = copy, metadata = isObject(recipe.metadata) ? recipe.metadata : {};
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
          ["File", <span class="mono">{file?.path ?? "not saved yet"}</span>],
          file !== null && ["Saved", isUnsaved(copy) ? "before the last changes" : "with all changes"],
          // The tag of a file is its digest.
          file?.etag != null && ["File SHA-256", <Digest text={file.etag.replaceAll('"', "")} />],
          [
            "Profile",
            <span class="mono">
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
