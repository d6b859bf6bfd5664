/** Progress of a benchmark on standard error: a line per row, and on a terminal the steps under way. */
import { isNumber, type JsonObject, toNumber } from "../contract/value.ts";
import type { CliContext } from "./context.ts";
import type { ProgressReporter } from "./progress.ts";
import { formatDuration } from "./table.ts";
import { environment, stderr, terminalWidth } from "./terminal.ts";

/** Makes the reporter that fits the streams and options. */
export function benchmarkProgress(context: CliContext): ProgressReporter {
  if (context.json || context.quiet) return { event() {}, done() {} };
  const alive = Deno.stderr.isTerminal() && !environment("CI") && environment("TERM") !== "dumb";
  const paint = context.paintError;
  const running = new Map<string, string>();
  let row = "", failure = "", startedAt = 0, lineShown = false;

  const clear = () => {
    if (lineShown) stderr("\r\x1b[K");
    lineShown = false;
  };
  const draw = () => {
    if (!alive) return;
    const text = `${row} ${[...running.values()].join("  ")}`;
    stderr("\r\x1b[K" + paint("dim", text.slice(0, terminalWidth() - 1)));
    lineShown = true;
  };
  return {
    event(kind, fields) {
      const id = String(fields.step_id ?? "");
      if (kind === "benchmark_row_started") {
        running.clear();
        failure = "";
        row = rowText(fields);
        startedAt = performance.now();
        draw();
      } else if (kind === "benchmark_row_completed") {
        running.clear();
        clear();
        const status = String(fields.status);
        const color = status === "completed" ? "green" : status === "failed" ? "red" : "yellow";
        const time = fields.reused ? "before" : formatDuration((performance.now() - startedAt) / 1000);
        stderr(`${rowText(fields)} ${paint(color, status.replaceAll("_", " "))} ${paint("dim", time)}${failure}\n`);
      } else if (kind === "step_started") {
        running.set(id, id);
        draw();
      } else if (kind === "step_progress") {
        if (isNumber(fields.percent)) running.set(id, `${id} ${Math.floor(toNumber(fields.percent))} %`);
        draw();
      } else if (kind === "step_completed") {
        running.delete(id);
        draw();
      } else if (kind === "step_failed" && fields.code !== "operation_canceled") {
        failure = `\n  ${id}: ${fields.message ?? fields.code}`;
      }
    },
    done: clear,
  };
}

/** The place of a row: ` 3/36 r0 awgn_bpsk`. */
function rowText({ index, count, replicate, recipe_id }: JsonObject): string {
  const total = String(count);
  return `${String(Number(index) + 1).padStart(total.length)}/${total} r${replicate} ${recipe_id}`;
}
