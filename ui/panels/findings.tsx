/** The problems of a recipe, each with its block, its field and its remedy. */
import type { Diagnostic } from "../api.ts";
import { asCustom } from "../../lib/contract/matrix_edits.ts";
import { toneOf } from "../parts.tsx";
import { type Copy, edit, foundIn, stepsOf, unreadOf, update } from "../state/copies.ts";
import { focusField } from "./focus_field.ts";

/** Others than these come first. */
const GRAVITY = ["error", "warning", "info"];
const byGravity = (a: Diagnostic, b: Diagnostic) => GRAVITY.indexOf(a.severity) - GRAVITY.indexOf(b.severity);

export default function Findings({ copy }: { copy: Copy }) {
  return (
    <ul>
      {unreadOf(copy).map(([field, { stepId, param, message }]) => (
        <li key={field} class="row">
          <span class="tag" data-tone="error">error</span>
          <button type="button" class="quiet mono" onClick={() => showField(copy, stepId, param)}>
            {stepId === "" ? param : `${stepId}.${param}`}
          </button>
          <span>{message}</span>
        </li>
      ))}
      {foundIn(copy).toSorted(byGravity).map((one, index) => (
        <li key={index}>
          <Finding copy={copy} one={one} />
        </li>
      ))}
    </ul>
  );
}

/** Selects a block and goes to one of its fields. */
function showField(copy: Copy, stepId: string, param: string | undefined): void {
  update(copy.id, { selected: stepId === "" ? null : stepId });
  const field = stepId === "" ? `recipe-${param}` : `param-${stepId}-${param}`;
  if (param !== undefined) focusField(`#${CSS.escape(field)}`);
}

function Finding({ copy, one }: { copy: Copy; one: Diagnostic }) {
  const match = /^\/steps\/(\d+)(?:\/params\/([^/]+))?/.exec(one.pointer ?? "");
  const step = match === null ? undefined : stepsOf(copy.recipe)[Number(match[1])];
  return (
    <div class="row">
      <span class="tag" data-tone={toneOf(one)}>{one.severity}</span>
      {step !== undefined && (
        <button
          type="button"
          class="quiet mono"
          onClick={() => showField(copy, step.id, match?.[2])}
        >
          {[step.id, match?.[2]].filter(Boolean).join(".")}
        </button>
      )}
      <span>{one.message} {one.hint ? <span class="muted">· {one.hint}</span> : null}</span>
      <code class="small muted">{one.code}</code>
      {one.code === "execution_profile_mismatch" && (
        <button
          type="button"
          title="Sets the profile custom, with based_on"
          onClick={() => edit(copy.id, asCustom(copy.recipe))}
        >
          Make it custom
        </button>
      )}
    </div>
  );
}
