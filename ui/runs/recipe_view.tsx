/** The recipe that ran: as it was written, as it was completed, and what lies between. */
import type { JsonObject, Value } from "../../lib/contract/value.ts";
import { prettyJson } from "../../lib/contract/json.ts";
import { post } from "../api.ts";
import { useState } from "../preact.ts";
import { changeText } from "../compare/changes.ts";
import type { RunDocuments } from "./documents.ts";
import { json, useLoaded } from "./fetch_artifact.ts";

const VIEWS = ["authored", "effective", "difference"] as const;

export function RecipeView({ documents: { summary } }: { documents: RunDocuments }) {
  const [view, setView] = useState<typeof VIEWS[number]>("authored");
  const folder = `runs/${summary.run_id}`;
  const { value, problem } = useLoaded(async (signal) => {
    const [authored, effective] = await Promise.all([
      json<JsonObject>(`${folder}/recipe.authored.json`, signal),
      json<JsonObject>(`${folder}/recipe.json`, signal),
    ]);
    const { changes } = await post<{ changes: { path: string; a?: Value; b?: Value }[] }>("/api/recipe/diff", {
      a: authored,
      b: effective,
    }, { signal });
    return { authored, effective, changes };
  }, folder);
  if (problem !== null) return <p class="notice" data-tone="error">{problem}</p>;
  if (value === null) return <p class="empty" aria-busy="true">Reading the recipe</p>;
  return (
    <div class="stack">
      <div class="row" role="group" aria-label="Which recipe">
        {VIEWS.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={view === name}
            onClick={() => setView(name)}
          >
            {name}
          </button>
        ))}
        <span class="muted">
          {view === "authored"
            ? "What its author wrote."
            : view === "effective"
            ? "With every default filled in: this is what ran."
            : `${value.changes.length} places that were filled in.`}
        </span>
      </div>
      {view === "difference"
        ? <Changes changes={value.changes} left="Authored" right="Effective" />
        : (
          <pre class="values tall" tabIndex={0} role="region" aria-label={`The ${view} recipe`}>
          {prettyJson(value[view])}
          </pre>
        )}
    </div>
  );
}

export function Changes(
  { changes, left, right }: { changes: { path: string; a?: Value; b?: Value }[]; left: string; right: string },
) {
  if (changes.length === 0) return <p class="empty">They are equal.</p>;
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label="What differs">
      <table>
        <thead>
          <tr>
            <th>Place</th>
            <th>{left}</th>
            <th>{right}</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ path, a, b }) => (
            <tr key={path}>
              <td class="mono small">{path}</td>
              <td class="mono small">{a === undefined ? <span class="muted">not there</span> : changeText(a)}</td>
              <td class="mono small">{b === undefined ? <span class="muted">not there</span> : changeText(b)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
