/**
 * One parameter of a step, made from its schema: label, unit, control, range and default, help, and what is wrong with it. What
 * is shown is what the author wrote, else the default; resetting takes the key out of the recipe.
 */
import { canonicalJson, parseJson } from "../../lib/contract/json.ts";
import { isObject, type JsonObject, type Value } from "../../lib/contract/value.ts";
import type { Diagnostic } from "../api.ts";
import { type JSX, useEffect, useState } from "../preact.ts";
import { type Read, readFloat, readInteger, written } from "./number.ts";

interface Props {
  id: string;
  name: string;
  schema: JsonObject;
  /** What the author wrote; undefined where the default stands. */
  value: Value | undefined;
  /** Whether the parameter counts under the others' values. */
  effective: boolean;
  diagnostics: readonly Diagnostic[];
  onChange(value: Value | undefined): void;
}

export function Field({ id, name, schema, value, effective, diagnostics, onChange }: Props) {
  const shown = value ?? schema.default as Value | undefined;
  const [problem, setProblem] = useState<string | null>(null);
  const modified = value !== undefined;
  const unit = isObject(schema["x-svc-ui"]) ? String(schema["x-svc-ui"].unit ?? "") : "";
  const help = `${id}-help`, wrong = `${id}-error`;
  const messages = [
    ...(problem === null ? [] : [problem]),
    ...diagnostics.map(({ message, hint }) => hint ? `${message}. ${hint}` : message),
  ];
  const invalid = messages.length > 0;
  return (
    <div class="field" data-modified={modified}>
      <label for={id}>
        <span class="mono">{name}</span>
        {unit !== "" && <span class="unit">{unit}</span>}
        {modified && <span class="tag" data-tone="accent">modified</span>}
        {!effective && <span class="tag">has no effect here</span>}
      </label>
      <div class="control">
        <Control
          id={id}
          schema={schema}
          value={shown}
          describedBy={`${help}${invalid ? ` ${wrong}` : ""}`}
          invalid={invalid}
          onRead={(read) => {
            if ("problem" in read) return setProblem(read.problem);
            setProblem(null);
            onChange(read.value);
          }}
        />
        <button
          type="button"
          class="quiet"
          disabled={!modified}
          aria-label={modified ? `Reset ${name} to its default` : `${name} has its default`}
          onClick={() => {
            setProblem(null);
            onChange(undefined);
          }}
        >
          Reset
        </button>
      </div>
      <div class="help" id={help}>
        {[schema.description, range(schema), fallback(schema)].filter(Boolean).join(" · ")}
      </div>
      {invalid && <div class="error" id={wrong}>{messages.join(" ")}</div>}
    </div>
  );
}

interface ControlProps {
  id: string;
  schema: JsonObject;
  value: Value | undefined;
  describedBy: string;
  invalid: boolean;
  onRead(read: Read): void;
}

function Control({ id, schema, value, describedBy, invalid, onRead }: ControlProps): JSX.Element {
  const common = { id, "aria-describedby": describedBy, "aria-invalid": invalid };
  const choices = Array.isArray(schema.enum) ? schema.enum : null;
  if (choices !== null) {
    return (
      <select
        {...common}
        value={canonicalJson(value ?? null)}
        onChange={(event) => onRead({ value: parseJson(event.currentTarget.value) as Value })}
      >
        {value === undefined && <option value="null">(not set)</option>}
        {choices.map((choice) => (
          <option key={canonicalJson(choice)} value={canonicalJson(choice)}>{written(choice)}</option>
        ))}
      </select>
    );
  }
  if (schema.type === "boolean") {
    return (
      <input
        {...common}
        type="checkbox"
        checked={value === true}
        onChange={(event) => onRead({ value: event.currentTarget.checked })}
      />
    );
  }
  if (schema.type === "integer") {
    return <Typed {...common} text={written(value)} read={readInteger} onRead={onRead} mode="numeric" />;
  }
  if (schema.type === "number") {
    return <Typed {...common} text={written(value)} read={readFloat} onRead={onRead} mode="decimal" />;
  }
  if (schema.type === "string") {
    return <Typed {...common} text={written(value)} read={(text) => ({ value: text })} onRead={onRead} />;
  }
  return <Typed {...common} text={value === undefined ? "" : canonicalJson(value)} read={readJson} onRead={onRead} />;
}

function readJson(text: string): Read {
  try {
    return { value: parseJson(text) as Value };
  } catch {
    return { problem: `Cannot read ${JSON.stringify(text)} as JSON` };
  }
}

interface TypedProps {
  id: string;
  text: string;
  read(text: string): Read;
  onRead(read: Read): void;
  mode?: "numeric" | "decimal";
  "aria-describedby": string;
  "aria-invalid": boolean;
}

/** A text field that keeps what is typed while it is typed, and hands on what can be read. */
function Typed({ text, read, onRead, mode, ...common }: TypedProps) {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    // What comes from elsewhere (undo, reset) replaces the text, unless it means the same.
    const own = read(typed);
    if (!("value" in own) || written(own.value) !== text) setTyped(text);
  }, [text]);
  return (
    <input
      {...common}
      type="text"
      inputMode={mode}
      class={mode === undefined ? "" : "mono"}
      spellcheck={false}
      autocomplete="off"
      value={typed}
      onInput={(event) => {
        setTyped(event.currentTarget.value);
        onRead(read(event.currentTarget.value));
      }}
    />
  );
}

function range(schema: JsonObject): string {
  const low = schema.minimum ?? schema.exclusiveMinimum, high = schema.maximum ?? schema.exclusiveMaximum;
  const from = low === undefined ? "" : schema.minimum === undefined ? `above ${written(low)}` : `from ${written(low)}`;
  const to = high === undefined ? "" : schema.maximum === undefined ? `below ${written(high)}` : `to ${written(high)}`;
  return [from, to].filter(Boolean).join(" ");
}

const fallback = (schema: JsonObject) =>
  schema.default === undefined
    ? "no default"
    : `default ${typeof schema.default === "object" ? canonicalJson(schema.default) : written(schema.default) || '""'}`;
