/**
 * The attempt ledger of a benchmark: one line of canonical JSON per event, appended and made durable before the next
 * one begins. Each event contains the digest of the previous one, so that removed or altered events are detected.
 *
 * A truncated line, as after a kill during a write, is not an event and is removed when the benchmark resumes. The
 * ledger contains complete rows, so finished rows survive any end of the process.
 */
import { asObject, canonicalJson, parseJson } from "../contract/json.ts";
import { sha256Hex } from "../contract/hash.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import type { ResultRow, StopReason, TerminalStatus } from "./types.ts";

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

/** Lines are read in pieces of this size. */
const CHUNK_BYTES = 1 << 20;
/** Runs that the last rows of an ended process may have left: a pruner has so many in work at most. */
const MOST_LEFT = 8;

/** Appends to a ledger; one process at a time, which holds the lock of the result. */
export class Ledger {
  readonly #file: Deno.FsFile;
  #size: number;

  /** Opens a ledger for appending, without its truncated end. @throws SvcError `bundle_hash_mismatch` */
  static open(path: string, attemptId: string): Ledger {
    return new Ledger(path, attemptId, new LedgerIndex(path).advance());
  }

  private constructor(path: string, readonly attemptId: string, readonly index: LedgerIndex) {
    this.#file = Deno.openSync(path, { read: true, write: true, create: true });
    this.#size = index.size;
    if (index.tornBytes > 0) this.#file.truncateSync(this.#size);
    this.#file.seekSync(0, Deno.SeekMode.End);
  }

  /**
   * Appends an event. The system has the data on return, so it survives a kill of the process.
   * @param durable whether to wait for the disk, so that it also survives a power failure
   * @returns the digest of its line
   */
  append(kind: LedgerEventKind, fields: JsonObject, durable = true): string {
    const event = {
      seq: this.index.events + 1,
      kind,
      attempt_id: this.attemptId,
      time: new Date().toISOString(),
      previous_sha256: this.index.last,
      fields,
    };
    const line = canonicalJson(event);
    const bytes = new TextEncoder().encode(line + "\n");
    for (let done = 0; done < bytes.length;) done += this.#file.writeSync(bytes.subarray(done));
    if (durable) this.#file.syncDataSync();
    const sha256 = sha256Hex(line);
    this.index.note({ ...event, sha256 }, this.#size, bytes.length);
    this.#size += bytes.length;
    return sha256;
  }

  /** Syncs appended events to the disk; the caller continues meanwhile. */
  async sync(): Promise<void> {
    await this.#file.syncData();
  }

  close(): void {
    this.#file.close();
  }
}

/** Key of a row. */
export const rowKey = (recipeId: string, replicate: number): string => `${recipeId}|${replicate}`;

/** The end of the snapshots that the rows of a ledger name: file number, its snapshots, and its bytes. */
export interface EvidenceEnd {
  part: number;
  count: number;
  bytes: number;
}

/**
 * What a ledger says, without its rows: their places in the file are kept (16 bytes a row), and each is read when it is
 * asked for. The last event of a row counts.
 */
export class LedgerIndex {
  start: LedgerEvent | null = null;
  /** The last end, if no event follows it. */
  end: { status: TerminalStatus; event: LedgerEvent } | null = null;
  readonly stops = new Map<string, StopReason>();
  events = 0;
  /** Digest of the last line; null without events. */
  last: string | null = null;
  /** Bytes up to the end of the last event, and bytes after it. */
  size = 0;
  tornBytes = 0;
  /** Number of rows. */
  rowCount = 0;
  evidence: EvidenceEnd | null = null;
  /** Receives each event as it is noted. */
  onEvent?: (event: LedgerEvent) => void;
  readonly #places = new Map<string, number>();
  /** By recipe: offset and length of the row's line, by replicate; 0 for none, negative for a row that did not complete. */
  readonly #lines: Float64Array[] = [];
  readonly #started = new Set<string>();
  #buffer = new Uint8Array(0);
  #pruned: string[] = [];

