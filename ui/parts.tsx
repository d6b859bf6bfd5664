/** Parts of all views: headings, tables, facts, choices, tabs, states, and the display of pending and failed requests. */
import type { Diagnostic } from "./api.ts";
import { type ComponentChildren, Fragment, type JSX, useLayoutEffect, useRef, useState } from "./preact.ts";
import { place, refine } from "./router.ts";
import type { Loaded } from "./state/fetched.ts";
import { Sign } from "./sign.tsx";

/** A view with a heading. */
export function Page(
  { title, actions, children }: { title: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren },
) {
  return (
    <div class="page">
      <div class="row spread">
        <h1>{title}</h1>
        <div class="row">{actions}</div>
      </div>
      {children}
    </div>
  );
}

interface SectionProps {
  title: string;
  actions?: ComponentChildren;
  /** Class names. */
  look?: string;
  children: ComponentChildren;
}

/** A part of a page, named by its heading. */
export function Section({ title, actions, look, children }: SectionProps) {
  return (
    <section class={look} aria-label={title}>
      <div class="row spread">
        <h2>{title}</h2>
        <span class="row">{actions}</span>
      </div>
      {children}
    </section>
  );
}

/** A text for screen readers alone. */
export const Hidden = ({ children }: { children: ComponentChildren }) => <span class="hidden-text">{children}</span>;

export type Column<Row> = readonly [
  title: ComponentChildren,
  cell: (row: Row, index: number) => ComponentChildren,
  /** Class names of the cells; the heading takes `number` and `first`. */
  look?: string,
  hint?: (row: Row) => string,
];

interface TableProps<Row> {
  columns: readonly (Column<Row> | null)[];
  rows: readonly Row[];
  keyOf?(row: Row): string;
  /** Names a box in which the table scrolls. */
  label?: string;
  /** Class names of the box, or of the table where it has none. */
  look?: string;
  /** Attributes of a row. */
  attributes?(row: Row): Record<string, string | boolean | undefined>;
}

