/** Binds a parameter to a dimension of the matrix: a new one with its values, or an existing one. */
import type { Value } from "../../lib/contract/value.ts";
import { useState } from "../preact.ts";
import { freeDimension, readValues, writtenValues } from "./matrix.ts";

interface Props {
  name: string;
  types: readonly string[];
  value: Value | undefined;
  dimensions: readonly string[];
  /** With values for a new dimension. */
  onSweep(dimension: string, values: Value[] | undefined): void;
}

export function Sweep({ name, types, value, dimensions, onSweep }: Props) {
  const [chosen, setChosen] = useState(""), [fresh, setFresh] = useState(freeDimension(name, dimensions));
  const [text, setText] = useState(value === undefined ? "" : writtenValues([value]));
  const [problem, setProblem] = useState<string | null>(null);
  const id = `sweep-${name}`;
  return (
    <form
      class="sweep"
      aria-label={`Sweep ${name}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen !== "") return onSweep(chosen, undefined);
        const read = readValues(text, types);
        if ("problem" in read) return setProblem(read.problem);
        if (fresh.trim() === "") return setProblem("Give the dimension a name");
        onSweep(fresh.trim(), read.values);
      }}
    >
      {dimensions.length > 0 && (
        <label>
          Dimension
          <select value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>
            <option value="">a new one</option>
            {dimensions.map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
        </label>
      )}
      {chosen === "" && (
        <>
          <label for={`${id}-name`}>Name of the dimension</label>
          <input id={`${id}-name`} value={fresh} onInput={(event) => setFresh(event.currentTarget.value)} />
          <label for={`${id}-values`}>Values, such as 0, 5, 10 or 0:2:10 (from, step, to)</label>
          <input
            id={`${id}-values`}
            class="mono"
            value={text}
            spellcheck={false}
            aria-invalid={problem !== null}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </>
      )}
      {problem !== null && <div class="error" role="alert">{problem}</div>}
      <button type="submit">Sweep {name}</button>
    </form>
  );
}