  /** @param path of the file; it changes when its folder is renamed */
  constructor(public path: string) {}

  /**
   * Reads the events that were appended since the last call.
   * @throws SvcError `bundle_hash_mismatch` for a broken chain before the truncated end
   */
  advance(): this {
    this.tornBytes = 0;
    let file: Deno.FsFile;
    try {
      file = Deno.openSync(this.path);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return this;
      throw error;
    }
    try {
      file.seekSync(this.size, Deno.SeekMode.Start);
      const decoder = new TextDecoder();
      // One buffer, which grows to the longest line: the bytes of an open line move to its start.
      let buffer = new Uint8Array(CHUNK_BYTES), open = 0;
      for (let count = file.readSync(buffer); count !== null; count = file.readSync(buffer.subarray(open))) {
        const chunk = buffer.subarray(0, open + count);
        let from = 0;
        for (let to = chunk.indexOf(10, open); to >= 0; to = chunk.indexOf(10, from)) {
          this.#read(decoder.decode(chunk.subarray(from, to)), to + 1 - from);
          from = to + 1;
        }
        open = chunk.length - from;
        buffer.copyWithin(0, from, chunk.length);
        if (open === buffer.length) {
          const longer = new Uint8Array(2 * open);
          longer.set(buffer);
          buffer = longer;
        }
      }
      this.tornBytes = open;
    } finally {
      file.close();
    }
    return this;
  }

  #read(line: string, bytes: number): void {
    const refuse = (why: string): never => {
      throw new SvcError("bundle_hash_mismatch", `Cannot trust the attempt ledger: event ${this.events + 1} ${why}`);
    };
    let value;
    try {
      value = parseJson(line);
    } catch (error) {
      return refuse(`cannot be read: ${messageOf(error)}`);
    }
    if (!isObject(value) || canonicalJson(value) !== line) return refuse("is not laid out as it was written");
    const event = { ...value, sha256: sha256Hex(line) } as LedgerEvent;
    if (event.seq !== this.events + 1) return refuse(`has the number ${event.seq}`);
    if (event.previous_sha256 !== this.last) return refuse("does not follow the one before it");
    this.note(event, this.size, bytes);
  }

  /** Adds an event that stands at these bytes of the file. */
  note(event: LedgerEvent, offset: number, bytes: number): void {
    const { kind, fields } = event;
    this.events++;
    this.last = event.sha256;
    this.size = offset + bytes;
    this.end = null;
    if (kind === "attempt_started") {
      this.start = event;
      for (const { id } of (fields.recipes ?? []) as JsonObject[]) this.#placeOf(String(id));
    } else if (kind === "attempt_resumed") {
      // The remains were removed before.
      this.#started.clear();
      this.#pruned = [];
    } else if (kind === "row_started") this.#started.add(String(fields.run_id));
    else if (kind === "row_completed") this.#noteRow(fields.row as JsonObject, offset, bytes);
    else if (kind === "recipe_stopped") {
      this.stops.set(fields.recipe_id as string, fields.stop_reason as StopReason);
    } else if (kind === "attempt_ended") this.end = { status: fields.status as TerminalStatus, event };
    this.onEvent?.(event);
  }

