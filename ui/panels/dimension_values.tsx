/** The values of a dimension of the matrix as text: lists and ranges. */
import type { Value } from "../../lib/contract/value.ts";
import { setDimension } from "../../lib/contract/matrix_edits.ts";
import { readValues, writtenValues } from "../form/matrix.ts";
import { useState } from "../preact.ts";
import { type Copy, edit } from "../state/copies.ts";

interface Props {
  id: string;
  copy: Copy;
  /** Of the dimension. */
  name: string;
  values: readonly Value[];
}

export function DimensionValues({ id, copy, name, values }: Props) {
  const written = writtenValues(values);
  // Typed text stands in for the values that it was typed over: an undo replaces it.
  const [draft, setDraft] = useState<{ over: string; text: string; problem: string | null } | null>(null);
  const { text, problem } = draft?.over === written ? draft : { text: written, problem: null };
  const commit = () => {
    const read = readValues(text, typesOf(values));
    if ("problem" in read) return setDraft({ over: written, text, problem: read.problem });
    setDraft(null);
    edit(copy.id, setDimension(copy.recipe, name, read.values));
  };
  return (
    <>
      <label class="hidden-text" for={id}>Values of {name}</label>
      <input
        id={id}
        class="mono wide"
        value={text}
        spellcheck={false}
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? undefined : `${id}-problem`}
        onInput={(event) => setDraft({ over: written, text: event.currentTarget.value, problem })}
        onBlur={commit}
        onKeyDown={(event) => event.key === "Enter" && commit()}
      />
      {problem !== null && <span id={`${id}-problem`} class="tag" data-tone="error">{problem}</span>}
    </>
  );
}

/** The types that values are typed in: those that are there, so that a float stays one. */
function typesOf(values: readonly Value[]): string[] {
  const types = values.map((value) =>
    typeof value === "boolean"
      ? "boolean"
      : typeof value === "string"
      ? "string"
      : Number.isInteger(value)
      ? "integer"
      : "number"
  );
  // One float makes all of them floats.
  return types.includes("number") ? ["number"] : [...new Set(types)];
}
