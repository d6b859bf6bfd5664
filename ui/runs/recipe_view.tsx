/** The recipe of a run: as authored, with all defaults, and the differences. */
import { prettyJson } from "../../lib/contract/json.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { ask } from "../api.ts";
import { Changes } from "../panels/changes.tsx";
import { Shown, Toggle } from "../parts.tsx";
import { useState } from "../preact.ts";
import { useLoaded } from "../state/fetched.ts";
import type { RunDocuments } from "./documents.ts";
import { json } from "./fetch_artifact.ts";

const VIEWS = ["authored", "effective", "difference"] as const;

export function RecipeView({ documents: { summary } }: { documents: RunDocuments }) {
  const [view, setView] = useState<typeof VIEWS[number]>("authored");
  const folder = `runs/${summary.run_id}`;
  const found = useLoaded(async (signal) => {
    const [authored, effective] = await Promise.all([
      json<JsonObject>(`${folder}/recipe.authored.json`, signal),
      json<JsonObject>(`${folder}/recipe.json`, signal),
    ]);
    const { changes } = await ask("/api/recipe/diff", { a: authored, b: effective }, { signal });
    return { authored, effective, changes };
  }, folder);
  return (
    <Shown of={found} what="the recipe">
      {(value) => (
        <div class="stack">
          <div class="row">
            <Toggle label="Form of the recipe" value={view} options={VIEWS} onChoose={setView} />
            <span class="muted">
              {view === "authored"
                ? "As its author wrote it."
                : view === "effective"
                ? "With all defaults: the recipe that ran."
                : `${value.changes.length} values were added.`}
            </span>
          </div>
          {view === "difference"
            ? <Changes changes={value.changes} a="Authored" b="Effective" />
            : (
              <pre class="values" tabIndex={0} role="region" aria-label={`The ${view} recipe`}>
                {prettyJson(value[view])}
              </pre>
            )}
        </div>
      )}
    </Shown>
  );
}
