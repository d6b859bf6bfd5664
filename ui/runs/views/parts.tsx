/** What views of artifacts share: which artifact, which realisation, and where a figure comes from. */
import type { ComponentChildren } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";

export const nameOf = ({ step, name }: Artifact): string => `${step}.${name}`;

/** What binds a figure to its run: ids and digests, which end up in exported files. */
export const sourceOf = (summary: RunSummary, ...artifacts: Artifact[]): Record<string, string> => ({
  run_id: summary.run_id,
  recipe_sha256: String(summary.recipe_sha256 ?? ""),
  artifacts: artifacts.map(nameOf).join(" "),
  sha256: artifacts.map(({ sha256 }) => sha256).join(" "),
});

/** A number of the metadata, or null. */
export function metadataNumber({ metadata }: Artifact, key: string): number | null {
  const value = metadata[key];
  return value === undefined || value === null || Number.isNaN(Number(value)) ? null : Number(value);
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChoose(value: T): void;
}

export function Select<T extends string>({ label, value, options, onChoose }: ChoiceProps<T>) {
  return (
    <label class="row">
      {label}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value as T)}>
        {options.map(([id, text]) => <option key={id} value={id}>{text}</option>)}
      </select>
    </label>
  );
}

/** A number from 0 to count - 1, by typing or by a slider. */
export function IndexChoice(
  { label, count, value, onChoose }: { label: string; count: number; value: number; onChoose(value: number): void },
) {
  if (count <= 1) return null;
  const set = (text: string) => {
    const next = Math.round(Number(text));
    if (Number.isFinite(next)) onChoose(Math.min(count - 1, Math.max(0, next)));
  };
  return (
    <span class="row index-choice">
      <label class="row">
        {label}
        <input
          type="range"
          min={0}
          max={count - 1}
          value={value}
          onInput={(event) => set(event.currentTarget.value)}
        />
      </label>
      <input
        type="text"
        inputMode="numeric"
        class="index-number"
        aria-label={`${label}, number`}
        value={String(value)}
        onChange={(event) => set(event.currentTarget.value)}
      />
      <span class="muted small">of {count}, from 0</span>
    </span>
  );
}

export function ViewPanel({ title, controls, children }: {
  title: string;
  controls?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <section class="panel view-panel" aria-label={title}>
      <h2>{title}</h2>
      {controls !== undefined && <div class="row view-controls">{controls}</div>}
      {children}
    </section>
  );
}

/** What is said while a view is being read, or cannot be. */
export function ViewWait({ problem, what }: { problem: string | null; what: string }) {
  return problem === null
    ? <p class="muted" aria-busy="true">Reading {what}</p>
    : <p class="notice" data-tone="warn">{problem}</p>;
}