export function Table<Row>({ columns: given, rows, keyOf, label, look = "", attributes }: TableProps<Row>) {
  const columns = given.filter((column) => column !== null);
  const table = (
    <table class={`rows ${label === undefined ? look : ""}`}>
      <thead>
        <tr>
          {columns.map(([title, , look], index) => (
            <th key={index} class={/\b(number|first)\b/.exec(look ?? "")?.[0]}>{title}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={keyOf?.(row) ?? at} {...attributes?.(row)}>
            {columns.map(([title, cell, look, hint], index) => (
              <td
                key={index}
                class={look}
                title={hint?.(row)}
                data-title={typeof title === "string" ? title : undefined}
              >
                {cell(row, at)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  if (label === undefined) return table;
  return <div class={`scroll ${look}`} role="group" aria-label={label} tabIndex={0}>{table}</div>;
}

/** Names with their values; entries that are null or false are left out. */
export function Facts(
  { of, look = "", mono = "" }: {
    of: readonly (readonly [name: ComponentChildren, value: ComponentChildren] | null | false | undefined)[];
    look?: string;
    /** Class names of the values. */
    mono?: string;
  },
) {
  return (
    <dl class={`facts ${look}`}>
      {of.map((entry, index) =>
        entry && (
          <Fragment key={index}>
            <dt>{entry[0]}</dt>
            <dd class={mono}>{entry[1]}</dd>
          </Fragment>
        )
      )}
    </dl>
  );
}

interface ChoiceProps<T extends string> {
  label: ComponentChildren;
  value: T;
  /** Values, with their text where it is another one. */
  options: readonly (T | readonly [value: T, text: string])[];
  onChoose(value: NoInfer<T>): void;
  /** Class names of the label. */
  look?: string;
}

type NamedChoice<T extends string> = ChoiceProps<T> & { label: string };

const pairsOf = <T extends string>(options: ChoiceProps<T>["options"]) =>
  options.map((option) => typeof option === "string" ? [option, option] as const : option);

/** A menu with its label. */
export function Select<T extends string>({ label, value, options, onChoose, look = "" }: ChoiceProps<T>) {
  return (
    <label class={`row ${look}`}>
      {label}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value as T)}>
        {pairsOf(options).map(([id, text]) => <option key={id} value={id}>{text}</option>)}
      </select>
    </label>
  );
}

/** Buttons of which one is pressed. */
export function Toggle<T extends string>({ label, value, options, onChoose }: NamedChoice<T>) {
  return (
    <div class="row" role="group" aria-label={label}>
      {pairsOf(options).map(([id, text]) => (
        <button
          key={id}
          type="button"
          aria-pressed={value === id}
          onClick={() => onChoose(id)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

/** Scrolls a row of choices so far that the chosen one is seen: the reference of its box. */
export function reveal(box: HTMLElement | null): void {
  const chosen = box?.querySelector("[aria-current=page], [aria-selected=true]");
  if (!box || !chosen) return;
  const own = chosen.getBoundingClientRect(), shown = box.getBoundingClientRect();
  box.scrollLeft += Math.max(0, own.right - shown.right) + Math.min(0, own.left - shown.left);
}

/** Tabs: one stop among the others of the page; arrows, Home and End move within. */
export function Tabs<T extends string>({ label, value, options, onChoose }: NamedChoice<T>) {
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={(box) => reveal(box)} onKeyDown={walkTabs}>
      {pairsOf(options).map(([id, text]) => (
        <button
          key={id}
          type="button"
          role="tab"
          aria-selected={value === id}
          tabindex={value === id ? 0 : -1}
          onClick={() => onChoose(id)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

function walkTabs(event: KeyboardEvent): void {
  const tabs = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLButtonElement>("[role=tab]")];
  const at = tabs.indexOf(event.target as HTMLButtonElement);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  const wanted = tabs[(next + tabs.length) % tabs.length];
  wanted.focus();
  wanted.click();
}

interface CheckProps {
  label: ComponentChildren;
  checked: boolean;
  onChange(checked: boolean): void;
  look?: string;
}

/** A checkbox with its label. */
export function Check({ label, checked, onChange, look = "" }: CheckProps) {
  return (
    <label class={`row ${look}`}>
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  );
}

interface TextFieldProps {
  value: string;
  /** Takes the text once the field is left or Enter is pressed. @returns false, or a promise of it, if it was refused */
  onText(text: string): void | boolean | Promise<boolean>;
  id?: string;
  class?: string;
  "aria-label"?: string;
  inputMode?: "numeric";
  maxLength?: number;
}

/** A text field that shows its value. Typed text stays until it is taken, also where it was refused or the value changes meanwhile. */
export function TextField({ value, onText, ...field }: TextFieldProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const take = async (text: string) => {
    if (await onText(text) !== false) setDraft((typed) => typed === text ? null : typed);
  };
  return (
    <input
      {...field}
      type="text"
      value={draft ?? value}
      onInput={({ currentTarget }) => setDraft(currentTarget.value === value ? null : currentTarget.value)}
      onChange={({ currentTarget }) => take(currentTarget.value)}
    />
  );
}

/** The checkbox `Only differences`, kept in the address. */
export const OnlyDifferences = ({ all }: { all: boolean }) => (
  <Check
    label="Only differences"
    checked={!all}
    onChange={(only) => refine({ differences: only ? undefined : "all" })}
  />
);

/** The words of the search field, in lower case. */
export const searchWords = (): string[] =>
  (place.value.query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);

/** The search field of a view, kept in the address, with further filters and the count of matches. */
export function Filters({ found, children }: { found?: string; children?: ComponentChildren }) {
  return (
    <div class="row filters">
      <label class="row">
        Find
        <input
          type="search"
          value={place.value.query.get("q") ?? ""}
          onInput={(event) => refine({ q: event.currentTarget.value })}
        />
      </label>
      {children}
      {found !== undefined && <span class="muted" role="status">{found}</span>}
    </div>
  );
}

/** A problem in words; nothing where there is none. */
export function Trouble({ text, tone = "error" }: { text: ComponentChildren; tone?: "error" | "warn" }) {
  return text === null || text === "" ? null : <div class="notice" data-tone={tone} role="alert">{text}</div>;
}

/** The state of a request that has no value: it is read, or the reason why it cannot be. */
export function Wait({ of: { problem, again }, what }: { of: Omit<Loaded<unknown>, "value">; what: string }) {
  if (problem === null) return <p class="empty" aria-busy="true">Reading {what}</p>;
  return (
    <div class="notice" data-tone="error" role="alert">
      <p>{problem}</p>
      <button type="button" onClick={again}>Try again</button>
    </div>
  );
}

/** A value once it is read. */
export const Shown = <T,>({ of, what, children }: { of: Loaded<T>; what: string; children(value: T): JSX.Element }) =>
  of.value === null ? <Wait of={of} what={what} /> : children(of.value);

export const toneOf = ({ severity }: Pick<Diagnostic, "severity">) =>
  severity === "info" ? undefined : severity === "warning" ? "warn" : "error";

/** Diagnostics in the words of the server. */
export function Diagnostics({ items, label }: { items: readonly Diagnostic[]; label?: string }) {
  return (
    <ul class="diagnostics" aria-label={label}>
      {items.map((one, index) => (
        <li key={index}>
          <span class="tag" data-tone={toneOf(one)}>{one.severity}</span> {one.message}{" "}
          <code class="small muted">{one.pointer ?? one.code}</code>
          {one.hint && <div class="muted">{one.hint}</div>}
        </li>
      ))}
    </ul>
  );
}

/** A digest, short, whole for the pointer. */
export function Digest({ text }: { text: string | null | undefined }) {
  if (!text) return <span class="muted">–</span>;
  return <code title={text}>{text.replace(/^sha256:/, "").slice(0, 12)}</code>;
}

const MARKS: Readonly<Record<string, [glyph: string, tone: string]>> = {
  passed: ["✓", "ok"],
  valid: ["✓", "ok"],
  ready: ["✓", "ok"],
  completed: ["✓", "ok"],
  supported: ["✓", "ok"],
  implemented: ["✓", "ok"],
  reproduced: ["✓", "ok"],
  within: ["✓", "ok"],
  partly: ["▲", "warn"],
  outside: ["✕", "error"],
  differs: ["✕", "error"],
  warning: ["▲", "warn"],
  degraded: ["▲", "warn"],
  incomplete: ["!", "warn"],
  experimental: ["▲", "warn"],
  skipped: ["–", "warn"],
  canceled: ["■", "warn"],
  canceling: ["■", "warn"],
  unavailable: ["–", "warn"],
  planned: ["○", "muted"],
  queued: ["○", "muted"],
  waiting: ["○", "muted"],
  running: ["▶", "busy"],
  failed: ["✕", "error"],
  invalid: ["✕", "error"],
};

/** A state as glyph and word, never by colour alone. */
export function StateMark({ state, word }: { state: string; word?: string }) {
  const [glyph, tone] = MARKS[state] ??
    (/fail|exhausted|timed_out|reject/.test(state) ? ["✕", "error"] : ["·", "muted"]);
  return (
    <span class="state" data-tone={tone}>
      <span aria-hidden="true">
        <Sign of={glyph} />
      </span>
      <span>{word ?? state.replaceAll("_", " ")}</span>
    </span>
  );
}

/** A button with the sign of closing or removing, whose label says what. */
export const Close = ({ label, onClick }: { label: string; onClick(): void }) => (
  <button type="button" class="quiet" aria-label={label} onClick={onClick}>
    <Sign of="✕" />
  </button>
);

/** A dialog of the browser: focus goes in and comes back, Escape closes it. */
export function Dialog({ title, onClose, children }: { title: string; onClose(): void; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    element.current!.showModal();
    // Behind a modal dialog nothing takes the focus: it comes back once the dialog is gone, unless something else has it.
    return () => queueMicrotask(() => document.activeElement === document.body && before?.focus());
  }, []);
  // Escape acts at once: the event of closing comes a task later, in which another dialog may have been opened.
  const cancel = (event: Event) => {
    if (event.target !== element.current) return;
    event.preventDefault();
    onClose();
  };
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-label={title}
      onCancel={cancel}
      onClose={() => element.current !== null && onClose()}
    >
      <div class="row nowrap spread">
        <h2>{title}</h2>
        <Close label={`Close ${title}`} onClick={onClose} />
      </div>
      {children}
    </dialog>
  );
}
