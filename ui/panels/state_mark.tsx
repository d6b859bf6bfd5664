/** A state as glyph and word, never by colour alone. */
const MARKS: Readonly<Record<string, [glyph: string, tone: string]>> = {
  passed: ["✓", "ok"],
  valid: ["✓", "ok"],
  ready: ["✓", "ok"],
  completed: ["✓", "ok"],
  supported: ["✓", "ok"],
  implemented: ["✓", "ok"],
  warning: ["▲", "warn"],
  degraded: ["▲", "warn"],
  incomplete: ["▲", "warn"],
  experimental: ["▲", "warn"],
  skipped: ["–", "warn"],
  canceled: ["–", "warn"],
  canceling: ["–", "warn"],
  unavailable: ["–", "warn"],
  planned: ["○", "muted"],
  queued: ["○", "muted"],
  waiting: ["○", "muted"],
  running: ["●", "busy"],
  failed: ["✕", "error"],
  invalid: ["✕", "error"],
};

export function StateMark({ state, word }: { state: string; word?: string }) {
  const [glyph, tone] = MARKS[state] ??
    (/fail|exhausted|timed_out|reject/.test(state) ? ["✕", "error"] : ["·", "muted"]);
  return (
    <span class="state" data-tone={tone}>
      <span aria-hidden="true">{glyph}</span>
      <span>{word ?? state.replaceAll("_", " ")}</span>
    </span>
  );
}
