/** Progress of a run on standard error: a line rewritten in place on a terminal, one line per finished step without. */
import { isNumber, type JsonObject, toNumber } from "../contract/value.ts";
import type { CliContext } from "./context.ts";
import { formatDuration } from "./table.ts";
import { environment, stderr, terminalWidth } from "./terminal.ts";

/** Receives run events and shows them; `done` clears the line. */
export interface ProgressReporter {
  event(kind: string, fields: JsonObject): void;
  done(): void;
}

const SILENT: ProgressReporter = { event() {}, done() {} };

/**
 * Makes the reporter that fits the streams and options.
 *
 * @param total steps of the plan
 */
export function progressReporter(context: CliContext, total: number): ProgressReporter {
  if (context.json || context.quiet) return SILENT;
  const alive = Deno.stderr.isTerminal() && !environment("CI") && environment("TERM") !== "dumb";
  const paint = context.paintError;
  const running = new Map<string, string>();
  const operations = new Map<string, string>();
  let finished = 0;
  let lineShown = false;

  const clear = () => {
    if (lineShown) stderr("\r\x1b[K");
    lineShown = false;
  };
  const draw = () => {
    if (!alive || running.size === 0) return;
    const text = `${finished}/${total} ${[...running.values()].join("  ")}`;
    stderr("\r\x1b[K" + paint("dim", text.slice(0, terminalWidth() - 1)));
    lineShown = true;
  };
  const line = (text: string) => {
    clear();
    stderr(text + "\n");
    draw();
  };
  const width = String(total).length;
  const count = () => `${String(++finished).padStart(width)}/${total}`;

  return {
    event(kind, fields) {
      const id = String(fields.step_id ?? "");
      if (kind === "step_started") {
        running.set(id, id);
        operations.set(id, String(fields.op));
        if (context.verbose > 0) {
          line(paint("dim", `     ${id} ${fields.op} on ${fields.backend}/${fields.implementation}`));
        } else draw();
      } else if (kind === "step_progress") {
        if (isNumber(fields.percent)) running.set(id, `${id} ${Math.floor(toNumber(fields.percent))} %`);
        draw();
      } else if (kind === "step_completed") {
        running.delete(id);
        const seconds = (fields.metrics as JsonObject | undefined)?.["timing.step.wall_time_s"];
        const time = isNumber(seconds) ? formatDuration(toNumber(seconds)) : "";
        line(`${count()} ${id} ${paint("dim", operations.get(id) ?? "")} ${time}`);
      } else if (kind === "step_failed") {
        running.delete(id);
        const canceled = fields.code === "operation_canceled";
        line(`${count()} ${id} ${paint(canceled ? "yellow" : "red", canceled ? "canceled" : "failed")}`);
      }
    },
    done: clear,
  };
}
