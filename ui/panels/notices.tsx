/** What stands where data does not: it is being read, or the reason why it cannot be. */
import type { Diagnostic } from "../api.ts";
import type { Fetched } from "../state/fetched.ts";

export function Pending({ of, what }: { of: Fetched<unknown>; what: string }) {
  if (of.problem === null) return <p class="empty">Reading {what}</p>;
  return (
    <div class="notice" data-tone="error" role="alert">
      <p>{of.problem}</p>
      <button type="button" onClick={of.again}>Try again</button>
    </div>
  );
}

/** Diagnostics in the words of the server. */
export function Diagnostics({ items }: { items: readonly Diagnostic[] }) {
  return (
    <ul class="diagnostics">
      {items.map(({ code, message, hint, severity }, index) => (
        <li key={index}>
          <span class="tag" data-tone={severity === "info" ? undefined : severity === "warning" ? "warn" : "error"}>
            {severity ?? "error"}
          </span>{" "}
          {message} <span class="mono muted">{code}</span>
          {hint && <div class="muted">{hint}</div>}
        </li>
      ))}
    </ul>
  );
}

/** A digest, short, whole for the pointer and the clipboard. */
export function Digest({ text }: { text: string | null | undefined }) {
  if (!text) return <span class="muted">–</span>;
  return <code title={text}>{text.replace(/^sha256:/, "").slice(0, 12)}</code>;
}
