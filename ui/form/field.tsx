/**
 * One parameter of a step, from its schema: label, unit, control, range, default, help and problem. It shows the authored
 * value, else the default; a reset removes the key from the recipe. A text that cannot be read stays in its field, and the
 * recipe keeps the previous value.
 */
import { canonicalJson } from "../../lib/contract/json.ts";
import { checkValue } from "../../lib/contract/schema.ts";
import { schemaTypes } from "../../lib/contract/schema_types.ts";
import { isNumber, isObject, type JsonObject, toNumber, type Value } from "../../lib/contract/value.ts";
import type { Diagnostic } from "../api.ts";
import { useRef, useState } from "../preact.ts";
import type { Choice } from "./choices.ts";
import { Control } from "./control.tsx";
import { freeDimension, sweptValues, writtenValues } from "./matrix.ts";
import { written } from "./number.ts";
import { Sweep } from "./sweep.tsx";

export interface FieldProps {
  id: string;
  name: string;
  schema: JsonObject;
  /** The authored value; undefined if the default applies. */
  value: Value | undefined;
  /** Whether the parameter is effective with the values of the others. */
  effective: boolean;
  /** For a parameter that selects a method or has values that cannot be chosen: its values with explanations. */
  choices?: readonly Choice[];
  diagnostics: readonly Diagnostic[];
  /** A text in it that cannot be read. */
  unread?: { text: string; message: string; sweep?: Value[] };
  /** The matrix dimension that sets its value. */
  dimension?: string | null;
  /** Values of that dimension. */
  sweep?: readonly Value[];
  dimensions?: readonly string[];
  onChange(value: Value | undefined): void;
  onUnread(unread: { text: string; message: string; sweep?: Value[] } | null): void;
  onSweep?(dimension: string, values: Value[] | undefined): void;
  onRelease?(): void;
}

/** Whether an authored value is another one than the default. */
export const isModified = (value: Value | undefined, { default: usual }: JsonObject): boolean =>
  value !== undefined && (usual === undefined || canonicalJson(value) !== canonicalJson(usual)) &&
  !(isNumber(value) && isNumber(usual!) && toNumber(value) === toNumber(usual));

export function Field(props: FieldProps) {
  const { id, name, schema, value, effective, choices, unread, dimension, onChange, onUnread } = props;
  const [sweeping, setSweeping] = useState(false), button = useRef<HTMLButtonElement>(null);
  const shown = value ?? schema.default as Value | undefined;
  const given = value !== undefined, modified = isModified(value, schema), swept = dimension != null;
  const unit = isObject(schema["x-svc-ui"]) ? String(schema["x-svc-ui"].unit ?? "") : "";
  const help = `${id}-help`, wrong = `${id}-error`;
  const messages = problemsOf(props);
  const invalid = messages.length > 0;
  const group = isGroup(schema) || choices !== undefined;
  const sweepTyped = () => {
    if (unread?.sweep === undefined) return;
    onUnread(null);
    props.onSweep!(freeDimension(name, props.dimensions ?? []), unread.sweep);
  };
  // The field gives way to the values: the focus goes to the button beside it, and leaving the field sweeps.
  const sweepByKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || unread?.sweep === undefined) return;
    event.preventDefault();
    button.current?.focus();
  };
  const label = (
    <>
      <span class="mono">{name}</span>
      {unit !== "" && <span class="unit">{unit}</span>}
      {modified && <span class="tag" data-tone="accent">modified</span>}
      {swept && <span class="tag" data-tone="accent">swept by {dimension}</span>}
      {!effective && <span class="tag">has no effect here</span>}
    </>
  );
  return (
    <div
      class="field"
      data-modified={modified}
      role={group ? "group" : undefined}
      aria-labelledby={group ? `${id}-label` : undefined}
    >
      {group ? <div class="label" id={`${id}-label`}>{label}</div> : <label for={id}>{label}</label>}
      <div class="control" onFocusOut={sweepTyped} onKeyDown={sweepByKey}>
        {swept && props.sweep ? <output id={id} class="mono">{writtenValues(props.sweep)}</output> : (
          <Control
            id={id}
            name={name}
            schema={schema}
            value={shown}
            choices={choices}
            unread={unread?.text}
            describedBy={`${help}${invalid ? ` ${wrong}` : ""}`}
            invalid={invalid}
            onRead={(read, text) => {
              const values = "problem" in read && props.onSweep ? sweptValues(text, schemaTypes(schema)) : null;
              if (values !== null) {
                return onUnread({
                  text,
                  message: `Enter sweeps ${values.length} values`,
                  sweep: values,
                });
              }
              if ("problem" in read) return onUnread({ text, message: read.problem });
              onUnread(null);
              onChange(read.value);
            }}
          />
        )}
        {props.onSweep !== undefined && (
          <button
            ref={button}
            type="button"
            aria-expanded={swept ? undefined : sweeping}
            aria-label={swept ? `Release ${name} from ${dimension}` : `Sweep ${name}`}
            onClick={() => swept ? props.onRelease!() : setSweeping(!sweeping)}
          >
            {swept ? "Release" : "Sweep"}
          </button>
        )}
        <button
          type="button"
          disabled={!given && unread === undefined}
          aria-label={given ? `Reset ${name} to its default` : `Reset ${name}, which has its default`}
          onClick={() => {
            onUnread(null);
            onChange(undefined);
          }}
        >
          Reset
        </button>
      </div>
      <div class="help" id={help}>
        {[schema.description, range(schema), fallback(schema)].filter(Boolean).join(" · ")}
      </div>
      {invalid && <div class="error" id={wrong}>{messages.join(". ")}</div>}
      {sweeping && !swept && (
        <Sweep
          name={name}
          types={schemaTypes(schema)}
          value={shown}
          dimensions={props.dimensions ?? []}
          onSweep={(chosen, values) => {
            setSweeping(false);
            props.onSweep!(chosen, values);
          }}
        />
      )}
    </div>
  );
}

/** The problem of an unreadable text, else the finding of the server, else that of the schema. */
function problemsOf({ unread, diagnostics, value, schema, name }: FieldProps): string[] {
  if (unread !== undefined) return [unread.message];
  if (diagnostics.length > 0) return diagnostics.map(({ message, hint }) => hint ? `${message}. ${hint}` : message);
  return value === undefined ? [] : checkValue(schema, value, [name]).map(({ message }) => message);
}

/** Whether a schema is shown as several controls. */
const isGroup = (schema: JsonObject): boolean =>
  (schema.type === "object" && isObject(schema.properties)) || (schema.type === "array" && isObject(schema.items));

function range(schema: JsonObject): string {
  const low = schema.minimum ?? schema.exclusiveMinimum, high = schema.maximum ?? schema.exclusiveMaximum;
  const from = low === undefined ? "" : schema.minimum === undefined ? `above ${written(low)}` : `from ${written(low)}`;
  const to = high === undefined ? "" : schema.maximum === undefined ? `below ${written(high)}` : `to ${written(high)}`;
  return [from, to].filter(Boolean).join(" ");
}

function fallback({ default: value, description }: JsonObject): string {
  // The help names it: a seed of a step is derived unless it is set, whatever its schema holds.
  if (/\bdefault derived\b/.test(String(description))) return "";
  if (value === undefined) return "no default";
  const text = value === null
    ? "null"
    : isObject(value) || Array.isArray(value)
    ? canonicalJson(value)
    : written(value);
  return `default ${text || '""'}`;
}
