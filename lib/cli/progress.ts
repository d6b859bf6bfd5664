/**
 * Progress on standard error. The units are the rows of a benchmark, the variants of a matrix, or else the steps of a run:
 * one line per finished unit, and on a terminal one line that is rewritten with the running steps.
 */
import type { Diagnostic } from "../contract/error.ts";
import { visibleLines } from "../contract/escape.ts";
import { isNumber, type JsonObject, toNumber } from "../contract/value.ts";
import type { CliContext } from "./context.ts";
import { formatDuration } from "./table.ts";
import { CLEAR_LINE, environment, stderr, streams, type Style, terminalWidth } from "./terminal.ts";

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
  return context.json || context.quiet ? { event() {}, done() {} } : new Progress(context);
}

/** A row or variant under way. */
interface Unit {
  text: string;
  startedAt: number;
  failure: string;
}

class Progress implements ProgressReporter {
  readonly #context: CliContext;
  readonly #live = streams().stderr.isTerminal() && !environment("CI") && environment("TERM") !== "dumb";
  /** Running steps by point and id: rows and variants that run side by side have steps of the same names. */
  readonly #running = new Map<string, { text: string; operation: string }>();
  /** Rows or variants under way, by the point of their events; several where they run side by side. */
  readonly #units = new Map<string, Unit>();
  #shown = false;
  #steps = 0;
  #total = 0;
  #tenth = 0;

  constructor(context: CliContext) {
    this.#context = context;
  }

  done(): void {
    if (this.#shown) stderr(CLEAR_LINE);
    this.#shown = false;
  }

  event(event: ProgressEvent): void {
    const { kind, fields, message } = visibleLines(event);
    const paint = this.#context.paintError, point = String(fields.point ?? "");
    switch (kind) {
      case "recipe_warning":
        this.done();
        this.#context.findings([{ ...fields, severity: "warning", message } as Diagnostic]);
        return this.#draw();
      case "engine_task_ended":
        for (const point of fields.points as string[]) this.#units.delete(point);
        // The end of the task's log has lines of its own.
        return this.#line(event.message.split("\n").map((line) => paint("yellow", line)).join("\n"));
      case "crossing_point_completed":
        return this.#line(message);
      case "engine_silent":
        return this.#line(paint("yellow", message));
      case "engine_submitted":
      case "matrix_variant_waiting":
      case "resources_estimated":
        return this.#line(paint("dim", message));
      case "run_started":
        this.#total = Number(fields.step_count);
        return;
      case "benchmark_row_started":
      case "matrix_variant_started":
        this.#forget(point);
        this.#units.set(point, { text: unitText(fields), startedAt: performance.now(), failure: "" });
        return this.#draw();
      case "benchmark_row_completed":
      case "matrix_variant_completed":
        return this.#unitEnded(point, fields, kind === "matrix_variant_completed");
      case "capture_phase":
        return this.#captured(fields, message);
      default:
        return this.#step(kind, fields, point);
    }
  }

  #step(kind: string, fields: JsonObject, point: string): void {
    const { verbose, paintError: paint } = this.#context;
    const id = String(fields.step_id ?? ""), key = `${point} ${id}`;
    const step = this.#running.get(key), unit = this.#units.get(point);
    if (kind === "step_started") {
      this.#running.set(key, { text: id, operation: String(fields.op) });
      if (verbose === 0 || unit !== undefined) return this.#draw();
      return this.#line(paint("dim", `     ${id} ${fields.op} on ${fields.backend}/${fields.implementation}`));
    }
    if (kind === "step_progress") {
      if (step !== undefined && isNumber(fields.percent)) step.text = `${id} ${Math.floor(toNumber(fields.percent))} %`;
      return this.#draw();
    }
    if (kind !== "step_completed" && kind !== "step_failed") return;
    this.#running.delete(key);
    if (kind === "step_completed") {
      if (unit !== undefined) return this.#draw();
      const time = (fields.metrics as JsonObject | undefined)?.["timing.step.wall_time_s"];
      const took = isNumber(time) ? formatDuration(toNumber(time)) : "";
      return this.#line(`${this.#place()} ${id} ${paint("dim", step?.operation ?? "")} ${took}`);
    }
    const canceled = fields.code === "operation_canceled";
    if (unit === undefined) {
      const end = paint(canceled ? "yellow" : "red", canceled ? "canceled" : "failed");
      return this.#line(`${this.#place()} ${id} ${end}`);
    }
    if (!canceled) unit.failure = `\n  ${id}: ${fields.message ?? fields.code}`;
    this.#draw();
  }

  #unitEnded(point: string, fields: JsonObject, named: boolean): void {
    const paint = this.#context.paintError, status = String(fields.status);
    const { startedAt = performance.now(), failure = "" } = this.#units.get(point) ?? {};
    this.#forget(point);
    this.#units.delete(point);
    const wall = isNumber(fields.wall_time_s) ? toNumber(fields.wall_time_s) : (performance.now() - startedAt) / 1000;
    const time = paint("dim", fields.reused ? "before" : formatDuration(wall));
    const run = named ? ` ${paint("dim", String(fields.run_id ?? ""))}` : "";
    const end = paint(COLOR[status] ?? "yellow", status.replaceAll("_", " "));
    this.#line(`${unitText(fields)} ${end} ${time}${run}${failure}`);
  }

  /** Shows every tenth of the records, and the phases around them. */
  #captured({ phase, completed, total }: JsonObject, message: string): void {
    const reached = Math.floor(10 * Number(completed) / Number(total));
    if (phase === "writing" || phase === "completed" || (phase === "capturing" && reached === this.#tenth)) return;
    this.#tenth = phase === "capturing" ? reached : 0;
    this.#line(message);
  }

  #forget(point: string): void {
    for (const key of [...this.#running.keys()]) if (key.startsWith(`${point} `)) this.#running.delete(key);
  }

  /** The place of the next finished step: ` 3/12`. */
  #place(): string {
    return `${String(++this.#steps).padStart(String(this.#total).length)}/${this.#total}`;
  }

  #line(text: string): void {
    this.done();
    stderr(text + "\n");
    this.#draw();
  }

  #draw(): void {
    if (!this.#live || (this.#running.size === 0 && this.#units.size === 0)) return;
    const places = this.#units.size === 0
      ? [`${this.#steps}/${this.#total}`]
      : [...this.#units.values()].map(({ text }) => text);
    const line = [...places, ...[...this.#running.values()].map(({ text }) => text)].join("  ");
    stderr(CLEAR_LINE + this.#context.paintError("dim", line.slice(0, terminalWidth() - 1)));
    this.#shown = true;
  }
}

/** The place of a row or variant among all: ` 3/36 r0 awgn_bpsk`. */
function unitText({ index, count, replicate, recipe_id }: JsonObject): string {
  const total = String(count);
  const place = `${String(Number(index) + 1).padStart(total.length)}/${total}`;
  return recipe_id === undefined ? place : `${place} r${replicate} ${recipe_id}`;
}
