/** The control of a value of any depth, selected by its schema. */
import { canonicalJson, parseJson } from "../../lib/contract/json.ts";
import { schemaTypes } from "../../lib/contract/schema_types.ts";
import { isObject, type JsonObject, type Value } from "../../lib/contract/value.ts";
import { type JSX, useLayoutEffect, useState } from "../preact.ts";
import type { Choice } from "./choices.ts";
import { type Read, readFloat, readInteger, written } from "./number.ts";
import { Sign } from "../sign.tsx";

interface ControlProps {
  id: string;
  name: string;
  schema: JsonObject;
  value: Value | undefined;
  choices?: readonly Choice[];
  unread?: string;
  describedBy: string;
  invalid: boolean;
  onRead(read: Read, text: string): void;
}

export function Control(props: ControlProps): JSX.Element {
  const { id, name, value, choices, unread, describedBy, invalid, onRead } = props;
  const nullable = schemaTypes(props.schema).includes("null") && !Array.isArray(props.schema.enum);
  const schema = nullable ? withoutNull(props.schema) : props.schema;
  const common = { id, "aria-describedby": describedBy, "aria-invalid": invalid };
  if (nullable) {
    return (
      <span class="row nullable">
        <label class="row small">
          <input
            type="checkbox"
            checked={value === null || value === undefined}
            onChange={(event) => onRead({ value: event.currentTarget.checked ? null : blank(schema) }, "")}
          />
          null
        </label>
        {value !== null && value !== undefined && <Control {...props} schema={schema} />}
      </span>
    );
  }
  if (choices !== undefined) return <Choices {...common} choices={choices} value={value} onRead={onRead} />;
  if (Array.isArray(schema.enum)) {
    return (
      <select
        {...common}
        value={canonicalJson(value ?? null)}
        onChange={(event) => onRead({ value: parseJson(event.currentTarget.value) as Value }, "")}
      >
        {value === undefined && <option value="null">(not set)</option>}
        {schema.enum.map((choice) => (
          <option key={canonicalJson(choice)} value={canonicalJson(choice)}>{written(choice) || "null"}</option>
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
        onChange={(event) => onRead({ value: event.currentTarget.checked }, "")}
      />
    );
  }
  if (schema.type === "object" && isObject(schema.properties)) {
    return (
      <Members id={id} schema={schema} value={isObject(value) ? value : {}} describedBy={describedBy} onRead={onRead} />
    );
  }
  if (schema.type === "array" && isObject(schema.items)) {
    const items = Array.isArray(value) ? value : [];
    return <Items id={id} name={name} schema={schema.items} value={items} describedBy={describedBy} onRead={onRead} />;
  }
  const typed = { ...common, unread, onRead };
  if (schema.type === "integer") return <Typed {...typed} text={written(value)} read={readInteger} mode="numeric" />;
  if (schema.type === "number") return <Typed {...typed} text={written(value)} read={readFloat} mode="decimal" />;
  if (schema.type === "string") return <Typed {...typed} text={written(value)} read={(text) => ({ value: text })} />;
  return <Typed {...typed} text={value === undefined ? "" : canonicalJson(value)} read={readJson} />;
}

/** A menu with one line of explanation for each value; for an unavailable one, the reason. */
function Choices(
  { id, choices, value, onRead, ...common }: {
    id: string;
    choices: readonly Choice[];
    value: Value | undefined;
    "aria-describedby": string;
    "aria-invalid": boolean;
    onRead(read: Read, text: string): void;
  },
) {
  const present = choices.findIndex((choice) => canonicalJson(choice.value) === canonicalJson(value ?? null));
  return (
    <span class="method">
      {choices.map((choice, index) => (
        <label key={canonicalJson(choice.value)} class="method-choice">
          <input
            {...common}
            id={index === Math.max(0, present) ? id : undefined}
            type="radio"
            name={id}
            checked={index === present}
            disabled={choice.reason !== null && index !== present}
            onChange={() => onRead({ value: choice.value }, "")}
          />
          <span>
            <span class="mono">{written(choice.value)}</span>
            {choice.reason !== null && <span class="tag" data-tone="warn">not available</span>}
            <span class="help">{choice.reason ?? choice.line}</span>
          </span>
        </label>
      ))}
    </span>
  );
}

interface NestedProps {
  id: string;
  schema: JsonObject;
  describedBy: string;
  onRead(read: Read, text: string): void;
}

/** The members of an object; a cleared member is removed. */
function Members({ id, schema, value, describedBy, onRead }: NestedProps & { value: JsonObject }) {
  return (
    <span class="nested">
      {Object.entries(schema.properties as { [key: string]: JsonObject }).map(([key, member]) => (
        <span key={key} class="nested-row">
          <label class="mono small" for={`${id}-${key}`}>{key}</label>
          <Control
            id={`${id}-${key}`}
            name={key}
            schema={member}
            value={value[key] ?? member.default as Value | undefined}
            describedBy={describedBy}
            invalid={false}
            onRead={(read, text) =>
              onRead("problem" in read ? read : { value: { ...value, [key]: read.value } }, text)}
          />
          <button
            type="button"
            disabled={value[key] === undefined}
            aria-label={`Reset ${key}`}
            onClick={() => {
              const { [key]: _, ...others } = value;
              onRead({ value: others }, "");
            }}
          >
            <Sign of="✕" />
          </button>
        </span>
      ))}
    </span>
  );
}

function Items({ id, name, schema, value, describedBy, onRead }: NestedProps & { name: string; value: Value[] }) {
  return (
    <span class="nested">
      {value.map((item, index) => (
        <span key={index} class="nested-row">
          <label class="mono small" for={index === 0 ? id : `${id}-${index}`}>{index}</label>
          <Control
            id={index === 0 ? id : `${id}-${index}`}
            name={String(index)}
            schema={schema}
            value={item}
            describedBy={describedBy}
            invalid={false}
            onRead={(read, text) => onRead("problem" in read ? read : { value: value.with(index, read.value) }, text)}
          />
          <button
            type="button"
            aria-label={`Remove item ${index} of ${name}`}
            onClick={() => onRead({ value: value.toSpliced(index, 1) }, "")}
          >
            <Sign of="✕" />
          </button>
        </span>
      ))}
      <button
        type="button"
        id={value.length === 0 ? id : undefined}
        class="small"
        onClick={() => onRead({ value: [...value, blank(schema)] }, "")}
      >
        Add an item<span class="hidden-text">to {name}</span>
      </button>
    </span>
  );
}

/** The initial value. */
function blank(schema: JsonObject): Value {
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const low = schema.minimum;
  if (schema.type === "integer") return (low ?? 0) as Value;
  if (schema.type === "number") return (readFloat(low === undefined ? "0" : written(low)) as { value: Value }).value;
  return schema.type === "boolean" ? false : schema.type === "array" ? [] : schema.type === "object" ? {} : "";
}

function withoutNull(schema: JsonObject): JsonObject {
  if (Array.isArray(schema.anyOf)) {
    const branches = (schema.anyOf as JsonObject[]).filter(({ type }) => type !== "null");
    if (branches.length === 1) return branches[0];
  }
  const types = schemaTypes(schema).filter((type) => type !== "null");
  return types.length === 1 ? { ...schema, type: types[0] } : { ...schema, type: undefined! };
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
  unread?: string;
  read(text: string): Read;
  onRead(read: Read, text: string): void;
  mode?: "numeric" | "decimal";
  "aria-describedby": string;
  "aria-invalid": boolean;
}

/** A text field that keeps the typed text while it has the focus, and reports readable values. */
function Typed({ text, unread, read, onRead, mode, ...common }: TypedProps) {
  const [typed, setTyped] = useState(unread ?? text);
  // Before the painting, or the previous text would be shown once more.
  useLayoutEffect(() => {
    // A change from outside (undo, reset) replaces the text, unless both have the same value.
    const own = read(typed);
    if (unread === undefined && (!("value" in own) || written(own.value) !== text)) setTyped(text);
  }, [text, unread]);
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
        onRead(read(event.currentTarget.value), event.currentTarget.value);
      }}
    />
  );
}
