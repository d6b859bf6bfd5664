/** The command line that does the same, to be copied. */
import { useState } from "./preact.ts";

/** A word as a POSIX shell takes it. */
export const shellWord = (word: string): string =>
  /^[A-Za-z0-9_\/:=.,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** A command line of its words. */
export const commandOf = (...words: readonly (string | null | false)[]): string =>
  ["svc", ...words.filter((word): word is string => typeof word === "string")].map(shellWord).join(" ");

/** A button that copies a command; where the browser refuses, the command itself is shown. */
export function CopyCommand({ command, note }: { command: string; note?: string }) {
  const [told, setTold] = useState<"copied" | "refused" | null>(null);
  return (
    <span class="row copy-command">
      <button
        type="button"
        title={command}
        onClick={() => navigator.clipboard.writeText(command).then(() => setTold("copied"), () => setTold("refused"))}
      >
        Copy as CLI command
      </button>
      <span class="small muted" role="status">
        {told === null ? "" : told === "copied" ? "Copied" : <code>{command}</code>}
        {told !== null && note !== undefined ? ` · ${note}` : ""}
      </span>
    </span>
  );
}
