/** A state as sign and word, never as colour alone. */

const MARKS: Record<string, [string, string | undefined]> = {
  queued: ["…", "busy"],
  running: ["▶", "busy"],
  completed: ["✓", "ok"],
  failed: ["✕", "error"],
  canceled: ["⏹", "warn"],
  incomplete: ["!", "warn"],
};

export function StateMark({ state }: { state: string }) {
  const [sign, tone] = MARKS[state] ?? ["·", undefined];
  return (
    <span class="state" data-tone={tone}>
      <span aria-hidden="true">{sign}</span>
      {state}
    </span>
  );
}
