/** Common parts of the views of artifacts: names, sources of figures, and the choice of an index. */
import { TextField } from "../../parts.tsx";
import type { ComponentChildren } from "../../preact.ts";
import type { Artifact, RunSummary } from "../documents.ts";

/** An array of a known shape. */
export type Shaped = Artifact & { shape: number[] };

export const nameOf = ({ step, name }: Artifact): string => `${step}.${name}`;

/** The source of a figure: ids and digests of its run, which exported files hold. */
export const sourceOf = (summary: RunSummary, ...artifacts: Artifact[]): Record<string, string> => ({
  run_id: summary.run_id,
  recipe_sha256: String(summary.recipe_sha256 ?? ""),
  artifacts: artifacts.map(nameOf).join(" "),
  sha256: artifacts.map(({ sha256 }) => sha256).join(" "),
});

/** An artifact in a menu. */
export const optionOf = (artifact: Artifact) => [artifact.path, nameOf(artifact)] as const;

/** A number of the metadata, or null. */
export function metadataNumber({ metadata }: Artifact, key: string): number | null {
  const value = metadata[key];
  return value === undefined || value === null || Number.isNaN(Number(value)) ? null : Number(value);
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
      <TextField
        inputMode="numeric"
        class="index-number"
        aria-label={`${label}, number`}
        value={String(value)}
        onText={set}
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