  #placeOf(id: string): number {
    let place = this.#places.get(id);
    if (place === undefined) {
      this.#places.set(id, place = this.#places.size);
      this.#lines.push(new Float64Array(2));
    }
    return place;
  }

  #noteRow(row: JsonObject, offset: number, bytes: number): void {
    const place = this.#placeOf(String(row.id)), replicate = Number(row.replicate);
    let lines = this.#lines[place];
    if (2 * replicate >= lines.length) {
      lines = new Float64Array(2 * Math.max(2 * replicate, 2));
      lines.set(this.#lines[place]);
      this.#lines[place] = lines;
    }
    if (lines[2 * replicate + 1] === 0) this.rowCount++;
    lines[2 * replicate] = offset;
    lines[2 * replicate + 1] = row.status === "completed" ? bytes : -bytes;
    if (row.run_id !== null) {
      this.#started.delete(String(row.run_id));
      if (row.run_dir === null) this.#pruned = [...this.#pruned.slice(1 - MOST_LEFT), String(row.run_id)];
    }
    const record = row.run_evidence_snapshot;
    if (!isObject(record) || record.offset === undefined) return;
    const part = Number(/(\d+)/.exec(String(record.relative_path))?.[1]);
    const count = this.evidence?.part === part ? this.evidence.count + 1 : 1;
    this.evidence = { part, count, bytes: Number(record.offset) + Number(record.size_bytes) };
  }

  /** Ids of runs that an ended process may have left without a row, or with a row that does not keep its run. */
  leftovers(): string[] {
    return [...this.#started, ...this.#pruned];
  }

  has(recipeId: string, replicate: number): boolean {
    return this.statusOf(recipeId, replicate) !== "none";
  }

  statusOf(recipeId: string, replicate: number): "none" | "completed" | "not_completed" {
    const place = this.#places.get(recipeId);
    const length = place === undefined ? 0 : this.#lines[place][2 * replicate + 1] ?? 0;
    return length === 0 ? "none" : length > 0 ? "completed" : "not_completed";
  }

  /** The rows replicate by replicate, each in the order of the pack. */
  *rows(): Generator<ResultRow> {
    const last = this.#lines.reduce((most, { length }) => Math.max(most, length / 2), 0);
    if (last === 0) return;
    using file = this.#open();
    for (let replicate = 0; replicate < last; replicate++) {
      for (const lines of this.#lines) {
        if (2 * replicate < lines.length && lines[2 * replicate + 1] !== 0) yield this.#rowAt(file, lines, replicate);
      }
    }
  }

  /** A row; null without one. */
  row(recipeId: string, replicate: number): ResultRow | null {
    if (!this.has(recipeId, replicate)) return null;
    using file = this.#open();
    return this.#rowAt(file, this.#lines[this.#places.get(recipeId)!], replicate);
  }

  #open(): Deno.FsFile {
    return Deno.openSync(this.path);
  }

  #rowAt(file: Deno.FsFile, lines: Float64Array, replicate: number): ResultRow {
    const length = Math.abs(lines[2 * replicate + 1]);
    // One buffer for all rows: a buffer each would fill the memory faster than it is collected.
    if (this.#buffer.length < length) this.#buffer = new Uint8Array(2 * length);
    const bytes = this.#buffer.subarray(0, length);
    file.seekSync(lines[2 * replicate], Deno.SeekMode.Start);
    for (let done = 0; done < bytes.length;) {
      const count = file.readSync(bytes.subarray(done));
      if (count === null) throw new SvcError("bundle_hash_mismatch", "Cannot read the attempt ledger: it was cut off");
      done += count;
    }
    const { fields } = parseJson(new TextDecoder().decode(bytes)) as { fields: { row: JsonObject } };
    return fields.row as ResultRow;
  }
}

/** The kind of the last event of a ledger, from the end of its file; null without one. */
export function lastKind(path: string): string | null {
  using file = Deno.openSync(path);
  const { size } = file.statSync();
  for (let reach = 4096;; reach *= 4) {
    const from = Math.max(0, size - reach), bytes = new Uint8Array(size - from);
    file.seekSync(from, Deno.SeekMode.Start);
    for (let done = 0; done < bytes.length;) {
      const count = file.readSync(bytes.subarray(done));
      if (count === null) break;
      done += count;
    }
    const end = bytes.lastIndexOf(10), start = end <= 0 ? -1 : bytes.lastIndexOf(10, end - 1);
    if (start < 0 && from > 0) continue;
    if (end < 0) return null;
    return String(asObject(parseJson(new TextDecoder().decode(bytes.subarray(start + 1, end)))).kind);
  }
}
