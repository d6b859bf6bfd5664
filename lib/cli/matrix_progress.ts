/** Progress of a matrix on standard error: a line per finished variant, and on a terminal the steps under way. */
import { isNumber, type JsonObject, toNumber } from "../contract/value.ts";
import type { CliContext } from "./context.ts";
import type { ProgressReporter } from "./progress.ts";
import { formatDuration } from "./table.ts";
import { environment, stderr, terminalWidth } from "./terminal.ts";

/** Makes the reporter that fits the streams and options. */
export function matrixProgress(context: CliContext): ProgressReporter {
  if (context.json || context.quiet) return { event() {}, done() {} };
  const alive = Deno.stderr.isTerminal() && !environment("CI") && environment("TERM") !== "dumb";
  const paint = context.paintError;
  const running = new Map<string, string>();
  let variant = "", failure = "", startedAt = 0, lineShown = false;

  const clear = () => {
    if (lineShown) stderr("\r\x1b[K");
    lineShown = false;
  };
  const draw = () => {
    if (!alive || running.size === 0) return;
    const text = `${variant} ${[...running.values()].join("  ")}`;
    stderr("\r\x1b[K" + paint("dim", text.slice(0, terminalWidth() - 1)));
    lineShown = true;
  };
  return {
    event(kind, fields) {
      const id = String(fields.step_id ?? "");
      if (kind === "matrix_variant_started") {
        running.clear();
        failure = "";
        variant = position(fields);
        startedAt = performance.now();
      } else if (kind === "matrix_variant_completed") {
        running.clear();
        clear();
        const status = String(fields.status);
        const color = status === "completed" ? "green" : status === "canceled" ? "yellow" : "red";
        const time = fields.reused ? "before" : formatDuration((performance.now() - startedAt) / 1000);
        stderr(
          `${position(fields)} ${paint(color, status)} ${paint("dim", `${time} ${fields.run_id ?? ""}`)}${failure}\n`,
        );
      } else if (kind === "step_started") {
        running.set(id, id);
        draw();
      } else if (kind === "step_progress") {
        if (isNumber(fields.percent)) running.set(id, `${id} ${Math.floor(toNumber(fields.percent))} %`);
        draw();
      } else if (kind === "step_completed") {
        running.delete(id);
        draw();
      } else if (kind === "step_failed") {
        running.delete(id);
        if (fields.code !== "operation_canceled") failure = `\n  ${id}: ${fields.message ?? fields.code}`;
        draw();
      }
    },
    done: clear,
  };
}

/** The place of a variant among all: ` 3/11`. */
function position({ index, count }: JsonObject): string {
  const total = String(count);
  return `${String(Number(index) + 1).padStart(total.length)}/${total}`;
}
