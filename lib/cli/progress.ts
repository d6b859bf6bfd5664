/**
 * Progress on standard error. The units are the rows of a benchmark, the variants of a matrix, or else the steps of a run:
 * one line per finished unit, and on a terminal one line that is rewritten with the running steps.
 */
import type { Diagnostic } from "../contract/error.ts";
import { isNumber, type JsonObject, toNumber } from "../contract/value.ts";
import type { CliContext } from "./context.ts";
import { formatDuration } from "./table.ts";
import { environment, stderr, type Style, terminalWidth } from "./terminal.ts";

export interface ProgressEvent {
  kind: string;
  message: string;
  fields: JsonObject;
}

/** Receives events and shows them; `done` clears the line. */
export interface ProgressReporter {
  event(event: ProgressEvent): void;
  done(): void;
}

const COLOR: Record<string, Style> = { completed: "green", failed: "red" };

/** Makes the reporter that fits the streams and options. */
export function progressReporter(context: CliContext): ProgressReporter {
  if (context.json || context.quiet) return { event() {}, done() {} };
  const live = Deno.stderr.isTerminal() && !environment("CI") && environment("TERM") !== "dumb";
  const paint = context.paintError;
  const running = new Map<string, { text: string; operation: string }>();
  /** Rows or variants under way, by the point of their events; several where they run side by side. */
  const units = new Map<string, { text: string; startedAt: number; failure: string }>();
  let shown = false, steps = 0, total = 0, tenth = 0;

  const clear = () => {
    if (shown) stderr("\r\x1b[K");
    shown = false;
  };
  const draw = () => {
    if (!live || (running.size === 0 && units.size === 0)) return;
    const places = units.size === 0 ? [`${steps}/${total}`] : [...units.values()].map(({ text }) => text);
    const line = [...places, ...[...running.values()].map(({ text }) => text)].join("  ");
    stderr("\r\x1b[K" + paint("dim", line.slice(0, terminalWidth() - 1)));
    shown = true;
  };
  const line = (text: string) => {
    clear();
    stderr(text + "\n");
    draw();
  };
  const count = () => `${String(++steps).padStart(String(total).length)}/${total}`;
  const seconds = (value: number) => paint("dim", formatDuration(value));

  const event = ({ kind, fields, message }: ProgressEvent) => {
    const id = String(fields.step_id ?? "");
    // Rows and variants that run side by side have steps of the same names.
    const point = String(fields.point ?? "");
    const key = `${point} ${id}`;
    const step = running.get(key), unit = units.get(point);
    const forget = () =>
      [...running.keys()].filter((at) => at.startsWith(`${point} `)).forEach((at) => running.delete(at));
    switch (kind) {
      case "recipe_warning":
        clear();
        context.findings([{ ...fields, severity: "warning", message } as Diagnostic]);
        return draw();
      case "engine_task_ended":
        for (const point of fields.points as string[]) units.delete(point);
        return line(paint("yellow", message));
      case "engine_silent":
        return line(paint("yellow", message));
      case "engine_submitted":
      case "resources_estimated":
        return line(paint("dim", message));
      case "run_started":
        total = Number(fields.step_count);
        return;
      case "benchmark_row_started":
      case "matrix_variant_started":
        forget();
        units.set(point, { text: unitText(fields), startedAt: performance.now(), failure: "" });
        return draw();
      case "benchmark_row_completed":
      case "matrix_variant_completed": {
        forget();
        units.delete(point);
        const status = String(fields.status);
        const { startedAt = performance.now(), failure = "" } = unit ?? {};
        const time = fields.reused ? paint("dim", "before") : seconds(
          isNumber(fields.wall_time_s) ? toNumber(fields.wall_time_s) : (performance.now() - startedAt) / 1000,
        );
        const run = kind === "matrix_variant_completed" ? ` ${paint("dim", String(fields.run_id ?? ""))}` : "";
        line(
          `${unitText(fields)} ${
            paint(COLOR[status] ?? "yellow", status.replaceAll("_", " "))
          } ${time}${run}${failure}`,
        );
        return;
      }
      case "step_started":
        running.set(key, { text: id, operation: String(fields.op) });
        if (context.verbose === 0 || unit !== undefined) return draw();
        return line(paint("dim", `     ${id} ${fields.op} on ${fields.backend}/${fields.implementation}`));
      case "step_progress":
        if (step !== undefined && isNumber(fields.percent)) {
          step.text = `${id} ${Math.floor(toNumber(fields.percent))} %`;
        }
        return draw();
      case "step_completed": {
        running.delete(key);
        if (unit !== undefined) return draw();
        const time = (fields.metrics as JsonObject | undefined)?.["timing.step.wall_time_s"];
        return line(
          `${count()} ${id} ${paint("dim", step?.operation ?? "")} ${
            isNumber(time) ? formatDuration(toNumber(time)) : ""
          }`,
        );
      }
      case "step_failed": {
        running.delete(key);
        const canceled = fields.code === "operation_canceled";
        if (unit === undefined) {
          return line(`${count()} ${id} ${paint(canceled ? "yellow" : "red", canceled ? "canceled" : "failed")}`);
        }
        if (!canceled) unit.failure = `\n  ${id}: ${fields.message ?? fields.code}`;
        return draw();
      }
      case "capture_phase": {
        // Every tenth of the records, and the phases around them.
        const reached = Math.floor(10 * Number(fields.completed) / Number(fields.total));
        if (fields.phase === "writing" || fields.phase === "completed") return;
        if (fields.phase === "capturing" && reached === tenth) return;
        tenth = fields.phase === "capturing" ? reached : 0;
        return line(message);
      }
    }
  };
  return { event, done: clear };
}

/** The place of a row or variant among all: ` 3/36 r0 awgn_bpsk`. */
function unitText({ index, count, replicate, recipe_id }: JsonObject): string {
  const total = String(count);
  const place = `${String(Number(index) + 1).padStart(total.length)}/${total}`;
  return recipe_id === undefined ? place : `${place} r${replicate} ${recipe_id}`;
}
