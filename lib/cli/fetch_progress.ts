/** How a download goes, on standard error: a line that is rewritten on a terminal, a line a file elsewhere. */
import { visibleLine } from "../contract/escape.ts";
import type { CliContext } from "./context.ts";
import { CLEAR_LINE, stderr, streams } from "./terminal.ts";
import { formatBytes } from "./table.ts";

/** Below this number nothing is shown. */
const FEW = 1000;

/** A reporter for `onProgress` of the fetching functions. */
export function fetchProgress(
  context: CliContext,
  verb = "fetching",
): (file: string, received: number, total: number | null) => void {
  const live = streams().stderr.isTerminal() && !context.json && !context.quiet;
  const announced = new Set<string>();
  let last = 0;
  return (name, received, total) => {
    const file = visibleLine(name);
    const size = total === null ? formatBytes(received) : `${formatBytes(received)} of ${formatBytes(total)}`;
    if (!announced.has(file)) {
      announced.add(file);
      if (!live) context.note(`${verb} ${file}${total === null ? "" : ` (${formatBytes(total)})`}`);
    }
    if (!live) return;
    const now = performance.now();
    if (received !== total && now - last < 100) return;
    last = now;
    stderr(`${CLEAR_LINE}  ${file}  ${size}${received === total ? "\n" : ""}`);
  };
}

/** A reporter for many things that are read one after another. */
export function countProgress(context: CliContext, what: string): (done: number, total: number) => void {
  const live = streams().stderr.isTerminal() && !context.json && !context.quiet;
  let announced = false;
  return (done, total) => {
    if (total < FEW) return;
    if (live) return stderr(`${CLEAR_LINE}  reading ${what}: ${done} of ${total}${done === total ? "\n" : ""}`);
    if (!announced) context.note(`reading ${what}: ${total}`);
    announced = true;
  };
}
