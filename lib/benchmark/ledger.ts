/**
 * The attempt ledger of a benchmark: one line of canonical JSON per event, appended and made durable before the next
 * one begins. Each event contains the digest of the previous one, so that removed or altered events are detected.
 *
 * A truncated line, as after a kill during a write, is not an event and is removed when the benchmark resumes. The
 * ledger contains complete rows, so finished rows survive any end of the process.
 */
import { canonicalJson, parseJson } from "../contract/json.ts";
import { sha256Hex } from "../contract/hash.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import type { StopReason, TerminalStatus } from "./types.ts";

export type LedgerEventKind =
  | "attempt_started"
  | "attempt_resumed"
  | "row_started"
  | "row_completed"
  | "recipe_stopped"
  | "attempt_ended";

/** An event in the ledger. */
export interface LedgerEvent {
  seq: number;
  kind: LedgerEventKind;
  attempt_id: string;
  time: string;
  /** Of the previous line; null in the first. */
  previous_sha256: string | null;
  fields: JsonObject;
  /** Of this line; not part of it. */
  sha256: string;
}

export interface LedgerState {
  events: LedgerEvent[];
  /** Bytes after the last complete event. */
  torn_bytes: number;
}

/**
 * Reads a ledger. Exported for tests.
 * @param bytes whole file
 * @throws SvcError `bundle_hash_mismatch` for a broken chain before the truncated end
 */
export function readLedger(bytes: Uint8Array): LedgerState {
  const events: LedgerEvent[] = [];
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    const line = new TextDecoder().decode(bytes.subarray(start, end));
    start = end + 1;
    events.push(readEvent(line, events));
  }
  return { events, torn_bytes: bytes.length - start };
}

function readEvent(line: string, before: readonly LedgerEvent[]): LedgerEvent {
  const refuse = (why: string): never => {
    throw new SvcError("bundle_hash_mismatch", `Cannot trust the attempt ledger: event ${before.length + 1} ${why}`);
  };
  let value;
  try {
    value = parseJson(line);
  } catch (error) {
    return refuse(`cannot be read: ${messageOf(error)}`);
  }
  if (!isObject(value) || canonicalJson(value) !== line) return refuse("is not laid out as it was written");
  const event = { ...value, sha256: sha256Hex(line) } as LedgerEvent;
  if (event.seq !== before.length + 1) return refuse(`has the number ${event.seq}`);
  if (event.previous_sha256 !== (before.at(-1)?.sha256 ?? null)) return refuse("does not follow the one before it");
  return event;
}

/** Appends to a ledger; one process at a time, which holds the lock of the result. */
export class Ledger {
  readonly #file: Deno.FsFile;
  #seq: number;
  #previous: string | null;

  /** Opens a ledger for appending, without its truncated end. @throws SvcError `bundle_hash_mismatch` */
  static open(path: string, attemptId: string): { ledger: Ledger; state: LedgerState } {
    const state = readLedgerFile(path);
    const ledger = new Ledger(path, attemptId, state);
    return { ledger, state };
  }

  private constructor(path: string, readonly attemptId: string, { events, torn_bytes }: LedgerState) {
    this.#file = Deno.openSync(path, { read: true, write: true, create: true });
    if (torn_bytes > 0) this.#file.truncateSync(this.#file.statSync().size - torn_bytes);
    this.#file.seekSync(0, Deno.SeekMode.End);
    this.#seq = events.length;
    this.#previous = events.at(-1)?.sha256 ?? null;
  }

  /**
   * Appends an event. The system has the data on return, so it survives a kill of the process.
   * @param durable whether to wait for the disk, so that it also survives a power failure
   * @returns the digest of its line
   */
  append(kind: LedgerEventKind, fields: JsonObject, durable = true): string {
    const event: JsonObject = {
      seq: ++this.#seq,
      kind,
      attempt_id: this.attemptId,
      time: new Date().toISOString(),
      previous_sha256: this.#previous,
      fields,
    };
    const line = canonicalJson(event);
    const bytes = new TextEncoder().encode(line + "\n");
    for (let done = 0; done < bytes.length;) done += this.#file.writeSync(bytes.subarray(done));
    if (durable) this.#file.syncDataSync();
    return this.#previous = sha256Hex(line);
  }

  /** Syncs appended events to the disk; the caller continues meanwhile. */
  async sync(): Promise<void> {
    await this.#file.syncData();
  }

  close(): void {
    this.#file.close();
  }
}

/** Reads a ledger from its file; a missing one is empty. */
export function readLedgerFile(path: string): LedgerState {
  try {
    return readLedger(Deno.readFileSync(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { events: [], torn_bytes: 0 };
    throw error;
  }
}

/** The state that results from the events of a ledger. */
export interface LedgerSummary {
  start: LedgerEvent | null;
  /** Latest row by `rowKey`, as documents. */
  rows: Map<string, { row: JsonObject; event: LedgerEvent }>;
  stops: Map<string, StopReason>;
  /** The last end, if no event follows it. */
  end: { status: TerminalStatus; event: LedgerEvent } | null;
  /** Ids of all started runs. */
  started: string[];
}

/** Key of a row. */
export const rowKey = (recipeId: string, replicate: number): string => `${recipeId}|${replicate}`;

export function summarizeLedger(events: readonly LedgerEvent[]): LedgerSummary {
  const summary: LedgerSummary = { start: null, rows: new Map(), stops: new Map(), end: null, started: [] };
  for (const event of events) {
    summary.end = null;
    if (event.kind === "attempt_started") summary.start = event;
    else if (event.kind === "row_started") summary.started.push(String(event.fields.run_id));
    else if (event.kind === "row_completed") {
      const row = event.fields.row as JsonObject;
      summary.rows.set(rowKey(row.id as string, Number(row.replicate)), { row, event });
    } else if (event.kind === "recipe_stopped") {
      summary.stops.set(event.fields.recipe_id as string, event.fields.stop_reason as StopReason);
    } else if (event.kind === "attempt_ended") {
      summary.end = { status: event.fields.status as TerminalStatus, event };
    }
  }
  return summary;
}
